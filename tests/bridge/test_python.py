"""A tensor as a Python number, container, condition and index."""

import copy
import operator

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import (
    AmbiguousTruthError,
    ArgumentTypeError,
    ArgumentValueError,
    DimensionError,
    ElementCountError,
    NotSupportedError,
    ResultTypeError,
)


def test_item_gives_the_only_element() -> None:
    assert vt.tensor(2.5).item() == 2.5
    assert vt.tensor([[3]]).item() == 3
    assert vt.tensor(True).item() is True
    assert vt.tensor(1 + 2j).item() == 1 + 2j
    assert vt.ones((), requires_grad=True).item() == 1.0
    for t in [vt.ones(2), vt.zeros(0)]:
        with pytest.raises(ElementCountError, match="tolist") as caught:
            t.item()
        assert isinstance(caught.value, RuntimeError)


def test_tolist_nests_as_the_dimensions_do() -> None:
    assert vt.arange(6).reshape(2, 3).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert vt.tensor(2.5).tolist() == 2.5
    assert vt.zeros(2, 0, 3).tolist() == [[], []]
    assert vt.arange(6).reshape(2, 3).t().tolist() == [[0, 3], [1, 4], [2, 5]]


def test_python_numbers_are_made_of_single_elements() -> None:
    assert int(vt.tensor(2.7)) == 2
    assert float(vt.tensor([3])) == 3.0
    assert complex(vt.tensor(2.5)) == 2.5 + 0j
    assert complex(vt.tensor(1 + 2j)) == 1 + 2j
    assert float(vt.tensor(3 + 0j)) == 3.0
    for convert in [int, float, complex]:
        with pytest.raises(ArgumentValueError):
            convert(vt.ones(2))
    for real in [int, float]:
        with pytest.raises(ResultTypeError):
            real(vt.tensor(1 + 2j))
    with pytest.raises(ValueError, match="NaN"):
        int(vt.tensor(float("nan")))
    with pytest.raises(OverflowError):
        int(vt.tensor(float("inf")))


def test_truth_is_for_single_elements() -> None:
    assert vt.tensor([[2.0]])
    assert not vt.zeros(1)
    assert bool(vt.tensor(float("nan")))
    for t in [vt.ones(2), vt.zeros(0)]:
        with pytest.raises(AmbiguousTruthError):
            bool(t)


def test_integer_tensors_of_one_element_are_indices() -> None:
    assert operator.index(vt.tensor([3])) == 3
    assert operator.index(vt.tensor(True)) == 1
    assert range(5)[vt.tensor(2)] == 2
    for t in [vt.tensor(2.0), vt.tensor([1, 2])]:
        with pytest.raises(ArgumentTypeError):
            operator.index(t)


def test_len_and_iteration_go_over_the_first_dimension() -> None:
    x = vt.tensor([[0, 1, 2], [3, 4, 5]])
    assert len(x) == 2
    rows = list(x)
    assert [row.tolist() for row in rows] == [[0, 1, 2], [3, 4, 5]]
    assert rows[1]._base is x
    rows[0].zero_()
    assert x.tolist() == [[0, 0, 0], [3, 4, 5]]
    _, second = x
    assert second.tolist() == [3, 4, 5]
    with pytest.raises(ArgumentTypeError):
        len(vt.tensor(1))
    with pytest.raises(ArgumentTypeError):
        iter(vt.tensor(1))


def test_reversed_is_a_copy_with_the_rows_in_reverse() -> None:
    x = vt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = reversed(x)
    assert isinstance(y, vt.Tensor)
    assert y.tolist() == [[3, 4], [1, 2]]
    y[0].sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[0, 0], [1, 1]]
    scalar = vt.tensor(1.0)
    assert reversed(scalar) is scalar


def test_iteration_is_differentiable() -> None:
    x = vt.ones(3, requires_grad=True)
    a, b, c = x
    (a + 2 * b + 3 * c).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1.0, 2.0, 3.0]


def test_contains_compares_elements() -> None:
    x = vt.tensor([[1, 2], [3, 4]])
    assert 3 in x
    assert 5 not in x
    assert vt.tensor(4) in x
    assert vt.tensor([1, 2]) in x
    assert np.int64(2) in x
    for other in ["a", None, [1]]:
        with pytest.raises(NotSupportedError):
            _ = other in x


def test_tensors_are_hashed_by_identity() -> None:
    x, y = vt.ones(2), vt.ones(2)
    names = {x: "x", y: "y"}
    assert names[x] == "x"
    assert len(names) == 2


def test_size_and_stride_by_dimension() -> None:
    x = vt.zeros(2, 3)
    assert x.size() == (2, 3)
    assert x.size().numel() == 6
    assert repr(x.size()) == "vtgrad.Size([2, 3])"
    assert (x.size(1), x.size(-2), x.size(dim=0)) == (3, 2, 2)
    assert (x.stride(0), x.stride(-1), x.stride()) == (3, 1, (3, 1))
    for ask in [x.size, x.stride]:
        with pytest.raises(DimensionError):
            ask(2)
    for ask in [vt.tensor(1).size, vt.tensor(1).stride]:
        with pytest.raises(DimensionError):
            ask(0)


def test_facts_about_memory() -> None:
    x = vt.zeros(2, 3, dtype=vt.float64)
    assert (x.itemsize, x.nbytes, x.ndimension()) == (8, 48, 2)
    assert x.is_same_size(vt.zeros(2, 3, dtype=vt.int8))
    assert not x.is_same_size(vt.zeros(3, 2))
    assert vt.zeros(1, 3).expand(4, 3).nbytes == 48


def test_format_specifications_are_for_0_d_tensors() -> None:
    assert f"{vt.tensor(1.5):.2f}" == "1.50"
    # As in PyTorch, a number also where nothing is specified.
    assert f"{vt.tensor(1.5)}" == "1.5"
    assert f"{vt.ones(1)}" == "tensor([1.])"
    with pytest.raises(TypeError):
        f"{vt.ones(2):.2f}"


def test_copy_shares_memory_and_deepcopy_does_not() -> None:
    x = vt.zeros(2)
    near, far = copy.copy(x), copy.deepcopy(x)
    x[0] = 1
    assert near.tolist() == [1.0, 0.0]
    assert far.tolist() == [0.0, 0.0]
    assert near is not x
