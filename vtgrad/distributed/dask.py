"""A cluster of Dask: shards are scattered once, and a call runs where its shard is.

Note [Shards of a cluster]

Each shard is sent to one worker and named by a future, and so are the function and, once a call and
worker, the parameters. A task for a shard depends on the three and may run on the shard's worker
alone. If that worker dies, the cluster forgets what was sent to it, and cancels the tasks that
depend on it: these shards are sent to the workers that are left or were started anew, as often as
`retries` says.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final, TypeAlias

from vtgrad.distributed.answers import Answer, Done, Failed
from vtgrad.distributed.ends import died, failed, listed
from vtgrad.distributed.picklable import refuse
from vtgrad.distributed.program import Program, Step, evaluate
from vtgrad.distributed.sent import Held, without_rest
from vtgrad.errors import ArgumentValueError

__all__ = ["Cluster", "client_of"]

# How often something is sent while workers come and go, and how long in between, in seconds.
_TRIES: Final = 40
_PAUSE: Final = 0.25

# Its futures are of no type that a checker knows.
Client: TypeAlias = Any
_Future: TypeAlias = Any


def client_of(executor: object) -> tuple[Client, list[str] | None] | None:
    """The client of a cluster, with the workers that it is limited to; None without a cluster.

    Parameters
    ----------
    executor : object
        What ``Client.get_executor()`` returns, or another executor.
    """
    kind = type(executor)
    if kind.__name__ != "ClientExecutor" or kind.__module__.split(".")[0] != "distributed":
        return None
    found: Client = executor
    limits = found._kwargs.get("workers")
    return found._client, [limits] if isinstance(limits, str) else limits


class Cluster:
    """A sum that a cluster of Dask computes.

    Parameters
    ----------
    client : distributed.Client
        It is not closed here.
    workers : list of str or None
        The addresses that shards may be sent to; None for all.
    program : Program
        What runs.
    shards : sequence of object
        The shards; they are kept for workers that have died.
    """

    def __init__(
        self,
        client: Client,
        workers: list[str] | None,
        program: Program,
        shards: Sequence[object],
    ) -> None:
        if client.asynchronous:
            raise ArgumentValueError(
                "the client is asynchronous, and a call waits for the sum: make it with "
                "asynchronous=False",
                argument="executor",
                value=client,
            )
        self._client = client
        self._limits = workers
        self._program = program
        self._shards = shards
        # By shard: where it is, and its future.
        self._places: dict[int, str] = {}
        self._futures: dict[int, _Future] = {}
        self._sent_program: _Future = None

    def run(self, step: Step, take: Callable[[Done], None], retries: int) -> None:
        """Compute all shards.

        Raises
        ------
        ShardError, NotPicklableError
            As `value_and_grad`.
        """
        call = _Call(self, step)
        try:
            self._begin(call, range(len(self._shards)))
            for future, answer in call.completed:
                number = call.tasks.pop(future, None)
                if number is None:
                    continue
                if isinstance(answer, Failed):
                    raise failed(answer)
                if isinstance(answer, Done):
                    take(answer)
                    continue
                retries -= 1
                lost, place = call.lost(number), self._places[number]
                self._forget(place)
                if retries < 0:
                    raise died(lost, _how(place, lost))
                self._begin(call, lost)
        except BaseException:
            self._client.cancel(list(call.tasks))
            raise

    def kill(self) -> None:
        """Have the cluster forget the shards."""
        self._places.clear()
        self._futures.clear()
        self._sent_program = None

    def _begin(self, call: _Call, shards: Sequence[int]) -> None:
        """Submit the tasks of some shards, after what they need was sent."""
        for tries_left in reversed(range(_TRIES)):
            try:
                self._place()
                call.send()
                break
            except (KeyError, OSError, ValueError):
                # The scheduler learns that a worker has ended while something is sent to it.
                if not tries_left:
                    raise
                time.sleep(_PAUSE)
        call.submit(shards)

    def _forget(self, place: str) -> None:
        """Forget what a worker had that has died; the only copy of the function may be with it."""
        for number in [n for n, other in self._places.items() if other == place]:
            del self._places[number], self._futures[number]
        self._sent_program = None

    def _place(self) -> None:
        """Send the shards that no worker has, each to the worker with the fewest."""
        live = self._live()
        for place in set(self._places.values()).difference(live):
            self._forget(place)
        counts = Counter(dict.fromkeys(live, 0))
        counts.update(self._places.values())
        new: dict[str, list[int]] = {}
        for number in range(len(self._shards)):
            if number not in self._places:
                place = min(live, key=counts.__getitem__)
                counts[place] += 1
                new.setdefault(place, []).append(number)
        for place, numbers in new.items():
            held = [Held(without_rest(self._shards[n])) for n in numbers]
            for number, future in zip(numbers, self._scatter(held, place), strict=True):
                self._places[number], self._futures[number] = place, future
        if new or self._sent_program is None:
            (self._sent_program,) = self._scatter([self._program], *self.used())

    def used(self) -> list[str]:
        """The workers that have shards."""
        return sorted(set(self._places.values()))

    def _live(self) -> list[str]:
        self._client.wait_for_workers(1)
        live = sorted(self._client.nthreads())
        if self._limits is not None:
            live = [worker for worker in live if worker in self._limits]
        if not live:
            raise ValueError("the cluster has no worker that shards may be sent to")
        return live

    def _scatter(self, things: Sequence[object], *places: str) -> list[_Future]:
        """Send objects to all of some workers."""
        try:
            found: list[_Future] = self._client.scatter(
                list(things), workers=list(places), broadcast=len(places) > 1, hash=False
            )
        except TypeError as error:  # what Dask says of an object that it cannot pickle
            refuse(error, "the function or a shard", self._program.function)
        return found


class _Call:
    """The tasks of one call.

    Attributes
    ----------
    tasks : dict
        The shard of each task that has not answered.
    completed : iterator
        Tasks with their answers, as they come; with an error, or None, where there is none.
    """

    def __init__(self, cluster: Cluster, step: Step) -> None:
        self._cluster = cluster
        self._step = step
        self._sent: _Future = None
        self.tasks: dict[_Future, int] = {}
        as_completed = import_module("distributed").as_completed
        self.completed = as_completed(with_results=True, raise_errors=False)

    def send(self) -> None:
        """Send the parameters, once to each worker."""
        (self._sent,) = self._cluster._scatter([self._step], *self._cluster.used())

    def submit(self, shards: Sequence[int]) -> None:
        """Begin with some shards; a worker computes its own in their order."""
        cluster = self._cluster
        for number in shards:
            future = cluster._client.submit(
                _evaluate,
                cluster._sent_program,
                self._sent,
                cluster._futures[number],
                number,
                workers=[cluster._places[number]],
                priority=-number,
                pure=False,
            )
            self.tasks[future] = number
            self.completed.add(future)

    def lost(self, number: int) -> list[int]:
        """The shards that are lost with one, whose tasks are not waited for any more."""
        places = self._cluster._places
        lost = [n for n in self.tasks.values() if places[n] == places[number]]
        self.tasks = {f: n for f, n in self.tasks.items() if n not in lost}
        return sorted([number, *lost])


def _evaluate(program: Program, step: Step, shard: Held[object], number: int) -> Answer:
    """Runs in a worker, on a thread of a pool."""
    alone = import_module("distributed").get_worker().state.nthreads == 1
    return evaluate(program, step, shard, number, alone=alone)


def _how(place: str, lost: Sequence[int]) -> str:
    return (
        f"the worker at {place} has ended before the results for {listed(lost)} had arrived. "
        "retries= has them computed by another one"
    )
