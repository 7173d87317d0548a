"""`checkpoint` without reentry: what runs again, when, and with what."""

from __future__ import annotations

import threading
import tracemalloc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support import (
    collector_off,
    differs_from_torch,
    fn_name,
    grad_list,
    gradients,
    leaf,
    needs_global_lock,
    node_of,
    ramp,
    vt,
)

if vt.__name__ == "torch":
    import torch.utils.checkpoint as utils
else:
    utils = vt.utils.checkpoint

graph = vt.autograd.graph


def call(function: Any, *args: Any, **kwargs: Any) -> Any:
    return utils.checkpoint(function, *args, use_reentrant=False, **kwargs)


class Log:
    """A function that notes how far it comes."""

    def __init__(self) -> None:
        self.marks: list[object] = []

    def __call__(self, t: Any) -> Any:
        self.marks.append(1)
        a = t.sin()
        self.marks.append(2)
        b = a + 1
        self.marks.append(3)
        return b


def test_gradients_and_second_derivatives() -> None:
    x = leaf(3)

    def f(t: Any) -> Any:
        return (t.sin() * t).exp() * t

    expected = gradients(f(x).sum(), x)
    assert gradients(call(f, x).sum(), x) == expected
    (g,) = vt.autograd.grad(call(f, x).sum(), x, create_graph=True)
    (h,) = vt.autograd.grad(f(x).sum(), x, create_graph=True)
    assert gradients(g.sum(), x) == gradients(h.sum(), x)


def test_the_result_is_that_of_the_last_operator() -> None:
    x = leaf(2)
    assert fn_name(call(lambda t: t.sin().exp(), x)) == "ExpBackward0"
    assert call(lambda t: t, x) is x


def test_keyword_arguments_go_to_the_function() -> None:
    x = leaf(2)
    assert gradients(call(lambda t, n: t * t * n, x, n=3).sum(), x) == [[6, 12]]
    with pytest.raises(TypeError):
        call(lambda t: t, x, n=3)


def test_it_runs_again_once_in_each_backward() -> None:
    x, log = leaf(2), Log()
    y, z = call(lambda t: (log(t), log(t) * t), x)
    log.marks.clear()
    (y + z).sum().backward(retain_graph=True)
    assert log.marks.count(1) == 2
    (y + z).sum().backward(retain_graph=True)
    assert log.marks.count(1) == 4
    vt.autograd.grad(y.sum(), x, retain_graph=True)
    vt.autograd.grad(z.sum(), x)
    # Each of the two again, or only the one that the pass comes to.
    assert log.marks.count(1) in (7, 8)


def test_it_does_not_run_again_if_nothing_was_saved() -> None:
    x, log = leaf(2), Log()
    y = call(lambda t: log(t.detach()) + t, x)
    y.sum().backward()
    assert log.marks == [1, 2, 3]


def test_early_stop() -> None:
    x, log = leaf(2), Log()

    def marks(**kwargs: Any) -> list[object]:
        y = call(log, x, **kwargs)
        log.marks.clear()
        y.sum().backward()
        return log.marks

    assert marks() == [1]
    assert marks(early_stop=False) == [1, 2, 3]
    with utils.set_checkpoint_early_stop(False):
        assert marks() == [1, 2, 3]
        assert marks(early_stop=True) == [1, 2, 3]
        with utils.set_checkpoint_early_stop(True):
            assert marks(early_stop=False) == [1]
    assert marks() == [1]
    # Around backward it does nothing.
    y = call(log, x)
    log.marks.clear()
    with utils.set_checkpoint_early_stop(False):
        y.sum().backward()
    assert log.marks == [1]


def test_reading_a_saved_value_computes_it() -> None:
    x, log = leaf(2), Log()
    y = call(lambda t: log(t) * 2, x)
    node: Any = node_of(y).next_functions[0][0]
    node = node.next_functions[0][0]
    for _ in range(2):
        log.marks.clear()
        assert node._saved_self.tolist() == [1, 2]
        assert log.marks == [1]
    y.sum().backward()
    assert x.grad is not None


