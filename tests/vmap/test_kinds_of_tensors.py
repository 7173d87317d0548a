"""Batches of every kind of tensor, against a loop over the samples."""

import threading
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.autograd.forward_ad as fw
from tests.support import needs_global_lock, ramp
from vtgrad.autograd import profiler
from vtgrad.errors import BatchedTensorError, VtgradError
from vtgrad.func import grad, jacfwd, jacrev, jvp, linearize, vjp, vmap
from vtgrad.graph.batch import with_entries
from vtgrad.graph.thread_levels import thread

Function = Callable[..., Any]
Z = vt.tensor(np.arange(6.0).reshape(2, 3) + 1j * np.arange(6.0)[::-1].reshape(2, 3))
M = vt.tensor([[True, False, True], [False, False, True]])
W = vt.tensor([0.5, -0.3, 1.2], dtype=vt.float64)
LANE = vt.device("lane", 0)


def check(function: Function, *args: vt.Tensor, dim: int = 0) -> None:
    count = args[0].shape[dim]
    copies = [x.clone() for x in args]
    rows = [function(*[x.select(dim, nr) for x in copies]) for nr in range(count)]
    expected = vt.stack(rows)
    found = vmap(function, in_dims=dim)(*args)
    assert isinstance(found, vt.Tensor)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(
        found.detach().numpy(force=True), expected.detach().numpy(force=True), 1e-9, 1e-12
    )


def into_conjugates(z: vt.Tensor) -> vt.Tensor:
    c = z.clone()
    c.conj().mul_(c.real)
    c.imag.copy_(c.real * 2)
    return c


