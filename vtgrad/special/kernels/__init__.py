"""Functions of arrays of float64, which the functions of `vtgrad.special` compute with."""
