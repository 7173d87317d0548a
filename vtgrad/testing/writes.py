"""Writes: who may be written, what a write does to values, versions and derivatives."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from .geometry import Geometry, IntArray, ViewRefusedError, contiguous
from .jets import Jet
from .model import Creation, History, ModelTensor, RefusedError, Saved, SkippedError
from .rules import Computed, MisfitError, Operator
from .views import ViewCall, view_of
from .world import World, check_size, rows_at

__all__ = ["check_counted", "check_write", "count", "detach_", "rearrange", "resize", "write"]


def check_counted(world: World, target: ModelTensor, *also: str) -> None:
    """Refuse a write to an inference tensor outside of inference mode, or for reasons met too."""
    if target.is_inference and not world.inference:
        if not world.manners.refuses_before_writing:
            raise SkippedError  # its values have changed all the same
        raise RefusedError("inference-write", *also)


def check_write(world: World, target: ModelTensor) -> None:
    """Refuse what may not be written while recording."""
    if target.base is not None:
        if target.creation is not Creation.DEFAULT:
            raise RefusedError(target.creation.value)
        if target.requires_grad:
            if target.base.node is None:
                raise RefusedError("view-of-leaf-write")
            if target.node is None and world.manners.unread_views_are_leaves:
                raise RefusedError("leaf-write")
            world.refresh(target)
    if target.leaf is not None:
        raise RefusedError("leaf-write")


def write(
    world: World,
    target: ModelTensor,
    rule: Callable[[Sequence[Jet]], Computed],
    operator: Operator,
    others: Sequence[ModelTensor],
    grad: bool,
    name: str,
    *,
    is_fill: bool = False,
    is_partial: bool = False,
    stretches: bool = False,
    marks: IntArray | None = None,
    is_unknown: bool = False,
) -> None:
    """Overwrite `target` with a function of itself and of other tensors.

    Of several reasons to refuse, the library may name any.

    Parameters
    ----------
    marks
        Which elements count as written, by number; all of them without it.
    is_unknown
        Whether it is unknown which of them do.
    """
    check_counted(world, target)
    grad = grad and not world.inference
    records = grad and (target.requires_grad or any(t.requires_grad for t in others))
    problems: list[str] = []
    if records:
        problems += _kinds(lambda: check_write(world, target))
        for other in others:
            problems += _kinds(partial(world.refresh, other))
    plain = [world.constant(t.cells.shape, t.values) for t in (target, *others)]
    problems += _kinds(lambda: _misfit(rule, plain))
    if target.geometry.repeats_cells:
        onto_itself = any(
            o.buffer is target.buffer and o.geometry == target.geometry for o in others
        )
        unclear = is_fill and (records or not world.manners.fills_repeated)
        if is_partial or onto_itself or unclear:
            raise SkippedError  # libraries differ, and the outcome says nothing about gradients
        if not is_fill:
            problems.append("self-overlap")
    for other in others:
        problems += _kinds(partial(_check_overlap, target, other, stretches))
    if problems:
        problems += ["inference-saved" for other in others if other.is_inference]
        raise RefusedError(*problems)
    jets = plain
    if records:
        jets = [world.rows_of(target.root, target.cells), *(world.read(t) for t in others)]
    computed = rule(jets)
    check_size(computed.values)
    if records:
        jac, hes = world.chain(jets, computed)
        paths, saved = world.paths(operator, jets, [None, *others], target, in_place=True)
        if target.base is not None:
            # The node that puts a region into its base is freed as one saved value would be.
            once = frozenset([world.save(None)])
            paths = {variable: saves | once for variable, saves in paths.items()}
            saved |= once
    rows = target.cells.ravel()
    _touch(world, target, rows if marks is None else rows[marks.ravel()], is_unknown=is_unknown)
    target.buffer.values[rows] = computed.values
    if not records:
        return
    root = target.root
    root.writes.append(None if target.base is None else frozenset(rows.tolist()))
    full, deep = (
        world.variables.wide(root.history.jac).copy(),
        world.variables.deep(root.history.hes).copy(),
    )
    full[rows], deep[rows] = jac, hes
    root.history = History(full, deep, paths)
    root.leaf = None
    world.name_root(root, name if target.base is None else "torch::autograd::CopySlices", saved)
    world.refresh(target, written=True)


def count(target: ModelTensor) -> None:
    """Count all elements as written; none changes."""
    target.counter.version += 1
    cells = target.cells.ravel().tolist()
    target.counter.written.update(dict.fromkeys(cells, target.counter.version))


def _touch(world: World, target: ModelTensor, cells: IntArray, *, is_unknown: bool) -> None:
    counter = target.counter
    counter.version += 1
    marked = counter.touched if is_unknown else counter.written
    marked.update(dict.fromkeys(cells.tolist(), counter.version))
    written = set(target.cells.ravel().tolist())
    for save in world.saves:
        if save.buffer == target.buffer.index and save.counter != counter.index:
            check = save.failure
            if not isinstance(check, Saved) or check.cells & written:
                save.spoiled = True


def rearrange(world: World, target: ModelTensor, call: ViewCall, grad: bool, name: str) -> None:
    """Change the geometry of a tensor in place."""
    check_counted(world, target)
    grad = grad and not world.inference
    records = grad and target.requires_grad
    if not grad and target.requires_grad:
        raise SkippedError  # the graph would then speak of another shape
    if target.grad is not None:
        raise SkippedError  # a gradient of another shape would stay behind
    if target.retains:
        raise SkippedError  # the retained gradient would be of the old shape
    hooked = target.node is not None and bool(target.node.hooks)
    if hooked and not world.manners.rearranges_hooked:
        raise SkippedError
    if records:
        check_write(world, target)
        source = world.read(target)
    try:
        ((geometry, cells),) = view_of(
            target.geometry, target.cells, call, target.buffer.values.size
        )
        numbers = np.arange(target.geometry.numel, dtype=np.intp).reshape(target.geometry.shape)
        ((_, positions),) = view_of(target.geometry, numbers, call, 1 << 62)
    except ViewRefusedError as refused:
        raise RefusedError(refused.kind) from None
    target.counter.version += 1
    target.geometry, target.cells = geometry, cells
    if not records:
        return
    if target.base is None:
        target.writes.append(None)
        world.name_root(target, name)
    else:
        world.name_view(target, rows_at(source, positions), name)


def resize(world: World, target: ModelTensor, shape: tuple[int, ...]) -> None:
    """Give a view another shape, row-major, from its first element on."""
    if target.requires_grad:
        raise RefusedError("resize")
    strides = contiguous(shape).strides
    geometry = Geometry(shape, strides, target.geometry.offset)
    # Memory would grow, or a base become smaller than its views.
    if target.base is None or geometry.offset + geometry.numel > target.buffer.values.size:
        raise SkippedError
    if target.grad is not None or target.retains:
        raise SkippedError  # a gradient of another shape would stay behind
    if shape == target.geometry.shape:
        return
    target.counter.version += 1
    target.geometry, target.cells = geometry, geometry.cells()


def detach_(world: World, target: ModelTensor) -> None:
    """Cut a base off its graph."""
    if target.base is not None:
        raise RefusedError("detach-view")
    # A leaf keeps its place in old graphs, should it require grad again: not modelled.
    if (
        target.leaf is not None
        or target.retains
        or any(t.base is target for t in world.tensors.values())
    ):
        raise SkippedError
    if target.node is not None:
        target.node.detached = True
    jac, hes = world.variables.constants(target.buffer.values.size)
    target.history, target.leaf, target.node = History(jac, hes, {}), None, None


def _kinds(check: Callable[[], None]) -> tuple[str, ...]:
    """Run a check; return the kinds of error that it raises."""
    try:
        check()
    except RefusedError as refused:
        return refused.kinds
    return ()


def _misfit(rule: Callable[[Sequence[Jet]], Computed], jets: Sequence[Jet]) -> None:
    try:
        rule(jets)
    except MisfitError:
        raise RefusedError("shape") from None


def _check_overlap(target: ModelTensor, other: ModelTensor, stretches: bool) -> None:
    """Refuse a write that reads cells which it writes elsewhere.

    With `stretches` the other is brought to the target's shape before it is looked at.
    """
    if target.buffer is not other.buffer:
        return
    mine, theirs = target.cells.ravel(), other.cells.ravel()
    if not np.intersect1d(mine, theirs).size:
        return
    source = other.geometry
    if stretches:
        extra = max(0, len(source.shape) - len(target.geometry.shape))
        source = Geometry(source.shape[extra:], source.strides[extra:], source.offset)
        # Dimensions of size one in front are dropped and put there again, with other strides.
        if source.shape != target.geometry.shape or other.geometry.shape[:1] == (1,):
            raise SkippedError
    same = source == target.geometry
    dense = target.geometry.is_dense and source.is_dense
    if dense and not same:
        raise RefusedError("input-overlap")
    if not same:
        raise SkippedError  # what is read is then a matter of the order of the writes
