"""`fftfreq`, `rfftfreq` and the shifts, with numbers made by hand."""

import pytest

import vtgrad as vt


def test_frequencies_in_the_order_of_a_transform() -> None:
    assert vt.fft.fftfreq(5, 0.5).tolist() == pytest.approx([0, 0.4, 0.8, -0.8, -0.4])
    assert vt.fft.fftfreq(4).tolist() == [0, 0.25, -0.5, -0.25]
    assert vt.fft.rfftfreq(4, 0.5).tolist() == [0, 0.5, 1]
    assert vt.fft.rfftfreq(5, d=vt.tensor(0.2)).tolist() == pytest.approx([0, 1, 2])
    assert vt.fft.fftfreq(0).tolist() == []
    assert vt.fft.fftfreq(3, 0.0).tolist()[1:] == [float("inf"), float("-inf")]


def test_arguments_of_frequencies() -> None:
    assert vt.fft.fftfreq(3).dtype == vt.float32
    assert vt.fft.fftfreq(3, dtype=vt.float16).dtype == vt.float16
    assert vt.fft.fftfreq(3, requires_grad=True).requires_grad
    out = vt.zeros(0, dtype=vt.float64)
    assert vt.fft.rfftfreq(3, out=out) is out
    assert out.tolist() == pytest.approx([0, 1 / 3])
    with pytest.raises(vt.errors.DTypeError, match="floating dtype, not int64"):
        vt.fft.fftfreq(3, dtype=vt.int64)
    with pytest.raises(vt.errors.NotSupportedError, match="complex64"):
        vt.fft.fftfreq(3, dtype=vt.complex64)
    with pytest.raises(vt.errors.ShapeError, match="-1"):
        vt.fft.fftfreq(-1)
    with pytest.raises(vt.errors.ArgumentTypeError):
        vt.fft.rfftfreq(2.5)  # type: ignore[arg-type]


def test_shifts_move_frequency_zero_to_the_middle_and_back() -> None:
    x = vt.tensor([0, 1, 2, -2, -1])
    assert vt.fft.fftshift(x).tolist() == [-2, -1, 0, 1, 2]
    assert vt.fft.ifftshift(vt.fft.fftshift(x)).tolist() == x.tolist()
    table = vt.tensor([[0, 1, 2], [3, 4, 5]])
    assert vt.fft.fftshift(table).tolist() == [[5, 3, 4], [2, 0, 1]]
    assert vt.fft.fftshift(table, 1).tolist() == [[2, 0, 1], [5, 3, 4]]
    assert vt.fft.ifftshift(table, dim=(0, -1)).tolist() == [[4, 5, 3], [1, 2, 0]]


def test_shifts_move_the_gradient_back() -> None:
    x = vt.zeros(3, requires_grad=True)
    (vt.fft.fftshift(x) * vt.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2, 3, 1]
    assert vt.vmap(vt.fft.fftshift)(vt.tensor([[0, 1], [2, 3]])).tolist() == [[1, 0], [3, 2]]


def test_shifts_without_dimensions_are_refused() -> None:
    with pytest.raises(vt.errors.ShapeError):
        vt.fft.fftshift(vt.tensor(1.0))
    with pytest.raises(vt.errors.DimensionError):
        vt.fft.fftshift(vt.ones(2), 3)
