"""Giving samples to a tensor that was made inside of `vmap` without them.

Note [Tensors that get samples]

What is made inside of `vmap` and not from a sample, as by ``zeros(5)``, is one tensor for all
samples. When a value with samples is first written to it, or to what shares its memory, it gets
samples: its elements are copied once for each sample. It and all that share its memory are batched
tensors from then on, which stand for the copy or for views of the copy.

    aliases           `TensorImpl.alias` adds each to the `MadeInBatch` of the tensor, which has the
                      level list it
    levels            the tensor gets samples of the level of the value, and of those inside of
                      it that were open when the tensor was made
    history           the copy is recorded, so gradients of earlier writes pass through it
    saved values      stay what they are: the former memory is not written. Its version moves, so
                      that no saved value returns the tensor; see Note [Vouching]

Where that cannot be, the write is refused with `BatchedWriteError`: of tensors that were made
outside, of results of operators, where NumPy may share the memory, where the tensor does not show
all of its memory in order, and where an alias is a leaf that requires grad, retains a gradient, has
another dtype, or was detached and has a history of its own. The real parts of complex elements are
not another dtype in this sense: they are a view of the copy as well, by `view_as_real`.
"""

from __future__ import annotations

from collections import deque
from itertools import chain, repeat
from typing import Final

import numpy as np

from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.batch import BatchLevel, MadeInBatch, batched, made_of, note_made, value_of
from vtgrad.graph.edge import Edge
from vtgrad.graph.set_history import meta_of
from vtgrad.graph.thread_levels import thread
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.entering import expanded
from vtgrad.storage.arrays import PLAIN, NumpyDType
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.record_write import OUTERMOST, count_change
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_state import changed, run_with
from vtgrad.storage.version_counter import INFERENCE
from vtgrad.views.differentiable_view_meta import DifferentiableViewMeta

__all__ = ["give_samples"]

# What makes a tensor a batched one; the keys first.
_FIELDS: Final = (
    "extra_meta",
    "autograd_meta",
    "array",
    "byte_offset",
    "layout",
    "version_counter",
    "_storage",
    "_strides",
)


def give_samples(target: TensorBase, level: BatchLevel) -> bool:
    """Give a tensor, and what shares its memory, samples of a level; False if that cannot be.

    See Note [Tensors that get samples].
    """
    inner = value_of(target)
    made = made_of(inner)
    if made is None or level not in made.levels or not all(one.is_open for one in made.levels):
        return False
    tensor = made.tensor()
    if tensor is None or inner._impl._storage is not tensor._impl._storage:
        return False
    listed = made.levels[-1]
    listed.drop_aliases()
    aliases = [impl for impl in listed.aliases if _is_alias(impl, tensor._impl)]
    if not _is_whole(tensor._impl):
        return False
    dtypes = _dtypes_of_parts(tensor._impl.array.dtype)
    if not all(_may_change(impl, dtypes) for impl in (tensor._impl, *aliases)):
        return False
    if any(map(_has_own_history, aliases)):
        return False
    # The history is copied, whatever is recorded at this moment.
    settings = changed(mode=thread.mode.by_grad[True])
    run_with(settings, _give, tensor, aliases, made, level)
    listed.drop_aliases()
    return True


def _is_alias(impl: TensorImpl, made: TensorImpl) -> bool:
    # Those that have samples by now have no storage.
    storage = impl._storage
    return storage is not None and storage is made._storage and impl is not made


def _is_whole(impl: TensorImpl) -> bool:
    """Whether a tensor shows all of its memory, in order, and NumPy does not."""
    storage = impl._storage
    return (
        bool(impl.array.flags.c_contiguous)
        and impl.byte_offset == 0
        and (storage is None or (storage.nbytes() == impl.array.nbytes and not storage.exported))
    )


def _dtypes_of_parts(dtype: NumpyDType) -> tuple[NumpyDType, ...]:
    """The dtypes that aliases may have: that of the elements, and that of their real parts."""
    return (dtype, np.dtype(dtype.char.lower())) if dtype.kind == "c" else (dtype,)


def _may_change(impl: TensorImpl, dtypes: tuple[NumpyDType, ...]) -> bool:
    if type(impl.array) not in PLAIN or impl.array.dtype not in dtypes:
        return False
    meta = impl.autograd_meta
    if meta is None or isinstance(meta, Edge):
        return True
    assert isinstance(meta, AutogradMeta)
    return not (
        meta.requires_grad_
        or meta.retains_grad
        or meta.cell is not None
        or meta.grad_accumulator is not None
    )


def _has_own_history(alias: TensorImpl) -> bool:
    """Whether a detached alias was written since, and the write was recorded."""
    meta = alias.autograd_meta
    if isinstance(meta, AutogradMeta):
        return not meta.is_view and meta.grad_fn_ is not None
    return meta is not None


def _give(
    tensor: TensorBase, aliases: list[TensorImpl], made: MadeInBatch, level: BatchLevel
) -> None:
    impl = tensor._impl
    result = tensor
    for one in made.levels:
        if one.number >= level.number:
            value = F.clone(expanded(result, one), memory_format=MemoryFormat.CONTIGUOUS)
            result = batched(value, one)
    lower = tuple([one for one in made.levels if one.number < level.number])
    if lower:
        note_made(value_of(result), lower, made.site)
    found = {id(impl): result}
    for alias in aliases:
        _find(alias, impl, found)
    before = [impl, *aliases]
    after = [found[id(one)]._impl for one in before]
    if impl.version_counter is not INFERENCE:
        count_change(impl, "vmap", OUTERMOST)
    values = [[getattr(one, field) for one in after] for field in _FIELDS]
    # Until all is stored: what these had is not to run code of the user by its end meanwhile.
    former = [[getattr(one, field) for one in before] for field in _FIELDS]
    objects = chain.from_iterable(repeat(before, len(_FIELDS)))
    names = chain.from_iterable([repeat(field, len(before)) for field in _FIELDS])
    # One call, in which no signal handler runs: all are batched, or none is.
    deque(map(setattr, objects, names, chain.from_iterable(values)), 0)
    del former


def _find(alias: TensorImpl, whole: TensorImpl, found: dict[int, TensorBase]) -> TensorBase:
    """What an alias is to be: a view of the copy, recorded as the alias was."""
    known = found.get(id(alias))
    if known is not None:
        return known
    meta = alias.autograd_meta
    if isinstance(meta, DifferentiableViewMeta):
        base = meta.base._impl
        model = found[id(whole)] if base is whole else _find(base, whole, found)
    else:
        model = F.detach(found[id(whole)])
    if alias.array.dtype != model._impl.array.dtype:
        # Its offset and its strides count the real numbers.
        model = F.view_as_real(model)
    # `as_strided` goes forwards only.
    backwards = [dim for dim, s in enumerate(alias.strides) if s < 0]
    steps = tuple([abs(s) for s in alias.strides])
    first = alias.storage_offset - sum((alias.sizes[d] - 1) * steps[d] for d in backwards)
    view = F.as_strided(model, alias.sizes, steps, first)
    for dim in backwards:
        view = F.slice(view, dim, None, None, -1)
    if isinstance(meta, DifferentiableViewMeta):
        own = meta_of(value_of(view))
        if isinstance(own, DifferentiableViewMeta):
            own.creation_meta = meta.creation_meta
    found[id(alias)] = view
    return view
