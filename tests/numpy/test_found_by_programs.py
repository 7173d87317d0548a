"""What random programs have found: short programs, compared with NumPy after each statement."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.program_runs import Program, run
from tests.numpy.support import array

INPUTS: Final = (
    np.array([[0.5, -1.25, 3.0], [2.0, 0.875, -1.5]]),
    np.array([1.625, -0.75, 2.0]),
    np.array([4, 5, 6]),
)

#: Views for copies and copies for views: the second statement or the third writes.
SHARING: Final = [
    "v3 = v0[:, 1:2].ravel(); v3[0] = 7",
    'v3 = np.ravel(v1[::2], "K"); v3[0] = 7',
    "v3 = np.take(v0, [0, -1], 1); v4 = v3.reshape(-1); v4[0] = 7",
    "v3 = np.compress([True, False, True], v0, 1); v4 = v3.reshape(-1); v4[0] = 7",
    "v3 = np.percentile(v0, [25, 60], axis=1); v4 = v3.reshape(-1); v4[0] = 7",
    "v3 = np.concatenate([v0.T, v0.T]); v4 = v3.reshape(-1); v4[0] = 7",
    "v3 = np.stack([v0.T, v0.T], 2); v4 = v3.reshape(-1); v4[0] = 7",
    'v3 = np.einsum("ij,kj->ik", v0[:1].T, v1[:, None] * 1j); v4 = v3.reshape(-1); v4[0] = 7',
    "v3 = np.fft.rfft(v0); v4 = v3.reshape(-1); v4[0] = 7",
    "v3 = np.fft.irfft(v0.T); v4 = v3.reshape(-1); v4[0] = 7",
    "v3 = np.sort(v0.T, 0); v4 = v3.reshape(-1); v4[0] = 7",
    "v3 = np.cumsum(v0.T, 0); v4 = v3.reshape(-1); v4[0] = 7",
    "v3 = np.minimum.accumulate(v0.T, 0); v4 = v3.reshape(-1); v4[0] = 7",
    "v3 = np.delete(v0.T, 0, 0); v4 = v3.reshape(-1); v4[0] = 7",
    "v3 = np.insert(v0.T, 0, 1.5, 0); v4 = v3.reshape(-1); v4[0] = 7",
    "v3 = np.select([v0.T > 1], [v0.T]); v4 = v3.reshape(-1); v4[0] = 7",
    "v3 = np.interp(v0.T, [-1.0, 2.0], [0.0, 1.0]); v4 = v3.reshape(-1); v4[0] = 7",
    'v3 = v0.T.astype("float32", order="C"); v4 = v3.reshape(-1); v4[0] = 7',
    "v3 = np.subtract.reduce(v0[:1]); v0[0] = 7",
    "v3 = np.squeeze(v0); v3.shape = (6,)",
    "v3 = v0[np.array(0)]; v3[0] = 7",
    "v3 = v0[:, np.array(1)]; v3[0] = 7",
    "v3 = v0[0, ..., np.array(1)]; v0[0] = 7",
]
VALUES: Final = [
    'v3 = np.broadcast_to(v0, (2, 2, 3)); v4 = np.ravel(v3, "K")',
    'v3 = np.roll(v0.T, 1, axis=1); v4 = np.reshape(v3, (6,), order="A")',
    "v3 = v2.copy(); np.subtract.at(v3, [0, 0, 1], v1)",
    "v3 = np.subtract.reduce(v1[0], initial=2.0)",
    "v3 = np.histogram_bin_edges(v0[:0], 3)",
    "v3 = v0 > 0; np.clip(v3, None, True, out=v3)",
    'v3 = np.var(v0.astype("float32"), 0, mean=0.5)',
    'v3 = np.nanvar(v0.astype("float32"), 0, mean=2)',
]
DTYPES: Final = [
    *[
        f'v3 = np.{name}(v0{axis}, dtype="{dtype}")'
        for name in ("sum", "prod", "cumsum", "cumprod")
        for axis in ("", ", axis=0")
        for dtype in ("int32", "int8", "bool")
    ],
    'v3 = np.add.reduce(v0, dtype="int32")',
    'v3 = (v1 * v1).astype("float32"); v3 = np.float_power(v3, v3)',
]
SCALARS: Final = [
    "v3 = v1[0].copy()",
    'v3 = v1[0].astype("float32")',
    "v3 = v1[0].astype(int)",
    "v3 = v1[0].view()",
    "v3 = v1[0].T",
    "v3 = v1[0].squeeze()",
    "v3 = np.squeeze(v1[0])",
    "v3 = np.transpose(v1[0])",
    "v3 = np.astype(v1[0], np.float32)",
    "v3 = np.nan_to_num(v1[:1].reshape(()), copy=False)",
    "v3 = np.minimum.reduce(v1[0], axis=0)",
    "v3 = np.add.reduce(v1[0], axis=0, initial=2.0)",
    "v3 = np.mean(v1[0], axis=0, where=v1[0] > 0)",
    "v3 = np.percentile(v1[0], 30, keepdims=True)",
    "v3 = np.ptp(v1[:1].reshape(()), axis=0)",
]
CASTS: Final = [
    "v0.sum(0, out=v2)",
    "np.mean(v0, 0, out=v2)",
    "np.max(v0, 0, out=v2)",
    "np.var(v0, 0, out=v2)",
    "np.cumsum(v1, out=v2)",
    "np.median(v0, 0, out=v2)",
    "np.add.accumulate(v1, out=v2)",
    "np.subtract.reduce(v0, 0, out=v2)",
    "np.take(v1, [2, 0, 0], out=v2)",
    "np.choose([0, 1, 0], [v1, v1 * 2], out=v2)",
    "v3 = np.full_like(v0, 1 + 2j)",
    "v0.real = 1 + 2j",
    'v3 = v2.astype("uint8"); v3.real = -1',
    "v3 = v0 * 1j; v3.imag = 1 + 2j",
    'v3 = v1.astype("float32"); np.putmask(v3, v3 > 0, v1[0])',
    "np.putmask(v2, v2 > 4, v1[0])",
]
#: What NumPy refuses.
REFUSED: Final = [
    "np.put(v1, [0], 1j)",
    "v1.put([0], 1j)",
    "v1.flat = 1j",
    "np.place(v1, v1 > 99, [1j, 2])",
    "np.fill_diagonal(v0, 1j)",
    "np.matmul(v0[:1], v1, out=v0[:1])",
    "np.dot(v0, v0.T, out=np.zeros((2, 2)).T)",
    "np.take(v1, [0], out=np.zeros(1, complex))",
    "v0.cumsum(axis=(1, 0))",
]


@pytest.mark.parametrize("recorded", [False, True], ids=["constant", "recorded"])
@pytest.mark.parametrize("line", [*SHARING, *VALUES, *DTYPES, *SCALARS, *CASTS, *REFUSED])
def test_a_program(line: str, recorded: bool) -> None:
    outcome = run(Program(INPUTS, recorded, tuple(line.split("; "))))
    assert outcome.difference is None
    assert not outcome.refused or line in REFUSED
    assert bool(outcome.kept) == (line not in REFUSED)


def test_at_writes_an_array_of_numpy() -> None:
    plain: Any = np.array([1.0, 2.0, 3.0])
    vnp.negative.at(plain, vnp.array([0, 0, 1]))
    vnp.add.at(plain, [2, 2], vnp.array(0.5))
    assert plain.tolist() == [1.0, -2.0, 4.0]
    with pytest.raises(TypeError, match=r"vtgrad\.numpy"):
        vnp.add.at(plain, [0], array(0.5, grad=True))
    assert plain.tolist() == [1.0, -2.0, 4.0]


def test_a_scalar_is_not_written() -> None:
    scalar = array([1.5, 2.0], grad=True)[0]
    with pytest.raises(TypeError, match="ArrayType"):
        vnp.add(scalar, 2.0, out=scalar)
    assert scalar == 1.5


def test_matrix_products_in_place_need_matrices() -> None:
    x = array([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(ValueError, match="two dimensions"):
        x @= array([1.0, 1.0])
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_limits_that_are_complex_numbers_of_python() -> None:
    x = np.array([0.5, 3.0], "f")
    assert vnp.clip(array(x), 1 + 2j, 2).dtype == np.clip(x, 1 + 2j, 2).dtype


def test_rounding_into_a_wider_array() -> None:
    x, right, found = np.array([0.1, 1.26, -2.34], "f"), np.zeros(3), vnp.zeros(3)
    np.round(x, 1, out=right)
    vnp.round(array(x, grad=True), 1, out=found)
    assert found.tolist() == right.tolist()


def test_put_writes_an_array_of_numpy() -> None:
    plain: Any = np.array([1.0, 2.0, 3.0])
    vnp.put(plain, vnp.array([0, 4]), vnp.array(0.5), mode="wrap")
    assert plain.tolist() == [0.5, 0.5, 3.0]
    with pytest.raises(TypeError, match=r"vtgrad\.numpy"):
        vnp.put(plain, [0], array(0.25, grad=True))
    assert plain.tolist() == [0.5, 0.5, 3.0]


def test_nan_to_num_of_a_number_of_numpy() -> None:
    plain = np.array(np.nan)
    assert isinstance(vnp.nan_to_num(plain, copy=False), np.float64)
    assert plain == 0.0


@pytest.mark.parametrize(
    "constant",
    [
        lambda: vnp.round(vnp.array([14, 25]), -1),
        lambda: vnp.dot(vnp.array([True, False]), vnp.array([True, True])),
        lambda: vnp.array([1 + 2j, -1j]) > 0.5,
        lambda: vnp.max(vnp.array([1 + 2j, -1j])),
        lambda: vnp.pad(vnp.array([True]), 1, constant_values=2),
        lambda: vnp.floor(vnp.array([True])),
    ],
)
def test_constants_in_forward_mode(constant: Any) -> None:
    wanted = constant()

    def function(x: Any) -> Any:
        found = constant()
        assert type(found) is type(wanted)
        return vnp.sum(x * x) * vnp.sum(vnp.abs(found) > 0)

    value, slope = vt.func.jvp(function, (array(3.0),), (array(1.0),))
    assert float(slope) * 1.5 == float(value)
