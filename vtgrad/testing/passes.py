"""What a backward pass does, by the model: which gradients, which hooks, which errors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from vtgrad.testing.jets import FloatArray, Jet, Save, Variable, Void
from vtgrad.testing.model import ModelTensor, RefusedError, Saved, SkippedError, UncertainError
from vtgrad.testing.world import World

__all__ = ["Gradients", "Pass", "backward", "gradients", "second_order"]


#: Numbers by column of the Jacobian: those of gradients, and those of their tangents.
Columns = tuple[FloatArray, FloatArray]


@dataclass
class Pass:
    """The gradients of one pass, with their tangents, and what was visited.

    See Note [Gradients along a tangent].
    """

    columns: Columns
    visited: frozenset[int]
    targets: frozenset[int]
    arrived: dict[int, Columns]

    def of(self, variable: Variable) -> FloatArray:
        """Return the gradient with respect to a variable, hooks included."""
        return self.columns[0][variable.columns]

    def handed_out(self, variable: Variable) -> Columns:
        """Return what ``grad`` answers: hooks count only at the end of the way."""
        if variable.below & self.targets:
            return self.arrived[variable.index]
        return self.columns[0][variable.columns], self.columns[1][variable.columns]


@dataclass
class Gradients:
    """What ``grad`` answers.

    Attributes
    ----------
    values : list of ndarray or None
        One for each input.
    tangents : list of ndarray, or None
        Those of the gradients; None if they are not known, or no level is open.
    """

    values: list[FloatArray | None]
    tangents: list[FloatArray] | None


def _root(world: World, tensor: ModelTensor) -> Jet:
    jet = world.read(tensor)
    if not jet.edge:
        raise RefusedError("root")
    return jet


def _kinds_of(path: frozenset[Save]) -> list[str]:
    """Errors that a pass along the path would raise; any of them may be the one."""
    return sorted({kind for save in path for kind in save.problems()})


def _any_of(path: frozenset[Save]) -> list[str]:
    """Errors that a pass along the path would raise or may raise."""
    return sorted({kind for save in path for kind in (*save.problems(), *save.possible())})


def _problems(jet: Jet, targets: set[int]) -> list[str]:
    return [kind for v in targets & set(jet.paths) for kind in _any_of(jet.paths[v])]


def _run(
    world: World,
    jet: Jet,
    cotangent: FloatArray,
    inputs: Sequence[Variable] | None,
    retain: bool,
    *,
    runs_inputs: bool = False,
) -> Pass:
    """Check, compute and free; nothing of the world changes if the pass is refused."""
    if any(v.index not in jet.paths and v.perhaps & set(jet.paths) for v in inputs or ()):
        raise SkippedError  # reached if they are of one node
    if inputs is None:
        targets = frozenset(jet.paths)
        visited = targets - {Void}
    else:
        # A node is reached as a whole: an input counts as reached through its siblings too.
        asked = frozenset[int]().union(*({v.index} | v.siblings for v in inputs))
        targets = asked & frozenset(jet.paths)
        visited = frozenset(
            v
            for v in jet.paths
            if v != Void and (v in targets or world.variables.all[v].below & targets)
        )
    # Hooks of where a pass starts run always. That is the youngest variable of all.
    visited |= {max(jet.paths)}
    path = frozenset[Save]().union(*(jet.paths[v] for v in targets))
    if runs_inputs:
        path = path.union(*(world.variables.all[v].saves for v in targets if v != Void))
    problems = _kinds_of(path)
    possible = sorted({kind for save in path for kind in save.possible()})
    if problems:
        if any(isinstance(s.failure, Saved) and s.failure.may_be_read() for s in path):
            raise SkippedError
        raise RefusedError(*problems, *possible)
    if any(save.spoiled for save in path):
        raise SkippedError
    if possible and not world.decided:
        raise UncertainError(*possible)
    checks = [save.failure for save in path if isinstance(save.failure, Saved)]
    world.passes += bool(checks)
    world.beside += any(check.is_moved for check in checks)
    jac = world.variables.wide(jet.jac)
    change = world.variables.along(jet.along)
    columns = cotangent @ jac, cotangent @ (np.zeros_like(jac) if change is None else change)
    arrived: dict[int, Columns] = {}
    for index in sorted(visited, reverse=True):
        variable = world.variables.all[index]
        arrived[index] = columns[0][variable.columns].copy(), columns[1][variable.columns].copy()
        _call_hooks(world, variable, columns)
    if not retain:
        for save in path:
            save.freed = True
    return Pass(columns, visited, targets, arrived)


def _call_hooks(world: World, variable: Variable, columns: Columns) -> None:
    """Let hooks see the gradient, and add what they change to everything below."""
    gradients, tangents = columns
    before = gradients[variable.columns].copy()
    scale = 1.0
    for name, factor in variable.hooks:
        if factor == 1.0:
            world.heard.append((name, (before * scale).tolist()))
        scale *= factor
    if scale == 1.0:
        return
    more, turned = (scale - 1) * before, (scale - 1) * tangents[variable.columns]
    gradients += more @ world.variables.wide(variable.jac)
    tangents += turned @ world.variables.wide(variable.jac)
    change = world.variables.along(variable.along)
    if change is not None:
        tangents += more @ change
    gradients[variable.columns] = before * scale
    tangents[variable.columns] *= scale


def _retain(world: World, done: Pass, tensors: Iterable[ModelTensor]) -> None:
    for tensor in tensors:
        if tensor.retains and tensor.node is not None:
            for variable in {*tensor.kept, tensor.node}:
                if variable.index in done.visited:
                    _accumulate(tensor, done.of(variable))
    for index in done.visited:
        for tensor, at, positions in world.parts.get(index, ()):
            if tensor.retains and at in (tensor.node, *tensor.kept):
                whole = np.zeros(tensor.geometry.numel)
                np.add.at(whole, positions, done.of(world.variables.all[index]))
                _accumulate(tensor, whole)


def _accumulate(tensor: ModelTensor, gradient: FloatArray) -> None:
    tensor.grad = gradient.copy() if tensor.grad is None else tensor.grad + gradient


def _all_tensors(world: World) -> list[ModelTensor]:
    return list(dict.fromkeys(world.tensors.values()))


def backward(
    world: World,
    tensor: ModelTensor,
    cotangent: FloatArray,
    inputs: Sequence[ModelTensor] | None,
    retain: bool,
) -> None:
    """Predict ``tensor.backward(cotangent, retain_graph=retain, inputs=inputs)``."""
    jet = _root(world, tensor)
    asked = None if inputs is None else _variables(world, inputs)
    newly = [t for t in inputs or () if t.node is not None and not t.retains]
    try:
        # The nodes of the inputs are run as well, for nothing.
        done = _run(world, jet, cotangent, asked, retain, runs_inputs=asked is not None)
    except (RefusedError, UncertainError):
        if newly:  # whether they go on to retain gradients is not specified
            raise SkippedError from None
        raise
    for other in newly:
        other.retain()
    _retain(world, done, _all_tensors(world))
    for other in _all_tensors(world):
        if other.leaf is None or (inputs is not None and other not in inputs):
            continue
        if other.leaf.index in done.visited:
            _accumulate(other, done.of(other.leaf))


def _variables(world: World, inputs: Sequence[ModelTensor]) -> list[Variable]:
    found: list[Variable] = []
    for tensor in inputs:
        if not tensor.requires_grad:
            raise RefusedError("grad-required")
        world.refresh(tensor)
        if tensor.variable is None:
            raise SkippedError
        found.append(tensor.variable)
    return found


def _check_nonzero(world: World, columns: FloatArray, asked: Sequence[Variable]) -> None:
    """Skip a pass in which an operator of the user's may leave out a gradient that is zero.

    Parameters
    ----------
    columns : ndarray
        The gradients of all variables, or what is zero if they always are.
    """
    if world.rules and any(not columns[v.columns].any() for v in asked):
        raise SkippedError


def gradients(
    world: World,
    tensor: ModelTensor,
    cotangent: FloatArray,
    inputs: Sequence[ModelTensor],
    retain: bool,
    allow_unused: bool,
) -> Gradients:
    """Predict ``vt.autograd.grad(tensor, inputs, cotangent, ...)``."""
    jet = _root(world, tensor)
    asked = _variables(world, inputs)
    unused = not allow_unused and any(v.index not in jet.paths for v in asked)
    if unused and not world.manners.unused_is_found_late:
        nodes = set[int]().union(*({v.index} | v.siblings for v in asked))
        raise RefusedError("unused-input", *_problems(jet, nodes))
    if not allow_unused:
        _check_nonzero(world, cotangent @ world.variables.wide(jet.jac), asked)
    done = _run(world, jet, cotangent, asked, retain)
    _retain(world, done, _all_tensors(world))
    if unused:
        raise RefusedError("unused-input")
    values: list[FloatArray | None] = []
    tangents: list[FloatArray] = []
    for t, v in zip(inputs, asked, strict=True):
        reached = v.index in jet.paths
        gradient, tangent = done.handed_out(v) if reached else (None, np.zeros(t.cells.size))
        values.append(None if gradient is None else gradient.reshape(t.cells.shape))
        tangents.append(tangent.reshape(t.cells.shape))
    known = world.level is not None and world.level.tells_gradients
    # Second derivatives of operators of the user's may not be known.
    known = known and not any(np.isnan(tangent).any() for tangent in tangents)
    return Gradients(values, tangents if known else None)


def second_order(
    world: World, tensor: ModelTensor, cotangent: FloatArray, leaves: Sequence[ModelTensor]
) -> tuple[list[FloatArray], FloatArray, FloatArray]:
    """Predict gradients that are differentiated once more.

    Returns
    -------
    gradients
        Of `tensor` along `cotangent`, with respect to each leaf.
    jacobian, hessian
        Derivatives of those gradients, concatenated and flat, with respect to the cotangent and
        to the concatenated leaves.
    """
    jet = _root(world, tensor)
    variables = _variables(world, leaves)
    if any(v.index not in jet.paths for v in variables):
        raise SkippedError
    if any(v.hooks for v in world.variables.all) or any(t.retains for t in _all_tensors(world)):
        raise SkippedError  # they would run in both passes
    # What depends on a leaf has a gradient by it that can be differentiated, whatever came in.
    whole = world.variables.wide(jet.jac)
    _check_nonzero(world, np.abs(whole).sum(0), variables)
    columns = np.concatenate([np.arange(v.start, v.start + v.numel) for v in variables])
    known = world.variables.leaf_columns
    positions = np.array([known.index(int(c)) for c in columns], dtype=np.intp)
    jac = whole[:, columns]
    hes = np.tensordot(cotangent, world.variables.deep(jet.hes), axes=1)[
        np.ix_(positions, positions)
    ]
    if np.isnan(hes).any():
        raise SkippedError  # those of an operator of the user's are not known
    done = _run(world, jet, cotangent, variables, retain=True)
    found = [done.of(v).reshape(t.cells.shape) for t, v in zip(leaves, variables, strict=True)]
    return found, jac, hes
