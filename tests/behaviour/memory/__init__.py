"""Storages: their size, their exchange, memory formats and dtypes."""
