"""What was wrong with the arguments of a call that failed.

Note [Arguments are looked at when a call has failed]

Whether every argument has a type that its operator takes is a question that costs time, and the
answer is nearly always yes. So kernels and geometry work with what they get, and if one of them
fails (Note [A failed call]), `explain` compares the arguments with the types in the derivative
table and raises an `ArgumentTypeError` that names the first that does not fit. If all of them fit,
the error goes on as it is: either it tells what else is wrong, or it is a fault of ours, which is
to be seen. A call that succeeds pays nothing, because entering a ``try`` costs nothing.
"""

from __future__ import annotations

import functools
import inspect
import operator
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar, cast

import numpy as np

from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    BatchedTensorError,
    NameNotFoundError,
    NamesError,
    NotSupportedError,
    VtgradError,
)
from vtgrad.generator import Generator
from vtgrad.ops.calling.constants import as_tensors, tensors_for_numbers
from vtgrad.ops.calling.numbers import out_of_context
from vtgrad.ops.calling.take_over import call_override, is_overridden, override_handler
from vtgrad.ops.operator import described
from vtgrad.storage.dtypes import DType
from vtgrad.storage.integers import integer
from vtgrad.storage.key_set import keys
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.strides import MAX_DIMS
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["explain", "explained"]


F = TypeVar("F", bound=Callable[..., object])


def explain(error: Exception, parameters: str, *values: object) -> None:
    """Raise a better error than `error` if an argument is to blame.

    Parameters
    ----------
    error : Exception
        What the operator raised. An error of this package is clear already, but that an argument
        has a wrong type comes before whatever else is wrong with it, unless that is its names.
    parameters : str
        The parameters' names and types, as records state them (`vtgrad.ops.operator.Operator`).
    *values : object
        What was passed for them.

    Raises
    ------
    ArgumentTypeError
        If an argument is not of its type.
    ArgumentValueError
        If a number is too large for the computation.
    NameNotFoundError
        If a dimension is given by name, and there are no names.
    NotSupportedError
        If NumPy cannot do it with tensors of so many dimensions.
    """
    if isinstance(error, (ArgumentTypeError, BatchedTensorError, NamesError)):
        # Of a tensor with names, a dimension may have been given by name; a 0-d tensor without
        # samples might have stood for a number.
        return
    known = described(parameters)
    for (name, wanted), value in zip(known, values, strict=True):
        if not _fits(value, wanted):
            if "dim" in name and isinstance(value, str):
                raise NameNotFoundError(
                    f"there is no dimension {value!r}: the tensor's dimensions have no names",
                    name=value,
                ) from error
            raise ArgumentTypeError(
                f"argument {name!r} must be {_described(wanted)}, not {_type_of(value)}",
                argument=name,
            ) from error
    if isinstance(error, VtgradError):
        return
    for (name, _), value in zip(known, values, strict=True):
        if any(abs(n) > _LARGE for n in _integers(value)):
            raise ArgumentValueError(
                f"argument {name!r} holds a number that is too large", argument=name
            ) from error
    if isinstance(error, (IndexError, ValueError, RuntimeError)):
        most = max(map(_dimensions, values), default=0)
        if most >= _MANY:
            raise NotSupportedError(
                f"NumPy cannot do this with a tensor of {most} dimensions: {error}", ndim=most
            ) from error


_LARGE: Final = 2**31
# From so many dimensions on, steps of a computation may need more than NumPy has.
_MANY: Final = MAX_DIMS // 2


def _dimensions(value: object) -> int:
    """The number of dimensions of a tensor, the largest one in a sequence of them."""
    if isinstance(value, TensorBase):
        return value.ndim
    return max(map(_dimensions, value), default=0) if isinstance(value, (list, tuple)) else 0


def _fits(value: object, wanted: str) -> bool:
    return any(_KINDS[kind][0](value) for kind in wanted.split("|"))


def _described(wanted: str) -> str:
    return " or ".join(_KINDS[kind][1] for kind in wanted.split("|"))


def _type_of(value: object) -> str:
    if isinstance(value, (list, tuple)) and value:
        return f"{type(value).__name__} of {type(value[0]).__name__}"
    return type(value).__name__


def _is_tensor(value: object) -> bool:
    return isinstance(value, TensorBase)


def _are_tensors(value: object) -> bool:
    return isinstance(value, Sequence) and all(map(_is_tensor, value))


def _is_number(value: object) -> bool:
    return isinstance(value, (bool, int, float, complex, np.number, np.bool_))


def _is_real(value: object) -> bool:
    return _is_number(value) and not isinstance(value, (complex, np.complexfloating))


def _is_integer(value: object) -> bool:
    if isinstance(value, (bool, np.ndarray)):
        return False
    if isinstance(value, TensorBase) and (value.ndim or value._impl.dtype.kind == "b"):
        return False
    try:
        integer(value)
    except TypeError:
        return False
    return True


