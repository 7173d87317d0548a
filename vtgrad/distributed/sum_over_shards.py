"""The sum of a function over shards, as a function of the parameters."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from itertools import count
from types import TracebackType
from typing import Generic, Literal, Protocol, Self, TypeVar, cast

from vtgrad.distributed.answers import Done
from vtgrad.distributed.connected import connected
from vtgrad.distributed.dask import Cluster, client_of
from vtgrad.distributed.foreign import Foreign
from vtgrad.distributed.ordered_sum import OrderedSum
from vtgrad.distributed.picklable import check_main
from vtgrad.distributed.pool import Pool
from vtgrad.distributed.program import Program, Record, Step
from vtgrad.distributed.progress import Progress, bar_exists, reporting
from vtgrad.distributed.recordable import are_recordable
from vtgrad.distributed.sent import Held, without_rest
from vtgrad.errors import ArgumentValueError, RecordingError
from vtgrad.func.arguments import tensor_leaves
from vtgrad.func.value_with_gradient import ValueWithGradient
from vtgrad.jit.state import is_tracing
from vtgrad.storage.dtypes import get_default_dtype
from vtgrad.tensor.from_data import from_numpy
from vtgrad.tensor.subclass_methods import in_class_of, in_classes_of
from vtgrad.tensor.tensor import Tensor
from vtgrad.utils.pytree import tree_leaves, tree_unflatten

__all__ = ["StartMethod", "SumOverShards"]

P = TypeVar("P")
S = TypeVar("S")
StartMethod = Literal["spawn", "forkserver", "fork"]


class _Backend(Protocol):
    """Who computes: a pool, an executor, a cluster."""

    def run(self, step: Step, take: Callable[[Done], None], retries: int) -> None:
        """Compute all shards, and hand over each answer on this thread."""

    def kill(self) -> None:
        """End what was started, and forget the shards."""


class SumOverShards(ValueWithGradient[P], Generic[P, S]):
    """The sum of a function over shards of data; a call gives the value and the gradients.

    `value_and_grad` makes it. The workers, and the shards that were sent to them, stay from one
    call to the next one. `close`, the end of a ``with`` block and the end of the object end the own
    processes; an executor that was passed in is the caller's, and goes on.

    Two threads may call it: one waits for the other. A fork of this process gets workers of its
    own.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> def loss(w, shard):
    ...     return ((w * shard) ** 2).sum()
    >>> shards = [vt.tensor([1.0, 2.0]), vt.tensor([3.0])]
    >>> with ThreadPoolExecutor(2) as executor:
    ...     total = vt.distributed.value_and_grad(loss, shards=shards, executor=executor)
    ...     total(vt.tensor(2.0))
    (tensor(56.), tensor(56.))
    """

    def __init__(
        self,
        function: Callable[[P, S], Tensor],
        shards: Sequence[S],
        executor: Executor | None,
        *,
        workers: int | None,
        retries: int,
        progress: Progress | bool | None,
        record: Record,
        start_method: StartMethod,
        threads: int | None,
    ) -> None:
        if not shards:
            raise ArgumentValueError(
                "there are no shards, and so no value with a dtype", argument="shards", value=shards
            )
        if progress is True:
            bar_exists()
        if record == "auto" and not are_recordable(shards):
            record = False
        self._function = function
        self._count = len(shards)
        self._retries = retries
        self._progress = progress
        # Each call has a number of its own, also if two threads begin at once.
        self._calls = count(1)
        self._versions = _versions_of(shards)
        self._backend: _Backend | None
        program = Program(cast("Callable[[object, object], object]", function), record)
        cluster = client_of(executor)
        if cluster is not None:
            self._backend = Cluster(*cluster, program, shards)
        elif executor is not None:
            self._backend = Foreign(executor, program, shards, workers or _size_of(executor))
        else:
            if start_method != "fork":
                check_main(function)
            self._backend = Pool(program, shards, workers or _cores(), start_method, threads)

    def __call__(self, parameters: P) -> tuple[Tensor, P]:
        """Compute the sum, and its gradients.

        Parameters
        ----------
        parameters : Tensor, or a container of tensors
            Of floating or complex dtypes; they are sent to each worker once.

        Returns
        -------
        value : Tensor
            0-d, the sum in the order of the shards. If a tensor of the parameters requires grad,
            and gradients are recorded, it has a history: ``backward`` gives them the gradients.
        gradients : as `parameters`
            New tensors in the containers of `parameters`; they have no history.

        Raises
        ------
        ShardError
            If the function raised an error for a shard, which is then its cause; its attribute
            `shard` is the number. The workers can be used again.
        WorkerDiedError
            If a worker has ended, more often than `retries` allows. It names the shard.
        MainGuardError
            If the workers, which import the main module, find no guard in it.
        NotPicklableError
            If the function, a shard or the parameters cannot be sent.
        ArgumentValueError
            If the parameters have objects in them that are no tensors, if a tensor of a shard was
            written since the sum was made, or after `close`.
        TransformError, BatchedTensorError, ForwardModeError
            If they have a tensor of integers, one inside of `vmap`, or one with a tangent.
        RecordingError
            While a program is being recorded, of which other processes know nothing.
        """
        backend = self._backend
        if backend is None:
            raise ArgumentValueError("this sum was closed", argument="self", value=self)
        if is_tracing():
            raise RecordingError(
                "a sum over shards cannot be a step of a recording: what other processes compute "
                "is not seen. Each worker records the function for itself",
                reason="distributed",
                library=None,
                line=None,
            )
        _check_versions(self._versions)
        tensors, spec = tensor_leaves(parameters, "parameters")
        sent = without_rest(parameters)

        def compute() -> tuple[Tensor, Sequence[Tensor]]:
            step = Step(next(self._calls), Held[object](sent), get_default_dtype().name)
            total = OrderedSum()
            done = 0
            with reporting(self._progress, self._count) as report:

                def take(answer: Done) -> None:
                    nonlocal done
                    total.add(answer)
                    done += 1
                    report(done, self._count)

                backend.run(step, take, self._retries)
            assert total.value is not None
            assert total.has(self._count), "a shard has no answer"
            found = in_classes_of([from_numpy(x) for x in total.gradients], tensors)
            gradients = [x.to(of.device) for x, of in zip(found, tensors, strict=True)]
            # A program of `vtgrad.numpy` gets an array of that.
            value = in_class_of(from_numpy(total.value), tensors[0] if tensors else None)
            return value, gradients

        value, gradients = connected(compute, tensors)
        return value, cast("P", tree_unflatten(list(gradients), spec))

    def __len__(self) -> int:
        """The number of shards."""
        return self._count

    def close(self) -> None:
        """End the own processes, and forget the shards; the sum cannot be called any more."""
        backend, self._backend = self._backend, None
        if backend is not None:
            backend.kill()

    def __enter__(self) -> Self:
        """For a ``with`` block, which closes the sum."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the sum."""
        self.close()

    def __repr__(self) -> str:
        """The function, and the number of shards."""
        name = getattr(self._function, "__qualname__", repr(self._function))
        return f"SumOverShards({name}, {self._count} shards)"


