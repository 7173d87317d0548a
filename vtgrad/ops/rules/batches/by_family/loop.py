"""Operators without a rule for all samples at once, and those that can have none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NoReturn

from vtgrad.errors import BatchedTensorError
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.batched_call import BatchedCall, like_parts
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.warn import warn

__all__ = ["RULES", "VmapLoopWarning", "loop", "refused"]


class VmapLoopWarning(UserWarning):
    """An operator was called once for each sample, because it has no rule for all at once."""


def loop(call: BatchedCall) -> object:
    """Each sample by itself; results are stacked.

    Raises
    ------
    BatchedTensorError
        If there are no samples, so that nothing says what results look like.
    """
    warn(
        f"{call.operator.spoken} is called once for each sample inside of vmap, because it has no "
        "rule for all of them at once",
        VmapLoopWarning,
    )
    if not call.level.size:
        raise BatchedTensorError(
            f"{call.operator.spoken} is called once for each sample inside of vmap, and there "
            "are none"
        )
    found = []
    for nr in range(call.level.size):
        changes = {name: _sample(call, x, nr) for name, x in call.arguments.items()}
        found.append(call.called(changes))
    if call.operator.writes:
        return next(iter(call.arguments.values()))
    return call.finish(_stacked(found))


def _stacked(results: Sequence[object]) -> object:
    """The results of all samples, one behind the other."""
    first = results[0]
    if isinstance(first, TensorBase):
        return F.stack([one for one in results if isinstance(one, TensorBase)])
    assert isinstance(first, tuple)
    rows = [one for one in results if isinstance(one, tuple)]
    return like_parts(first, [_stacked(parts) for parts in zip(*rows, strict=True)])


def _sample(call: BatchedCall, argument: object, nr: int) -> object:
    """An argument for one sample."""
    if isinstance(argument, TensorBase):
        return call.sample(argument, nr)
    if isinstance(argument, Sequence) and any(isinstance(x, TensorBase) for x in argument):
        return [_sample(call, x, nr) for x in argument]
    return argument


def refused(call: BatchedCall, what: str = "") -> NoReturn:
    """An operator whose result has another shape, or another value in Python, for each sample.

    Parameters
    ----------
    what : str
        What is not possible, where the operator's name does not say it.

    Raises
    ------
    BatchedTensorError
        Always.
    """
    raise BatchedTensorError(
        f"{what or call.operator.spoken} is not possible for a tensor inside of vmap: its result, "
        "or what it does, may differ in shape from sample to sample. where() and masked_fill() "
        "keep shapes"
    )


RULES: Final[dict[str, Callable[[BatchedCall], object]]] = {
    "loop": loop,
    "refused": refused,
}
