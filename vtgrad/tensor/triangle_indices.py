"""The indices of the triangles of a matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vtgrad.errors import NotSupportedError, ShapeError
from vtgrad.graph.function_modes import in_function_mode
from vtgrad.ops.calling.take_over import call_override
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.device import Device, lane_of
from vtgrad.storage.dtypes import DType, int64, numpy_dtype
from vtgrad.storage.integers import index_of
from vtgrad.storage.key_set import keys
from vtgrad.storage.strides import check_sizes
from vtgrad.tensor.fresh_tensor import leaf
from vtgrad.tensor.tensor import Tensor

__all__ = ["tril_indices", "triu_indices"]


def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DType = int64,
    device: Device | str | None = None,
) -> Tensor:
    """The indices of the elements on and below a diagonal of a matrix.

    Parameters
    ----------
    row, col : int
        The numbers of rows and columns.
    offset : int, default 0
        The diagonal: 0 is the main one, and positive numbers are above it.
    dtype : dtype, default int64
        int32 or int64.
    device : device or str, optional
        The CPU by default, or a lane of it.

    Returns
    -------
    Tensor
        A new matrix with two rows: the rows of the elements, and their columns.

    Raises
    ------
    ShapeError
        If a number of rows or columns is negative.
    NotSupportedError
        If the dtype is another one.

    Examples
    --------
    >>> vt.tril_indices(2, 3)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    if keys.modes and in_function_mode():
        return call_override(tril_indices, row, col, offset, dtype=dtype, device=device)
    return _indices("tril_indices", making.tril_indices, row, col, offset, dtype, device)


def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DType = int64,
    device: Device | str | None = None,
) -> Tensor:
    """The indices of the elements on and above a diagonal of a matrix.

    Parameters
    ----------
    row, col, offset, dtype, device
        As of `tril_indices`.

    Returns
    -------
    Tensor
        A new matrix with two rows: the rows of the elements, and their columns.

    Raises
    ------
    ShapeError, NotSupportedError
        As `tril_indices`.

    Examples
    --------
    >>> vt.triu_indices(2, 3, 1)
    tensor([[0, 0, 1],
            [1, 2, 2]])
    """
    if keys.modes and in_function_mode():
        return call_override(triu_indices, row, col, offset, dtype=dtype, device=device)
    return _indices("triu_indices", making.triu_indices, row, col, offset, dtype, device)


def _indices(
    name: str,
    find: Callable[[int, int, int], tuple[Array, Array]],
    row: int,
    col: int,
    offset: int,
    dtype: DType,
    device: Device | str | None,
) -> Tensor:
    lane = lane_of(device)
    rows, columns = index_of(row, "row"), index_of(col, "col")
    if rows < 0 or columns < 0:
        raise ShapeError(f"{name} takes no negative sizes, got {rows} and {columns}")
    wanted = numpy_dtype(dtype)
    if wanted not in (np.int32, np.int64):
        raise NotSupportedError(f"{name} gives int32 or int64, not {wanted.name}", dtype=wanted)
    check_sizes((rows, columns), 8)
    diagonal = max(-rows - 1, min(index_of(offset, "offset"), columns + 1))
    found = find(rows, diagonal, columns)
    return leaf(np.stack(found).astype(wanted), False, lane)
