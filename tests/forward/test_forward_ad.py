"""Levels, dual tensors, views and writes: what a program with tangents sees."""

import copy
import gc
import pickle
import signal
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from tests.forward.support import dual, has_none, tangent, tensor
from tests.support import needs_global_lock
from vtgrad.autograd import forward_ad as fw
from vtgrad.errors import ArgumentTypeError, ForwardModeError, VtgradError
from vtgrad.storage.key_set import keys
from vtgrad.views.differentiable_view_meta import view_meta_of


@pytest.fixture(autouse=True)
def _no_level_is_left() -> Iterator[None]:
    yield
    assert not keys.modes


# -- levels -------------------------------------------------------------------------------------


@needs_global_lock
def test_there_is_one_level() -> None:
    with fw.dual_level() as level:
        assert level == 0
        with pytest.raises(ForwardModeError):
            fw.enter_dual_level()
        failed = []

        def elsewhere() -> None:
            try:
                fw.enter_dual_level()
            except ForwardModeError as error:
                failed.append(error)

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert failed
    with pytest.raises(ForwardModeError):
        fw.exit_dual_level()


def test_a_level_ends_with_an_exception_and_decorates() -> None:
    with pytest.raises(ZeroDivisionError), fw.dual_level():
        raise ZeroDivisionError

    @fw.dual_level()
    def doubled(x: vt.Tensor) -> vt.Tensor:
        return tangent(fw.make_dual(x, x) * 2)

    assert doubled(tensor(1, 2)).tolist() == [2, 4]
    assert doubled(tensor(3)).tolist() == [6]


def test_a_level_does_not_decorate_what_runs_in_steps() -> None:
    def steps() -> Iterator[int]:
        yield 1

    async def waits() -> None:
        """Do nothing."""

    for function in (steps, waits, 3):
        with pytest.raises(ArgumentTypeError, match="decorates functions"):
            fw.dual_level()(function)  # type: ignore[arg-type]  # the number is no function


def test_wrong_levels_are_refused() -> None:
    x = tensor(1)
    with pytest.raises(ForwardModeError, match="no level"):
        fw.make_dual(x, x)
    assert has_none(x)
    assert fw.unpack_dual(x).primal is x
    with fw.dual_level():
        assert fw.unpack_dual(x).primal is not x
        with pytest.raises(ForwardModeError):
            fw.make_dual(x, x, level=1)
        with pytest.raises(ForwardModeError):
            fw.unpack_dual(x, level=2)
        with pytest.raises(ForwardModeError):
            fw.exit_dual_level(level=1)
        assert fw.unpack_dual(dual(1), level=-1).tangent is None


def test_the_end_of_a_level_drops_its_tangents() -> None:
    b = vt.zeros(3, dtype=vt.float64)
    with fw.dual_level():
        d = dual(1, 2)
        v = d[1:]
        b[1:] = d
        taken = tangent(d)
    with fw.dual_level():
        assert all(has_none(x) for x in (d, v, b))
        assert tangent(fw.make_dual(d, tensor(5, 6)) * 2).tolist() == [10, 12]
    assert (taken * 2).tolist() == [2, 4]


@pytest.mark.slow
def test_a_level_keeps_nothing_of_results_that_are_gone() -> None:
    b = vt.zeros(3, dtype=vt.float64)
    gc.collect()
    with fw.dual_level():
        d = dual(1, 2)
        kept = d * 2
        b[1:] = d
        tracemalloc.start()
        try:
            for _ in range(100):
                tangent(d * 2)
                b[1:] = d
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(2000):
                tangent(d * 2)
                b[1:] = d
            grown = tracemalloc.get_traced_memory()[0] - before
        finally:
            tracemalloc.stop()
        assert tangent(kept).tolist() == [2, 4]
    assert has_none(kept)
    assert grown < 150_000  # lists of views grow for a while, then are cleaned


# -- make_dual and unpack_dual ------------------------------------------------------------------


