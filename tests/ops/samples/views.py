"""Samples of the operators in the table `views`."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tests.ops.sample import MATRIX, SQUARE, VECTOR, Samples, array, sample
from vtgrad.storage.arrays import Array

__all__ = ["SAMPLES", "VIEW_COPIES"]

CUBE: Final = array(np.sin(np.arange(1.0, 25.0) * 1.7).reshape(2, 3, 4))
ROW: Final = array([[0.5, -1.5, 2.5]])
LINE: Final = array(np.cos(np.arange(1.0, 9.0) * 2.3))
SPARSE: Final = array([[[0.3], [-1.1]]])


def _strided(x: Array, size: Sequence[int], stride: Sequence[int], offset: int = 0) -> Array:
    flat = np.ascontiguousarray(x).reshape(-1)[offset:]
    return np.lib.stride_tricks.as_strided(flat, size, [s * x.itemsize for s in stride])


def _spread(sizes: Sequence[int], index: Any, values: Array) -> Array:
    result = np.zeros(sizes, values.dtype)
    result[index] = values
    return result


def _replaced(x: Array, index: Any, values: Array) -> Array:
    result = x.copy()
    result[index] = values
    return result


def _unfolded_back(g: Array, sizes: Sequence[int], dim: int, size: int, step: int) -> Array:
    result = np.zeros(sizes)
    for nr, window in enumerate(g):
        result[nr * step : nr * step + size] += window
    return result


def _squeezed(x: Array, dim: Any = None) -> Array:
    result: Array = np.squeeze(x, dim)
    return result


SAMPLES: Final[Samples] = {
    "select": [
        sample(lambda x, d, i: x[1], MATRIX, 0, 1),
        sample(lambda x, d, i: x[:, :, 3], CUBE, -1, -1),
    ],
    "slice": [
        sample(lambda x, d, a, b, s: x[:, 1:], MATRIX, 1, 1, None, 1),
        sample(lambda x, d, a, b, s: x[:, :, -4:4:2], CUBE, 2, -4, 4, 2),
    ],
    "diagonal_default": [
        sample(np.diagonal, SQUARE),
        sample(np.diagonal, CUBE, 1, 0, 2),
        sample(np.diagonal, MATRIX, -1),
    ],
    "split_Tensor": [sample(lambda x, n, d: (x[:, :2], x[:, 2:]), MATRIX, 2, 1)],
    "split_with_sizes": [
        sample(lambda x, n, d: (x[:, :1], x[:, 1:3], x[:, 3:]), array(CUBE[0]), [1, 2, 1], 1)
    ],
    "unbind": [sample(lambda x, d: tuple(x[:, i] for i in range(3)), MATRIX, 1)],
    "alias": [sample(lambda x: x, MATRIX)],
    "transpose": [sample(np.swapaxes, MATRIX, 0, 1), sample(np.swapaxes, CUBE, 0, -1)],
    "t": [sample(np.transpose, MATRIX), sample(np.transpose, VECTOR)],
    "permute_dims": [sample(np.transpose, CUBE, (2, 0, -2))],
    "view_shape": [
        sample(lambda x, s: x.reshape(s), CUBE, (6, -1)),
        sample(lambda x, s: x.reshape(s), VECTOR, (1, 3, 1)),
    ],
    "_reshape_alias": [sample(lambda x, size, stride: x.reshape(size), MATRIX, (3, 2), (2, 1))],
    "_unsafe_view": [sample(lambda x, size: x.reshape(size), MATRIX, (3, 2))],
    "expand_sizes": [
        sample(np.broadcast_to, ROW, (2, 3)),
        sample(lambda x, size: np.broadcast_to(x, (2, 1, 3)), ROW, (2, -1, 3)),
    ],
    "squeeze_default": [sample(_squeezed, SPARSE)],
    "squeeze_dim": [sample(_squeezed, SPARSE, 0), sample(lambda x, d: x, SPARSE, 1)],
    "squeeze_dims": [sample(_squeezed, SPARSE, (0, -1))],
    "unsqueeze": [sample(np.expand_dims, MATRIX, 1), sample(np.expand_dims, MATRIX, -1)],
    "unfold": [
        sample(lambda x, d, n, s: np.stack([x[i : i + 3] for i in (0, 2, 4)]), LINE, 0, 3, 2),
        sample(lambda x, d, n, s: np.stack([x[:, i : i + 2] for i in (0, 1)], 1), MATRIX, 1, 2, 1),
    ],
    "as_strided_part": [
        sample(_strided, MATRIX, (2, 2), (1, 3)),
        sample(_strided, MATRIX, (3, 2), (1, 1), 1),
        sample(_strided, MATRIX, (2, 2), (0, 1), 2),
    ],
    # Of a row of a matrix, more than the row; gradients are tested with `as_strided`.
    "as_strided_beyond": [
        sample(lambda x, base, *g: _strided(x, *g), MATRIX, MATRIX, (2, 2), (1, 3))
    ],
    "transpose_": [sample(np.swapaxes, MATRIX, 0, 1)],
    "t_": [sample(np.transpose, MATRIX)],
    "squeeze_default_": [sample(_squeezed, SPARSE)],
    "squeeze_dim_": [sample(_squeezed, SPARSE, 0)],
    "squeeze_dims_": [sample(_squeezed, SPARSE, (0, -1))],
    "unsqueeze_": [sample(np.expand_dims, MATRIX, 1)],
    "as_strided_part_": [sample(_strided, MATRIX, (2, 2), (1, 3))],
    "select_backward": [
        sample(lambda g, n, d, i: _spread(n, 1, g), VECTOR, (2, 3), 0, 1),
    ],
    "slice_backward": [
        sample(
            lambda g, n, d, a, b, s: _spread(n, np.s_[:, 1::2], g), MATRIX, (2, 6), 1, 1, None, 2
        ),
    ],
    "diagonal_backward": [
        sample(lambda g, n, o, a, b: _spread(n, ([0, 1, 2],) * 2, g), VECTOR, (3, 3), 0, 0, 1),
    ],
    "unfold_backward": [sample(_unfolded_back, MATRIX, (4,), 0, 3, 1)],
    "as_strided_backward": [
        # The 2x2 corner at the right of a 2x3 matrix.
        sample(
            lambda g, a, b: _spread((2, 3), np.s_[:, 1:], g),
            array([[0.3, -1.7], [1.1, -0.6]]),
            ((2, 3), (3, 1), 0),
            ((2, 2), (3, 1), 1),
        ),
    ],
    "as_strided_forward": [
        sample(lambda x, a, b: x[:, 1:].copy(), MATRIX, ((2, 3), (3, 1), 0), ((2, 2), (3, 1), 1)),
    ],
    "as_strided_scatter_at": [
        # The 2x2 corner at the right of a 2x3 matrix.
        sample(
            lambda x, src, a, b: _replaced(x, np.s_[:, 1:], src),
            MATRIX,
            array([[0.3, -1.7], [1.1, -0.6]]),
            ((2, 3), (3, 1), 0),
            ((2, 2), (3, 1), 1),
        ),
    ],
    "select_scatter": [
        sample(lambda x, src, d, i: _replaced(x, 1, src), MATRIX, VECTOR, 0, 1),
    ],
    "slice_scatter": [
        sample(
            lambda x, src, d, a: _replaced(x, np.s_[:, 1:], src),
            MATRIX,
            array([[0.5, 0.6], [0.7, 0.8]]),
            1,
            1,
        ),
    ],
    "diagonal_scatter": [
        sample(lambda x, src: _replaced(x, ([0, 1, 2],) * 2, src), SQUARE, VECTOR),
    ],
    "unsafe_split_equal": [sample(lambda x, n, d: (x[:, :2], x[:, 2:]), MATRIX, 2, 1)],
    "unsafe_split_with_sizes": [
        sample(lambda x, n, d: (x[:, :1], x[:, 1:3]), MATRIX, [1, 2], 1),
    ],
    "narrow_copy": [
        sample(lambda x, d, a, n: x[:, 1:3], MATRIX, 1, 1, 2),
        sample(lambda x, d, a, n: x[1:], MATRIX, -2, -1, 1),
    ],
}

# Operators that copy what a view shows, and the view.
VIEW_COPIES: Final = {
    "select_copy": "select",
    "slice_copy": "slice",
    "diagonal_copy": "diagonal_default",
    "split_copy": "split_Tensor",
    "split_with_sizes_copy": "split_with_sizes",
    "unbind_copy": "unbind",
    "alias_copy": "alias",
    "transpose_copy": "transpose",
    "t_copy": "t",
    "permute_copy": "permute_dims",
    "_view_copy": "view_shape",
    "expand_copy": "expand_sizes",
    "squeeze_copy_default": "squeeze_default",
    "squeeze_copy_dim": "squeeze_dim",
    "squeeze_copy_dims": "squeeze_dims",
    "unsqueeze_copy": "unsqueeze",
    "unfold_copy": "unfold",
    "_as_strided_copy": "as_strided_part",
}
