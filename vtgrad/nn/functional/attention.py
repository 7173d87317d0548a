"""Means of values, weighted by how near keys are to queries."""

from __future__ import annotations

import math

import numpy as np

from vtgrad.errors import DTypeError, OptionValueError, ShapeError
from vtgrad.later.beside import beside
from vtgrad.later.refuse_names import refuse_names
from vtgrad.nn.functional.dropouts import dropout
from vtgrad.nn.functional.floating import check_kind, real_of
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import check_flag
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.tensor.tensor import Tensor

__all__ = ["scaled_dot_product_attention"]


@explained
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Return means of values, with the softmax of products of queries and keys for weights.

    ``softmax(query @ key.mT * scale + mask) @ value``. A query that may look at no key has the
    result 0, and no gradient.

    Parameters
    ----------
    query : Tensor
        Floating values: a query in each row.
    key, value : Tensor
        Of the same dtype: a key in each row of the first, and its value in that row of the second.
        Other dimensions broadcast.
    attn_mask : Tensor, optional
        What is added to the products, floating; or bools, true where a query may look at a key. It
        broadcasts.
    dropout_p : float, default 0.0
        The probability that a weight is dropped, see `dropout`.
    is_causal : bool, default False
        Whether each query may look at the keys with its number and below only.
    scale : float, optional
        What the products are multiplied by, by default ``1 / sqrt(n)`` of `n` elements in a query.
    enable_gqa : bool, default False
        Whether each head of `key` and of `value`, along the last dimension but two, serves as many
        heads of `query` as it takes.

    Returns
    -------
    Tensor
        A new tensor: the shape of `query`, with the elements of a value in the last dimension.

    Raises
    ------
    NotSupportedError
        If the values are not floating.
    DTypeError
        If the dtypes differ.
    ShapeError
        If the shapes do not fit.
    OptionValueError
        If there is a mask beside `is_causal`.
    ArgumentValueError
        If `dropout_p` is not between 0 and 1.

    Examples
    --------
    >>> q, k, v = vt.tensor([[0.0, 1.0]]), vt.zeros(2, 2), vt.tensor([[1.0], [3.0]])
    >>> vt.nn.functional.scaled_dot_product_attention(q, k, v)
    tensor([[2.]])
    """
    name = "scaled_dot_product_attention"
    refuse_names(name, query, key, value, attn_mask)
    dtype = check_kind(name, query, name="query")
    arrays = [array_of(x, which) for x, which in ((key, "key"), (value, "value"))]
    if any(array.dtype != dtype for array in arrays):
        kinds = ", ".join([str(x.dtype) for x in (query, key, value)])
        raise DTypeError(f"{name}() takes one dtype, not {kinds}")
    shapes = [query._impl.array.shape, *[array.shape for array in arrays]]
    if any(len(shape) < 2 for shape in shapes):
        raise ShapeError(f"{name}() takes rows, not the shapes {[list(s) for s in shapes]}")
    if check_flag(enable_gqa, "enable_gqa"):
        key, value = (_for_heads(x, shapes[0], name) for x in (key, value))
    width = shapes[0][-1]
    factor = 1 / math.sqrt(width) if width else math.inf
    if scale is not None:
        factor = real_of(scale, "scale")
    scores = F.matmul(F.mul(query, factor), F.transpose(key, -2, -1))
    mask = attn_mask
    if check_flag(is_causal, "is_causal"):
        if mask is not None:
            raise OptionValueError(f"{name}() takes a mask or is_causal, not both")
        mask = beside(query, making.tri(shapes[0][-2], shapes[1][-2], dtype=np.bool_))
    weights = F.softmax_dim(scores, -1) if mask is None else _masked(scores, mask, name)
    return F.matmul(dropout(weights, dropout_p), value)


def _masked(scores: Tensor, mask: Tensor, function: str) -> Tensor:
    """The weights that scores give with a mask; zeros where it leaves nothing."""
    given = array_of(mask, "attn_mask").dtype
    if given.kind == "b":
        scores = F.masked_fill(scores, F.logical_not(mask), -math.inf)
    elif given == scores._impl.array.dtype:
        scores = F.add(scores, mask)
    else:
        raise DTypeError(
            f"{function}() takes a mask of bools or of {scores.dtype.name}, not {mask.dtype.name}"
        )
    nothing = F.all_dim(F.isneginf(F.detach(scores)), -1, True)
    weights = F.softmax_dim(F.masked_fill(scores, nothing, 0), -1)
    return F.masked_fill(weights, nothing, 0)


def _for_heads(x: Tensor, query: tuple[int, ...], function: str) -> Tensor:
    """Heads, each repeated for the heads of queries that it serves."""
    shape = x._impl.array.shape
    if len(shape) < 3 or len(query) < 3 or not shape[-3] or query[-3] % shape[-3]:
        raise ShapeError(
            f"{function}() has no whole number of queries {list(query)} for each of {list(shape)}"
        )
    times = query[-3] // shape[-3]
    return x if times == 1 else F.repeat_interleave(x, times, -3)
