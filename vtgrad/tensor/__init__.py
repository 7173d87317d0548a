"""The class of tensors, and what makes, shows and stores tensors."""
