"""The random side of program writing: it looks at PyTorch's live tensors to choose arguments.

Because the choice sees real shapes and dtypes, most steps are valid, and a wrong one is wrong on
purpose: see ``Context.blunder``.
"""

import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from tests.oracle.side import TensorLike
from vtgrad.testing.interpreter import Interpreter
from vtgrad.testing.steps import Line

Maker = Callable[["Context"], list[Line] | None]
MAX_NUMEL = 64
MAX_TENSORS = 14


@dataclass(frozen=True)
class Rule:
    """A way to write a step."""

    maker: Maker
    weight: float
    needs: tuple[str, ...]


RULES: list[Rule] = []


def rule(weight: float, *needs: str) -> Callable[[Maker], Maker]:
    """Register a maker; ``needs`` are the names that the library must have."""

    def register(maker: Maker) -> Maker:
        RULES.append(Rule(maker, weight, needs))
        return maker

    return register


class Context:
    """What a maker may use: randomness, the live tensors, and literals of all sorts."""

    def __init__(self, rng: random.Random, side: Interpreter, missing: frozenset[str]) -> None:
        self.rng = rng
        self.side = side
        self.missing = missing
        # Programs differ in character: some of one dtype, some without a wrong call.
        self.one_dtype = rng.random() < 0.5
        self.clumsiness = rng.choice((0.0, 0.02, 0.05))
        self.leaves: set[str] = set()
        self.hooks = 0
        self.blundered = False
        self._next = 0
        self._mode = ""

    # -- names ---------------------------------------------------------------------------

    @property
    def torch(self) -> ModuleType:
        """The reference library."""
        return self.side.library.module

    def fresh(self) -> str:
        """A new name for a tensor."""
        self._next += 1
        return f"t{self._next - 1}"

    def get(self, name: str) -> TensorLike:
        """PyTorch's tensor of this name."""
        return self.side.names[name]

    def has(self, name: str) -> bool:
        """Whether the library under test has the operator."""
        return name not in self.missing

    def names(self) -> list[str]:
        """All live tensors that are small enough to work with."""
        return [n for n, t in self.side.tensors().items() if t.numel() <= MAX_NUMEL]

    # -- chance --------------------------------------------------------------------------

    def chance(self, p: float) -> bool:
        """True with probability p."""
        return self.rng.random() < p

    def blunder(self) -> bool:
        """True when this argument shall be wrong."""
        if self.blundered or not self.chance(self.clumsiness):
            return False
        # One fault in a step: which of two is reported is not specified.
        self.blundered = True
        return True

    # -- tensors -------------------------------------------------------------------------

    def pick(self, test: Callable[[TensorLike], bool] | None = None) -> str | None:
        """A live tensor, newer ones more often, that passes the test (or, rarely, any)."""
        names = self.names()
        if test is not None and not self.blunder():
            names = [n for n in names if test(self.get(n))]
        else:
            names = [n for n in names if self.tame(n) or self.chance(0.1)] or names
        if self.chance(0.5):
            names = [n for n in names if self.get(n).requires_grad] or names
        if not names:
            return None
        return names[int(len(names) * max(self.rng.random(), self.rng.random()))]

    def tame(self, name: str) -> bool:
        """Whether the values are finite and of moderate size."""
        t = self.get(name).detach()
        if t.numel() == 0 or not (t.is_floating_point() or t.is_complex()):
            return True
        return bool(t.abs().max() < 1e4)

    def pick_float(self) -> str | None:
        """A tensor of a floating dtype with tame values."""
        return self.pick(lambda t: t.is_floating_point() and bool(t.numel() <= 48))

    def pick_tame(self) -> str | None:
        """A tensor with tame values."""
        name = None
        for _ in range(4):
            name = self.pick(lambda t: True)
            if name is None or self.tame(name):
                break
        return name

    def pick_target(self) -> str | None:
        """A tensor to write to; seldom one that would be refused as a leaf."""
        name = None
        for _ in range(5):
            name = self.pick_tame()
            if name is None or not self.protected(name):
                break
        return name

    def protected(self, name: str) -> bool:
        """Whether it is a leaf that requires grad, or a view of one (told without reading it)."""
        t = self.get(name)
        if not t.requires_grad:
            return False
        base = t._base
        return name in self.leaves or any(
            base is self.side.names.get(leaf) for leaf in self.leaves if base is not None
        )

    def accumulated(self, name: str) -> bool:
        """Whether a leaf holds a plain gradient."""
        if name not in self.leaves or self.get(name)._base is not None:
            return False
        grad = self.get(name).grad
        return grad is not None and not grad.requires_grad

    def pick_like(self, name: str, *, into: bool = False) -> str | None:
        """A tensor that broadcasts with the named one (``into`` it, when that is written)."""
        t = self.get(name)

        def fits(other: TensorLike) -> bool:
            try:
                shape = self.torch.broadcast_shapes(t.shape, other.shape)
            except RuntimeError:
                return False
            if into:
                return tuple(shape) == tuple(t.shape)
            return bool(self.numel(tuple(shape)) <= MAX_NUMEL)

        return self.pick(fits)

    @staticmethod
    def numel(shape: tuple[int, ...]) -> int:
        """Number of elements of a shape."""
        count = 1
        for size in shape:
            count *= size
        return count

    # -- literals ------------------------------------------------------------------------

    def dim(self, t: TensorLike) -> int:
        """A dimension of t, from either end, sometimes outside."""
        rank = max(int(t.dim()), 1)
        if self.blunder():
            return self.rng.choice((rank, -rank - 1, rank + 2))
        d = self.rng.randrange(rank)
        return d - rank if self.chance(0.3) else d

    def dims(self, t: TensorLike) -> str:
        """Several distinct dimensions as a tuple literal."""
        rank = int(t.dim())
        chosen = self.rng.sample(range(rank), self.rng.randint(0, rank)) if rank else []
        if chosen and self.blunder():
            chosen.append(chosen[0])
        dims = [d - rank if self.chance(0.2) else d for d in chosen]
        return "(" + "".join(f"{d}, " for d in dims) + ")" if dims else "(0,)" if rank else "()"

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        """A random small shape."""
        if rank is None:
            rank = self.rng.choice((0, 1, 1, 2, 2, 2, 3, 3, 4))
        while True:
            sizes = tuple(self.rng.choice((1, 2, 2, 3, 3, 4)) for _ in range(rank))
            if self.numel(sizes) <= 36:
                break
        if sizes and self.chance(0.04):
            k = self.rng.randrange(rank)
            sizes = (*sizes[:k], 0, *sizes[k + 1 :])
        return sizes

    def dtype(self) -> str:
        """A dtype, float64 most of the time."""
        if self.one_dtype and self.chance(0.95):
            return "float64"
        return self.rng.choices(
            ("float64", "float32", "int64", "bool", "complex128", "int32", "uint8", "float16")
            + ("complex64", "int8", "int16"),
            (56, 14, 9, 5, 6, 2, 2, 2, 2, 1, 1),
        )[0]

    def number(self, dtype: str = "float64") -> str:
        """One element as a literal."""
        r = self.rng
        if dtype == "bool":
            return r.choice(("True", "False"))
        if dtype == "uint8":
            return str(r.randint(0, 5))
        if dtype.startswith("int"):
            return str(r.randint(-3, 5))
        if dtype.startswith("complex"):
            return f"({r.randint(-4, 4) / 2}{r.choice('+-')}{r.randint(0, 4) / 2}j)"
        return str(r.choice((r.randint(-6, 8) / 2, r.randint(1, 24) / 8, float(r.randint(-2, 3)))))

    def scalar(self) -> str:
        """A Python number."""
        kind = self.rng.choices(("float64", "int64", "bool", "complex128"), (60, 30, 5, 3))[0]
        return self.number(kind)

    def nested(self, shape: tuple[int, ...], dtype: str) -> str:
        """Nested lists of elements."""
        if not shape:
            return self.number(dtype)
        return "[" + ", ".join(self.nested(shape[1:], dtype) for _ in range(shape[0])) + "]"

    def tensor(self, shape: tuple[int, ...], dtype: str, grad: bool = False) -> str:
        """A call that makes a tensor of this shape with literal values."""
        flag = ", requires_grad=True" if grad else ""
        if 0 in shape:
            return f"vt.zeros({shape}, dtype=vt.{dtype}{flag})"
        return f"vt.tensor({self.nested(shape, dtype)}, dtype=vt.{dtype}{flag})"

    # -- steps ---------------------------------------------------------------------------

    def mode(self) -> str:
        """A grad mode for one step: mostly none, and then often for the next one too."""
        if self._mode and self.chance(0.55):
            return self._mode
        modes = (*["no_grad()", "inference_mode()"] * 2, "enable_grad()", "set_grad_enabled(False)")
        self._mode = self.rng.choice(modes) if self.chance(0.04) else ""
        return self._mode

    def make(self, op: str, text: str, outputs: int = 1, *, backward: bool = False) -> list[Line]:
        """A single step that binds fresh names."""
        defs = tuple(self.fresh() for _ in range(outputs))
        return [Line(text, defs, self.mode(), op, backward)]

    def try_eval(self, text: str) -> Any:
        """What an expression without side effects gives on PyTorch now, or None if it raises."""
        try:
            with self.torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return eval(text, self.side.names)
        except Exception:
            return None

    def call(self, op: str, target: str, *arguments: str) -> str:
        """An operator as a method or as a function of the library."""
        joined = ", ".join(arguments)
        if self.chance(0.5) or not hasattr(self.torch, op):
            return f"{target}.{op}({joined})"
        return f"vt.{op}({', '.join((target, *arguments))})"