def test_a_dual_is_a_view_of_its_primal() -> None:
    x = tensor(1, 2)
    with fw.dual_level():
        d = fw.make_dual(x, tensor(3, 4))
        assert d._base is x
        assert has_none(x)
        meta = view_meta_of(d)
        assert meta is not None
        assert not meta.shared_view_info
        assert meta.forward_info is None
        assert d[1:]._base is x
        part = view_meta_of(d[1:])
        assert part is not None
        assert part.forward_info is not None
        assert part.forward_info.base is d
        primal, first = fw.unpack_dual(d)
        assert primal is not d
        assert has_none(primal)
        assert tangent(d) is first
        primal.mul_(2)
        assert x.tolist() == [2, 4]
        assert tangent(d).tolist() == [3, 4]


def test_unpacked_primals_lead_to_the_leaf() -> None:
    x = tensor(1, 2).requires_grad_()
    with fw.dual_level():
        d = fw.make_dual(x, tensor(3, 4))
        assert not d.is_leaf
        assert vt.autograd.grad((fw.unpack_dual(d).primal * 2).sum(), x)[0].tolist() == [2, 2]


@pytest.mark.parametrize(
    ("primal", "wrong", "error"),
    [
        (vt.ones(2), vt.ones(3), RuntimeError),
        (vt.ones(2), vt.ones(2, dtype=vt.int64), ValueError),
        (vt.ones(2, dtype=vt.bool), vt.ones(2), ValueError),
        (vt.ones(2), 3.0, TypeError),
        (vt.ones(2), vt.ones(2, dtype=vt.complex64), ValueError),
    ],
)
def test_what_cannot_be_dual_is_refused(primal: Any, wrong: Any, error: type[Exception]) -> None:
    with fw.dual_level(), pytest.raises(error) as caught:
        fw.make_dual(primal, wrong)
    assert isinstance(caught.value, VtgradError)


def test_a_dual_has_one_tangent() -> None:
    with fw.dual_level():
        d = dual(1)
        with pytest.raises(ForwardModeError):
            fw.make_dual(d, tensor(1))
        with pytest.raises(ForwardModeError):
            fw.make_dual(tensor(1), d)


def test_a_tangent_of_the_same_layout_is_kept_and_others_are_copied() -> None:
    t = tensor(3, 4)
    with fw.dual_level():
        d = fw.make_dual(tensor(1, 2), t)
        assert tangent(d) is t
        d.mul_(10)
        assert t.tolist() == [30, 40]
        assert tangent(d) is t
        b = vt.arange(6, dtype=vt.float64)
        part = fw.make_dual(b[2:4], tensor(7, 8))
        assert tangent(part).storage_offset() == 2
        assert vt.as_strided(tangent(part), (6,), (1,), 0).tolist() == [0, 0, 7, 8, 0, 0]
        assert tangent(part.as_strided((6,), (1,), 0)).tolist() == [0, 0, 7, 8, 0, 0]


def test_what_keeps_and_what_drops_a_tangent() -> None:
    with fw.dual_level():
        d = dual(1, 2, 3)
        for y in (d.clone(), vt.as_tensor(d), d.contiguous(), +d, d.to(vt.float32), d.float()):
            assert tangent(y).tolist() == [1, 2, 3]
            assert tangent(y).dtype == y.dtype
        for y in (
            d.detach(),
            d.data,
            d > 1,
            d.argmax(),
            d.to(vt.int64),
            vt.zeros_like(d),
            d.new_ones(2),
            copy.copy(d),
            copy.deepcopy(d),
            pickle.loads(pickle.dumps(d)),
        ):
            assert has_none(y)
        for y in (d.round(), d.floor(), d.sign()):
            assert tangent(y).tolist() == [0, 0, 0]
        assert tangent(d.requires_grad_()) is not None


def test_the_text_of_a_dual_shows_its_tangent() -> None:
    with fw.dual_level():
        d = fw.make_dual(vt.ones(2), vt.tensor([1.0, 2.0]))
        assert repr(d) == "tensor([1., 1.], tangent=tensor([1., 2.]))"
        assert repr(d.detach()) == "tensor([1., 1.])"
        assert d.tolist() == [1, 1]
        assert d.sum().item() == 2


