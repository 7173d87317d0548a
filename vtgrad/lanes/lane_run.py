# Compiled by mypyc.
"""The loop over arrays of a pass on lanes: several threads run its nodes.

See Note [Threads of lanes], and Note [The order of one thread] for what makes the result that of
one thread.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Final, TypeAlias

from vtgrad.engine.array_run import Answer, ArrayRun, is_sole, taken_apart
from vtgrad.engine.current_graph_task import running
from vtgrad.engine.evaluate_function import calls_users_code, evaluate_function
from vtgrad.engine.graph_task import GraphTask
from vtgrad.engine.input_buffer import InputBuffer, buffer_of
from vtgrad.engine.run import Runner
from vtgrad.engine.validate import fit_array, wrong_count
from vtgrad.errors import ForkedPassError
from vtgrad.graph.accumulate_grad import AccumulateGrad
from vtgrad.graph.hooks import next_hook_id
from vtgrad.graph.node import FRESH, PASSED, SHARED, Node
from vtgrad.graph.region import Gradient
from vtgrad.lanes.device_threads import (
    NodeTask,
    QuietRunner,
    SharedReadyQueue,
    has_lanes_lock,
    is_quiet,
    lanes_lock,
    leave_threads,
    queue_of,
    runs_on_lanes,
    start_threads,
    this_worker,
    thread_main,
)
from vtgrad.lanes.lane_order import LaneOrder
from vtgrad.lanes.owner_state import OwnerState
from vtgrad.storage.device import CPU, Device
from vtgrad.storage.no_fp_warnings import KernelRunner
from vtgrad.storage.rewind import saves_observed
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_state import Settings

__all__ = ["LaneRun", "LaneRunner", "devices_of", "run_on_lanes"]

# The number of a result, and what is added to its gradient, each part with whether it is owned.
_Parts: TypeAlias = tuple[int, Sequence[tuple[Gradient, bool]]]

# A position after all nodes.
_NEVER: Final = 2**62


def devices_of(task: GraphTask) -> list[Device]:
    """The lanes that nodes of a task are on."""
    found: dict[Device, None] = {}
    for node in task.dependencies:
        for meta in node.input_metadata:
            if meta.device is not CPU:
                found[meta.device] = None
    return list(found)


class _Arrivals:
    """The gradients of a node in the order of their turns.

    Attributes
    ----------
    early : dict of int to tuple
        Gradients that were not added yet, by turn: the number of the result, and what is to be
        added, each with whether it is owned.
    next_turn : int
        The turn of the gradient that is added next.
    total : int
        The number of turns.
    is_adding : bool
        Whether a thread is adding what has come.
    """

    __slots__ = ("early", "is_adding", "next_turn", "total")

    early: dict[int, _Parts]
    next_turn: int
    total: int
    is_adding: bool

    def __init__(self, total: int) -> None:
        self.early = {}
        self.next_turn = 0
        self.total = total
        self.is_adding = False


class LaneRun(ArrayRun):
    """A run whose nodes are on several devices.

    Attributes
    ----------
    order : LaneOrder
        The order of one thread.
    devices : list of Device
        The lanes of the nodes.
    own_queue : SharedReadyQueue
        The nodes that run on the thread that called backward.
    state : OwnerState
        What the threads of lanes take over from that thread.
    is_lost : bool
        Whether a fork has taken the threads away; see Note [Threads of lanes].
    """

    __slots__ = (
        "_arrivals",
        "_barrier",
        "_barriers",
        "_completed",
        "_failed_at",
        "_held",
        "_newest_hook",
        "devices",
        "is_lost",
        "order",
        "own_queue",
        "state",
    )

    order: LaneOrder
    devices: list[Device]
    quietly: KernelRunner
    own_queue: SharedReadyQueue
    state: OwnerState
    is_lost: bool
    _arrivals: dict[Node, _Arrivals]
    # The position of the next node that calls user code, and of those after it, the last first.
    _barrier: int
    _barriers: list[int]
    # How many nodes are done, and the position of the first that has failed.
    _completed: int
    _failed_at: int
    # Nodes that are ready, but must wait for user code, by position.
    _held: list[tuple[int, InputBuffer]]
    _newest_hook: int

    def __init__(
        self, task: GraphTask, answer: list[TensorBase | None], devices: list[Device]
    ) -> None:
        super().__init__(task, answer, None)
        self.devices = devices
        self.quietly = QuietRunner(self.quietly)
        self.own_queue = SharedReadyQueue(CPU)
        self.state = OwnerState()
        task.owner = self.state.ident
        self.is_lost = False
        self._arrivals = {}
        self._completed = 0
        self._failed_at = _NEVER
        self._held = []

    def begin(self, gradients: Sequence[TensorBase]) -> None:
        """Enter the gradients of the roots, find the order, and let the first nodes run."""
        self.enter(gradients)
        ready: list[InputBuffer] = []
        while (buffer := self.queue.pop()) is not None:
            ready.append(buffer)
        self.order = LaneOrder(self.task, ready)
        self._find_barriers(-1)
        start_threads(self, self.devices)
        for buffer in ready:
            self._schedule(buffer)

    # -- which node may run --------------------------------------------------------------------

    def _find_barriers(self, after: int) -> None:
        """Find the nodes behind a position whose turn calls user code."""
        self._newest_hook = next_hook_id()
        nodes = self.order.nodes
        self._barriers = [
            nr for nr in range(len(nodes) - 1, after, -1) if calls_users_code(nodes[nr])
        ]
        self._barrier = self._barriers.pop() if self._barriers else _NEVER

    def _schedule(self, buffer: InputBuffer) -> None:
        """Let a node run that has all its gradients, now or after user code."""
        with lanes_lock:
            heappush(self._held, (self.order.position[buffer.function], buffer))
            self._release()

    def _release(self) -> None:
        """Push the nodes that may run now. Called under `lanes_lock`."""
        held = self._held
        while held:
            position = held[0][0]
            if position > self._barrier or (
                position == self._barrier and self._completed < position
            ):
                return
            buffer = heappop(held)[1]
            if position <= self._failed_at and not self.is_lost:
                device = buffer.device
                queue = self.own_queue if device is CPU else queue_of(self, device)
                queue.push(NodeTask(self, buffer))

    def _complete(self, position: int) -> None:
        """Count a node that is done."""
        with lanes_lock:
            self._completed += 1
            if position == self._barrier:
                if next_hook_id() != self._newest_hook + 1:
                    self._find_barriers(position)
                else:
                    self._newest_hook += 1
                    self._barrier = self._barriers.pop() if self._barriers else _NEVER
            self._release()

    def fail(self, position: int, error: BaseException) -> None:
        """Keep the error of a node if it is the first in the order of one thread."""
        with lanes_lock:
            if position < self._failed_at:
                self._failed_at = position
                self.task.exception = error

    def stop(self) -> None:
        """Let no node begin any more, and user code stop where it looks for signals."""
        self.state.order.stop = True
        self._failed_at = -1

    def is_over(self) -> bool:
        """Whether no node runs or will run. Called under `lanes_lock`."""
        if self.is_lost or self.task.outstanding_tasks == 0:
            return True
        return self._failed_at < _NEVER and is_quiet(self)

    # -- the turn of a node --------------------------------------------------------------------

    def take_turn(self, inputs: InputBuffer, queue: SharedReadyQueue) -> None:
        """Run a node on the calling thread; its error is kept."""
        position = self.order.position[inputs.function]
        try:
            if position <= self._failed_at:
                if this_worker.device is None:
                    self._evaluate(inputs, position)
                else:
                    self.state.run_on_lane(self._evaluate, inputs, position)
                self._complete(position)
        except Exception as error:  # noqa: BLE001  # raised on the calling thread
            self.fail(position, error)
        except BaseException as error:
            self.fail(position, error)
            if this_worker.device is None:
                # An interrupt, which does not wait for what comes before the node.
                raise
        with lanes_lock:
            queue.running = None
            self.task.outstanding_tasks -= 1
            if self.is_over():
                self.own_queue.wake()

    def _evaluate(self, inputs: InputBuffer, position: int) -> None:
        node, task = inputs.function, self.task
        if node.hooks is not None or node in task.captures or not task.will_run(node):
            self._observed(inputs, position)
        elif not isinstance(node, AccumulateGrad):
            self.quietly(self._run_plain, node, inputs)
        elif node.cell.post_accumulate is not None:
            self._observed(inputs, position)
        else:
            self.accumulate(node, inputs)

    def _observed(self, inputs: InputBuffer, position: int) -> None:
        self.state.call_users_code(
            evaluate_function, self, inputs, is_alone=position == self._barrier
        )

    def _run_plain(self, node: Node, inputs: InputBuffer) -> None:
        answers, ownership = self.apply(node, inputs)
        self.hand_on(node, answers, ownership, inputs.owned)

    def hand_on(
        self, node: Node, answers: Sequence[Answer], ownership: Sequence[int], was_owned: bool
    ) -> None:
        """As `ArrayRun.hand_on`, in the order of one thread."""
        edges = node.next_edges
        if len(answers) != len(edges):
            raise wrong_count(node, len(answers))
        if was_owned and len(edges) == 2 and answers[0] is answers[1]:
            answers, ownership = taken_apart(node, answers, ownership)
        turns = self.order.turns[node]
        for nr, edge in enumerate(edges):
            if edge is None or turns[nr] < 0:
                continue
            meta = edge.function.input_metadata[edge.input_nr]
            answer = answers[nr]
            parts: list[tuple[Gradient, bool]] = []
            if answer is not None:
                kind = ownership[nr] if nr < len(ownership) else SHARED
                owned = kind == FRESH or (
                    kind == PASSED and was_owned and is_sole(answers, edges, nr)
                )
                fitted = fit_array(answer, meta, node, nr)
                parts.append((fitted, owned or fitted is not answer))
            self._deliver(edge.function, turns[nr], edge.input_nr, parts)

    # -- sums ----------------------------------------------------------------------------------

    def _deliver(
        self, node: Node, turn: int, nr: int, parts: Sequence[tuple[Gradient, bool]]
    ) -> None:
        """Add a gradient of result `nr` when its turn has come, and those that wait for it."""
        waiting = self.task.not_ready
        with lanes_lock:
            arrivals = self._arrivals.get(node)
            if arrivals is None:
                arrivals = self._arrivals[node] = _Arrivals(self.task.dependencies[node])
            arrivals.early[turn] = nr, parts
            if arrivals.is_adding:
                return
            arrivals.is_adding = True
            buffer = waiting.get(node)
            if buffer is None:
                buffer = waiting[node] = buffer_of(node)
        while (found := _next_in_turn(arrivals)) is not None:
            number, gradients = found
            slot, meta = buffer.at(number), node.input_metadata[number]
            for part, owned in gradients:
                slot.add(part, owned, meta)
            if arrivals.next_turn == arrivals.total:
                del waiting[node], self._arrivals[node]
                self._schedule(buffer)
                return

    def _fill(self) -> None:
        """As `ArrayRun._fill`, in the order of one thread."""
        position = self.order.position
        self.leaves.sort(key=lambda kept: position[kept[0]])
        super()._fill()


def _next_in_turn(arrivals: _Arrivals) -> _Parts | None:
    """The gradient whose turn it is; None if it has not come, and then nothing is added."""
    with lanes_lock:
        found = arrivals.early.pop(arrivals.next_turn, None)
        if found is None:
            arrivals.is_adding = False
        else:
            arrivals.next_turn += 1
        return found


def run_on_lanes(run: LaneRun, gradients: Sequence[TensorBase]) -> None:
    """Run every node of a run's task, those of lanes on the threads of the lanes.

    Raises
    ------
    ForkedPassError
        In the child of a fork that has taken the threads away.
    """
    try:
        run.begin(gradients)
        thread_main(run.own_queue, run)
        leave_threads(run)
    except BaseException:
        # Another interrupt changes nothing: the threads must be left before this one continues.
        while run in runs_on_lanes:
            try:
                run.stop()
                leave_threads(run)
            except BaseException:  # noqa: BLE001  # the first interrupt is raised below
                continue
        # Its traceback leads to this run.
        run.task.exception = None
        raise
    error = run.task.exception
    run.task.exception = None
    if run.is_lost:
        raise ForkedPassError(
            "the process was forked while nodes of this backward ran on threads of lanes, which "
            "the child of a fork does not have"
        )
    if error is not None:
        try:
            raise error
        finally:
            del error
    run.fill_leaves()


class LaneRunner(Runner):
    """Runs the passes that have nodes on lanes; see Note [Threads of lanes]."""

    __slots__ = ()

    def takes(self, task: GraphTask) -> bool:
        """See `Runner`."""
        return (
            running.multithreading
            and this_worker.device is None
            and not has_lanes_lock()
            # A finalizer may call backward when the interpreter ends: no new thread runs then.
            and not sys.is_finalizing()
            and not saves_observed.reasons
            and bool(devices_of(task))
        )

    def run(
        self,
        task: GraphTask,
        answer: list[TensorBase | None],
        gradients: Sequence[TensorBase],
    ) -> None:
        """See `Runner`."""
        run_on_lanes(LaneRun(task, answer, devices_of(task)), gradients)

    def handed_on(self, settings: Settings) -> Settings:
        """See `Runner`: the lane of this thread. It waits with the lock of lanes if it has it."""
        multithreading = running.multithreading and not has_lanes_lock()
        return settings.but(device=this_worker.device, multithreading=multithreading)
