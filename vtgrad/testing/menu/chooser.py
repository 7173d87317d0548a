"""Single choices: tensors, numbers, dimensions, shapes, grad modes."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from vtgrad.testing.menu.state import Abilities, State, TensorState
from vtgrad.testing.steps import Line, Literal, Number, Step

__all__ = ["Chooser", "broadcasts", "is_complex", "is_floating", "is_whole"]

T = TypeVar("T")

_FRACTIONS: Sequence[Number] = (0.5, 1.25, -0.75, 2.5, -1.5, 0.125)

Test = Callable[[TensorState], bool]


def is_floating(t: TensorState) -> bool:
    """Whether a tensor has a real floating dtype."""
    return t.dtype.startswith("float")


def is_complex(t: TensorState) -> bool:
    """Whether a tensor has a complex dtype."""
    return t.dtype.startswith("complex")


def is_whole(t: TensorState) -> bool:
    """Whether a tensor has an integer or boolean dtype."""
    return not t.dtype.startswith(("float", "complex"))


def _requires_grad(t: TensorState) -> bool:
    return t.requires_grad


def broadcasts(source: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether a shape can be broadcast to another."""
    pairs = zip(reversed(source), reversed(target), strict=False)
    return len(source) <= len(target) and all(a in (1, b) for a, b in pairs)


