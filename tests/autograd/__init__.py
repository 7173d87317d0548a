"""What users import beside tensors: checks of gradients."""
