"""Arrays in files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vtgrad.numpy as vnp
from tests.numpy.support import array, assert_same
from vtgrad.numpy import ndarray

TABLE = np.array([[0.5, 1.25], [2.0, 0.875]])


@pytest.mark.parametrize("library", [vnp, np], ids=["namespace", "numpy"])
@pytest.mark.parametrize("grad", [False, True], ids=["constant", "recorded"])
def test_saved_and_loaded(library: Any, grad: bool, tmp_path: Path) -> None:
    x = array(TABLE, grad)
    path = tmp_path / "x.npy"
    library.save(path, x)
    assert_same(vnp.load(path), TABLE)
    for save in (library.savez, library.savez_compressed):
        save(tmp_path / "several.npz", x, x * 2, third=x[0])
        with vnp.load(tmp_path / "several.npz") as found:
            assert sorted(found.files) == sorted(found) == ["arr_0", "arr_1", "third"]
            assert len(found) == 3
            assert "third" in found
            assert_same(found["arr_1"], TABLE * 2)
            assert_same(found["third"], TABLE[0])
    library.savetxt(tmp_path / "x.txt", x, delimiter=",", fmt="%.3f", header="a,b")
    assert_same(vnp.loadtxt(tmp_path / "x.txt", delimiter=","), TABLE)
    assert (tmp_path / "x.txt").read_text("utf-8").startswith("# a,b\n0.500,1.250\n")


def test_texts() -> None:
    lines = ["1 2 3", "4 5 6"]
    for name in ("loadtxt", "genfromtxt"):
        mine, theirs = getattr(vnp, name), getattr(np, name)
        for options in ({}, {"dtype": int}, {"usecols": 1}, {"unpack": True}, {"dtype": np.uint16}):
            assert_same(mine(lines, **options), theirs(lines, **options))
    first, second, third = vnp.loadtxt(lines, unpack=True)
    assert type(first) is ndarray
    assert (second * third).tolist() == [6, 30]
    with pytest.raises(ValueError, match="string"):
        vnp.loadtxt(["a b"])
    text: object = vnp.loadtxt(["a b"], dtype=str)
    assert type(text) is np.ndarray


def test_other_files(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    TABLE.tofile(path)
    assert_same(vnp.fromfile(path), TABLE.ravel())
    assert_same(vnp.fromfile(path, count=2, offset=8), TABLE.ravel()[1:3])
    (tmp_path / "x.txt").write_text("1 a 2 b", encoding="utf-8")
    found: Any = vnp.fromregex(tmp_path / "x.txt", r"(\d) (\w)", [("n", int), ("s", "U1")])
    assert type(found) is np.ndarray
    assert found["n"].tolist() == [1, 2]
    np.save(tmp_path / "m.npy", TABLE)
    assert isinstance(vnp.load(tmp_path / "m.npy", mmap_mode="r"), np.memmap)


def test_lists_of_tensors() -> None:
    file = io.BytesIO()
    vnp.save(file, [array(1.5, grad=True), array(2.5)])
    file.seek(0)
    assert_same(vnp.load(file), np.array([1.5, 2.5]))
