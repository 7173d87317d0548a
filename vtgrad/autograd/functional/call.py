"""The call that all functions of this package share: arguments in, outputs and gradients out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias, TypeVar, TypeVarTuple

from vtgrad.autograd.reverse_call import Arguments, constant
from vtgrad.autograd.zero_derivative import zero_derivative
from vtgrad.errors import ArgumentTypeError, ArgumentValueError, IndependentError, TransformError
from vtgrad.ops.generated import functional as F
from vtgrad.storage.dtypes import dtype_of
from vtgrad.tensor.subclass_methods import in_class_of
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "Call",
    "Inputs",
    "R",
    "TensorT",
    "Tensors",
    "Ts",
    "call",
    "checked_inputs",
    "checked_tensors",
    "checked_vector",
    "filled",
    "like",
    "one_number",
    "result",
]

Tensors: TypeAlias = Tensor | tuple[Tensor, ...]
# Inputs, before `checked_inputs`.
Inputs: TypeAlias = Tensor | tuple[object, ...]
# The class of one input, and what a function returns: a tensor or a tuple, whatever their classes.
TensorT = TypeVar("TensorT", bound=Tensor)
R = TypeVar("R", Tensor, tuple[Tensor, ...], Tensors)
# The tensors of a tuple of inputs: see Note [Signatures that know the arguments].
Ts = TypeVarTuple("Ts")


def checked_tensors(value: object, what: str) -> tuple[Tensor, ...]:
    """One tensor, or a tuple of them, as a tuple.

    Raises
    ------
    ArgumentTypeError
        For anything else.
    """
    if isinstance(value, Tensor):
        return (value,)
    if not isinstance(value, tuple):
        raise ArgumentTypeError(
            f"{what} must be a tensor or a tuple of tensors, not {type(value).__name__}; "
            "vtgrad.func takes other containers",
            argument=what,
        )
    for nr, item in enumerate(value):
        if not isinstance(item, Tensor):
            raise ArgumentTypeError(
                f"{what} must be a tensor or a tuple of tensors, but item {nr} is of type "
                f"{type(item).__name__}; vtgrad.func takes other containers",
                argument=what,
                index=nr,
            )
    return value


class Call(NamedTuple):
    """A function that was called with arguments of its own.

    Attributes
    ----------
    arguments : Arguments
        What it was called with.
    outputs : tuple of Tensor
        What it returned.
    one_input, one_output : bool
        Whether the caller passed, and the function returned, a tensor that is in no tuple.
    """

    arguments: Arguments
    outputs: tuple[Tensor, ...]
    one_input: bool
    one_output: bool


def call(function: Callable[..., Tensors], inputs: Inputs, *, create_graph: bool) -> Call:
    """Call a function, so that its outputs can be differentiated by the inputs.

    Raises
    ------
    ArgumentTypeError
        If inputs or outputs are no tensors.
    ArgumentValueError
        If there are no inputs.
    TransformError
        If an input has a dtype without gradients.
    """
    given = checked_inputs(inputs)
    arguments = Arguments(given, connected=create_graph)
    returned = function(*arguments.inner)
    if not create_graph:
        arguments.leave()
    outputs = checked_tensors(returned, "the outputs of the function")
    return Call(arguments, outputs, isinstance(inputs, Tensor), isinstance(returned, Tensor))


def checked_inputs(inputs: Inputs) -> tuple[Tensor, ...]:
    """The inputs, by which can be differentiated.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, TransformError
        As `call` does.
    """
    given = checked_tensors(inputs, "inputs")
    if not given:
        raise ArgumentValueError("there must be an input to differentiate by", argument="inputs")
    for nr, tensor in enumerate(given):
        if tensor._impl.array.dtype.kind not in "fc":
            raise TransformError(
                f"input {nr} is {dtype_of(tensor._impl.array.dtype).name}, which has no "
                "derivatives; pass a floating or complex tensor",
                index=nr,
            )
    return given


def like(one: bool, tensors: Sequence[Tensor]) -> Tensors:
    """The tensors as a tuple, or the only one alone."""
    return tensors[0] if one else tuple(tensors)


def result(tensors: Sequence[Tensor], *, create_graph: bool) -> list[Tensor]:
    """Tensors as the caller gets them: constants, unless a graph was requested."""
    return [x if create_graph or not x.requires_grad else constant(x) for x in tensors]


def filled(
    found: Sequence[Tensor | None],
    models: Sequence[Tensor],
    *,
    strict: bool,
    constants: bool,
    what: str,
    of: str = "input",
) -> list[Tensor]:
    """Derivatives, with zeros for those that are missing.

    Parameters
    ----------
    found : sequence of Tensor or None
        The derivatives.
    models : sequence of Tensor
        What each of them is like.
    strict : bool
        Whether a missing one is an error.
    constants : bool
        Whether, with `strict`, one that cannot be differentiated again is an error too.
    what, of : str
        What is missing, and what it does not depend on, for the message.

    Raises
    ------
    IndependentError
        With `strict`.
    """
    answers = []
    for nr, (derivative, model) in enumerate(zip(found, models, strict=True)):
        if derivative is None:
            if strict:
                raise IndependentError(
                    f"{what} does not depend on {of} {nr}; strict=False gives zeros", index=nr
                )
            derivative = zero_derivative(model)
        elif strict and constants and not derivative.requires_grad:
            raise IndependentError(
                f"{what} has a derivative by {of} {nr} that does not depend on the inputs, so it "
                "cannot be differentiated again; strict=False returns it as a constant",
                index=nr,
            )
        answers.append(in_class_of(derivative, model))
    return answers


def checked_vector(v: object, models: Sequence[Tensor], what: str) -> list[Tensor]:
    """The vector of a product, with one tensor for each model.

    Parameters
    ----------
    v : object
        A tensor, a tuple of tensors, or None for a one, if the models are one number.
    models : sequence of Tensor
        Inputs or outputs.
    what : str
        What the models are.

    Raises
    ------
    ArgumentTypeError, TransformError
        If the vector does not fit, or is missing.
    """
    if v is None:
        if len(models) != 1 or models[0].numel() != 1:
            shapes = [list(x.shape) for x in models]
            raise TransformError(
                f"v may be left out only for a single {what} with one element, but there are "
                f"{len(models)}, of shapes {shapes}",
                argument="v",
            )
        return [F.ones_like(models[0])]
    vectors = checked_tensors(v, "v")
    if len(vectors) != len(models):
        raise TransformError(
            f"v has {len(vectors)} tensors for {len(models)} {what}s", expected=len(models)
        )
    for nr, (vector, model) in enumerate(zip(vectors, models, strict=True)):
        if vector.is_complex() and not model.is_complex():
            raise TransformError(
                f"item {nr} of v is complex, the {what} real",
                index=nr,
            )
        if vector.shape != model.shape:
            raise TransformError(
                f"item {nr} of v has shape {list(vector.shape)}, the {what} {list(model.shape)}",
                index=nr,
                expected=tuple(model.shape),
                found=tuple(vector.shape),
            )
    return [_in_dtype_of(vector, model) for vector, model in zip(vectors, models, strict=True)]


def _in_dtype_of(vector: Tensor, model: Tensor) -> Tensor:
    return vector if vector.dtype == model.dtype else vector.to(model.dtype)


def one_number(made: Call, name: str) -> Tensor:
    """The only output, which must be one real number.

    Raises
    ------
    TransformError
        If the function returned anything else.
    """
    if len(made.outputs) != 1 or made.outputs[0].numel() != 1:
        shapes = [list(x.shape) for x in made.outputs]
        raise TransformError(
            f"{name} needs a function that returns one tensor with one element; it returned "
            f"{len(shapes)}, of shapes {shapes}",
            shapes=shapes,
        )
    (output,) = made.outputs
    if output._impl.array.dtype.kind == "c":
        raise TransformError(
            f"{name} needs a function that returns a real number; it returned a complex one"
        )
    return output
