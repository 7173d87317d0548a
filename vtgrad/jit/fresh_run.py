"""An eager run of a program on other tensors than those that it was recorded with.

Note [The arguments are not the tensors of a closure]

An array is known by its address, so a recording cannot tell an argument from a tensor of a closure
on the same memory: ``f(w)`` where `f` reads the global `w` too, or ``f(x[2:4])`` where it reads
`x`. A replay on other arguments would read these in both places. So a recording is compared with a
run on copies of the arguments, while the tensors that were passed, and all that share memory with
them, hold something else, and are not written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.operators import operators
from vtgrad.jit.containers import flatten
from vtgrad.jit.interpret import array_at
from vtgrad.jit.outcomes import Outcome, Value, value_of_array
from vtgrad.jit.recording import Recording
from vtgrad.jit.steps import Place
from vtgrad.jit.world import World, array_of
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["copies_of_arguments", "outcome_on_copies"]


def copies_of_arguments(
    world: World, made: Recording, contents: Sequence[Array]
) -> tuple[list[object], list[Array]] | None:
    """The leaves of the arguments, with copies in the place of tensors and arrays.

    Parameters
    ----------
    world : World
        With the leaves.
    made : Recording
        The recording.
    contents : sequence of numpy.ndarray
        The bytes of the memory of the arguments.

    Returns
    -------
    tuple of list and list, or None
        The leaves, and the bytes of their memory.
        None if an argument has a producer, a ``.grad`` or hooks, or is of a user's class.
    """
    copies: dict[int, object] = {}
    owned: list[Array] = []
    for memory, content in zip(made.arguments, contents, strict=False):
        own = content.copy()
        owned.append(own)
        leaves = [world.leaves[cast("int", source.holder)] for source in memory.sources]
        shared = TensorImpl(own) if any(leaf is not leaves[0] for leaf in leaves) else None
        for leaf, place in zip(leaves, memory.places, strict=True):
            if id(leaf) not in copies:
                copy = _copy(leaf, place, own, shared)
                if copy is None:
                    return None
                copies[id(leaf)] = copy
    # Those without elements have no memory.
    return [copies.get(id(leaf), leaf) for leaf in world.leaves], owned


def _copy(leaf: object, place: Place, own: Array, shared: TensorImpl | None) -> object | None:
    """A tensor or an array like an argument, in other memory."""
    array = array_at(Place(0, place.dtype, place.shape, place.strides, place.offset), [own])
    if isinstance(leaf, np.ndarray):
        return array if type(leaf) is np.ndarray else None
    assert isinstance(leaf, TensorBase)
    impl, cls = leaf._impl, type(leaf)
    if not _is_own_class(cls) or type(impl.array) is not np.ndarray:
        return None
    if impl.extra_meta is not None or impl.is_inference:
        return None
    new = TensorImpl(array) if shared is None else shared.alias(array, place.offset)
    tensor: TensorBase = operators().wrap(new)
    if cls is not operators().tensor_class:
        tensor.__class__ = cls
    meta = impl.autograd_meta
    if meta is None or not isinstance(meta, AutogradMeta):
        return tensor if meta is None or not meta.needs_gradient() else None
    if meta.cell is not None and meta.cell.is_in_use():
        return None
    if meta.needs_gradient():
        if meta.is_view or meta.was_produced():
            return None
        cast("Any", tensor).requires_grad = True
    return tensor


def _is_own_class(cls: type[TensorBase]) -> bool:
    """Whether a class is the library's: `Tensor`, or those of arrays and scalars."""
    return cls in (operators().tensor_class, cls._gradient_class, cls._number_class)


def outcome_on_copies(
    world: World,
    made: Recording,
    leaves: Sequence[object],
    owned: Sequence[Array],
    found: object,
) -> Outcome:
    """What a run on copies of the arguments has done, as far as steps do it."""
    own = {id(leaf) for leaf in leaves}
    before = {id(x) for x in world.impls}
    seen: set[int] = set()
    values: list[Value] = []
    for leaf in flatten(found):
        array = array_of(leaf)
        if isinstance(leaf, np.generic):
            array = np.asarray(leaf)
        key = id(leaf._impl) if isinstance(leaf, TensorBase) else id(leaf)
        if array is None or id(leaf) in own or key in before or key in seen:
            continue
        if isinstance(leaf, TensorBase):
            seen.add(key)
        values.append(value_of_array(array))
    for change in made.grads:
        if change.number is not None:
            holder = change.holder
            impl = holder
            if isinstance(holder, int):
                impl = cast("TensorBase", leaves[holder])._impl
            cell = cast("Any", impl).autograd_meta.cell
            values.append(value_of_array(cell.grad._impl.array))
    contents = [*owned, *[memory.bytes_now() for memory in made.outside]]
    pairs = zip(made.memories(), contents, strict=True)
    return Outcome(values, [memory.bits(content) for memory, content in pairs])
