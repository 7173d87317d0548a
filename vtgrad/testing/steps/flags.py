"""Steps that change no value: flags, hooks, looking, forgetting."""

from dataclasses import dataclass

from vtgrad.testing.model import RefusedError, SkippedError
from vtgrad.testing.steps.base import NOTHING, Expected, Step, named
from vtgrad.testing.world import World
from vtgrad.testing.writes import detach_

__all__ = ["Delete", "Detach_", "Hook", "Inspect", "Require", "Retain"]


@dataclass(frozen=True)
class Detach_(Step):
    """``target.detach_()``."""

    target: int

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        return [f"{named(self.target)}.detach_()"]

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        detach_(world, world.tensors[self.target])
        return NOTHING


@dataclass(frozen=True)
class Require(Step):
    """``target.requires_grad_(flag)``."""

    target: int
    flag: bool = True

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        return [f"{named(self.target)}.requires_grad_({self.flag})"]

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        target = world.tensors[self.target]
        if target.base is not None:
            raise SkippedError
        if self.flag and target.is_inference:
            raise RefusedError("inference")
        if self.flag:
            if not target.requires_grad:
                world.require(target)
        elif target.node is not None:
            raise RefusedError("requires-grad")
        elif target.leaf is not None:
            raise SkippedError
        return NOTHING


@dataclass(frozen=True)
class Hook(Step):
    """Register a hook that listens (`factor` 1) or scales the gradient."""

    target: int
    name: str
    factor: int = 1

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        body = f"g * {self.factor}"
        if self.factor == 1:
            # It keeps the gradient, which must stay what it is.
            body = f"seen.append(({self.name!r}, g))"
        # An output of a split that nothing was computed from has no gradient.
        body = f"None if g is None else {body}"
        register = f"{self.name} = {named(self.target)}.register_hook(lambda g: {body})"
        return [f"{named(self.target)}.grad_fn", register] if careful else [register]

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        target = world.tensors[self.target]
        if not target.requires_grad:
            raise RefusedError("grad-required")
        world.refresh(target)
        if target.variable is None:
            raise SkippedError
        target.variable.hooks.append((self.name, float(self.factor)))
        return NOTHING


@dataclass(frozen=True)
class Retain(Step):
    """``target.retain_grad()``."""

    target: int

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        return [f"{named(self.target)}.retain_grad()"]

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        target = world.tensors[self.target]
        if not target.requires_grad:
            raise RefusedError("grad-required")
        if target.node is None or target.retains:
            # A leaf, a view that never had a grad_fn, or the second time: nothing is read.
            return NOTHING
        world.refresh(target)
        if target.variable is None:
            raise SkippedError
        target.retain()
        return NOTHING


@dataclass(frozen=True)
class Delete(Step):
    """Drop the program's name for a tensor."""

    target: int

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        return [f"del {named(self.target)}"]

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        del world.tensors[self.target]
        return NOTHING


@dataclass(frozen=True)
class Inspect(Step):
    """Read ``grad_fn``: rebuilds that of a view whose base was written, or refuses."""

    target: int

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        return [f"{named(self.target)}.grad_fn"]

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        world.refresh(world.tensors[self.target])
        return NOTHING
