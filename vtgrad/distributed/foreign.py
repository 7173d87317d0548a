"""Any executor of `concurrent.futures`: its workers have no names, and keep shards by a key.

Note [Shards by key]

An executor does not say which of its workers runs a call. So a worker keeps what it gets for a sum
under the key of the sum. The first call has the shards with it; a later one has the numbers alone,
and a worker that does not have one of the shards answers which. These are sent again, with the
call. After a few calls each worker has what it is asked for.

A worker keeps up to `LIMIT` sums, of which it forgets the oldest: what is missing is sent again.
"""

from __future__ import annotations

import os
import pickle
import secrets
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from threading import current_thread, main_thread
from typing import Final, NamedTuple

from vtgrad.distributed.answers import Answer, Done, Failed
from vtgrad.distributed.ends import died, failed, listed
from vtgrad.distributed.picklable import pickled, refuse
from vtgrad.distributed.program import Program, Step, evaluate
from vtgrad.distributed.sent import Held, without_rest

__all__ = ["LIMIT", "Foreign"]

# How many sums a worker keeps.
LIMIT: Final = 8


class _Kept:
    """What a worker keeps of one sum.

    Attributes
    ----------
    program : Program or None
        None until it was sent.
    shards : dict of int to Held
        The shards by their numbers.
    cancelled : set of int
        The numbers of calls that were given up by a caller in this process.
    """

    def __init__(self) -> None:
        self.program: Program | None = None
        self.shards: dict[int, Held[object]] = {}
        self.cancelled: set[int] = set()


_kept: Final[dict[str, _Kept]] = {}


def _kept_for(key: str) -> _Kept:
    """What this process keeps under a key; threads may call it at once."""
    found = _kept.get(key)
    if found is None:
        found = _kept.setdefault(key, _Kept())
        while len(_kept) > LIMIT:
            _kept.pop(next(iter(_kept)), None)
    return found


class _Group(NamedTuple):
    """One call of a worker.

    Attributes
    ----------
    key : str
        The key of the sum.
    number : int
        That of the step.
    step : bytes
        The step, pickled once for all groups.
    shards : sequence of int
        The shards to compute.
    program : Program or None
        None if the worker should have it.
    sent : mapping of int to Held
        The shards that it need not have.
    caller : int
        The process that asks.
    """

    key: str
    number: int
    step: bytes
    shards: Sequence[int]
    program: Program | None
    sent: Mapping[int, Held[object]]
    caller: int


class _Found(NamedTuple):
    """What a worker answers.

    Attributes
    ----------
    answers : list of Answer
        Those for the shards that it has.
    missing : list of int
        The others.
    """

    answers: list[Answer]
    missing: list[int]


def _compute(group: _Group) -> _Found:
    """Runs in a worker."""
    kept = _kept_for(group.key)
    program = kept.program = group.program or kept.program
    kept.shards.update(group.sent)
    if program is None:
        return _Found([], list(group.shards))
    found = _Found([], [])
    # A worker that is a process runs its calls on the main thread.
    alone = os.getpid() != group.caller and current_thread() is main_thread()
    step: Step = pickle.loads(group.step)
    for number in group.shards:
        shard = group.sent.get(number) or kept.shards.get(number)
        if group.number in kept.cancelled:
            break
        if shard is None:
            found.missing.append(number)
            continue
        found.answers.append(evaluate(program, step, shard, number, alone=alone))
        if isinstance(found.answers[-1], Failed):
            break
    return found


class Foreign:
    """A sum that is computed by an executor of the user.

    Parameters
    ----------
    executor : concurrent.futures.Executor
        It is not shut down here.
    program : Program
        What runs.
    shards : sequence of object
        The shards.
    count : int
        How many calls the work is divided into.
    """

    def __init__(
        self, executor: Executor, program: Program, shards: Sequence[object], count: int
    ) -> None:
        self._executor = executor
        self._program = program
        self._shards = shards
        self._count = min(count, len(shards))
        self._key = secrets.token_hex(16)
        self._sent = False
        # Workers in other processes forget when they need room.
        self._end = weakref.finalize(self, _kept.pop, self._key, None)
        if isinstance(executor, ProcessPoolExecutor):
            pickled(program, "the function", program.function)

    def run(self, step: Step, take: Callable[[Done], None], retries: int) -> None:
        """Compute all shards; an executor replaces its own workers, and `retries` is not used.

        Raises
        ------
        ShardError, NotPicklableError
            As `value_and_grad`.
        """
        todo = set(range(len(self._shards)))
        blob = pickled(step, "the parameters")
        futures: dict[Future[_Found], Sequence[int]] = {}
        try:
            for first in range(self._count):
                numbers = range(first, len(self._shards), self._count)
                self._submit(futures, step, blob, numbers, everything=not self._sent)
            self._sent = True
            while futures:
                ready, _ = wait(futures, return_when=FIRST_COMPLETED)
                for future in ready:
                    del futures[future]
                    found = future.result()
                    for answer in found.answers:
                        if isinstance(answer, Failed):
                            raise failed(answer)
                        todo.discard(answer.shard)
                        take(answer)
                    if found.missing:
                        self._submit(futures, step, blob, found.missing, everything=True)
        except BaseException as error:
            self._give_up(futures, step)
            self._explain(error, sorted(todo))
            raise

    def kill(self) -> None:
        """Forget what threads of this process keep."""
        self._end()

    def _submit(
        self,
        futures: dict[Future[_Found], Sequence[int]],
        step: Step,
        blob: bytes,
        numbers: Sequence[int],
        *,
        everything: bool,
    ) -> None:
        sent = {n: Held(without_rest(self._shards[n])) for n in numbers} if everything else {}
        program = self._program if everything else None
        group = _Group(self._key, step.number, blob, tuple(numbers), program, sent, os.getpid())
        futures[self._executor.submit(_compute, group)] = numbers

    def _give_up(self, futures: Mapping[Future[_Found], object], step: Step) -> None:
        """Cancel what has not begun; threads of this process also stop after their shard."""
        for future in futures:
            future.cancel()
        kept = _kept.get(self._key)
        if kept is not None:
            kept.cancelled.add(step.number)

    def _explain(self, error: BaseException, todo: Sequence[int]) -> None:
        """Raise an error that says which shards are not finished, if the executor has failed."""
        if isinstance(error, BrokenExecutor | CancelledError):
            raise died(
                todo,
                f"the executor has ended its work ({type(error).__name__}: {error}) before "
                f"{listed(todo)} had been finished; which call broke it is not known to it",
            ) from error
        if isinstance(error, pickle.PicklingError | AttributeError | TypeError):
            if "pickle" in str(error).lower():
                refuse(error, "the function or a shard", self._program.function)
