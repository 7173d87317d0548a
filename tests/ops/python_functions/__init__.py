"""Python functions called for each element."""
