"""The Jacobian of a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, cast, overload

from vtgrad.autograd.functional.call import (
    Inputs,
    R,
    Tensors,
    TensorT,
    Ts,
    call,
    checked_inputs,
    checked_tensors,
    filled,
    like,
    result,
)
from vtgrad.autograd.jacobian_columns import check_forward_mode, jacobian_by_columns
from vtgrad.autograd.jacobian_rows import jacobian_in_batches, jacobian_in_loop
from vtgrad.autograd.reverse_call import InputEdge, in_transform
from vtgrad.errors import NotSupportedError, OptionValueError, TransformError
from vtgrad.tensor.subclass_methods import in_classes_of
from vtgrad.tensor.tensor import Tensor

__all__ = ["Jacobian", "check_options", "jacobian", "matrices"]

Strategy: TypeAlias = Literal["reverse-mode", "forward-mode"]
Jacobian: TypeAlias = Tensor | tuple[Tensor, ...] | tuple[tuple[Tensor, ...], ...]


@overload
def jacobian(
    func: Callable[[TensorT], R],
    inputs: TensorT,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: Strategy = "reverse-mode",
) -> R: ...
@overload
def jacobian(
    func: Callable[[*Ts], Tensor],
    inputs: tuple[*Ts],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: Strategy = "reverse-mode",
) -> tuple[Tensor, ...]: ...
@overload
def jacobian(
    func: Callable[[*Ts], tuple[Tensor, ...]],
    inputs: tuple[*Ts],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: Strategy = "reverse-mode",
) -> tuple[tuple[Tensor, ...], ...]: ...
def jacobian(
    func: Callable[..., Tensors],
    inputs: Inputs,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: Strategy = "reverse-mode",
) -> Jacobian:
    """The Jacobian of a function: the derivatives of all output elements by all input elements.

    The function is called once. It gets tensors on the memory of the inputs, which it may not
    write; it may write to clones of them, and to tensors that it makes.

    Parameters
    ----------
    func : callable
        Takes the inputs as separate arguments, and returns a tensor or a tuple of tensors.
    inputs : Tensor or tuple of Tensor
        Floating or complex tensors.
    create_graph : bool, default False
        Record the Jacobian, so that it can be differentiated by what the inputs depend on, and by
        other tensors that `func` uses.
    strict : bool, default False
        Refuse an output that does not depend on an input, instead of a Jacobian of zeros; with
        `create_graph` also a Jacobian that does not depend on the inputs.
    vectorize : bool, default False
        Compute all rows in one pass.
    strategy : {"reverse-mode", "forward-mode"}, default "reverse-mode"
        Forward mode computes columns instead of rows, and needs `vectorize`.

    Returns
    -------
    Tensor, or tuple of Tensor, or tuple of tuple of Tensor
        For one output and one input, a tensor of the output's shape followed by the input's, in the
        input's dtype. A tuple of outputs gives a tuple, and so does a tuple of inputs: ``J[i][j]``.

    Raises
    ------
    ArgumentTypeError
        If inputs or outputs are anything but tensors and tuples of them.
    TransformError
        If an input has no derivatives, or an output is complex.
    IndependentError
        With `strict`.
    OptionValueError
        If options do not go together, or `strategy` is another word.
    NotSupportedError
        With ``strategy="forward-mode"`` without `vectorize`, or with `create_graph`.
    ForwardModeError
        With ``strategy="forward-mode"``, where forward mode is off.

    Examples
    --------
    >>> from vtgrad.autograd.functional import jacobian
    >>> jacobian(lambda x: x**2, vt.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    check_options(vectorize, strict, create_graph, strategy, "strategy")
    if strategy == "forward-mode":
        return _by_columns(func, inputs)

    def body() -> Jacobian:
        made = call(func, inputs, create_graph=create_graph)
        rows = matrices(
            made.arguments.edges,
            made.outputs,
            made.arguments.given,
            create_graph=create_graph,
            strict=strict,
            vectorize=vectorize,
        )
        found = [
            like(
                made.one_input,
                in_classes_of(result(row, create_graph=create_graph), made.arguments.given),
            )
            for row in rows
        ]
        return found[0] if made.one_output else cast("Jacobian", tuple(found))

    return in_transform(body)


def _by_columns(func: Callable[..., Tensors], inputs: Inputs) -> Jacobian:
    """The Jacobian in forward mode."""
    check_forward_mode("jacobian")
    given = checked_inputs(inputs)
    returned, blocks = jacobian_by_columns(
        lambda duals: func(*duals),
        lambda found: checked_tensors(found, "the outputs of the function"),
        given,
    )
    one_input = isinstance(inputs, Tensor)
    found = [
        like(one_input, in_classes_of(result(row, create_graph=False), given)) for row in blocks
    ]
    return found[0] if isinstance(returned, Tensor) else cast("Jacobian", tuple(found))


def matrices(
    edges: Sequence[InputEdge],
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    *,
    create_graph: bool,
    strict: bool,
    vectorize: bool,
) -> list[list[Tensor]]:
    """The Jacobian of each output by each input.

    Raises
    ------
    TransformError
        If an output is complex.
    IndependentError
        With `strict`.
    """
    for nr, output in enumerate(outputs):
        if output._impl.array.dtype.kind == "c":
            raise TransformError(
                f"output {nr} is complex, and a Jacobian has one number for the derivative by each "
                "element: differentiate view_as_real(output)",
                index=nr,
            )
    found = []
    compute = jacobian_in_batches if vectorize else jacobian_in_loop
    for nr, output in enumerate(outputs):
        blocks = compute(
            output,
            edges,
            inputs,
            recorded=create_graph,
            keep_graph=nr + 1 < len(outputs),
        )
        models = [_model(output, x) for x in inputs]
        found.append(
            filled(
                blocks,
                models,
                strict=strict,
                constants=create_graph,
                what=f"output {nr} of the function",
            )
        )
    return found


def _model(output: Tensor, x: Tensor) -> Tensor:
    """A tensor of the Jacobian's shape and dtype, without memory of its own."""
    return x.detach().expand((*output.shape, *x.shape))


def check_options(
    vectorize: bool, strict: bool, create_graph: bool, strategy: str, name: str
) -> None:
    """Raise unless the options of a Jacobian go together.

    Raises
    ------
    OptionValueError, NotSupportedError
        If they do not.
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise OptionValueError(
            f"{name} must be 'reverse-mode' or 'forward-mode', not {strategy!r}", option=name
        )
    if vectorize and strict:
        raise OptionValueError(
            "strict=True needs a pass for each row, vectorize=True makes one for all; choose one",
            option="strict",
        )
    if strategy == "forward-mode":
        if strict:
            raise OptionValueError(f"strict=True needs {name}='reverse-mode'", option="strict")
        if create_graph:
            raise NotSupportedError(
                f"create_graph=True needs {name}='reverse-mode'; vtgrad.func.jacfwd results can be "
                "differentiated"
            )
        if not vectorize:
            raise NotSupportedError(f"{name}='forward-mode' needs vectorize=True")
