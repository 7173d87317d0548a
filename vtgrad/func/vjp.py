"""Products of vectors with the Jacobian of a function, for as many vectors as wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeVar, TypeVarTuple, overload

from vtgrad.autograd.reverse_call import Arguments, Root, in_transform, leads_outside
from vtgrad.autograd.zero_derivative import zero_derivative
from vtgrad.errors import ArgumentTypeError, TransformError
from vtgrad.func.arguments import (
    Chosen,
    checked_function,
    choose,
    output_leaves,
    shown_tree,
    split_aux,
)
from vtgrad.graph.recording import is_recording
from vtgrad.tensor.subclass_methods import in_classes_of
from vtgrad.tensor.tensor import Tensor
from vtgrad.utils.pytree import TreeSpec, tree_flatten

__all__ = ["vjp"]

R = TypeVar("R")
A = TypeVar("A")
Ts = TypeVarTuple("Ts")


class Pullback:
    """The second result of `vjp`: it takes vectors like the outputs.

    Parameters
    ----------
    chosen : Chosen
        The arguments of the function.
    arguments : Arguments
        What it was called with.
    outputs : list of Tensor
        What it returned.
    spec : TreeSpec
        The containers that it returned them in.
    """

    __slots__ = ("__weakref__", "_arguments", "_chosen", "_outputs", "_spec")

    _chosen: Final[Chosen]
    _arguments: Final[Arguments]
    _outputs: Final[list[Root]]
    _spec: Final[TreeSpec]

    def __init__(
        self, chosen: Chosen, arguments: Arguments, outputs: list[Tensor], spec: TreeSpec
    ) -> None:
        self._chosen = chosen
        self._arguments = arguments
        # The caller may write to what the function returned.
        self._outputs = [Root.of(output) for output in outputs]
        self._spec = spec

    def __call__(self, *cotangents: object) -> tuple[object, ...]:
        """The products of one vector.

        Parameters
        ----------
        *cotangents : object
            One argument: the vector, in the containers of the outputs. If the function returned a
            tuple, its items may be passed as separate arguments.

        Returns
        -------
        tuple of object
            One item for each argument of the function, in its containers.

        Raises
        ------
        TransformError
            If the containers are others.
        ArgumentTypeError
            If a leaf is no tensor.
        GradientError
            If a tensor has another shape than the output.
        BatchedTensorError
            If the function was called inside of a `vmap` that has returned.
        StaleSavedError
            If a value that is needed was overwritten since the function was called.
        """
        tree: object = cotangents[0] if len(cotangents) == 1 else cotangents
        leaves, spec = tree_flatten(tree)
        if spec != self._spec:
            raise TransformError(
                f"the cotangents must be in the containers that the function returned, "
                f"{self._spec}; they are in {spec}",
                expected=self._spec,
                found=spec,
            )
        given: list[Tensor] = []
        for nr, leaf in enumerate(leaves):
            if not isinstance(leaf, Tensor):
                raise ArgumentTypeError(
                    f"cotangent {nr} must be a tensor, not {type(leaf).__name__}", index=nr
                )
            if leaf.shape != self._outputs[nr].tensor.shape:
                raise TransformError(
                    f"cotangent {nr} has shape {list(leaf.shape)}, the output "
                    f"{list(self._outputs[nr].tensor.shape)}",
                    index=nr,
                )
            given.append(leaf)
        arguments = self._arguments
        recorded = is_recording() and leads_outside([*given, *self._outputs])
        found = arguments.gradients(self._outputs, given, recorded=recorded, keep_graph=True)
        gradients = [
            zero_derivative(x) if gradient is None else arguments.shown(gradient)
            for gradient, x in zip(found, arguments.given, strict=True)
        ]
        return tuple(self._chosen.trees(in_classes_of(gradients, self._chosen.tensors)))


# See Note [Signatures that know the arguments].
@overload
def vjp(
    func: Callable[[*Ts], R], *primals: *Ts, has_aux: Literal[False] = False
) -> tuple[R, Callable[..., tuple[*Ts]]]: ...
@overload
def vjp(
    func: Callable[[*Ts], tuple[R, A]], *primals: *Ts, has_aux: Literal[True]
) -> tuple[R, Callable[..., tuple[*Ts]], A]: ...
@overload
def vjp(func: Callable[[*Ts], object], *primals: *Ts, has_aux: bool) -> tuple[object, ...]: ...
def vjp(func: Callable[..., object], *primals: object, has_aux: bool = False) -> object:
    """The outputs of a function, and the function of its products with vectors from the left.

    Parameters
    ----------
    func : callable
        Returns floating or complex tensors, in containers or not.
    *primals : object
        Its arguments: tensors, or containers of tensors.
    has_aux : bool, default False
        Whether `func` returns a pair, the outputs and something else, which is passed on.

    Returns
    -------
    outputs : object
        What `func` returned.
    pull : callable
        Takes a vector ``u`` like the outputs, and returns ``u @ J`` as a tuple with one item for
        each argument. It may be called again, and keeps what the function saved.
    aux : object
        Only with `has_aux`.

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
    >>> out, pull = vt.func.vjp(lambda x: x**2, vt.tensor([1.0, 2.0]))
    >>> out
    tensor([1., 4.])
    >>> pull(vt.tensor([1.0, 10.0]))
    (tensor([ 2., 40.]),)
    """
    checked_function(func, "vjp")
    if not primals:
        raise ArgumentTypeError("vjp needs an argument to differentiate by", argument="primals")
    chosen = choose(primals, tuple(range(len(primals))), "vjp")
    recorded = is_recording()

    def body() -> tuple[object, ...]:
        arguments = Arguments(chosen.tensors, connected=True, recorded=recorded)
        returned = func(*chosen.call_with(arguments.inner))
        arguments.leave()
        output, aux = split_aux(returned, has_aux, "vjp")
        outputs, spec = output_leaves(output, "vjp")
        pull = Pullback(chosen, arguments, outputs, spec)
        shown = shown_tree(arguments, output)
        return (shown, pull, shown_tree(arguments, aux)) if has_aux else (shown, pull)

    return in_transform(body)
