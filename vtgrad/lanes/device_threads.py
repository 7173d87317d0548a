"""The threads of lanes, and the queues that they take nodes from. This file is never compiled.

Note [Threads of lanes]

A pass whose nodes are on lanes has one ready queue for each lane and one for all else. The nodes of
a lane run on the thread of that lane, the others on the thread that called backward. All passes of
the process share the thread of a lane.

A lane has a thread while a pass uses the lane: `start_threads` starts it, and when the last of
these passes is over it ends, before that pass returns. So no thread stays behind, idle or not.

A thread of a lane never waits for another thread's nodes: a backward that is called there, by a
hook for example, runs all its nodes there, in the order of one thread (Note [The order of one
thread]). Only a thread that is not a lane's waits for lanes. So no two threads wait for each other.

All that threads share is changed under `lanes_lock`, for short: no arithmetic runs under it, and of
user code only what may run anywhere, signal handlers and finalizers. The lock is reentrant for
them, and a backward that they call runs all its nodes on their thread: that of a lane could not
take the lock. It is held across a fork. In the child of a fork there are no threads of lanes; they
are started again when a pass needs them. A pass whose nodes were on such a thread at that moment is
lost in the child: it raises `ForkedPassError` there. A pass that waits for the end of such a thread
is woken.
"""

from __future__ import annotations

import threading
from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Callable, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final, ParamSpec, Protocol, TypeVar

from vtgrad.engine.current_graph_task import running
from vtgrad.engine.helper_thread import stop_helper_of
from vtgrad.engine.signals import acquire_watchfully, look_for_signals
from vtgrad.engine.signals import this_thread as for_signals
from vtgrad.storage.device import Device
from vtgrad.storage.no_fp_warnings import KernelRunner
from vtgrad.storage.thread_state import after_fork, as_worker, own, part_of_thread

if TYPE_CHECKING:
    from vtgrad.engine.graph_task import GraphTask
    from vtgrad.engine.input_buffer import InputBuffer

__all__ = [
    "NodeTask",
    "QuietRunner",
    "SharedReadyQueue",
    "has_lanes_lock",
    "is_quiet",
    "lanes_lock",
    "leave_threads",
    "queue_of",
    "runs_on_lanes",
    "start_threads",
    "this_worker",
    "thread_main",
]

P = ParamSpec("P")
R = TypeVar("R")

lanes_lock: threading.RLock = threading.RLock()


def has_lanes_lock() -> bool:
    """Whether the calling thread has the lock: a signal handler or finalizer runs inside."""
    owned: bool = lanes_lock._is_owned()  # type: ignore[attr-defined]  # as `Condition` asks
    return owned


class _ThisWorker:
    """See Note [The state of a thread].

    Attributes
    ----------
    device : Device or None
        The lane whose thread this is; None for all other threads.
    """

    device: Device | None = own(None)


this_worker: _ThisWorker = part_of_thread(_ThisWorker)


