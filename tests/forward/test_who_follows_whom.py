"""Which tangent a view shows, however and whenever the view was made.

What breaks it: a view that follows the base instead of the dual that it was made of, that is made
from the tangent in the wrong steps, or that may be written or not depending on who has read it.
"""

import pytest

import vtgrad as vt
from tests.forward.support import dual, has_none, tangent, tensor
from vtgrad.autograd import forward_ad as fw


def test_a_view_that_was_made_outside_of_a_level_follows_the_dual() -> None:
    x = tensor(1, 2, 3)
    with fw.dual_level():
        d = fw.make_dual(x, tensor(1, 1, 1))
    v = d[1:]
    with fw.dual_level():
        x.copy_(dual(7, 8, 9))
        assert has_none(d)
        assert has_none(v)
        d.mul_(dual(1, 2, 3))
        assert tangent(v).tolist() == [16, 27]


@pytest.mark.parametrize("reader", [vt.no_grad, vt.enable_grad])
def test_who_reads_a_tangent_first_does_not_decide_whether_it_may_be_written(
    reader: type[vt.no_grad],
) -> None:
    x = tensor(1, 2, 3).requires_grad_()
    with fw.dual_level():
        w = fw.make_dual(x, tensor(1, 1, 1)) * x  # the tangent is recorded
        v = w[1:]
        with reader():
            v * 2
        v.mul_(10)
        assert tangent(w).tolist() == [1, 20, 30]


def test_a_view_of_a_dual_of_a_part_of_a_complex_tensor() -> None:
    z = vt.zeros(3, dtype=vt.complex128)
    with fw.dual_level():
        d = fw.make_dual(z.real, tensor(1, 2, 3))
        v = d[1:]
        assert tangent(v).tolist() == [2, 3]
        assert tangent(v[1:] * 2).tolist() == [6]
        v.add_(dual(10, 20))
        assert tangent(d).tolist() == [1, 12, 23]
        assert has_none(z)
        c = fw.make_dual(z.conj(), vt.tensor([1j, 2j, 3j], dtype=vt.complex128))
        assert tangent(c.conj()[1:]).tolist() == [-2j, -3j]
        assert tangent(c.imag[1:]).tolist() == [2, 3]


def test_a_view_that_got_another_geometry_shows_the_tangent_in_that_one() -> None:
    z = vt.zeros(2, 3, dtype=vt.complex128)
    with fw.dual_level():
        d = fw.make_dual(z, vt.zeros(2, 3, dtype=vt.complex128))
    v = d.real  # follows d, by steps that its geometry does not give
    v.t_()
    with fw.dual_level():
        d.add_(fw.make_dual(z.detach(), vt.arange(6).reshape(2, 3).to(vt.complex128)))
        assert tangent(v).tolist() == [[0, 3], [1, 4], [2, 5]]


def test_geometry_that_changes_with_forward_mode_off_is_that_of_the_tangent_too() -> None:
    with fw.dual_level():
        d = fw.make_dual(vt.zeros(2, 2), vt.tensor([[1.0, 2.0], [3.0, 4.0]])).clone()
        v = d[0]
        with fw.set_fwd_grad_enabled(False):
            d.t_()
        assert tangent(d).tolist() == [[1, 3], [2, 4]]
        assert tangent(d[0]).tolist() == [1, 3]
        assert tangent(v).tolist() == [1, 2]
        with vt.inference_mode():
            v.unsqueeze_(0)
        v.mul_(10)
        assert tangent(d).tolist() == [[10, 3], [20, 4]]


def test_a_tangent_does_not_fit_other_memory() -> None:
    with fw.dual_level():
        d = dual(1, 2, 3)
        d.data = tensor(4, 5)
        with pytest.raises(RuntimeError, match="other memory"):
            d * 2


def test_detaching_in_place_drops_the_tangent() -> None:
    x = tensor(1, 2).requires_grad_()
    with fw.dual_level():
        d = fw.make_dual(x, tensor(3, 4)).clone()
        y = d * 2
        d.detach_()
        assert has_none(d)
        assert tangent(y).tolist() == [6, 8]


def test_a_dual_of_a_tensor_and_itself_has_two_memories() -> None:
    x = tensor(1, 2)
    with fw.dual_level():
        d = fw.make_dual(x, x)
        d.add_(10)
        assert x.tolist() == [11, 12]
        assert tangent(d).tolist() == [1, 2]
