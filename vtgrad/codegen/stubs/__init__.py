"""Writes the stubs of the public modules."""
