"""What nodes save for backward, and reading a value before its memory is written."""