def test_arguments_and_modes_of_the_second_run() -> None:
    x, seen = leaf(2) * 1, []

    def f(t: Any, other: Any) -> Any:
        seen.append((t is x, other, vt.is_grad_enabled()))
        return t.sin()

    other = object()
    y = call(f, x, other).sum()
    with vt.no_grad():
        y.backward()
    assert seen == [(True, other, True)] * 2


def test_nothing_is_kept_without_recording() -> None:
    x = leaf(2)
    with vt.no_grad():
        assert not call(lambda t: t.sin(), x).requires_grad


def test_inner_results_die_and_arguments_live() -> None:
    died: list[object] = []

    def f(t: Any) -> Any:
        a = t.sin()
        weakref.finalize(a, died.append, "inner")
        return a.exp()

    with collector_off():
        x = leaf(2)
        y = call(f, x.clone())
        assert died == ["inner"]
        y.sum().backward()
    assert grad_list(x) == gradients(x.sin().exp().sum(), x)[0]


def test_random_numbers_are_drawn_again() -> None:
    x = vt.ones(4, dtype=vt.float64).requires_grad_()
    y = call(lambda t: t * vt.rand(4, dtype=vt.float64), x)
    state: Any = vt.get_rng_state()
    y.sum().backward()
    assert state.equal(vt.get_rng_state())
    assert grad_list(x) == y.tolist()


@differs_from_torch("PyTorch differentiates another function silently")
def test_other_random_numbers_are_refused() -> None:
    y = call(lambda t: t * vt.rand(4), leaf(4), preserve_rng_state=False)
    with pytest.raises(RuntimeError, match="run again"):
        y.sum().backward()


def alternating(*functions: Any) -> Any:
    calls: list[int] = []

    def f(t: Any) -> Any:
        calls.append(1)
        return functions[(len(calls) - 1) % len(functions)](t)

    return f


@pytest.mark.parametrize(
    ("first", "again", "check", "early_stop", "fails"),
    [
        # Fewer values.
        (lambda t: t.sin().exp(), lambda t: t.sin(), "default", True, True),
        (lambda t: t.sin().exp(), lambda t: t.sin(), "none", True, True),
        # More values.
        (lambda t: t.sin(), lambda t: t.sin().exp(), "default", True, False),
        (lambda t: t.sin(), lambda t: t.sin().exp(), "default", False, True),
        # Another shape, another dtype.
        (lambda t: t.sin(), lambda t: t[:1].sin(), "default", True, True),
        (lambda t: t.sin(), lambda t: t.float().sin(), "default", True, True),
    ],
)
def test_what_is_compared(
    first: Any, again: Any, check: str, early_stop: bool, fails: bool
) -> None:
    x = leaf(2)
    y = call(alternating(first, again), x, determinism_check=check, early_stop=early_stop).sum()
    if fails:
        with pytest.raises(utils.CheckpointError):
            y.backward()
        assert issubclass(utils.CheckpointError, RuntimeError)
    else:
        y.backward()
        assert grad_list(x) == x.detach().cos().tolist()


@differs_from_torch("PyTorch uses the other elements silently")
def test_other_elements_are_refused() -> None:
    x = leaf(2)
    f = alternating(lambda t: (t * 2).sin(), lambda t: (t * 2 + 1).sin())
    with pytest.raises(RuntimeError, match="has other elements"):
        call(f, x).sum().backward()
    call(f, x, determinism_check="metadata").sum().backward()


def test_errors_of_the_second_run_leave_backward() -> None:
    def fail(t: Any) -> Any:
        raise KeyError("again")

    with pytest.raises(KeyError, match="again"):
        call(alternating(lambda t: t.sin(), fail), leaf(2)).sum().backward()
    assert vt.is_grad_enabled()


def test_an_argument_is_written_between() -> None:
    x = leaf(2)
    a = x * 1
    y = call(lambda t: (t + 1).sin(), a)
    with vt.no_grad():
        a.mul_(2)
    with pytest.raises(RuntimeError):
        y.sum().backward()
    assert x.grad is None


