"""How single choices are drawn: tensors, numbers, shapes, grad modes."""

import math
import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

from .model import Creation
from .steps import Literal
from .views import Argument
from .world import World

__all__ = [
    "MOST_ELEMENTS",
    "MOST_LEAVES",
    "MOST_SEEDS",
    "MOST_TENSORS",
    "Draw",
    "RandomDraw",
    "any_tensor",
    "booleans",
    "choose",
    "extra_of",
    "fitting",
    "grad_mode",
    "index_of",
    "literal",
    "numbers",
    "often",
    "rooted",
    "some",
    "written",
]

T = TypeVar("T")

#: The largest number of tensors alive at once, of elements of one, and of elements of all leaves.
MOST_TENSORS, MOST_ELEMENTS, MOST_LEAVES = 12, 12, 16

#: How many seeds there are.
MOST_SEEDS = 2**16


class Draw(Protocol):
    """Where choices come from. The simplest option of each comes first."""

    def one(self, options: Sequence[T]) -> T:
        """Draw one of several."""

    def several(self, options: Sequence[T], most: int) -> Sequence[T]:
        """Draw at least one of several, each at most once."""

    def integer(self, low: int, high: int) -> int:
        """Draw an integer between two, both included."""

    def boolean(self) -> bool:
        """Draw False or True."""

    def permutation(self, count: int) -> Sequence[int]:
        """Draw an order of so many dimensions."""

    def indices(self, size: int, most: int, *, unique: bool = False) -> Sequence[int]:
        """Draw at least one index of a dimension of so many elements."""

    def seed(self) -> int:
        """Draw a seed for many numbers at once."""


class RandomDraw:
    """Choices of a random generator, for programs that a number decides.

    Parameters
    ----------
    rng : random.Random
        The generator.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def one(self, options: Sequence[T]) -> T:
        """See `Draw`."""
        return self.rng.choice(options)

    def several(self, options: Sequence[T], most: int) -> Sequence[T]:
        """See `Draw`."""
        return self.rng.sample(options, self.rng.randint(1, min(most, len(options))))

    def integer(self, low: int, high: int) -> int:
        """See `Draw`."""
        return self.rng.randint(low, high)

    def boolean(self) -> bool:
        """See `Draw`."""
        return self.rng.random() < 0.5

    def permutation(self, count: int) -> Sequence[int]:
        """See `Draw`."""
        return self.rng.sample(range(count), count)

    def indices(self, size: int, most: int, *, unique: bool = False) -> Sequence[int]:
        """See `Draw`."""
        if unique:
            return self.several(range(size), most)
        return self.rng.choices(range(size), k=self.rng.randint(1, most))

    def seed(self) -> int:
        """See `Draw`."""
        return self.rng.randrange(MOST_SEEDS)


def choose(draw: Draw, options: Sequence[T]) -> T:
    """Draw one of several."""
    return draw.one(options)


def some(draw: Draw, options: Sequence[int], most: int) -> tuple[int, ...]:
    """Draw at least one of several, each at most once."""
    return tuple(draw.several(options, most))


def often(draw: Draw) -> bool:
    """Draw True, nine times in ten."""
    return draw.integer(0, 9) < 9


def grad_mode(draw: Draw) -> bool:
    """Draw the grad mode of a step: recording three times in four."""
    return choose(draw, (True, True, True, False))


def numbers(draw: Draw, count: int) -> tuple[int, ...]:
    """Draw small integers: one choice, whatever their number."""
    return tuple(random.Random(draw.seed()).choices((1, 2, 3, -1, -2, -3, 0), k=count))


def booleans(draw: Draw, count: int) -> tuple[bool, ...]:
    """Draw a mask."""
    return tuple(random.Random(draw.seed()).choices((True, False), k=count))


def literal(draw: Draw, shape: tuple[int, ...]) -> Literal:
    """Draw a constant tensor."""
    return Literal(shape, numbers(draw, math.prod(shape)))


def any_tensor(draw: Draw, world: World) -> int:
    """Draw a tensor."""
    return choose(draw, sorted(world.tensors))


def written(draw: Draw, world: World) -> int:
    """Draw a tensor to write to: often a view, seldom what must not be written."""
    free = {index: t for index, t in sorted(world.tensors.items()) if t.root.leaf is None}
    views = [
        index for index, t in free.items() if t.base is not None and t.creation is Creation.DEFAULT
    ]
    prefers_views = choose(draw, (True, True, True, False))
    if views and prefers_views:
        return choose(draw, views)
    return choose(draw, sorted(free)) if free and often(draw) else any_tensor(draw, world)


def rooted(draw: Draw, world: World) -> int:
    """Draw a tensor to differentiate, mostly one with a grad_fn."""
    fit = [index for index, t in sorted(world.tensors.items()) if t.node is not None]
    return choose(draw, fit) if fit and often(draw) else any_tensor(draw, world)


def fitting(draw: Draw, world: World, shape: tuple[int, ...]) -> int:
    """Draw a tensor, mostly one that can be broadcast to `shape`."""
    fit = [
        index
        for index, tensor in sorted(world.tensors.items())
        if len(tensor.geometry.shape) <= len(shape)
        and all(
            mine in (1, theirs)
            for mine, theirs in zip(reversed(tensor.geometry.shape), reversed(shape), strict=False)
        )
    ]
    return choose(draw, fit) if fit and often(draw) else any_tensor(draw, world)


def _part(draw: Draw, size: int) -> Argument:
    start = draw.integer(0, size)
    stop = draw.integer(start, size)
    pieces: list[Argument] = [
        *range(size), slice(None), slice(start, None), slice(None, stop), slice(start, stop),
        slice(None, None, 2), -1, None,
    ]  # fmt: skip
    return choose(draw, pieces)


def index_of(draw: Draw, shape: tuple[int, ...]) -> tuple[Argument, ...]:
    """Draw a basic index."""
    count = draw.integer(1, max(1, len(shape)))
    return tuple(_part(draw, shape[d]) if d < len(shape) else None for d in range(count))


def extra_of(
    draw: Draw, name: str, shape: tuple[int, ...]
) -> tuple[int | tuple[int, ...] | tuple[bool, ...], ...] | None:
    """Draw the arguments that are no tensors; None if the shape allows none."""
    ndim, numel = len(shape), math.prod(shape)
    match name:
        case "add_number" | "mul_number":
            return (choose(draw, (2, -1, 3, 0)),)
        case "masked_fill":
            return (booleans(draw, numel), choose(draw, (0, 5)))
        case "sum" | "prod":
            return (draw.integer(0, ndim - 1),) if ndim and draw.boolean() else ()
        case "cumsum" | "flip":
            return (draw.integer(0, ndim - 1),) if ndim else None
        case "index_select":
            if not ndim or not shape[0]:
                return None
            picks = draw.indices(shape[0], 3)
            return (0, tuple(picks))
        case "cat":
            return (0,) if ndim else None
        case "stack":
            return (draw.integer(0, ndim),)
        case _:
            return ()
