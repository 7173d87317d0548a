"""Arrays of `vtgrad.numpy`: NumPy itself says which value, dtype and shape is right."""
