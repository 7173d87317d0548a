"""Deep copies and pickles: what they keep, and what they refuse."""

import copy
import pickle
from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest

import vtgrad as vt
from vtgrad.errors import ArgumentTypeError, NotALeafError, OutOfBoundsError, RequiresGradError


def through_pickle(x: object) -> object:
    return pickle.loads(pickle.dumps(x))


class Named(vt.Tensor):
    """Keeps a name, and what users add."""

    name: str
    scale: vt.Tensor


class Slotted(vt.Tensor):
    """Keeps an attribute in a slot, and has no others."""

    __slots__ = ("unit",)

    unit: list[str]


class Both(Slotted, Named):
    """Has a slot and others."""


class Stateful(Named):
    """Says itself what goes along."""

    def __getstate__(self) -> object:
        return ["state of", self.name]

    def __setstate__(self, state: list[str]) -> None:
        self.name = " ".join(state)


T = TypeVar("T", bound=vt.Tensor)
COPIES: Sequence[Callable[[object], object]] = (copy.copy, copy.deepcopy, through_pickle)


def of_class(cls: type[T], *values: float) -> T:
    return cls._wrap(vt.tensor(values)._impl)


def copied_as(cls: type[T], copied: Callable[[object], object], x: T) -> T:
    back = copied(x)
    assert type(back) is cls
    assert back.tolist() == x.tolist()
    return back


@pytest.mark.parametrize("copied", COPIES)
def test_attributes_of_a_subclass_go_along(copied: Callable[[object], object]) -> None:
    x = of_class(Named, 1, 2)
    x.name, x.scale = "level", vt.tensor([2.0])
    back = copied_as(Named, copied, x)
    assert back.name == "level"
    assert back.scale.tolist() == [2]
    assert (back.scale is x.scale) is (copied is copy.copy)


@pytest.mark.parametrize("copied", COPIES)
def test_slots_of_a_subclass_go_along(copied: Callable[[object], object]) -> None:
    x = of_class(Slotted, 1)
    copied_as(Slotted, copied, x)  # which has nothing yet
    x.unit = ["m"]
    back = copied_as(Slotted, copied, x)
    assert back.unit == ["m"]
    assert (back.unit is x.unit) is (copied is copy.copy)
    y = of_class(Both, 1)
    y.unit, y.name = ["s"], "time"
    both = copied_as(Both, copied, y)
    assert (both.unit, both.name) == (["s"], "time")


@pytest.mark.parametrize("copied", COPIES)
def test_a_subclass_may_say_what_goes_along(copied: Callable[[object], object]) -> None:
    x = of_class(Stateful, 1)
    x.name = "level"
    assert copied_as(Stateful, copied, x).name == "state of level"


@pytest.mark.parametrize("copied", [copy.deepcopy, through_pickle])
def test_a_subclass_may_refer_to_itself_and_to_its_aliases(
    copied: Callable[[object], object],
) -> None:
    x = of_class(Named, 1, 2)
    x.scale = x
    back = copied_as(Named, copied, x)
    assert back.scale is back
    x.scale = x.detach()[1:]
    back = copied_as(Named, copied, x)
    back.scale[0] = 7
    assert back.tolist() == [1, 7]
    assert x.tolist() == [1, 2]


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
    ("position", "value", "error"),
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
    position: int, value: object, error: type[Exception]
) -> None:
    rebuild, facts, *_ = vt.ones(3).__reduce_ex__(4)
    assert callable(rebuild)
    assert rebuild(*facts).tolist() == [1.0, 1.0, 1.0]
    forged = [*facts]
    forged[position] = value
    with pytest.raises(error):
        rebuild(*forged)


def test_a_forged_pickle_cannot_ask_gradients_of_integers() -> None:
    rebuild, facts, *_ = vt.ones(3, dtype=vt.int64).__reduce_ex__(4)
    assert callable(rebuild)
    with pytest.raises(RequiresGradError):
        rebuild(*facts[:7], True, *facts[8:])
