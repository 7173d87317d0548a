"""What a dual tensor is, what keeps its tangent, and what becomes of it under the switches."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

import vtgrad as vt
from tests.forward.support import dual, has_none, tangent, tensor
from tests.support import needs_global_lock
from vtgrad.autograd import forward_ad as fw
from vtgrad.errors import DetachViewError


@needs_global_lock
def test_another_thread_sees_the_tangents() -> None:
    seen: list[object] = []
    with fw.dual_level():
        d = dual(1, 2)
        thread = threading.Thread(target=lambda: seen.append((tangent(d * 3)).tolist()))
        thread.start()
        thread.join()
    assert seen == [[3, 6]]


def test_a_dual_shares_memory_and_version_with_its_primal() -> None:
    x = tensor(1, 2)
    with fw.dual_level():
        d = fw.make_dual(x, tensor(3, 4))
        d.mul_(2)
        assert x.tolist() == [2, 4]
        assert x._version == d._version == 1
        assert has_none(x)


def test_unpacking_gives_a_named_pair() -> None:
    with fw.dual_level():
        unpacked = fw.unpack_dual(dual(1, 2))
        assert unpacked._fields == ("primal", "tangent")
        assert has_none(unpacked.primal)


def test_a_tangent_has_the_dtype_of_its_tensor() -> None:
    with fw.dual_level():
        d = fw.make_dual(tensor(1, 2), vt.tensor([3.0, 4.0], dtype=vt.float32))
        assert tangent(d).dtype == vt.float64
        z = fw.make_dual(vt.zeros(2, dtype=vt.complex128), tensor(3, 4))
        assert tangent(z).tolist() == [3 + 0j, 4 + 0j]
        s = fw.make_dual(tensor(2)[0], tensor(3)[0])
        assert tangent(vt.ones(2) * s).dtype == vt.float32
        for write in (vt.Tensor.copy_, vt.Tensor.add_):
            f = vt.zeros(2)
            write(f, dual(1, 2))
            assert tangent(f).dtype == vt.float32
        assert tangent(dual(1).to(vt.complex128)).tolist() == [1 + 0j]
        assert has_none(dual(1, 2).view(vt.int64))


@pytest.mark.parametrize(
    "seed",
    [
        lambda: vt.arange(4, dtype=vt.float64).reshape(2, 2).t(),
        lambda: tensor(1, 2).expand(2, 2),
        lambda: vt.arange(8, dtype=vt.float64)[4:].reshape(2, 2),
    ],
)
def test_a_tangent_of_another_layout_is_copied(seed: Callable[[], vt.Tensor]) -> None:
    with fw.dual_level():
        t = seed()
        before = t.tolist()
        d = fw.make_dual(vt.ones(2, 2, dtype=vt.float64), t)
        assert tangent(d) is not t
        d.mul_(10)
        assert t.tolist() == before


def test_an_expanded_tensor_needs_an_expanded_tangent() -> None:
    with fw.dual_level():
        x = tensor(1).expand(3)
        with pytest.raises(RuntimeError):
            fw.make_dual(x, tensor(1, 2, 3))
        assert tangent(fw.make_dual(x, tensor(5).expand(3)) * 2).tolist() == [10, 10, 10]


def test_zero_tangents_stay_and_empty_tensors_may_be_dual() -> None:
    with fw.dual_level():
        d = fw.make_dual(tensor(1, 2), tensor(0, 0))
        assert tangent((d * 3).exp().sum()).item() == 0
        assert tangent(fw.make_dual(vt.zeros(0), vt.zeros(0)) * 2).tolist() == []
        assert has_none(tensor(1, 2) * 3)


def test_values_of_a_dual_are_read_and_written_without_its_tangent() -> None:
    with fw.dual_level():
        d = dual(1, 2)
        assert d[0].item() == 1
        assert bool(d[1])
        d.numpy()[0] = 7
        assert d.tolist() == [7, 2]
        assert tangent(d).tolist() == [1, 2]
        with pytest.warns(UserWarning, match="copies its values"):
            assert has_none(vt.tensor(d))


def test_results_are_as_large_as_their_values_and_some_are_the_dual_itself() -> None:
    with fw.dual_level():
        d = dual(1, 2)
        y = d + vt.zeros(3, 2, dtype=vt.float64)
        assert tangent(y).shape == (3, 2)
        assert tangent(y).is_contiguous()
        assert d.contiguous() is d
        assert +d is d


def test_what_is_written_to_the_primal_leaves_the_tangent_of_the_dual() -> None:
    x = tensor(1, 2)
    older = x[:1]
    with fw.dual_level():
        d = fw.make_dual(x, tensor(3, 4))
        x.mul_(10)
        assert d.tolist() == [10, 20]
        assert tangent(d).tolist() == [3, 4]
        assert has_none(older)
        x.copy_(dual(5, 6))
        assert tangent(x).tolist() == [5, 6]
        assert tangent(older).tolist() == [5]
        assert tangent(d).tolist() == [3, 4]


def test_an_alias_outside_of_the_graph_passes_values_only() -> None:
    with fw.dual_level():
        for name in ("detach", "data"):
            d = dual(1, 2)
            alias = d.detach() if name == "detach" else d.data
            d.mul_(2)
            assert has_none(alias)
            alias.mul_(5)
            assert d.tolist() == [10, 20]
            assert tangent(d).tolist() == [2, 4]


def test_a_dual_cannot_be_detached_in_place() -> None:
    with fw.dual_level():
        d = dual(1, 2)
        with pytest.raises(DetachViewError):
            d.detach_()
        assert tangent(d).tolist() == [1, 2]


def test_writes_leave_the_tangent_only_where_forward_mode_is_off() -> None:
    with fw.dual_level():
        d = dual(1, 2)
        with vt.no_grad():
            d.mul_(10)
        assert tangent(d).tolist() == [10, 20]
        with vt.inference_mode():
            d.mul_(10)
        with fw.set_fwd_grad_enabled(False):
            d.mul_(10)
        assert d.tolist() == [1000, 2000]
        assert tangent(d).tolist() == [10, 20]


def test_a_change_of_geometry_reaches_the_users_tangent() -> None:
    t = vt.arange(6, dtype=vt.float64).reshape(2, 3)
    with fw.dual_level():
        d = fw.make_dual(vt.ones(2, 3, dtype=vt.float64), t)
        v = d[0]
        d.t_()
        assert tangent(d) is t
        assert t.shape == (3, 2)
        v.unsqueeze_(0)
        assert tangent(v).tolist() == [[0, 1, 2]]
        assert tangent(d).shape == (3, 2)


def test_other_memory_keeps_the_tangent() -> None:
    with fw.dual_level():
        d = dual(1, 2)
        d.data = tensor(7, 8)
        assert d.tolist() == [7, 8]
        assert tangent(d).tolist() == [1, 2]


# -- who may be written -------------------------------------------------------------------------


def test_a_dual_of_a_leaf_may_not_be_written() -> None:
    x = tensor(1, 2).requires_grad_()
    with fw.dual_level():
        d = fw.make_dual(x, tensor(3, 4))
        with pytest.raises(RuntimeError, match="leaf"):
            d.mul_(2)
        assert tangent(d).tolist() == [3, 4]


@pytest.mark.parametrize("mode", [vt.no_grad, vt.inference_mode])
def test_a_view_made_without_recording_takes_a_dual_unless_its_base_requires_grad(
    mode: Any,
) -> None:
    with fw.dual_level():
        b = vt.zeros(3, dtype=vt.float64)
        with mode():
            v = b[1:]
        v.copy_(dual(1, 2))
        assert tangent(b).tolist() == [0, 1, 2]
        c = tensor(1, 2, 3).requires_grad_().clone()
        with mode():
            w = c[1:]
        with pytest.raises(RuntimeError):
            w.copy_(dual(1, 2))
        assert has_none(c)


def test_pieces_may_not_be_written_where_something_requires_grad() -> None:
    with fw.dual_level():
        first, _ = tensor(1, 2).requires_grad_().clone().chunk(2)
        with pytest.raises(RuntimeError):
            first.copy_(dual(1))


def test_a_leaf_as_tangent_is_overwritten_under_no_grad_and_others_are_recorded() -> None:
    t = tensor(1, 2).requires_grad_()
    with fw.dual_level():
        d = fw.make_dual(tensor(1, 2), t)
        assert not d.requires_grad
        with vt.no_grad():
            d.mul_(10)
        assert t.tolist() == [10, 20]
        e = fw.make_dual(tensor(1, 2), t * 1)
        e.mul_(3)
        assert vt.autograd.grad(tangent(e).sum(), t)[0].tolist() == [3, 3]


def test_a_factor_that_requires_grad_makes_the_users_tangent_require_grad() -> None:
    w, t = tensor(3).requires_grad_(), tensor(1, 2)
    with fw.dual_level():
        d = fw.make_dual(tensor(5, 6), t)
        d.mul_(w)
        assert t.requires_grad
        assert vt.autograd.grad(t.sum(), w)[0].tolist() == [3]


def test_a_dual_made_under_no_grad_sends_no_gradient() -> None:
    x = tensor(1, 2).requires_grad_()
    with fw.dual_level():
        with vt.no_grad():
            d = fw.make_dual(x, tensor(3, 4))
        assert d.requires_grad
        assert d.grad_fn is None
        assert tangent(d * 2).tolist() == [6, 8]
        with pytest.raises(RuntimeError, match="no_grad"):
            d.mul_(2)
