# Compiled by mypyc.
"""Fitting a gradient to the shape and dtype of its value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from vtgrad.errors import BatchedTensorError, GradientError
from vtgrad.graph.input_metadata import InputMetadata
from vtgrad.graph.node import Node
from vtgrad.graph.operators import operators
from vtgrad.graph.region import Gradient, Region
from vtgrad.graph.sample_array import SampleArray
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array, NumpyDType, Shape
from vtgrad.storage.device import CPU
from vtgrad.storage.key_set import NAMED, keys
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.long_sums import LONG_SUM
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["fit_array", "fit_tensor", "wrong_count"]

_HALF: Final = np.dtype(np.float16)


def fit_array(grad: Gradient | np.generic, meta: InputMetadata, node: Node, nr: int) -> Gradient:
    """`grad`, summed over what broadcasting added, in the value's dtype.

    The same object is returned if it fits, a fresh array otherwise.

    Raises
    ------
    GradientError
        If the shapes do not fit.
    BatchedTensorError
        If it stands for several gradients.
    """
    if type(grad) in PLAIN:
        if TYPE_CHECKING:
            assert isinstance(grad, np.ndarray)
        if grad.shape == meta.shape and grad.dtype is meta.dtype:
            return grad
    if isinstance(grad, Region):
        shape = node.viewed_shape()
        if shape == meta.shape:
            content = grad.content
            if isinstance(content, np.ndarray) and content.dtype != meta.dtype:
                return Region(_cast(content, meta.dtype), grad.node, grad.size)
            return grad
        # The input was transposed, for example, while nothing was recorded: its producer has
        # another shape, in which the path leads to other elements.
        grad = grad.whole(shape, node.input_metadata[0].dtype)
    if type(grad) not in PLAIN:
        # NumPy returns scalars for 0-d results, and users may return lazy arrays.
        if isinstance(grad, SampleArray):
            raise BatchedTensorError(
                f"a hook of {node.name()} returned a gradient for each sample of a vmap, for input "
                f"{nr}, which has no samples"
            )
        grad = making.asarray(resolved(grad))
    elif TYPE_CHECKING:
        assert isinstance(grad, np.ndarray)
    if grad.shape != meta.shape:
        if grad.shape[1:] == meta.shape and grad.size <= LONG_SUM and grad.dtype != _HALF:
            # The gradient of an operand added to each row, such as a bias. NumPy's sum of so few
            # elements loses no digits, except in half precision; see Note [Long sums].
            grad = making.asarray(np.add.reduce(grad, 0))
        else:
            _check_broadcast(grad.shape, meta.shape, node, nr)
            grad = operators().sum_to_size(grad, meta.shape)
    if grad.dtype != meta.dtype:
        grad = _cast(grad, meta.dtype)
    return grad


def fit_tensor(grad: TensorBase, meta: InputMetadata, node: Node, nr: int) -> TensorBase:
    """As `fit_array` for a tensor, recorded; on the value's device, and without names."""
    if keys.active and grad._impl.key_set & NAMED:
        grad = operators().unnamed(grad)
    array = grad._impl.array
    # Nearly all tensors have nothing beside memory and metadata, and are on the CPU.
    if (grad._impl.extra_meta is not None or meta.device is not CPU) and (
        grad._impl.device != meta.device
    ):
        # Of nodes of moves; a custom Function's have been looked at before.
        grad = operators().move(grad, meta.device)
    if array.shape == meta.shape and array.dtype == meta.dtype:
        return grad
    if array.shape != meta.shape:
        _check_broadcast(array.shape, meta.shape, node, nr)
    return operators().fit(grad, meta.shape, meta.dtype)


def wrong_count(node: Node, found: int) -> GradientError:
    """The error for a node that answers with too few gradients, or too many."""
    expected = len(node.next_edges)
    return GradientError(
        f"{node.name()} returned {found} gradients for {expected} inputs",
        node=node.name(),
        expected=expected,
        found=found,
    )


def _check_broadcast(found: Shape, expected: Shape, node: Node, nr: int) -> None:
    lead = len(found) - len(expected)
    if lead < 0 or any(e != f and e != 1 for e, f in zip(expected, found[lead:], strict=True)):
        raise GradientError(
            f"{node.name()} returned a gradient of shape {list(found)} for its input {nr}, which "
            f"has shape {list(expected)}",
            node=node.name(),
            index=nr,
            expected=expected,
            found=found,
        )


def _cast(grad: Array, dtype: NumpyDType) -> Array:
    if grad.dtype.kind == "c" and dtype.kind != "c":
        grad = grad.real
    return grad.astype(dtype)
