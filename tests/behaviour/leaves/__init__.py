"""Leaves, and leaves that change after a graph was recorded from them."""
