"""Tensors in NumPy's files, and to and from pandas and xarray where these are installed."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vtgrad as vt


@pytest.mark.parametrize("dtype", [vt.bool, vt.int16, vt.float32, vt.complex128])
@pytest.mark.parametrize("shape", [(), (0, 2), (2, 3)])
def test_numpy_saves_tensors(dtype: vt.dtype, shape: tuple[int, ...], tmp_path: Path) -> None:
    x: Any = vt.ones(*shape, dtype=dtype) if shape else vt.ones((), dtype=dtype)
    path = tmp_path / "x.npy"
    np.save(path, x, allow_pickle=False)
    found = vt.from_numpy(np.load(path, allow_pickle=False))
    assert found.dtype is dtype
    assert found.shape == shape
    assert found.tolist() == x.tolist()
    loaded: Any = vt.load(path)
    assert loaded.tolist() == x.tolist()
    np.savez(tmp_path / "all.npz", x=x, y=x.t() if len(shape) == 2 else x)
    both: Any = vt.load(tmp_path / "all.npz")
    assert both["x"].tolist() == x.tolist()


def test_numpy_saves_views_as_they_show() -> None:
    x: Any = vt.arange(6.0).reshape(2, 3)
    stream = io.BytesIO()
    np.save(stream, x.t()[::-1])
    stream.seek(0)
    assert np.load(stream).tolist() == [[2, 5], [1, 4], [0, 3]]


def test_numpy_saves_the_values() -> None:
    x: Any = vt.ones(2, requires_grad=True)
    stream = io.BytesIO()
    np.save(stream, x)
    stream.seek(0)
    assert np.load(stream).tolist() == [1, 1]


def test_pandas_both_ways() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4, 5, 6], "c": ["x", "y", "z"]})
    for column in (frame["a"], frame["a"].to_numpy()):
        x = vt.tensor(column)
        assert x.dtype is vt.float64
        assert x.tolist() == [1, 2, 3]
    assert vt.tensor(frame["b"].to_numpy()).dtype is vt.int64
    table = vt.tensor(frame[["a", "b"]].to_numpy())
    assert table.tolist() == [[1, 4], [2, 5], [3, 6]]
    x = vt.from_dlpack(frame["a"].to_numpy(), copy=True)
    x += 1
    assert frame["a"].tolist() == [1, 2, 3]

    w = vt.tensor([2.0, 3.0, 4.0], dtype=vt.float64, requires_grad=True)
    (w * vt.tensor(frame["a"].to_numpy())).sum().backward()
    assert w.grad is not None
    assert pd.Series(w.grad.numpy()).tolist() == [1, 2, 3]
    frame["w"] = w.detach().numpy()
    assert frame["w"].dtype == np.float64
    made = pd.DataFrame(table.numpy(), columns=["a", "b"])
    assert made.to_numpy().tolist() == table.tolist()


def test_xarray_both_ways() -> None:
    xr = pytest.importorskip("xarray")
    x = vt.arange(6.0).reshape(2, 3)
    array = xr.DataArray(x.numpy(), dims=("time", "place"))
    assert array.mean("time").values.tolist() == [1.5, 2.5, 3.5]
    back = vt.from_numpy(array.values)
    back += 1
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]]
    w = vt.ones(3, requires_grad=True)
    (w * vt.tensor(array.isel(time=0).values)).sum().backward()
    assert w.grad is not None
    assert xr.DataArray(w.grad.numpy(), dims="place").values.tolist() == [1, 2, 3]
