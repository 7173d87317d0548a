"""Samples of views, copies and operators that draw random numbers."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from vtgrad.storage.arrays import Array

from .sample import COMPLEX, MATRIX, OTHER, POSITIVE, SQUARE, VECTOR, WHOLE, Samples, array, sample

__all__ = ["DRAWING", "VIEWS", "VIEW_COPIES"]

CUBE: Final = array(np.sin(np.arange(1.0, 25.0) * 1.7).reshape(2, 3, 4))
ROW: Final = array([[0.5, -1.5, 2.5]])
LINE: Final = array(np.cos(np.arange(1.0, 9.0) * 2.3))
SPARSE: Final = array([[[0.3], [-1.1]]])
PAIRS: Final = array([[[0.3, 0.8], [-1.7, 0.2], [1.1, -0.6]]])
CHANCES: Final = array([[0.5, 0.25, 0.75], [0.5, 0.9, 0.1]])


def _strided(x: Array, size: Sequence[int], stride: Sequence[int], offset: int = 0) -> Array:
    flat = np.ascontiguousarray(x).reshape(-1)[offset:]
    return np.lib.stride_tricks.as_strided(flat, size, [s * x.itemsize for s in stride])


def _spread(sizes: Sequence[int], place: Any, values: Array) -> Array:
    result = np.zeros(sizes, values.dtype)
    result[place] = values
    return result


def _replaced(x: Array, place: Any, values: Array) -> Array:
    result = x.copy()
    result[place] = values
    return result


def _unfolded_back(g: Array, sizes: Sequence[int], dim: int, size: int, step: int) -> Array:
    result = np.zeros(sizes)
    for nr, window in enumerate(g):
        result[nr * step : nr * step + size] += window
    return result


def _squeezed(x: Array, dim: Any = None) -> Array:
    result: Array = np.squeeze(x, dim)
    return result


VIEWS: Final[Samples] = {
    "select": [
        sample(lambda x, d, i: x[1], MATRIX, 0, 1),
        sample(lambda x, d, i: x[:, :, 3], CUBE, -1, -1),
    ],
    "slice": [
        sample(lambda x, d, a, b, s: x[:, 1:], MATRIX, 1, 1, None, 1),
        sample(lambda x, d, a, b, s: x[:, :, -4:4:2], CUBE, 2, -4, 4, 2),
    ],
    "diagonal": [
        sample(np.diagonal, SQUARE),
        sample(np.diagonal, CUBE, 1, 0, 2),
        sample(np.diagonal, MATRIX, -1),
    ],
    "split_equal": [sample(lambda x, n, d: (x[:, :2], x[:, 2:]), MATRIX, 2, 1)],
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
    "squeeze_all": [sample(_squeezed, SPARSE)],
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
    "conj_view": [sample(np.conj, COMPLEX)],
    "_neg_view": [sample(np.negative, x) for x in (MATRIX, COMPLEX, WHOLE)],
    "view_as_real": [sample(lambda x: np.stack([x.real, x.imag], -1), COMPLEX)],
    "view_as_complex": [sample(lambda x: x[..., 0] + 1j * x[..., 1], PAIRS)],
    # Of a row of a matrix, more than the row; gradients are tested with `as_strided`.
    "as_strided_beyond": [
        sample(lambda x, base, *g: _strided(x, *g), MATRIX, MATRIX, (2, 2), (1, 3))
    ],
    "transpose_": [sample(np.swapaxes, MATRIX, 0, 1)],
    "t_": [sample(np.transpose, MATRIX)],
    "squeeze_all_": [sample(_squeezed, SPARSE)],
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
    "clone": [sample(np.copy, MATRIX), sample(np.copy, COMPLEX)],
    "zero_": [sample(np.zeros_like, MATRIX)],
    "fill_number_": [sample(np.full_like, MATRIX, 2.5)],
    "fill_tensor_": [sample(np.full_like, MATRIX, array(2.5))],
    "copy_": [
        sample(lambda x, y: y, MATRIX, OTHER),
        sample(lambda x, y: np.broadcast_to(y, x.shape), MATRIX, VECTOR),
    ],
    "zeros_shaped": [sample(lambda x, sizes: np.zeros(sizes), MATRIX, (3, 1))],
    "cat": [
        sample(lambda xs, d: np.concatenate(xs, d), [MATRIX, SQUARE], 0),
        sample(lambda xs, d: np.concatenate(xs, d), [MATRIX, OTHER, POSITIVE], -1),
    ],
    "stack": [
        sample(lambda xs, d: np.stack(xs, d), [MATRIX, OTHER], 1),
        sample(lambda xs: np.stack(xs), [VECTOR, VECTOR, VECTOR]),
    ],
    "repeat_tiles": [sample(np.tile, MATRIX, (2, 1, 3)), sample(np.tile, VECTOR, (2, 2))],
    "roll": [
        sample(lambda x, n, d: np.roll(x, n, d), MATRIX, 1, 1),
        sample(lambda x, n, d: np.roll(x, n, d), MATRIX, (1, -2), (0, 1)),
        sample(np.roll, MATRIX, 2),
    ],
    "flip_dims": [sample(np.flip, MATRIX, (0,)), sample(np.flip, CUBE, (0, -1))],
    "tril": [sample(np.tril, SQUARE), sample(np.tril, MATRIX, 1), sample(np.tril, CUBE, -1)],
    "triu": [sample(np.triu, SQUARE), sample(np.triu, MATRIX, 1), sample(np.triu, CUBE, -1)],
}

# What is drawn is compared with nothing here: tests/bridge/test_random.py does.
DRAWING: Final[Samples] = {
    "normal_": [sample(None, MATRIX, 1.0, 0.5)],
    "uniform_": [sample(None, MATRIX, -1.0, 1.0)],
    "exponential_": [sample(None, MATRIX, 2.0)],
    "cauchy_": [sample(None, MATRIX, -1.0, 2.0)],
    "log_normal_": [sample(None, MATRIX, 0.0, 1.0)],
    "geometric_": [sample(None, MATRIX, 0.3)],
    "random_between_": [sample(None, MATRIX, 3, 9)],
    "random_below_": [sample(None, MATRIX, 9)],
    "random_any_": [sample(None, MATRIX)],
    "bernoulli_of": [sample(None, CHANCES)],
    "bernoulli_tensor_": [sample(None, MATRIX, CHANCES)],
    "bernoulli_number_": [sample(None, MATRIX, 0.5)],
    "normal_of_means": [sample(None, MATRIX, 0.5)],
    "normal_of_deviations": [sample(None, 0.5, POSITIVE)],
    "normal_of_both": [sample(None, MATRIX, POSITIVE)],
}

# Operators that copy what a view shows, and the view.
VIEW_COPIES: Final = {
    "select_copy": "select",
    "slice_copy": "slice",
    "diagonal_copy": "diagonal",
    "split_copy": "split_equal",
    "split_with_sizes_copy": "split_with_sizes",
    "unbind_copy": "unbind",
    "alias_copy": "alias",
    "transpose_copy": "transpose",
    "t_copy": "t",
    "permute_copy": "permute_dims",
    "_view_copy": "view_shape",
    "expand_copy": "expand_sizes",
    "_squeeze_all_copy": "squeeze_all",
    "_squeeze_dim_copy": "squeeze_dim",
    "_squeeze_dims_copy": "squeeze_dims",
    "unsqueeze_copy": "unsqueeze",
    "unfold_copy": "unfold",
    "_as_strided_copy": "as_strided_part",
}
