"""Steps that run backward passes."""

from dataclasses import dataclass

import numpy as np

from vtgrad.testing import passes
from vtgrad.testing.jets import FloatArray
from vtgrad.testing.model import ModelTensor, SkippedError
from vtgrad.testing.steps.base import NOTHING, Expected, Literal, Step, named, under
from vtgrad.testing.world import World

__all__ = ["Backward", "Gradient", "SecondOrder"]


@dataclass(frozen=True)
class Backward(Step):
    """``of.backward(cotangent, retain_graph=..., inputs=...)``."""

    of: int
    cotangent: Literal
    retain: bool = False
    inputs: tuple[int, ...] | None = None
    grad: bool = True

    @property
    def is_pass(self) -> bool:
        """See `Step`."""
        return True

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        inputs = "" if self.inputs is None else f", inputs=[{', '.join(map(named, self.inputs))}]"
        retain = ", retain_graph=True" if self.retain else ""
        lines = [
            f"w = {self.cotangent.source()}",
            *under(self.grad, f"{named(self.of)}.backward(w{retain}{inputs})"),
        ]
        # The array is the user's: what becomes of it must not be seen in any gradient.
        return lines if careful else [*lines, "w.zero_()"]

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        tensor = world.tensors[self.of]
        _check_cotangent(tensor, self.cotangent)
        inputs = None if self.inputs is None else [world.tensors[i] for i in self.inputs]
        passes.backward(world, tensor, self.cotangent.values(), inputs, self.retain)
        return NOTHING


def _check_cotangent(tensor: ModelTensor, cotangent: Literal) -> None:
    if cotangent.shape != tensor.cells.shape:
        raise SkippedError


@dataclass(frozen=True)
class Gradient(Step):
    """``vt.autograd.grad(of, inputs, cotangent, ...)``."""

    of: int
    cotangent: Literal
    inputs: tuple[int, ...]
    retain: bool = False
    allow_unused: bool = True

    @property
    def is_pass(self) -> bool:
        """See `Step`."""
        return True

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        inputs = ", ".join(map(named, self.inputs))
        retain = ", retain_graph=True" if self.retain else ""
        unused = ", allow_unused=True" if self.allow_unused else ""
        cotangent = self.cotangent.source()
        return [f"g = vt.autograd.grad({named(self.of)}, [{inputs}], {cotangent}{retain}{unused})"]

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        tensor = world.tensors[self.of]
        _check_cotangent(tensor, self.cotangent)
        inputs = [world.tensors[i] for i in self.inputs]
        found = passes.gradients(
            world, tensor, self.cotangent.values(), inputs, self.retain, self.allow_unused
        )
        tangents = {} if found.tangents is None else {"g": found.tangents}
        return Expected({"g": found.values}, {}, tangents)


@dataclass(frozen=True)
class SecondOrder(Step):
    """Differentiate a gradient once more, by its cotangent and by the leaves."""

    of: int
    cotangent: Literal
    leaves: tuple[int, ...]
    weights: tuple[Literal, ...]

    @property
    def is_pass(self) -> bool:
        """See `Step`."""
        return True

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        leaves = ", ".join(map(named, self.leaves))
        cotangent = self.cotangent.source()[:-1] + ", requires_grad=True)"
        weights = ", ".join(weight.source() for weight in self.weights)
        # PyTorch may answer with zeros that have no memory.
        solid = ["h = [p if p is None else p + 0 for p in h]"] if careful else []
        return [
            f"w = {cotangent}",
            f"g = vt.autograd.grad({named(self.of)}, [{leaves}], w, create_graph=True)",
            f"k = [(p, u) for p, u in zip(g, [{weights}]) if p.requires_grad]",
            f"h = vt.autograd.grad([p for p, _ in k], [w, {leaves}], [u for _, u in k], "
            f"retain_graph=True, allow_unused=True) if k else [None] * {len(self.leaves) + 1}",
            *solid,
        ]

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        tensor = world.tensors[self.of]
        _check_cotangent(tensor, self.cotangent)
        leaves = [world.tensors[i] for i in self.leaves]
        if any(leaf.leaf is None for leaf in leaves):
            raise SkippedError
        found, jac, hes = passes.second_order(world, tensor, self.cotangent.values(), leaves)
        weights = np.concatenate([weight.values() for weight in self.weights])
        by_leaf = np.split(weights @ hes, np.cumsum([leaf.cells.size for leaf in leaves])[:-1])
        shapes = [leaf.cells.shape for leaf in leaves]
        second = [(jac @ weights).reshape(tensor.cells.shape)]
        second += [part.reshape(shape) for part, shape in zip(by_leaf, shapes, strict=True)]
        outer = _largest(weights)
        inner = outer * _largest(self.cotangent.values())
        factors = {"h": [outer] + [inner] * len(shapes)}
        return Expected({"g": found}, {"h": second}, factors=factors)


def _largest(numbers: FloatArray) -> float:
    """The largest absolute value; 0 if there are no numbers."""
    return float(np.abs(numbers).max(initial=0.0))
