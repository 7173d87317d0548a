"""Windows beside NumPy's."""

from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt

PAIRS = [
    (vt.bartlett_window, np.bartlett),
    (vt.blackman_window, np.blackman),
    (vt.hamming_window, np.hamming),
    (vt.hann_window, np.hanning),
    (vt.kaiser_window, lambda n: np.kaiser(n, 12.0)),
]


@pytest.mark.parametrize(("mine", "theirs"), PAIRS)
def test_values(mine: Callable[..., vt.Tensor], theirs: Callable[[int], np.ndarray]) -> None:
    for count in (0, 1, 2, 5, 8):
        symmetric = mine(count, periodic=False, dtype=vt.float64)
        np.testing.assert_allclose(symmetric.numpy(), theirs(count), atol=1e-15)
        if count > 1:
            periodic = mine(count, dtype=vt.float64)
            np.testing.assert_allclose(periodic.numpy(), theirs(count + 1)[:-1], atol=1e-15)
    assert mine(1).tolist() == [1]


@pytest.mark.parametrize("mine", [mine for mine, _ in PAIRS])
def test_arguments(mine: Callable[..., vt.Tensor]) -> None:
    assert mine(3).dtype == vt.float32
    assert mine(3, dtype=vt.float16).dtype == vt.float16
    assert mine(3, requires_grad=True).requires_grad
    with pytest.raises(vt.errors.ShapeError, match="-1"):
        mine(-1)
    with pytest.raises(vt.errors.DTypeError, match="int64"):
        mine(3, dtype=vt.int64)
    with pytest.raises(vt.errors.NotSupportedError, match="complex64"):
        mine(3, dtype=vt.complex64)
    with pytest.raises(vt.errors.ArgumentTypeError):
        mine(2.5)


def test_parameters_of_windows() -> None:
    assert vt.hamming_window(4, True, 0.5, 0.25).tolist() == pytest.approx([0.25, 0.5, 0.75, 0.5])
    assert vt.hamming_window(1, True, 0.5, 0.25).tolist() == [1]
    found = vt.kaiser_window(5, False, vt.tensor(3.0), dtype=vt.float64)
    np.testing.assert_allclose(found.numpy(), np.kaiser(5, 3.0))
