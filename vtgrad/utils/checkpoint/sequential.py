"""Chains of functions, most of which run again in backward."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import SupportsIndex

from vtgrad.errors import ArgumentValueError
from vtgrad.storage.warn import warn
from vtgrad.utils.checkpoint.call import checkpoint
from vtgrad.utils.checkpoint.schedule import count_of

__all__ = ["checkpoint_sequential"]


def checkpoint_sequential(
    functions: Iterable[Callable[..., object]],
    segments: SupportsIndex,
    input: object,
    use_reentrant: bool | None = None,
    *,
    preserve_rng_state: bool = True,
    **kwargs: object,
) -> object:
    """Apply functions one after the other, in segments that are checkpoints.

    Parameters
    ----------
    functions : iterable of callable
        The functions; each takes the result of the one before.
    segments : int
        The number of segments: each has ``len(functions) // segments`` functions, and the last,
        which is no checkpoint, also those that are left.
    input : object
        The argument of the first function.
    use_reentrant : bool, optional
        As in `checkpoint`.
    preserve_rng_state : bool, default True
        As in `checkpoint`.
    **kwargs : object
        Refused: there are no other arguments.

    Returns
    -------
    object
        The result of the last function.

    Raises
    ------
    ArgumentValueError
        If there are fewer functions than segments, or none, or no segments, or if there are other
        arguments.

    Examples
    --------
    >>> x = vt.ones(2, requires_grad=True)
    >>> y = vt.utils.checkpoint.checkpoint_sequential(
    ...     [vt.sin, vt.exp, vt.sin, vt.exp], 2, x, use_reentrant=False
    ... )
    >>> y.sum().backward()
    >>> x.grad
    tensor([-1.7751, -1.7751])
    """
    if kwargs:
        raise ArgumentValueError(f"checkpoint_sequential takes no arguments {sorted(kwargs)}")
    if use_reentrant is None:
        warn(
            "checkpoint_sequential got no use_reentrant, which is True then, as in PyTorch; pass "
            "use_reentrant=False, which refuses less"
        )
        use_reentrant = True
    steps = list(functions)
    count = count_of(segments, "segments", 1)
    if count > len(steps):
        raise ArgumentValueError(f"{len(steps)} functions cannot be split into {count} segments")
    size = len(steps) // count
    value = input
    for nr in range(count - 1):
        segment = _chain(steps[nr * size : (nr + 1) * size])
        value = checkpoint(
            segment, value, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state
        )
    return _chain(steps[(count - 1) * size :])(value)


def _chain(functions: Sequence[Callable[..., object]]) -> Callable[[object], object]:
    def run(value: object) -> object:
        for function in functions:
            value = function(value)
        return value

    return run
