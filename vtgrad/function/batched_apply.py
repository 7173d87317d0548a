"""Calling a custom Function with tensors of one sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from vtgrad.errors import FunctionError, MissingMethodError
from vtgrad.function.default_methods import no_vmap
from vtgrad.function.samples import Samples, sample_of
from vtgrad.graph.batch import BatchLevel, batch_of, batched, show_value
from vtgrad.graph.thread_levels import thread
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.copied_views import copies_among, store_written
from vtgrad.ops.rules.batches.drawing import outside_of
from vtgrad.ops.rules.batches.entering import entered
from vtgrad.ops.rules.batches.values import is_batched_at, tensors_among
from vtgrad.storage.tensor_base import TensorBase

if TYPE_CHECKING:
    from vtgrad.function.callee import Callee

__all__ = ["VmapInfo", "apply_batched", "level_of"]


class VmapInfo(NamedTuple):
    """The first argument of a Function's ``vmap``.

    Attributes
    ----------
    batch_size : int
        The number of samples.
    randomness : str
        ``error``, ``same`` or ``different``, as `vtgrad.vmap` was called with.
    """

    batch_size: int
    randomness: str


def level_of(args: tuple[object, ...]) -> BatchLevel | None:
    """The highest level of the arguments; None if none of them has samples."""
    found: BatchLevel | None = None
    for argument in args:
        batch = batch_of(argument) if isinstance(argument, TensorBase) else None
        if batch is not None:
            if not batch.level.is_open:
                batch.level.check_entered(thread.batch_levels)
            if found is None or batch.level.number > found.number:
                found = batch.level
    return found


def apply_batched(
    function: type[Callee],
    args: tuple[object, ...],
    options: Mapping[str, object],
    level: BatchLevel,
    apply: Callable[[tuple[object, ...], Samples], object],
) -> object:
    """Call a Function for all samples of a level.

    Parameters
    ----------
    options : mapping of str to object
        What forward takes by keyword only.
    apply : callable
        Calls a Function of one sample with values.

    Raises
    ------
    MissingMethodError
        If the Function has neither ``vmap`` nor ``generate_vmap_rule``.
    FunctionError
        If it has both, or its ``vmap`` does not return a pair.
    """
    copies = copies_among(tensors_among(args), level)
    for tensor, copy in copies:
        copy.check(tensor)
    returned = _applied(function, args, options, level, apply)
    store_written(copies)
    return returned


def _applied(
    function: type[Callee],
    args: tuple[object, ...],
    options: Mapping[str, object],
    level: BatchLevel,
    apply: Callable[[tuple[object, ...], Samples], object],
) -> object:
    """As `apply_batched`, with no look at copies that stand for views."""
    name = function.__name__
    if function.generate_vmap_rule and function.vmap is not no_vmap:
        raise FunctionError(
            f"{name} has vmap and generate_vmap_rule = True; it can have one of the two",
            function=name,
        )
    if not function.generate_vmap_rule and function.vmap is no_vmap:
        raise MissingMethodError(
            f"{name} got a tensor of one sample inside of vmap: set generate_vmap_rule = True, so "
            "that its methods run with such tensors, or define vmap as a static method"
        )
    if function.vmap is not no_vmap:
        values, flags = _values_at(args, level)
        return _called(function, values, options, flags, level)
    # All levels at once, because what is recorded are values.
    levels: list[BatchLevel] = []
    of_level: list[list[bool]] = []
    shown: list[list[object]] = [[x] for x in args]
    next_level: BatchLevel | None = level
    while next_level is not None:
        values, flags = _values_at([each[-1] for each in shown], next_level)
        for each, value in zip(shown, values, strict=True):
            each.append(value)
        levels.insert(0, next_level)
        of_level.insert(0, flags)
        next_level = level_of(tuple(values))
    of_arguments = tuple(
        [sum(has << nr for nr, has in enumerate(each)) for each in zip(*of_level, strict=True)]
    )
    arguments = tuple([each[-1] for each in shown])
    shapes = tuple([x._impl.array.shape if isinstance(x, TensorBase) else () for x in args])
    samples = Samples(levels, arguments, shapes, of_arguments)
    returned = samples.run(levels, lambda: apply(arguments, samples))
    results = returned if isinstance(returned, tuple) else (returned,)
    given = [
        _shown(result, levels, at, shown) if at and isinstance(result, TensorBase) else result
        for result, at in zip(results, samples.of_results, strict=True)
    ]
    return tuple(given) if isinstance(returned, tuple) else given[0]


def _values_at(args: Sequence[object], level: BatchLevel) -> tuple[list[object], list[bool]]:
    """The values of arguments that have samples at the highest level, and which these are."""
    values: list[object] = []
    flags: list[bool] = []
    for argument in args:
        value = argument
        if isinstance(argument, TensorBase):
            batch = batch_of(argument)
            if batch is not None and batch.level is level:
                value = batch.value
            else:
                inner = entered(argument, level)
                value = argument if inner is None else inner
        values.append(value)
        flags.append(value is not argument)
    return values, flags


def _shown(
    value: TensorBase, levels: Sequence[BatchLevel], at: int, shown: Sequence[Sequence[object]]
) -> TensorBase:
    """What the caller gets for a value; for the value of an argument, the argument."""
    for each in shown:
        # From the argument to its value at all levels.
        tensors = [x for x in each if isinstance(x, TensorBase)]
        if tensors and tensors[-1] is value and batch_of(tensors[0]) is not None:
            for tensor, inner in zip(tensors[-2::-1], tensors[:0:-1], strict=True):
                if tensor is not inner and batch_of(tensor) is not None:
                    show_value(tensor, inner)
            return tensors[0]
    return sample_of(value, levels, at)


def _called(
    function: type[Callee],
    values: list[object],
    options: Mapping[str, object],
    flags: list[bool],
    level: BatchLevel,
) -> object:
    """What a Function's own ``vmap`` returns, as tensors of one sample."""
    name = function.__name__
    info = VmapInfo(level.size, level.randomness)
    in_dims = tuple(0 if has_samples else None for has_samples in flags)
    returned = (
        outside_of(level, lambda: function.vmap(info, in_dims, *values, **options))
        if level in thread.batch_levels
        else function.vmap(info, in_dims, *values, **options)
    )
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise FunctionError(
            f"the vmap of {name} must return a pair: its results, and where each has its batch "
            "dimension, or None",
            function=name,
        )
    results, dims = returned
    if not isinstance(results, tuple):
        return _placed(name, results, dims, level)
    each = dims if isinstance(dims, tuple) else (dims,) * len(results)
    if len(each) != len(results):
        raise FunctionError(
            f"the vmap of {name} returned {len(results)} results, and {len(each)} dimensions",
            function=name,
        )
    return tuple(
        [_placed(name, result, dim, level) for result, dim in zip(results, each, strict=True)]
    )


def _placed(name: str, result: object, dim: object, level: BatchLevel) -> object:
    if dim is None or not isinstance(result, TensorBase):
        return result
    if not isinstance(dim, int):
        raise FunctionError(
            f"the vmap of {name} returned {dim!r} as the dimension of a batch; that is an int or "
            "None",
            function=name,
        )
    if is_batched_at(result, level):
        raise FunctionError(
            f"the vmap of {name} returned a tensor of one sample; it gets and returns batches",
            function=name,
        )
    whole = F.movedim(result, dim, 0) if dim else result
    if whole.shape[0] != level.size:
        raise FunctionError(
            f"the vmap of {name} returned a result of shape {list(result.shape)} with its batch in "
            f"dimension {dim}, but the batch has {level.size} samples",
            function=name,
        )
    return batched(whole, level)
