"""Types for the functions that users call. This file is never compiled.

NOTE [ Arguments arrive unchecked ]

Where a parameter is annotated with a native class, or as int, float or bool, compiled code looks
at the argument before the function begins and raises a TypeError of its own. The functions that
users call are to raise their own errors, which say more (Note [Arguments are looked at when a call
has failed]), and to take what they take when interpreted, such as NumPy's integers. So their
parameters have the types below. Type checkers see unions with subclasses of which there are no
objects, hence nothing new; compiled code sees unions with something that it does not know, and
asks nothing.

That holds as long as they are only handed on. In `x if x is None else operator.index(x)` the type
checker takes what is left of `AnyInt | None` for int, and compiled code looks: where None has to
be told from a number, the type is `SupportsIndex | None`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

from .tensor_base import TensorBase

__all__ = ["AnyBool", "AnyFloat", "AnyInt", "AnyStr", "AnyTensor", "T"]

if TYPE_CHECKING:

    class _Tensor(TensorBase): ...

    class _Bool(bool): ...  # type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues]  # final, but never made

    class _Int(int): ...

    class _Float(float): ...

    class _Str(str): ...

else:
    _Tensor, _Bool, _Int, _Float, _Str = TensorBase, bool, int, float, str

AnyTensor: TypeAlias = TensorBase | _Tensor
AnyBool: TypeAlias = bool | _Bool
AnyInt: TypeAlias = int | _Int
AnyFloat: TypeAlias = float | _Float
AnyStr: TypeAlias = str | _Str

T = TypeVar("T", bound=AnyTensor)
