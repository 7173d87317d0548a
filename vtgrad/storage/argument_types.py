"""Types for the functions that users call. This file is never compiled.

Note [Arguments arrive unchecked]

If a parameter is annotated with a native class, or as int, float or bool, compiled code checks the
argument before the function begins and raises a TypeError of its own. Public functions must raise
their own errors, which are more precise (Note [Arguments are looked at when a call has failed]),
and accept what they accept when interpreted, such as NumPy's integers. So their parameters have the
types below. For type checkers these are unions with subclasses that have no objects, so nothing
changes; for compiled code they are unions with an unknown type, so it checks nothing.

That holds as long as such an argument is only passed to other functions. In `x if x is None else
operator.index(x)` the type checker narrows `AnyInt | None` to int, and compiled code checks: where
None must be distinguished from a number, the type is `SupportsIndex | None`.

Modules of public functions import the types under the names of what users pass, as in `AnyInt as
int`. So `inspect.signature` and `help`, which show annotations as the source spells them, say
``dim: int``. A module that also uses `int` as a class (`type(x) is int`) cannot do that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

from vtgrad.storage.tensor_base import TensorBase

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
