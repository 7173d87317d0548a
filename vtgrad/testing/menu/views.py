"""Steps that make views, or change the geometry of a tensor in place."""

import math
from collections.abc import Sequence
from dataclasses import replace

from vtgrad.testing import steps
from vtgrad.testing.geometry import Geometry, reshaped
from vtgrad.testing.menu.chooser import Chooser
from vtgrad.testing.menu.indices import basic
from vtgrad.testing.menu.kinds import kind
from vtgrad.testing.menu.state import TensorState
from vtgrad.testing.steps import Step
from vtgrad.testing.views import Argument, ViewCall

__all__ = ["view_call"]

#: Views of any tensor; of one with dimensions; of a matrix; several at once.
_ANY = (
    "[] unsqueeze squeeze squeeze_dim squeeze_dims expand view view reshape flatten ravel detach"
    " contiguous view_as expand_as as_strided"
).split()
_OF_DIMS = (
    "select narrow transpose swapaxes permute movedim diagonal unflatten unfold flatten_dims"
).split()
_OF_MATRICES = ["t", "T", "mT"]
_MANY = ["split", "chunk", "unbind", "tensor_split", "split_sizes", "tensor_split_at"]


def factor(c: Chooser, count: int) -> tuple[int, ...]:
    """Draw a shape with so many elements."""
    sizes = [] if count else [0]
    while count > 1:
        sizes.append(c.one([d for d in range(2, count + 1) if count % d == 0]))
        count //= sizes[-1]
    while c.chance(0.2):
        sizes.insert(c.rng.randint(0, len(sizes)), 1)
    c.rng.shuffle(sizes)
    most = c.abilities.most_dims - 1
    return (*sizes[:most], math.prod(sizes[most:])) if len(sizes) > most else tuple(sizes)


def new_shape(c: Chooser, t: TensorState) -> tuple[int, ...]:
    """Draw a shape for view or reshape, sometimes with -1, sometimes wrong."""
    sizes = list(factor(c, math.prod(t.shape)))
    if c.free and c.chance(0.25) and sizes:
        sizes[c.rng.randrange(len(sizes))] = -1
    if c.blunder():
        sizes.append(c.one((2, 5)))
    return tuple(sizes)


def strided(c: Chooser, t: TensorState) -> tuple[Argument, ...]:
    """Draw arguments of as_strided that stay inside the memory and, mostly, do not overlap."""
    for _ in range(20):
        rank = c.rng.randint(0, min(3, c.abilities.most_dims))
        size = tuple(c.rng.randint(1, 3) for _ in range(rank))
        least = 0 if c.free and c.chance(0.1) else 1
        stride = tuple(c.rng.randint(least, 6) for _ in range(rank))
        shown = Geometry(size, stride, c.rng.randint(0, 4))
        cells = shown.cells()
        if not c.free and shown.repeats_cells:
            continue
        inside = set(cells.ravel().tolist()) <= _cells(t)
        if (t.requires_grad or not c.free) and not inside:
            continue  # PyTorch's gradient misses what lies outside of a view
        if cells.max(initial=0) < t.room or c.chance(0.05):
            if c.chance(0.8) or t.requires_grad or not c.free:
                return size, stride, shown.offset
            return size, stride
    return (), (), t.offset


def _cells(t: TensorState) -> set[int]:
    return set(Geometry(t.shape, t.strides, t.offset).cells().ravel().tolist())


def view_call(c: Chooser, t: TensorState, names: Sequence[str] = ()) -> ViewCall | None:
    """Draw a view of a tensor."""
    rank = len(t.shape)
    if not names:
        names = [*_ANY, *(_OF_DIMS if rank else ()), *(_OF_MATRICES if rank == 2 else ())]
    if not c.free and (t.is_view or math.prod(t.shape) < t.room):
        names = [name for name in names if name != "as_strided"]
    name = c.one(c.known(names))
    arguments = _arguments(c, name, t)
    if arguments is None:
        return None
    method = _METHODS.get(name, name)
    return ViewCall(method, arguments, method not in ("[]", "T", "mT") and c.is_function(method))


#: Views with several forms, by the names that the forms have here.
_METHODS = {
    "squeeze_dim": "squeeze", "squeeze_dims": "squeeze", "flatten_dims": "flatten",
    "split_sizes": "split", "tensor_split_at": "tensor_split",
}  # fmt: skip


