"""Deep copies and pickles: what they keep, and what they refuse."""

import copy
import pickle

import pytest

import vtgrad as vt
from vtgrad.errors import ArgumentTypeError, NotALeafError, OutOfBoundsError, RequiresGradError


def through_pickle(x: object) -> object:
    return pickle.loads(pickle.dumps(x))


def test_a_pickle_keeps_values_dtype_geometry_and_requires_grad() -> None:
    x = vt.arange(6.0).reshape(2, 3)
    for t in [x, x.t(), x[:, 1], vt.tensor(2), vt.zeros(0, 3), vt.tensor([True]), vt.ones(1) * 1j]:
        back = through_pickle(t)
        assert isinstance(back, vt.Tensor)
        assert back.tolist() == t.tolist()
        assert back.dtype is t.dtype
        assert (back.shape, back.stride()) == (t.shape, t.stride())
        assert back.storage_offset() == t.storage_offset()
        assert back.data_ptr() != t.data_ptr() or t.numel() == 0
        assert not back.requires_grad
    leaf = through_pickle(vt.ones(2, requires_grad=True))
    assert isinstance(leaf, vt.Tensor)
    assert leaf.requires_grad
    assert leaf.is_leaf


def test_a_pickled_result_comes_back_as_a_leaf() -> None:
    y = through_pickle(vt.ones(2, requires_grad=True) * 2)
    assert isinstance(y, vt.Tensor)
    assert y.is_leaf
    assert y.requires_grad


@pytest.mark.parametrize("copied", [through_pickle, copy.deepcopy])
def test_tensors_of_one_storage_still_share_it_afterwards(copied: object) -> None:
    assert callable(copied)
    x = vt.zeros(3)
    x.add_(1)
    a, b = copied([x, x[1:]])
    a[1] = 7
    assert b.tolist() == [7.0, 1.0]
    assert x.tolist() == [1.0, 1.0, 1.0]
    assert b._base is None


@pytest.mark.parametrize("copied", [through_pickle, copy.deepcopy])
def test_writes_through_a_copied_alias_are_noticed(copied: object) -> None:
    assert callable(copied)
    x = vt.ones(3)
    a, b = copied([x, x.detach()])
    w = vt.ones(3, requires_grad=True)
    y = (w * a).sum()
    assert (a._version, b._version) == (0, 0)
    b.mul_(2)
    assert a._version == 1
    with pytest.raises(RuntimeError):
        y.backward()


def test_one_tensor_stays_one_tensor() -> None:
    x = vt.zeros(2)
    a, b = copy.deepcopy((x, x))
    assert a is b
    pair = through_pickle([x, x])
    assert isinstance(pair, list)
    assert pair[0] is pair[1]


def test_a_deep_copy_keeps_the_gradient_and_a_pickle_does_not() -> None:
    x = vt.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    far = copy.deepcopy(x)
    assert far.grad is not None
    assert far.grad is not x.grad
    assert far.grad.tolist() == [3.0, 3.0]
    back = through_pickle(x)
    assert isinstance(back, vt.Tensor)
    assert back.grad is None


def test_a_deep_copy_of_a_result_is_refused() -> None:
    x = vt.ones(2, requires_grad=True)
    for t in [x * 2, x.view(2)]:
        with pytest.raises(NotALeafError, match="detach"):
            copy.deepcopy(t)
    assert copy.deepcopy((x * 2).detach()).tolist() == [2.0, 2.0]


def test_a_deep_copy_keeps_geometry() -> None:
    x = vt.arange(6.0).reshape(2, 3)
    column = copy.deepcopy(x[:, 1])
    assert (column.storage_offset(), column.stride()) == (1, (3,))
    assert column.untyped_storage().nbytes() == 24
    assert copy.deepcopy(x.t()).stride() == (1, 3)
    assert copy.deepcopy(vt.zeros(1, 3).expand(2, 3)).stride() == (0, 1)


@pytest.mark.parametrize(
    ("place", "value", "error"),
    [
        (4, (1000,), OutOfBoundsError),
        (4, (-1,), OutOfBoundsError),
        (4, (2**70,), OutOfBoundsError),
        (5, (9,), OutOfBoundsError),
        (5, (-1,), OutOfBoundsError),
        (5, (1, 1), OutOfBoundsError),
        (6, 3, OutOfBoundsError),
        (6, -1, OutOfBoundsError),
        (3, vt.complex128, OutOfBoundsError),
        (4, [3], ArgumentTypeError),
        (4, (3.0,), ArgumentTypeError),
        (6, True, ArgumentTypeError),
        (0, int, ArgumentTypeError),
        (1, b"0123456789ab", ArgumentTypeError),
        (2, 0, ArgumentTypeError),
        (3, "float32", ArgumentTypeError),
    ],
)
def test_a_forged_pickle_cannot_reach_outside_its_storage(
    place: int, value: object, error: type[Exception]
) -> None:
    rebuild, facts = vt.ones(3).__reduce_ex__(4)
    assert callable(rebuild)
    assert rebuild(*facts).tolist() == [1.0, 1.0, 1.0]
    forged = [*facts]
    forged[place] = value
    with pytest.raises(error):
        rebuild(*forged)


def test_a_forged_pickle_cannot_ask_gradients_of_integers() -> None:
    rebuild, facts = vt.ones(3, dtype=vt.int64).__reduce_ex__(4)
    assert callable(rebuild)
    with pytest.raises(RequiresGradError):
        rebuild(*facts[:7], True, *facts[8:])