@differs_from_torch("PyTorch computes with the new values silently")
@pytest.mark.parametrize("f", [lambda t, w: t * w, lambda t, w: (t + w).sin()])
def test_a_captured_tensor_is_written_between(f: Any) -> None:
    for w in (leaf(2), ramp(2)):
        a = leaf(2)
        y = call(lambda t, w=w: f(t, w), a)
        with vt.no_grad():
            w.mul_(10)
        with pytest.raises(RuntimeError):
            y.sum().backward()
        assert a.grad is None


@differs_from_torch("PyTorch computes with the other tensor silently")
def test_a_captured_tensor_is_replaced_between() -> None:
    a, w = leaf(2), [leaf(2)]
    y = call(lambda t: t * w[0], a)
    w[0] = leaf(2)
    with pytest.raises(RuntimeError, match="another tensor"):
        y.sum().backward()


@differs_from_torch("as without a checkpoint, an element that is not used may be written")
def test_other_elements_of_a_captured_tensor_may_be_written() -> None:
    a, w = leaf(2), leaf(4)
    y = call(lambda t: t * w[:2], a)
    with vt.no_grad():
        w[2:] = 7
    y.sum().backward()
    assert grad_list(a) == [1, 2]


def test_the_result_may_be_written() -> None:
    x = leaf(2)
    y = call(lambda t: t.exp(), x)
    z = y * 1
    with vt.no_grad():
        y.zero_()
    z.sum().backward()
    assert grad_list(x) == x.detach().exp().tolist()


def test_a_function_may_write_what_it_has_made() -> None:
    x = leaf(3)

    def f(t: Any) -> Any:
        a = t * 2
        a[1:].mul_(t[1:])
        a.sin_()
        return a * t

    assert gradients(call(f, x).sum(), x) == gradients(f(x).sum(), x)


def test_a_function_that_writes_its_argument() -> None:
    x = leaf(2)
    y = call(lambda t: t.mul_(2).sin(), x * 1)
    with pytest.raises(RuntimeError):
        y.sum().backward()


@differs_from_torch("PyTorch computes with the overwritten value")
def test_a_value_that_the_function_itself_overwrites() -> None:
    def f(t: Any) -> Any:
        a = t * 1
        b = a.sin()
        a.mul_(2)
        return b * t

    with pytest.raises(RuntimeError, match="overwritten"):
        call(f, leaf(2), early_stop=False).sum().backward()


def test_hooks_of_the_first_run_are_called_once() -> None:
    x, log = leaf(2), []

    def f(t: Any) -> Any:
        a = t.sin()
        a.register_hook(lambda g: log.append(g.tolist()))
        return a.exp() * 1

    call(f, x).sum().backward()
    assert len(log) == 1


def test_nesting() -> None:
    x, runs = leaf(2), []

    def inner(t: Any) -> Any:
        runs.append(1)
        return t.sin().exp()

    def nested(t: Any, levels: int) -> Any:
        return inner(t) if levels == 0 else call(nested, t, levels - 1)

    for levels in (1, 2, 3):
        runs.clear()
        y = nested(x, levels).sum()
        assert len(runs) == 1
        assert gradients(y, x) == gradients(x.sin().exp().sum(), x)
        assert 2 <= len(runs) <= levels + 1


def test_an_inner_checkpoint_keeps_no_argument() -> None:
    died: list[object] = []

    def outer(t: Any) -> Any:
        a = t.sin()
        weakref.finalize(a, died.append, "argument")
        return call(lambda u: u.exp().sin(), a)

    with collector_off():
        x = leaf(2)
        y = call(outer, x)
        assert died == ["argument"]
        assert gradients(y.sum(), x) == gradients(x.sin().exp().sin().sum(), x)


def test_an_inner_checkpoint_that_saves_its_argument() -> None:
    x, w = leaf(2), leaf(2)

    def inner(u: Any) -> Any:
        return u.cos() * u * w

    def f(t: Any) -> Any:
        return call(inner, t * 2).exp()

    assert gradients(call(f, x).sum(), x, w) == gradients(inner(x * 2).exp().sum(), x, w)