def _versions_of(shards: Sequence[object]) -> list[tuple[int, Tensor, int]]:
    """Each tensor of the shards, with the number of its shard and its version.

    Raises
    ------
    ArgumentValueError
        If one requires grad.
    """
    found: list[tuple[int, Tensor, int]] = []
    for number, shard in enumerate(shards):
        for leaf in tree_leaves(shard):
            if not isinstance(leaf, Tensor) or leaf.is_inference():
                continue
            if leaf.requires_grad:
                raise ArgumentValueError(
                    f"shard {number} has a tensor that requires grad, which would get none: put it "
                    "into the parameters, or detach it",
                    argument="shards",
                    value=leaf,
                )
            found.append((number, leaf, leaf._version))
    return found


def _check_versions(known: Sequence[tuple[int, Tensor, int]]) -> None:
    """Refuse a shard that was written: workers that have it and those that get it later differ.

    Raises
    ------
    ArgumentValueError
        If there is one.
    """
    for number, tensor, version in known:
        if tensor._version != version:
            raise ArgumentValueError(
                f"the memory of shard {number} was written after it had been given to "
                "value_and_grad: workers keep what they were sent. Make a new sum of new shards",
                argument="shards",
                value=tensor,
            )


def _cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _size_of(executor: Executor) -> int:
    """How many workers an executor has."""
    for name in ("num_workers", "_max_workers"):  # the first is mpi4py's
        found = getattr(executor, name, None)
        if isinstance(found, int) and found > 0:
            return found
    return _cores()