class Chooser:
    """Draws from what a program has come to. Most arguments are right, some wrong on purpose.

    Parameters
    ----------
    rng : random.Random
        Where choices come from.
    state : State
        The program so far.
    abilities : Abilities
        What the judges of the program can express.

    Attributes
    ----------
    all : sequence of TensorState
        All live tensors, oldest first.
    free : bool
        Whether steps may say anything: no judge has to predict them.
    prefers : callable or None
        What tensors are picked more often; those that require grad, if it is None.
    """

    def __init__(self, rng: random.Random, state: State, abilities: Abilities) -> None:
        self.rng = rng
        self.state = state
        self.abilities = abilities
        self.can: Callable[[str], bool] = abilities.can
        self.free: bool = abilities.known is None
        # Programs differ in character: some of one dtype, some without a wrong call.
        self.one_dtype: bool = not self.free or rng.random() < 0.5
        self.clumsiness: float = rng.choice((0.0, 0.02, 0.05))
        self.hooks: int = 0
        self.blundered: bool = False
        self.prefers: Test | None = None
        self.all: Sequence[TensorState] = ()
        self._next = 0
        self._mode = ""

    def begin(self) -> None:
        """Look at the program, before a step is drawn."""
        self.all = self.state.describe()
        self.blundered = False

    # -- chance --------------------------------------------------------------------------

    def chance(self, p: float) -> bool:
        """True with probability p."""
        return self.rng.random() < p

    def one(self, options: Sequence[T]) -> T:
        """One of several."""
        return self.rng.choice(options)

    def some(self, options: Sequence[T], most: int) -> tuple[T, ...]:
        """At least one of several, each at most once."""
        return tuple(self.rng.sample(options, self.rng.randint(1, min(most, len(options)))))

    def blunder(self) -> bool:
        """True when this argument shall be wrong."""
        if self.blundered or not self.chance(self.clumsiness):
            return False
        # One fault in a step: which of two is reported is not specified.
        self.blundered = True
        return True

    def known(self, names: Sequence[str]) -> list[str]:
        """The operators among several that may be drawn."""
        return [name for name in names if self.can(name)]

    # -- tensors -------------------------------------------------------------------------

    def tensors(self) -> list[TensorState]:
        """All live tensors that are small enough to work with, oldest first."""
        most = self.abilities.most_elements
        return [t for t in self.all if math.prod(t.shape) <= most]

    def pick(self, test: Test | None = None) -> TensorState | None:
        """A live tensor, newer ones more often, that passes the test (or, rarely, any)."""
        found = self.tensors()
        if test is not None and not self.blunder():
            found = [t for t in found if test(t)]
        else:
            found = [t for t in found if t.is_tame or self.chance(0.1)] or found
        if self.chance(0.5):
            preferred = self.prefers or _requires_grad
            found = [t for t in found if preferred(t)] or found
        if not found:
            return None
        return found[int(len(found) * max(self.rng.random(), self.rng.random()))]

    def pick_tame(self) -> TensorState | None:
        """A tensor with tame values."""
        return self.pick(lambda t: t.is_tame)

    def pick_target(self) -> TensorState | None:
        """A tensor to write to: often a view, seldom one that would be refused."""
        fit = [t for t in self.tensors() if t.is_tame and not t.is_protected]
        if self.prefers is not None:
            fit = [t for t in fit if self.prefers(t)] or fit
        views = [t for t in fit if t.is_view and not t.is_restricted]
        if views and self.chance(0.4):
            return self.one(views)
        if not fit or self.chance(0.05):
            return self.pick()
        return fit[int(len(fit) * max(self.rng.random(), self.rng.random()))]

    def pick_like(self, t: TensorState, *, into: bool = False) -> TensorState | None:
        """A tensor that broadcasts with another (``into`` it, when that is written)."""
        return self.pick_fitting(t.shape, into=into)

    def pick_fitting(self, shape: tuple[int, ...], *, into: bool = True) -> TensorState | None:
        """A tensor that can be broadcast to a shape, or together with it."""

        def together(other: TensorState) -> bool:
            try:
                return self.abilities.fits(np.broadcast_shapes(other.shape, shape))
            except ValueError:
                return False

        return self.pick((lambda t: broadcasts(t.shape, shape)) if into else together)

    # -- numbers and shapes --------------------------------------------------------------

    def dim(self, t: TensorState) -> int:
        """A dimension of a tensor, from either end, sometimes outside."""
        rank = max(len(t.shape), 1)
        if self.blunder():
            return self.one((rank, -rank - 1, rank + 2))
        d = self.rng.randrange(rank)
        return d - rank if self.chance(0.3) else d

    def dims(self, t: TensorState) -> tuple[int, ...]:
        """Several distinct dimensions."""
        rank = len(t.shape)
        chosen = self.rng.sample(range(rank), self.rng.randint(0, rank))
        if chosen and self.blunder():
            chosen.append(chosen[0])
        return tuple(d - rank if self.chance(0.2) else d for d in chosen) or (0,) * bool(rank)

    def shape(self) -> tuple[int, ...]:
        """A random small shape."""
        rank = self.one((0, 1, 1, 2, 2, 2, 3, 3, 4))
        while True:
            sizes = tuple(self.one((1, 2, 2, 3, 3, 4)) for _ in range(rank))
            if self.abilities.fits((*sizes, 1)[:rank]) and math.prod(sizes) <= 36:
                break
            rank = max(rank - 1, 0)
        if sizes and self.chance(0.04):
            k = self.rng.randrange(rank)
            sizes = (*sizes[:k], 0, *sizes[k + 1 :])
        return sizes

    def dtype(self) -> str:
        """A dtype, float64 most of the time."""
        if not self.free or (self.one_dtype and self.chance(0.95)):
            return "float64"
        return self.rng.choices(
            ("float64", "float32", "int64", "bool", "complex128", "int32", "uint8", "float16")
            + ("complex64", "int8", "int16"),
            (56, 14, 9, 5, 6, 2, 2, 2, 2, 1, 1),
        )[0]

    def number(self, dtype: str = "float64") -> Number:
        """One element."""
        r = self.rng
        if not self.free:
            return r.choice((1, 2, 3, -1, -2, -3, 0))
        if dtype == "bool":
            return r.random() < 0.5
        if dtype == "uint8":
            return r.randint(0, 5)
        if dtype.startswith("int"):
            return r.randint(-3, 5)
        if dtype.startswith("complex"):
            return complex(r.randint(-4, 4) / 2, r.randint(-4, 4) / 2)
        return r.choice((r.randint(-6, 8) / 2, r.randint(1, 24) / 8, float(r.randint(-2, 3))))

    def scalar(self) -> Number:
        """A Python number."""
        kind = self.rng.choices(("float64", "int64", "bool", "complex128"), (60, 30, 5, 3))[0]
        return self.number(kind)

    def literal(self, shape: tuple[int, ...], dtype: str = "float64") -> Literal:
        """A constant tensor."""
        number: Callable[[], Number] = partial(self.number, dtype)
        if self.abilities.rules and self.chance(0.5):
            # Operators of the user's may be wrong between whole numbers.
            number = partial(self.one, _FRACTIONS)
        return Literal(shape, tuple(number() for _ in range(math.prod(shape))), dtype)

    def tensor(self, shape: tuple[int, ...], dtype: str, grad: bool = False) -> str:
        """A call that makes a constant tensor."""
        return self.literal(shape, dtype).source(grad)

    def nested(self, shape: tuple[int, ...], dtype: str) -> str:
        """Nested lists of elements."""
        return repr(self.literal(shape, dtype).nested())

    # -- steps ---------------------------------------------------------------------------

    def fresh(self) -> int:
        """The number of a new tensor."""
        self._next = max(self._next, self.state.made) + 1
        return self.last

    @property
    def last(self) -> int:
        """The number that was drawn last."""
        return self._next - 1

    def mode(self) -> str:
        """A grad mode for one step: mostly none, and then often for the next one too."""
        if self._mode and self.chance(0.55):
            return self._mode
        modes = (*["no_grad()", "inference_mode()"] * 2, "enable_grad()", "set_grad_enabled(False)")
        self._mode = self.one(modes) if self.chance(0.04) else ""
        return self._mode

    def under(self, step: Step) -> Sequence[Step]:
        """A step under a grad mode."""
        if self.free:
            return (self.in_mode(step),)
        drawn: dict[str, object] = {"grad": self.chance(0.75)}
        return (replace(step, **drawn),)

    def in_mode(self, step: Step) -> Step:
        """A step that no judge predicts, in a grad mode, which is none most of the time."""
        mode = self.mode() if self.free else ""
        return replace(step.line(), mode=mode) if mode else step

    def make(self, op: str, text: str, outputs: int = 1) -> Sequence[Step] | None:
        """A step that is text, and binds fresh names."""
        if not (self.free and self.can(op)):
            return None
        defs = tuple(f"t{self.fresh()}" for _ in range(outputs))
        return self.under(Line(text, defs, "", op))

    def call(self, op: str, target: object, *arguments: object) -> str:
        """An operator as a method or as a function of the library."""
        joined = ", ".join(map(str, arguments))
        if not self.is_function(op):
            return f"{target}.{op}({joined})"
        return f"vt.{op}({', '.join(map(str, (target, *arguments)))})"

    def is_function(self, op: str) -> bool:
        """Whether an operator that is a method is called as a function of the library."""
        return op in self.abilities.functions and self.chance(0.5)