def test_an_argument_that_is_an_invalid_view() -> None:
    x = leaf(4) * 1
    a, b = x.split(2)
    x.mul_(2)
    assert call(lambda t, u: u * 2, b, 3) == 6
    with pytest.raises(RuntimeError):
        call(lambda t: t * 2, a)


@differs_from_torch("PyTorch's memory is not allocated through Python")
def test_an_inner_checkpoint_takes_no_memory() -> None:
    size = 100_000
    x = vt.ones(size, requires_grad=True)

    def inner(u: Any) -> Any:
        return u.cos() * u

    def f(t: Any) -> Any:
        for _ in range(20):
            t = call(inner, t)
        return t

    tracemalloc.start()
    y = call(f, x)
    kept = tracemalloc.get_traced_memory()[0]
    y.sum().backward()
    tracemalloc.stop()
    # The result only, which is as large as the argument.
    assert kept < 1.5 * 4 * size


def test_hooks_of_saved_values_around_it_get_the_arguments() -> None:
    x, z, packed = leaf(2), leaf(2), []

    def pack(t: vt.Tensor) -> vt.Tensor:
        packed.append(t)
        return t

    with graph.saved_tensors_hooks(pack, lambda t: t):
        y = call(lambda t, n, u: (t.sin() * u).exp(), x, 5, z)
    assert [t is s for t, s in zip(packed, (x, z), strict=True)] == [True, True]
    y.sum().backward()
    assert grad_list(x) == gradients((x.sin() * z).exp().sum(), x)[0]


def test_hooks_of_saved_values_inside_win() -> None:
    x, packed = leaf(2), []

    def pack(t: vt.Tensor) -> vt.Tensor:
        packed.append(1)
        return t.clone()

    def f(t: Any) -> Any:
        a = t.exp()
        with graph.saved_tensors_hooks(pack, lambda t: t):
            b = a.sin()
        return b.exp()

    y = call(f, x)
    assert len(packed) == 1
    y.sum().backward()
    assert len(packed) == 2
    assert grad_list(x) == gradients(x.exp().sin().exp().sum(), x)[0]


def test_it_counts_as_hooks_where_these_are_disabled() -> None:
    with graph.disable_saved_tensors_hooks("none here"):
        with pytest.raises(RuntimeError, match="none here"):
            call(lambda t: t.sin(), leaf(2))
        utils.checkpoint(lambda t: t.sin(), leaf(2), use_reentrant=True)


def test_a_slot_takes_no_further_hooks() -> None:
    node: Any = node_of(call(lambda t: t.sin(), leaf(2)))
    with pytest.raises(RuntimeError):
        node._raw_saved_self.register_hooks(lambda t: t, lambda t: t)


def test_contexts() -> None:
    log: list[str] = []

    @contextmanager
    def noted(name: str) -> Iterator[None]:
        log.append(name)
        try:
            yield
        finally:
            log.append(f"end of {name}")

    made: list[int] = []

    def make() -> Any:
        made.append(1)
        return noted("first"), noted("again")

    x = leaf(2)
    y = call(lambda t: t.sin(), x, context_fn=make)
    assert (made, log) == ([1], ["first", "end of first"])
    y.sum().backward(retain_graph=True)
    assert log[2:] == ["again", "end of again"]
    # Contexts that serve once break a second backward.
    with pytest.raises((RuntimeError, AttributeError)):
        y.sum().backward()
    with pytest.raises(TypeError):
        call(lambda t: t, x, context_fn=lambda: 5)


def test_a_backward_inside_of_the_function() -> None:
    x = leaf(2)

    def f(t: Any) -> Any:
        y = (t * t * t).sum()
        (g,) = vt.autograd.grad(y, t, create_graph=True)
        return (g * t).sin()

    assert gradients(call(f, x).sum(), x) == gradients(f(x).sum(), x)


