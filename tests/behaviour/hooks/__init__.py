"""Hooks on tensors and nodes, and retained gradients."""
