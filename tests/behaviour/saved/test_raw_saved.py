"""`node._raw_saved_x`: looking at one saved value, and hooks of that value alone."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import pytest

from tests.behaviour.saved.packing import Log, hooks, saved, unchanged
from tests.functions import function
from tests.support import (
    ON_TORCH,
    collector_off,
    differs_from_torch,
    gradients,
    leaf,
    node_of,
    ramp,
    refused,
    vt,
)


def copying() -> Log:
    """Give functions that pack copies."""
    return Log(lambda t: t.detach().clone())


def test_it_is_one_object_while_it_is_referred_to() -> None:
    y = leaf(2).sin()
    raw = saved(y, "_raw_saved_self")
    assert isinstance(raw, vt.autograd.SavedTensor)
    assert raw is saved(y, "_raw_saved_self")
    assert raw is not saved(leaf(2).sin(), "_raw_saved_self")


def test_it_cannot_be_constructed() -> None:
    with refused(RuntimeError, "not-constructible"):
        vt.autograd.SavedTensor()


def test_it_unpacks_what_the_attribute_shows() -> None:
    x = leaf(2)
    z = x.clone()
    y = x * z
    assert saved(y, "_raw_saved_self").unpack() is x
    assert saved(y, "_raw_saved_self").data is x
    assert saved(y, "_raw_saved_other").unpack().tolist() == [1, 2]
    assert ON_TORCH or saved(y, "_raw_saved_other").unpack() is z


@differs_from_torch("there the raw object of a result does not know its producer, and raises")
def test_it_unpacks_results() -> None:
    y = leaf(2).exp()
    result = saved(y, "_raw_saved_result").unpack()
    assert result.tolist() == ramp(2).exp().tolist()
    assert result.grad_fn is y.grad_fn


def test_only_tensors_have_one() -> None:
    y = leaf(2) ** 3
    assert saved(y, "_saved_exponent") == 3
    with pytest.raises(AttributeError):
        saved(y, "_raw_saved_exponent")
    with pytest.raises(AttributeError):
        saved(y.sum(), "_raw_saved_self_sym_sizes")


def test_lists_of_tensors_have_a_tuple() -> None:
    y = leaf(2)[vt.tensor([1])]
    (raw,) = saved(y, "_raw_saved_indices")
    assert raw.unpack().tolist() == [1]
    log = copying()
    raw.register_hooks(log.pack, log.unpack)
    y.backward(vt.ones(1, dtype=vt.float64))
    assert len(log.unpacked) == 1


def test_a_value_that_was_not_needed_has_one_without_content() -> None:
    y = leaf(2) * ramp(2)
    raw = saved(y, "_raw_saved_self")
    assert saved(y, "_saved_self") is None
    assert raw.unpack() is None
    assert raw.data is None
    with refused(RuntimeError, "saved-hook"):
        raw.register_hooks(unchanged, unchanged)


def test_under_a_block_the_data_is_the_packed_object() -> None:
    with hooks(lambda t: (5, t.shape), lambda p: ramp(2)):
        y = leaf(2).sin()
    raw = saved(y, "_raw_saved_self")
    assert raw.data == (5, (2,))
    assert raw.unpack().tolist() == [1, 2]


def test_it_unpacks_after_the_graph_is_gone() -> None:
    x = leaf(2)
    y = x.sin()
    raw = saved(y, "_raw_saved_self")
    del y
    assert raw.unpack() is x


def test_after_freeing_it_is_empty() -> None:
    y = leaf(2).sin()
    raw = saved(y, "_raw_saved_self")
    y.sum().backward()
    assert raw.data is None
    assert saved(y, "_raw_saved_self") is raw
    with refused(RuntimeError, "graph-freed"):
        raw.unpack()
    with pytest.raises(RuntimeError):
        raw.register_hooks(unchanged, unchanged)
    with refused(RuntimeError, "graph-freed"):
        saved(y, "_saved_self")


def test_hooks_of_one_value_pack_at_once() -> None:
    x, log = leaf(2), copying()
    z = x.clone()
    y = z.sin()
    assert saved(y, "_raw_saved_self").register_hooks(log.pack, log.unpack) is None
    # PyTorch packs a detached tensor.
    assert log.packed[0].tolist() == [1, 2]
    assert ON_TORCH or log.packed[0] is z
    z.mul_(2)
    assert gradients(y.sum(), x) == [ramp(2).cos().tolist()]
    assert len(log.unpacked) == 1


def test_other_slots_of_the_same_tensor_keep_theirs() -> None:
    x, log = leaf(2), copying()
    y = x * x
    saved(y, "_raw_saved_self").register_hooks(log.pack, log.unpack)
    assert saved(y, "_raw_saved_other").unpack_hook is None
    assert saved(y, "_raw_saved_self").unpack_hook == log.unpack
    assert gradients(y.sum(), x) == [[2, 4]]
    assert len(log.unpacked) == 1


@pytest.mark.parametrize("operate", [lambda x: x.exp(), lambda x: x.clone().exp_()])
def test_hooks_of_a_saved_result(operate: Callable[[vt.Tensor], vt.Tensor]) -> None:
    x, log = leaf(2), copying()
    y = operate(x)
    saved(y, "_raw_saved_result").register_hooks(log.pack, log.unpack)
    assert ON_TORCH or log.packed[0].grad_fn is y.grad_fn
    (g,) = vt.autograd.grad(y.sum(), x, create_graph=True)
    assert g.tolist() == ramp(2).exp().tolist()
    assert gradients(g.sum(), x) == [ramp(2).exp().tolist()]


def test_hooks_of_leaves_and_integers() -> None:
    x, log = leaf(3), copying()
    y = x.sin()[vt.tensor([0, 2])]
    saved(y, "_raw_saved_indices")[0].register_hooks(log.pack, log.unpack)
    z = x.sin()
    saved(z, "_raw_saved_self").register_hooks(log.pack, log.unpack)
    assert gradients((y.sum() + z.sum()), x) == [(ramp(3).cos() * vt.tensor([2, 1, 2])).tolist()]


def test_hooks_cannot_be_registered_twice() -> None:
    y = leaf(2).sin()
    raw = saved(y, "_raw_saved_self")
    raw.register_hooks(unchanged, unchanged)
    with refused(RuntimeError, "saved-hook"):
        raw.register_hooks(unchanged, unchanged)


def test_hooks_cannot_be_registered_on_what_a_block_has_packed() -> None:
    with hooks(unchanged, unchanged):
        y = leaf(2).sin()
    with refused(RuntimeError, "saved-hook"):
        saved(y, "_raw_saved_self").register_hooks(unchanged, unchanged)


@pytest.mark.parametrize("pair", [(1, unchanged), (unchanged, None)])
def test_what_cannot_be_called_is_refused(pair: tuple[Any, Any]) -> None:
    x = leaf(2)
    y = x.sin()
    with pytest.raises(TypeError):
        saved(y, "_raw_saved_self").register_hooks(*pair)
    assert gradients(y.sum(), x) == [ramp(2).cos().tolist()]


def test_pack_must_not_write() -> None:
    x = leaf(2)
    z = x.clone()
    y = z.sin()
    with refused(RuntimeError, "saved-hook"):
        saved(y, "_raw_saved_self").register_hooks(lambda t: t.detach().mul_(2), unchanged)


@differs_from_torch("there the unpack function is left without a packed object")
def test_an_error_of_pack_changes_nothing() -> None:
    def pack(t: vt.Tensor) -> vt.Tensor:
        raise LookupError("full")

    x = leaf(2)
    y = x.sin()
    with pytest.raises(LookupError, match="full"):
        saved(y, "_raw_saved_self").register_hooks(pack, unchanged)
    assert saved(y, "_raw_saved_self").unpack() is x


@differs_from_torch("there that is accepted, and gives another gradient")
@pytest.mark.parametrize("pair", [(unchanged, unchanged), (lambda t: t.clone(), unchanged)])
def test_what_was_overwritten_cannot_be_packed_any_more(pair: tuple[Any, Any]) -> None:
    x = leaf(2)
    z = x.clone()
    y = z.sin()
    z.mul_(2)
    with refused(RuntimeError, "stale-saved"):
        saved(y, "_raw_saved_self").register_hooks(*pair)


@differs_from_torch("there it is not checked any more")
def test_what_is_packed_as_itself_is_checked_later() -> None:
    x = leaf(2)
    z = x.clone()
    y = z.sin()
    saved(y, "_raw_saved_self").register_hooks(unchanged, unchanged)
    z.mul_(2)
    with refused(RuntimeError, "stale-saved"):
        y.sum().backward()


def test_what_rewind_keeps_can_be_packed_later() -> None:
    x, log = leaf(2), copying()
    with vt.autograd.graph.allow_mutation_on_saved_tensors():
        z = x.clone()
        y = z.sin()
        z.mul_(2)
        # PyTorch has hooks on the value already.
        try:
            saved(y, "_raw_saved_self").register_hooks(log.pack, log.unpack)
        except RuntimeError:
            return
    assert log.packed[0].tolist() == [1, 2]
    assert gradients(y.sum(), x) == [ramp(2).cos().tolist()]


def test_what_a_function_has_saved() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x, None)
        return x.square()

    x, log = leaf(2), copying()
    y = function(forward, lambda ctx, g: g * 2 * ctx.saved_tensors[0])(x)
    first, second = saved(y, "_raw_saved_tensors")
    assert first.unpack() is x
    assert second.unpack() is None
    assert first is saved(y, "_raw_saved_tensors")[0]
    first.register_hooks(log.pack, log.unpack)
    assert gradients(y.sum(), x) == [[2, 4]]
    assert len(log.unpacked) == 1
    if not ON_TORCH:  # which crashes here
        assert first.data is None
    for name in ("_raw_saved_tensors", "saved_tensors"):
        with refused(RuntimeError, "graph-freed"):
            saved(y, name)


def test_it_makes_no_cycle() -> None:
    x = leaf(2)
    y = x.exp()
    gone = weakref.ref(x)
    with collector_off():
        raw = saved(y, "_raw_saved_result")
        raw.register_hooks(lambda t: t.detach().clone(), unchanged)
        node_of(y).metadata["leaf"] = x
        del x, y, raw
        assert gone() is None
