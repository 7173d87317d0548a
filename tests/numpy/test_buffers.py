"""Arrays of memory, of iterators and of text, and what is required of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_by_namespace import Call, compare_call
from tests.numpy.support import array, plain

CALLS: dict[str, Call] = {
    "fromiter": lambda np, a: np.fromiter((n * n for n in range(4)), "f"),
    "fromiter of": lambda np, a: np.fromiter((x * 2 for x in a([1.0, 2, 3])), float, 2),
    "fromiter all": lambda np, a: np.fromiter(a([1.0, 2, 3]), float, count=-1),
    "fromiter short": lambda np, a: np.fromiter(a([1.0, 2, 3]), float, 5),
    "fromiter none": lambda np, a: np.fromiter([], float),
    "fromiter integers": lambda np, a: np.fromiter([1, 2], np.uint16),
    "frombuffer": lambda np, a: np.frombuffer(b"abcdefgh", np.int16, 2, 2),
    "frombuffer array": lambda np, a: np.frombuffer(bytearray(b"abcdefgh"), dtype="u1"),
    "frombuffer of": lambda np, a: np.frombuffer(b"abcdefgh"),
    "frombuffer unsigned": lambda np, a: np.frombuffer(b"abcdefgh", np.uint32),
    "frombuffer error": lambda np, a: np.frombuffer(b"abc"),
    "fromstring": lambda np, a: np.fromstring("1 2 3", sep=" "),
    "fromstring of": lambda np, a: np.fromstring("1,2,3", int, 2, sep=","),
    "dlpack": lambda np, a: np.from_dlpack(np.array([1.0, 2.0])),
    "require": lambda np, a: np.require(a([[1.0, 2]]).T, requirements=["C", "O"]),
    "require F": lambda np, a: np.require(a([[1.0, 2], [3, 4]]), "f", "F"),
    "require both": lambda np, a: np.require(a([1.0]), None, ["C", "F"]),
    "require unknown": lambda np, a: np.require(a([1.0]), None, "Q"),
    "require nothing": lambda np, a: np.require([[a(1.0), 2]]),
    "chkfinite": lambda np, a: np.asarray_chkfinite(a([1.0, 2]), "f"),
    "chkfinite of": lambda np, a: np.asarray_chkfinite(a([1.0, np.nan])),
    "chkfinite integers": lambda np, a: np.asarray_chkfinite([1, 2], order="F"),
    "chkfinite list": lambda np, a: np.asarray_chkfinite([a(1.0), np.inf]),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str) -> None:
    compare_call(CALLS[name], name)


def test_flags_that_are_required() -> None:
    x = array([[1.0, 2.0], [3.0, 4.0]])
    for given in (x, x.T, x[:, :1], vnp.broadcast_to(x[0], (2, 2))):
        names: Any
        for names in ("C", "F", "O", "W", "A", ["C", "WRITEABLE"], ["F_CONTIGUOUS", "O"], "E"):
            made: Any = vnp.require(given, requirements=names)
            theirs = np.require(plain(given), requirements=names)
            for flag in ("C", "F", "W", "A"):
                wanted = flag in names or flag == "A"
                assert not wanted or made.flags[flag], (names, flag)
            assert made.tolist() == theirs.tolist()
    assert vnp.require(x, requirements=["C", "W"]) is x
    leaf = array([[1.0, 2.0]], grad=True)
    assert vnp.require(leaf.T[::-1], requirements="W").requires_grad


def test_memory_is_shared_where_nothing_is_recorded() -> None:
    memory = bytearray(8)
    with vt.no_grad():
        made = vnp.frombuffer(memory)
        made[0] = 1.0
        other = np.zeros(2)
        vnp.from_dlpack(other)[0] = 5
    assert memory != bytearray(8)
    assert other.tolist() == [5, 0]
    x = array([1.0, 2.0], grad=True)
    with pytest.raises(TypeError, match="detach"):
        vnp.frombuffer(x)
    assert vnp.frombuffer(x.detach(), count=1).tolist() == [1]
    assert vnp.from_dlpack(x).requires_grad
    assert vnp.from_dlpack(x, copy=True).requires_grad
    y = array([1.0, 2.0])
    vnp.from_dlpack(y)[0] = 7
    assert y.tolist() == [7, 2]
