"""Checkpoints inside of `vmap`: the function runs again with tensors of one sample.

What the checkpoint keeps are values (Note [Batched tensors]), and when it calls the function again,
the `vmap` may have returned. So the function is called through a `SamplesOfCall`, which takes and
returns values, and enters the levels of the first run for each later one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vtgrad.graph.batch import BatchLevel
from vtgrad.graph.thread_levels import thread
from vtgrad.ops.rules.batches.values import innermost, levels_of, rebatched
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_state import Settings, changed, run_with
from vtgrad.utils.pytree import tree_flatten, tree_unflatten

__all__ = ["SamplesOfCall"]


class SamplesOfCall:
    """A function of tensors of one sample, as a function of values.

    Attributes
    ----------
    args : tuple of object
        The arguments, with values in place of tensors of one sample.
    kwargs : dict of str to object
        The keyword arguments, likewise.
    """

    __slots__ = (
        "_function",
        "_levels_of_args",
        "_levels_of_kwargs",
        "_levels_of_results",
        "_settings",
        "args",
        "kwargs",
    )

    args: tuple[object, ...]
    kwargs: dict[str, object]
    _function: Callable[..., object]
    _levels_of_args: list[tuple[BatchLevel, ...]]
    _levels_of_kwargs: dict[str, tuple[BatchLevel, ...]]
    _levels_of_results: list[tuple[BatchLevel, ...]]
    # What is entered into a batch depends on the reverse level, see Note [Entering a batch].
    _settings: Settings

    def __init__(
        self,
        function: Callable[..., object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> None:
        self._function = function
        self._settings = changed(
            batch_levels=thread.batch_levels, reverse_level=thread.reverse_level
        )
        self._levels_of_args = [_levels(x) for x in args]
        self._levels_of_kwargs = {name: _levels(x) for name, x in kwargs.items()}
        self._levels_of_results = []
        self.args = tuple([_value(x) for x in args])
        self.kwargs = {name: _value(x) for name, x in kwargs.items()}

    def call(self, *values: object, **options: object) -> object:
        """Call the function, in the levels of the first run; returns values."""
        return run_with(self._settings, self._call, values, options)

    def _call(self, values: tuple[object, ...], options: dict[str, object]) -> object:
        args = [_sample(x, own) for x, own in zip(values, self._levels_of_args, strict=True)]
        kwargs = {n: _sample(x, self._levels_of_kwargs[n]) for n, x in options.items()}
        leaves, spec = tree_flatten(self._function(*args, **kwargs))
        self._levels_of_results = [_levels(x) for x in leaves]
        return tree_unflatten([_value(x) for x in leaves], spec)

    def results(self, values: object) -> object:
        """What the caller gets for what `call` has returned."""
        leaves, spec = tree_flatten(values)
        samples: Sequence[object] = [
            _sample(x, own) for x, own in zip(leaves, self._levels_of_results, strict=True)
        ]
        return tree_unflatten(samples, spec)


def _levels(value: object) -> tuple[BatchLevel, ...]:
    return levels_of(value) if isinstance(value, TensorBase) else ()


def _value(value: object) -> object:
    return innermost(value) if isinstance(value, TensorBase) else value


def _sample(value: object, levels: Sequence[BatchLevel]) -> object:
    return rebatched(value, levels) if isinstance(value, TensorBase) and levels else value
