"""What operators do with the names of dimensions."""
