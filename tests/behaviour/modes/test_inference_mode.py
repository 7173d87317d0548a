"""inference_mode: tensors without a version, and what may be done with them outside."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable

import pytest

from tests.support import (
    ON_TORCH,
    Unchanged,
    differs_from_torch,
    fn_name,
    grad_list,
    gradients,
    leaf,
    needs_global_lock,
    ramp,
    refused,
    vt,
)


def inference(*shape: int) -> vt.Tensor:
    """Give the inference tensor 1, 2, 3, ... of the given shape."""
    with vt.inference_mode():
        return ramp(*shape)


def _generator_state() -> object:
    state = vt.get_rng_state()
    assert isinstance(state, vt.Tensor)
    return state.tolist()


# -- what is an inference tensor ----------------------------------------------------------------


def test_what_is_made_inside_is_an_inference_tensor_and_what_was_made_outside_is_not() -> None:
    x, w = ramp(2), leaf(2)
    with vt.inference_mode():
        made = [vt.zeros(2), vt.tensor([1.0]), x + 1, w * 2, x.clone(), vt.from_numpy(x.numpy())]
        assert vt.is_inference_mode_enabled()
        assert not vt.is_grad_enabled()
        assert not x.is_inference()
        assert not vt.as_tensor(x).is_inference()
    assert all(m.is_inference() and vt.is_inference(m) for m in made)
    assert not any(m.requires_grad for m in made)
    assert not vt.is_inference(x)
    assert not vt.is_inference_mode_enabled()
    assert vt.is_grad_enabled()


def test_is_inference_takes_tensors_only() -> None:
    with pytest.raises(TypeError):
        vt.is_inference(3)  # type: ignore[arg-type]


def test_an_inference_tensor_has_no_version() -> None:
    i = inference(2)
    with refused(RuntimeError, "inference"):
        _ = i._version
    with refused(RuntimeError, "inference"), vt.inference_mode():
        _ = i._version


def test_views_of_inference_tensors_are_inference_tensors_and_no_views() -> None:
    i = inference(2, 2)
    with vt.inference_mode():
        inside = i[0]
    for v in (inside, i[0], i.view(4), i.unbind()[1], i.detach(), i.data):
        assert v.is_inference()
        assert not v._is_view()
        assert v._base is None
        assert not v.requires_grad
    with vt.inference_mode():
        inside.add_(10)
    assert i.tolist() == [[11, 12], [3, 4]]


def test_copies_and_results_made_outside_are_normal_tensors() -> None:
    i = inference(2)
    for x in (i.clone(), i * 2, i + i, i.sum(), vt.cat([i, i])):
        assert not x.is_inference()
        x.add_(1)
    assert i.tolist() == [1, 2]
    assert i.contiguous() is i


def test_a_parameter_made_inside_may_require_grad_but_results_do_not() -> None:
    with vt.inference_mode():
        w = vt.ones(2, requires_grad=True)
        v = ramp(2).requires_grad_()
        y = w * 2
    assert w.requires_grad
    assert w.is_leaf
    assert v.requires_grad
    assert not y.requires_grad
    assert gradients((w + vt.zeros(2)).sum(), w) == [[1, 1]]


def test_an_inference_tensor_cannot_begin_to_require_grad_outside() -> None:
    i = inference(2)
    with refused(RuntimeError, "inference"):
        i.requires_grad_()
    with refused(RuntimeError, "inference"):
        i.requires_grad = True
    assert not i.requires_grad
    assert not i.requires_grad_(False).requires_grad
    with vt.inference_mode():
        assert i.requires_grad_().requires_grad
    with refused(RuntimeError, "inference"):
        i.requires_grad_()


@differs_from_torch("there the gradient of the view is lost silently")
def test_a_view_of_an_inference_tensor_that_requires_grad_is_refused_while_recording() -> None:
    with vt.inference_mode():
        w = ramp(2).requires_grad_()
    with refused(RuntimeError, "inference"):
        _ = w[0]
    with vt.no_grad():
        assert w[0].is_inference()
    assert gradients(w.clone()[0], w) == [[1, 0]]


@differs_from_torch("there operators of inference tensors alone lose the gradient silently")
def test_operators_of_an_inference_tensor_that_requires_grad_are_recorded() -> None:
    with vt.inference_mode():
        w = ramp(2).requires_grad_()
    assert gradients((w + w).sum(), w) == [[2, 2]]
    with refused(RuntimeError, "inference-saved"):
        _ = w * w


# -- writes -------------------------------------------------------------------------------------


def test_an_inference_tensor_is_written_inside_without_counting() -> None:
    i = inference(3)
    with vt.inference_mode():
        i.add_(1)
        i[0] = 7.0
        i[1:].mul_(leaf(2))
        vt.add(i, 1, out=i)
    assert i.tolist() == [8, 4, 9]
    assert not i.requires_grad


WRITES: dict[str, Callable[[vt.Tensor], object]] = {
    "a number": lambda i: i.add_(1),
    "a tensor": lambda i: i.add_(ramp(3)),
    "another shape": lambda i: i.mul_(ramp(1)),
    "a number stored": lambda i: i.__setitem__(0, 2.0),
    "a tensor stored": lambda i: i.__setitem__(slice(None), ramp(3)),
    "a list of indices": lambda i: i.__setitem__([0, 1], 2.0),
    "through a view": lambda i: i[1:].zero_(),
    "fill": lambda i: i.fill_(3),
    "copy": lambda i: i.copy_(leaf(3)),
    "what requires grad": lambda i: i.mul_(leaf(3)),
    "random": lambda i: i.uniform_(),
    "nothing": lambda i: i[:0].zero_(),
    "out": lambda i: vt.add(ramp(3), 1, out=i),
    "out of a factory": lambda i: vt.ones(3, out=i),
    "geometry": lambda i: i.unsqueeze_(0),
    "scatter": lambda i: i.index_fill_(0, vt.tensor([0]), 4.0),
}


@pytest.mark.parametrize("grad", [True, False], ids=["recording", "no_grad"])
@pytest.mark.parametrize("name", WRITES)
def test_an_inference_tensor_is_never_written_outside(name: str, grad: bool) -> None:
    i = inference(3)
    with refused(RuntimeError, "inference-write"), vt.set_grad_enabled(grad):
        WRITES[name](i)
    if not ON_TORCH:  # which writes, and then refuses
        assert i.tolist() == [1, 2, 3]
        assert i.shape == (3,)


@differs_from_torch("there what shares the memory by detach or .data may be written")
def test_an_inference_tensor_is_not_written_by_another_name_either() -> None:
    i = inference(2)
    for other in (i.detach(), i.data, copy.copy(i)):
        assert other.is_inference()
        with refused(RuntimeError, "inference-write"):
            other.add_(1)


@differs_from_torch("there the generator has moved on")
def test_a_refused_random_write_draws_nothing() -> None:
    i = inference(3)
    before = _generator_state()
    with refused(RuntimeError, "inference-write"):
        i.normal_()
    with refused(RuntimeError, "inference-write"):
        vt.rand(3, out=i)
    assert _generator_state() == before


def test_normal_tensors_written_inside_stay_normal_and_count() -> None:
    w = leaf(2)
    b = w * 1
    with vt.inference_mode():
        b.mul_(inference(2))
        b[0] = 5.0
        w.add_(1)
    assert b.tolist() == [5, 4]
    assert b._version == 2
    assert fn_name(b) == "MulBackward0"
    assert not b.is_inference()
    assert (w._version, w.is_leaf) == (1, True)


def test_a_saved_value_that_is_written_inside_is_noticed() -> None:
    w = leaf(2)
    b = w.clone()
    y = b * b
    with vt.inference_mode():
        b.add_(1)
    with refused(RuntimeError, "stale-saved"):
        y.sum().backward()


def test_enable_grad_inside_does_not_record() -> None:
    w = leaf(2)
    with vt.inference_mode(), vt.enable_grad():
        assert vt.is_grad_enabled()
        assert vt.is_inference_mode_enabled()
        y = w * 2
        w.add_(1)
    assert not y.requires_grad
    assert y.is_inference()
    assert w._version == 1


def test_inference_mode_false_inside_records_and_counts() -> None:
    with vt.inference_mode():
        with vt.inference_mode(False):
            assert vt.is_grad_enabled()
            x = leaf(2)
            y = x * 2
            y.add_(1)
        assert vt.is_inference_mode_enabled()
        assert not vt.is_grad_enabled()
    assert y.requires_grad
    assert y._version == 1
    assert not y.is_inference()
    with vt.no_grad():
        with vt.inference_mode(mode=False):
            assert vt.is_grad_enabled()
        assert not vt.is_grad_enabled()


# -- recording ----------------------------------------------------------------------------------


def test_an_inference_tensor_may_be_an_operand_unless_it_has_to_be_saved() -> None:
    w, i = leaf(2), inference(2)
    assert gradients((w + i - i).sum(), w) == [[1, 1]]
    with refused(RuntimeError, "inference-saved"):
        _ = w * i
    with refused(RuntimeError, "inference-saved"):
        _ = i[0] * w
    with vt.no_grad():
        assert (w * i).tolist() == [1, 4]
    assert gradients((w * i.clone()).sum(), w) == [[1, 2]]


def test_a_recorded_write_that_would_save_one_changes_nothing() -> None:
    b, i = leaf(2).clone(), inference(2)
    v = b[:1]
    before = Unchanged(b, v)
    with refused(RuntimeError, "inference-saved"):
        b.mul_(i)
    with refused(RuntimeError, "inference-saved"):
        v.mul_(i[0])
    before.check()
    b.add_(i)
    assert b.tolist() == [2, 4]


def test_indices_made_inside_cannot_be_saved_either() -> None:
    with vt.inference_mode():
        index = vt.tensor([1, 0])
    with refused(RuntimeError, "inference-saved"):
        _ = leaf(2)[index]
    assert ramp(2)[index].tolist() == [2, 1]


# -- views of normal tensors --------------------------------------------------------------------


def test_a_view_of_a_normal_tensor_made_inside_is_normal_and_marked() -> None:
    b = leaf(2, 3).clone()
    with vt.inference_mode():
        views = [b[0], b.view(6), b.unbind()[0], b.view(6)[1:]]
        views[0].add_(1)
    for v in views:
        assert not v.is_inference()
        assert v._base is b
        assert v.requires_grad
        with refused(RuntimeError, "inference-view"):
            v.mul_(2)
        with refused(RuntimeError, "inference-view"):
            _ = v.grad_fn
    assert b.tolist() == [[2, 3, 4], [4, 5, 6]]
    assert b._version == 1


def test_a_marked_view_may_be_written_where_nothing_is_recorded() -> None:
    b = ramp(2, 2)
    with vt.inference_mode():
        v = b[0]
    v.mul_(2)
    with vt.no_grad():
        v.mul_(2)
    with vt.inference_mode():
        v.add_(1)
    assert b.tolist() == [[5, 9], [3, 4]]
    assert b._version == 3
    with refused(RuntimeError, "inference-view"):
        v.mul_(leaf(2))


def test_the_mark_of_inference_mode_prevails_down_a_chain() -> None:
    b = leaf(2, 3).clone()
    with vt.inference_mode():
        v = b[:]
        with vt.no_grad():
            within = b[:]
    with vt.no_grad():
        quiet = v[:]
    for made in (v[:], v.unbind()[0], v.split(1)[0][:], quiet, quiet[:], within):
        with refused(RuntimeError, "inference-view"):
            made.zero_()


def test_the_base_of_a_marked_view_may_be_written_and_the_view_not_used_then() -> None:
    b = leaf(2).clone()
    with vt.inference_mode():
        v = b[:1]
    b.mul_(2)
    with refused(RuntimeError, "inference-view"):
        _ = v * 2
    assert "grad_fn=<Invalid>" in repr(v)
    assert v.tolist() == [2]


def test_the_stale_producer_of_an_ordinary_view_can_be_read_inside() -> None:
    b = leaf(2, 3).clone()
    v, r = b[0], b.view(6)
    b.mul_(2)
    with vt.inference_mode():
        assert fn_name(v) == "AsStridedBackward0"
        assert fn_name(r) == "AsStridedBackward0"
    assert gradients(v.sum(), b) == [[[1, 1, 1], [0, 0, 0]]]


def test_detach_and_data_of_normal_tensors_stay_normal() -> None:
    x = ramp(2)
    with vt.inference_mode():
        d, p = x.detach(), x.data
    assert not d.is_inference()
    assert not p.is_inference()
    x.add_(1)
    assert (d._version, p._version) == (1, 0)


# -- backward -----------------------------------------------------------------------------------


def test_backward_inside_fills_grad_with_an_inference_tensor() -> None:
    w = leaf(2)
    y, z = (w * 2).sum(), (w * 3).sum()
    with vt.inference_mode():
        y.backward()
    assert grad_list(w) == [2, 2]
    assert w.grad is not None
    assert w.grad.is_inference()
    with refused(RuntimeError, "inference-write"):
        z.backward()
    if not ON_TORCH:  # which writes, and then refuses
        assert grad_list(w) == [2, 2]


@differs_from_torch("there the other leaf is filled, and so is this one before it is refused")
def test_a_grad_that_cannot_be_added_to_is_found_before_anything_runs() -> None:
    for which in (0, 1):
        leaves = [leaf(2), leaf(2)]
        leaves[which].grad = inference(2)
        y = (leaves[0] * leaves[1]).sum()
        with refused(RuntimeError, "inference-write"):
            y.backward()
        assert leaves[1 - which].grad is None
        assert grad_list(leaves[which]) == [1, 2]
        # Nothing was freed, and who does not fill it may run.
        assert vt.autograd.grad(y, leaves, retain_graph=True)[0].tolist() == [1, 2]
        y.backward(inputs=[leaves[1 - which]])
        assert grad_list(leaves[1 - which]) == [1, 2]


def test_a_recorded_backward_adds_to_an_inference_grad_out_of_place() -> None:
    w, other = leaf(2), inference(2)
    w.grad = other
    with pytest.warns(UserWarning, match="create_graph=True"):
        (w * 3).sum().backward(create_graph=True)
    assert grad_list(w) == [4, 5]
    assert other.tolist() == [1, 2]
    w.grad = None


def test_backward_inside_adds_to_a_normal_grad() -> None:
    w = leaf(2)
    (w * 2).sum().backward()
    y = (w * 3).sum()
    with vt.inference_mode():
        y.backward()
    assert w.grad is not None
    assert not w.grad.is_inference()
    assert grad_list(w) == [5, 5]
    assert w.grad._version == 1


def test_hooks_run_in_the_mode_of_their_backward() -> None:
    w = leaf(2)
    seen: list[tuple[bool, bool, bool]] = []

    def look(g: vt.Tensor) -> None:
        seen.append((vt.is_inference_mode_enabled(), vt.is_grad_enabled(), g.is_inference()))

    w.register_hook(look)
    for mode in (True, False):
        y = (w * w).sum()
        w.grad = None
        with vt.inference_mode(mode):
            y.backward()
    assert seen == [(True, False, True), (False, False, False)]


def test_nothing_is_recorded_of_a_backward_inside() -> None:
    w = leaf(2)
    y = (w * w).sum()
    with vt.inference_mode():
        (g,) = vt.autograd.grad(y, w, create_graph=True)
    assert g.tolist() == [2, 4]
    assert not g.requires_grad
    assert g.is_inference()


# -- copies -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "duplicate",
    [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))],
    ids=["deepcopy", "pickle"],
)
def test_copies_are_what_is_made_where_they_are_made(
    duplicate: Callable[[vt.Tensor], vt.Tensor],
) -> None:
    x, i = ramp(2), inference(2)
    outside = [duplicate(x), duplicate(i)]
    with vt.inference_mode():
        inside = [duplicate(x), duplicate(i)]
    assert not any(c.is_inference() for c in outside)
    assert all(c.is_inference() for c in inside)
    for c in (*outside, *inside):
        assert c.tolist() == [1, 2]
    outside[1].add_(1)
    assert i.tolist() == [1, 2]


@differs_from_torch("there copies that share memory do not share a version")
def test_copies_of_inference_tensors_that_shared_memory_share_a_version_of_their_own() -> None:
    i, other = inference(2), inference(2)
    for copies in (copy.deepcopy([i, i[1:], other]), pickle.loads(pickle.dumps([i, i[1:], other]))):
        x, view, apart = copies
        view.add_(1)
        assert x.tolist() == [1, 3]
        assert (x._version, view._version, apart._version) == (1, 1, 0)


# -- the mode itself ----------------------------------------------------------------------------


def test_the_mode_is_restored_after_an_error_and_may_be_nested() -> None:
    mode = vt.inference_mode()

    def fail() -> None:
        with mode, vt.inference_mode():
            raise KeyError("inside")

    with pytest.raises(KeyError):
        fail()
    assert not vt.is_inference_mode_enabled()
    assert vt.is_grad_enabled()


def test_decorators_work_with_and_without_parentheses() -> None:
    @vt.inference_mode
    def plain(n: int) -> vt.Tensor:
        """Say something."""
        return vt.zeros(n)

    @vt.inference_mode()
    def called(n: int) -> vt.Tensor:
        return vt.zeros(n)

    @vt.inference_mode(False)
    def outside(n: int) -> vt.Tensor:
        return vt.zeros(n)

    assert plain(2).is_inference()
    assert called(2).is_inference()
    assert (plain.__name__, plain.__doc__) == ("plain", "Say something.")
    with vt.inference_mode():
        assert not outside(2).is_inference()


@differs_from_torch("there it returns a function that fails when it is called")
def test_the_mode_is_a_bool_or_what_is_decorated() -> None:
    with pytest.raises(TypeError):
        vt.inference_mode(1)  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        vt.inference_mode(None)  # type: ignore[call-overload]


@needs_global_lock
def test_the_mode_belongs_to_a_thread() -> None:
    inside, leave = threading.Event(), threading.Event()
    made: list[vt.Tensor] = []

    def hold() -> None:
        with vt.inference_mode():
            made.append(vt.zeros(2))
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert inside.wait(10)
        assert not vt.is_inference_mode_enabled()
        assert not vt.zeros(2).is_inference()
        assert (leaf(2) * 2).requires_grad
        with refused(RuntimeError, "inference-write"):
            made[0].add_(1)
    finally:
        leave.set()
        thread.join()
    assert made[0].is_inference()


@needs_global_lock
def test_a_new_thread_begins_outside() -> None:
    modes: list[bool] = []
    with vt.inference_mode():
        thread = threading.Thread(target=lambda: modes.append(vt.is_inference_mode_enabled()))
        thread.start()
        thread.join()
    assert modes == [False]


def test_an_inference_tensor_prints_as_any_other() -> None:
    with vt.inference_mode():
        text = repr(ramp(2))
    assert text == repr(ramp(2))


def test_increment_version_has_nothing_to_count() -> None:
    x, i = ramp(2), inference(2)
    vt.autograd.graph.increment_version([x, i])
    assert x._version == 1
    assert i.is_inference()
