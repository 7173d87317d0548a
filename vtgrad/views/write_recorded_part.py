# Compiled by mypyc.
"""The recorded form of ``x[i] = v``, without a view of the part.

Note [A part that is written without a view]

``x[i] = v`` means: take the view ``x[i]``, copy `v` into it. Nothing else ever sees that view, and
of what belongs to it the write needs two facts: where the part is, and which operator would have
made the view, for messages (Note [Who wrote]). The view's own producer would be replaced by the
write at once. So the usual case makes neither view nor producer: it checks, records, marks, stores
and rebases on the base, in the order of Note [The write funnel]. The graph is that of the long way,
with its numbers in the same order.

The usual case is a part without a step backward of a row-major tensor, or a row-major part of
another view of a row-major base, a value of its dtype in the part's shape, and nothing that has to
see the view: no tangent, tracer, transform, profile or anomaly mode, and no view that may not be
written or retains its gradient. All else, errors included, goes the long way.
"""

from __future__ import annotations

from typing import Final

from vtgrad.graph.anomaly import anomaly
from vtgrad.graph.input_metadata import metadata_of_array
from vtgrad.graph.node import Node
from vtgrad.graph.observer import observers
from vtgrad.graph.recording import is_recording
from vtgrad.graph.thread_levels import thread
from vtgrad.storage.arrays import PLAIN, Array, Shape
from vtgrad.storage.key_set import keys
from vtgrad.storage.layout import PECULIAR, Layout
from vtgrad.storage.mark_written import PartIndex, mark_array
from vtgrad.storage.record_write import SETITEM, record_write
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import INFERENCE
from vtgrad.views.copy_slices import CopySlices
from vtgrad.views.creation_meta import CreationMeta
from vtgrad.views.differentiable_view_meta import DifferentiableViewMeta
from vtgrad.views.rebase_history import begin_rebase
from vtgrad.views.write import Recorder

__all__ = ["write_recorded_part"]

_DEFAULT: Final = CreationMeta.DEFAULT


def write_recorded_part(
    tensor: TensorBase,
    index: PartIndex,
    value: TensorBase,
    recorder: Recorder,
    makers: tuple[type[Node], type[Node]],
) -> bool:
    """Store a value in a part of a tensor, and record it.

    See Note [A part that is written without a view].

    Parameters
    ----------
    index : PartIndex
        A NumPy index, with the ellipsis at its end.
    value : TensorBase
        On other memory than the tensor.
    recorder : Recorder
        Makes the node of a copy into the first argument.
    makers : tuple of two classes
        The nodes of a view by an integer, and of a view by a slice.

    Returns
    -------
    bool
        False if this is not the usual case; then nothing was done.
    """
    impl, source = tensor._impl, value._impl
    layout = impl.layout
    if layout is None:
        layout = impl.find_layout()
    content, counter, array = source.array, impl.version_counter, impl.array
    if (
        keys.modes
        or source.extra_meta is not None
        or content.dtype is not array.dtype
        or array.dtype.kind not in "fc"
        or type(content) not in PLAIN
        or counter is INFERENCE
        or anomaly.enabled
        or observers
        or thread.transform is not None
        or not is_recording()
    ):
        return False
    base = _base_of(tensor, impl)
    if base is None:
        return False
    own = base._impl.autograd_meta
    tracked = own is not None and own.needs_gradient()
    if tracked:
        if own is None or not own.was_produced():
            return False  # a leaf, which may not be written
    else:
        own = source.autograd_meta
        if own is None or not own.needs_gradient():
            return False
    row = index[0]
    seen: Layout = PECULIAR
    if layout is not PECULIAR and type(row) is int and len(index) == 2:
        count = layout.shape[0]
        if row < 0:
            row += count
        if not 0 <= row < count:
            return False
        start, maker = row * layout.row_bytes, makers[0]
        seen = layout.row or layout.find_row()
    else:
        place = _place(index, array, makers)
        if place is None:
            return False
        start, maker = place
    part = array[index]
    if content.shape != part.shape or not part.size:
        return False
    offset = impl.byte_offset + start
    if layout is PECULIAR and not (
        part.flags.carray
        and type(array) in PLAIN
        and impl.extra_meta is None
        and _is_inside(offset, part, base._impl)
    ):
        return False
    # Step 2 of the funnel.
    node = recorder(base, value, inplace=True)
    slices = CopySlices.of_write(base._impl, node.edge0, part, offset, None, node)
    shown: Layout | tuple[Shape, int]
    if seen is PECULIAR:
        node.input_metadata, shown = metadata_of_array(part), (part.shape, part.itemsize)
    else:
        node.input_metadata, shown = seen.metadata, seen
    if counter is None:
        counter = impl.counter
    # Step 4; 3 has nothing to do.
    holder = begin_rebase(base, None)
    if counter.log is not None:
        # See Note [Marked for the next version].
        while mark_array(impl, counter, part, offset) != counter.value + 1:
            continue
    version = counter.value = counter.value + 1
    part[...] = content
    view = shown, offset, maker if tracked else None, None
    record_write(impl, counter, version, "__setitem__", SETITEM, view)
    holder.set_gradient_edge(slices, 0)
    return True


def _base_of(tensor: TensorBase, impl: TensorImpl) -> TensorBase | None:
    """The row-major base of a view, or the tensor itself; None for an unusual view."""
    meta = impl.autograd_meta
    if type(meta) is not DifferentiableViewMeta:
        return None if impl.layout is PECULIAR else tensor
    if (
        meta.creation_meta is not _DEFAULT
        or meta.view_fn is not None
        # The long way gives it its first producer, which `retain_grad` asks for.
        or meta.grad_fn_ is None
        or meta.retains_grad
        or meta.requires_grad_
    ):
        return None
    base = meta.base._impl
    layout = base.layout
    if layout is None:
        layout = base.find_layout()
    if (
        layout is PECULIAR
        or base._storage is not impl._storage
        or (impl.layout is not PECULIAR and not _is_inside(impl.byte_offset, impl.array, base))
    ):
        return None
    return meta.base


def _is_inside(offset: int, part: Array, base: TensorImpl) -> bool:
    """As `check_base`: two ranges of bytes, one inside the other."""
    return 0 <= offset - base.byte_offset <= base.array.nbytes - part.nbytes


def _place(
    index: PartIndex, array: Array, makers: tuple[type[Node], type[Node]]
) -> tuple[int, type[Node]] | None:
    """Where a part begins, in bytes from the first element, and what makes it of the views before.

    None for the whole array, and for what is no view or wrong.
    """
    start, maker, shape = 0, None, array.shape
    if len(index) > len(shape) + 1:
        return None
    for dim, item in enumerate(index):
        if type(item) is int:
            count = shape[dim]
            if not -count <= item < count:
                return None
            start += (item if item >= 0 else item + count) * array.strides[dim]
            maker = makers[0]
        elif type(item) is slice:
            first, stop, step = item.indices(shape[dim])
            if step < 0:
                return None
            if first or stop < shape[dim] or step > 1:
                start += first * array.strides[dim]
                maker = makers[1]
    return None if maker is None else (start, maker)
