"""Calls of operators of the user's in the model: what they make, view and write."""

from collections.abc import Sequence

from vtgrad.testing.geometry import Geometry, IntArray
from vtgrad.testing.invocation import Invocation
from vtgrad.testing.jets import FloatArray, Jet, Save, carried, merge_paths
from vtgrad.testing.made_views import place
from vtgrad.testing.model import Creation, ModelTensor, RefusedError, SkippedError
from vtgrad.testing.rules import Computed, Operator, Saving
from vtgrad.testing.world import World, check_size
from vtgrad.testing.writes import write

__all__ = ["check_tangents", "made", "viewed", "written"]


def check_tangents(world: World, call: Invocation, tensors: Sequence[ModelTensor]) -> None:
    """Refuse a tensor with a tangent where there is no ``jvp``."""
    if any(world.tangent_of(tensor) is not None for tensor in tensors):
        if world.carries and not call.rule.takes_tangents:
            raise RefusedError("missing-method")


def _arrays(tensors: Sequence[ModelTensor]) -> list[FloatArray]:
    return [tensor.values.reshape(tensor.cells.shape) for tensor in tensors]


def _unsure(save: Save) -> Save:
    """All that an operator of the user's may save, it may also not save."""
    save.uncertain = True
    return save


def made(
    world: World, call: Invocation, tensors: Sequence[ModelTensor], grad: bool
) -> list[ModelTensor]:
    """Make the results that have gradients, on memory of their own."""
    if any(tensor.is_inference for tensor in tensors):
        raise SkippedError
    grad = grad and not world.inference
    unreadable = {tensor.unreadable() or "" for tensor in tensors} - {""}
    if grad and unreadable and any(tensor.requires_grad for tensor in tensors):
        try:
            outcome = call.outcome(_arrays(tensors))
        except RefusedError as refused:  # which of two errors is met is not specified
            unreadable.update(refused.kinds)
        else:
            if not call.rule.is_function and not outcome.differentiable():
                raise SkippedError  # it may not ask for their grad_fns
        raise RefusedError(*sorted(unreadable))
    jets = world.read_all(tensors, grad)
    _, computed = call.computed(_arrays(tensors), world.most_curved)
    for part in computed:
        check_size(part.values)
    tangents = world.tangents_of(tensors)
    results: list[ModelTensor] = []
    for part in computed:
        result = world.fresh(part.geometry, part.values)
        tangent = carried(part.first, part.values.size, tangents) if world.carries else None
        if tangent is not None:
            check_size(tangent)
            world.give_tangent(result, tangent).may_require = world.records_tangent(tensors, grad)
        results.append(result)
    if any(jet.requires for jet in jets):
        _record(world, call, tensors, jets, computed, results)
    return results


def _record(
    world: World,
    call: Invocation,
    tensors: Sequence[ModelTensor],
    jets: Sequence[Jet],
    computed: Sequence[Computed],
    results: Sequence[ModelTensor],
) -> None:
    """Give results their derivatives. Of which are results of one node is known for Functions."""
    tangents = world.tangents_of(tensors)
    kept = [_unsure(world.save(tensor)) for tensor in tensors]
    kept += [_unsure(world.save(result, is_result=True)) for result in results]
    saves = frozenset(kept)
    paths = merge_paths(
        {variable: path | saves for variable, path in jet.paths.items()}
        for jet in jets
        if jet.requires
    )
    for part, result in zip(computed, results, strict=True):
        found = world.chain(_operator(call), jets, part, tangents)
        rows = result.cells.ravel()
        result.history = world.rewritten(result.history, rows, found, paths)
        world.name_root(result, "", saves)
    nodes = [result.node for result in results if result.node is not None]
    for node in nodes:
        together = frozenset(other.index for other in nodes)
        if call.rule.is_function:
            node.siblings = together
        else:
            node.perhaps = together


