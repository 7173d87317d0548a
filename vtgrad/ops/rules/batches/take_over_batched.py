"""Operators that are called with batched tensors.

Note [Batching rules]

The handler finds the highest level among the operands, and calls the operator's rule, which the
tables state. A rule calls operators with values: tensors that have all samples of that level along
their first dimension, and may be batched at lower levels. What it returns stands for one sample
again. The commonest rules are

    elementwise   samples that have fewer dimensions get some of size 1, so that all broadcast
    shift         dimensions are counted from one further on, and sizes have the samples in front
    whole         the operator does not look at the first dimension
    loop          each sample by itself, with a warning; for few operators

A write needs a target with samples: one tensor cannot hold a value for each sample. What was made
inside gets them, see Note [Tensors that get samples].
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from vtgrad.errors import (
    BatchedTensorError,
    BatchedWriteError,
    NotSupportedError,
    OutOfBoundsError,
    VtgradError,
)
from vtgrad.graph.batch import BatchLevel, batch_of, batched, made_of, show_value
from vtgrad.graph.thread_levels import thread
from vtgrad.ops.operator import Operator
from vtgrad.ops.rules.batches.batched_call import BatchedCall
from vtgrad.ops.rules.batches.by_family import (
    creation,
    elementwise,
    flat_index,
    indexing,
    joining,
    linalg,
    loop,
    masks,
    random,
    reductions,
    shift,
    slices,
    structure,
    views,
)
from vtgrad.ops.rules.batches.by_family.creation import CHANNELS_LAST
from vtgrad.ops.rules.batches.copied_views import called_beside_copies
from vtgrad.ops.rules.batches.given_samples import give_samples
from vtgrad.ops.rules.batches.memory_of_samples import samples_first
from vtgrad.ops.rules.batches.quick_calls import Quick, quick_values
from vtgrad.ops.rules.batches.values import is_batched_at, tensors_among
from vtgrad.storage.recent_writes import CallSite
from vtgrad.storage.record_write import OUTERMOST, caller, on_behalf
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["take_over_batched"]

# Rules of operators that draw: another call would draw others.
_DRAWING: Final = ("random", "random_write")
_RULES: Final[dict[str, Callable[[BatchedCall], object]]] = {
    **creation.RULES,
    **elementwise.RULES,
    **flat_index.RULES,
    **indexing.RULES,
    **joining.RULES,
    **linalg.RULES,
    **loop.RULES,
    **masks.RULES,
    **random.RULES,
    **reductions.RULES,
    **shift.RULES,
    **slices.RULES,
    **structure.RULES,
    **views.RULES,
}


def take_over_batched(
    operator: Operator,
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    /,
) -> object:
    """Call an operator for all samples; see Note [Batching rules].

    Raises
    ------
    BatchedTensorError
        If the operator needs the values of one sample, or a level is closed.
    BatchedWriteError
        If it would write samples to one tensor.
    NotSupportedError
        If the operator has no rule, or ``out`` is given.
    """
    if not operator.batch:
        raise NotSupportedError(
            f"{operator.name} has no rule for batched tensors", operator=operator.name
        )
    quick = quick_values(operator, args, kwargs)
    level = _highest_level((*args, *kwargs.values())) if quick is None else quick[0]
    if quick is None and operator.writes and operator.batch != "random_write":
        target = args[0]
        assert isinstance(target, TensorBase)
        if not is_batched_at(target, level) and give_samples(target, level):
            # It may have samples of a higher level now.
            level = _highest_level((*args, *kwargs.values()))
    if level.copies:
        changed = args[0] if operator.writes or operator.spoken.endswith("_") else None
        assert changed is None or isinstance(changed, TensorBase)
        return called_beside_copies(
            level,
            tensors_among((*args, *kwargs.values())),
            changed,
            changed if operator.writes else None,
            partial(_take_over, operator, function, args, kwargs, level, quick),
            partial(_write_refused, operator.spoken),
        )
    return _take_over(operator, function, args, kwargs, level, quick)


def _take_over(
    operator: Operator,
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    level: BatchLevel,
    quick: Quick,
) -> object:
    """Call an operator at a level."""
    if quick is not None:
        return _quickly(operator, function, args, kwargs, *quick)
    if kwargs.get("out") is not None:
        raise NotSupportedError(
            f"{operator.spoken} takes no out= inside of vmap; call it without, and copy the result "
            "with copy_",
            operator=operator.spoken,
        )
    call = BatchedCall(operator, level, function, args, kwargs)
    if operator.writes and operator.batch != "random_write":
        target = args[0]
        assert isinstance(target, TensorBase)
        if not is_batched_at(target, level):
            raise _write_refused(operator.spoken, target, level)
    try:
        if call.arguments.get("memory_format") in CHANNELS_LAST:
            return creation.channels_last(call)
        return _RULES[operator.batch](call)
    except Exception as error:
        _raise_as_one_sample(call, error)
        raise


def _quickly(
    operator: Operator,
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    level: BatchLevel,
    values: list[object],
) -> object:
    """Call an operator with these values in place of its arguments."""
    try:
        result = function(*values, **kwargs)
    except Exception as error:
        _raise_as_one_sample(BatchedCall(operator, level, function, args, kwargs), error)
        raise
    if not isinstance(result, TensorBase):
        return BatchedCall(operator, level, function, args, kwargs).finish(result)
    for value, given in zip(values, args, strict=True):
        if result is value and isinstance(given, TensorBase):
            if given is not result:
                # An operator may have changed the geometry in place.
                show_value(given, result)
            return given
    return batched(samples_first(result, tensors_among(args), operator.batch), level)


def _raise_as_one_sample(call: BatchedCall, error: Exception) -> None:
    """Raise the error that the operator has for one sample, whose sizes and dimensions it names.

    Parameters
    ----------
    error : Exception
        What the call has raised for all samples.
    """
    if (
        isinstance(error, (BatchedTensorError, BatchedWriteError))
        or call.operator.batch in _DRAWING
    ):
        return
    if isinstance(error, OutOfBoundsError):
        # About the memory of all samples, which one alone does not have.
        return
    try:
        call.as_one_sample()
        for nr in range(call.level.size):
            # The error depends on values, as on an index that is outside.
            call.as_sample(nr)
    except VtgradError as one:
        told = one
    else:
        return
    try:
        raise told from None
    finally:
        # The traceback of the error has this frame, which would have the error.
        del told


def _highest_level(values: tuple[object, ...]) -> BatchLevel:
    found: BatchLevel | None = None
    for tensor in tensors_among(values):
        batch = batch_of(tensor)
        if batch is not None:
            if not batch.level.is_open:
                batch.level.check_entered(thread.batch_levels)
            if found is None or batch.level.number > found.number:
                found = batch.level
    if found is None:
        # A random operator of tensors without samples, see Note [Random numbers in a batch].
        return thread.batch_levels[-1]
    return found


def _write_refused(operator: str, target: TensorBase, level: BatchLevel) -> BatchedWriteError:
    made = made_of(target)
    made_at = CallSite.of(None if made is None or level not in made.levels else made.site)
    asked = on_behalf.get(thread.ident)
    operator = operator if asked is None else asked[0]
    written_at = CallSite.of(caller(OUTERMOST))
    called_at = CallSite.of(level.called_at)
    text = (
        f"{operator} would write a value for each of {level.size} samples into one tensor of shape "
        f"{list(target._impl.array.shape)}, which has no samples"
    )
    for what, where in (
        ("written", written_at),
        ("made", made_at),
        ("vmap called", called_at),
    ):
        if where is not None:
            text += f"\n  {what} at {where.filename}:{where.lineno} in {where.function}"
            text += f"\n      {where.source}" if where.source else ""
    text += (
        "\nOne of these helps:"
        "\n  - make the tensor inside of the function, by zeros(sizes), or from a tensor of one "
        "sample: x.new_zeros(sizes), zeros_like(x)"
        "\n  - write out of place: add for add_, where or cat in place of an assignment"
    )
    return BatchedWriteError(
        text,
        operator=operator,
        shape=tuple(target._impl.array.shape),
        made_at=made_at,
        written_at=written_at,
    )
