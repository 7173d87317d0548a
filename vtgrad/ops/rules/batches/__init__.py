"""Batches: how operators compute with all samples of a `vmap` at once."""
