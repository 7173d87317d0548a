"""Reductions under their public names."""
