"""Functions that are imported when a program first names them."""
