"""One run of a schedule: forward, then backward through the steps.

The actions are those of the package `checkpoint_schedules`. "Forward" runs steps, and keeps the
state before the first of them, or their graphs. "Copy" and "Move" bring kept data back. "Reverse"
runs the graphs of steps backward. "EndForward" stands between the two halves, "EndReverse" at the
end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from vtgrad.engine.current_graph_task import running
from vtgrad.engine.input_buffer import InputBuffer, buffer_of
from vtgrad.errors import CheckpointError, NotSupportedError
from vtgrad.graph.edge import Edge
from vtgrad.graph.input_metadata import InputMetadata
from vtgrad.graph.node import Node
from vtgrad.graph.set_history import requires_grad
from vtgrad.ops.view_impls import views as view_impls
from vtgrad.storage.mode import mode_of
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_state import changed, run_with
from vtgrad.tensor.subclass_methods import made_of
from vtgrad.utils.checkpoint.digest import Digests
from vtgrad.utils.checkpoint.recorded_step import (
    RESULT,
    RecordedStep,
    explore_again,
    explore_first,
    move,
    record,
)
from vtgrad.utils.checkpoint.rewound import is_rewound, rewound
from vtgrad.utils.checkpoint.schedule import Action, Schedule, storage_name
from vtgrad.utils.checkpoint.snapshots import Snapshot, Snapshots
from vtgrad.utils.checkpoint.state import KeptTensor, State, flatten
from vtgrad.utils.checkpoint.step_input import StepInput
from vtgrad.utils.checkpoint.step_log import StepLog
from vtgrad.views.differentiable_view_meta import view_meta_of

__all__ = ["LoopPlan", "Tape", "in_mode"]

R = TypeVar("R")


class LoopPlan:
    """What all runs of one loop have in common.

    Attributes
    ----------
    step : callable
        The step.
    steps : int
        How often it runs.
    make_schedule : callable
        Makes a schedule for a number of steps.
    folder : Path or None
        Where snapshots on disk are made.
    keeps_random_state : bool
        Whether backward draws the random numbers of forward.
    rewinds : bool
        Whether the loop was called where saved values may be overwritten.
    log : StepLog
        What the first run of each step has shown.
    digests : Digests or None
        Compares the steps of later runs with the first; None if they are not compared.
    captured : dict
        The edges that lead to values from outside of the steps.
    differentiates : bool
        Whether a step has run a backward itself, so that each run of a step must be recorded.
    """

    __slots__ = (
        "captured",
        "differentiates",
        "digests",
        "folder",
        "keeps_random_state",
        "log",
        "make_schedule",
        "rewinds",
        "step",
        "steps",
    )

    step: Callable[[object], object]
    steps: int
    make_schedule: Callable[[int], Schedule]
    folder: Path | None
    keeps_random_state: bool
    rewinds: bool
    log: StepLog
    digests: Digests | None
    captured: dict[tuple[Node, int], Edge]
    differentiates: bool

    def __init__(
        self,
        step: Callable[[object], object],
        steps: int,
        make_schedule: Callable[[int], Schedule],
        folder: Path | None,
        keeps_random_state: bool,
        checks: bool,
        needed: tuple[bool, ...],
    ) -> None:
        self.step = step
        self.steps = steps
        self.make_schedule = make_schedule
        self.folder = folder
        self.keeps_random_state = keeps_random_state
        self.rewinds = is_rewound()
        self.log = StepLog(needed)
        self.digests = Digests() if checks else None
        self.captured = {}
        self.differentiates = False


class Tape:
    """The state of one run of a schedule.

    Attributes
    ----------
    plan : LoopPlan
        The loop.
    schedule : Schedule
        Its actions, of which those that are left are not taken yet.
    snapshots : Snapshots
        The states that are kept.
    graphs : dict of int to RecordedStep
        The graphs that are kept, by step.
    state : State
        The state before step `number`, to which that step may write.
    number : int
        The step that `state` belongs to.
    """

    __slots__ = ("graphs", "number", "plan", "schedule", "snapshots", "state")

    plan: LoopPlan
    schedule: Schedule
    snapshots: Snapshots
    graphs: dict[int, RecordedStep]
    state: State
    number: int

    def __init__(self, plan: LoopPlan, state: State) -> None:
        """Start before the first step, in a state to which it may write."""
        self.plan = plan
        self.schedule = plan.make_schedule(plan.steps)
        self.snapshots = Snapshots(plan.folder)
        self.graphs = {}
        self.state = state
        self.number = 0

    def run_forward(self, *, first: bool) -> None:
        """Take the actions up to the end of the last step.

        Parameters
        ----------
        first : bool
            Whether this is the first run of the loop, of which the later ones are repetitions.
        """
        for action in self.schedule:
            kind = type(action).__name__
            if kind == "EndForward":
                break
            if kind != "Forward":
                raise _unknown(action)
            self._forward(action, first)
            if self.number == self.plan.steps and self.schedule.max_n is None:
                self.schedule.finalize(self.plan.steps)
        if self.number != self.plan.steps:
            raise NotSupportedError(
                f"the schedule ended forward before step {self.number} of {self.plan.steps}"
            )

    def run_backward(
        self,
        results: Sequence[InputBuffer],
        metadata: Sequence[InputMetadata],
        edges: Sequence[Edge | None],
        sums: dict[Node, InputBuffer],
    ) -> None:
        """Take the other actions.

        Parameters
        ----------
        results : sequence of InputBuffer
            The gradient of each tensor of the last state.
        metadata : sequence of InputMetadata
            Shape and dtype of each of these tensors.
        edges : sequence of Edge or None
            The producers of the tensors of the first state.
        sums : dict of Node to InputBuffer
            Collect the gradients of these and of values from outside of the steps.
        """
        left = self.plan.steps
        if self.plan.digests is not None:
            self.plan.digests.forget()
        for action in self.schedule:
            kind, args = type(action).__name__, action.args
            if kind == "EndReverse":
                break
            if kind == "Forward":
                self._forward(action, False)
            elif kind in ("Copy", "Move"):
                self._bring(args, moves=kind == "Move")
            elif kind == "Reverse":
                high, low, _clears = args
                assert isinstance(high, int)
                assert isinstance(low, int)
                if high != left:
                    raise _unknown(action)
                for number in range(high - 1, low - 1, -1):
                    recorded = self.graphs.pop(number)
                    state = buffer_of(recorded.inputs)
                    if number == 0 and _are_for(edges, recorded.inputs):
                        state = _sums_of(edges, sums, recorded.inputs)
                        edges = ()
                    recorded.run_backward(results, metadata, state, sums)
                    # Result 0 of the node belongs to no tensor.
                    results, metadata = state.more, recorded.inputs.input_metadata[1:]
                left = low
            else:
                raise _unknown(action)
        if left:
            raise NotSupportedError(f"the schedule ended backward before step {left - 1}")
        for edge, buffer, meta in zip(edges, results, metadata, strict=False):
            if edge is not None:
                node, nr = edge.function, edge.input_nr
                move(buffer, meta, sums[node].at(nr), node, nr)

    def check_saved(self) -> None:
        """Raise if a value that a kept graph has saved was overwritten, or a file was changed."""
        self.snapshots.check()
        for recorded in tuple(self.graphs.values()):
            recorded.check_saved()

    def _forward(self, action: Action, first: bool) -> None:
        start, end, keeps_state, keeps_graph, storage = action.args
        assert isinstance(start, int)
        assert isinstance(end, int)
        place = storage_name(storage)
        if start != self.number:
            raise _unknown(action)
        if keeps_graph and place == "DISK":
            raise NotSupportedError(
                "checkpoint_loop keeps states on disk, but graphs only in memory: choose the "
                "storage RAM for this schedule"
            )
        if keeps_state:
            self.snapshots.write(start, Snapshot.of(self.state), place == "DISK")
        while self.number < min(end, self.plan.steps):
            if first:
                self._first(bool(keeps_graph))
            elif keeps_graph:
                self._again()
            else:
                self._on()
            self.number += 1

    def _bring(self, args: tuple[object, ...], *, moves: bool) -> None:
        number, source, target = args
        assert isinstance(number, int)
        on_disk, goal = storage_name(source) == "DISK", storage_name(target)
        snapshot = self.snapshots.read(number, on_disk)
        if snapshot is not None:
            if goal == "WORK":
                self.state = snapshot.restored(self.plan.keeps_random_state)
                self.number = number
            elif goal != "NONE":
                self.snapshots.write(number, snapshot, goal == "DISK")
            if moves:
                self.snapshots.drop(number, on_disk)
        elif number not in self.graphs:
            raise NotSupportedError(f"the schedule reads step {number}, which was not kept")

    def _first(self, keeps_graph: bool) -> None:
        """Run a step for the first time: record it, to find what it needs."""
        plan, passes = self.plan, running.passes
        recorded, after = record(plan.step, self.state, plan.log.needed(self.number))
        if running.passes != passes:
            plan.differentiates = True
        explore_first(recorded)
        for edge in recorded.captured:
            plan.captured.setdefault((edge.function, edge.input_nr), edge)
        digest = 0 if plan.digests is None else plan.digests.of(recorded.nodes, after.tensors)
        plan.log.add(digest, tuple([root is not None for root in recorded.roots]))
        if keeps_graph:
            self.graphs[self.number] = recorded
        self.state = _without_history(after, recorded)

    def _recorded_again(self) -> tuple[RecordedStep, State]:
        plan, number = self.plan, self.number
        needed = plan.log.needed(number)
        with rewound(plan.rewinds):
            recorded, after = in_mode(True, lambda: record(plan.step, self.state, needed))
        explore_again(recorded, plan.captured, number)
        return recorded, after

    def _again(self) -> None:
        """Record a step once more."""
        plan, number = self.plan, self.number
        recorded, after = self._recorded_again()
        if tuple([root is not None for root in recorded.roots]) != plan.log.needed(number + 1) or (
            plan.digests is not None
            and plan.digests.of(recorded.nodes, after.tensors) != plan.log.digest(number)
        ):
            raise CheckpointError(
                f"step {number} of checkpoint_loop, run again for backward, did not compute what "
                "it computed at first: a tensor or variable that it uses was changed since, or it "
                "depends on random numbers of another generator, on time, or on how often it runs",
                step=number,
            )
        self.graphs[number] = recorded
        self.state = _without_history(after, recorded)

    def _on(self) -> None:
        """Run a step for its result only."""
        if self.plan.differentiates:
            recorded, after = self._recorded_again()
            self.state = _without_history(after, recorded)
            return
        step, before = self.plan.step, self.state
        with rewound(self.plan.rewinds):
            after = in_mode(False, lambda: flatten(step(before.whole()), RESULT))
        # Nothing was recorded: what requires grad is from outside.
        tensors = [_next_input(x, requires_grad(x)) for x in after.tensors]
        self.state = State(tuple(tensors), after.build)


def in_mode(recorded: bool, work: Callable[[], R]) -> R:
    """Call a function with recording on or off, outside of inference mode.

    States are made outside of that mode too: inference tensors could not be saved.
    """
    return run_with(changed(mode=mode_of(grad=recorded, inference=False)), work)


def _without_history(after: State, recorded: RecordedStep) -> State:
    """The state after a step as that before the next one."""
    captured = {(edge.function, edge.input_nr) for edge in recorded.captured}
    tensors = [
        _next_input(
            x,
            root is not None
            and (root.function is not recorded.inputs)
            and ((root.function, root.input_nr) in captured or view_meta_of(x) is not None),
        )
        for x, root in zip(after.tensors, recorded.roots, strict=True)
    ]
    return State(tuple(tensors), after.build)


def _next_input(tensor: TensorBase, is_from_outside: bool) -> TensorBase:
    """A tensor that a step has returned, as a tensor without history for the next step.

    The next step may write to it. So it is a copy if its memory may belong to a tensor of the user
    that requires grad, and otherwise another tensor on the same memory.
    """
    if is_from_outside:
        return KeptTensor.of(tensor).restored()
    return made_of(type(tensor), view_impls.alias(tensor._impl))


def _are_for(edges: Sequence[Edge | None], inputs: StepInput) -> bool:
    """Whether the first step may add to the sums of the outer run at once.

    Not if it has hooks on its state, which is a copy of the user's, nor if a sum has another shape.
    """
    if inputs.hooks is not None:
        return False
    return all(
        edge is None or edge.function.input_metadata[edge.input_nr].shape == meta.shape
        for edge, meta in zip(edges, inputs.input_metadata[1:], strict=True)
    )


def _sums_of(
    edges: Sequence[Edge | None], sums: dict[Node, InputBuffer], inputs: StepInput
) -> InputBuffer:
    """A buffer for the gradients of the first state whose parts are sums of the outer run."""
    parts = [
        InputBuffer(inputs) if edge is None else sums[edge.function].at(edge.input_nr)
        for edge in edges
    ]
    return InputBuffer(inputs, tuple(parts))


def _unknown(action: Action) -> NotSupportedError:
    return NotSupportedError(f"checkpoint_loop cannot follow a schedule with {action!r} here")
