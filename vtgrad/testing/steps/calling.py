"""The step that calls an operator of the user's own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..custom import Rule
from ..geometry import Geometry
from ..jets import Along, FloatArray, Jet
from ..libraries import TensorLike
from ..made_views import place
from ..model import Creation, ModelTensor, RefusedError, Saved, SkippedError
from ..rules import Computed
from ..world import World
from ..writes import write
from .base import NOTHING, Expected, Step, named, under

__all__ = ["Call"]


@dataclass(frozen=True)
class Call(Step):
    """Call an operator of the user's; see `vtgrad.testing.checking.Rule`.

    What the model cannot know, it takes over from the library once it has seen that it may be so:
    strides of a fresh result, and how often a write moves the version.
    """

    out: int
    name: str
    operands: tuple[int, ...]
    grad: bool = True

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        call = f"{self.name}({', '.join(named(i) for i in self.operands)})"
        return under(self.grad, call if self.out < 0 else f"{named(self.out)} = {call}")

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        rule = world.rules[self.name]
        tensors = [world.tensors[i] for i in self.operands]
        if any(world.tangent_of(tensor) is not None for tensor in tensors):
            _check_tangents(world, rule)
        if rule.result == "new":
            world.put(self.out, world.apply(rule.operator(), tensors, (), self.grad))
        elif rule.result == "view":
            world.put(self.out, _viewed(world, rule, tensors[0], self.grad))
        else:
            _write(world, rule, tensors, self.grad)
        return NOTHING

    def observe(self, world: World, tensor: Callable[[int], TensorLike]) -> str | None:
        """See `Step`."""
        rule = world.rules[self.name]
        if rule.result == "written":
            target = self.operands[0]
            return _adopt_version(world, world.tensors[target], tensor(target), named(target))
        made: object = tensor(self.out)
        if not hasattr(made, "storage_offset"):
            return f"{self.name} returned no tensor but {type(made).__name__}"
        found = tensor(self.out)
        if any(found is tensor(index) for index in self.operands):
            return f"{self.name} returned its operand itself"
        if not str(found.dtype).endswith("float64"):
            return f"{self.name} made {found.dtype} of float64"
        model = world.tensors[self.out]
        shape = tuple(found.shape)
        if shape != model.geometry.shape:
            return f"{self.name} returned shape {shape}, expected {model.geometry.shape}"
        geometry = Geometry(shape, tuple(found.stride()), found.storage_offset())
        if rule.result == "new":
            if geometry.repeats_cells:
                return f"{self.name} returned a tensor that overlaps itself"
            _lay_out(model, geometry)
        elif geometry.numel and not np.array_equal(geometry.cells(), model.cells):
            return f"{self.name} returned another view than expected: {geometry}"
        else:
            model.geometry = geometry
        return None


def _check_tangents(world: World, rule: Rule) -> None:
    """Refuse a tensor with a tangent where there is no ``jvp``."""
    assert world.level is not None
    if world.carries and not rule.takes_tangents:
        raise RefusedError("missing-method")
    # The second derivatives of an operator of the user's are not known.
    world.level.tells_gradients = False


def _viewed(world: World, rule: Rule, tensor: ModelTensor, grad: bool) -> ModelTensor:
    rule.values([tensor.values.reshape(tensor.cells.shape)])  # it may not be defined there
    cells = rule.picked(tensor.cells)
    numbers = np.arange(tensor.cells.size, dtype=np.intp).reshape(tensor.cells.shape)
    # The strides are looked up later.
    geometry = Geometry(cells.shape, (0,) * cells.ndim, 0)
    own = Creation.CUSTOM if rule.is_function else None
    kept = world.save(tensor)
    kept.uncertain = True
    (view,) = place(
        world, tensor, [(geometry, cells)], [rule.picked(numbers)], grad, own, frozenset([kept])
    )
    return view


def _write(world: World, rule: Rule, tensors: Sequence[ModelTensor], grad: bool) -> None:
    target, *others = tensors
    if target.geometry.repeats_cells or any(o.buffer is target.buffer for o in others):
        raise SkippedError  # it may be refused in several ways, and some operators need not care
    if grad and any(other.unreadable() is not None for other in others):
        raise SkippedError  # the operator may find out only after it has written
    operator = rule.operator()

    def computed(jets: Sequence[Jet]) -> Computed:
        made = operator.rule(jets, [t.geometry for t in tensors], ())
        if made.geometry.shape != jets[0].shape:
            raise SkippedError  # what it has written by then is its own affair
        return made

    try:
        # A Function declares that it writes the whole tensor; of others that is not known.
        unknown = not rule.is_function
        write(world, target, computed, operator, others, grad, "", is_unknown=unknown)
    except RefusedError as refused:
        if "leaf-write" in refused.kinds:
            # It may write through a view of its operand.
            raise RefusedError(*refused.kinds, "view-of-leaf-write") from None
        raise
    if rule.is_function and grad and any(t.requires_grad for t in tensors):
        target.grad = None
    tangent = world.tangent_of(target)
    if tangent is not None:
        tangent.is_settled = False


def _adopt_version(world: World, target: ModelTensor, found: TensorLike, name: str) -> str | None:
    """Take over how often the writes of one call moved the version."""
    expected, version = target.counter.version, found._version
    if version < expected:
        return f"{name}._version: expected at least {expected}, found {version}"
    target.counter.version = version
    for tensor in world.tensors.values():
        if tensor.counter is target.counter and tensor.seen_version == expected:
            tensor.seen_version = version
    for save in world.saves:
        check = save.failure
        if isinstance(check, Saved) and check.tensor is target and check.version == expected:
            check.version = version
    return None


def _lay_out(tensor: ModelTensor, geometry: Geometry) -> None:
    """Put the elements of a fresh tensor where the library has put them."""
    if geometry == tensor.geometry or not geometry.numel:
        tensor.geometry = geometry
        return
    before, tensor.geometry, tensor.cells = tensor.cells.ravel(), geometry, geometry.cells()
    after = tensor.cells.ravel()
    history = tensor.history
    size = int(after.max()) + 1

    def moved(rows: FloatArray) -> FloatArray:
        laid: FloatArray = np.zeros((size, *rows.shape[1:]))
        laid[after] = rows[before]
        return laid

    tensor.buffer.values = moved(tensor.buffer.values)
    history.jac, history.hes = moved(history.jac), moved(history.hes)
    if history.along is not None:
        history.along = Along(history.along.level, moved(history.along.jac))
    if tensor.tangent is not None:
        tensor.tangent.buffer.values = moved(tensor.tangent.buffer.values)