def _arguments(c: Chooser, name: str, t: TensorState) -> tuple[Argument, ...] | None:
    """Draw the arguments of a view; None if there are none for this tensor."""
    r, rank = c.rng, len(t.shape)
    d, other = c.dim(t), c.dim(t)
    size = t.shape[d] if -rank <= d < rank else 1
    match name:
        case "[]":
            return basic(c, t.shape)
        case "select":
            low, high = (-size, size - 1) if size and not c.blunder() else (size, size)
            return d, r.randint(low, high)
        case "narrow":
            start = r.randint(0, size)
            return d, start, r.randint(0, size - start) + 9 * c.blunder()
        case "transpose" | "swapaxes" | "movedim":
            return d, other
        case "permute":
            order = r.sample(range(rank), rank)
            if order and c.free and c.blunder():
                order[0] = order[-1]
            return (tuple(order),)
        case "unsqueeze":
            return (r.randint(-rank - 1, rank + c.blunder()),)
        case "squeeze_dim":
            return (d,)
        case "squeeze_dims":
            return (c.dims(t),)
        case "expand":
            return _expanded(c, t)
        case "view":
            return new_shape(c, t)
        case "reshape":
            shape = new_shape(c, t)
            return shape if c.free or _is_viewed(t, shape) else None
        case "flatten_dims":
            return tuple(sorted((d % 3, other % 3)))
        case "unflatten":
            return d, factor(c, size) or (1,)
        case "diagonal":
            if c.chance(0.5) and rank > 1:
                return (r.randint(-1, 1), *r.sample(range(rank), 2))
            return (r.randint(-2, 2), d, other) if c.free or d % rank != other % rank else None
        case "as_strided":
            return strided(c, t)
        case "unfold":
            window = r.randint(1, size) if size else 0
            # Mostly windows that do not overlap: what PyTorch does with overlapping ones is wrong.
            return (d, window, window if c.chance(0.8) else r.randint(1, 2)) if size else None
        case "view_as":
            alike = c.pick(lambda o: math.prod(o.shape) == math.prod(t.shape))
            return None if alike is None else (str(alike),)
        case "expand_as":
            wider = c.pick_like(t)
            return None if wider is None else (str(wider),)
        case "split" | "chunk" | "tensor_split":
            return r.randint(1, 3), d
        case "split_sizes" | "tensor_split_at":
            cut = r.randint(0, size)
            return ((cut, size - cut + c.blunder()) if name == "split_sizes" else (cut,)), d
        case "unbind":
            return (d,)
        case _:
            return ()


def _expanded(c: Chooser, t: TensorState) -> tuple[int, ...]:
    """Draw a shape to expand to."""
    sizes = [
        c.rng.randint(2, 3) if n == 1 and c.chance(0.6) else -1 if c.chance(0.3) else n
        for n in t.shape
    ]
    if not sizes or (c.chance(0.25) and len(sizes) < c.abilities.most_dims):
        sizes.insert(0, c.rng.randint(1, 3))
    if c.blunder():
        sizes[-1] = 7
    return tuple(sizes)


def _is_viewed(t: TensorState, shape: tuple[int, ...]) -> bool:
    if math.prod(shape) != math.prod(t.shape):
        return True  # which is refused
    return reshaped(Geometry(t.shape, t.strides, t.offset), shape) is not None


def viewed(
    c: Chooser, t: TensorState, call: ViewCall | None, *, grad: bool = False
) -> Sequence[Step] | None:
    """Make views, under a grad mode or, if `grad` is true, recorded."""
    if call is None:
        return None
    try:
        count = call.count(t.shape)
    except IndexError:
        count = 1  # which is refused
    if not (1 < count <= 4 if call.is_multiple and c.free else 0 < count <= 12):
        return None
    step = steps.View(tuple(c.fresh() for _ in range(count)), t.index, call)
    return (step,) if grad else c.under(step)


@kind(22, "view")
def view(c: Chooser) -> Sequence[Step] | None:
    """A view, or what returns one when it can."""
    t = c.pick()
    return None if t is None else viewed(c, t, view_call(c, t))


@kind(3, "view")
def region(c: Chooser) -> Sequence[Step] | None:
    """A view of something that may be written, which may be written itself."""
    t = c.pick_target()
    if t is None:
        return None
    names = ("[]", "transpose") if len(t.shape) > 1 else ("[]",)
    return viewed(c, t, view_call(c, t, names), grad=True)


@kind(7, "split")
def pieces(c: Chooser) -> Sequence[Step] | None:
    """Several views that one call makes."""
    t = c.pick(lambda t: bool(t.shape))
    if t is None or not t.shape or (0 in t.shape and not c.free):
        return None
    if c.chance(0.1):
        # Rows that a loop gives are other views here, with the same values.
        return c.make("__iter__", f"[row.detach().clone() for row in {t}]")
    return viewed(c, t, view_call(c, t, _MANY))


@kind(1)
def detach(c: Chooser) -> Sequence[Step] | None:
    """An alias outside the graph."""
    t = c.pick()
    if t is None:
        return None
    if c.chance(0.65):
        return c.under(steps.Detach(c.fresh(), t.index))
    return (steps.Data(c.fresh(), t.index),)


@kind(5, "t_")
def rearrange(c: Chooser) -> Sequence[Step] | None:
    """An in-place change of geometry."""
    t = c.pick_target()
    if t is None:
        return None
    names = ["unsqueeze", "squeeze", "squeeze_dim", "as_strided_"]
    names += ["transpose", "swapaxes_"] if t.shape or c.free else []
    names += ["t"] if len(t.shape) == 2 or c.free else []
    name = c.one(c.known(names)).removesuffix("_")
    call = ViewCall(_METHODS.get(name, name), _arguments(c, name, t) or ())
    if len(t.shape) > 3 and not c.free:
        return None
    return c.under(steps.Rearrange(t.index, replace(call, is_function=False)))


@kind(3, "resize_")
def resize(c: Chooser) -> Sequence[Step] | None:
    """A change of shape; what was not there before is set to zero: PyTorch leaves it as it is."""
    t = c.pick(lambda t: not t.requires_grad and (t.is_view or c.chance(0.5)))
    if t is None:
        return None
    shape = c.shape()
    if not c.free or t.offset + math.prod(shape) <= t.room:
        return c.under(steps.Resize(t.index, shape))
    return c.make("resize_", f"{t}.resize_({shape}).zero_()", 0)
