"""Steps that make tensors: leaves, views, results of operators, aliases."""

from dataclasses import dataclass

from vtgrad.testing.made_views import view
from vtgrad.testing.model import SkippedError
from vtgrad.testing.rules import OPERATORS
from vtgrad.testing.steps.base import (
    NOTHING,
    Expected,
    Extras,
    Literal,
    Step,
    extra_source,
    named,
    operand,
    under,
)
from vtgrad.testing.views import ViewCall
from vtgrad.testing.world import World

__all__ = ["Apply", "Data", "Detach", "Leaf", "View"]


@dataclass(frozen=True)
class Leaf(Step):
    """Make a tensor from numbers."""

    out: int
    value: Literal
    requires_grad: bool

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        return [f"{named(self.out)} = {self.value.source(self.requires_grad)}"]

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        tensor = operand(world, self.value)
        if self.requires_grad:
            world.require(tensor)
        world.put(self.out, tensor)
        return NOTHING


@dataclass(frozen=True)
class View(Step):
    """Make one view, or several at once."""

    outs: tuple[int, ...]
    of: int
    call: ViewCall
    grad: bool = True

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        names = ", ".join(named(out) for out in self.outs)
        comma = "," if self.call.is_multiple and len(self.outs) == 1 else ""
        return under(self.grad, f"{names}{comma} = {self.call.source(named(self.of))}")

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        views = view(world, world.tensors[self.of], self.call, self.grad)
        if len(views) != len(self.outs):
            raise SkippedError  # the program was changed by hand, or by shrinking
        for out, made in zip(self.outs, views, strict=True):
            world.put(out, made)
        return NOTHING


@dataclass(frozen=True)
class Apply(Step):
    """Run an out-of-place operator."""

    out: int
    name: str
    operands: tuple[int, ...]
    extra: Extras = ()
    shape: tuple[int, ...] = ()
    grad: bool = True
    is_function: bool = False

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        tensors = [named(i) for i in self.operands]
        extra = extra_source(self.name, self.extra, self.shape)
        method = self.name.removesuffix("_number")
        if self.name in ("cat", "stack"):
            together = f"[{', '.join(tensors)}]"
            call = f"vt.{method}({', '.join([together, *extra])})"
        elif self.is_function:
            call = f"vt.{method}({', '.join([*tensors, *extra])})"
        else:
            call = f"{tensors[0]}.{method}({', '.join([*tensors[1:], *extra])})"
        return under(self.grad, f"{named(self.out)} = {call}")

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        operands = [world.tensors[i] for i in self.operands]
        world.put(self.out, world.apply(OPERATORS[self.name], operands, self.extra, self.grad))
        return NOTHING


@dataclass(frozen=True)
class Detach(Step):
    """Make an alias outside the graph that shares the version."""

    out: int
    of: int
    grad: bool = True

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        return under(self.grad, f"{named(self.out)} = {named(self.of)}.detach()")

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        world.put(self.out, world.detached(world.tensors[self.of], shares_version=True))
        return NOTHING


@dataclass(frozen=True)
class Data(Step):
    """Make an alias outside the graph with a version of its own."""

    out: int
    of: int

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        return [f"{named(self.out)} = {named(self.of)}.data"]

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        world.put(self.out, world.detached(world.tensors[self.of], shares_version=False))
        return NOTHING
