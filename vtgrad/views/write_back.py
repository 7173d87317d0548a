# Compiled by mypyc.
"""Assigning to a part of a tensor what is there already.

Note [Writing back]

Of ``x[i] += y`` Python makes three steps: it reads the part ``v = x[i]``, calls ``v += y``, which
writes it, and then assigns ``x[i] = v``. The third step would copy each element onto itself, and
record a second write with a view of the first as its operand. It changes nothing, so only its
version is counted, as in PyTorch, and its line is remembered; no element is marked as written, and
the graph stays as the second step has left it.

That the memory is the same is not enough if the write is recorded: ``x[i] = x[i].detach()`` cuts
the gradient off. So then the value must be the view through which the base was written last, and
its producer must not have been asked for since. Nor must that of the base: in
``v = x[i]; v += y; z = 2 * x; x[i] = v`` the third step begins a new value of ``x``, whose gradient
has no part from ``z``. For the same reason no hook, and no gradient to retain, may belong to the
value before it. And it must be a part: the third step of ``x[:] += y`` is recorded, as in PyTorch,
by a `CopyBackwards` of the whole tensor. So is a tensor that a program assigns to itself.
"""

from __future__ import annotations

from typing import Final

from vtgrad.graph.recording import is_recording
from vtgrad.storage.arrays import PLAIN
from vtgrad.storage.geometry import has_self_overlap
from vtgrad.storage.key_set import keys
from vtgrad.storage.layout import PECULIAR
from vtgrad.storage.mark_written import PartIndex
from vtgrad.storage.record_write import SETITEM, count_change
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import INFERENCE
from vtgrad.views.creation_meta import CreationMeta
from vtgrad.views.differentiable_view_meta import DifferentiableViewMeta, producer_of

__all__ = ["write_back"]

_DEFAULT: Final = CreationMeta.DEFAULT


def write_back(tensor: TensorBase, index: PartIndex, value: TensorBase) -> bool:
    """Count the assignment of a part that was written just now; see Note [Writing back].

    Parameters
    ----------
    tensor : TensorBase
        The tensor to a part of which a value is assigned.
    index : PartIndex
        A NumPy index, with the ellipsis at its end.
    value : TensorBase
        The value, which has the storage of the tensor.

    Returns
    -------
    bool
        False if the assignment may change anything; then nothing was done.
    """
    impl, source = tensor._impl, value._impl
    meta, own = source.autograd_meta, impl.autograd_meta
    if type(meta) is not DifferentiableViewMeta or source is impl or keys.modes:
        return False
    base = meta.base
    if base is not tensor and (type(own) is not DifferentiableViewMeta or own.base is not base):
        return False
    counter = source.version_counter
    if counter is None or counter is INFERENCE or counter is not impl.version_counter:
        return False
    if meta.needs_gradient() and is_recording():
        slices = meta.written_by
        if (
            slices is None
            # A write of the whole tensor is recorded without a view.
            or (base is tensor and source.array.shape == impl.array.shape)
            or meta.creation_meta is not _DEFAULT
            or (isinstance(own, DifferentiableViewMeta) and _must_be_written(own))
            or meta.attr_version != counter.value
            or producer_of(base) is not slices
            or slices.has_parent
            or slices.hooks is not None
            # See Note [A saved result of a written view].
            or slices.fn is None
            or slices.fn.saves_results
        ):
            return False
    if not _is_part(impl, index, source):
        return False
    count_change(source, "__setitem__", SETITEM)
    return True


def _must_be_written(view: DifferentiableViewMeta) -> bool:
    """Whether a view to a part of which a value is assigned is not like any other view.

    One that may not be written, or not be used any more, is refused by what follows. One without a
    producer, because its base required no grad, gets its first, which `retain_grad` asks for. Of
    others `end_rebase` tells whether they were written themselves.
    """
    return (
        view.creation_meta is not _DEFAULT
        or view.grad_fn_ is None
        or view.retains_grad
        or view.view_fn is not None
        or view.requires_grad_
    )


def _is_part(impl: TensorImpl, index: PartIndex, source: TensorImpl) -> bool:
    """Whether an index names just the elements of another impl, which may all be written."""
    if impl.extra_meta is not None or source.extra_meta is not None:
        return False
    layout, row = impl.layout, index[0]
    if layout is not None and layout is not PECULIAR and len(index) == 2 and type(row) is int:
        # The usual case, without another view.
        first = row if row >= 0 else row + layout.shape[0]
        return (
            source.layout is not None
            and source.layout is layout.row
            and source.layout is not PECULIAR
            and source.byte_offset == impl.byte_offset + first * layout.row_bytes
            and 0 <= first < layout.shape[0]
        )
    array, own = impl.array, source.array
    if type(array) not in PLAIN or type(own) not in PLAIN or not own.size:
        return False
    try:
        part = array[index]
    except (IndexError, OverflowError):
        return False
    return (
        part.shape == own.shape
        and part.strides == own.strides
        and part.dtype == own.dtype
        and part.flags.writeable
        and own.flags.writeable
        and bool(part.__array_interface__["data"] == own.__array_interface__["data"])
        and (own.flags.c_contiguous or not has_self_overlap(own.shape, source.strides))
    )
