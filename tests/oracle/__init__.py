"""Differential tests: the same programs on PyTorch and on vtgrad, observed after every step."""