@pytest.mark.parametrize(
    ("function", "batch"),
    [
        (lambda z: z * z.conj() + z.real, Z),
        (lambda z: z.conj().imag, Z),
        (lambda z: vt.view_as_real(z) * 2, Z),
        (into_conjugates, Z),
        (grad(lambda z: (z**2).abs().sum()), Z),
        (grad(lambda z: (z * z.conj()).real.sum()), Z),
        (lambda z: jvp(lambda a: a**2 * a.conj(), (z,), (z * 1j,))[1], Z),
        (lambda z: z.imag * 2, Z.conj()),
        (lambda x: x * 2, Z.conj().imag),
        (lambda m: m & ~m | (m ^ True), M),
        (lambda m: vt.where(m, 1, 2), M),
        (lambda m: m.sum() // 2, M),
        (lambda h: h * 1.5 + h.sum(), ramp(2, 3).half()),
        (lambda h: h @ vt.ones(3, 2, dtype=vt.float16), ramp(2, 3).half()),
        (lambda h: h[0] * vt.ones(2, dtype=vt.float32), ramp(2, 3).half()),
        (grad(lambda h: (h * h).sum()), ramp(2, 3).half()),
        (lambda a: a.sort().values, ramp(4, 1).expand(4, 3)),
        (lambda a: a * 2, W.expand(4, 3)),
        (lambda a: a * a, ramp(6).unfold(0, 3, 1)),
        (lambda a: a.view(-1), ramp(4, 6)[::2, ::3]),
        (lambda a: a.flip(0).cumsum(0), vt.from_numpy(np.arange(12.0).reshape(4, 3)[::-1, ::-1])),
        (lambda a: a.view(3, 1).t(), vt.from_numpy(np.arange(12.0).reshape(4, 3)[::-1, ::-1])),
    ],
)
def test_values(function: Function, batch: vt.Tensor) -> None:
    check(function, batch)


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_any_dimension_may_be_the_batch(dim: int) -> None:
    x = ramp(2, 3, 4)
    check(lambda a: a.t().reshape(-1).cumsum(0), x, dim=dim)
    gradient = grad(lambda a: (a * a.t().t()).sum())
    check(gradient, x, dim=dim)


@pytest.mark.parametrize("batch", [W.expand(4, 3), ramp(4, 1).expand(4, 3)])
def test_a_write_to_expanded_samples_is_refused(batch: vt.Tensor) -> None:
    with pytest.raises(RuntimeError):
        vmap(lambda a: a.mul_(2))(batch)


def test_complex_kinds_are_asked_of_the_batch() -> None:
    def function(z: vt.Tensor) -> vt.Tensor:
        assert not z.is_conj()
        assert z.conj().is_conj()
        assert z.conj().imag.is_neg()
        assert not z.conj().resolve_conj().is_conj()
        return z

    vmap(function)(Z)


# -- modes -----------------------------------------------------------------------------------------


def test_inference_mode() -> None:
    with vt.inference_mode():
        found = vmap(lambda a: a * 2 + a.new_zeros(3))(ramp(2, 3))
        assert isinstance(found, vt.Tensor)
        assert found.is_inference()
        with pytest.raises(RuntimeError):
            vmap(grad(lambda a: (a * a).sum()))(ramp(2, 3))
    with pytest.raises(RuntimeError):
        vmap(lambda a: a.mul_(2))(found)


def test_no_grad_inside_makes_constants_and_views_that_are_not_written() -> None:
    q = ramp(2, 3).requires_grad_()

    def constant(a: vt.Tensor) -> vt.Tensor:
        with vt.no_grad():
            b = a * 2
        return b + a

    (found,) = vt.autograd.grad(vmap(constant)(q).sum(), q)
    assert found is not None
    assert found.tolist() == [[1, 1, 1], [1, 1, 1]]

    def into_a_view(a: vt.Tensor) -> vt.Tensor:
        with vt.no_grad():
            v = a[1:]
        v.mul_(2)
        return a

    with pytest.raises(RuntimeError, match="made under no_grad"):
        vmap(into_a_view)(q * 1)


def overwrites_what_it_saved(x: vt.Tensor) -> vt.Tensor:
    y = x * 1
    z = y * y.sin()
    y.mul_(2)
    return (z + y).sum()


def overwrites_another_element(x: vt.Tensor) -> vt.Tensor:
    t = x.new_zeros(4)
    t[0] = x[0]
    for nr in range(1, 4):
        t[nr] = t[nr - 1] * x[1]
    return (t**2).sum()


def test_saved_samples_that_are_overwritten() -> None:
    check(grad(overwrites_another_element), ramp(2, 3))
    with pytest.raises(RuntimeError, match="overwritten"):
        vmap(grad(overwrites_what_it_saved))(ramp(2, 3))
    with vt.autograd.graph.allow_mutation_on_saved_tensors():
        check(grad(overwrites_what_it_saved), ramp(2, 3))
    with (
        vt.autograd.graph.set_overwrite_check("storage"),
        pytest.raises(RuntimeError, match="overwritten"),
    ):
        vmap(grad(overwrites_another_element))(ramp(2, 3))


def with_hook(hook: Callable[[vt.Tensor, vt.Tensor], vt.Tensor | None]) -> Function:
    def function(x: vt.Tensor) -> vt.Tensor:
        y = x * x
        y.register_hook(lambda g: hook(g, x))
        return y.sum()

    return grad(function)


@pytest.mark.parametrize("hook", [lambda g, x: g * 3, lambda g, x: g * x, lambda g, x: None])
def test_hooks_get_gradients_of_samples(hook: Any) -> None:
    check(with_hook(hook), ramp(2, 3))


def test_profiles_and_anomaly_mode() -> None:
    function = grad(lambda b: (b * b.sin()).sum())
    with profiler.profile(record_shapes=True) as profile:
        check(function, ramp(2, 3))
    assert any(event.name == "aten::sin" for event in profile.function_events)
    with vt.autograd.set_detect_anomaly(True):
        check(function, ramp(2, 3))
        with pytest.raises(RuntimeError, match="NaN"):
            vmap(grad(lambda b: (b * 0).sqrt().sum()))(ramp(2, 3))


# -- tangents of an outer level --------------------------------------------------------------------


def writing(x: vt.Tensor) -> vt.Tensor:
    t = x.new_zeros(4)
    t[0] = x[0]
    t[1:] = x * x
    t[2:].mul_(x[0])
    return t


@pytest.mark.parametrize(
    "function",
    [
        writing,
        grad(lambda a: (a**3 * W).sum()),
        jacrev(lambda a: a**3 * W),
        lambda x: vjp(lambda a: a**3 * W, x)[1](W)[0],
        lambda x: x.clone().mul_(x).add_(1),
        lambda x: x.sort().values * W,
        lambda x: x[x.argmax()],
        lambda x: vmap(lambda s: s * x)(x),
    ],
)
def test_duals_of_an_outer_level(function: Function) -> None:
    x, t = ramp(2, 3) / 7, ramp(2, 3).flip(1) / 5
    with fw.dual_level():
        found = fw.unpack_dual(vmap(function)(fw.make_dual(x, t)))
        rows = [fw.unpack_dual(function(fw.make_dual(a, b))) for a, b in zip(x, t, strict=True)]
        assert found.tangent is not None
        for nr, row in enumerate(rows):
            assert row.tangent is not None
            np.testing.assert_allclose(found.primal[nr].numpy(), row.primal.numpy())
            np.testing.assert_allclose(found.tangent[nr].numpy(), row.tangent.numpy())


def test_a_captured_dual_may_be_written_to_samples() -> None:
    with fw.dual_level():
        e = fw.make_dual(W, W * 2)
        q = ramp(2, 3)
        vmap(lambda a: a[1:].mul_(e[1:]))(q)
        tangent = fw.unpack_dual(q).tangent
        assert tangent is not None
        expected = ramp(2, 3) * W * 2
        expected[:, 0] = 0
        np.testing.assert_allclose(tangent.numpy(), expected.numpy())


# -- after the end ---------------------------------------------------------------------------------


def test_products_with_a_jacobian_of_a_sample_end_with_its_vmap() -> None:
    """They would be sums over the samples."""
    kept: list[Function] = []

    def function(a: vt.Tensor) -> vt.Tensor:
        pull: Any = vjp(lambda w: w * w * a, W)[1]
        push: Any = linearize(lambda w: w * w * a, W)[1]
        kept.extend([pull, push])
        return a

    vmap(function)(ramp(2, 3))
    for product in kept:
        with pytest.raises(BatchedTensorError, match="after its vmap had returned"):
            product(W)


# -- threads and lanes -----------------------------------------------------------------------------


def in_thread(call: Callable[[], object]) -> object:
    found: list[object] = []

    def run() -> None:
        try:
            found.append(call())
        except VtgradError as error:
            found.append(error)

    one = threading.Thread(target=run)
    one.start()
    one.join()
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]


