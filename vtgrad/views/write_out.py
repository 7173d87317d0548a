# Compiled by mypyc.
"""``out=``: an operator's result stored in a tensor of the caller.

The second function that writes memory, beside `write`: nothing is ever recorded here, so nothing is
rebased, but checks, mark, version and store come in the same order; see Note [The write funnel].
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np

from vtgrad.errors import NotSupportedError, OutGradError, ResultTypeError, ShapeError
from vtgrad.graph.recording import is_recording
from vtgrad.graph.set_history import forget_leaf_node, requires_grad
from vtgrad.graph.thread_levels import thread
from vtgrad.graph.tracer import current_tracer
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.growth import check_growth
from vtgrad.storage.inference_tensors import refuse_outside_inference_mode
from vtgrad.storage.key_set import DUAL, keys
from vtgrad.storage.mark_written import mark_written
from vtgrad.storage.no_fp_warnings import no_fp_warnings, run_without_warnings
from vtgrad.storage.record_write import DIRECT, record_write
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import INFERENCE, Storing, VersionCounter
from vtgrad.storage.warn import warn
from vtgrad.views.check_inplace import check_input_overlap, check_memory, flattened
from vtgrad.views.resize import make_room, needed_bytes, resized
from vtgrad.views.store_inplace_result import check_result_dtype

__all__ = ["check_out", "write_out", "write_outs"]

T = TypeVar("T", bound=TensorBase)


def check_out(out: TensorBase, *inputs: object, differentiable: bool = True) -> None:
    """Raise if an operator may not store its result in ``out``.

    Raises
    ------
    InferenceWriteError
        If ``out`` is an inference tensor, outside of inference mode.
    NotSupportedError
        If a tensor has a tangent.
    OutGradError
        If a tensor requires grad while recording is on: the write would not be recorded. Inputs of
        an operator that is not differentiable may require grad.
    InputOverlapError
        If an input overlaps ``out`` without being the same elements.
    """
    if out._impl.version_counter is INFERENCE:
        refuse_outside_inference_mode()
    flat = flattened(inputs)
    if keys.modes and not thread.excluded_keys & DUAL and not thread.mode.inference:
        _refuse_tangents((out, *flat))
    if is_recording() and (requires_grad(out, *flat) if differentiable else requires_grad(out)):
        raise OutGradError(
            "out= cannot be recorded, but an argument requires grad; detach it, or use the "
            "operator without out="
        )
    for x in flat:
        if isinstance(x, TensorBase):
            check_input_overlap(out._impl, x._impl, distinct=False)


def _refuse_tangents(tensors: Iterable[object]) -> None:
    for x in tensors:
        meta = x._impl.autograd_meta if isinstance(x, TensorBase) else None
        if meta is not None and meta.fw_level(thread.forward_limit):
            raise NotSupportedError(
                "out= does not carry tangents, and got a tensor that has one; use the operator "
                "without out=, and copy the result with copy_"
            )


def write_out(
    out: T,
    result: Array,
    operator: str,
    *,
    exact: bool = False,
    inputs: Sequence[object] = (),
    reshapes: bool = False,
) -> T:
    """Store a result in ``out``, which is resized if it has another shape.

    Resizing is meant for an ``out`` without elements; another ``out`` causes a warning.

    Parameters
    ----------
    operator : str
        The operator's name, for the record of the write.
    exact : bool
        Whether ``out`` must have the result's dtype; otherwise the result is cast.
    inputs : sequence
        The inputs of the operator; if ``out`` is among them, it keeps its shape.
    reshapes : bool
        Whether the operator is meant to resize ``out``: then there is no warning.

    Raises
    ------
    ReadOnlyError, SelfOverlapError
        If the memory of ``out`` is read-only, or ``out`` overlaps itself.
    ResultTypeError
        If its dtype cannot hold the result, or differs from the result's while `exact` is set.
    ShapeError
        If it is an input of another shape than the result's.
    ResizeError
        If it needs more memory than it has, and the memory cannot grow.
    """
    if keys.modes:
        _refuse_while_traced(operator)
    if out._impl.sizes != result.shape and any(x is out for x in inputs):
        raise ShapeError(
            f"out= is also an input, of shape {list(out._impl.sizes)}, and cannot take on the "
            f"result's shape {list(result.shape)}",
            expected=result.shape,
            found=out._impl.sizes,
        )
    target = _Target(out, result, _new_strides(out, result, exact, reshapes))
    counter = target.counter
    # `Storing` inline, for one counter; a call would cost a sixth of a small operator.
    number = no_fp_warnings.thread.number
    storing = counter.storing
    if storing is None:
        storing = counter.storing = {}
    first = number not in storing
    try:
        if first:
            storing[number] = counter.value
        target.mark()
        version = counter.value = counter.value + 1
        target.store()
    finally:
        if first:
            del storing[number]
    record_write(target.room, counter, version, operator, DIRECT)
    return out


def write_outs(
    outs: Sequence[T], results: Sequence[Array], operator: str, *, exact: bool = False
) -> list[T]:
    """Store several results, each in its own ``out``: all of them or, if one is refused, none.

    See `write_out`.
    """
    if keys.modes:
        _refuse_while_traced(operator)
    new_strides = [
        _new_strides(out, result, exact, False) for out, result in zip(outs, results, strict=True)
    ]
    targets = [_Target(*each) for each in zip(outs, results, new_strides, strict=True)]
    storing = Storing()
    try:
        for target in targets:
            counter = target.counter
            storing.begin(counter)
            target.mark()
            target.version = counter.value = counter.value + 1
        for target in targets:
            target.store()
    finally:
        deque(storing.ends, 0)
    for target in targets:
        record_write(target.room, target.counter, target.version, operator, DIRECT)
    return list(outs)


def _refuse_while_traced(operator: str) -> None:
    """Refuse a result that was computed before ``out`` came in, while a tracer follows operators.

    An operator that stores its result itself is handed over with its ``out``, see Note [Tracing].
    """
    if current_tracer() is not None:
        raise NotSupportedError(
            f"{operator} with out= cannot be followed to find the pattern of a Jacobian; call it "
            "without out= and copy the result with copy_",
            operator=operator,
        )


def _new_strides(out: TensorBase, result: Array, exact: bool, reshapes: bool) -> Shape | None:
    """The strides of the new shape of ``out``; None if it keeps its own."""
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
        check_memory(out)
        return None
    if not impl.array.flags.writeable:
        check_memory(out)
    if impl.array.size and not reshapes:
        warn(
            f"out= has shape {list(impl.sizes)} and takes on the result's shape "
            f"{list(result.shape)}, which is deprecated; pass one of that shape, or an empty one"
        )
    strides = TensorImpl(result).strides
    item = impl.array.itemsize
    check_growth(impl.storage, needed_bytes(result.shape, strides, impl.storage_offset, item))
    return strides


class _Target:
    """A result before its store, and the ``out`` that takes it.

    Attributes
    ----------
    out : TensorBase
        The tensor to write.
    impl : TensorImpl
        The impl of `out`.
    room : TensorImpl
        The impl to write to: `impl` itself, or an alias of the result's shape.
    counter : VersionCounter
        The counter of `out`.
    version : int
        The version that the write makes, once it has moved.
    """

    __slots__ = ("counter", "impl", "out", "result", "room", "version")

    out: TensorBase
    impl: TensorImpl
    room: TensorImpl
    result: Array
    counter: VersionCounter
    version: int

    def __init__(self, out: TensorBase, result: Array, strides: Shape | None) -> None:
        """Make room for a result with these strides; None if ``out`` has the shape already."""
        impl = out._impl
        self.out = out
        self.impl = self.room = impl
        self.result = result
        if strides is not None:
            make_room(impl, result.shape, strides)
            self.room = resized(impl, result.shape, strides)
        self.counter = self.room.counter

    def mark(self) -> None:
        """Mark the elements that will be written."""
        if self.counter.log is not None:
            mark_written(self.room, self.counter)

    def store(self) -> None:
        """Resize ``out`` to the result's shape, and overwrite the elements."""
        room = self.room
        if room is not self.impl:
            self.impl.set_geometry_of(room)
            forget_leaf_node(self.out)
        run_without_warnings(np.copyto, room.array, self.result, "unsafe")
