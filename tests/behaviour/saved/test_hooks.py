"""What `saved_tensors_hooks` packs and unpacks, when, and in which mode."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.behaviour.saved.packing import Log, hooks, saved, unchanged
from tests.functions import Function, function
from tests.support import differs_from_torch, gradients, leaf, needs_global_lock, ramp, refused, vt


def clone(tensor: vt.Tensor) -> vt.Tensor:
    """Pack a copy."""
    return tensor.detach().clone()


def test_a_pair_of_clones_gives_the_gradient_of_the_program_without_hooks() -> None:
    x = leaf(2, 3)
    with hooks(clone, unchanged):
        y = (x.sin() * x).exp().sum()
    expected = (x.sin() * x).exp().sum()
    assert gradients(y, x) == gradients(expected, x)


def test_only_the_innermost_block_packs() -> None:
    x, outer, inner = leaf(2), Log(), Log()
    with outer.open():
        with inner.open():
            x.sin()
        x.cos()
    assert len(inner.packed) == len(outer.packed) == 1


def test_the_functions_belong_to_the_value_whichever_block_is_open_later() -> None:
    x, first, second = leaf(2), Log(), Log()
    with first.open():
        y = x.sin().sum()
    with second.open():
        y.backward()
    assert len(first.unpacked) == 1
    assert not second.unpacked


@needs_global_lock
def test_another_thread_unpacks_with_the_functions_of_the_value() -> None:
    x, log = leaf(2), Log()
    with log.open():
        y = x.sin().sum()
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    assert len(log.unpacked) == 1
    assert x.grad is not None


def test_each_slot_is_packed_on_its_own() -> None:
    x, log = leaf(2), Log()
    with log.open():
        y = x * x
    assert [tensor is x for tensor in log.packed] == [True, True]
    y.sum().backward()
    assert len(log.unpacked) == 2


@pytest.mark.parametrize(
    ("operate", "count"),
    [
        (lambda x, c: x * c, 1),
        (lambda x, c: x * 2, 0),
        (lambda x, c: x + c, 0),
        (lambda x, c: c * c, 0),
        (lambda x, c: x**c, 3),
        (lambda x, c: x.sin(), 1),
        (lambda x, c: x.exp(), 1),
        (lambda x, c: x[vt.tensor([0, 1])], 1),
        (lambda x, c: x.masked_fill(c > 1, 0.0), 1),
        (lambda x, c: vt.addcmul(c, x, x), 2),
        (lambda x, c: x.clone().mul_(c), 1),
        (lambda x, c: x[0] * c[0], 1),
    ],
)
def test_what_one_operator_packs(
    operate: Callable[[vt.Tensor, vt.Tensor], vt.Tensor], count: int
) -> None:
    x, c, log = leaf(2), ramp(2), Log()
    with log.open():
        operate(x, c)
    assert len(log.packed) == count


def test_tensors_of_every_kind_are_packed_as_they_are() -> None:
    x, log = leaf(3), Log()
    index, mask, scalar = vt.tensor([0, 2]), ramp(3) > 1, ramp(1)[0]
    middle = x.clone()
    with log.open():
        middle[index]
        middle.masked_fill(mask, 0.0)
        middle * scalar
        middle.sin()
    assert len(log.packed) == 4
    for found, given in zip(log.packed, (index, mask, scalar, middle), strict=True):
        assert found is given


def test_nothing_is_packed_while_nothing_is_recorded() -> None:
    x, log = leaf(2), Log()
    with log.open():
        with vt.no_grad():
            x * x
        ramp(2) * ramp(2)
    assert not log.packed


def test_a_result_is_packed_as_the_very_tensor_with_its_producer() -> None:
    x, seen = leaf(2), []

    def pack(tensor: vt.Tensor) -> vt.Tensor:
        seen.append((tensor, tensor.requires_grad, tensor.grad_fn))
        return tensor

    with hooks(pack, unchanged):
        y = x.exp()
    ((found, requires_grad, node),) = seen
    assert found is y
    assert requires_grad
    assert node is y.grad_fn


def test_a_result_of_a_write_is_packed_with_its_new_producer() -> None:
    x, seen = leaf(2), []

    def pack(tensor: vt.Tensor) -> vt.Tensor:
        seen.append((tensor, tensor.grad_fn, tensor._version))
        return tensor

    z = x.clone()
    with hooks(pack, unchanged):
        z.exp_()
    ((found, node, version),) = seen
    assert found is z
    assert node is z.grad_fn
    assert version == 1
    assert gradients(z.sum(), x) == [x.exp().tolist()]


def test_the_old_value_of_a_write_is_packed_as_a_copy() -> None:
    x, log = leaf(2), Log()
    z = x.clone()
    with log.open():
        z.sin_()
    (found,) = log.packed
    assert found is not z
    assert found.tolist() == [1, 2]
    assert found.requires_grad
    assert gradients(z.sum(), x) == [ramp(2).cos().tolist()]


def test_what_a_function_saves_is_packed_after_forward_in_order() -> None:
    order: list[object] = []

    def forward(ctx: Any, x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
        result = x * y
        ctx.save_for_backward(y, None, x, result)
        order.append("forward")
        return result

    def pack(tensor: vt.Tensor) -> vt.Tensor:
        order.append(tensor)
        return tensor

    x, y = leaf(2), leaf(2)
    apply = function(forward, lambda ctx, g: (g, g))
    with hooks(pack, unchanged):
        z = apply(x, y)
    assert order[0] == "forward"
    assert [found is given for found, given in zip(order[1:], (y, x, z), strict=True)] == [True] * 3


def test_a_block_inside_of_forward_does_not_count() -> None:
    log, inner = Log(), Log()

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        with inner.open():
            ctx.save_for_backward(x)
        return x * 2

    with log.open():
        function(forward)(leaf(2))
        function(forward)(ramp(2))
    assert len(log.packed) == 1
    assert not inner.packed


def test_every_read_of_saved_tensors_unpacks() -> None:
    log = Log()

    class Reads(Function):
        @staticmethod
        def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
            (x,) = ctx.saved_tensors
            (again,) = ctx.saved_tensors
            assert x is not again
            product: vt.Tensor = g * x * again
            return product

    x = leaf(2)
    with log.open():
        y = Reads.apply(x)
    assert gradients(y.sum(), x) == [[1, 4]]
    assert len(log.unpacked) == 2


def test_packing_and_unpacking_are_not_recorded_in_a_plain_backward() -> None:
    x, modes = leaf(2), []

    def note(tensor: vt.Tensor) -> vt.Tensor:
        modes.append(vt.is_grad_enabled())
        return tensor

    with hooks(note, note):
        y = x.sin() * x.exp()
    y.sum().backward()
    assert modes == [False] * len(modes)
    assert len(modes) == 8
    assert vt.is_grad_enabled()


def test_unpacking_is_recorded_when_backward_is() -> None:
    x, modes = leaf(2), []

    def note(tensor: vt.Tensor) -> vt.Tensor:
        modes.append(vt.is_grad_enabled())
        return tensor

    with hooks(unchanged, note):
        y = x.sin().sum()
    vt.autograd.grad(y, x, create_graph=True)
    assert modes == [True]


@pytest.mark.parametrize("wrong", [None, 3, [1.0]])
def test_pack_may_return_anything(wrong: object) -> None:
    x = leaf(2)
    with hooks(lambda tensor: wrong, lambda packed: ramp(2)):
        y = x.sin().sum()
    assert gradients(y, x) == [ramp(2).cos().tolist()]


def test_the_packed_object_dies_with_a_freeing_backward_and_with_the_graph() -> None:
    dead: list[str] = []

    class Held:
        def __init__(self, tensor: vt.Tensor, name: str) -> None:
            self.tensor, self.name = tensor.detach().clone(), name

        def __del__(self) -> None:
            dead.append(self.name)

    def under(name: str) -> vt.Tensor:
        with hooks(lambda tensor: Held(tensor, name), lambda held: held.tensor):
            return leaf(2).sin().sum()

    first, second = under("first"), under("second")
    first.backward(retain_graph=True)
    assert not dead
    first.backward()
    assert dead == ["first"]
    del second
    assert dead == ["first", "second"]


def test_a_node_unpacks_all_its_values_once_before_it_runs() -> None:
    x, log = leaf(2), Log()
    z = ramp(2).requires_grad_()
    with log.open():
        y = x / z
    count = len(log.packed)
    vt.autograd.grad(y.sum(), x)
    assert len(log.unpacked) == count == 2


def test_a_retained_graph_unpacks_each_time() -> None:
    x, log = leaf(2), Log()
    with log.open():
        y = x.sin().sum()
    y.backward(retain_graph=True)
    y.backward()
    assert len(log.unpacked) == 2
    assert x.grad is not None
    assert x.grad.tolist() == (2 * ramp(2).cos()).tolist()


def test_reading_a_saved_value_unpacks_each_time() -> None:
    x, log = leaf(2), Log()
    with log.open():
        y = x.sin()
    first, second = saved(y, "_saved_self"), saved(y, "_saved_self")
    assert first is not second
    assert first is not x
    assert len(log.unpacked) == 2


def test_the_unpacked_tensor_has_the_edge_of_the_saved_one() -> None:
    x = leaf(2)
    middle = x.clone()
    with hooks(clone, unchanged):
        y, z = x.sin(), middle.sin()
    assert saved(y, "_saved_self").is_leaf
    assert saved(y, "_saved_self").requires_grad
    assert saved(z, "_saved_self").grad_fn is middle.grad_fn
    (g,) = vt.autograd.grad(y.sum(), x, create_graph=True)
    assert gradients(g.sum(), x) == [(-ramp(2).sin()).tolist()]


def test_a_packed_result_can_be_differentiated_twice() -> None:
    x = leaf(2)
    with hooks(clone, unchanged):
        y = x.exp()
    (g,) = vt.autograd.grad(y.sum(), x, create_graph=True)
    assert gradients(g.sum(), x) == [ramp(2).exp().tolist()]


def test_a_recorded_backward_packs_with_the_block_around_it() -> None:
    x, forward, backward = leaf(2), Log(), Log()
    with forward.open():
        y = (x * x).sum()
    count = len(forward.packed)
    with backward.open():
        vt.autograd.grad(y, x, create_graph=True)
    assert len(forward.packed) == count
    assert backward.packed
    plain = Log()
    with plain.open():
        (x * x).sum().backward()
        count = len(plain.packed)
    assert count == 2


def test_backwards_far_inside_each_other_pack_with_the_block_around_them() -> None:
    x, log = leaf(1), Log(clone)
    y = x.exp()
    depth = 70

    def deeper(level: int) -> None:
        def hook(g: vt.Tensor) -> None:
            if level < depth:
                deeper(level + 1)

        with vt.enable_grad():
            z = y.detach().requires_grad_() * 1
            z.register_hook(hook)
            w = z.sum()
        before = len(log.packed)
        if level == depth:
            # Far from the thread that has opened the block, if each level takes stack.
            vt.autograd.grad(y, x, retain_graph=True, create_graph=True)
            assert len(log.packed) > before
        else:
            w.backward()

    with log.open():
        deeper(1)
    assert log.packed


@needs_global_lock
def test_blocks_are_per_thread() -> None:
    x, log = leaf(2), Log()

    def work() -> None:
        x.sin()

    with log.open():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert not log.packed


@pytest.mark.parametrize("pair", [(1, unchanged), (unchanged, None)])
def test_what_cannot_be_called_is_refused_when_the_block_is_entered(
    pair: tuple[Any, Any],
) -> None:
    block = hooks(*pair)
    x, log = leaf(2), Log()
    with log.open():
        with pytest.raises(TypeError):
            block.__enter__()
        x.sin()
    assert len(log.packed) == 1


def test_one_block_can_be_entered_again_and_in_itself() -> None:
    x, log = leaf(2), Log()
    block = log.open()
    with block:
        with block:
            x.sin()
        x.sin()
    x.sin()
    with block:
        x.sin()
    assert len(log.packed) == 3


def test_hooks_decorate_nothing() -> None:
    block: Any = Log().open()
    assert not callable(block)


def test_an_error_of_pack_leaves_the_operator_and_the_block() -> None:
    x, outer = leaf(2), Log()

    def pack(tensor: vt.Tensor) -> vt.Tensor:
        raise LookupError("full")

    with outer.open():
        with pytest.raises(LookupError, match="full"), hooks(pack, unchanged):
            x.sin()
        x.sin()
    assert len(outer.packed) == 1


def test_an_error_of_unpack_leaves_backward_which_can_be_repeated() -> None:
    x, tries = leaf(2), []

    def unpack(packed: vt.Tensor) -> vt.Tensor:
        tries.append(packed)
        if len(tries) == 1:
            raise LookupError("not yet")
        return packed

    with hooks(unchanged, unpack):
        y = x.sin()
    with pytest.raises(LookupError, match="not yet"):
        y.backward(ramp(2))
    assert x.grad is None
    y.backward(ramp(2))
    assert x.grad is not None


@pytest.mark.parametrize("wrong", [None, 2.0, "text"])
def test_what_is_unpacked_must_be_a_tensor(wrong: Any) -> None:
    x = leaf(2)
    with hooks(unchanged, lambda packed: wrong):
        y = x.sin().sum()
    with pytest.raises(TypeError):
        y.backward()


@differs_from_torch("there a tensor of another shape or dtype gives another gradient")
@pytest.mark.parametrize("create_graph", [False, True])
def test_what_is_unpacked_must_have_the_shape_and_dtype(create_graph: bool) -> None:
    x = leaf(2)
    found: vt.Tensor

    def unpack(packed: vt.Tensor) -> vt.Tensor:
        return found

    for wrong in (ramp(1), ramp(2, 1), vt.ones(2, dtype=vt.float32)):
        found = wrong
        with hooks(unchanged, unpack):
            y = x.sin().sum()
        with refused(RuntimeError, "saved-hook", [x]):
            vt.autograd.grad(y, x, create_graph=create_graph)


def test_what_is_unpacked_may_be_written() -> None:
    x = leaf(2)
    with hooks(clone, lambda packed: packed.mul_(2)):
        y = x.square().sum()
    assert gradients(y, x) == [[4, 8]]
    assert x.tolist() == [1, 2]
