"""`vtgrad.autograd.functional`: Jacobians, Hessians and products with them."""
