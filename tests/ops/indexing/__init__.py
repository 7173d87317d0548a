"""Operators that read, store and merge at indices and masks."""
