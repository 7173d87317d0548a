"""The type that mypy infers for each line marked `R`."""

from typing import reveal_type

import vtgrad as vt

x = vt.zeros(2, 3)

reveal_type(x)  # R: vtgrad.Tensor
reveal_type(x + 1)  # R: vtgrad.Tensor
reveal_type(1 - x)  # R: vtgrad.Tensor
reveal_type(x[0])  # R: vtgrad.Tensor
reveal_type(x > 0)  # R: vtgrad.Tensor
reveal_type(x.add_(1))  # R: vtgrad.Tensor
reveal_type(x.sum())  # R: vtgrad.Tensor
reveal_type(x.grad)  # R: vtgrad.Tensor | None
reveal_type(x.requires_grad)  # R: bool
reveal_type(x.storage_offset())  # R: int
reveal_type(x.is_leaf)  # R: bool

reveal_type(vt.sort(x).values)  # R: vtgrad.Tensor
reveal_type(x.max(1).indices)  # R: vtgrad.Tensor
reveal_type(x.item())  # R: int | float
reveal_type(x.shape)  # R: vtgrad.Size
reveal_type(x.untyped_storage())  # R: vtgrad.UntypedStorage
reveal_type(x.dtype)  # R: vtgrad.storage.dtypes.DType
reveal_type(vt.cat([x]))  # R: vtgrad.Tensor
# fmt: off
# Results with names are of one class for each operator.
reveal_type(vt.sort(x))  # R: tuple[vtgrad.Tensor, vtgrad.Tensor, fallback=vtgrad.return_types.SortResult[vtgrad.Tensor]]
reveal_type(x.register_hook)  # R: def (hook: def (vtgrad.Tensor) -> vtgrad.Tensor | None) -> vtgrad.graph.hooks.RemovableHandle
reveal_type(vt.exp)  # R: def [_TensorT <: vtgrad.Tensor = vtgrad.Tensor] (input: _TensorT, *, out: vtgrad.Tensor | None =) -> _TensorT
