"""Views, and gradients through them."""
