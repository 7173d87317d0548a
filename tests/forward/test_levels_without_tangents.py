"""A level of forward mode costs operators nothing before its first tangent."""

from __future__ import annotations

import threading

import pytest

import vtgrad as vt
from tests.support import needs_global_lock
from vtgrad.autograd import forward_ad as fw
from vtgrad.graph.forward_grad import ForwardGrad
from vtgrad.storage.key_set import keys

X = [1.0, 2.0, 3.0]


def test_a_level_is_listed_from_its_first_tangent_on() -> None:
    with fw.dual_level():
        assert (len(keys.levels), len(keys.modes)) == (1, 0)
        d = fw.make_dual(vt.tensor(X), vt.ones(3))
        assert keys.modes == keys.levels
        assert fw.unpack_dual(d * d).tangent is not None
    assert (keys.levels, keys.modes) == ({}, {})


def test_no_operand_is_asked_while_no_tangent_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even one that had a tangent at an earlier level."""
    with fw.dual_level():
        d = fw.make_dual(vt.tensor(X), vt.ones(3))

    def asked(self: ForwardGrad, limit: int) -> int:
        raise AssertionError("asked for a tangent")

    monkeypatch.setattr(ForwardGrad, "level", asked)
    with fw.dual_level():
        assert (d + d).tolist() == [2.0, 4.0, 6.0]
        assert d.exp().shape == (3,)
        d[1] = 5.0
        d[2] = d[0]
    assert d.tolist() == [1.0, 5.0, 1.0]


def test_views_of_before_the_first_tangent_have_theirs() -> None:
    with fw.dual_level():
        base = vt.zeros(3)
        view = base[1:]
        deeper = view[:1]
        base.mul_(1.0)
        base[:] = fw.make_dual(vt.tensor(X), vt.tensor([10.0, 20.0, 30.0]))
        for one, tangent in ((view, [20.0, 30.0]), (deeper, [20.0])):
            found = fw.unpack_dual(one).tangent
            assert found is not None
            assert found.tolist() == tangent
            assert fw.unpack_dual(one * 2).tangent.tolist() == [2 * t for t in tangent]  # type: ignore[union-attr]


@needs_global_lock
def test_the_first_tangent_may_be_made_on_another_thread() -> None:
    with fw.dual_level():
        x = vt.tensor(X)
        y = vt.zeros(3)

        def write() -> None:
            y[:] = fw.make_dual(x, vt.ones(3))

        other = threading.Thread(target=write)
        other.start()
        other.join()
        found = fw.unpack_dual(y * y).tangent
        assert found is not None
        assert found.tolist() == [2.0, 4.0, 6.0]


def test_an_inner_level_has_tangents_where_the_outer_one_has_none() -> None:
    with fw.dual_level():
        value, tangent = vt.func.jvp(lambda x: x * x, (vt.tensor(X),), (vt.ones(3),))
        assert tangent.tolist() == [2.0, 4.0, 6.0]
        assert fw.unpack_dual(value).tangent is None
        assert not keys.modes
        d = fw.make_dual(vt.tensor(X), vt.ones(3))
        _, mixed = vt.func.jvp(lambda x: x * d, (vt.tensor(X),), (vt.ones(3),))
        found = fw.unpack_dual(mixed).tangent
        assert found is not None
        assert found.tolist() == [1.0, 1.0, 1.0]
    assert not keys.modes


def test_a_tangent_that_comes_after_the_level_was_closed_is_none() -> None:
    """As from a thread that has been interrupted between its check and its store."""
    with fw.dual_level():
        d = fw.make_dual(vt.tensor(X), vt.ones(3))
        (number,) = keys.levels
    late = ForwardGrad()
    late.set(number, vt.ones(3))
    assert (late.tangents, late.read(number), keys.modes) == ({}, None, {})
    with fw.dual_level():
        assert fw.unpack_dual(d).tangent is None


def test_a_hook_may_make_the_first_tangent() -> None:
    with fw.dual_level():
        w = vt.ones(3, requires_grad=True)
        y = w * 2
        y.register_hook(lambda g: fw.make_dual(g, vt.tensor(X)))
        (found,) = vt.autograd.grad((y * 3).sum(), w)
        assert found.tolist() == [6.0, 6.0, 6.0]
        tangent = fw.unpack_dual(found).tangent
        assert tangent is not None
        assert tangent.tolist() == [2.0, 4.0, 6.0]


def test_nothing_in_the_forward_of_a_function_has_the_tangent_of_an_open_level() -> None:
    inside: list[vt.Tensor | None] = []

    class Double(vt.autograd.Function):
        @staticmethod
        def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor) -> vt.Tensor:
            doubled = fw.make_dual(x.detach(), vt.ones(3)) * 2
            inside.append(fw.unpack_dual(doubled).tangent)
            return doubled

    with fw.dual_level():
        result = Double.apply(vt.tensor(X))
        assert isinstance(result, vt.Tensor)
        assert inside == [None]
        assert fw.unpack_dual(result).tangent is None
