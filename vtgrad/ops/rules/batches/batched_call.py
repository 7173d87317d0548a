"""A call of an operator with batched tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import NamedTuple, NoReturn, SupportsIndex, cast

from vtgrad.errors import NotSupportedError
from vtgrad.graph.batch import BatchLevel, batch_of, batched, show_value
from vtgrad.ops.generated import functional as F
from vtgrad.ops.operator import Operator
from vtgrad.ops.rules.batches.entering import entered, expanded
from vtgrad.ops.rules.batches.memory_of_samples import samples_first
from vtgrad.ops.rules.batches.values import tensors_among, value_at, zeros_like_sample
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["BatchedCall", "Operand", "like_parts"]


class Operand(NamedTuple):
    """A tensor among the arguments.

    Attributes
    ----------
    tensor : TensorBase
        As it was given: with the sizes of one sample.
    value : TensorBase
        What the operator is called with.
    has_samples : bool
        Whether the first dimension of `value` is that of the samples.
    """

    tensor: TensorBase
    value: TensorBase
    has_samples: bool


def like_parts(model: tuple[object, ...], parts: Sequence[object]) -> tuple[object, ...]:
    """A tuple of the class of another, which is that of an operator's results."""
    kind = cast("Callable[..., tuple[object, ...]]", type(model))
    return tuple(parts) if kind is tuple else kind(*parts)


def _filled(value: object, number: int) -> object:
    """An argument with tensors of one sample, all elements of which are a number."""
    if isinstance(value, TensorBase):
        return F.fill_Scalar_(zeros_like_sample(value), number)
    if isinstance(value, (list, tuple)) and any(isinstance(one, TensorBase) for one in value):
        return [_filled(one, number) for one in value]
    return value


class BatchedCall:
    """The arguments of a call by parameter, and the samples of one level.

    Attributes
    ----------
    operator : Operator
        The record of the operator.
    level : BatchLevel
        The highest level of the operands.
    function : callable
        The operator.
    arguments : dict of str to object
        The arguments by parameter.
    rest : tuple of object
        What follows the last parameter: of a parameter like ``*sizes``.
    """

    __slots__ = ("_values", "arguments", "function", "level", "operator", "rest")

    operator: Operator
    level: BatchLevel
    function: Callable[..., object]
    arguments: dict[str, object]
    rest: tuple[object, ...]
    _values: list[tuple[TensorBase, TensorBase]]

    def __init__(
        self,
        operator: Operator,
        level: BatchLevel,
        function: Callable[..., object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> None:
        self.operator = operator
        self.level = level
        self.function = function
        self.arguments = {**dict(zip(operator.positional, args, strict=False)), **kwargs}
        for name in operator.integers:
            value = self.arguments.get(name)
            if isinstance(value, TensorBase):
                # The class of all tensors has `__index__`.
                self.arguments[name] = index(cast("SupportsIndex", value))
        self.rest = args[len(operator.positional) :]
        self._values = []

    # -- operands --------------------------------------------------------------------------

    def operand(self, tensor: TensorBase) -> Operand:
        """A tensor with its value: with samples if it has them, and else as it is."""
        batch = batch_of(tensor)
        if batch is not None and batch.level is self.level:
            self._values.append((tensor, batch.value))
            return Operand(tensor, batch.value, True)
        value = entered(tensor, self.level)
        return Operand(tensor, tensor if value is None else value, value is not None)

    def expanded(self, tensor: TensorBase) -> Operand:
        """A tensor with its value, which has samples in any case."""
        found = self.operand(tensor)
        if found.has_samples:
            return found
        return Operand(tensor, expanded(tensor, self.level), True)

    def tensor(self, name: str) -> TensorBase:
        """The tensor that was given for a parameter."""
        tensor = self.arguments[name]
        assert isinstance(tensor, TensorBase)
        return tensor

    def has_samples(self, name: str) -> bool:
        """Whether a tensor with samples was given for a parameter."""
        tensor = self.arguments.get(name)
        if not isinstance(tensor, TensorBase):
            return False
        batch = batch_of(tensor)
        return batch is not None and batch.level is self.level

    def value(self, name: str) -> TensorBase:
        """The value of a parameter's tensor, with samples in any case."""
        return self.expanded(self.tensor(name)).value

    def tensors(self) -> list[tuple[str, TensorBase]]:
        """The tensors among the arguments, and their parameters."""
        return [(n, v) for n, v in self.arguments.items() if isinstance(v, TensorBase)]

    def _tensors(self) -> list[TensorBase]:
        return tensors_among((*self.arguments.values(), *self.rest))

    # -- the call --------------------------------------------------------------------------

    def run(self, changes: dict[str, object]) -> object:
        """Call the operator with some of the arguments changed; for all samples at once."""
        return self.finish(self.called(changes))

    def called(self, changes: dict[str, object]) -> object:
        """What the operator returns for some of the arguments changed."""
        given = {**self.arguments, **changes}
        args: list[object] = []
        for name in self.operator.positional:
            if name not in given:
                break
            args.append(given.pop(name))
        return self.function(*args, *self.rest, **given)

    def as_one_sample(self) -> object:
        """Call the operator with zeros, or ones if it may divide, of the sizes of one sample.

        For the error that it raises, which speaks of these sizes, and for the shape and dtype that
        a result has.
        """
        number = int(self.operator.batch == "elementwise")
        return self.called({name: _filled(x, number) for name, x in self.arguments.items()})

    def as_sample(self, number: int) -> object:
        """Call the operator with copies of one sample."""
        return self.called({name: self._copied(x, number) for name, x in self.arguments.items()})

    def _copied(self, value: object, number: int) -> object:
        if isinstance(value, TensorBase):
            return F.clone(F.detach(self.sample(value, number)))
        if isinstance(value, (list, tuple)) and any(isinstance(x, TensorBase) for x in value):
            return [self._copied(one, number) for one in value]
        return value

    def sample(self, tensor: TensorBase, number: int) -> TensorBase:
        """One sample of a tensor, as a view; or the tensor, if it has no samples."""
        value = value_at(tensor, self.level)
        return tensor if value is None else F.select(value, 0, number)

    def refuse(self) -> NoReturn:
        """Raise the error of one sample, where values would be taken for something else.

        Raises
        ------
        NotSupportedError
            If there is no error for one sample.
        """
        self.as_one_sample()
        raise NotSupportedError(
            f"{self.operator.spoken} has no rule for these arguments inside of vmap",
            operator=self.operator.spoken,
        )

    def finish(self, result: object) -> object:
        """What the caller gets for values that the operator returned.

        For the value of an operand that is the operand itself, whose geometry may have changed.
        """
        if isinstance(result, TensorBase):
            for tensor, value in self._values:
                if value is result:
                    show_value(tensor, value)
                    return tensor
            return batched(samples_first(result, self._tensors(), self.operator.batch), self.level)
        assert isinstance(result, tuple), type(result)
        return like_parts(result, [self.finish(part) for part in result])

    def aligned(self, operand: Operand, ndim: int) -> TensorBase:
        """A value whose samples have more dimensions, of size 1 in front, so that they broadcast.

        Parameters
        ----------
        ndim : int
            The number of dimensions of a sample.
        """
        own = operand.tensor._impl.array.ndim
        if not operand.has_samples or own >= ndim:
            return operand.value
        sizes = operand.value._impl.array.shape
        return F.view_shape(operand.value, (sizes[0], *(1,) * (ndim - own), *sizes[1:]))
