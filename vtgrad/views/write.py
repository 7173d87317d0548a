# Compiled by mypyc.
"""The one function through which memory is written, and its short forms.

Note [The write funnel]

Every write of an operator to a buffer (in place, ``x[i] = v``) goes through `write`, its short
forms `write_ufunc`, `write_part`, `write_at_index` and `write_recorded_part`, or `write_geometry`,
in this order.
`write_out` does the same for ``out=``, which is never recorded, and `GradStores.commit` for all
leaves to whose ``.grad`` a pass adds, at once; see Note [All leaves or none]. What ``x[i] += y``
assigns in the end is in its place already: `write_back` counts that, and writes nothing; see Note
[Writing back].

1. check: may this tensor be written at all (`refuse_outside_inference_mode`, `check_inplace`),
   is its memory read-only, does it overlap itself;
2. record: make the operator's node, which saves the values that it needs, copies of the old value
   included;
3. prepare: the operator's writer checks its arguments and computes, see
   Note [Prepare, then store];
4. remove the producer, see Note [Unfinished writes];
5. mark the elements that will be written, see Note [Exact staleness]; then the version moves by
   one. A value that a signal handler saves from step 4 to the end of step 6 counts as older, see
   Note [Saved during a write];
6. store, with nothing between;
7. record the write, see Note [Who wrote];
8. rebase: the node becomes the producer of the tensor, or of the part of its base;
9. pack: hooks get the result, if the node saves it, see Note [Packed results of writes].

Steps 1 to 3 may raise and have no visible effect. From step 4 on no step raises an error of its
own, and nothing is ever undone: if a signal handler raises in between, the mark and the version
stay, so that backward refuses saved values that may have been overwritten, and the gradient of the
written tensor. A version number is used once, also with several threads: a number taken back by one
thread could have been read by another.

`write`, its short forms, `write_out` and `GradStores` contain step 5 inline, and a replay has its
own for all that it writes, Note [Committed in one call]. All other code that moves a version calls
`count_write` (`increment_version`, and a custom Function for the writes that its forward declares:
there the store comes first) or `count_change` (changes of geometry, ``resize_``, ``set_``, and
`write_back`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from sys import _getframe
from types import FrameType
from typing import Final, Literal, TypeAlias, TypeVar

import numpy as np

from vtgrad.errors import ArgumentTypeError
from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.node import Node
from vtgrad.graph.packed import pack_result_of_write, save_result_of_write
from vtgrad.graph.recording import is_recording
from vtgrad.graph.set_history import requires_grad
from vtgrad.storage.arrays import PLAIN, Array
from vtgrad.storage.inference_tensors import refuse_outside_inference_mode
from vtgrad.storage.key_set import keys
from vtgrad.storage.layout import PECULIAR, Layout
from vtgrad.storage.loops import NATIVE, binary_loop, unary_loop
from vtgrad.storage.mark_written import PartIndex, mark_part, mark_written
from vtgrad.storage.mode import switched
from vtgrad.storage.no_fp_warnings import no_fp_warnings, renew_context
from vtgrad.storage.number_arrays import SMALL
from vtgrad.storage.prepared_store import Store
from vtgrad.storage.promotion import python_number
from vtgrad.storage.record_write import (
    DIRECT,
    OUTERMOST,
    SETITEM,
    SLOT_MASK,
    WITHIN,
    count_write,
    is_users,
    last_caller,
    record_write,
)
from vtgrad.storage.rewind import saves_observed
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_state import FREE_THREADED, refuse_second_thread
from vtgrad.storage.version_counter import INFERENCE
from vtgrad.views.change_geometry import change_geometry
from vtgrad.views.check_inplace import (
    check_base,
    check_inplace,
    check_input_overlap,
    check_memory,
    flattened,
)
from vtgrad.views.copy_slices import CopySlices
from vtgrad.views.differentiable_view_meta import DifferentiableViewMeta
from vtgrad.views.rebase_history import begin_rebase, end_rebase, slices_of
from vtgrad.views.view_fn import Replay, restride_of

__all__ = [
    "ALONE",
    "Recorder",
    "increment_version",
    "write",
    "write_geometry",
    "write_part",
    "write_ufunc",
]

T = TypeVar("T", bound=TensorBase)

# In place of the second operand, for ufuncs that have none.
ALONE: Final = object()

# The index of a whole array.
_ALL: Final[PartIndex] = (...,)

# Makes an operator's node from its arguments, with its edges and the saved inputs.
Recorder: TypeAlias = Callable[..., Node]


def write(
    target: T,
    recorder: Recorder | None,
    writer: Callable[..., Store],
    *arguments: object,
    operator: str,
    overlap: Literal["refused", "unrecorded", "allowed"] = "refused",
    distinct: bool = False,
    **options: object,
) -> T:
    """Write to `target` in place; see Note [The write funnel].

    Parameters
    ----------
    target : TensorBase
        The written tensor.
    recorder : Recorder or None
        Makes the operator's node; None if the operator has no derivative.
    writer : callable
        Called with the target's array and the arguments, tensors replaced by their arrays;
        prepares the store, see Note [Prepare, then store]. It is called in the user's context, so
        its arithmetic runs through `quiet`.
    *arguments : object
        The operator's arguments after the target.
    operator : str
        The operator's name, for the record of the write.
    overlap : str
        What happens if several elements are one memory location. Writers that store one value, read
        beforehand, may allow that; those whose gradient would be wrong allow it only while nothing
        is recorded. All others refuse, because the remaining value is undefined.
    distinct : bool
        Whether inputs may share no memory with the target, not even the same elements: for
        operators that read and write in an order of their own.
    **options : object
        The operator's keyword-only arguments.

    Returns
    -------
    TensorBase
        `target` itself.
    """
    impl = target._impl
    if impl.version_counter is INFERENCE:
        refuse_outside_inference_mode()
    array = impl.array
    storage = impl._storage
    # One look at each argument decides which of the checks below are needed.
    meta = impl.autograd_meta
    tracked = meta is not None and meta.needs_gradient()
    aliased = False
    operands: list[object] = []
    for x in arguments:
        kind = type(x)
        if kind is float or kind is int or kind is bool:
            operands.append(x)
        elif isinstance(x, TensorBase):
            source = x._impl
            meta = source.autograd_meta
            if meta is not None and not tracked:
                tracked = meta.needs_gradient()
            if source is impl or (storage is not None and source._storage is storage):
                aliased = True
            operands.append(source.array)
        else:
            items = operand(x)
            operands.append(items)
            if items is not x and isinstance(x, (list, tuple)):
                # Of another list no item is a tensor.
                tracked = tracked or requires_grad(*x)
                aliased = aliased or _has_alias(x, impl)
    # The first test of `is_recording`, inline to save a call.
    recording = tracked and array.dtype.kind in "fc" and (not switched.silent or is_recording())
    if recording:
        check_inplace(target)
    if (impl.layout is None or impl.layout is PECULIAR) and not array.flags.carray:
        # Not row-major without gaps, or read-only: see Note [Read-only memory].
        distinct_elements = overlap == "refused" or (overlap == "unrecorded" and recording)
        check_memory(target, distinct=distinct_elements)
    if aliased:
        for x in flattened(arguments):
            if isinstance(x, TensorBase) and (overlap == "refused" or x.ndim):
                check_input_overlap(impl, x._impl, distinct=distinct)
    node: Node | None = None
    slices: CopySlices | None = None
    holder: AutogradMeta | None = None
    if recording and recorder is not None:
        check_base(target)
        node = recorder(target, *arguments, inplace=True, **options)
        slices = slices_of(target, node)
    store, values, index = writer(array, *operands, **options)
    counter = impl.version_counter
    if counter is None:
        counter = impl.counter
    here = no_fp_warnings.thread
    storing = counter.storing
    if storing is None:
        storing = counter.storing = {}
    number = here.number
    first = number not in storing
    try:
        if first:
            storing[number] = counter.value
        if node is not None:
            holder = begin_rebase(target, slices)
        if counter.log is not None:
            mark_written(impl, counter, index)
        version = counter.value = counter.value + 1
        try:
            here.run(store, *values)
        except RuntimeError as error:
            # In a signal handler; after this point the operator cannot begin again.
            if not renew_context(error):
                raise
            no_fp_warnings.run(store, *values)
    finally:
        if first:
            del storing[number]
    record_write(impl, counter, version, operator, DIRECT)
    if node is None or holder is None:
        return target
    if node.saves_results:
        if saves_observed.reasons:
            save_result_of_write(node, target)
        else:
            node.save_results(target)
    end_rebase(target, node, slices, version, holder)
    if node.saves_results and saves_observed.reasons:
        pack_result_of_write(node, target, version)
    return target


def write_ufunc(
    impl: TensorImpl, ufunc: np.ufunc, other: object, operator: str, inexact: bool = False
) -> bool:
    """Write the result of a ufunc if steps 1, 2, 4 and 8 have no effect; see `write`.

    The second operand is `other`: `ALONE` for a ufunc of one operand, which is floating or complex
    then. Nothing is recorded, because no operand requires grad, and no check can fail, because the
    operands have one layout (Note [One look at a layout]) and share no memory.

    Returns
    -------
    bool
        False if these conditions do not hold; then nothing was done.
    """
    if keys.modes:
        return False  # a tangent may have to be written too
    meta = impl.autograd_meta
    if meta is not None and meta.needs_gradient():
        return False
    layout = impl.layout
    if layout is None:
        layout = impl.find_layout()
    if layout is PECULIAR:
        return False
    if impl.version_counter is INFERENCE:
        refuse_outside_inference_mode()
    array = impl.array
    if isinstance(other, TensorBase):
        source = other._impl
        second = source.layout
        if second is None:
            second = source.find_layout()
        if second is not layout or source is impl or (inexact and not layout.inexact):
            return False
        if source._storage is not None and source._storage is impl._storage:
            return False
        others = source.autograd_meta
        if others is not None and others.needs_gradient():
            return False
        operand: object = source.array
    elif layout.numbers is not None and (
        type(other) is float or (type(other) is int and abs(other) <= SMALL)
    ):
        operand = layout.numbers.operand(other)
    elif other is ALONE and layout.inexact:
        operand = None
    else:
        return False
    counter = impl.version_counter
    if counter is None:
        counter = impl.counter
    writes = counter.writes
    user: FrameType | None = None
    if writes is not None:
        try:
            user = _getframe(WITHIN)
        except ValueError:  # only the library is on the stack
            user = None
    thread = no_fp_warnings.thread
    run = thread.run
    if counter.log is not None:
        # See Note [Marked for the next version].
        while mark_written(impl, counter) != counter.value + 1:
            continue
    version = counter.value = counter.value + 1
    try:
        if operand is None:
            if not NATIVE or unary_loop(ufunc, array, array) is None:
                run(ufunc, array, array)
        elif not NATIVE or binary_loop(ufunc, array, operand, array) is None:
            run(ufunc, array, operand, array)
    except RuntimeError as error:
        # As in `write`.
        if not renew_context(error):
            raise
        no_fp_warnings.run(ufunc, *((array,) if operand is None else (array, operand)), array)
    if (
        writes is not None
        and user is not None
        and (user.f_code is last_caller.code or is_users(user.f_code))
    ):
        # `record_write` inline, for an operator that a user called; a call would cost half as much
        # again.
        part = meta.written_part(impl) if meta is not None and meta.is_view else None
        record = version, operator, user.f_code, user.f_lasti, thread.ident, part
        writes[version & SLOT_MASK] = record
        if counter.log is not None:
            counter.log.remember(record)
    else:
        record_write(impl, counter, version, operator, DIRECT)
    return True


def write_part(impl: TensorImpl, index: PartIndex, value: object) -> bool:
    """Store a value in a part of an array if steps 1, 2, 4 and 8 have no effect.

    Nothing is recorded, because no operand requires grad, so no view of the part is needed. The
    part does not overlap itself, because the array does not, and the value shares no memory with
    it.

    Parameters
    ----------
    index : PartIndex
        A NumPy index. The ellipsis at its end makes the part an array even if it is one element.
    value : object
        A tensor of the same dtype, or a number that is stored without a cast; others are not
        handled.

    Returns
    -------
    bool
        False if these conditions do not hold, or if the index or the value's shape is wrong; then
        nothing was done.
    """
    if keys.modes:
        return False  # a tangent may have to be written too
    meta = impl.autograd_meta
    if meta is not None and meta.needs_gradient():
        return False
    layout = impl.layout
    if layout is None:
        layout = impl.find_layout()
    if layout is PECULIAR:
        return False
    counter = impl.version_counter
    if counter is None:
        counter = impl.own_counter()
    elif counter is INFERENCE:
        refuse_outside_inference_mode()
    # The content is stored in the row of this index, if it is known to fit, or in all of a view.
    array, inside = impl.array, index
    row = index[0]
    of_row: Layout | None = None
    if type(row) is int and len(index) == 2:
        if not -layout.shape[0] <= row < layout.shape[0]:
            return False
        of_row = layout.row or layout.find_row()
    content: Array | float | int
    if isinstance(value, TensorBase):
        source = value._impl
        storage = source._storage
        if storage is not None and storage is impl._storage:
            return False
        meta = source.autograd_meta
        if meta is not None and meta.needs_gradient():
            return False
        content = source.array
        known = source.layout
        if known is None:
            known = source.find_layout()
        if known is not of_row or known is PECULIAR:
            # Lazy conjugates, which have a storage, are stored by their values, in `write`.
            if (
                source is impl
                or content.dtype is not layout.dtype
                or source.extra_meta is not None
                or (storage is not None and type(content) not in PLAIN)
            ):
                return False
            try:
                array, inside = array[index], _ALL
            except (IndexError, OverflowError):
                return False
            if content.shape != array.shape and content.ndim:
                return False
    else:
        # Apart: compiled code takes what is an int or a float for a float.
        if type(value) is float:
            if not abs(value) <= layout.largest:  # larger, or NaN
                return False
            content = value
        elif type(value) is int:
            if abs(value) > SMALL or layout.largest < 0:
                return False
            content = value
        else:
            return False
        if of_row is None:
            try:
                array, inside = array[index], _ALL
            except (IndexError, OverflowError):
                return False
    if FREE_THREADED:
        refuse_second_thread()
    if counter.log is not None:
        # See Note [Marked for the next version].
        while mark_part(impl, counter, index) != counter.value + 1:
            continue
    version = counter.value = counter.value + 1
    array[inside] = content
    record_write(impl, counter, version, "__setitem__", SETITEM)
    return True


def write_geometry(
    target: T,
    recorder: Recorder,
    view: Callable[..., TensorImpl],
    *arguments: object,
    operator: str,
) -> T:
    """Give `target` another geometry on its memory, as ``t_`` does.

    The base of a view keeps its producer: its values do not change. The version moves even so.

    Parameters
    ----------
    recorder : Recorder
        Makes the operator's node.
    view : callable
        Makes an alias with the new geometry from the target's impl and the arguments.
    *arguments : object
        The operator's arguments after the target.
    operator : str
        The operator's name, for the record of the write.

    Returns
    -------
    TensorBase
        `target` itself.
    """
    impl = target._impl
    if impl.version_counter is INFERENCE:
        refuse_outside_inference_mode()
    recording = is_recording() and requires_grad(target)
    if recording:
        check_inplace(target)
    changed = view(impl, *arguments)
    node = recorder(target, *arguments, inplace=True) if recording else None
    meta = impl.autograd_meta
    view_fn: Replay | None = None
    if type(meta) is DifferentiableViewMeta and meta.view_fn is not None:
        step = restride_of(changed)
        view_fn = meta.view_fn if step.shows(impl) else meta.view_fn.then(step)
    change_geometry(target, changed, operator, node, view_fn)
    return target


def increment_version(tensor: TensorBase | Iterable[TensorBase]) -> None:
    """Count a write that was made by other means, for example through ``x.numpy()``.

    Backward then refuses to use values that were saved before.

    Parameters
    ----------
    tensor : Tensor or iterable of Tensor
        The written tensors. Inference tensors, which have no version, are skipped.

    Raises
    ------
    ArgumentTypeError
        If `tensor` is neither, or an element is not a tensor; then no version has moved.

    Examples
    --------
    >>> x = vt.zeros(2)
    >>> x.numpy()[:] = 7
    >>> vt.autograd.graph.increment_version(x)
    >>> x.writes()[-1].operator
    'increment_version'
    """
    if not isinstance(tensor, (TensorBase, Iterable)):
        raise ArgumentTypeError(
            "argument 'tensor' must be a tensor or an iterable of tensors, not "
            f"{type(tensor).__name__}",
            argument="tensor",
        )
    given: tuple[object, ...] = (tensor,) if isinstance(tensor, TensorBase) else tuple(tensor)
    written = []
    for nr, x in enumerate(given):
        if not isinstance(x, TensorBase):
            raise ArgumentTypeError(
                f"increment_version takes tensors, but element {nr} is of type {type(x).__name__}",
                index=nr,
            )
        written.append(x._impl)
    for impl in written:
        count_write(impl, "increment_version", OUTERMOST)


def _has_alias(arguments: Sequence[object], impl: TensorImpl) -> bool:
    """Whether a tensor among the items of a list is the written one, or shares its storage."""
    storage = impl._storage
    for x in arguments:
        if isinstance(x, TensorBase):
            source = x._impl
            if source is impl or (storage is not None and source._storage is storage):
                return True
    return False


def operand(x: object) -> object:
    """An argument in the form for kernels: arrays for tensors."""
    kind = type(x)
    if kind is float or kind is int or kind is bool:
        return x
    if isinstance(x, TensorBase):
        return x._impl.array
    if isinstance(x, (list, tuple)):
        for y in x:
            if isinstance(y, TensorBase):
                return [z._impl.array if isinstance(z, TensorBase) else operand(z) for z in x]
    if isinstance(x, np.ndarray):
        # An array has no version: backward could not detect that it was overwritten.
        raise ArgumentTypeError(
            "in-place operators take tensors and numbers, not arrays; from_numpy makes a tensor"
        )
    # NumPy's scalars promote like arrays; an operand that is one number promotes like a number.
    return python_number(x) if isinstance(x, np.generic) else x
