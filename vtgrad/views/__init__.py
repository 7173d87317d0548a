"""Views: the gradients of all aliases of a tensor after a write through one of them."""