def test_results_own_their_tangents() -> None:
    with fw.dual_level():
        d = dual(1, 2)
        for y in (d + vt.zeros(2, 2), d.frac(), vt.fmod(d, 5), vt.remainder(d, 5), d.clone()):
            y.mul_(10)
            assert tangent(d).tolist() == [1, 2]


# -- switches -----------------------------------------------------------------------------------


def test_no_grad_keeps_tangents_and_inference_mode_does_not() -> None:
    with fw.dual_level():
        d = dual(1, 2)
        with vt.no_grad():
            assert tangent(d * 2).tolist() == [2, 4]
        with vt.inference_mode():
            assert has_none(d)
            y, v = d * 2, d[1:]
        assert has_none(y)
        assert tangent(v).tolist() == [2]
        with fw.set_fwd_grad_enabled(False):
            assert has_none(d)
            z, w = d * 2, d[1:]
            later = fw.make_dual(tensor(1), tensor(5))
        assert has_none(z)
        assert tangent(w).tolist() == [2]
        assert tangent(later).tolist() == [5]
        assert tangent(d).tolist() == [1, 2]


def test_out_is_refused() -> None:
    with fw.dual_level():
        d = dual(1, 2)
        with pytest.raises(NotImplementedError, match="out="):
            vt.add(d, 1, out=vt.zeros(2, dtype=vt.float64))
        with fw.set_fwd_grad_enabled(False):
            vt.add(d, 1, out=vt.zeros(2, dtype=vt.float64))


def test_operators_without_a_formula_refuse_before_they_write() -> None:
    with fw.dual_level():
        d = dual(1, 2)
        with pytest.raises(NotImplementedError, match="heaviside"):
            vt.heaviside(d, d)
        before = d.tolist()
        with pytest.raises(NotImplementedError):
            d.floor_divide_(2)
        assert d.tolist() == before
        vt.heaviside(d.detach(), tensor(1, 1))


# -- views and writes ---------------------------------------------------------------------------


def test_views_of_a_dual_share_its_tangent_both_ways() -> None:
    with fw.dual_level():
        d = dual(1, 2, 3)
        v = d[1:]
        v.mul_(10)
        assert tangent(d).tolist() == [1, 20, 30]
        d.mul_(10)
        assert tangent(v).tolist() == [200, 300]
        assert tangent(v)._base is tangent(d)


def test_a_dual_written_into_a_view_gives_the_base_a_tangent() -> None:
    with fw.dual_level():
        b = vt.zeros(3, dtype=vt.float64)
        w = b[:2]
        b[1:].copy_(dual(5, 6))
        assert tangent(w).tolist() == [0, 5]
        assert tangent(b).tolist() == [0, 5, 6]
        assert tangent(w * 2).tolist() == [0, 10]
        w.mul_(10)
        assert tangent(b).tolist() == [0, 50, 6]


def test_an_old_view_is_seen_by_the_shortest_ways() -> None:
    b = vt.ones(4, dtype=vt.float64)
    w = b[:2]
    with fw.dual_level():
        b.add_(dual(1, 2, 3, 4))
        assert tangent(w * w).tolist() == [4, 12]
        w *= 10.0
        assert tangent(b).tolist() == [10, 20, 3, 4]
        w[0] = 5.0
        assert tangent(b).tolist() == [0, 20, 3, 4]


@pytest.mark.parametrize(
    "view",
    [
        lambda b: b.diagonal(),
        lambda b: b.t()[1],
        lambda b: b.as_strided((2,), (4,), 1),
        lambda b: b.unfold(0, 2, 2)[0, 0],
        lambda b: b[::2, 1],
        lambda b: b.view(-1)[2:4],
    ],
)
def test_every_kind_of_view_carries_tangents_to_the_base(view: Any) -> None:
    with fw.dual_level():
        b = vt.zeros(3, 3, dtype=vt.float64)
        values = np.zeros((3, 3))
        part = view(b)
        t = vt.arange(1, part.numel() + 1, dtype=vt.float64).reshape(part.shape)
        part.copy_(fw.make_dual(vt.ones_like(part), t))
        expected = vt.from_numpy(values)
        view(expected).copy_(t)
        assert tangent(b).tolist() == expected.tolist()


