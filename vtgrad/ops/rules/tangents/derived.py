"""Tangents that follow from a backward formula."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from vtgrad.engine.backward import grad as gradients
from vtgrad.graph.recording import is_recording
from vtgrad.graph.set_history import own_meta, requires_grad
from vtgrad.ops import kernels as k
from vtgrad.ops.generated import functional as F
from vtgrad.ops.kernels.support.memory_reuse import into
from vtgrad.storage.arrays import Array
from vtgrad.storage.mode import mode_of, switched
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_mode import settle, thread

__all__ = [
    "along",
    "difference_of_arrays",
    "plus",
    "reduced",
    "sum_of_arrays",
    "transposed",
    "with_zeros",
]

Backward: TypeAlias = Callable[[TensorBase], TensorBase | None]


def plus(sum: TensorBase | None, term: TensorBase | None) -> TensorBase | None:
    """A sum whose missing terms are zero."""
    if sum is None or term is None:
        return term if sum is None else sum
    return F.add(sum, term)


def sum_of_arrays(own: int, free: int, sum: Array | None, term: Array | None) -> Array | None:
    """A sum whose missing terms are zero.

    Parameters
    ----------
    own : int
        1 if the sum is stored in the first term, whatever its strides.
    free : int
        Bits that say which of the two nothing else holds.
    """
    if sum is None or term is None:
        return term if sum is None else sum
    return into(own, free, k.add, sum, term)


def difference_of_arrays(
    own: int, free: int, sum: Array | None, term: Array | None
) -> Array | None:
    """As `sum_of_arrays`, with the other sign of the second term."""
    if term is None:
        return sum
    return k.neg(term) if sum is None else into(own, free, k.sub, sum, term)


def with_zeros(value: object, tangent: object) -> Any:  # a tensor, or a list of them
    """A tangent, with zeros where there is none, for a formula that needs all of them."""
    if isinstance(value, TensorBase):
        return F.zeros_like(value) if tangent is None else tangent
    if isinstance(value, Sequence):
        given = [None] * len(value) if tangent is None else tangent
        assert isinstance(given, Sequence)
        return [with_zeros(v, t) for v, t in zip(value, given, strict=True)]
    return 0 if isinstance(value, (int, float, complex)) else value


def along(tangent: TensorBase, backward: Backward, result: TensorBase) -> TensorBase | None:
    """The tangent of an operator that computes element by element.

    Its Jacobian is diagonal: backward multiplies by the conjugates of the entries.
    """
    if _is_complex(tangent) or _is_complex(result):
        answer = backward(F.conj(tangent))
        return None if answer is None else F.conj(answer)
    return backward(tangent)


def reduced(
    tangent: TensorBase,
    backward: Backward,
    result: TensorBase,
    dim: int | Sequence[int] | None,
    keepdim: bool,
) -> TensorBase | None:
    """The tangent of a reduction: each element of the operand takes part in one result.

    So the gradient for ones is the conjugate of all entries of the Jacobian.
    """
    slopes = backward(F.ones_like(result))
    if slopes is None:
        return None
    if _is_complex(slopes):
        slopes = F.conj(slopes)
    product = F.mul(tangent, slopes)
    if dim is None or (not isinstance(dim, int) and not dim):
        dim = tuple(range(product.ndim))
    return F.sum(product, dim, keepdim) if product.ndim else product


def transposed(
    tangent: TensorBase, backward: Callable[..., TensorBase | None], result: object
) -> Any:  # a tangent, or those of all results
    """The tangent of any operator, as the derivative of its backward formula.

    Backward is linear in the gradient, with the adjoint of the Jacobian; the backward of that is
    the Jacobian itself.
    """
    results = result if isinstance(result, tuple) else (result,)
    create_graph = is_recording()
    recording = mode_of(grad=True, inference=False)
    before, ident = thread.mode, thread.ident
    try:
        thread.mode = switched.silent[ident] = recording
        seeds = [
            _seed(one)
            if isinstance(one, TensorBase) and one._impl.array.dtype.kind in "fc"
            else None
            for one in results
        ]
        answer = backward(seeds if isinstance(result, tuple) else seeds[0])
        if answer is None or not requires_grad(answer):
            return tuple(seeds) if isinstance(result, tuple) else None
        if tangent._impl.dtype != answer._impl.dtype:
            tangent = F.to_dtype(tangent, answer._impl.dtype)
        found = iter(
            gradients(
                answer,
                [seed for seed in seeds if seed is not None],
                tangent,
                create_graph=create_graph,
                allow_unused=True,
                materialize_grads=True,
            )
        )
    finally:
        thread.mode = switched.silent[ident] = before
        if before.inference:
            switched.inference[ident] = before
        settle(ident)
    tangents = tuple(None if seed is None else next(found) for seed in seeds)
    return tangents if isinstance(result, tuple) else tangents[0]


def _seed(result: TensorBase) -> TensorBase:
    """A leaf of zeros."""
    seed = F.zeros_like(result)
    own_meta(seed).requires_grad_ = True
    return seed


def _is_complex(tensor: TensorBase) -> bool:
    kind: str = tensor._impl.array.dtype.kind
    return kind == "c"
