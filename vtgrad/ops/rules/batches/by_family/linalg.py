"""Products of matrices and vectors, and linear equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from vtgrad.ops.generated import functional as F
from vtgrad.ops.kernels.linalg.matrices import is_vector_side
from vtgrad.ops.rules.batches.batched_call import BatchedCall
from vtgrad.ops.rules.batches.values import innermost
from vtgrad.storage.arrays import Shape
from vtgrad.storage.shapes import broadcast_shapes
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["RULES"]

# The numbers of dimensions that the two factors must have.
_DIMENSIONS: Final = {
    "mm": (2, 2),
    "mv": (2, 1),
    "bmm": (3, 3),
    "dot": (1, 1),
    "vdot": (1, 1),
    "addmm": (2, 2),
    "addmv": (2, 1),
    "baddbmm": (3, 3),
    "addbmm": (3, 3),
    "addr": (1, 1),
}


def product(call: BatchedCall) -> object:
    """`mm`, `mv`, `bmm`, `dot` and `vdot`: a product for each sample."""
    (_, left), (_, right) = call.tensors()
    _refuse_as_one_sample(call, left, right)
    return call.finish(_product(call, left, right))


def _product(call: BatchedCall, left: TensorBase, right: TensorBase) -> TensorBase:
    """The product of each pair of samples; one of both may be without samples."""
    spoken, ndim = call.operator.spoken.removesuffix("_"), right._impl.array.ndim
    if spoken == "addr":
        column = F.unsqueeze(call.operand(left).value, -1)
        return F.mul(column, F.unsqueeze(call.operand(right).value, -2))
    if spoken == "addbmm":
        return F.sum_dim_IntList(F.matmul(call.expanded(left).value, call.expanded(right).value), 1)
    a, b = call.operand(left), call.operand(right)
    if left._impl.array.ndim == 1:
        first = F.lazy_conj(a.value) if spoken == "vdot" else a.value
        return F.sum_dim_IntList(F.mul(first, b.value), 1)
    if ndim == 2 and a.has_samples and b.has_samples:
        return F.bmm(a.value, b.value)
    if ndim > 1:
        return F.matmul(a.value, b.value)
    if b.has_samples and not a.has_samples:
        # One matrix and many vectors are two matrices.
        return F.mm(b.value, F.t(a.value))
    if not b.has_samples:
        return F.matmul(a.value, b.value)
    return F.squeeze_dim(F.bmm(a.value, F.unsqueeze(b.value, -1)), -1)


def _refuse_as_one_sample(call: BatchedCall, left: TensorBase, right: TensorBase) -> None:
    """Raise the error of one sample, if the values would be taken for something else."""
    a, b = left._impl.array, right._impl.array
    spoken = call.operator.spoken.removesuffix("_")
    fits = (a.ndim, b.ndim) == _DIMENSIONS[spoken]
    if fits and spoken != "addr":
        fits = a.dtype == b.dtype and a.shape[-1] == b.shape[-2 if b.ndim > 1 else 0]
    if fits and a.ndim == 3:
        fits = a.shape[0] == b.shape[0]
    if fits and len(call.tensors()) == 3:
        added = call.tensor("input")._impl.array
        sizes = _sizes(spoken, a.shape, b.shape)
        fits = (added.dtype == a.dtype or spoken == "addr") and len(added.shape) <= len(sizes)
        fits = fits and broadcast_shapes(added.shape, sizes) == sizes
    if not fits:
        call.refuse()


def _sizes(spoken: str, left: Shape, right: Shape) -> Shape:
    """The sizes of the product of one sample."""
    if spoken == "addr":
        return *left, *right
    if spoken == "addbmm":
        return left[1], right[2]
    return *left[:-1], *right[len(right) - 1 :][: len(right) > 1]


def added_product(call: BatchedCall) -> object:
    """`addmm`, `addmv`, `baddbmm`, `addbmm` and `addr`: a sum with a product for each sample."""
    (_, added), (_, left), (_, right) = call.tensors()
    _refuse_as_one_sample(call, left, right)
    beta, alpha = call.arguments.get("beta", 1), call.arguments.get("alpha", 1)
    assert isinstance(beta, (int, float, complex))
    assert isinstance(alpha, (int, float, complex))
    spoken = call.operator.spoken.removesuffix("_")
    # Factors may be refused, and change no dtype; `addr` promotes.
    plain = beta == 1 and alpha == 1 and spoken != "addr"
    model = added if plain else call.as_one_sample()
    assert isinstance(model, TensorBase)
    sizes = _sizes(spoken, left.shape, right.shape)
    if alpha == 0 and spoken in ("addmm", "addmv", "addbmm"):
        # A product that counts nothing is not computed: its nan and inf do not spread.
        total = F.zeros_shaped(innermost(model), sizes)
    else:
        total = _product(call, left, right)
        if alpha != 1:
            total = F.mul(total, alpha)
    # The product may be without samples, and then has fewer dimensions.
    if beta != 0:
        aligned = call.aligned(call.operand(added), len(sizes))
        total = F.add(aligned if beta == 1 else F.mul(aligned, beta), total)
    if total._impl.array.ndim == len(sizes):
        # Only what counts nothing has samples.
        total = F.expand_sizes(total, (call.level.size, *sizes))
    if total._impl.array.dtype != model._impl.array.dtype:
        total = F.to_dtype(total, model._impl.array.dtype)
    return call.finish(F.copy_(call.value("input"), total) if call.operator.writes else total)


def trace(call: BatchedCall) -> object:
    """The sum of the diagonal of each sample."""
    sample = call.tensor("input")._impl.array
    if sample.ndim != 2 or sample.dtype.kind == "b":
        call.refuse()
    diagonal = F.diagonal_default(call.value("input"), 0, 1, 2)
    return call.finish(F.sum_dim_IntList(diagonal, 1))


def solve(call: BatchedCall) -> object:
    """Matrices and right sides of as many dimensions, so that no right side passes for vectors."""
    left, right = call.tensor("input"), call.tensor("other")
    a, b = left._impl.array.shape, right._impl.array.shape
    if len(a) < 2 or not b:
        call.refuse()
    is_vector = is_vector_side(a, b)
    side = call.expanded(right).value
    if is_vector:
        side = F.unsqueeze(side, -1)
    sizes = side._impl.array.shape
    missing = len(a) + 1 - len(sizes)
    if missing > 0:
        side = F.view_shape(side, (sizes[0], *(1,) * missing, *sizes[1:]))
    matrices = call.aligned(call.operand(left), len(sizes) - 1)
    found = call.called({"input": matrices, "other": side})
    assert isinstance(found, TensorBase)
    return call.finish(F.squeeze_dim(found, -1) if is_vector else found)


RULES: Final[dict[str, Callable[[BatchedCall], object]]] = {
    "added_product": added_product,
    "product": product,
    "solve": solve,
    "trace": trace,
}
