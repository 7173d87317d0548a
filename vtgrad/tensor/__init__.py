"""The class `Tensor`, and the creation, text and pickling of tensors."""
