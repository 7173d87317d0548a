"""`vtgrad.func`: transforms of functions, alone and nested."""
