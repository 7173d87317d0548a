"""Saved values, and when a write makes them stale."""
