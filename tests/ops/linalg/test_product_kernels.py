"""Products of vectors and matrices, on plain arrays."""

import numpy as np
import pytest

from vtgrad.errors import DTypeError, NotSupportedError, ShapeError
from vtgrad.ops.kernels import linalg

A = np.array([[1.0, 2.0], [3.0, 4.0]])
B = np.array([[5.0, 6.0], [7.0, 8.0]])
V = np.array([1.0, 10.0])


def test_products_worked_by_hand() -> None:
    assert linalg.mm(A, B).tolist() == [[19, 22], [43, 50]]
    assert linalg.mm(A.T, B).tolist() == [[26, 30], [38, 44]]
    assert linalg.mv(A, V).tolist() == [21, 43]
    assert linalg.dot(V, V).item() == 101
    assert linalg.bmm(np.stack([A, B]), np.stack([B, A])).tolist() == [
        [[19, 22], [43, 50]],
        [[23, 34], [31, 46]],
    ]


def test_results_are_dense_in_c_order_and_own_their_memory() -> None:
    wide = np.arange(24.0).reshape(4, 6)
    for got in (
        linalg.mm(A.T, B.T),
        linalg.mm(wide[:, ::2].T, wide[:, 1::2]),
        linalg.mv(A.T, wide[0, ::3]),
        linalg.bmm(np.stack([A, B]).transpose(0, 2, 1), np.stack([A, B])),
        linalg.dot(V, V),
        linalg.addmm(V, A.T, B),
    ):
        assert type(got) is np.ndarray
        assert got.flags.c_contiguous
        assert got.base is None


def test_an_empty_inner_dimension_sums_to_zero() -> None:
    assert linalg.mm(np.ones((2, 0)), np.ones((0, 3))).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert linalg.mv(np.ones((2, 0)), np.ones(0)).tolist() == [0, 0]
    assert linalg.dot(np.ones(0), np.ones(0)).item() == 0
    assert linalg.bmm(np.ones((0, 2, 2)), np.ones((0, 2, 3))).shape == (0, 2, 3)


def test_dot_does_not_conjugate() -> None:
    assert linalg.dot(np.array([1j, 1.0]), np.array([1j, 1.0])).item() == 0


def test_integer_products_stay_integers_and_wrap() -> None:
    x = np.array([[200]], np.uint8)
    assert linalg.mm(x, x).dtype == np.uint8
    assert linalg.mm(x, x).item() == 200 * 200 % 256


def test_half_precision_products_are_accumulated_wider() -> None:
    ones = np.ones(4096, np.float16)
    assert linalg.dot(ones, ones).item() == 4096.0
    assert linalg.dot(ones, ones).dtype == np.float16
    assert linalg.mm(ones[None], ones[:, None]).tolist() == [[4096.0]]


def test_addmm_weighs_both_terms() -> None:
    assert linalg.addmm(V, A, B).tolist() == [[20, 32], [44, 60]]
    assert linalg.addmm(A, A, B, beta=2, alpha=10).tolist() == [[192, 224], [436, 508]]
    assert linalg.addmm(np.array(1.0), A, B).tolist() == [[20, 23], [44, 51]]
    assert linalg.addmm(V[:, None], A, B).tolist() == [[20, 23], [53, 60]]


def test_addmm_leaves_out_a_term_of_weight_zero() -> None:
    nan = np.full((2, 2), np.nan)
    assert linalg.addmm(nan, A, B, beta=0).tolist() == [[19, 22], [43, 50]]
    assert linalg.addmm(A, nan, nan, alpha=0).tolist() == A.tolist()


def test_addmm_of_integers_drops_the_fraction_of_its_factors() -> None:
    i = np.array([[2]])
    assert linalg.addmm(i, i, i, beta=1.9, alpha=2.9).tolist() == [[10]]


@pytest.mark.parametrize(
    ("name", "left", "right"),
    [
        ("mm", (2, 3), (2, 3)),
        ("mm", (2, 3), (3,)),
        ("mm", (3,), (3, 2)),
        ("mv", (2, 3), (2,)),
        ("mv", (3,), (3,)),
        ("dot", (3,), (4,)),
        ("dot", (), ()),
        ("bmm", (2, 3, 4), (3, 4, 5)),
        ("bmm", (2, 3, 4), (2, 3, 4)),
        ("bmm", (3, 4), (4, 5)),
    ],
)
def test_shapes_that_do_not_meet_are_refused(
    name: str, left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    with pytest.raises(ShapeError) as caught:
        getattr(linalg, name)(np.ones(left), np.ones(right))
    assert caught.value.facts["shapes"] == (left, right)


@pytest.mark.parametrize("shape", [(3,), (3, 2), (2, 2, 2), (0,)])
def test_addmm_refuses_what_does_not_broadcast_to_the_product(shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError):
        linalg.addmm(np.ones(shape), A, B)


def test_products_never_promote() -> None:
    single = A.astype(np.float32)
    with pytest.raises(DTypeError):
        linalg.mm(A, single)
    with pytest.raises(DTypeError):
        linalg.mv(A, V.astype(np.float32))
    with pytest.raises(DTypeError):
        linalg.dot(V, V.astype(np.int64))
    with pytest.raises(DTypeError):
        linalg.addmm(single, A, B)
    with pytest.raises(DTypeError):
        linalg.addmm(A, A, B, alpha=1j)


def test_there_is_no_product_of_bools() -> None:
    yes = np.array([[True]])
    with pytest.raises(NotSupportedError):
        linalg.mm(yes, yes)
    with pytest.raises(NotSupportedError):
        linalg.dot(yes[0], yes[0])


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "complex128"])
@pytest.mark.parametrize(("rows", "inner", "columns"), [(1, 1, 3), (3, 1, 1), (1, 1, 1), (2, 1, 3)])
def test_nan_spreads_through_a_product_with_zeros(
    rows: int, inner: int, columns: int, dtype: str
) -> None:
    """NumPy's `dot` takes a matrix of one element for a number, and skips it if it is zero."""
    zeros, nans = np.zeros((rows, inner), dtype), np.full((inner, columns), np.nan, dtype)
    assert np.isnan(linalg.mm(zeros, nans)).all()
    assert np.isnan(linalg.mv(zeros, nans[:, 0])).all()
    assert np.isnan(linalg.mv(nans.T, zeros[0])).all()
    assert np.isnan(linalg.dot(zeros[0], nans[:, 0])).all()
    assert np.isnan(linalg.addmm(np.zeros((rows, columns), dtype), zeros, nans)).all()
    assert np.isnan(linalg.bmm(zeros[None], nans[None])).all()
