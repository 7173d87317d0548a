"""Bounds of parameters in containers, as bounds of the elements of a vector.

Note [Bounds in containers]

Bounds have the containers of the parameters: of a dict, those by key, and what has no key has no
bounds; of a tuple or list, one after another. The bounds of a tensor are a pair, the lower and the
upper one, each None, a number, or an array or tensor that broadcasts to its shape. A vector of n
elements may have SciPy's form, n pairs, which are tuples then. ``scipy.optimize.Bounds`` are those
of the whole vector.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from vtgrad.errors import ArgumentValueError
from vtgrad.optim.packing import FloatArray, Packing
from vtgrad.storage import making
from vtgrad.tensor.tensor import Tensor
from vtgrad.utils.pytree import tree_unflatten

__all__ = ["Limits", "bounds_of", "with_fixed"]

# The lower and the upper bound of each element.
Limits: TypeAlias = tuple[FloatArray, FloatArray] | None


def bounds_of(given: object, packing: Packing) -> Limits:
    """The lower and the upper bound of each element; see Note [Bounds in containers].

    Raises
    ------
    ArgumentValueError
        If they do not fit the parameters, or a lower bound is above the upper one.
    """
    if given is None:
        return None
    lower = making.full(packing.size, -math.inf)
    upper = making.full(packing.size, math.inf)
    if hasattr(given, "lb") and hasattr(given, "ub"):
        lower[...] = given.lb
        upper[...] = given.ub
    else:
        slices: list[object] = []
        at = 0
        for leaf in packing.leaves:
            slices.append(_Part(leaf, slice(at, at + leaf.numel())))
            at += leaf.numel()
        _fill(given, tree_unflatten(slices, packing.spec), lower, upper)
    if not (lower <= upper).all():
        raise ArgumentValueError(
            "a lower bound is above the upper one, or is nan", argument="bounds"
        )
    return lower, upper


def with_fixed(vector: FloatArray, limits: Limits) -> FloatArray:
    """All elements, of a vector without those that bounds fix: COBYLA, COBYQA leave them out."""
    if limits is None or vector.size == limits[0].size:
        return vector
    lower, upper = limits
    whole = lower.copy()
    whole[lower != upper] = vector
    return whole


class _Part:
    """A tensor, and which part of the vector its elements are."""

    def __init__(self, leaf: Tensor, at: slice) -> None:
        self.leaf = leaf
        self.at = at


def _fill(given: object, tree: object, lower: FloatArray, upper: FloatArray) -> None:
    if given is None:
        return
    if isinstance(tree, _Part):
        _fill_leaf(given, tree, lower, upper)
    elif isinstance(tree, Mapping):
        if not isinstance(given, Mapping) or given.keys() - tree.keys():
            raise _do_not_fit(f"those of a dict have some of its keys, {list(tree)}")
        for key, below in tree.items():
            _fill(given.get(key), below, lower, upper)
    elif isinstance(tree, Sequence):
        if not isinstance(given, Sequence) or len(given) != len(tree):
            raise _do_not_fit(f"those of a container of {len(tree)} are as many")
        for bound, below in zip(given, tree, strict=True):
            _fill(bound, below, lower, upper)
    else:
        raise _do_not_fit(f"those of {type(tree).__name__} are scipy.optimize.Bounds")


def _fill_leaf(given: object, part: _Part, lower: FloatArray, upper: FloatArray) -> None:
    shape = tuple(part.leaf.shape)
    if not isinstance(given, Sequence):
        raise _do_not_fit("those of a tensor are a pair")
    entries = list(given)
    are_pairs = bool(entries) and all(type(e) is tuple and len(e) == 2 for e in entries)
    if are_pairs and len(shape) == 1 and len(entries) == shape[0]:
        pairs = entries
        lower[part.at] = [-math.inf if low is None else float(low) for low, _ in pairs]
        upper[part.at] = [math.inf if high is None else float(high) for _, high in pairs]
        return
    if len(entries) != 2:
        raise _do_not_fit("those of a tensor are a pair, or a vector's a pair for each element")
    if any(isinstance(e, (list, tuple)) for e in entries):
        raise _do_not_fit(
            "it is not clear what lists mean: say arrays for the bounds of several elements, or "
            "a tuple for each element"
        )
    for bound, into, free in ((entries[0], lower, -math.inf), (entries[1], upper, math.inf)):
        value = free if bound is None else bound
        if isinstance(value, Tensor):
            value = value.detach().numpy()
        try:
            full = np.broadcast_shapes(np.shape(value), shape) == shape
        except ValueError:
            full = False
        if not full:
            raise _do_not_fit(f"one of shape {list(np.shape(value))} is for {list(shape)}")
        into[part.at] = making.broadcast_to(
            making.asarray(value, dtype=np.float64), shape
        ).reshape(-1)  # fmt: skip


def _do_not_fit(why: str) -> ArgumentValueError:
    return ArgumentValueError(f"the bounds do not fit x0: {why}", argument="bounds")
