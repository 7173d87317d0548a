"""Reductions and cumulative operators."""
