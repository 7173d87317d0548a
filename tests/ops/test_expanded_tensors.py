"""Tensors whose elements are few in memory take work by those, where NumPy's own call need not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import vtgrad as vt

# No machine has the memory, or the time, for this many.
MANY = 2**40


@pytest.mark.parametrize("dtype", [vt.float32, vt.int64, vt.bool, vt.complex64])
@pytest.mark.parametrize("text", [repr, str, lambda x: f"{x}"])
def test_texts_read_what_they_show(dtype: vt.dtype, text: Callable[[vt.Tensor], str]) -> None:
    short, long = vt.ones(1, dtype=dtype).expand(2000), vt.ones(1, dtype=dtype).expand(MANY)
    assert text(long) == text(short)


def test_texts_of_matrices_and_of_lazy_values() -> None:
    rows = vt.arange(3.0).view(3, 1)
    assert repr(rows.expand(3, MANY)) == repr(rows.expand(3, 2000).clone())
    lazy = vt.tensor([1 + 2j]).conj()
    assert repr(lazy.expand(MANY)) == repr(lazy.expand(2000).clone())


def test_tables_of_notebooks() -> None:
    long = vt.ones(1).expand(MANY)._repr_html_()
    assert long is not None
    assert long.count("<td>") == 21
    both = vt.arange(4.0).view(4, 1).expand(4, MANY)._repr_html_()
    assert both is not None
    assert "<td>3.</td>" in both


def test_abbreviated_texts_are_as_before() -> None:
    x = vt.arange(2400.0).view(40, 60).t()
    assert repr(x) == repr(x.clone())
    assert repr(x).endswith("2.3990e+03]])")


def test_fill_writes_each_element_once() -> None:
    column = vt.zeros(3, 1)
    column.expand(3, MANY).fill_(3)
    assert column.tolist() == [[3.0]] * 3
    assert column._version == 1


def test_zero_writes_each_element_once_and_is_seen() -> None:
    w, column = vt.ones(3, 1, requires_grad=True), vt.ones(3, 1)
    y = (w * column).sum()
    column.expand(3, MANY).zero_()
    assert column.tolist() == [[0.0]] * 3
    with pytest.raises(vt.errors.StaleSavedError):
        y.backward()


def test_lazy_values_are_filled_as_they_are_read() -> None:
    z = vt.zeros(2, 1, dtype=vt.complex64)
    z.conj().expand(2, MANY).fill_(1 + 2j)
    assert z.tolist() == [[1 - 2j], [1 - 2j]]
