"""The one way to change memory.

NOTE [ The write funnel ]

Every write to a buffer (an in-place operator, ``out=``, ``x[i] = v``, an accumulation into
``.grad``) goes through `write` or `write_geometry`, in this order:

1. check: may this tensor be written at all (`check_inplace`), does it overlap itself;
2. record: make the operator's node, which saves what it needs, copies of the old value included;
3. write: run the kernel, which either raises before it has changed anything or succeeds;
4. bump: the version moves by one;
5. rebase: the node becomes the producer of the tensor, or of the part of its base.

Steps 1 to 3 may raise, and then nothing has changed: values, version, graph and metadata are as
before. Steps 4 and 5 cannot fail.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias, TypeVar

import numpy as np

from ..errors import (
    DTypeError,
    InputOverlapError,
    NotSupportedError,
    OutGradError,
    ResultTypeError,
    SelfOverlapError,
    ShapeError,
)
from ..graph.functions import forget_leaf_node, requires_grad
from ..graph.grad_mode import is_grad_enabled
from ..graph.node import Node
from ..storage.arrays import Array, Number, NumpyDType, Shape
from ..storage.dtypes import can_cast, dtype_of, result_dtype
from ..storage.geometry import Overlap, has_self_overlap
from ..storage.geometry import overlap as overlap_of
from ..storage.quiet import quiet
from ..storage.shapes import broadcast_shapes
from ..storage.tensor_base import TensorBase
from ..storage.tensor_impl import TensorImpl
from .check_inplace import check_inplace, check_self_overlap
from .copy_slices import reaches_outside
from .differentiable_view_meta import view_meta_of
from .rebase_history import rebase_history, set_own_history

__all__ = [
    "Recorder",
    "check_out",
    "store_result",
    "write",
    "write_geometry",
    "write_out",
]

T = TypeVar("T", bound=TensorBase)


# Makes an operator's node from its arguments, with its edges and all that it saves of the inputs.
Recorder: TypeAlias = Callable[..., Node]


def write(
    target: T,
    recorder: Recorder | None,
    writer: Callable[..., None],
    *arguments: object,
    overlap: Literal["refused", "unrecorded", "allowed"] = "refused",
    distinct: bool = False,
    **options: object,
) -> T:
    """Write to `target` in place; see Note [The write funnel].

    Parameters
    ----------
    target : TensorBase
        What is written.
    recorder : Recorder or None
        Makes the operator's node; None if the operator has no derivative.
    writer : callable
        Called with the target's array and the arguments, tensors replaced by their arrays. It
        raises before it has changed anything, or succeeds.
    *arguments : object
        The operator's arguments after the target.
    overlap : str
        What if several elements are one memory location. Writers that store one value, read
        beforehand, may allow that; those whose gradient would be wrong, only while nothing is
        recorded. All others refuse, because which value remains is undefined.
    distinct : bool
        Whether inputs may share no memory with the target at all, not even element for element:
        for operators that read and write in an order of their own.
    **options : object
        The operator's keyword-only arguments.

    Returns
    -------
    TensorBase
        `target` itself.
    """
    flat = _flattened(arguments)
    impl = target._impl
    recording = is_grad_enabled() and impl.array.dtype.kind in "fc" and requires_grad(target, *flat)
    if recording:
        check_inplace(target)
    if overlap == "refused" or (overlap == "unrecorded" and recording):
        check_self_overlap(target)
    if impl._storage is not None or distinct:
        for x in flat:
            if isinstance(x, TensorBase) and (overlap == "refused" or x.ndim):
                check_input_overlap(impl, x._impl, distinct=distinct)
    operands = [operand(x) for x in arguments]
    node: Node | None = None
    if recording and recorder is not None:
        _check_base(target)
        node = recorder(target, *arguments, inplace=True, **options)
    quiet.run(writer, impl.array, *operands, **options)
    impl.counter.value += 1
    if node is not None:
        slices = rebase_history(target, node)
        node.save_results(target)
        if slices is not None:
            for variable in node.saved():
                variable.was_written_through(slices)
    return target


def write_geometry(
    target: T, recorder: Recorder, view: Callable[..., TensorImpl], *arguments: object
) -> T:
    """Let `target` look at its memory through another geometry, as ``t_`` does.

    The base of a view is not told: its values stay as they are. The version moves all the same.

    Parameters
    ----------
    recorder : Recorder
        Makes the operator's node.
    view : callable
        Makes an alias with the new geometry from the target's impl and the arguments.
    *arguments : object
        The operator's arguments after the target.

    Returns
    -------
    TensorBase
        `target` itself.
    """
    recording = is_grad_enabled() and requires_grad(target)
    if recording:
        check_inplace(target)
    impl = target._impl
    changed = view(impl, *arguments)
    node = recorder(target, *arguments, inplace=True) if recording else None
    impl.set_geometry_of(changed)
    impl.counter.value += 1
    forget_leaf_node(target)
    if node is not None:
        set_own_history(target, node)
    return target


def increment_version(tensor: TensorBase | Iterable[TensorBase]) -> None:
    """Say that a buffer was written by other means, for example through ``x.numpy()``.

    Parameters
    ----------
    tensor : tensor or iterable of tensors
        What was written.
    """
    for written in (tensor,) if isinstance(tensor, TensorBase) else tuple(tensor):
        written._impl.counter.value += 1


def operand(x: object) -> object:
    """An argument as kernels take it: arrays for tensors, numbers for wrapped numbers."""
    if isinstance(x, TensorBase):
        impl = x._impl
        return impl.array.item() if impl.is_wrapped_number else impl.array
    if isinstance(x, (list, tuple)) and any(isinstance(y, TensorBase) for y in x):
        return [operand(y) for y in x]
    # NumPy's scalars promote like arrays; an operand that is one number promotes like a number.
    return x.item() if isinstance(x, np.generic) else x


def _flattened(arguments: Sequence[object]) -> Sequence[object]:
    if any(isinstance(x, (list, tuple)) for x in arguments):
        flat: list[object] = []
        for x in arguments:
            if isinstance(x, (list, tuple)):
                flat.extend(x)
            else:
                flat.append(x)
        return flat
    return arguments


def check_input_overlap(target: TensorImpl, source: TensorImpl, *, distinct: bool) -> None:
    """Raise if an input shares some, but not the same, memory with what is written.

    Parameters
    ----------
    distinct : bool
        Also raise if they share their memory element for element.

    Raises
    ------
    InputOverlapError
        If so: what the operator reads would depend on the order of writing.
    """
    if target is not source and (target._storage is None or target._storage is not source._storage):
        return
    shared = overlap_of(
        (target.sizes, target.strides, target.storage_offset),
        (source.sizes, source.strides, source.storage_offset),
    )
    if shared is Overlap.PARTIAL or (distinct and shared is Overlap.FULL):
        raise InputOverlapError(
            "an input and the written tensor share memory in a way that makes the result depend "
            "on the order of reading and writing; clone the input first",
            target_shape=target.sizes,
            input_shape=source.sizes,
        )


def _check_base(target: TensorBase) -> None:
    meta = view_meta_of(target)
    if meta is None:
        return
    base = meta.backward_info.base._impl
    if base.array.flags.c_contiguous and not reaches_outside(base, target._impl):
        return
    if has_self_overlap(base.sizes, base.strides):
        raise SelfOverlapError(
            "cannot record a write to a view of a base whose elements share memory locations; "
            "clone the base first",
            shape=base.sizes,
            strides=base.strides,
        )
    if reaches_outside(base, target._impl):
        raise SelfOverlapError(
            "cannot record a write to a view that reaches memory outside of its base; make the "
            "view from a tensor that covers it",
            shape=target.shape,
            base_shape=base.sizes,
        )


# -- results of out-of-place kernels --------------------------------------------------------


def store_result(kernel: Callable[..., Array]) -> Callable[..., None]:
    """A writer that computes with `kernel` and stores what it returns.

    The kernel gets the target's array as its first argument. Its result must have the target's
    shape, and a dtype that in-place operators may store there.
    """
    direct = "out" in (kernel.__kwdefaults__ or {})

    def writer(array: Array, *operands: object, **options: object) -> None:
        if direct and not options and array.dtype.kind == "f":
            # Nothing can go wrong, and nothing needs a temporary, among floats of one dtype and
            # shape and plain numbers.
            for x in operands:
                if isinstance(x, np.ndarray):
                    if x.dtype is not array.dtype or x.shape != array.shape:
                        break
                elif type(x) is not float and type(x) is not int:
                    break
            else:
                kernel(array, *operands, out=array)
                return
        try:
            result = kernel(array, *operands, **options)
        except (NotSupportedError, DTypeError) as error:
            if direct:
                # That the result would not fit is the graver mistake.
                shapes = [x.shape for x in operands if isinstance(x, np.ndarray)]
                check_result_shape(broadcast_shapes(array.shape, *shapes), array)
                numeric = [x for x in operands if isinstance(x, (np.ndarray, Number))]
                if error.facts.get("result") is not bool:
                    check_result_dtype(result_dtype(array, *numeric), array)
            raise
        check_result_shape(result.shape, array)
        check_result_dtype(result.dtype, array)
        np.copyto(array, result, casting="unsafe")

    return writer


def check_result_shape(result: Shape, target: Array) -> None:
    """Raise `ShapeError` if an in-place operator's result does not have the target's shape."""
    if result != target.shape:
        raise ShapeError(
            f"the result has shape {list(result)}, which an in-place operator cannot "
            f"store in a tensor of shape {list(target.shape)}",
            expected=target.shape,
            found=result,
        )


def check_result_dtype(result: NumpyDType, target: Array) -> None:
    """Raise if an in-place operator may not store `result` in `target`.

    Raises
    ------
    ResultTypeError
        If the result's dtype is of a higher category.
    """
    if not can_cast(result, target.dtype):
        raise ResultTypeError(
            f"a result of dtype {dtype_of(result).name} cannot be stored in a tensor of "
            f"dtype {dtype_of(target.dtype).name}",
            result=dtype_of(result),
            target=dtype_of(target.dtype),
        )


# -- out= -----------------------------------------------------------------------------------


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
    flat = _flattened(inputs)
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
        quiet.run(_copy, impl.array, result)
    else:
        fresh = TensorImpl(np.ascontiguousarray(result).astype(impl.dtype).reshape(result.shape))
        impl.set_geometry_of(fresh)
    impl.counter.value += 1
    return out


def _copy(target: Array, source: Array) -> None:
    np.copyto(target, source, casting="unsafe")
