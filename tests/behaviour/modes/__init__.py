"""Grad modes and inference mode."""
