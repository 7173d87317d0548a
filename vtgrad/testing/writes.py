"""Writes: who may be written, what a write does to values, versions and derivatives."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from vtgrad.testing.geometry import Geometry, IntArray, ViewRefusedError, contiguous
from vtgrad.testing.jets import FloatArray, Jet, carried
from vtgrad.testing.model import (
    Buffer,
    Counter,
    Creation,
    History,
    ModelTensor,
    RefusedError,
    Saved,
    SkippedError,
)
from vtgrad.testing.rules import Computed, MisfitError, Operator
from vtgrad.testing.views import ViewCall, view_of
from vtgrad.testing.world import World, check_size, rows_at

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
    reads_first: bool = False,
) -> None:
    """Overwrite `target` with a function of itself and of other tensors.

    Of several reasons to refuse, the library may name any.

    Parameters
    ----------
    marks
        Which elements count as written, by number; all of them without it.
    is_unknown
        Whether it is unknown which of them do.
    reads_first
        Whether operands are read before anything is written, so that they may share memory with it.
    """
    check_counted(world, target)
    grad = grad and not world.inference
    records = grad and (target.requires_grad or any(t.requires_grad for t in others))
    if records and target.base is not None and target.base.geometry.repeats_cells:
        raise SkippedError  # vtgrad refuses it now, PyTorch in backward
    problems: list[str] = []
    is_behind = target.base is not None and target.seen_version != target.counter.version
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
    for other in () if reads_first else others:
        problems += _kinds(partial(_check_overlap, target, other, stretches))
    if problems:
        if records and "input-overlap" in problems and target.retains and is_behind:
            raise SkippedError  # whether its grad_fn is read before it is refused is not specified
        problems += ["inference-saved" for other in others if other.is_inference]
        raise RefusedError(*problems)
    jets = plain
    if records:
        jets = [world.rows_of(target.root, target.cells), *(world.read(t) for t in others)]
    computed = rule(jets)
    check_size(computed.values)
    _check_entangled(world, target, others)
    tangents = world.tangents_of((target, *others))
    tangent = carried(computed.first, computed.values.size, tangents) if world.carries else None
    if tangent is not None:
        check_size(tangent)
    recorded = None
    if records:
        found = world.chain(operator, jets, computed, tangents)
        paths, saved = world.paths(operator, jets, [None, *others], target, in_place=True)
        if target.base is not None:
            # The node that puts a region into its base is freed as one saved value would be.
            once = frozenset([world.save(None)])
            paths = {variable: saves | once for variable, saves in paths.items()}
            saved |= once
        recorded = found, paths, saved
    rows = target.cells.ravel()
    written = rows if marks is None else rows[marks.ravel()]
    _touch(world, target, target.buffer, target.counter, written, is_unknown=is_unknown)
    target.buffer.values[rows] = computed.values
    if world.level is not None and target.buffer.index in world.level.buffers:
        world.level.tells_gradients = False
    if tangent is not None:
        # The tangent of a base that is made under no_grad may be recorded by the next write.
        may_require = world.records_tangent((target, *others), grad) or not grad
        _write_tangent(world, target, tangent, may_require)
    if recorded is None:
        return
    found, paths, saved = recorded
    root = target.root
    root.writes.append(None if target.base is None else frozenset(rows.tolist()))
    root.history = world.rewritten(root.history, rows, found, paths)
    root.leaf = None
    world.name_root(root, name if target.base is None else "torch::autograd::CopySlices", saved)
    world.refresh(target, written=True)


def count(world: World, target: ModelTensor) -> None:
    """Count all elements as written; none changes."""
    target.counter.version += 1
    cells = target.cells.ravel().tolist()
    target.counter.written.update(dict.fromkeys(cells, target.counter.version))
    if world.manners.rewinds:
        # What was written before or is written later may not be restored either.
        target.counter.is_counted = True
        everything = range(target.buffer.values.size)
        target.counter.touched.update(dict.fromkeys(everything, target.counter.version))


def _check_entangled(world: World, target: ModelTensor, others: Sequence[ModelTensor]) -> None:
    """Skip a write to what is read as an operand or as a tangent, where libraries differ."""
    if world.manners.exact_tangents or not world.carries:
        return
    own = world.tangent_of(target)
    tangents = [world.tangent_of(tensor) for tensor in others]
    written = [target.buffer, *([] if own is None else [own.buffer])]
    if own is None and all(tangent is None for tangent in tangents):
        return
    read = [t.buffer for t in others]
    read += [t.buffer for t in tangents if t is not None and t is not own]
    if any(one is other for one in written for other in read):
        raise SkippedError
    if own is None and any(o.cells.size == target.cells.size for o in others if _differ(o, target)):
        raise SkippedError  # the tangent may be a view of another one


def _differ(one: ModelTensor, other: ModelTensor) -> bool:
    return one.cells.shape != other.cells.shape


def _write_tangent(
    world: World, target: ModelTensor, values: FloatArray, may_require: bool
) -> None:
    """Give a tensor that was written the tangent of its new value, as a write to that tangent."""
    tangent = world.give_tangent(target, values)
    tangent.may_require |= may_require
    rows = target.cells.ravel()
    tangent.is_settled = tangent.is_settled and bool(rows.size)
    _touch(world, target, tangent.buffer, tangent.counter, rows)


def _touch(
    world: World,
    target: ModelTensor,
    buffer: Buffer,
    counter: Counter,
    cells: IntArray,
    *,
    is_unknown: bool = False,
) -> None:
    """Count a write to `target`, or to its tangent, in the memory of the one or the other."""
    counter.version += 1
    if not world.manners.rewinds or counter.is_counted:
        known = not (is_unknown or counter.is_counted)
        marked = counter.written if known else counter.touched
        marked.update(dict.fromkeys(cells.tolist(), counter.version))
    written = set(target.cells.ravel().tolist())
    for save in world.saves:
        if save.buffer == buffer.index and save.counter != counter.index:
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
    tangent = world.tangent_of(target)
    if tangent is not None and not world.manners.exact_tangents:
        if not world.carries:
            raise SkippedError  # the tangent would keep its shape
        if target.leader is not None:
            raise SkippedError  # that of the base might not
    if target.grad is not None:
        raise SkippedError  # a gradient of another shape would stay behind
    if target.retains:
        raise SkippedError  # the retained gradient would be of the old shape
    hooked = target.node is not None and bool(target.node.hooks)
    if hooked and not world.manners.rearranges_hooked:
        raise SkippedError
    source = None
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
    if tangent is not None and world.carries:
        tangent.counter.version += 1
    if source is None:
        return
    if target.base is None:
        target.writes.append(None)
        world.name_root(target, name)
    else:
        world.name_view(target, rows_at(source, positions), name)


def resize(world: World, target: ModelTensor, shape: tuple[int, ...]) -> None:
    """Give a view another shape, row-major, from its first element on."""
    if target.requires_grad:
        raise RefusedError("resize", "not-supported")
    if world.tangent_of(target) is not None:
        if not (world.carries and world.manners.exact_tangents):
            raise SkippedError  # the tangent would keep its shape
        raise RefusedError("resize", "not-supported")
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
    target.tangent = None


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
