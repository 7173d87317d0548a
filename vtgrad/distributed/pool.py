"""Processes of this machine that keep their shards.

Note [A pool of processes]

Each worker has its own connection and its own shards, number ``i`` belongs to worker ``i % n``. A
call sends the parameters to each worker once, and the workers answer shard by shard. What a
connection holds is always known: after a `Run` a worker sends answers and one `Idle`. A call that
ends early sends `CANCEL`, and the next one reads what is left up to `Idle` before it sends
anything; so neither end waits for the other with a full pipe. Where the state is not known, after
an interrupt or an error of a callback, all processes are killed, and the next call starts new ones.

A worker that dies has its end of the connection closed: the parent reads what the worker has sent,
and then the end. No process outlives the pool: workers are daemons, end when their connection is
closed, and a finalizer kills them when the pool is no longer used.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, cast

from vtgrad.distributed.answers import Done, Failed
from vtgrad.distributed.ends import UNGUARDED, died, failed, listed
from vtgrad.distributed.environment import limited_threads
from vtgrad.distributed.picklable import pickled
from vtgrad.distributed.program import Program, Step
from vtgrad.distributed.sent import Held, without_rest
from vtgrad.distributed.worker import CANCEL, Give, Idle, Run, serve
from vtgrad.errors import ArgumentValueError, ShardError

if TYPE_CHECKING:
    from multiprocessing.context import SpawnContext
    from multiprocessing.process import BaseProcess

__all__ = ["Pool"]


class _Worker:
    """One process, and what it still has to answer.

    Attributes
    ----------
    shards : sequence of int
        The shards that it keeps.
    todo : list of int
        Those of the current call without an answer, the one that it computes first.
    busy : bool
        Whether an `Idle` is still to come.
    process, connection
        None before the first start, and after `kill`.
    """

    def __init__(self, shards: Sequence[int]) -> None:
        self.shards = shards
        self.todo: list[int] = []
        self.busy = False
        self.process: BaseProcess | None = None
        self.connection: Connection | None = None

    def send(self, message: bytes) -> None:
        """Send a message; that the worker has died is seen when it is read from."""
        assert self.connection is not None
        with suppress(OSError):
            self.connection.send_bytes(message)

    def receive(self) -> object:
        """The next message; None if the worker has died."""
        assert self.connection is not None
        try:
            return pickle.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            return None

    def exit_code(self) -> int | None:
        """The exit code of a process that has closed its connection."""
        assert self.process is not None
        self.process.join(5)
        return self.process.exitcode

    def kill(self) -> None:
        """End the process at once, and wait for its end."""
        process, connection = self.process, self.connection
        if connection is not None:
            connection.close()
        if process is not None and process.pid is not None:
            process.kill()
            process.join()
        self.process = self.connection = None
        self.busy = False

    def forget(self) -> None:
        """Leave the process to the parent of this one, which is a fork."""
        if self.connection is not None:
            self.connection.close()
        self.process = self.connection = None
        self.busy = False


class Pool:
    """The processes of one sum.

    Parameters
    ----------
    program : Program
        What they run.
    shards : sequence of object
        The shards; they are kept for workers that are started again.
    count : int
        How many processes there are, at most one for each shard.
    start_method : str
        One of `multiprocessing`.
    threads : int or None
        How many threads the libraries of linear algebra have in a process; None says nothing.
    """

    def __init__(
        self,
        program: Program,
        shards: Sequence[object],
        count: int,
        start_method: str,
        threads: int | None,
    ) -> None:
        count = min(count, len(shards))
        self._program = program
        self._shards = shards
        # Another context has the same methods.
        self._context = cast("SpawnContext", multiprocessing.get_context(start_method))
        self._forks = start_method == "fork"
        # Refused here, before anything was started.
        self._blob = b"" if self._forks else pickled(program, "the function", program.function)
        self._threads = threads
        self._workers = [_Worker(range(n, len(shards), count)) for n in range(count)]
        self._lock = threading.Lock()
        # The thread that has the lock.
        self._owner: int | None = None
        self._pid = os.getpid()
        self._end = weakref.finalize(self, _kill_all, self._workers, self._pid)

    def run(self, step: Step, take: Callable[[Done], None], retries: int) -> None:
        """Compute all shards.

        Parameters
        ----------
        step : Step
            The call.
        take : callable
            Gets each answer on this thread.
        retries : int
            How often a worker that dies is replaced.

        Raises
        ------
        ShardError, MainGuardError, NotPicklableError
            As `value_and_grad`.
        ArgumentValueError
            If the thread that would wait is the one that computes.
        """
        self._after_fork()
        thread = threading.get_ident()
        if self._owner == thread and self._lock.locked():
            raise ArgumentValueError(
                "this sum is called while it is computed on the same thread, as by progress=: it "
                "would wait for itself",
                argument="self",
            )
        with self._lock:
            try:
                self._owner = thread
                self._start()
                self._run(step, take, retries)
            except ShardError:
                self._cancel()
                raise
            except BaseException:
                self.kill()
                raise
            finally:
                self._owner = None

    def kill(self) -> None:
        """End all processes at once."""
        _kill_all(self._workers, self._pid)

    def _after_fork(self) -> None:
        """In a fork the workers are those of the parent, and another thread may have the lock."""
        pid = os.getpid()
        if self._pid != pid:
            for worker in self._workers:
                worker.forget()
            self._lock = threading.Lock()
            self._end.detach()
            self._end = weakref.finalize(self, _kill_all, self._workers, pid)
            self._pid = pid

    def _start(self) -> None:
        """Start what does not run, and read what an earlier call has left."""
        for worker in self._workers:
            while worker.busy and worker.connection is not None:
                message = worker.receive()
                worker.busy = message is not None and not isinstance(message, Idle)
            if worker.process is not None and not worker.process.is_alive():
                worker.kill()
        self._open([worker for worker in self._workers if worker.connection is None])

    def _open(self, workers: Sequence[_Worker]) -> None:
        """Start the processes of some workers, which begin side by side, and send their shards."""
        with limited_threads(None if self._forks else self._threads):
            for worker in workers:
                self._begin(worker)
        if self._forks:
            return
        for worker in workers:
            worker.send(self._blob)
            for number in worker.shards:
                give = Give(number, Held(without_rest(self._shards[number])))
                worker.send(pickled(give, f"shard {number}"))

    def _begin(self, worker: _Worker) -> None:
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            # This process imports its main module, which has no guard. Its parent reads the code.
            raise SystemExit(UNGUARDED)
        ours, theirs = self._context.Pipe()
        inherited: list[Connection] = []
        program: Program | None = None
        shards: dict[int, Held[object]] = {}
        if self._forks:
            open_ends = [other.connection for other in self._workers]
            inherited = [ours, *[end for end in open_ends if end is not None]]
            program = self._program
            shards = {number: Held(self._shards[number]) for number in worker.shards}
        worker.connection = ours
        process = self._context.Process(
            target=serve,
            args=(theirs, inherited, program, shards),
            name="vtgrad.distributed",
            daemon=True,
        )
        worker.process = process
        process.start()
        theirs.close()

    def _run(self, step: Step, take: Callable[[Done], None], retries: int) -> None:
        everything = pickled(Run(step, None), "the parameters")
        for worker in self._workers:
            _ask(worker, everything, worker.shards)
        unanswered = list(self._workers)
        while unanswered:
            for worker, message in _messages(unanswered):
                if isinstance(message, Done):
                    worker.todo.remove(message.shard)
                    take(message)
                elif isinstance(message, Idle):
                    worker.busy = False
                    unanswered.remove(worker)
                elif isinstance(message, Failed):
                    raise failed(message)
                else:
                    retries -= 1
                    self._replace(worker, step, retries)

    def _replace(self, worker: _Worker, step: Step, retries: int) -> None:
        """Start a worker that has died again, if that is allowed."""
        todo = list(worker.todo)
        code = worker.exit_code()
        worker.kill()
        if retries < 0 or code == UNGUARDED:
            raise died(todo, _how(todo, code), code)
        self._open([worker])
        _ask(worker, pickled(Run(step, todo), "the parameters"), todo)

    def _cancel(self) -> None:
        for worker in self._workers:
            if worker.busy and worker.connection is not None:
                worker.send(CANCEL)


def _ask(worker: _Worker, message: bytes, shards: Sequence[int]) -> None:
    worker.todo = list(shards)
    worker.busy = True
    worker.send(message)


def _messages(workers: Sequence[_Worker]) -> Iterator[tuple[_Worker, object]]:
    """One message of each worker that has sent one or has died, which is None; waits for the first.

    That a process has ended is also seen where one of its children keeps the connection open.
    """
    ends: dict[Any, _Worker] = {}
    for worker in workers:
        assert worker.connection is not None
        assert worker.process is not None
        ends[worker.connection] = ends[worker.process.sentinel] = worker
    found = wait(list(ends))
    for worker in {ends[end]: None for end in found}:
        assert worker.connection is not None
        readable = worker.connection in found or worker.connection.poll()
        yield worker, worker.receive() if readable else None


def _how(todo: Sequence[int], code: int | None) -> str:
    """The end of a process in words."""
    if code is not None and code < 0:
        end = f"was ended by signal {-code}"
    else:
        end = f"has ended with exit code {code}"
    doing = (
        f"at shard {todo[0]}; it had not finished {listed(todo)}" if todo else "after its shards"
    )
    return f"a worker {end} {doing}. retries= has it replaced"


def _kill_all(workers: Sequence[_Worker], pid: int) -> None:
    """End the processes, in the process that has started them."""
    if os.getpid() == pid:
        for worker in workers:
            worker.kill()
