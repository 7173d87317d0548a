"""``x[index] = value`` stores into the array at once where the funnel would do the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import vtgrad as vt
from vtgrad.errors import InputOverlapError, StaleSavedError, VtgradError
from vtgrad.views.write import write_part

INDICES: list[object] = [
    0,
    -1,
    3,
    -4,
    2**70,
    slice(None),
    slice(1, None),
    slice(-2, 10),
    slice(0, 3, 2),
    slice(2, 1),
    slice(None, None, 0),
    slice(None, None, -1),
    slice(0.5, 2),
    (),
    (1, 2),
    (1, -1),
    (1, 4),
    (0, 1, 2),
    (slice(None), 1),
    (slice(1, 3), slice(None, None, 3)),
    (..., 1),
    (1, ...),
    None,
    True,
    [0, 2],
]

VALUES: list[Callable[[], object]] = [
    lambda: 2.5,
    lambda: 7,
    lambda: True,
    lambda: -0.0,
    lambda: float("inf"),
    lambda: float("nan"),
    lambda: 1e300,
    lambda: 10**400,
    lambda: 1j,
    lambda: "one",
    lambda: None,
    lambda: vt.tensor(3.0),
    lambda: vt.tensor([3.0]),
    lambda: vt.tensor([[3.0]]),
    lambda: vt.tensor(3),
    lambda: vt.tensor(3.0, dtype=vt.float64),
    lambda: vt.arange(4.0),
    lambda: vt.arange(8.0)[::2],
    lambda: vt.arange(4.0).reshape(1, 1, 4),
    lambda: vt.arange(3.0).reshape(3, 1),
    lambda: vt.arange(12.0).reshape(3, 4),
    lambda: vt.arange(5.0),
]


def outcome(x: vt.Tensor, index: object, value: object) -> tuple[object, ...]:
    """What a store leaves behind: the bits, the version, and what was raised."""
    before = x._version
    raised = None
    try:
        x[index] = value  # type: ignore[index, assignment]  # wrong ones are tried too
    except (VtgradError, OverflowError) as error:
        raised = type(error), str(error)
    return x.detach().numpy().tobytes(), x._version - before, raised


@pytest.mark.parametrize("dtype", [vt.float32, vt.float64, vt.complex64], ids=str)
@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_stores_at_once_and_recorded_ones_leave_the_same(index: object, dtype: vt.dtype) -> None:
    """A tensor that requires grad is always written by way of a view."""
    for make in VALUES:
        plain = vt.arange(12.0).reshape(3, 4).to(dtype).clone()
        leaf = plain.clone().requires_grad_()
        assert outcome(plain, index, make()) == outcome(leaf.clone(), index, make())


@pytest.mark.parametrize("dtype", [vt.int64, vt.uint8, vt.bool], ids=str)
@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_stores_of_other_dtypes_leave_the_same_through_a_view(
    index: object, dtype: vt.dtype
) -> None:
    """A transposed tensor has no layout of its own, so it is written by way of a view too."""
    for make in VALUES:
        plain = vt.arange(12.0).reshape(3, 4).to(dtype).clone()
        gaps = plain.t().contiguous().t()
        assert outcome(plain, index, make()) == outcome(gaps, index, make())


def test_writes_at_once_only_where_nothing_is_recorded() -> None:
    x, y = vt.zeros(2, 3), vt.ones(3)
    assert write_part(x._impl, (1, ...), y)
    assert write_part(x._impl, (0, 2, ...), 5)
    assert x.tolist() == [[0, 0, 5], [1, 1, 1]]
    assert x._version == 2
    assert not write_part(x._impl, (1, ...), y.requires_grad_())
    assert not write_part(y._impl, (1, ...), 2.0)
    assert not write_part(x._impl, (2, ...), 2.0)
    assert not write_part(x._impl, (0, ...), vt.ones(2))
    assert not write_part(x._impl, (0, ...), vt.ones(3, dtype=vt.float64))
    assert not write_part(x._impl, (0, ...), 1e39)
    assert x._version == 2


def test_a_value_that_shares_memory_is_looked_at() -> None:
    x = vt.arange(4.0)
    with pytest.raises(InputOverlapError):
        x[1:] = x[:-1]
    x[:2] = x[2:]
    assert x.tolist() == [2, 3, 2, 3]


def test_a_repeated_element_is_not_written() -> None:
    x = vt.zeros(1, 3).expand(2, 3)
    with pytest.raises(VtgradError):
        x[:, 1:] = 1.0


def test_backward_sees_the_write() -> None:
    x, w = vt.ones(2, 2), vt.ones(2, 2, requires_grad=True)
    y = (w * x).sum()
    x[0] = 3.0
    with pytest.raises(StaleSavedError):
        y.backward()
    x[1] = w[0]
    assert x.grad_fn is not None


def test_views_share_the_version_and_the_value() -> None:
    base = vt.zeros(3, 2)
    view = base[1]
    base[1] = 4.0
    view[0] = 5.0
    assert base.tolist() == [[0, 0], [5, 4], [0, 0]]
    assert base._version == view._version == 2
