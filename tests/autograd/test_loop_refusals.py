"""`checkpoint_loop`: what is refused, rather than differentiated wrongly."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support import leaf, ramp, refused, vt
from vtgrad.autograd import forward_ad

checkpoint_loop = vt.utils.checkpoint.checkpoint_loop


def backward_is_refused(y: vt.Tensor, *leaves: vt.Tensor, kind: str = "checkpoint") -> None:
    with refused(NotImplementedError if kind == "not-supported" else RuntimeError, kind):
        y.sum().backward()
    assert [x.grad for x in leaves] == [None] * len(leaves)


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize(
    ("step", "kind"),
    [
        # Saved by the last step, whose graph is kept.
        (lambda u, w: u * w, "stale-saved"),
        (lambda u, w: u + w, "checkpoint"),
        (lambda u, w: u + w[1] * 2, "checkpoint"),
        (lambda u, w: u * (w.detach() + 1), "checkpoint"),
    ],
)
def test_a_captured_tensor_is_written_between(
    step: Callable[[Any, Any], Any], kind: str, requires_grad: bool
) -> None:
    x, w = leaf(2), ramp(2).requires_grad_(requires_grad)
    y = checkpoint_loop(lambda u: step(u, w), x, 4, snapshots=2)
    with vt.no_grad():
        w.mul_(2)
    backward_is_refused(y, x, kind=kind)


def test_a_value_that_has_no_effect_on_the_result_but_on_gradients() -> None:
    x, w = vt.zeros(2).requires_grad_(), vt.ones(2)
    y = checkpoint_loop(lambda u: u * (w + 0), x, 4, snapshots=2)
    w.mul_(2)
    backward_is_refused(y, x)


def test_a_write_that_no_counter_sees() -> None:
    x = leaf(2)
    array = np.ones(2)
    w = vt.from_numpy(array)
    for step in (lambda u: u + w, lambda u: u * w):
        y = checkpoint_loop(step, x, 4, snapshots=2)
        array[0] += 1
        backward_is_refused(y, x)


def test_a_write_that_no_counter_sees_and_that_has_no_effect_on_the_result() -> None:
    x = vt.zeros(2).requires_grad_()
    array = np.ones(2)
    w = vt.from_numpy(array)
    y = checkpoint_loop(lambda u: u * w, x, 4, snapshots=2)
    array[0] = 5
    backward_is_refused(y, x)


def test_other_elements_may_be_written() -> None:
    x, w = leaf(2), ramp(4)
    y = checkpoint_loop(lambda u: u * w[:2], x, 4, snapshots=2)
    w[2:] = 7
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1, 16]


def test_the_first_state_may_be_written() -> None:
    x = leaf(2)
    start = x * 1
    y = checkpoint_loop(lambda u: u * u, start, 3, snapshots=2)
    with vt.no_grad():
        start.zero_()
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [8, 8 * 2**7]


def test_the_result_is_written_after_its_value_was_saved() -> None:
    x = leaf(2)
    y = checkpoint_loop(lambda u: (u * 0.1).exp(), x, 3, snapshots=2)
    z = y * 1
    with vt.no_grad():
        y.zero_()
    # As after a plain loop: `exp` has saved its result.
    backward_is_refused(z, x, kind="stale-saved")


@pytest.mark.parametrize("counts", [True, False])
def test_a_step_that_depends_on_how_often_it_runs(counts: bool) -> None:
    x = leaf(2)
    numbers = itertools.count() if counts else itertools.repeat(0)
    y = checkpoint_loop(lambda u: u * (1 + next(numbers)), x, 4, snapshots=2)
    if counts:
        backward_is_refused(y, x)
    else:
        y.sum().backward()


def test_random_numbers_of_another_generator() -> None:
    x, g = leaf(2), vt.Generator()
    y = checkpoint_loop(lambda u: u * vt.rand(2, generator=g), x, 4, snapshots=2)
    backward_is_refused(y, x)


def test_random_numbers_without_their_state() -> None:
    x = leaf(2)
    y = checkpoint_loop(lambda u: u * vt.rand(2), x, 4, snapshots=2, preserve_rng_state=False)
    backward_is_refused(y, x)


def test_the_check_can_be_left_out() -> None:
    x, w = leaf(2), ramp(2)
    y = checkpoint_loop(lambda u: u * (w + 0), x, 2, snapshots=1, determinism_check="none")
    w.mul_(2)
    y.sum().backward()
    assert x.grad is not None
    # The last step's graph was kept; the first was made with the new value.
    assert x.grad.tolist() == [2, 8]


def test_the_error_names_the_step() -> None:
    x, w = leaf(2), ramp(2)
    y = checkpoint_loop(lambda u: u + w, x, 4, snapshots=2)
    w.mul_(2)
    with pytest.raises(RuntimeError, match="step 2 of checkpoint_loop") as caught:
        y.sum().backward()
    assert caught.value.step == 2  # type: ignore[attr-defined]


def test_a_parameter_that_was_not_there_at_first() -> None:
    x, found = leaf(2), [leaf(2)]
    y = checkpoint_loop(lambda u: u * found[0], x, 4, snapshots=2)
    found[0] = leaf(2)
    backward_is_refused(y, x, found[0])


def test_values_stored_outside_of_a_step() -> None:
    x, w = leaf(2), leaf(2)
    seen: list[vt.Tensor] = []

    def step(u: Any) -> Any:
        u = u * w
        seen.append(u)
        return u

    y = checkpoint_loop(step, x, 4, snapshots=2)
    backward_is_refused(seen[1] + y, x, w, kind="not-supported")
    # Also if only a parameter is asked for, which the stored value leads to directly.
    with refused(NotImplementedError, "not-supported"):
        vt.autograd.grad(seen[2].sum(), w)
    y.sum().backward()


def test_a_buffer_outside_that_steps_fill() -> None:
    x, history = leaf(2), vt.zeros(4, 2, dtype=vt.float64)
    rows = itertools.count()

    def step(u: Any) -> Any:
        history[next(rows) % 4] = u
        return u * 2

    y = checkpoint_loop(step, x, 4, snapshots=2)
    backward_is_refused(y + history.sum(), x, kind="not-supported")


def test_values_that_depend_on_parameters_only_may_be_stored() -> None:
    x, w = leaf(2), leaf(2)
    penalties: list[vt.Tensor] = []

    def step(u: Any) -> Any:
        penalties.append((w * w).sum())
        return u * w

    y = checkpoint_loop(step, x, 3, snapshots=3)
    (y.sum() + penalties[0]).backward()
    assert w.grad is not None
    # 3 x w^2 + 2 w
    assert w.grad.tolist() == [5, 28]


@pytest.mark.parametrize(
    "state", [lambda b: (b, b[:2]), lambda b: {"u": b[1:], "v": b[:3]}, lambda b: [b, b.detach()]]
)
def test_tensors_of_a_state_that_share_memory(state: Callable[[Any], Any]) -> None:
    with refused(NotImplementedError, "not-supported"):
        checkpoint_loop(lambda s: s, state(leaf(4) * 1), 3, snapshots=1)
    with refused(NotImplementedError, "not-supported"):
        checkpoint_loop(lambda s: state(s * 1), leaf(4), 3, snapshots=1)


def test_columns_of_one_matrix_do_not_share_memory() -> None:
    x = leaf(2, 2)
    y = checkpoint_loop(lambda s: (s[1], s[0] * 2), (x[:, 0], x[:, 1]), 3, snapshots=1)
    (y[0] + y[1]).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[4, 2], [4, 2]]


def test_second_derivatives() -> None:
    x = leaf(2)
    y = checkpoint_loop(lambda u: u * u, x, 2, snapshots=1).sum()
    with refused(NotImplementedError, "not-supported"):
        vt.autograd.grad(y, x, create_graph=True)
    node = y.grad_fn
    assert node is not None
    loop = node.next_functions[0][0]
    assert loop is not None
    with refused(NotImplementedError, "not-supported"):
        loop(vt.ones(2, dtype=vt.float64))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: checkpoint_loop(abs, leaf(2), -1, snapshots=1), ValueError),
        (lambda: checkpoint_loop(abs, leaf(2), 2, snapshots=0), ValueError),
        (lambda: checkpoint_loop(abs, leaf(2), 2.5, snapshots=1), TypeError),  # type: ignore[arg-type]
        (lambda: checkpoint_loop(abs, leaf(2), 2, snapshots="1"), TypeError),  # type: ignore[arg-type]
        (lambda: checkpoint_loop(abs, leaf(2), 2), ValueError),
        (lambda: checkpoint_loop(abs, leaf(2), 2, snapshots=1, schedule=list), ValueError),  # type: ignore[arg-type]
        (lambda: checkpoint_loop(abs, leaf(2), 2, schedule=5), TypeError),  # type: ignore[arg-type]
        (lambda: checkpoint_loop(lambda s: s, {1, 2}, 2, snapshots=1), TypeError),
        (lambda: checkpoint_loop(lambda s: np.ones(2), leaf(2), 2, snapshots=1), TypeError),  # type: ignore[arg-type, return-value]
        (
            lambda: checkpoint_loop(abs, leaf(2), 2, snapshots=1, determinism_check="all"),  # type: ignore[arg-type]
            ValueError,
        ),
    ],
)
def test_arguments(call: Callable[[], object], error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_the_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "checkpoint_schedules", None)
    with pytest.raises(ImportError, match="pip install checkpoint-schedules"):
        checkpoint_loop(lambda u: u, leaf(2), 2, snapshots=1)


def test_hooks_on_a_state_that_stand_for_several_steps() -> None:
    def on_the_node(u: vt.Tensor) -> vt.Tensor:
        assert u.grad_fn is not None
        u.grad_fn.register_prehook(lambda grads: None)
        return u * 2

    def on_a_result(u: vt.Tensor) -> vt.Tensor:
        u.register_hook(lambda grad: grad * 2)
        return u

    for step, words in ((on_the_node, "on the grad_fn of the state"), (on_a_result, "an alias")):
        with pytest.raises(vt.errors.NotSupportedError, match=words):
            checkpoint_loop(step, vt.ones(2, requires_grad=True), 3, snapshots=1)


@pytest.mark.parametrize("through_parameter", [False, True])
def test_a_state_with_a_tangent_that_requires_grad(through_parameter: bool) -> None:
    calls: list[int] = []
    w = leaf(2) if through_parameter else vt.ones(2)

    def step(u: vt.Tensor) -> vt.Tensor:
        calls.append(1)
        return u * w

    def loop(x: vt.Tensor) -> vt.Tensor:
        return checkpoint_loop(step, x, 4, snapshots=2)

    x = vt.ones(2) if through_parameter else leaf(2)
    with refused(NotImplementedError, "not-supported"):
        vt.func.jvp(loop, (x,), (x.detach(),))
    with refused(NotImplementedError, "not-supported"):
        vt.func.jacfwd(loop)(x)
    # Before the first step, or after it.
    assert len(calls) == 2 * through_parameter
    with vt.no_grad():
        assert vt.func.jvp(loop, (x,), (x.detach(),))[1].tolist() == (x.detach() * w**4).tolist()


def test_a_step_that_uses_a_tensor_with_a_tangent() -> None:
    x = leaf(2)

    def loop(w: vt.Tensor) -> vt.Tensor:
        return checkpoint_loop(lambda u: u * w, x, 4, snapshots=2)

    with refused(NotImplementedError, "not-supported"):
        vt.func.jvp(loop, (vt.ones(2),), (vt.ones(2),))
    with vt.no_grad():
        # Nothing is copied between the steps then.
        product = vt.func.jvp(loop, (vt.ones(2),), (vt.ones(2),))[1]
    assert isinstance(product, vt.Tensor)
    assert product.tolist() == (4 * x).tolist()


def test_forward_mode_that_is_off_is_no_obstacle() -> None:
    x = leaf(2)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, vt.ones(2, dtype=x.dtype))
        with forward_ad.set_fwd_grad_enabled(False):
            y = checkpoint_loop(lambda u: u * 2, dual, 4, snapshots=2)
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [16, 16]
