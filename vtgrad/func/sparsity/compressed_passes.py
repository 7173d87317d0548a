"""Products of a Jacobian with the rows of a matrix of seeds: one pass for each, in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from vtgrad.autograd.dual_tensors import at_new_level, dual_argument, tangent_at
from vtgrad.autograd.jacobian_columns import check_forward_mode
from vtgrad.autograd.zero_derivative import zero_derivative
from vtgrad.errors import TransformError
from vtgrad.func.arguments import output_leaves, split_aux
from vtgrad.func.vjp import vjp
from vtgrad.graph.batch import BatchLevel, batched
from vtgrad.graph.forward_grad import DualLevel
from vtgrad.graph.node import Node
from vtgrad.graph.set_history import gradient_edge
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.entering import expanded
from vtgrad.ops.rules.batches.run_in_batch import run_in_batch
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.lazy_array import resolved
from vtgrad.tensor.from_data import tensor
from vtgrad.tensor.tensor import Tensor
from vtgrad.utils.pytree import TreeSpec, tree_flatten, tree_unflatten

__all__ = ["ForwardPasses", "Passes", "ReversePasses"]

Function = Callable[..., object]


class Passes(Protocol):
    """Passes of one mode at one point.

    Attributes
    ----------
    aux : object
        What the function returned beside its outputs.
    eps : float
        The relative rounding error of the coarsest dtype among inputs and outputs.
    """

    aux: object
    eps: float

    def products(self, seeds: Array) -> Array:
        """One product for each row of `seeds`, as the rows of a matrix."""
        ...


class ForwardPasses:
    """Products ``J @ v``, as many as wanted by one call of the function.

    Only tangents are a batch, as in `jacfwd`, so the function may read values and write.

    Parameters
    ----------
    func : callable
        Takes the inputs, one tensor each.
    inputs : callable
        Makes the inputs, which the function may write to.
    shapes : tuple of tuple of int
        The shapes that the outputs must have.
    has_aux : bool
        Whether the function returns a pair.
    in_batches : bool
        Whether several products are computed together.
    """

    aux: object
    eps: float

    def __init__(
        self,
        func: Function,
        inputs: Callable[[], Sequence[Tensor]],
        shapes: tuple[Shape, ...],
        has_aux: bool,
        in_batches: bool,
    ) -> None:
        check_forward_mode("sparse_jacobian")
        self._func = func
        self._inputs = inputs
        self._shapes = shapes
        self._has_aux = has_aux
        self._in_batches = in_batches
        self.aux = None
        self.eps = 0.0

    def products(self, seeds: Array) -> Array:
        """One product for each row of `seeds`."""
        if not self._in_batches:
            return np.concatenate([self._run(row, None) for row in seeds[:, None]])
        return run_in_batch(lambda level: self._run(seeds, level), len(seeds))

    def _run(self, seeds: Array, level: BatchLevel | None) -> Array:
        inputs = self._inputs()

        def at_level(dual_level: DualLevel) -> Array:
            duals = [
                dual_argument(x, rows, dual_level)
                for x, rows in zip(inputs, split_like(seeds, inputs, level), strict=True)
            ]
            output, self.aux = split_aux(self._func(*duals), self._has_aux, "sparse_jacobian")
            outputs = output_leaves(output, "sparse_jacobian", real=True)[0]
            check_shapes(outputs, self._shapes)
            self.eps = coarsest([*inputs, *outputs])
            products = []
            for one in outputs:
                tangent = tangent_at(one, dual_level)
                products.append(zero_derivative(one) if tangent is None else tangent)
            return joined(products, level, len(seeds))

        return at_new_level(at_level)


class ReversePasses:
    """Products ``u @ J``; the function is called once.

    The parameters are those of `ForwardPasses`.

    Attributes
    ----------
    has_hooks : bool
        Whether the function has registered a hook that gradients meet on the way to the inputs.
    """

    aux: object
    eps: float
    has_hooks: bool

    def __init__(
        self,
        func: Function,
        inputs: Callable[[], Sequence[Tensor]],
        shapes: tuple[Shape, ...],
        has_aux: bool,
        in_batches: bool,
    ) -> None:
        given = inputs()
        self.has_hooks = False

        def watched(*parts: Tensor) -> object:
            # Copies made inside are no leaves, so the function may write to them.
            copies = [F.clone(part) for part in parts]
            # Read now: the function may write to the copies, which gives them later nodes.
            made = [edge.function for x in copies if (edge := gradient_edge(x)) is not None]
            returned = func(*copies)
            outputs = tree_flatten(split_aux(returned, has_aux, "sparse_jacobian")[0])[0]
            self.has_hooks = _meet_hooks(outputs, made)
            return returned

        found = vjp(watched, *given, has_aux=has_aux)
        self._in_batches = in_batches
        self.aux = found[2] if has_aux else None
        leaves, spec = tree_flatten(found[0])
        self._outputs = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        self._spec: TreeSpec = spec
        check_shapes(self._outputs, shapes)
        self.eps = coarsest([*given, *self._outputs])
        pull = found[1]
        assert callable(pull)
        self._pull: Function = pull

    def products(self, seeds: Array) -> Array:
        """One product for each row of `seeds`."""
        if not self._in_batches:
            return np.concatenate([self._run(row, None) for row in seeds[:, None]])
        return run_in_batch(lambda level: self._run(seeds, level), len(seeds))

    def _run(self, seeds: Array, level: BatchLevel | None) -> Array:
        cotangents = tree_unflatten(split_like(seeds, self._outputs, level), self._spec)
        leaves = tree_flatten(self._pull(cotangents))[0]
        return joined([x for x in leaves if isinstance(x, Tensor)], level, len(seeds))


def _meet_hooks(outputs: Sequence[object], inputs: Sequence[Node]) -> bool:
    """Whether a node that was made since those of the inputs, and leads to an output, has hooks."""
    first = min([node.sequence_nr for node in inputs], default=0)
    waiting: list[Node] = []
    for x in outputs:
        edge = gradient_edge(x) if isinstance(x, Tensor) else None
        if edge is not None:
            waiting.append(edge.function)
    seen = set(waiting)
    while waiting:
        node = waiting.pop()
        if node.is_leaf_node or node.sequence_nr < first:
            continue
        hooks = node.hooks
        if hooks is not None and hooks.change_gradients():
            return True
        for next_edge in node.next_edges:
            if next_edge is not None and next_edge.function not in seen:
                seen.add(next_edge.function)
                waiting.append(next_edge.function)
    return False


def split_like(rows: Array, tensors: Sequence[Tensor], level: BatchLevel | None) -> list[Tensor]:
    """The parts of rows that belong to each tensor, in its shape, dtype and device.

    Parameters
    ----------
    level : BatchLevel or None
        Where the rows are a batch; None for one row, which is none.
    """
    parts, start = [], 0
    for like in tensors:
        part = rows[:, start : start + like.numel()].reshape(len(rows), *like.shape)
        made = tensor(part if level else part[0], dtype=like.dtype, device=like.device)
        parts.append(batched(made, level) if level else made)
        start += like.numel()
    return parts


def joined(tensors: Sequence[Tensor], level: BatchLevel | None, count: int) -> Array:
    """The elements of tensors, one after another, in a row for each sample."""
    plain = [expanded(x, level) if level else x for x in tensors]
    arrays = [resolved(x._impl.array).reshape(count, -1) for x in plain]
    return np.concatenate(arrays, 1) if arrays else making.zeros((count, 0))


def coarsest(tensors: Sequence[Tensor]) -> float:
    """The largest relative rounding error of the dtypes of tensors."""
    return max([float(np.finfo(x._impl.dtype).eps) for x in tensors], default=0.0)


def check_shapes(tensors: Sequence[Tensor], shapes: tuple[Shape, ...]) -> None:
    """Raise if the outputs are not those of the run that found the pattern."""
    found = tuple([tuple(x.shape) for x in tensors])
    if found != shapes:
        raise TransformError(
            f"the pattern was found for outputs of shapes {[list(s) for s in shapes]}, and the "
            f"function returned {[list(s) for s in found]}",
            expected=shapes,
            found=found,
        )