def _are_integers(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(map(_is_integer, value))


def _are_real(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(map(_is_real, value))


def _integers(value: object) -> Sequence[int]:
    items = value if isinstance(value, (list, tuple)) else [value]
    return [operator.index(n) for n in items if isinstance(n, (int, np.integer))]


def _is_geometry(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 3


def _instance(*types: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, types)


_INTEGERS: Final = (_are_integers, "a sequence of integers")

# Each type that the tables use: what belongs to it, and how a message calls it.
_KINDS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "Tensor": (_is_tensor, "a tensor"),
    "Tensors": (_are_tensors, "a sequence of tensors"),
    "Pair": (
        lambda value: _are_tensors(value) and len(cast("Sequence[object]", value)) == 2,
        "two tensors",
    ),
    "Number": (_is_number, "a number"),
    "float": (_is_real, "a real number"),
    "int": (_is_integer, "an integer"),
    "bool": (_instance(bool, np.bool_, int), "a bool"),
    "str": (_instance(str), "a text"),
    "object": (lambda value: True, "anything"),
    "None": (lambda value: value is None, "None"),
    "Shape": _INTEGERS,
    "Sequence[int]": _INTEGERS,
    "Numbers": (_are_real, "a sequence of real numbers"),
    "DType": (_instance(DType), "a dtype"),
    "NumpyDType": (_instance(np.dtype), "a NumPy dtype"),
    "MemoryFormat": (_instance(MemoryFormat), "a memory format"),
    "Generator": (_instance(Generator), "a generator"),
    "Geometry3": (_is_geometry, "sizes, strides and an offset"),
    "Dims": (
        lambda value: value is None or _is_integer(value) or _are_integers(value),
        "an integer, a sequence of integers or None",
    ),
}


# -- functions written by hand ----------------------------------------------------------------


def explained(function: F) -> F:
    """A function that calls `explain` when it fails, with the types of its annotations.

    It is called again if an argument is an array where it takes a tensor.

    For functions that are not called in inner loops: unlike a ``try`` in their body, this costs
    a call.
    """

    @functools.wraps(function)
    def call(*arguments: object, **options: object) -> object:
        if keys.active and is_overridden(*arguments, *options.values()):
            return call_override(call, *arguments, **options)
        try:
            return function(*arguments, **options)
        except Exception as error:
            overrides = override_handler()
            if overrides is not None:
                if overrides.has_raised(error):
                    raise
                if overrides.takes([*arguments, *options.values()]):
                    return call_override(call, *arguments, **options)
            made = _explain_call(error, function, arguments, options)
            if made is None:
                raise
            with out_of_context(error):
                # Its errors are explained too; it has no arrays any more.
                return call(*made.args, **made.kwargs)

    return cast("F", call)


def _explain_call(
    error: Exception,
    function: Callable[..., object],
    arguments: Sequence[object],
    options: Mapping[str, object],
) -> inspect.BoundArguments | None:
    """The arguments with which the call is made again, if tensors can stand for arrays in them."""
    signature = inspect.signature(function, eval_str=True)
    try:
        bound = signature.bind(*arguments, **options)
    except TypeError:
        return None  # the wrong number of arguments: Python's own text says it well
    wanted: list[str] = []
    values: list[object] = []
    for name, value in bound.arguments.items():
        parameter = signature.parameters[name]
        kinds = "object" if name == "out" else "|".join(_kinds_of(parameter.annotation))
        every = value if parameter.kind is parameter.VAR_POSITIONAL else [value]
        assert isinstance(every, Sequence)
        for one in every:
            wanted.append(f"{name}:{kinds}")
            values.append(one)
    written = function.__name__.endswith("_")
    types_of_values = [text.partition(":")[2] for text in wanted]
    made = as_tensors(types_of_values, values, written=written)
    if not made:
        with_numbers = [
            tensors_for_numbers(value) if "Tensors" in kind.split("|") else value
            for kind, value in zip(types_of_values, values, strict=True)
        ]
        if any(new is not old for new, old in zip(with_numbers, values, strict=True)):
            made = with_numbers
    if not made:
        explain(error, " ".join(wanted), *values)
        return None
    rest = iter(made)
    for name, value in bound.arguments.items():
        several = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        bound.arguments[name] = tuple([next(rest) for _ in value]) if several else next(rest)
    return bound


def _kinds_of(annotation: object) -> list[str]:
    """The table's names of an annotation's types."""
    if isinstance(annotation, types.UnionType):
        return [kind for part in annotation.__args__ for kind in _kinds_of(part)]
    if typing.get_origin(annotation) is typing.Union:
        return [kind for part in typing.get_args(annotation) for kind in _kinds_of(part)]
    if isinstance(annotation, TypeVar) or annotation is TensorBase:
        return ["Tensor"]
    if typing.get_origin(annotation) is Sequence:
        (item,) = typing.get_args(annotation)
        of_numbers = "Numbers" if item is float else "Sequence[int]"
        return ["Tensors"] if _kinds_of(item) == ["Tensor"] else [of_numbers]
    if annotation is types.NoneType:
        return ["None"]
    if annotation is complex:
        return ["Number"]
    if isinstance(annotation, type) and annotation.__name__ in _KINDS:
        return [annotation.__name__]
    return ["object"]
