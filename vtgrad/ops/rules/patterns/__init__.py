"""Following index sets through operators, views and writes: the pattern of a Jacobian."""
