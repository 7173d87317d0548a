"""``out=`` of functions that are made of operators."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.errors import NotSupportedError
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.write_out import check_out, write_out

__all__ = ["store_result"]

T = TypeVar("T", bound=TensorBase)


def store_result(
    result: T,
    out: T | None,
    function: str,
    *inputs: object,
    exact: bool = False,
    differentiable: bool = True,
) -> T:
    """The result, or ``out`` with the result in it.

    Parameters
    ----------
    exact : bool
        Whether `out` must have the dtype of the result, which is cast otherwise.
    differentiable : bool
        Whether inputs that require grad are refused beside `out`.

    Raises
    ------
    NotSupportedError
        If the result has samples of a `vmap`.
    """
    if out is None:
        return result
    array_of(out, "out")
    check_out(out, *inputs, differentiable=differentiable)
    if result._impl.key_set or out._impl.key_set:
        raise NotSupportedError(
            f"{function}() does not take out= here; call it without, and copy the result with "
            "copy_",
            function=function,
        )
    # An `out` that is resized is row-major, however the operators have left the result.
    return write_out(out, F.contiguous(result)._impl.array, function, exact=exact)
