"""The type that mypy infers for each line marked `R`."""

from typing import reveal_type

import vtgrad as vt

x = vt.zeros(2, 3)

reveal_type(x)  # R: vtgrad.tensor.tensor.Tensor
reveal_type(x + 1)  # R: vtgrad.tensor.tensor.Tensor
reveal_type(1 - x)  # R: vtgrad.tensor.tensor.Tensor
reveal_type(x[0])  # R: vtgrad.tensor.tensor.Tensor
reveal_type(x > 0)  # R: vtgrad.tensor.tensor.Tensor
reveal_type(x.add_(1))  # R: vtgrad.tensor.tensor.Tensor
reveal_type(x.sum())  # R: vtgrad.tensor.tensor.Tensor
reveal_type(x.grad)  # R: vtgrad.tensor.tensor.Tensor | None
reveal_type(x.requires_grad)  # R: bool
reveal_type(x.storage_offset())  # R: int
reveal_type(x.is_leaf)  # R: bool
