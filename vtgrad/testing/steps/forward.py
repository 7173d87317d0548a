"""Steps of forward mode: levels, dual tensors, what is unpacked, forward mode off."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from vtgrad.testing import tangents
from vtgrad.testing.libraries import TensorLike
from vtgrad.testing.model import SkippedError
from vtgrad.testing.steps.base import NOTHING, Expected, Literal, Step, named, operand, under
from vtgrad.testing.steps.making import Apply, Leaf, View
from vtgrad.testing.steps.writing import AugmentItem, Fill, Rearrange, SetItem, Write
from vtgrad.testing.world import World

__all__ = [
    "EnterLevel",
    "LeaveLevel",
    "MakeDual",
    "TakePrimal",
    "TakeTangent",
    "WithoutForward",
]

_FORWARD = "vt.autograd.forward_ad"


@dataclass(frozen=True)
class EnterLevel(Step):
    """Open the level of forward mode."""

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        return [f"{_FORWARD}.enter_dual_level()"]

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        tangents.enter(world)
        return NOTHING


@dataclass(frozen=True)
class LeaveLevel(Step):
    """Close the level of forward mode."""

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        return [f"{_FORWARD}.exit_dual_level()"]

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        tangents.leave(world)
        return NOTHING


@dataclass(frozen=True)
class MakeDual(Step):
    """Make a view of a tensor that has a tangent: a constant, or the memory of another tensor."""

    out: int
    of: int
    seed: Literal | str
    grad: bool = True

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        seed = self.seed.source() if isinstance(self.seed, Literal) else f"{self.seed}.detach()"
        return under(
            self.grad, f"{named(self.out)} = {_FORWARD}.make_dual({named(self.of)}, {seed})"
        )

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        seed = operand(world, self.seed)
        world.put(self.out, tangents.make_dual(world, world.tensors[self.of], seed, self.grad))
        return NOTHING


@dataclass(frozen=True)
class TakePrimal(Step):
    """Unpack the value of a tensor: a view of it without its tangent."""

    out: int
    of: int
    grad: bool = True

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        unpacked = f"{_FORWARD}.unpack_dual({named(self.of)})"
        return under(self.grad, f"{named(self.out)} = {unpacked}.primal")

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        world.put(self.out, tangents.primal_of(world, world.tensors[self.of], self.grad))
        return NOTHING


@dataclass(frozen=True)
class TakeTangent(Step):
    """Unpack the tangent of a tensor, as an alias outside of the graph."""

    out: int
    of: int
    grad: bool = True

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        unpacked = f"{_FORWARD}.unpack_dual({named(self.of)})"
        return under(self.grad, f"{named(self.out)} = {unpacked}.tangent.detach()")

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        tensor = world.tensors[self.of]
        tangent = world.tangent_of(tensor)
        if tangent is None or world.rules:
            raise SkippedError  # how often operators of the user's move its version is not known
        tangents.primal_of(world, tensor, self.grad)  # which is made as well
        alias = world.on(tangent.buffer, tangent.counter, tensor.geometry, tensor.cells)
        world.put(self.out, alias)
        return NOTHING

    def observe(self, world: World, tensor: Callable[[int], TensorLike]) -> str | None:
        """See `Step`: the strides of dimensions of size one are free."""
        model, found = world.tensors[self.out], tensor(self.out)
        geometry = replace(model.geometry, strides=tuple(found.stride()))
        if model.geometry.places_as(geometry):
            model.geometry = geometry
        return None


@dataclass(frozen=True)
class WithoutForward(Step):
    """Take another step with forward mode off; one that makes or writes tensors."""

    step: Step

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        switch = f"{_FORWARD}.{'_' if careful else ''}set_fwd_grad_enabled(False)"
        lines = []
        for line in self.step.source(careful):
            statement = line.removeprefix("with vt.no_grad(): ")
            also = "" if statement == line else ", vt.no_grad()"
            lines.append(f"with {switch}{also}: {statement}")
        return lines

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        if not isinstance(
            self.step,
            Leaf | View | Apply | MakeDual | Write | Fill | SetItem | AugmentItem | Rearrange,
        ):
            raise SkippedError
        world.without_forward = True
        try:
            return self.step.predict(world)
        finally:
            world.without_forward = False