def test_complex_views_carry_tangents() -> None:
    with fw.dual_level():
        z = vt.zeros(2, dtype=vt.complex128)
        z.real.copy_(dual(1, 2))
        assert tangent(z).tolist() == [1, 2]
        z.imag.copy_(dual(3, 4))
        assert tangent(z).tolist() == [1 + 3j, 2 + 4j]
        vt.view_as_real(z)[:, 0].mul_(2)
        assert tangent(z).tolist() == [2 + 3j, 4 + 4j]
        z.conj().mul_(1j)
        assert tangent(z).tolist() == [3 - 2j, 4 - 4j]


def test_a_base_gets_a_tangent_of_its_own_layout_and_dtype() -> None:
    with fw.dual_level():
        b = vt.zeros(2, 3, dtype=vt.float32).t()
        b[0].copy_(dual(1, 2))
        assert tangent(b).stride() == b.stride()
        assert tangent(b).dtype == vt.float32
        f = vt.zeros(2, dtype=vt.float32)
        f.copy_(dual(1, 2))
        assert tangent(f).dtype == vt.float32


def test_make_dual_and_detach_do_not_pass_tangents_on() -> None:
    x = tensor(1, 2)
    with fw.dual_level():
        d = fw.make_dual(x, tensor(1, 2))
        d.mul_(dual(1, 1))
        assert has_none(x)
        alias = d.detach()
        alias.mul_(dual(2, 2))
        assert tangent(alias) is not None
        assert tangent(d).tolist() == [2, 4]


def test_a_constant_written_over_a_dual_has_the_tangent_zero() -> None:
    with fw.dual_level():
        writes: list[Callable[[vt.Tensor], vt.Tensor]] = [
            lambda d: d.zero_(),
            lambda d: d.fill_(3),
            lambda d: d.copy_(tensor(7, 8)),
            lambda d: d.floor_(),
            lambda d: d.normal_(),
            lambda d: d.gt_(0),
            lambda d: d.logical_not_(),
            lambda d: d.bernoulli_(0.5),
        ]
        for write in writes:
            d = dual(1, 2)
            write(d)
            assert tangent(d).tolist() == [0, 0]
        d = dual(1, 2, 3)
        d[1] = 3.0
        assert tangent(d).tolist() == [1, 0, 3]
        d[[0, 1]] = 3.0
        assert tangent(d).tolist() == [0, 0, 3]


def test_geometry_in_place() -> None:
    with fw.dual_level():
        t = vt.arange(6, dtype=vt.float64).reshape(2, 3)
        d = fw.make_dual(vt.ones(2, 3, dtype=vt.float64), t)
        y = d.clone()
        y.t_()
        assert tangent(y).shape == (3, 2)
        assert tangent(y * 2)[2].tolist() == [4, 10]
        y.unsqueeze_(0).squeeze_(0)
        assert tangent(y).tolist() == t.t().tolist()
        with pytest.raises(NotImplementedError):
            y.resize_(6)


def test_pieces_of_a_split_may_be_written() -> None:
    with fw.dual_level():
        b = vt.zeros(4, dtype=vt.float64)
        first, second = b.chunk(2)
        second.copy_(dual(1, 2))
        first.add_(second)
        assert tangent(b).tolist() == [1, 2, 1, 2]


