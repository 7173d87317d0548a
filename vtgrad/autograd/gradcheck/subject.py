"""The function under check, its inputs and its outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias, TypeVar, TypeVarTuple

import numpy as np

from vtgrad.errors import ArgumentValueError, GradcheckError, OutputTypeError, SelfOverlapError
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.geometry import has_self_overlap
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.warn import warn
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "Inputs",
    "Outputs",
    "S",
    "Subject",
    "T",
    "Ts",
    "double_values",
    "inputs_of",
    "is_differentiable",
    "listed_outputs",
    "refuse_overlap",
    "require_finite_step",
    "subject_of",
]

Outputs: TypeAlias = Tensor | Sequence[Tensor]
Inputs: TypeAlias = Tensor | Sequence[object]
# The class of one input, those of a tuple of inputs, and that of the items of a list.
T = TypeVar("T", bound=Tensor)
Ts = TypeVarTuple("Ts")
S = TypeVar("S")


class Subject(NamedTuple):
    """A function together with the point at which it is checked.

    Attributes
    ----------
    function : callable
        From `arguments` to a tensor or several.
    arguments : tuple
        What the function is called with: the very objects of the caller.
    inputs : tuple of Tensor
        Those of the arguments that require grad, in their order.
    input_names : tuple of str
        What reports call the inputs.
    output_names : tuple of str
        What reports call the outputs; ``"output 3"`` where there are more outputs than names.
    output_dtypes : tuple of dtype
        The dtypes of the outputs, which must not change with the inputs; empty if not known yet.
    """

    function: Callable[..., object]
    arguments: tuple[object, ...]
    inputs: tuple[Tensor, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...] = ()
    output_dtypes: tuple[object, ...] = ()

    def with_dtypes_of(self, outputs: Sequence[Tensor]) -> Subject:
        """The same function, from which outputs of the dtypes of these are expected."""
        return self._replace(output_dtypes=tuple([y.dtype for y in outputs]))

    def outputs(self) -> list[Tensor]:
        """Call the function."""
        return listed_outputs(self.function(*self.arguments))

    def with_outputs(self, numbers: Sequence[int]) -> Subject:
        """The same function with some of its outputs."""

        def function(*arguments: object) -> list[Tensor]:
            outputs = listed_outputs(self.function(*arguments))
            return [outputs[nr] for nr in numbers]

        return self._replace(function=function, output_names=tuple(map(self.output_name, numbers)))

    def output_name(self, nr: int) -> str:
        """What reports call an output."""
        return self.output_names[nr] if nr < len(self.output_names) else f"output {nr}"


def inputs_of(inputs: Inputs) -> tuple[object, ...]:
    """The arguments of the function, from what the caller has passed."""
    if isinstance(inputs, (tuple, list)):
        return tuple(inputs)
    return (inputs,)


def listed_outputs(returned: object) -> list[Tensor]:
    """What the function has returned, as a list of tensors.

    Raises
    ------
    OutputTypeError
        If there is something else than tensors.
    """
    listed: Sequence[object] = returned if isinstance(returned, (tuple, list)) else [returned]
    outputs = []
    for nr, output in enumerate(listed):
        if not isinstance(output, Tensor):
            raise OutputTypeError(
                "the function that is checked must return a tensor, or a tuple or list of tensors; "
                f"output {nr} is of type {type(output).__name__}",
                index=nr,
            )
        outputs.append(output)
    return outputs


def is_differentiable(value: object) -> bool:
    """Whether this is a tensor that requires grad."""
    return isinstance(value, Tensor) and value.requires_grad


def subject_of(function: Callable[..., object], arguments: tuple[object, ...]) -> Subject:
    """Look at the inputs of a function that is to be checked.

    Raises
    ------
    ArgumentValueError
        If no input requires grad.
    SelfOverlapError
        If elements of an input share memory.
    """
    numbers = [nr for nr, argument in enumerate(arguments) if is_differentiable(argument)]
    inputs = [x for x in arguments if isinstance(x, Tensor) and x.requires_grad]
    if not inputs:
        raise ArgumentValueError(
            "no input requires grad, so that there is no gradient to check: pass requires_grad=True"
        )
    for nr, x in zip(numbers, inputs, strict=True):
        if x._impl.dtype not in (np.float64, np.complex128):
            warn(
                f"input {nr} is {x.dtype}: with less than double precision central differences "
                "are too coarse for the usual tolerances"
            )
        refuse_overlap(x, f"input {nr}")
    return Subject(function, arguments, tuple(inputs), tuple(f"input {nr}" for nr in numbers))


def refuse_overlap(x: Tensor, name: str) -> None:
    """Refuse a tensor whose elements cannot be changed one by one.

    Raises
    ------
    SelfOverlapError
        If some of them share memory.
    """
    if has_self_overlap(x.shape, x.stride()):
        raise SelfOverlapError(
            f"some elements of {name} (shape {list(x.shape)}, strides {list(x.stride())}) share "
            "memory, so that one cannot be changed without the other; pass a clone",
            input=name,
            shape=tuple(x.shape),
            strides=x.stride(),
        )


def double_values(tensor: Tensor) -> Array:
    """The values of a tensor as a new array in double precision; truth values are numbers."""
    array = tensor._impl.array
    dtype = np.complex128 if array.dtype.kind == "c" else np.float64
    return making.array(resolved(array), dtype)


def require_finite_step(step: Array, name: str, eps: float) -> None:
    """Refuse a step that the precision of the input has swallowed.

    Raises
    ------
    GradcheckError
        If a step is zero, or not finite.
    """
    if not np.all(np.isfinite(step) & (step != 0)):
        raise GradcheckError(
            f"{name} has elements that do not change when eps={eps} is added, because they are "
            "too large, or their dtype is too coarse: choose another point or eps",
            check="step",
            input=name,
            eps=eps,
        )
