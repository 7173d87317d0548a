"""Tensors from Python and NumPy, and back."""
