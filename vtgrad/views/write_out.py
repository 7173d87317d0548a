"""``out=``: an operator's result stored in a tensor that the caller has.

The second way into memory beside `write`: nothing is ever recorded here, so there is nothing to
rebase, but checks, the write and the version come in the same order; see Note [The write funnel].
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from ..errors import OutGradError, ResultTypeError
from ..graph.functions import requires_grad
from ..graph.recording import is_grad_enabled
from ..storage.arrays import Array
from ..storage.dtypes import dtype_of
from ..storage.quiet import quiet
from ..storage.tensor_base import TensorBase
from ..storage.tensor_impl import TensorImpl
from .check_inplace import check_input_overlap, check_self_overlap, flattened
from .store_result import check_result_dtype

__all__ = ["check_out", "write_out"]

T = TypeVar("T", bound=TensorBase)


def check_out(out: TensorBase, *inputs: object, differentiable: bool = True) -> None:
    """Raise if an operator may not store its result in ``out``.

    Raises
    ------
    OutGradError
        If anything requires grad while recording: nothing could be recorded. Inputs of an
        operator that is not differentiable may.
    InputOverlapError
        If an input shares some, but not the same, memory with ``out``.
    """
    flat = flattened(inputs)
    if is_grad_enabled() and (requires_grad(out, *flat) if differentiable else requires_grad(out)):
        raise OutGradError(
            "out= cannot be recorded, but an argument requires grad; detach it, or use the "
            "operator without out="
        )
    for x in flat:
        if isinstance(x, TensorBase):
            check_input_overlap(out._impl, x._impl, distinct=False)


def write_out(out: T, result: Array, *, exact: bool = False) -> T:
    """Store a result in ``out``, which takes on its shape if it has another.

    Parameters
    ----------
    exact : bool
        Whether ``out`` must have the result's dtype; else the result is cast.

    Raises
    ------
    SelfOverlapError
        If ``out`` overlaps itself.
    ResultTypeError
        If its dtype cannot hold the result, or is not the result's though it must be.
    """
    impl = out._impl
    if exact and impl.dtype != result.dtype:
        raise ResultTypeError(
            f"out= has dtype {dtype_of(impl.dtype).name}, but the operator stores "
            f"{dtype_of(result.dtype).name} only",
            result=dtype_of(result.dtype),
            target=dtype_of(impl.dtype),
        )
    check_result_dtype(result.dtype, impl.array)
    if impl.sizes == result.shape:
        check_self_overlap(out)
    else:
        impl.set_geometry_of(_resized(impl, TensorImpl(result)))
    quiet.run(_copy, impl.array, result)
    impl.counter.value += 1
    return out


def _resized(impl: TensorImpl, like: TensorImpl) -> TensorImpl:
    """The geometry that ``out`` takes on: in its own storage if there is room, else anew."""
    item = impl.array.itemsize
    if impl.byte_offset + like.numel * item > impl.storage.nbytes():
        fresh = np.empty(like.numel, impl.dtype)
        impl = TensorImpl(fresh)
    array = impl.storage.strided(impl.dtype, like.sizes, like.strides, impl.storage_offset)
    return impl.alias(array, impl.byte_offset, like.strides)


def _copy(target: Array, source: Array) -> None:
    np.copyto(target, source, casting="unsafe")
