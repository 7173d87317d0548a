"""In-place writes: versions, refusals, and gradients through them."""
