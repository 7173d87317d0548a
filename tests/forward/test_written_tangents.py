"""Tangents of writes that read what they overwrite, and what is refused before anything is written.

What breaks it: a formula that is evaluated, or whose result is read, after the memory that it reads
was written; a refusal of the tangent's write after the value's.
"""

import math
from collections.abc import Callable

import pytest

import vtgrad as vt
from vtgrad.autograd import forward_ad as fw

from .support import dual, tangent, tensor


def test_a_product_of_a_dual_with_itself_in_place() -> None:
    with fw.dual_level():
        d = dual(1, -2, 3)
        d.mul_(d)
        assert tangent(d).tolist() == [2, 8, 18]
        d = dual(1, -2, 3)
        d.mul_(d.detach())
        assert tangent(d).tolist() == [1, 4, 9]


def test_a_tensor_whose_memory_is_the_tangent_of_what_is_written_into_it() -> None:
    with fw.dual_level():
        t = tensor(5, 6)
        d = fw.make_dual(tensor(1, 2), t)
        t.copy_(d)
        assert t.tolist() == [1, 2]
        assert tangent(t).tolist() == [5, 6]


def test_a_tangent_that_is_read_for_a_late_formula_is_read_before_the_write() -> None:
    with fw.dual_level():
        t = tensor(2, 3)
        d = fw.make_dual(tensor(1, 2), t)
        t.pow_(d)  # the tangent is log(t) * t ** d * tangent of d, which is t
        assert tangent(t).tolist() == pytest.approx([4 * math.log(2), 27 * math.log(3)])


def test_tangents_may_overlap_where_values_do_not() -> None:
    with fw.dual_level():
        t = tensor(1, 2, 3, 4)
        one = fw.make_dual(tensor(0, 0, 0, 0), t)
        other = fw.make_dual(tensor(5, 6, 7, 8), t)
        one[1:].copy_(other[:-1])
        assert one.tolist() == [0, 5, 6, 7]
        assert tangent(one).tolist() == [1, 1, 2, 3]


def test_each_write_counts_once_also_if_the_tangent_stays() -> None:
    writes: list[Callable[[vt.Tensor], object]] = [
        lambda d: d.mul_(2),
        lambda d: d.add_(1),
        lambda d: d.copy_(d),
        lambda d: d.zero_(),
        lambda d: d[1:].add_(1),
        lambda d: d.unsqueeze_(0),
    ]
    with fw.dual_level():
        d = dual(1, 2, 3)
        t = tangent(d)
        for number, write in enumerate(writes, 1):
            write(d)
            assert t._version == number
        assert tangent(d) is t


def test_what_the_tangent_refuses_is_refused_before_the_value_is_written() -> None:
    base, x = tensor(0, 0, 0), tensor(1, 2, 3)
    with vt.no_grad():
        view_made_under_no_grad = base[:]
    with vt.inference_mode():
        made_inside = tensor(0, 0, 0)
    w = tensor(2, 2, 2).requires_grad_()
    with fw.dual_level():
        d = fw.make_dual(x, view_made_under_no_grad)
        assert tangent(d) is view_made_under_no_grad
        with pytest.raises(RuntimeError, match="no_grad"):
            d.mul_(w)  # the new tangent is recorded
        e = fw.make_dual(x, made_inside)
        with pytest.raises(RuntimeError, match="inference"):
            e.mul_(2)
        assert x.tolist() == [1, 2, 3]


def test_a_change_of_geometry_that_the_tangent_refuses_has_changed_nothing() -> None:
    t = vt.zeros(2, 3, requires_grad=True)
    with fw.dual_level():
        d = fw.make_dual(vt.zeros(2, 3), t)
        with pytest.raises(RuntimeError, match="leaf"):
            d.t_()
        assert tuple(d.shape) == tuple(tangent(d).shape) == (2, 3)


def test_a_write_to_an_inference_tensor_is_refused_first() -> None:
    with vt.inference_mode():
        y = tensor(1, 2, 3)
    with fw.dual_level(), pytest.raises(RuntimeError, match="inference"):
        y.mul_(dual(1, 2))
