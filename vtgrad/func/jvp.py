"""The product of the Jacobian of a function with a vector, in forward mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar, TypeVarTuple, overload

from vtgrad.autograd.dual_tensors import at_new_level, dual_argument, tangent_at
from vtgrad.autograd.jacobian_columns import check_forward_mode
from vtgrad.autograd.zero_derivative import zero_derivative
from vtgrad.errors import ArgumentTypeError, IndependentError, TransformError
from vtgrad.func.arguments import checked_function, output_leaves, split_aux, tensor_leaves
from vtgrad.graph.forward_grad import DualLevel
from vtgrad.tensor.subclass_methods import in_class_of
from vtgrad.tensor.tensor import Tensor
from vtgrad.utils.pytree import TreeSpec, tree_unflatten

__all__ = ["jvp"]

R = TypeVar("R")
A = TypeVar("A")
Ts = TypeVarTuple("Ts")


# See Note [Signatures that know the arguments].
@overload
def jvp(
    func: Callable[[*Ts], R],
    primals: tuple[*Ts],
    tangents: tuple[*Ts],
    *,
    strict: bool = False,
    has_aux: Literal[False] = False,
) -> tuple[R, R]: ...
@overload
def jvp(
    func: Callable[[*Ts], tuple[R, A]],
    primals: tuple[*Ts],
    tangents: tuple[*Ts],
    *,
    strict: bool = False,
    has_aux: Literal[True],
) -> tuple[R, R, A]: ...
@overload
def jvp(
    func: Callable[[*Ts], object],
    primals: tuple[*Ts],
    tangents: tuple[*Ts],
    *,
    strict: bool = False,
    has_aux: bool,
) -> tuple[object, ...]: ...
def jvp(
    func: Callable[..., object],
    primals: tuple[object, ...],
    tangents: tuple[object, ...],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> object:
    """The outputs of a function, and the product of its Jacobian with a vector.

    It is computed in forward mode, while the function runs, and may be nested. The function may
    write to its arguments: that changes the caller's tensors.

    Parameters
    ----------
    func : callable
        Returns tensors, in containers or not. It is called once.
    primals : tuple of object
        Its arguments: tensors, or containers of tensors.
    tangents : tuple of object
        The vector, in the same containers.
    strict : bool, default False
        Refuse an output that does not depend on the arguments, instead of a product of zeros.
    has_aux : bool, default False
        Whether `func` returns a pair, the outputs and something else, which is passed on.

    Returns
    -------
    outputs : object
        What `func` returned.
    product : object
        ``J @ v``, in the containers of the outputs.
    aux : object
        Only with `has_aux`.

    Raises
    ------
    ArgumentTypeError
        If `func` is no function, or primals and tangents are no tuples.
    TransformError
        If the tangents do not fit the primals, or a result is no tensor.
    IndependentError
        With `strict`.
    ForwardModeError
        In inference mode.
    NotSupportedError
        If the function uses an operator that has no tangents.

    Examples
    --------
    >>> vt.func.jvp(lambda x: x**2, (vt.tensor(3.0),), (vt.tensor(1.0),))
    (tensor(9.), tensor(6.))
    """
    checked_function(func, "jvp")
    values, vectors, spec = _pairs(primals, tangents)
    check_forward_mode("jvp")

    def body(level: DualLevel) -> tuple[object, ...]:
        duals = [
            dual_argument(value, vector, level)
            for value, vector in zip(values, vectors, strict=True)
        ]
        arguments = tree_unflatten(duals, spec)
        assert isinstance(arguments, tuple)
        output, aux = split_aux(func(*arguments), has_aux, "jvp")
        outputs, shape = output_leaves(output, "jvp", integers=True)
        products = []
        for nr, leaf in enumerate(outputs):
            tangent = tangent_at(leaf, level)
            if tangent is None and strict:
                raise IndependentError(
                    f"output {nr} of the function does not depend on the arguments; strict=False "
                    "gives zeros",
                    index=nr,
                )
            found = zero_derivative(leaf) if tangent is None else tangent
            products.append(in_class_of(found, leaf))
        product = tree_unflatten(products, shape)
        return (output, product, aux) if has_aux else (output, product)

    return at_new_level(body)


def _pairs(primals: object, tangents: object) -> tuple[list[Tensor], list[Tensor], TreeSpec]:
    """The tensors of the primals and of the tangents, and the containers of both.

    Raises
    ------
    ArgumentTypeError, TransformError
        If they do not fit.
    """
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, tuple) or not given:
            raise ArgumentTypeError(
                f"{name} of jvp must be a tuple with an item for each argument, not "
                f"{type(given).__name__}" + (" without items" if given == () else ""),
                argument=name,
            )
    values, spec = tensor_leaves(primals, "primals")
    vectors, other = tensor_leaves(tangents, "tangents")
    if spec != other:
        raise TransformError(
            f"the tangents must be in the containers of the primals, {spec}; they are in {other}",
            expected=spec,
            found=other,
        )
    for nr, (value, vector) in enumerate(zip(values, vectors, strict=True)):
        if value.shape != vector.shape:
            raise TransformError(
                f"tangent {nr} has shape {list(vector.shape)}, its primal {list(value.shape)}",
                index=nr,
            )
    return values, vectors, spec