def viewed(
    world: World, call: Invocation, tensors: Sequence[ModelTensor], grad: bool
) -> list[ModelTensor]:
    """Make views of some operands; the others only say which."""
    rule = call.rule
    arrays = _arrays(tensors)
    call.outcome(arrays)  # it may not be defined there
    picked = call.picked(arrays)
    subjects = {subject for subject, _ in picked}
    others = [tensor for nr, tensor in enumerate(tensors) if nr not in subjects]
    if any(other.is_inference for other in others):
        raise SkippedError
    if rule.is_function and grad and any(other.requires_grad for other in others):
        raise SkippedError  # then the view requires grad too
    kept = frozenset(_unsure(world.save(one)) for one in tensors)
    if rule.is_function:
        (subject,) = subjects
        is_one_node = len(picked) > 1 and grad and tensors[subject].requires_grad
        own = Creation.MULTIPLE if is_one_node else Creation.CUSTOM
        return _placed(world, tensors, picked, grad, own, kept)
    if rule.result == "pieces":
        return _placed(world, tensors, picked, grad, Creation.MULTIPLE, kept)
    return [view for one in picked for view in _placed(world, tensors, [one], grad, None, kept)]


def _placed(
    world: World,
    tensors: Sequence[ModelTensor],
    picked: Sequence[tuple[int, IntArray]],
    grad: bool,
    own: Creation | None,
    kept: frozenset[Save],
) -> list[ModelTensor]:
    """Make views that belong to one node for each tensor that they are of."""
    views: dict[int, ModelTensor] = {}
    for subject in dict.fromkeys(subject for subject, _ in picked):
        tensor = tensors[subject]
        mine = {nr: positions for nr, (of, positions) in enumerate(picked) if of == subject}
        made = []
        for positions in mine.values():
            cells = tensor.cells.reshape(-1)[positions]
            # The strides are looked up later.
            made.append((Geometry(cells.shape, (0,) * cells.ndim, 0), cells))
        placed = place(world, tensor, made, list(mine.values()), grad, own, kept)
        views.update(zip(mine, placed, strict=True))
    return [views[nr] for nr in range(len(picked))]


def _operator(call: Invocation) -> Operator:
    """Return the row of the model's table."""
    everyone = tuple(range(call.tensors))
    saves = tuple(Saving(i, everyone, uncertain=True) for i in everyone)
    result = Saving("result", everyone, uncertain=True)

    def rule(operands: Sequence[Jet], geometries: object, extra: object) -> Computed:
        raise NotImplementedError

    return Operator(call.rule.name, "", call.tensors, rule, (*saves, result))


def written(world: World, call: Invocation, tensors: Sequence[ModelTensor], grad: bool) -> None:
    """Write to the first operand."""
    target, *others = tensors
    is_function = call.rule.is_function
    if target.geometry.repeats_cells or any(o.buffer is target.buffer for o in others):
        raise SkippedError  # it may be refused in several ways, and some operators need not care
    if grad and any(other.unreadable() is not None for other in others):
        raise SkippedError  # the operator may find out only after it has written
    records = grad and any(tensor.requires_grad for tensor in tensors)
    if not is_function and records:
        if not target.cells.size:
            raise SkippedError  # it may find nothing to write
        node = target.node
        if target.base is not None and (target.retains or (node is not None and node.hooks)):
            raise SkippedError  # it may read the target before it writes, through that node

    def computed(jets: Sequence[Jet]) -> Computed:
        arrays = [jet.values.reshape(jet.shape) for jet in jets]
        _, (made,) = call.computed(arrays, world.most_curved)
        if made.geometry.shape != jets[0].shape:
            raise SkippedError  # what it has written by then is its own affair
        return made

    try:
        # A Function declares that it writes the whole tensor; of others that is not known.
        unknown = not is_function
        write(world, target, computed, _operator(call), others, grad, "", is_unknown=unknown)
    except RefusedError as refused:
        if "leaf-write" in refused.kinds:
            # It may write through a view of its operand.
            raise RefusedError(*refused.kinds, "view-of-leaf-write") from None
        raise
    if is_function and world.manners.rewinds:
        # What it declares as written, beside what is kept of its writes, is not restored.
        cells = target.cells.ravel().tolist()
        target.counter.touched.update(dict.fromkeys(cells, target.counter.version))
    if is_function and records:
        target.grad = None
    tangent = world.tangent_of(target)
    if tangent is not None:
        tangent.is_settled = False