@needs_global_lock
def test_a_sample_may_be_used_on_another_thread() -> None:
    check(lambda a: in_thread(lambda: a * 2), ramp(2, 3))
    q = ramp(2, 3)
    vmap(lambda a: in_thread(lambda: a.mul_(2)))(q)
    assert q.tolist() == (ramp(2, 3) * 2).tolist()
    with pytest.raises(BatchedTensorError, match="another thread"):
        vmap(lambda a: in_thread(a.clone().normal_), randomness="different")(ramp(2, 3))


@needs_global_lock
@pytest.mark.parametrize("randomness", ["error", "different", "same"])
def test_what_is_drawn_on_another_thread_is_drawn_once(
    randomness: Literal["error", "different", "same"],
) -> None:
    def drawn(a: vt.Tensor) -> vt.Tensor:
        found = in_thread(lambda: vt.rand(3))
        assert isinstance(found, vt.Tensor)
        return found

    rows = vmap(drawn, randomness=randomness)(ramp(2, 3))
    assert rows[0].tolist() == rows[1].tolist()


@needs_global_lock
@pytest.mark.parametrize("transformed_there", [False, True])
def test_gradients_of_samples_on_another_thread(transformed_there: bool) -> None:
    """Each sample has its own, also if the thread that computes does not know who asks."""

    def loss(w: vt.Tensor, a: vt.Tensor) -> vt.Tensor:
        return (w * a).sum() ** 2

    def on_the_other(w: vt.Tensor, a: vt.Tensor) -> vt.Tensor:
        found = in_thread(lambda: loss(w, a))
        assert isinstance(found, vt.Tensor)
        return found

    def gradient(a: vt.Tensor) -> object:
        if transformed_there:
            return in_thread(lambda: grad(loss)(W, a))
        return grad(on_the_other)(W, a)

    x = ramp(2, 3)
    found, expected = vmap(gradient)(x), vmap(lambda a: grad(loss)(W, a))(x)
    assert isinstance(found, vt.Tensor)
    assert isinstance(expected, vt.Tensor)
    assert found.tolist() == expected.tolist()
    assert not with_entries


