"""Loops over many steps in the memory of a few."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal, SupportsIndex, TypeVar, cast

from vtgrad.errors import ArgumentValueError, NotSupportedError
from vtgrad.graph.edge import edge_to
from vtgrad.graph.input_metadata import metadata_of
from vtgrad.graph.operators import operators
from vtgrad.graph.recording import is_recording
from vtgrad.graph.set_history import collect_next_edges, requires_grad
from vtgrad.utils.checkpoint.loop_node import CheckpointLoopBackward
from vtgrad.utils.checkpoint.recorded_step import RESULT
from vtgrad.utils.checkpoint.schedule import Schedule, count_of, maker_of
from vtgrad.utils.checkpoint.snapshots import Snapshot
from vtgrad.utils.checkpoint.state import State, flatten, has_tangent
from vtgrad.utils.checkpoint.tape import LoopPlan, Tape

__all__ = ["checkpoint_loop"]

S = TypeVar("S")


def checkpoint_loop(
    step: Callable[[S], S],
    state: S,
    steps: SupportsIndex,
    *,
    snapshots: SupportsIndex | None = None,
    schedule: Callable[[int], Schedule] | None = None,
    folder: str | os.PathLike[str] | None = None,
    preserve_rng_state: bool = True,
    determinism_check: Literal["default", "none"] = "default",
) -> S:
    """Apply a function many times, and keep only a few states for backward.

    The result is that of ``for _ in range(steps): state = step(state)``, and so is every gradient,
    bit for bit. A plain loop keeps the graph of all steps for backward. This one keeps `snapshots`
    states and the graph of the last step; backward computes the states between them again, records
    each step once more, and runs it backward. With the schedule of Griewank and Walther (Algorithm
    799: Revolve, ACM Transactions on Mathematical Software 26, 2000), which needs the fewest steps
    for a number of snapshots, ``snapshots=20`` serves 10,000 steps with each of them run 4.8 times
    on average.

    Parameters
    ----------
    step : callable
        Takes a state and returns the next. It may write to the state that it gets. It may use other
        tensors, such as parameters, which get their gradients too; it must not write to them, nor
        store values that depend on the state elsewhere.
    state : Tensor, or tuple, list or dict
        The first state: a tensor, or tensors, numbers, strings and None in tuples, lists and dicts.
        The step works on a copy of it.
    steps : int
        How often to apply `step`.
    snapshots : int, optional
        How many states to keep in memory.
    schedule : callable, optional
        Instead of `snapshots`: takes the number of steps, and returns a schedule of the package
        ``checkpoint_schedules``, which may keep states on disk.
    folder : str or path, optional
        An existing folder, for a schedule that keeps states on disk. In it a folder is made for
        these states, which is removed with the graph.
    preserve_rng_state : bool, default True
        Whether steps that run again draw the same numbers from the default generator.
    determinism_check : {"default", "none"}, default "default"
        Whether to compare the steps that run again with the first time: their results, and what
        they save, by CRC-32 sums.

    Returns
    -------
    Tensor, or tuple, list or dict
        The last state, in tensors of its own. The first state itself if `steps` is 0.

    Raises
    ------
    MissingPackageError
        With `snapshots`, if the package ``checkpoint-schedules`` is not installed.
    ArgumentTypeError, ArgumentValueError
        If an argument has another type, or a value that makes no sense, or a state contains an
        object of another type.
    NotSupportedError
        If two tensors of a state share memory, a state has a tangent of forward mode, and requires
        grad or follows one without a tangent, or a step registers a hook on the node of the state
        that it gets, or on a tensor that it also returns. In backward, with ``create_graph=True``,
        or if it comes to a step from elsewhere than the result.
    CheckpointError
        In backward, if a step does not do the same when it runs again, for instance because a
        tensor that it uses was written since.

    Examples
    --------
    >>> rate = vt.tensor(0.1, requires_grad=True)
    >>> def cool(u):
    ...     u *= 1 - rate
    ...     return u
    >>> u = vt.utils.checkpoint.checkpoint_loop(cool, vt.tensor([100.0]), 1000, snapshots=5)
    >>> u.sum().backward()
    >>> rate.grad.isfinite()
    tensor(True)
    """
    count = count_of(steps, "steps", 0)
    make_schedule = maker_of(snapshots, schedule)
    if determinism_check not in ("default", "none"):
        raise ArgumentValueError(
            f"determinism_check must be 'default' or 'none', not {determinism_check!r}"
        )
    first = flatten(state, "the state of checkpoint_loop", copied=False)
    if count == 0:
        return state
    if any(map(has_tangent, first.tensors)):
        return cast("S", _with_tangents(cast("Callable[[object], object]", step), first, count))
    kept = Snapshot.of(first)
    work = kept.restored(random=False)
    if not is_recording():
        whole = work.whole()
        for _ in range(count):
            whole = step(cast("S", whole))
        return cast("S", whole)
    edges = collect_next_edges(*first.tensors)
    plan = LoopPlan(
        step=cast("Callable[[object], object]", step),
        steps=count,
        make_schedule=make_schedule,
        folder=None if folder is None else Path(folder),
        keeps_random_state=preserve_rng_state,
        checks=determinism_check == "default",
        needed=tuple([edge is not None for edge in edges]),
    )
    tape = Tape(plan, work)
    tape.run_forward(first=True)
    # From here on the tape does not hold the last state, whose tensors will refer to it.
    last, tape.state = tape.state, State((), tape.state.build)
    needed = plan.log.needed(count)
    if True in needed:
        metadata = tuple([metadata_of(x._impl)[0] for x in last.tensors])
        node = CheckpointLoopBackward.of(tape, kept, edges, metadata)
        for nr, tensor in enumerate(last.tensors):
            if needed[nr]:
                tensor._impl.autograd_meta = edge_to(node, nr)
    return cast("S", last.whole())


def _with_tangents(step: Callable[[object], object], state: State, count: int) -> object:
    """The plain loop, in forward mode: that keeps nothing for later.

    Raises
    ------
    NotSupportedError
        If a state requires grad: backward would need what only the tape keeps.
    """
    _refuse_recorded(state)
    whole = state.build([operators().clone(x) for x in state.tensors])
    for _ in range(count):
        whole = step(whole)
        _refuse_recorded(flatten(whole, RESULT, copied=False))
    return whole


def _refuse_recorded(state: State) -> None:
    if is_recording() and any(map(requires_grad, state.tensors)):
        raise NotSupportedError(
            "a state of checkpoint_loop has a tangent and requires grad: for tangents alone call "
            "it under no_grad(), and for both derivatives use a plain loop over the steps"
        )
