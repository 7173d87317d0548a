"""Elements that are chosen by their place in the order, or by how often they occur."""

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import DimensionError, NotSupportedError, OptionValueError
from vtgrad.ops.kernels import reductions

NAN = float("nan")


def test_the_kth_of_equal_elements_is_the_one_that_stands_there_in_order() -> None:
    values, indices = reductions.kthvalue(np.array([[2.0, 1.0, 1.0], [NAN, 0.0, 3.0]]), 2)
    assert values.tolist() == [1, 3]
    assert indices.tolist() == [2, 2]


def test_the_most_frequent_of_equally_frequent_elements_is_the_smallest() -> None:
    values, indices = reductions.mode(np.array([[2, 1, 2, 1], [3, 3, 1, 3]]))
    assert values.tolist() == [1, 3]
    assert indices.tolist() == [3, 3]
    assert reductions.mode(np.array([[NAN], [NAN], [2.0]]), 0)[0].tolist() == [2]
    assert reductions.mode(np.array([True, False, True]))[0].item() is True


def test_a_median_leaves_nan_out() -> None:
    x = np.array([[NAN, 4.0, 1.0], [NAN, NAN, NAN]])
    values, indices = reductions.nanmedian_dim(x, 1)
    np.testing.assert_array_equal(values, [1, NAN])
    assert indices.tolist() == [2, 0]
    assert reductions.nanmedian(x).item() == 1
    assert np.isnan(reductions.nanmedian(x[1])).item()


def test_elements_equal_to_a_median_share_its_gradient() -> None:
    x = vt.tensor([NAN, 1.0, 1.0, 5.0], requires_grad=True)
    vt.nanmedian(x).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 0.5, 0.5, 0]


def test_names_of_the_dimensions_that_are_left_stay() -> None:
    x = vt.ones(2, 3).rename("rows", "columns")
    assert vt.kthvalue(x, 1, 0).values.names == ("columns",)
    assert vt.mode(x, keepdim=True).indices.names == ("rows", "columns")
    assert vt.nanmedian(x, 1).values.names == ("rows",)


def test_what_has_no_such_element_is_refused() -> None:
    with pytest.raises(OptionValueError):
        vt.kthvalue(vt.ones(3), 4)
    with pytest.raises(DimensionError):
        vt.mode(vt.ones(3, 0))
    with pytest.raises(NotSupportedError):
        vt.kthvalue(vt.ones(3, dtype=vt.bool), 1)
    with pytest.raises(NotSupportedError):
        vt.mode(vt.tensor([1j]))