def test_recurrences_and_broadcasting() -> None:
    with fw.dual_level():
        b = vt.zeros(2, 3, dtype=vt.float64)
        b[:] = dual(1, 2, 3)
        assert tangent(b).tolist() == [[1, 2, 3], [1, 2, 3]]
        b.fill_(fw.make_dual(vt.tensor(1.0), vt.tensor(5.0)))
        assert tangent(b).tolist() == [[5, 5, 5], [5, 5, 5]]
        s = fw.make_dual(tensor(2)[0], tensor(1)[0])
        c = vt.ones(5, dtype=vt.float64)
        for i in range(1, 5):
            c[i] = c[i - 1] * s
        assert tangent(c).tolist() == [0, 1, 4, 12, 32]


def test_duplicates_keep_the_tangent_of_the_value_that_survived() -> None:
    with fw.dual_level():
        b = vt.zeros(3, dtype=vt.float64)
        b[[0, 0]] = dual(1, 2)
        assert b.tolist() == [2, 0, 0]
        assert tangent(b).tolist() == [2, 0, 0]


# -- forward and reverse ------------------------------------------------------------------------


def test_forward_over_reverse_is_exact_through_views_and_writes() -> None:
    def f(x: vt.Tensor) -> vt.Tensor:
        b = vt.zeros(5, dtype=vt.float64)
        b[1:4] = x.exp()
        v = b[2:]
        v.mul_(b[:3].clone())
        v.sin_()
        return (b.tanh() ** 2).sum() + (x[1:].exp() * x[:-1]).sum()

    x, t = tensor(0.3, 0.7, -0.2).requires_grad_(), tensor(1, -2, 0.5)
    (g,) = vt.autograd.grad(f(x), x, create_graph=True)
    (expected,) = vt.autograd.grad(g, x, t)
    with fw.dual_level():
        (g,) = vt.autograd.grad(f(fw.make_dual(x, t)), x)
        assert not g.requires_grad
        np.testing.assert_allclose(tangent(g).numpy(), expected.numpy(), rtol=1e-12)


def test_a_graph_that_was_recorded_with_duals_outlives_the_level() -> None:
    x = tensor(1, 2).requires_grad_()
    with fw.dual_level():
        y = (fw.make_dual(x, tensor(3, 4)).exp() * x).sum()
    y.backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), np.exp([1, 2]) * [2, 3])


def test_reverse_over_forward() -> None:
    x = tensor(1, 2).requires_grad_()
    with fw.dual_level():
        y = tangent(fw.make_dual(x, tensor(3, 4)) ** 3)
    assert vt.autograd.grad(y.sum(), x)[0].tolist() == [18, 48]


def test_a_leaf_as_tangent_refuses_writes_before_they_begin() -> None:
    t = tensor(1, 2).requires_grad_()
    with fw.dual_level():
        x = tensor(1, 2)
        d = fw.make_dual(x, t)
        with pytest.raises(RuntimeError):
            d.mul_(2)
        assert x.tolist() == [1, 2]
        assert tangent(d).tolist() == [1, 2]


# -- what goes wrong ----------------------------------------------------------------------------


def test_a_write_that_fails_leaves_value_and_tangent() -> None:
    with fw.dual_level():
        d = dual(1, 2)
        version = tangent(d)._version
        with pytest.raises(VtgradError):
            d.add_(vt.ones(3))
        with pytest.raises(VtgradError):
            d.mul_(vt.ones(2, dtype=vt.complex128))
        assert tangent(d).tolist() == [1, 2]
        assert tangent(d)._version == version


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
def test_a_tangent_after_an_interrupt_is_that_of_the_value_or_refused() -> None:
    """A timer interrupts writes at random places."""

    class Interrupted(Exception):
        pass

    def interrupt(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    refused = 0
    try:
        with fw.dual_level():
            for nr in range(150):
                d = dual(*range(1, 9))
                try:
                    # Again later, since Python drops what is raised in a callback of the collector.
                    signal.setitimer(signal.ITIMER_REAL, 1e-6 * (nr + 1), 0.1)
                    while True:
                        d.mul_(1.0001)
                except Interrupted:
                    pass
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
                try:
                    found = tangent(d)
                except ForwardModeError:
                    refused += 1
                    continue
                np.testing.assert_allclose(found.numpy(), d.detach().numpy(), rtol=1e-9)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert refused < 150