def write_step(context: Context, rules: list[Rule], weights: list[float]) -> list[Line]:
    """One or more next steps."""
    while True:
        context.blundered = False
        chosen = context.rng.choices(rules, weights)[0]
        steps = chosen.maker(context)
        if steps:
            return steps


class LineWriter:
    """Writes lines of text, from PyTorch's live tensors; see `vtgrad.testing.writer.Writer`.

    Parameters
    ----------
    context : Context
        What makers may use.
    rules : list of Rule
        The ways to write a step.
    weights : list of float
        How often each is taken.
    """

    def __init__(self, context: Context, rules: list[Rule], weights: list[float]) -> None:
        self.context = context
        self.rules = rules
        self.weights = weights

    def beginning(self) -> Iterator[Line]:
        """Leaves that require grad, and copies that may be written."""
        # Swarm: each program leaves out some kinds of steps, so that the others meet more often.
        rng = self.context.rng
        self.weights = [weight * rng.choice((0.0, 0.3, 1.0, 1.0, 3.0)) for weight in self.weights]
        yield from opening(self.context)

    def next_steps(self) -> Iterator[Line]:
        """One or more steps whose operands exist."""
        c = self.context
        names = list(c.side.tensors())
        if len(names) > MAX_TENSORS:
            steps = [Line(f"del {c.rng.choice(names[:8])}", (), "", "del")]
        else:
            steps = write_step(c, self.rules, self.weights)
        for step in steps:
            if all(c.side.names.get(name) is not None for name in step.uses):
                yield step


def opening(c: Context) -> list[Line]:
    """The first steps: leaves that require grad, and copies that may be written."""
    steps = []
    for _ in range(c.rng.randint(1, 2)):
        name = c.fresh()
        dtype = "float64" if c.chance(0.85) else "float32"
        c.leaves.add(name)
        steps.append(Line(c.tensor(c.shape(), dtype, grad=True), (name,), "", "tensor"))
        if c.chance(0.8):
            steps.append(Line(f"{name}.clone()", (c.fresh(),), "", "clone"))
    return steps
