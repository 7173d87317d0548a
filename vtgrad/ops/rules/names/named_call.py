"""A call of an operator with operands whose dimensions have names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from vtgrad.ops.calling.reduction_arguments import checked_dim
from vtgrad.ops.operator import Operator
from vtgrad.storage.extra_meta import Names
from vtgrad.storage.geometry import normalize_dim
from vtgrad.storage.names import position_of, unified
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["NamedCall"]

# The parameters that say which dimensions are meant.
_DIMENSIONS: Final = frozenset(
    {"dim", "dims", "dim0", "dim1", "dim2", "dim_or_other", "dimension", "axis0", "axis1"}
    | {"source", "destination", "start_dim", "end_dim"}
)


class NamedCall:
    """The arguments of a call by parameter, where dimensions are numbers.

    Attributes
    ----------
    operator : Operator
        The record of the operator.
    values : dict of str to object
        The arguments by parameter.
    order : Names
        The names among which dimensions are looked up: those of the first tensor.
    """

    __slots__ = ("args", "kwargs", "operator", "order", "values")

    operator: Operator
    args: tuple[object, ...]
    kwargs: dict[str, object]
    values: dict[str, object]
    order: Names

    def __init__(
        self, operator: Operator, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> None:
        self.operator = operator
        given = dict(zip(operator.positional, args, strict=False))
        self.order = self._order_of([*given.values(), *kwargs.values()])
        positional = {name: self._numbered(name, value) for name, value in given.items()}
        # What follows the last parameter belongs to a parameter like ``*sizes``.
        self.args = (*positional.values(), *args[len(given) :])
        self.kwargs = {name: self._numbered(name, value) for name, value in kwargs.items()}
        self.values = {**positional, **self.kwargs}

    def _order_of(self, values: Sequence[object]) -> Names:
        for value in values:
            if isinstance(value, TensorBase):
                return value._impl.names
            if isinstance(value, Sequence) and value and isinstance(value[0], TensorBase):
                tensors = [tensor for tensor in value if isinstance(tensor, TensorBase)]
                order: Names = ()
                for tensor in _joined(tensors):
                    order = unified(order, tensor._impl.names, self.operator.spoken)
                return order
        return ()

    def _numbered(self, parameter: str, value: object) -> object:
        """An argument with numbers for names of dimensions."""
        if parameter not in _DIMENSIONS:
            return value
        if isinstance(value, str):
            return position_of(value, self.order)
        if isinstance(value, Sequence) and any(isinstance(one, str) for one in value):
            return tuple(
                [position_of(one, self.order) if isinstance(one, str) else one for one in value]
            )
        return value

    def has(self, parameter: str) -> bool:
        """Whether a tensor was given for a parameter."""
        return isinstance(self.values.get(parameter), TensorBase)

    def tensor(self, parameter: str) -> TensorBase:
        """The tensor that was given for a parameter."""
        value = self.values[parameter]
        assert isinstance(value, TensorBase)
        return value

    def names(self, parameter: str) -> Names:
        """The names of the tensor that was given for a parameter."""
        return self.tensor(parameter)._impl.names

    def operands(self) -> list[TensorBase]:
        """The tensors among the arguments, without what ``out=`` names."""
        return [
            value
            for parameter, value in self.values.items()
            if parameter != "out" and isinstance(value, TensorBase)
        ]

    def targets(self) -> tuple[TensorBase, ...]:
        """The tensors that the call writes: the first argument, or what ``out=`` names."""
        if self.operator.writes:
            return (self.operands()[0],)
        out = self.values.get("out")
        if isinstance(out, TensorBase):
            return (out,)
        if isinstance(out, Sequence):
            return tuple([tensor for tensor in out if isinstance(tensor, TensorBase)])
        return ()

    def dim(self, parameter: str, ndim: int | None = None, default: int = 0) -> int:
        """A dimension that was given, counted from the first one.

        Raises
        ------
        ArgumentTypeError
            If it is no integer.
        DimensionError
            If there is no such dimension.
        """
        value = self.values.get(parameter, default)
        ndim = len(self.order) if ndim is None else ndim
        return normalize_dim(checked_dim(value, parameter), ndim)

    def dims(self, parameter: str = "dim") -> tuple[int, ...]:
        """The dimensions that were given; all of them for None and for an empty sequence."""
        value = self.values.get(parameter)
        if not isinstance(value, Sequence):
            if value is None:
                return tuple(range(len(self.order)))
            return (self.dim(parameter),)
        ndim = len(self.order)
        found = [normalize_dim(checked_dim(number, parameter), ndim) for number in value]
        return tuple(found) if found else tuple(range(len(self.order)))


def _joined(tensors: list[TensorBase]) -> list[TensorBase]:
    """The tensors that are joined: `cat` leaves out empty vectors beside other tensors."""
    if all(tensor.ndim == 1 for tensor in tensors):
        return tensors
    return [tensor for tensor in tensors if tensor.shape != (0,)]
