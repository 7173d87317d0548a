"""Tensors built around others."""
