"""Indexing: ``x[...]``, and functions that choose among overloads."""