@needs_global_lock
def test_sums_over_samples_are_refused_on_another_thread_too() -> None:
    w = W.clone().requires_grad_()
    with pytest.raises(BatchedTensorError, match="sum of the gradients"):
        vmap(lambda a: in_thread(lambda: vt.autograd.grad((w * a).sum(), w)[0]))(ramp(2, 3))


@needs_global_lock
def test_each_thread_has_its_own_levels() -> None:
    wrong: list[object] = []

    def work(number: int) -> None:
        for _ in range(20):
            x = ramp(3, 4)
            table = vmap(lambda a: vmap(lambda b: b * a.sum() + number)(a))(x)
            assert isinstance(table, vt.Tensor)
            gradient = vmap(grad(lambda a: (a * a * number).sum()))(x)
            assert isinstance(gradient, vt.Tensor)
            if not vt.equal(table, x * x.sum(1, keepdim=True) + number):
                wrong.append(table)
            if not vt.equal(gradient, x * (2 * number)) or thread.batch_levels:
                wrong.append(gradient)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert wrong == []


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda a: a * 2 + a.new_zeros(3) + vt.ones(3, dtype=vt.float64, device=LANE), 3),
        (lambda a: vt.zeros_like(a).copy_(a), 1),
        (lambda a: a[vt.tensor(0, device=LANE)], 1),
        (grad(lambda a: (a**3).sum()), 3),
        (lambda a: jacfwd(lambda b: b * 2)(a), 2),
        (lambda a: jacrev(lambda b: b * 2)(a), 2),
    ],
)
def test_samples_on_a_lane(function: Function, expected: float) -> None:
    x = ramp(2, 3).to(LANE)
    found = vmap(function)(x)
    assert isinstance(found, vt.Tensor)
    assert found.device == LANE
    assert found.reshape(-1)[0].item() == expected
    with pytest.raises(RuntimeError):
        vmap(lambda a: a * vt.ones(3, dtype=vt.float64))(x)


def test_gradients_on_a_lane() -> None:
    x = ramp(2, 3).to(LANE).requires_grad_()
    vmap(lambda a: (a * a).sum())(x).sum().backward()
    assert x.grad is not None
    assert x.grad.device == LANE
    assert x.grad.cpu().tolist() == (ramp(2, 3) * 2).tolist()


# -- names of dimensions ---------------------------------------------------------------------------


def test_names_inside_are_those_of_a_sample() -> None:
    x = ramp(2, 3)
    found = vmap(lambda a: a.rename("x").mul(2).align_to("y", "x"))(x)
    assert isinstance(found, vt.Tensor)
    assert found.names == (None, "y", "x")
    found = vmap(lambda a: a.rename("x").sum("x"))(x)
    assert isinstance(found, vt.Tensor)
    assert found.tolist() == [6, 15]
    found = vmap(lambda a: a.rename_("x"), out_dims=1)(x)
    assert isinstance(found, vt.Tensor)
    assert found.names == ("x", None)
    assert x.names == (None, None)
    with pytest.raises(RuntimeError, match="do not agree"):
        vmap(lambda a: a.rename("x") + vt.ones(3, names=("y",)))(x)
    with pytest.raises(RuntimeError, match="rename"):
        vmap(lambda a: a)(x.rename("b", "x"))


def test_a_sample_has_a_text() -> None:
    texts = []

    def function(a: vt.Tensor) -> vt.Tensor:
        texts.append(repr(a))
        return a

    vmap(function)(ramp(2, 3))
    assert texts[0].startswith("one of 2 samples of tensor([[1., 2., 3.],")
