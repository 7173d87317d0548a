"""Operators: kernels on arrays, derivative tables, and the functions made from them."""
