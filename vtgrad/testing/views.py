"""Views as a user writes them, and what the model makes of them.

Each view is applied twice: as a formula on the geometry, and with NumPy to an array of cell
numbers. The world insists that both ways name the same cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vtgrad.testing.geometry import Geometry, IntArray, ViewRefusedError, contiguous, reshaped
from vtgrad.testing.model import SkippedError

__all__ = ["Argument", "ViewCall", "picked_by", "view_of"]

#: One argument of a view call: a number, several, a part of an index expression, or text.
Argument = int | slice | None | tuple[int, ...] | str


@dataclass(frozen=True)
class ViewCall:
    """A view as a user writes it: a method with its arguments, or an index expression.

    `method` is ``"[]"`` for an index expression; `args` are then its parts. `is_function` says that
    it is called as a function of the library.
    """

    method: str
    args: tuple[Argument, ...] = ()
    is_function: bool = False

    @property
    def is_multiple(self) -> bool:
        """Whether one call makes several views that share a node."""
        return self.method in ("unbind", "split", "chunk", "tensor_split")

    def count(self, shape: tuple[int, ...]) -> int:
        """Return how many views it makes of a tensor of a shape."""
        match self.method, self.args:
            case (("split" | "chunk" | "tensor_split"), (tuple(parts), _)):
                return len(parts) + (self.method == "tensor_split")
            case (("split" | "chunk"), (int(number), int(dim))):
                each = number if self.method == "split" else max(1, -(-shape[dim] // number))
                return max(1, -(-shape[dim] // each))
            case "tensor_split", (int(number), _):
                return number
            case "unbind", (int(dim),):
                return shape[dim]
            case _:
                return 1

    def source(self, receiver: str) -> str:
        """Write the call as Python text."""
        if self.method == "[]":
            return f"{receiver}[{', '.join(_index_source(part) for part in self.args)}]"
        if self.method in ("T", "mT"):
            return f"{receiver}.{self.method}"
        arguments = ", ".join(map(_index_source, self.args))
        if self.method in ("view", "reshape"):
            arguments = f"({arguments},)" if arguments else "()"
        if self.is_function:
            return f"vt.{self.method}({', '.join(filter(None, (receiver, arguments)))})"
        return f"{receiver}.{self.method}({arguments})"


def _index_source(part: Argument) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, slice):
        start = "" if part.start is None else part.start
        stop = "" if part.stop is None else part.stop
        return f"{start}:{stop}" + ("" if part.step is None else f":{part.step}")
    return repr(part)


def view_of(
    geometry: Geometry, cells: IntArray, call: ViewCall, room: int
) -> list[tuple[Geometry, IntArray]]:
    """Apply a view to a geometry, and, by other means, to an array of the same shape.

    Parameters
    ----------
    geometry, cells
        The tensor that is viewed: its geometry, and any array in its shape.
    call
        The view.
    room
        Number of cells of the buffer; a view that reaches further is refused.

    Raises
    ------
    ViewRefusedError
        If there is no such view.
    """
    results = _apply(geometry, cells, call)
    for made, picked in results:
        if made.numel and not (
            made.offset >= 0
            and made.offset
            + sum(s * (n - 1) for n, s in zip(made.shape, made.strides, strict=True))
            < room
        ):
            raise ViewRefusedError("out-of-bounds")
        if picked.shape != made.shape:
            raise AssertionError(f"the model contradicts itself: {call} on {geometry} gives {made}")
    return results


def picked_by(call: ViewCall, shape: tuple[int, ...]) -> IntArray:
    """Return which elements, by number, one view shows of a tensor of a shape.

    Raises
    ------
    SkippedError
        If there is no such view.
    """
    geometry = contiguous(shape)
    try:
        ((_, picked),) = view_of(geometry, geometry.cells(), call, geometry.numel)
    except ViewRefusedError:
        raise SkippedError from None
    return picked


def _ints(call: ViewCall) -> list[int]:
    return [arg for arg in call.args if isinstance(arg, int)]


def _tuples(call: ViewCall) -> list[tuple[int, ...]]:
    return [arg for arg in call.args if isinstance(arg, tuple)]


def _dim(dim: int, ndim: int) -> int:
    if not -max(ndim, 1) <= dim < max(ndim, 1):
        raise ViewRefusedError("dimension")
    return dim % max(ndim, 1)


def _permuted(g: Geometry, cells: IntArray, dims: Sequence[int]) -> list[tuple[Geometry, IntArray]]:
    made = Geometry(tuple(g.shape[d] for d in dims), tuple(g.strides[d] for d in dims), g.offset)
    return [(made, cells.transpose(tuple(dims)))]


def _swapped(g: Geometry, cells: IntArray, one: int, other: int) -> list[tuple[Geometry, IntArray]]:
    dims = list(range(len(g.shape)))
    if dims:
        one, other = _dim(one, len(dims)), _dim(other, len(dims))
        dims[one], dims[other] = dims[other], dims[one]
    return _permuted(g, cells, dims)


def _sliced(g: Geometry, cells: IntArray, dim: int, part: slice) -> tuple[Geometry, IntArray]:
    start, stop, step = part.indices(g.shape[dim])
    size = max(0, -(-(stop - start) // step))
    shape = (*g.shape[:dim], size, *g.shape[dim + 1 :])
    strides = (*g.strides[:dim], g.strides[dim] * step, *g.strides[dim + 1 :])
    made = Geometry(shape, strides, g.offset + start * g.strides[dim])
    return made, cells[(slice(None),) * dim + (part,)]


def _selected(g: Geometry, cells: IntArray, dim: int, index: int) -> tuple[Geometry, IntArray]:
    size = g.shape[dim]
    if not -size <= index < size:
        raise ViewRefusedError("index")
    made = Geometry(
        g.shape[:dim] + g.shape[dim + 1 :],
        g.strides[:dim] + g.strides[dim + 1 :],
        g.offset + index % size * g.strides[dim],
    )
    return made, np.take(cells, index % size, axis=dim)


def _unsqueezed(g: Geometry, cells: IntArray, dim: int) -> tuple[Geometry, IntArray]:
    ndim = len(g.shape)
    if not -ndim - 1 <= dim <= ndim:
        raise ViewRefusedError("dimension")
    dim %= ndim + 1
    stride = g.shape[dim] * g.strides[dim] if dim < ndim else 1
    made = Geometry(
        (*g.shape[:dim], 1, *g.shape[dim:]), (*g.strides[:dim], stride, *g.strides[dim:]), g.offset
    )
    return made, np.expand_dims(cells, dim)


def _squeezed(g: Geometry, cells: IntArray, dims: Sequence[int]) -> tuple[Geometry, IntArray]:
    gone = {d for d in dims if g.shape and g.shape[d] == 1}
    kept = [d for d in range(len(g.shape)) if d not in gone]
    made = Geometry(tuple(g.shape[d] for d in kept), tuple(g.strides[d] for d in kept), g.offset)
    return made, np.squeeze(cells, axis=tuple(gone))


def _expanded(g: Geometry, cells: IntArray, sizes: Sequence[int]) -> tuple[Geometry, IntArray]:
    missing = len(sizes) - len(g.shape)
    if missing < 0:
        raise ViewRefusedError("shape")
    shape: list[int] = []
    strides: list[int] = []
    for dim in range(len(sizes) - 1, -1, -1):
        own, asked = dim - missing, sizes[dim]
        if own >= 0:
            size, stride = g.shape[own], g.strides[own]
        else:  # a new dimension looks like an unsqueezed one until it is stretched
            size, stride = 1, (shape[0] * strides[0] if shape else 1)
        if asked == -1 and own >= 0:
            asked = size
        if asked != size:
            if size != 1:
                raise ViewRefusedError("shape")
            stride = 0
        shape.insert(0, asked)
        strides.insert(0, stride)
    if not g.shape:
        strides = [0] * len(shape)
    made = Geometry(tuple(shape), tuple(strides), g.offset)
    return made, np.broadcast_to(cells, tuple(shape))


def _diagonal(
    g: Geometry, cells: IntArray, offset: int, one: int, other: int
) -> tuple[Geometry, IntArray]:
    rows, columns = g.shape[one], g.shape[other]
    size = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    start = g.offset
    if size:
        start += offset * g.strides[other] if offset >= 0 else -offset * g.strides[one]
    kept = [d for d in range(len(g.shape)) if d not in (one, other)]
    made = Geometry(
        (*(g.shape[d] for d in kept), size),
        (*(g.strides[d] for d in kept), g.strides[one] + g.strides[other]),
        start,
    )
    return made, np.diagonal(cells, offset, one, other)


def _pieces(g: Geometry, cells: IntArray, size: int, dim: int) -> list[tuple[Geometry, IntArray]]:
    total = g.shape[dim]
    starts = range(0, max(total, 1), size)
    return [_sliced(g, cells, dim, slice(start, min(start + size, total))) for start in starts]


def _apply(g: Geometry, cells: IntArray, call: ViewCall) -> list[tuple[Geometry, IntArray]]:
    ints, ndim = _ints(call), len(g.shape)
    match call.method:
        case "[]":
            return [_indexed(g, cells, call.args)]
        case "select":
            return [_selected(g, cells, _dim(ints[0], ndim), ints[1])]
        case "narrow":
            dim = _dim(ints[0], ndim)
            if not 0 <= ints[1] <= ints[1] + ints[2] <= g.shape[dim]:
                raise ViewRefusedError("shape")
            return [_sliced(g, cells, dim, slice(ints[1], ints[1] + ints[2]))]
        case "transpose" | "swapaxes":
            return _swapped(g, cells, ints[0], ints[1])
        case "t":
            if ndim > 2:
                raise ViewRefusedError("shape")
            return _swapped(g, cells, 0, 1) if ndim == 2 else [(g, cells[...])]
        case "mT":
            return _swapped(g, cells, -2, -1)
        case "T":
            if ndim not in (0, 2):
                raise SkippedError  # deprecated: it warns
            return _permuted(g, cells, range(ndim)[::-1])
        case "permute":
            return _permuted(g, cells, _tuples(call)[0])
        case "unsqueeze":
            return [_unsqueezed(g, cells, ints[0])]
        case "squeeze":
            return [_squeezed(g, cells, [_dim(d, ndim) for d in ints] if ints else range(ndim))]
        case "expand":
            return [_expanded(g, cells, ints)]
        case "diagonal":
            return [_diagonal(g, cells, ints[0], _dim(ints[1], ndim), _dim(ints[2], ndim))]
        case "view" | "reshape":
            made = reshaped(g, tuple(ints))
            if made is None:
                raise ViewRefusedError("shape")
            return [(made, cells.reshape(tuple(ints)))]
        case "as_strided":
            size, stride = _tuples(call)
            made = Geometry(size, stride, ints[0])
            return [(made, made.cells())]
        case "unbind":
            dim = _dim(ints[0], ndim)
            return [_selected(g, cells, dim, i) for i in range(g.shape[dim])]
        case "split":
            return _pieces(g, cells, ints[0], _dim(ints[1], ndim))
        case "chunk":
            dim = _dim(ints[1], ndim)
            return _pieces(g, cells, max(1, -(-g.shape[dim] // ints[0])), dim)
        case _:
            raise AssertionError(f"the model knows no view called {call.method}")


def _indexed(g: Geometry, cells: IntArray, parts: Sequence[Argument]) -> tuple[Geometry, IntArray]:
    dim = 0
    for part in parts:
        if part is None:
            g, cells = _unsqueezed(g, cells, dim)
            dim += 1
        elif isinstance(part, slice):
            g, cells = _sliced(g, cells, dim, part)
            dim += 1
        elif isinstance(part, int):
            if dim >= len(g.shape):
                raise ViewRefusedError("index")
            g, cells = _selected(g, cells, dim, part)
    return g, cells
