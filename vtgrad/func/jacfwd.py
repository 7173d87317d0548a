"""The Jacobian of a function, as a function, in forward mode."""

from __future__ import annotations

import functools
from collections.abc import Callable

from ..ops.generated import functional as F
from ..tensor.tensor import Tensor
from ..utils.pytree import tree_flatten, tree_unflatten
from .arguments import ArgNums, checked_function, choose, gradient_tree
from .jvp import jvp

__all__ = ["jacfwd"]


def jacfwd(
    func: Callable[..., object], argnums: ArgNums = 0, has_aux: bool = False
) -> Callable[..., object]:
    """The function that computes the Jacobian of another function, in forward mode.

    It computes one product for each element of the arguments, and calls the function as often; for
    fewer outputs than inputs `jacrev` is cheaper.

    Parameters
    ----------
    func : callable
        Returns real tensors, in containers or not.
    argnums : int or tuple of int, default 0
        The positional arguments to differentiate by: real tensors, or containers of them.
    has_aux : bool, default False
        Whether `func` returns a pair, the outputs and something else, which is passed on.

    Returns
    -------
    callable
        As `jacrev`; Jacobians have the output's dtype.

    Raises
    ------
    ArgumentTypeError
        If `func` is no function.
    ArgumentValueError, TransformError
        When called, as for `jacrev`.
    ForwardModeError, NotSupportedError
        When called, as for `jvp`.

    Examples
    --------
    >>> vt.func.jacfwd(lambda x: x**2)(vt.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    checked_function(func, "jacfwd")

    @functools.wraps(func)
    def jacobian(*args: object, **kwargs: object) -> object:
        chosen = choose(args, argnums, "jacfwd", real=True)
        # By input, the product with each of its elements, by output.
        columns: list[list[list[Tensor]]] = []
        aux: object = None

        def of_tensors(*tensors: Tensor) -> object:
            return func(*chosen.call_with(tensors), **kwargs)

        spec = None
        outputs: list[Tensor] = []
        for nr, tensor in enumerate(chosen.tensors):
            products = []
            for element in range(max(tensor.numel(), 1)):
                vectors = [F.zeros_like(x) for x in chosen.tensors]
                if tensor.numel():
                    vectors[nr].reshape(-1)[element] = 1
                found = jvp(of_tensors, tuple(chosen.tensors), tuple(vectors), has_aux=has_aux)
                leaves, spec = tree_flatten(found[0])
                outputs = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
                aux = found[2] if has_aux else None
                products.append(
                    [leaf for leaf in tree_flatten(found[1])[0] if isinstance(leaf, Tensor)]
                )
            columns.append(products)
        assert spec is not None
        answers = []
        for place, output in enumerate(outputs):
            blocks = []
            for tensor, products in zip(chosen.tensors, columns, strict=True):
                parts = [product[place] for product in products]
                block = F.stack(parts, -1) if tensor.numel() else F.stack(parts, -1)[..., :0]
                blocks.append(block.reshape((*output.shape, *tensor.shape)))
            answers.append(gradient_tree(chosen, blocks))
        answer = tree_unflatten(answers, spec)
        return (answer, aux) if has_aux else answer

    return jacobian
