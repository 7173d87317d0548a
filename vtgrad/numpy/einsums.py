"""Sums of products over named axes."""

from __future__ import annotations

import operator
import typing
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.numpy.deliver import apart, deliver
from vtgrad.numpy.function import function
from vtgrad.numpy.memory_order import in_order, order_by_steps
from vtgrad.numpy.on_values import any_differentiated, arrays_in, on_values, values_in
from vtgrad.numpy.operands import all_of, as_array, viewable
from vtgrad.numpy.promotion import common
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import NumpyDType
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.no_fp_warnings import run_without_warnings
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["einsum", "einsum_path"]

# The letter of each label of the form with lists.
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@function
def einsum(
    *operands: object,
    out: ndarray | None = None,
    optimize: object = False,
    dtype: DTypeLike | None = None,
    casting: str = "safe",
    order: str = "K",
) -> ndarray:
    """Sums of products over named axes.

    Parameters
    ----------
    *operands : str or array_like
        Names of the axes as in ``"ij,jk->ik"``, then the arrays; or arrays, each followed by a
        list of labels, and a list for the result at the end.
    out : ndarray, optional
        Where the result is stored.
    optimize : bool or str or list
        Accepted; recorded products choose their order themselves.
    dtype : dtype, optional
        The dtype of the computation.
    casting : str
        Which casts to `dtype` are allowed.
    order : str
        Accepted.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`; a view of one operand of which nothing is summed.

    Raises
    ------
    ValueError
        If the names cannot be read, or do not fit the arrays.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.einsum("ij,j->i", np.array([[1.0, 2.0], [3.0, 4.0]]), [1.0, 10.0])
    array([21., 43.])
    """
    if any_differentiated(operands):
        equation, arrays = _parsed(operands)
        arrays = [apart(x, out) for x in arrays]
        kind = None if dtype is None else np.dtype(dtype)
        _check(equation, tuple([(x._impl.dtype, len(x.shape)) for x in arrays]), kind, casting)
        arrays = common(arrays, kind)
        _check_out(arrays[0]._impl.dtype, out, casting)
        found: TensorBase = F.einsum(equation, *arrays)
        if len(arrays) > 1:
            found = _in_numpys_order(found, equation, arrays)
        return deliver(found, out)
    options: dict[str, Any] = {"casting": casting, "order": order, "optimize": optimize}
    if dtype is not None:
        options["dtype"] = dtype
    if out is None and len(operands) in (2, 3):
        given = [values_in(x) for x in operands]
        computed: Any = run_without_warnings(np.einsum, *given, **options)
        own = given[1 if isinstance(given[0], str) else 0]
        if isinstance(own, np.ndarray) and np.may_share_memory(own, computed):
            # A view, which writes to the operand.
            equation, arrays = _parsed(operands)
            return as_array(F.einsum(equation, *[viewable(x) for x in arrays]))
        return typing.cast("ndarray", arrays_in(computed))
    return on_values(np.einsum, *operands, out=out, **options)


def _in_numpys_order(found: TensorBase, equation: str, arrays: Sequence[ndarray]) -> TensorBase:
    """A product with its axes in memory as those of its operands, where all axes have names."""
    if "." in equation:
        return found
    names, _, kept = equation.replace(" ", "").partition("->")
    if "->" not in equation:
        kept = "".join(sorted([name for name in set(names) - {","} if names.count(name) == 1]))
    labels = kept + "".join(sorted(set(names) - set(kept) - {","}))
    steps = []
    for term, x in zip(names.split(","), arrays, strict=True):
        array = resolved(x._impl.array)
        found_steps = dict.fromkeys(labels, 0)
        for name, step, size in zip(term, array.strides, array.shape, strict=True):
            found_steps[name] += step if size > 1 else 0
        steps.append([found_steps[name] for name in labels])
    return in_order(found, tuple([axis for axis in order_by_steps(steps) if axis < len(kept)]))


def _parsed(operands: tuple[Any, ...]) -> tuple[str, list[ndarray]]:
    """The equation and the arrays of either form.

    Raises
    ------
    ValueError
        If there are none.
    """
    if not operands:
        raise ValueError("No input operands")
    if isinstance(operands[0], str):
        return operands[0], all_of(operands[1:])
    arrays, labels = list(operands[::2]), list(operands[1::2])
    last = arrays.pop() if len(operands) % 2 else None
    equation = ",".join(map(_letters, labels))
    if last is not None:
        equation += "->" + _letters(last)
    return equation, all_of(arrays)


def _letters(labels: Any) -> str:
    """Labels as letters.

    Raises
    ------
    ValueError
        If one is not a number below 52.
    """
    found = ""
    for label in labels:
        number = -1 if label is Ellipsis else operator.index(label)
        if label is not Ellipsis and not 0 <= number < len(_LETTERS):
            raise ValueError("subscript is not within the valid range [0, 52)")
        found += "..." if label is Ellipsis else _LETTERS[number]
    return found


@lru_cache(maxsize=256)
def _check(
    equation: str,
    operands: tuple[tuple[NumpyDType, int], ...],
    dtype: NumpyDType | None,
    casting: str,
) -> None:
    """Let NumPy look at the names and the casts, once for operands of each kind.

    Raises
    ------
    ValueError, TypeError
        What NumPy raises.
    """
    options: dict[str, Any] = {} if dtype is None else {"dtype": dtype, "casting": casting}
    np.einsum(equation, *[making.zeros((1,) * ndim, kind) for kind, ndim in operands], **options)


def _check_out(dtype: NumpyDType, out: object, casting: str) -> None:
    """Refuse an ``out=`` that the result cannot be cast to by the rule, which is stricter here."""
    if out is None:
        return
    target = values_in(out).dtype
    if not np.can_cast(dtype, target, typing.cast("Any", casting)):
        raise TypeError(
            f"the result cannot be cast from {dtype} to {target} by the rule {casting!r}"
        )


@function
def einsum_path(
    *operands: object, optimize: object = "greedy", einsum_call: bool = False
) -> tuple[Any, ...]:
    """The order in which the products of `einsum` are computed with least work, by NumPy.

    Parameters
    ----------
    *operands : str or array_like
        As of `einsum`.
    optimize : bool or str or list
        How the order is found.
    einsum_call : bool
        Whether to return what NumPy's own `einsum` needs.

    Returns
    -------
    tuple
        The order as a list, and a text that shows it.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.einsum_path("ij,j->i", np.zeros((2, 2)), np.zeros(2))[0]
    ['einsum_path', (0, 1)]
    """
    found: Any = np.einsum_path
    options = {"optimize": values_in(optimize), "einsum_call": einsum_call}
    return typing.cast("tuple[Any, ...]", found(*values_in(operands), **options))
