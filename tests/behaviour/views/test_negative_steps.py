"""NumPy's slices with a negative step, which PyTorch does not have."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import ArgumentValueError, OutOfBoundsError, SelfOverlapError

SLICES = (
    np.s_[::-1],
    np.s_[::-2],
    np.s_[2::-1],
    np.s_[:1:-1],
    np.s_[-2:0:-1],
    np.s_[3:3:-1],
    np.s_[0::-1],
    np.s_[9:-9:-3],
    np.s_[:, ::-1],
    np.s_[::-1, ::-2],
    np.s_[::2, ::-1],
    np.s_[1, ::-1],
    np.s_[..., ::-1],
    np.s_[::-1, None, 1:],
    np.s_[[2, 0], ::-1],
)
EACH = pytest.mark.parametrize("index", SLICES, ids=str)

Part = Callable[[vt.Tensor], vt.Tensor]
PARTS: dict[str, Part] = {
    "reversed": lambda x: x[::-1],
    "both": lambda x: x[::-1, ::-1],
    "every second": lambda x: x[:, ::-2],
    "again": lambda x: x[::-1][::-1],
    "row": lambda x: x[::-1][1],
    "range": lambda x: x[::-1][1:, 1],
    "transposed": lambda x: x[::-1].t()[::-1],
    "reshaped": lambda x: x[::-1, ::-1].reshape(-1)[2:7],
    "diagonal": lambda x: x[::-1].diagonal(),
    "windows": lambda x: x[::-1].unfold(0, 2, 2)[:, ::-1],
    "expanded": lambda x: x[::-1, :1].squeeze(1),
    "strided": lambda x: x[::-1].as_strided((2,), (1,), 1),
    "real parts": lambda x: vt.view_as_complex(x[:, :2])[::-1].real,
    "lazy": lambda x: vt.view_as_complex(x[:, :2])[::-1].conj().imag,
}


def matrix(*, grad: bool = False) -> vt.Tensor:
    """A matrix of 4 rows and 4 columns."""
    return vt.arange(1.0, 17.0, dtype=vt.float64).reshape(4, 4).clone().requires_grad_(grad)


@EACH
def test_they_are_numpys(index: object) -> None:
    x = matrix()
    part = x[index]  # type: ignore[index]
    assert part.tolist() == x.numpy()[index].tolist()  # type: ignore[call-overload]


@EACH
def test_assignments_are_numpys(index: object) -> None:
    x = matrix()
    expected = x.numpy().copy()
    part = expected[index]  # type: ignore[call-overload]
    values = np.arange(part.size, dtype=np.float64).reshape(part.shape) * 100
    expected[index] = values  # type: ignore[call-overload]
    x[index] = vt.from_numpy(values.copy())  # type: ignore[index]
    assert x.tolist() == expected.tolist()
    x[index] = -1.5  # type: ignore[index]
    expected[index] = -1.5  # type: ignore[call-overload]
    assert x.tolist() == expected.tolist()


def test_they_are_views_with_negative_strides() -> None:
    x = matrix()
    part = x[::-2]
    assert part._base is x
    assert part.stride() == (-8, 1)
    assert part.storage_offset() == 12
    assert not part.is_contiguous()
    assert part.data_ptr() == x[3].data_ptr()
    part.mul_(-1)
    assert x[3].tolist() == [-13, -14, -15, -16]
    assert x._version == part._version == 1
    assert part.clone().stride() == (4, 1)
    assert part.contiguous().tolist() == part.tolist()
    assert (part * 2).tolist() == (part.clone() * 2).tolist()
    assert x[::-1][::-1].stride() == (4, 1)
    assert x[2:1:-1].stride() == (4, 1)


def test_a_step_of_zero_is_refused() -> None:
    x = matrix()
    with pytest.raises(ArgumentValueError):
        x[::0]
    with pytest.raises(ArgumentValueError):
        x[::0] = 1
    assert x._version == 0


def test_no_other_view_has_negative_strides() -> None:
    x = matrix()
    with pytest.raises(OutOfBoundsError):
        x.as_strided((4,), (-4,), 12)
    with pytest.raises(OutOfBoundsError):
        x[::-1].as_strided((4,), (4,))
    assert x[::-1].as_strided((4,), (1,)).tolist() == [13, 14, 15, 16]


def test_reading_and_writing_what_overlaps() -> None:
    x = matrix()
    expected = x.numpy()[::-1].copy()
    x.copy_(x[::-1])
    assert x.tolist() == expected.tolist()
    with pytest.raises(SelfOverlapError):
        x[::-1, :1].expand(4, 4).mul_(2)


@pytest.mark.parametrize("recorded", [False, True])
def test_a_saved_view_whose_tensor_is_gone_shows_the_same_elements(recorded: bool) -> None:
    x = vt.tensor([1.0, 2, 3, 4], requires_grad=True)
    view = (x * 1)[::-2]
    square = view * view
    assert square.grad_fn is not None
    node: Any = square.grad_fn
    del view
    assert node._saved_self.tolist() == [4, 2]
    (gradient,) = vt.autograd.grad(square.sum(), x, create_graph=recorded)
    assert gradient.tolist() == [0, 4, 0, 8]


def test_copies_and_pickles() -> None:
    x = matrix()
    a, b = pickle.loads(pickle.dumps((x, x[::-1])))
    assert b.stride() == (-4, 1)
    a[0, 0] = 99
    assert b[3, 0].item() == 99
    assert copy.deepcopy(x[::-1]).tolist() == x[::-1].tolist()
    assert x[::-1].numpy().tolist() == x.numpy()[::-1].tolist()
    rebuild, facts, *_ = x[::-1].__reduce_ex__(4)
    assert callable(rebuild)
    for offset in (11, 16):
        with pytest.raises(OutOfBoundsError):
            rebuild(*facts[:6], offset, *facts[7:])


# -- gradients -------------------------------------------------------------------------------


def check_derivative(function: Part) -> None:
    """Compare first and second derivatives with differences."""
    weights = vt.arange(1.0, 17.0, dtype=vt.float64) / 8
    x = matrix(grad=True)
    direction = vt.from_numpy(np.cos(np.arange(16.0)).reshape(4, 4))

    def loss(at: vt.Tensor) -> vt.Tensor:
        y = function(at).reshape(-1)
        return (y * y * y * weights[: y.numel()]).sum() / 100

    def slope(at: vt.Tensor) -> vt.Tensor:
        (g,) = vt.autograd.grad(loss(at), at, create_graph=True)
        return (g * direction).sum()

    step = 1e-4
    for f in (loss, slope):
        (g,) = vt.autograd.grad(f(x), x)
        ends = [
            f((x.detach() + sign * step * direction).requires_grad_()).item() for sign in (1, -1)
        ]
        assert all(isinstance(end, float) for end in ends)
        expected = (float(ends[0].real) - float(ends[1].real)) / (2 * step)
        assert (g * direction).sum().item() == pytest.approx(expected, rel=1e-6)


BOTH = pytest.mark.parametrize("part", PARTS.values(), ids=PARTS.keys())


@BOTH
def test_gradients_of_reading(part: Part) -> None:
    check_derivative(lambda x: part(x) * 2)
    check_derivative(lambda x: part(x.clone()) + part(x.t().clone().t()))


@BOTH
def test_gradients_of_writing_through(part: Part) -> None:
    def written(x: vt.Tensor) -> vt.Tensor:
        y = x.clone()
        part(y).mul_(part(x) * 0.25)
        part(y).exp_() if part(y).max() < 3 else part(y).tanh_()
        return y

    check_derivative(written)


@BOTH
def test_gradients_of_a_view_whose_base_was_written(part: Part) -> None:
    def read_after(x: vt.Tensor) -> vt.Tensor:
        y = x.clone()
        v = part(y)
        y.mul_(x)
        y[1] = x[2]
        return v

    check_derivative(read_after)


@BOTH
def test_gradients_where_the_base_itself_walks_backwards(part: Part) -> None:
    def written(x: vt.Tensor) -> vt.Tensor:
        y = (x * 1)[::-1].detach()
        if part(y).numel() and "complex" not in str(y.dtype):
            y[...] = x
            part(y).mul_(part(x) * 0.25)
        return y

    check_derivative(written)


def test_gradients_of_assignments() -> None:
    def assigned(x: vt.Tensor) -> vt.Tensor:
        y = x.clone()
        y[::-2] = x[:2] * 2
        y[0, ::-1] = x[1]
        y[::-1] += x.t()
        return y

    check_derivative(assigned)


def test_names() -> None:
    x = matrix(grad=True).clone()
    part = x[::-1]
    assert part.grad_fn is not None
    assert part.grad_fn.name() == "SliceBackward0"
    x.mul_(2)
    assert part.grad_fn.name() == "AsStridedBackward0"


def test_leaves_that_walk_backwards() -> None:
    x = matrix()[::-1].detach().requires_grad_()
    (x * x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == (2 * x.detach()).tolist()
    (x * x).sum().backward()
    assert x.grad.tolist() == (4 * x.detach()).tolist()


def test_a_saved_view_whose_tensor_is_gone_lies_where_it_lay() -> None:
    x = vt.tensor([1.0, 2.0, 3.0, 4.0], dtype=vt.float64, requires_grad=True)
    view = (x * 1)[::-1]
    y = view * view
    del view
    saved = saved_self(y)
    assert (saved.storage_offset(), saved.stride(), saved.tolist()) == (3, (-1,), [4, 3, 2, 1])
    assert saved.as_strided((2,), (1,), 0).tolist() == [1, 2]
    assert copy.deepcopy(saved.detach()).tolist() == [4, 3, 2, 1]
    (grad,) = vt.autograd.grad((x * 1)[::-1].prod(0), x, create_graph=True)
    (second,) = vt.autograd.grad(grad.sum(), x)
    assert grad.tolist() == [24, 12, 8, 6]
    np.testing.assert_allclose(second.numpy(), [26, 19, 14, 11], rtol=1e-12)


def saved_self(y: vt.Tensor) -> vt.Tensor:
    """What the producer of `y` has saved of its first operand."""
    saved: vt.Tensor = y.grad_fn._saved_self  # type: ignore[union-attr]  # read by its name
    return saved
