"""Tangents of writes that read what they overwrite, and what is refused before anything is written.

What breaks it: a formula that is evaluated, or whose result is read, after the memory that it reads
was written; a refusal of the tangent's write after the value's.
"""

import math
from collections.abc import Callable

import pytest

import vtgrad as vt
from tests.forward.support import dual, has_none, tangent, tensor
from vtgrad.autograd import forward_ad as fw


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


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "atan2"])
def test_a_target_may_be_the_tangent_of_an_operand_and_its_tangent_the_operand(name: str) -> None:
    operator: Callable[[vt.Tensor, vt.Tensor], vt.Tensor] = getattr(vt, name)
    values, x, seed = tensor(1, 2), tensor(5, 1), tensor(3, 4)

    def expected(tangent_of_x: vt.Tensor) -> object:
        d = fw.make_dual(values.clone(), seed.clone())
        return tangent(operator(d, fw.make_dual(x.clone(), tangent_of_x.clone()))).tolist()

    write = getattr(vt.Tensor, f"{name}_")
    with fw.dual_level():
        d = fw.make_dual(values.clone(), seed.clone()).clone()
        e = fw.make_dual(x.clone(), d.detach())
        result = expected(values)
        write(d, e)
        assert tangent(d).tolist() == result
        # The memory of the operand is that of the target's tangent, in another order.
        operand = x.clone()
        d = fw.make_dual(values.clone(), operand.detach())
        result = tangent(operator(fw.make_dual(values.clone(), x.clone()), x.flip(0))).tolist()
        write(d, operand[::-1])
        assert tangent(d).tolist() == result


def test_a_number_is_spread_over_the_memory_that_it_is_read_from() -> None:
    with fw.dual_level():
        b = vt.zeros(3, dtype=vt.float64)
        b[0] = dual(5)[0]
        b[1:] = b[0]
        assert tangent(b).tolist() == [5, 5, 5]
        b[1] = dual(7)[0]
        b[:2] = b[1]
        assert tangent(b).tolist() == [7, 7, 5]
        b[vt.tensor([False, True, True])] = b[2]
        assert tangent(b).tolist() == [7, 5, 5]
        b.fill_(b[0] * b[0])
        assert tangent(b).tolist() == [98, 98, 98]
        b.fill_(b[0])
        assert tangent(b).tolist() == [98, 98, 98]
        x = tensor(3)[0]
        x[None] = fw.make_dual(x, tensor(2)[0])
        assert tangent(x).item() == 2


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


@pytest.mark.parametrize("name", ["bool", "int64"])
def test_a_dual_that_is_written_into_integers_leaves_no_tangent(name: str) -> None:
    with fw.dual_level():
        dtype = getattr(vt, name)
        b = vt.zeros(3, dtype=dtype)
        b[1:].copy_(dual(1, 2))
        b[0] = dual(1)[0]
        b.masked_fill_(vt.tensor([True, False, False]), dual(1)[0])
        assert b.tolist() == vt.tensor([1, 1, 2]).to(dtype).tolist()
        assert has_none(b)


def test_a_formula_that_fails_has_changed_nothing() -> None:
    with fw.dual_level():
        d = dual(1, 2)
        with pytest.raises(RuntimeError, match="bool"):
            d.pow_(vt.tensor([True, False]))  # its derivative needs an exponent less by one
        assert d.tolist() == [1, 2]
        assert d._version == 0
        assert tangent(d).tolist() == [1, 2]


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


# What is written, made of w * 1 = [3, 4], or with this as the tangent; the gradient of the tangent.
RECORDED: dict[str, tuple[Callable[[vt.Tensor, vt.Tensor], object], bool, list[float]]] = {
    "mul_by_w": (lambda d, w: d.mul_(w), True, [1, 2]),
    "mul_by_itself": (lambda d, w: d.mul_(d), True, [2, 4]),
    "pow": (lambda d, w: d.pow_(3), True, [18, 48]),
    "exp": (lambda d, w: d.exp_(), True, [math.exp(3), 2 * math.exp(4)]),
    "div": (lambda d, w: d.div_(w), True, [-1 / 9, -1 / 8]),
    "cumprod": (lambda d, w: d.cumprod_(0), True, [2, 1]),
    "part": (lambda d, w: d[1:].mul_(w[:1]), True, [2, 0]),
    "tangent": (lambda d, w: d.mul_(d), False, [10, 12]),
    "tangent_of_factor": (lambda d, w: d.mul_(fw.make_dual(tensor(7, 8), w * 1)), False, [12, 14]),
}


@pytest.mark.parametrize("name", RECORDED)
def test_the_tangent_of_a_write_can_be_differentiated(name: str) -> None:
    write, is_value, expected = RECORDED[name]
    w = tensor(3, 4).requires_grad_()
    with fw.dual_level():
        d = fw.make_dual(w * 1, tensor(1, 2)) if is_value else fw.make_dual(tensor(5, 6), w * 1)
        write(d, w)
        (g,) = vt.autograd.grad(tangent(d).sum(), w)
    assert g.tolist() == pytest.approx(expected)
