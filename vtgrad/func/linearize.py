"""A function near a point, as a linear function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, TypeVarTuple, cast

from vtgrad.autograd.reverse_call import (
    Arguments,
    InputEdge,
    Root,
    gradients_by,
    hide,
    in_transform,
    leads_outside,
    zero_leaf,
)
from vtgrad.autograd.zero_derivative import zero_derivative
from vtgrad.errors import ArgumentTypeError, TransformError
from vtgrad.func.arguments import checked_function, choose, output_leaves, shown_tree
from vtgrad.graph.recording import is_recording
from vtgrad.tensor.subclass_methods import in_class_of
from vtgrad.tensor.tensor import Tensor
from vtgrad.utils.pytree import TreeSpec, tree_flatten, tree_unflatten

__all__ = ["linearize"]

R = TypeVar("R")
Ts = TypeVarTuple("Ts")


class Pushforward:
    """The second result of `linearize`: it takes vectors like the arguments.

    The product of the Jacobian from the left is recorded once, as a function of the vector, in
    which it is linear; the derivative of that is the product from the right.
    """

    __slots__ = (
        "__weakref__",
        "_arguments",
        "_edges",
        "_given",
        "_outputs",
        "_products",
        "_spec",
        "_spec_of_args",
    )

    _arguments: Arguments
    _given: list[Tensor]
    _outputs: list[Tensor]
    _products: list[Root | None]
    _edges: list[InputEdge]
    _spec: TreeSpec
    _spec_of_args: TreeSpec

    def __init__(
        self, arguments: Arguments, spec_of_args: TreeSpec, outputs: list[Tensor], spec: TreeSpec
    ) -> None:
        cotangents = [zero_leaf(x) for x in outputs]
        self._arguments = arguments
        self._given = arguments.given
        self._outputs = outputs
        self._spec = spec
        self._spec_of_args = spec_of_args
        self._edges = [InputEdge.of(x) for x in cotangents]
        # Roots, for backward through a write makes a product by a write, so that the transform
        # leaves that tensor; see Note [What a transform leaves behind].
        self._products = [
            None if product is None else Root.of(product)
            for product in arguments.gradients(outputs, cotangents, recorded=True, keep_graph=True)
        ]
        for cotangent in cotangents:
            hide(cotangent)

    def __call__(self, *tangents: object) -> object:
        """The product of the Jacobian with one vector.

        Parameters
        ----------
        *tangents : object
            One argument for each of the function, in its containers, with its shapes and dtypes.

        Returns
        -------
        object
            The product, in the containers of the outputs.

        Raises
        ------
        TransformError
            If the tangents do not fit.
        StaleSavedError
            If a value that is needed was overwritten since the function was called.
        """
        leaves, spec = tree_flatten(tangents)
        if spec != self._spec_of_args:
            raise TransformError(
                f"the tangents must be in the containers of the arguments, {self._spec_of_args}; "
                f"they are in {spec}",
                expected=self._spec_of_args,
                found=spec,
            )
        vectors = []
        for nr, (leaf, like) in enumerate(zip(leaves, self._given, strict=True)):
            fits = isinstance(leaf, Tensor) and (leaf.shape, leaf.dtype) == (like.shape, like.dtype)
            if not isinstance(leaf, Tensor) or not fits:
                raise TransformError(
                    f"tangent {nr} must be a tensor of shape {list(like.shape)} and dtype "
                    f"{like.dtype}, as the argument",
                    index=nr,
                )
            vectors.append(leaf)
        pairs = [
            (product, vector)
            for product, vector in zip(self._products, vectors, strict=True)
            if product is not None
        ]
        outputs = [product for product, _ in pairs]
        given = [vector for _, vector in pairs]
        found = gradients_by(
            self._edges,
            outputs,
            given,
            recorded=is_recording() and leads_outside([*given, *outputs]),
            keep_graph=True,
        )
        answers = [
            in_class_of(
                zero_derivative(output)
                if derivative is None
                else self._arguments.shown(derivative),
                output,
            )
            for derivative, output in zip(found, self._outputs, strict=True)
        ]
        return tree_unflatten(answers, self._spec)


# See Note [Signatures that know the arguments].
def linearize(func: Callable[[*Ts], R], *primals: *Ts) -> tuple[R, Callable[[*Ts], R]]:
    """The outputs of a function, and the linear function of its products with vectors.

    Parameters
    ----------
    func : callable
        Returns floating or complex tensors, in containers or not. It is called once.
    *primals : object
        Its arguments: tensors, or containers of tensors.

    Returns
    -------
    outputs : object
        What `func` returned.
    push : callable
        Takes a vector ``v`` like the arguments, and returns ``J @ v`` in the containers of the
        outputs. It may be called again, and keeps what the function saved.

    Raises
    ------
    ArgumentTypeError
        If `func` is no function, or there are no arguments.
    TransformError
        If `func` returns anything but tensors, or an argument has integers in it.
    ArgumentValueError
        If an argument has objects in it that are no tensors.

    Examples
    --------
    >>> out, push = vt.func.linearize(lambda x: x**2, vt.tensor([1.0, 2.0]))
    >>> out, push(vt.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    checked_function(func, "linearize")
    if not primals:
        raise ArgumentTypeError(
            "linearize needs an argument to differentiate by", argument="primals"
        )
    chosen = choose(primals, tuple(range(len(primals))), "linearize")
    spec_of_args = tree_flatten(primals)[1]
    recorded = is_recording()

    call: Callable[..., R] = func

    def body() -> tuple[R, Callable[[*Ts], R]]:
        arguments = Arguments(chosen.tensors, connected=True, recorded=recorded)
        output = call(*chosen.call_with(arguments.inner))
        arguments.leave()
        outputs, spec = output_leaves(output, "linearize")
        push = Pushforward(arguments, spec_of_args, outputs, spec)
        # The containers of the outputs.
        return cast("R", shown_tree(arguments, output)), cast("Callable[[*Ts], R]", push)

    return in_transform(body)
