"""Copies of several views, stored in tensors that exist."""

from __future__ import annotations

import pytest

from tests.support import differs_from_torch, leaf, ramp, refused, vt


def test_pieces_are_stored_in_out() -> None:
    x = ramp(5)
    a, b, c = vt.zeros(2).double(), vt.zeros(2).double(), vt.zeros(1).double()
    vt.split_copy(x, 2, out=[a, b, c])
    assert (a.tolist(), b.tolist(), c.tolist()) == ([1, 2], [3, 4], [5])
    vt.split_with_sizes_copy(x, [3, 2], out=(empty := vt.empty(0).double(), b))
    assert (empty.tolist(), b.tolist()) == ([1, 2, 3], [4, 5])
    rows = [vt.zeros(3).double(), vt.zeros(3).double()]
    vt.unbind_copy(ramp(2, 3), out=rows)
    assert [row.tolist() for row in rows] == [[1, 2, 3], [4, 5, 6]]
    assert a._version == 1


@differs_from_torch("nothing is returned there")
def test_the_tensors_of_out_are_returned() -> None:
    a, b = ramp(1)[0], ramp(1)[0]
    first, second = vt.unbind_copy(ramp(2), out=[a, b])
    assert first is a
    assert second is b


@differs_from_torch("errors have kinds, and a tensor that requires grad is not refused there")
def test_all_is_refused_before_anything_is_stored() -> None:
    x, a, b = ramp(4), ramp(2) * 0, ramp(2) * 0
    with refused(RuntimeError, "argument-value", (a,)):
        vt.split_copy(x, 2, out=[a])
    with refused(TypeError, "argument-type", (a,)):
        vt.split_copy(x, 2, out=a)  # type: ignore[arg-type]  # what is refused
    with refused(TypeError, "argument-type", (a,)):
        vt.split_copy(x, 2, out=[a, 3])  # type: ignore[list-item]  # the same
    with refused(RuntimeError, "result-type", (a,)):
        vt.split_copy(x, 2, out=[a, b.float()])
    with refused(RuntimeError, "out-grad", (a, b)):
        vt.split_copy(leaf(4), 2, out=[a, b])


def test_a_piece_may_be_stored_over_its_source() -> None:
    x = ramp(4)
    first, second = x[:2], x[2:]
    with pytest.raises(RuntimeError):
        vt.split_copy(x, 2, out=[x[1:3], second.clone()])
    vt.split_copy(x.clone(), 2, out=[second, first])
    assert x.tolist() == [3, 4, 1, 2]
