"""`value_and_grad`: one function of parameters and a shard, summed over all shards."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from multiprocessing import get_all_start_methods
from typing import TypeVar, overload

from vtgrad.distributed.program import Record
from vtgrad.distributed.progress import Progress
from vtgrad.distributed.sum_over_shards import StartMethod, SumOverShards
from vtgrad.errors import ArgumentTypeError, ArgumentValueError
from vtgrad.func.arguments import checked_function
from vtgrad.ops.calling.reduction_arguments import UNSET, Unset
from vtgrad.tensor.tensor import Tensor

__all__ = ["value_and_grad"]

P = TypeVar("P")
S = TypeVar("S")


@overload
def value_and_grad(
    f: Callable[[P, S], Tensor],
    *,
    shards: Iterable[S],
    executor: Executor | None = None,
    workers: int | None = None,
    retries: int = 0,
    progress: Progress | bool | None = None,
    record: Record = "auto",
    start_method: StartMethod = "spawn",
    threads: int | None = 1,
) -> SumOverShards[P, S]: ...
@overload
def value_and_grad(
    f: Callable[[P, S], Tensor],
    parameters: P,
    shards: Iterable[S],
    executor: Executor | None = None,
    *,
    workers: int | None = None,
    retries: int = 0,
    progress: Progress | bool | None = None,
    record: Record = "auto",
    start_method: StartMethod = "spawn",
    threads: int | None = 1,
) -> tuple[Tensor, P]: ...
def value_and_grad(
    f: Callable[[P, S], Tensor],
    parameters: P | Unset = UNSET,
    shards: Iterable[S] | Unset = UNSET,
    executor: Executor | None = None,
    *,
    workers: int | None = None,
    retries: int = 0,
    progress: Progress | bool | None = None,
    record: Record = "auto",
    start_method: StartMethod = "spawn",
    threads: int | None = 1,
) -> tuple[Tensor, P] | SumOverShards[P, S]:
    """The sum of a function over shards of data, and its gradients, by several workers.

    Without `parameters` it is a function of them, for a fit that calls it many times: workers and
    shards stay between its calls. With `parameters` it is computed once.

    The gradients of each shard are added in the order of the shards: the result has the same bits
    for any number of workers. A call that ends with an error, or by Ctrl-C, gives nothing.

    Parameters
    ----------
    f : callable
        ``f(parameters, shard)`` returns a 0-d real tensor. Both are read-only for it, and it uses
        no other tensor that requires grad. Processes get it by pickle, which sends functions by
        their names: it stands at the top of a module.
    parameters : Tensor, or a container of tensors, optional
        What to differentiate by.
    shards : iterable of object
        The parts of the data: tensors, arrays, containers of them, or whatever can be pickled, as
        the name of a file. A shard is sent once, and stays with its worker. Required.
    executor : concurrent.futures.Executor, optional
        Who computes. None starts processes of this machine. With ``Client.get_executor()`` of
        `dask.distributed` each shard stays with one worker of the cluster, too. Any other one, as
        that of `mpi4py.futures` or a ``ThreadPoolExecutor``, has no names for its workers: each
        keeps the shards that it has seen, and is sent those that it misses.
    workers : int, optional
        How many processes there are, or parts into which the work for an executor is divided. As
        many as there are cores, or workers of the executor.
    retries : int, default 0
        How often in one call a worker that has died is replaced, and what it had not finished is
        computed again. Of the own processes and of Dask; other executors replace their own workers.
    progress : callable or bool, optional
        Called with the number of finished shards and the number of all, on the calling thread. True
        shows a bar of `tqdm`.
    record : bool or "auto", default "auto"
        Whether each worker records the function and its gradient, see `vtgrad.jit.replay`. "auto"
        does from the second call on, if the shards have few enough shapes, and where the function
        cannot be recorded it runs. True raises where it cannot. Workers that are threads share
        memory, and record nothing.
    start_method : {"spawn", "forkserver", "fork"}, default "spawn"
        How the own processes start. With "fork" they have what this process has, and the function
        need not be picklable.
    threads : int or None, default 1
        How many threads NumPy's products of matrices have in an own process, unless the environment
        says otherwise. None, and "fork", leave it as it is.

    Returns
    -------
    SumOverShards, or tuple of Tensor and gradients
        Without `parameters` the function, a context manager. With them what it returns: the value,
        a 0-d tensor, and new tensors in the containers of `parameters`.

    Raises
    ------
    ArgumentTypeError
        If `f` is no function, or there is no `shards`.
    ArgumentValueError
        If there are no shards, one has a tensor that requires grad, or an option has another value.
    NotPicklableError
        If `f` cannot be sent: it is a lambda, is defined inside of another function, or was typed
        in. Then nothing was started.
    MissingPackageError
        For ``progress=True`` without tqdm.
    ShardError, WorkerDiedError, MainGuardError
        As `SumOverShards` raises them when it is called.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> def loss(p, shard):
    ...     x, y = shard
    ...     return ((p["w"] * x + p["b"] - y) ** 2).sum()
    >>> x, y = vt.tensor([1.0, 2.0, 3.0]), vt.tensor([3.0, 5.0, 7.0])
    >>> shards = [(x[:2], y[:2]), (x[2:], y[2:])]
    >>> start = {"w": vt.tensor(1.0), "b": vt.tensor(0.0)}
    >>> with ThreadPoolExecutor(2) as executor:
    ...     vt.distributed.value_and_grad(loss, start, shards, executor)
    (tensor(29.), {'w': tensor(-40.), 'b': tensor(-18.)})
    """
    checked_function(f, "value_and_grad")
    if shards is UNSET:
        raise ArgumentTypeError(
            "value_and_grad takes shards=, the parts of the data", argument="shards"
        )
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise ArgumentTypeError(
            f"executor is one of concurrent.futures, not a {type(executor).__name__}",
            argument="executor",
        )
    _check_options(workers, retries, record, start_method, threads)
    total = SumOverShards(
        f,
        list(shards),
        executor,
        workers=workers,
        retries=retries,
        progress=progress,
        record=record,
        start_method=start_method,
        threads=threads,
    )
    if parameters is UNSET:
        return total
    with total:
        return total(parameters)


def _check_options(
    workers: object, retries: object, record: object, start_method: object, threads: object
) -> None:
    counts = {"workers": (workers, 1), "retries": (retries, 0), "threads": (threads, 1)}
    for name, (value, least) in counts.items():
        if value is None and name != "retries":
            continue
        if type(value) is not int or value < least:
            raise ArgumentValueError(
                f"{name} is a number from {least} on, not {value!r}", argument=name, value=value
            )
    if record not in (True, False, "auto"):
        raise ArgumentValueError(
            f"record is True, False or 'auto', not {record!r}", argument="record", value=record
        )
    found = get_all_start_methods()
    if start_method not in found:
        raise ArgumentValueError(
            f"start_method is one of {', '.join(found)} here, not {start_method!r}",
            argument="start_method",
            value=start_method,
        )
