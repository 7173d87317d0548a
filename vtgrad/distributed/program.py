"""The function that a worker runs for each of its shards, and its recording."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from vtgrad.distributed.answers import Answer, Done, failure
from vtgrad.distributed.sent import Held
from vtgrad.errors import ArgumentValueError, RecordingError
from vtgrad.func.grad import grad_and_value
from vtgrad.jit.api import Replayed, replay
from vtgrad.storage.arrays import Array
from vtgrad.storage.dtypes import dtype_named, get_default_dtype, set_default_dtype
from vtgrad.storage.lazy_array import resolved
from vtgrad.tensor.tensor import Tensor
from vtgrad.utils.pytree import tree_leaves

__all__ = ["Program", "Record", "Step", "evaluate"]

Record: TypeAlias = Literal["auto"] | bool
_Run: TypeAlias = Callable[[object, object], object]

# With "auto", a program that is called once is not recorded, which would cost more than it gains.
_RECORDED_FROM: Final = 2


class Step(NamedTuple):
    """What all shards of one call have in common.

    Attributes
    ----------
    number : int
        How many calls there were, with this one.
    parameters : Held
        The parameters.
    dtype : str
        The default dtype of the caller: a process that was started anew has float32.
    """

    number: int
    parameters: Held[object]
    dtype: str


class Program:
    """A function of parameters and a shard, with its gradient, and what was recorded of it.

    Attributes
    ----------
    function : callable
        The function. One that is replayed already is recorded together with its gradient.
    record : bool or "auto"
        Whether it is recorded: with "auto" from the second call on, and not if it cannot be.
    """

    function: _Run
    record: Record

    def __init__(self, function: _Run, record: Record) -> None:
        self.function = function
        self.record = record
        inner = function._function if isinstance(function, Replayed) else function
        self._plain: _Run = _of_parameters_alone(grad_and_value(inner))
        self._replayed: _Run = replay(self._plain)
        self._early = record is True or (record == "auto" and inner is not function)
        self._refused = False

    def __reduce__(self) -> tuple[type[Program], tuple[_Run, Record]]:
        return Program, (self.function, self.record)

    def run(self, step: Step, shard: Held[object], *, alone: bool) -> tuple[Array, list[Array]]:
        """The value for a shard, and the gradients by the tensors of the parameters.

        Parameters
        ----------
        step : Step
            The call.
        shard : Held
            The shard.
        alone : bool
            Whether this thread is the only one of the process that uses tensors. A recording puts
            other values into the memory that its function reads, see Note [Accepting a recording].
        """
        before = get_default_dtype()
        other = before.name != step.dtype
        if other:
            set_default_dtype(dtype_named(step.dtype))
        try:
            found = self._found(step, shard, alone)
        finally:
            if other:
                set_default_dtype(before)
        tree, value = cast("tuple[object, Tensor]", found)
        gradients = cast("list[Tensor]", tree_leaves(tree))
        return resolved(value._impl.array), [resolved(x._impl.array) for x in gradients]

    def _found(self, step: Step, shard: Held[object], alone: bool) -> object:
        arguments = step.parameters.tree, shard.tree
        tried = self._early or (self.record == "auto" and step.number >= _RECORDED_FROM)
        if self.record is True and not alone:
            raise RecordingError(
                "record=True needs workers that are processes with one thread: other threads would "
                "read what a recording puts into their memory to compare",
                reason="threads",
                library=None,
                line=None,
            )
        if not tried or not alone or self._refused:
            return self._plain(*arguments)
        try:
            return self._replayed(*arguments)
        except RecordingError:
            if self.record is True:
                raise
            # Recording has changed nothing.
            self._refused = True
            return self._plain(*arguments)


def _of_parameters_alone(function: _Run) -> _Run:
    """A function of which the value has no history beside the parameters: it cannot be sent."""

    def checked(parameters: object, shard: object) -> object:
        found = function(parameters, shard)
        _, value = cast("tuple[object, Tensor]", found)
        if value.requires_grad:
            raise ArgumentValueError(
                "the function depends on a tensor that requires grad and is no parameter: its "
                "gradient would be lost. Put it into the parameters, or detach it",
                argument="f",
            )
        return found

    return checked


def evaluate(
    program: Program, step: Step, shard: Held[object], number: int, *, alone: bool
) -> Answer:
    """What a worker answers for one shard; `alone` as for `Program.run`."""
    try:
        return Done(number, *program.run(step, shard, alone=alone))
    except Exception as error:  # noqa: BLE001  # raised again by the caller
        return failure(number, error)