class QuietRunner:
    """Runs arithmetic with floating-point warnings off, in the context of the thread it is on."""

    __slots__ = ("_own",)

    _own: KernelRunner

    def __init__(self, own: KernelRunner) -> None:
        """Keep the runner of the thread that has called backward."""
        self._own = own

    def __call__(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function; its result."""
        runner = self._own if this_worker.device is None else running.quietly
        return runner(function, *args, **kwargs)


class RunOnLanes(Protocol):
    """What threads need of the run of a pass, which is a `LaneRun`.

    Attributes
    ----------
    task : GraphTask
        The pass.
    own_queue : SharedReadyQueue
        The nodes that run on the thread that called backward.
    is_lost : bool
        Whether a fork has taken the threads away.
    """

    task: GraphTask
    own_queue: SharedReadyQueue
    is_lost: bool

    def is_over(self) -> bool:
        """Whether nothing is left to run. Called under `lanes_lock`."""
        ...

    def take_turn(self, inputs: InputBuffer, queue: SharedReadyQueue) -> None:
        """Run a node that `queue` has given."""
        ...


class NodeTask:
    """A node that can run, and the pass that it belongs to.

    Attributes
    ----------
    base : RunOnLanes or None
        The run of the pass; None to end the thread that gets this.
    inputs : InputBuffer or None
        The node's gradients.
    waiter : SharedReadyQueue or None
        The queue of the thread that waits for the end of the thread that gets this.
    """

    __slots__ = ("base", "inputs", "waiter")

    base: RunOnLanes | None
    inputs: InputBuffer | None
    waiter: SharedReadyQueue | None

    def __init__(
        self,
        base: RunOnLanes | None,
        inputs: InputBuffer | None,
        waiter: SharedReadyQueue | None = None,
    ) -> None:
        self.base = base
        self.inputs = inputs
        self.waiter = waiter


class SharedReadyQueue:
    """A ready queue that other threads push to.

    Attributes
    ----------
    device : Device
        The device whose nodes it takes.
    running : RunOnLanes or None
        The run of the node that the queue's thread is at.
    users : set of RunOnLanes
        The passes that use the lane.
    started : list of int
        The lane's thread, once it is started.
    ident : int
        That thread, once it runs; 0 before.
    """

    __slots__ = ("_heap", "_ties", "_wake", "device", "ident", "running", "started", "users")

    device: Device
    ident: int
    running: RunOnLanes | None
    users: set[RunOnLanes]
    started: list[int]
    _heap: list[tuple[int, int, NodeTask]]
    _ties: int
    _wake: LockType

    def __init__(self, device: Device) -> None:
        self.device = device
        self.ident = 0
        self.running = None
        self.users = set()
        self.started = []
        self._heap = []
        self._ties = 0
        self._wake = allocate_lock()
        self._wake.acquire()

    def push(self, task: NodeTask) -> None:
        """Add a node that is ready, and wake the thread. Called under `lanes_lock`."""
        base, inputs = task.base, task.inputs
        self._ties += 1
        if base is None or inputs is None:
            # After all nodes.
            heappush(self._heap, (2, self._ties, task))
        else:
            base.task.outstanding_tasks += 1
            heappush(self._heap, (-inputs.function.sequence_nr, self._ties, task))
        self.wake()

    def pop(self, own: RunOnLanes | None) -> NodeTask | None:
        """Wait for the next node.

        Parameters
        ----------
        own : RunOnLanes or None
            The pass that the calling thread has begun: without a node the end of that pass is
            waited for as well. None on the thread of a lane.

        Returns
        -------
        NodeTask or None
            None if the pass is over.
        """
        while True:
            with lanes_lock:
                if self._heap:
                    task = heappop(self._heap)[2]
                    self.running = task.base
                    return task
                if own is not None and own.is_over():
                    return None
            self.wait()
            if own is not None:
                look_for_signals()

    def wait(self) -> None:
        """Wait until `wake` is called."""
        acquire_watchfully(self._wake)

    def wake(self) -> None:
        """Let the thread look for what has changed. Called under `lanes_lock`."""
        if self._wake.locked():
            self._wake.release()

    def wake_up(self) -> None:
        """As `wake`, for a thread that does not have the lock."""
        with lanes_lock:
            self.wake()

    def has_nodes_of(self, run: RunOnLanes) -> bool:
        """Whether a node of a pass waits or runs here. Called under `lanes_lock`."""
        return self.running is run or any(task.base is run for _, _, task in self._heap)

    def drop(self, run: RunOnLanes) -> None:
        """Remove the nodes of a pass that wait here. Called under `lanes_lock`."""
        self._heap = [entry for entry in self._heap if entry[2].base is not run]
        self._heap.sort()

    def shut_down(self, task: NodeTask) -> bool:
        """Whether the thread of the queue ends: not if another pass has come to use the lane."""
        with lanes_lock:
            over = not self.users
            if over and _queues.get(self.device) is self:
                del _queues[self.device]
            # Several passes may have left the lane at once, and each waits for the end.
            asked = [task, *(entry[2] for entry in self._heap)] if over else [task]
            for each in asked:
                if each.waiter is not None:
                    each.waiter.wake()
            return over


# The queues of lanes that passes use at this moment.
_queues: Final[dict[Device, SharedReadyQueue]] = {}
# The passes on lanes that this process is at.
runs_on_lanes: Final[set[RunOnLanes]] = set()


def start_threads(run: RunOnLanes, devices: Sequence[Device]) -> None:
    """Give each lane that a pass uses a thread, if it has none."""
    with lanes_lock:
        runs_on_lanes.add(run)
        for device in devices:
            queue_of(run, device)


def queue_of(run: RunOnLanes, device: Device) -> SharedReadyQueue:
    """The queue of a lane, whose thread is running. Called under `lanes_lock`."""
    queue = _queues.get(device)
    if queue is None:
        queue = _queues[device] = SharedReadyQueue(device)
    queue.users.add(run)
    if not queue.started:
        # One call of a C function, after which `started` shows whether there is a thread.
        queue.started.extend(map(start_new_thread, (as_worker,), ((partial(thread_init, queue),),)))
    return queue


def is_quiet(run: RunOnLanes) -> bool:
    """Whether no node of a pass waits or runs on a lane. Called under `lanes_lock`."""
    return not any(queue.has_nodes_of(run) for queue in _queues.values())


def leave_threads(run: RunOnLanes) -> None:
    """Wait until a pass has no node on a lane, and end the threads that only it has used.

    May be interrupted, and called again until the pass is in `runs_on_lanes` no more.
    """
    while True:
        with lanes_lock:
            for queue in _queues.values():
                queue.drop(run)
                if queue.running is run:
                    stop_helper_of(queue.ident)
            if is_quiet(run):
                break
        run.own_queue.wait()
    while True:
        is_waiting = False
        with lanes_lock:
            # After a failure nodes wait that nothing runs.
            run.own_queue.drop(run)
            for device, queue in tuple(_queues.items()):
                queue.users.discard(run)
                if not queue.users and queue.started:
                    queue.push(NodeTask(None, None, run.own_queue))
                    is_waiting = True
                elif not queue.users:
                    del _queues[device]
        if not is_waiting:
            break
        run.own_queue.wait()
    runs_on_lanes.discard(run)


def thread_init(queue: SharedReadyQueue) -> None:
    """Run the nodes of a lane; the function that its thread runs."""
    this_worker.device = queue.device
    queue.ident = threading.get_ident()
    thread_main(queue, None)


def thread_main(queue: SharedReadyQueue, own: RunOnLanes | None) -> None:
    """Run nodes from a queue, until a task without a pass ends the thread, or `own` is over.

    Parameters
    ----------
    queue : SharedReadyQueue
        That of the thread.
    own : RunOnLanes or None
        The pass that the calling thread has begun; None on the thread of a lane.
    """
    order = None if own is None else for_signals.order
    if order is None:
        _run_nodes(queue, own)
        return
    # Set while this thread waits for lanes, as a pass inside another one does.
    before = order.wake
    try:
        order.wake = queue.wake_up
        _run_nodes(queue, own)
    finally:
        order.wake = before


def _run_nodes(queue: SharedReadyQueue, own: RunOnLanes | None) -> None:
    """As `thread_main`, on a thread that can be stopped."""
    while (task := queue.pop(own)) is not None:
        base, inputs = task.base, task.inputs
        if base is None or inputs is None:
            if queue.shut_down(task):
                return
            continue
        if own is not None:
            look_for_signals()
        base.take_turn(inputs, queue)
        if own is None and base.is_lost:
            # User code has forked the process, and this is the child.
            return
        # An idle thread holds no graph.
        del task, base, inputs


def _forget_threads() -> None:
    """Forget the threads that the child of a fork does not have."""
    own = threading.get_ident()
    queues = tuple(_queues.values())
    _queues.clear()
    for run in tuple(runs_on_lanes):
        if run.task.owner != own:
            run.is_lost = True
            runs_on_lanes.discard(run)
        else:
            # A child may fork before its lost pass has raised.
            run.is_lost = run.is_lost or any(queue.has_nodes_of(run) for queue in queues)
            run.own_queue.wake()
    lanes_lock.release()


after_fork(_forget_threads, before=lanes_lock.acquire, in_parent=lanes_lock.release)
