"""Comparing gradients with central differences: `gradcheck` and `gradgradcheck`."""
