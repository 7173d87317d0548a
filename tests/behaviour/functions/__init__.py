"""Custom Functions."""
