"""The class of tensors in the types of functions that users give, such as hooks. Never compiled.

This layer knows `TensorBase` only, and type checkers must know the argument of a hook as a
`vtgrad.Tensor`. They read the stub of this module, which shows the one as the other, as all stubs
do: see Note [Stubs]. So a file of a lower layer names the public class, and no import goes up.
"""

from __future__ import annotations

from vtgrad.storage.tensor_base import TensorBase as Tensor

__all__ = ["Tensor"]
