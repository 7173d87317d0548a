"""Views: how a write through one tensor reaches the gradients of all its aliases."""
