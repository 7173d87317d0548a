"""Jacobians with few nonzero elements: their patterns, and what is computed with a pattern."""
