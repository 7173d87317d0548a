"""Passes of backward: what they reach, who owns a gradient, re-entry, and what they free."""