@needs_global_lock
def test_backward_on_another_thread() -> None:
    x = leaf(2)
    y = call(lambda t: t.sin().exp(), x).sum()
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    assert grad_list(x) == gradients(x.sin().exp().sum(), x)[0]


@differs_from_torch("PyTorch makes inference tensors then, which cannot be saved")
def test_backward_in_inference_mode() -> None:
    x = leaf(2)
    y = call(lambda t: (t * 2).sin(), x).sum()
    with vt.inference_mode():
        y.backward()
    assert grad_list(x) == ((x.detach() * 2).cos() * 2).tolist()


def test_a_freed_graph() -> None:
    y = call(lambda t: t.sin(), leaf(2)).sum()
    y.backward()
    with pytest.raises(RuntimeError):
        y.backward()


def test_the_debugged_error() -> None:
    f = alternating(lambda t: t.sin(), lambda t: t[:1].sin())
    with utils.set_checkpoint_debug_enabled(True):
        y = call(f, leaf(2))
    with pytest.raises(utils.CheckpointError) as caught:
        y.sum().backward()
    z = call(f, leaf(2), debug=True)
    with pytest.raises(utils.CheckpointError):
        z.sum().backward()
    if vt.__name__ != "torch":
        assert str(caught.value).count("test_recomputation.py:") == 2


def test_arguments() -> None:
    with pytest.raises(ValueError, match="determinism_check"):
        call(lambda t: t, leaf(2), determinism_check="all")
    with pytest.raises(TypeError):
        call(5, leaf(2))


def test_it_is_no_cycle() -> None:
    with collector_off():
        x = leaf(2)

        class F:
            def __call__(self, t: Any) -> Any:
                return t.sin().exp()

        f = F()
        alive = weakref.ref(f)
        y = call(f, x)
        del f
        assert alive() is not None
        del y
        assert alive() is None


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_chains(use_reentrant: bool) -> None:
    x, log = leaf(2), []

    def noted(nr: int) -> Any:
        def f(t: Any) -> Any:
            log.append(nr)
            return t.sin() + nr

        return f

    def run(count: int, segments: int) -> Any:
        log.clear()
        fns = [noted(nr) for nr in range(count)]
        return utils.checkpoint_sequential(fns, segments, x, use_reentrant=use_reentrant)

    y = run(5, 2)
    log.clear()
    found = gradients_of(y, x)
    # The last segment, functions 2 to 4, is no checkpoint.
    assert set(log) == {0, 1} if use_reentrant else set(log) <= {0, 1}
    z = x
    for nr in range(5):
        z = z.sin() + nr
    assert found == gradients_of(z, x)
    for count, segments in ((2, 3), (0, 1)):
        with pytest.raises(ValueError):  # noqa: PT011  # the words are each library's own
            run(count, segments)
    with pytest.raises(ValueError):  # noqa: PT011  # as above
        utils.checkpoint_sequential([vt.sin], 1, x, use_reentrant=use_reentrant, other=3)


def gradients_of(y: vt.Tensor, x: vt.Tensor) -> object:
    x.grad = None
    y.sum().backward()
    return grad_list(x)


@pytest.mark.filterwarnings("default")
def test_the_way_is_to_be_named() -> None:
    x = leaf(2)
    with pytest.warns(UserWarning, match="use_reentrant"):
        y = utils.checkpoint(lambda t: t.sin(), x)
    assert fn_name(y) == "CheckpointFunctionBackward"
    with pytest.warns(UserWarning, match="use_reentrant"):
        utils.checkpoint_sequential([vt.sin, vt.exp], 2, x)


def test_what_is_unpacked_is_another_tensor_of_the_same_memory() -> None:
    x, w = leaf(2), leaf(2)
    assert node_of(x * w)._saved_self is x  # type: ignore[attr-defined]  # the field of this node
    node = node_of(call(lambda t: t * w, x))
    for found, given in ((node._saved_self, x), (node._saved_other, w)):  # type: ignore[attr-defined]  # the same
        assert found is not given
        assert found.data_ptr() == given.data_ptr()
        assert found.is_leaf
        assert found.requires_grad
