# Compiled by mypyc.
"""Making a view again that its geometry alone does not define.

Note [Replay]

`z.real` is made from `z` by viewing complex memory as real, then by selecting. To rebuild such a
view's producer, or to find the part of a gradient that belongs to a write through it, these steps
are repeated: functions where strides do not suffice, and the geometries in between. The first
geometry is that of the base itself, because the base may have been transposed in place since. A
view may be transposed in place too: then its new geometry is one more step.

Geometries are positions in the base's storage. A gradient of the base has memory of its own that
begins with the base's first element: `moved` gives the steps on that memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from vtgrad.graph.operators import operators
from vtgrad.storage.arrays import Shape
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.views.view_info import ViewFunction

__all__ = ["Replay", "Restride", "replay_of", "restride_of"]


class Restride:
    """A view within one dtype.

    Attributes
    ----------
    sizes, strides : tuple of int
        The geometry; strides in elements.
    byte_offset : int
        Offset of the first element in the storage, in bytes.
    """

    __slots__ = ("byte_offset", "sizes", "strides")

    sizes: Shape
    strides: Shape
    byte_offset: int

    def __init__(self, sizes: Shape, strides: Shape, byte_offset: int) -> None:
        self.sizes = sizes
        self.strides = strides
        self.byte_offset = byte_offset

    def __call__(self, tensor: TensorBase) -> TensorBase:
        """The view of a tensor."""
        offset = self.byte_offset // tensor._impl.array.itemsize
        return operators().as_strided(tensor, self.sizes, self.strides, offset)

    def shows(self, impl: TensorImpl) -> bool:
        """Whether a tensor has this geometry already."""
        return (
            impl.byte_offset == self.byte_offset
            and impl.sizes == self.sizes
            and impl.strides == self.strides
        )


Step: TypeAlias = Restride | ViewFunction


class Replay:
    """Makes a view from its base; see Note [Replay].

    Attributes
    ----------
    base : Restride
        The geometry that the base had when the view was made.
    steps : sequence of callable
        The functions that make the view from that geometry, in order.
    crosses_dtypes : bool
        Whether one of them reinterprets memory as another dtype, such as complex numbers as real
        ones.
    """

    __slots__ = ("base", "crosses_dtypes", "steps")

    base: Restride
    steps: Sequence[Step]
    crosses_dtypes: bool

    def __init__(self, base: Restride, steps: Sequence[Step], crosses_dtypes: bool) -> None:
        self.base = base
        self.steps = steps
        self.crosses_dtypes = crosses_dtypes

    def __call__(self, base: TensorBase) -> TensorBase:
        """The view of a tensor with the base's strides."""
        tensor = base if self.base.shows(base._impl) else self.base(base)
        for step in self.steps:
            tensor = step(tensor)
        return tensor

    def then(self, step: Step, *, crosses_dtypes: bool = False) -> Replay:
        """The replay with one more step.

        Geometries are absolute: of several in a row the last one suffices, so that a chain of views
        stays as short as its functions.
        """
        before = self.steps
        if isinstance(step, Restride) and before and isinstance(before[-1], Restride):
            before = before[:-1]
        return Replay(self.base, (*before, step), self.crosses_dtypes or crosses_dtypes)

    def moved(self, start: int) -> Replay:
        """The replay for memory that begins `start` bytes later."""
        if start == 0:
            return self
        return Replay(
            _moved(self.base, start),
            [_moved(s, start) if isinstance(s, Restride) else s for s in self.steps],
            self.crosses_dtypes,
        )


def replay_of(
    base: TensorImpl,
    parent: TensorImpl,
    first: Replay | None,
    view: TensorImpl,
    function: ViewFunction | None,
) -> Replay:
    """The replay of a view of a view.

    Parameters
    ----------
    base, parent, view : TensorImpl
        The base, the view of it, and the view of that.
    first : Replay or None
        The replay of the parent from the base; None if its geometry suffices.
    function : callable or None
        Makes the view from the parent; None if its geometry suffices.
    """
    if first is None:
        first = Replay(restride_of(base), (), False)
        if parent is not base:
            first = first.then(restride_of(parent))
    if function is None:
        return first.then(restride_of(view))
    return first.then(function, crosses_dtypes=parent.array.dtype != view.array.dtype)


def restride_of(impl: TensorImpl) -> Restride:
    """The present geometry of a tensor."""
    return Restride(impl.sizes, impl.strides, impl.byte_offset)


def _moved(step: Restride, start: int) -> Restride:
    return Restride(step.sizes, step.strides, step.byte_offset - start)
