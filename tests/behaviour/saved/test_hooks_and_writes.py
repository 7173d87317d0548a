"""Saved values under hooks, and writes to the tensors that were saved."""

from __future__ import annotations

import ast
import gc
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from tests.behaviour.saved.packing import Log, hooks, saved, unchanged
from tests.functions import function
from tests.support import (
    ON_TORCH,
    collector_off,
    differs_from_torch,
    gradients,
    leaf,
    ramp,
    refused,
    vt,
)

graph = vt.autograd.graph

# name: (pack, unpack), where the packed object has the memory of the saved tensor
SHARING: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "itself": (unchanged, unchanged),
    "detached": (lambda t: t.detach(), unchanged),
    "view": (lambda t: t.view(-1), lambda p: p.view(2)),
    "tuple": (lambda t: (t.device, t), lambda p: p[1]),
    "dict": (lambda t: {"a": [t.detach()]}, lambda p: p["a"][0]),
    "numpy": (lambda t: t.detach().numpy(), lambda p: vt.from_numpy(p)),
    "closure": (lambda t: lambda: t, lambda p: p()),
    "default": (lambda t: lambda t=t: t, lambda p: p()),
    "later clone": (unchanged, lambda p: p.clone()),
}

_table: dict[int, Any] = {}


def _into_table(t: Any) -> int:
    _table[len(_table)] = t.detach()
    return len(_table) - 1


SHARING["table"] = (_into_table, lambda p: _table[p])
SHARING["table, later clone"] = (_into_table, lambda p: _table[p].clone())

_seen: list[Any] = []


_files: dict[str, str] = {}


def _into_file(t: Any) -> str:
    name = f"file {len(_files)}"
    # The text stands for the content of a file.
    _files[name] = repr(t.detach().tolist())
    return name


def _from_file(name: str) -> Any:
    return vt.tensor(ast.literal_eval(_files[name]), dtype=vt.float64)


def _noted(t: Any) -> Any:
    _seen.append(t)
    return t.detach().clone()


COPYING: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "clone": (lambda t: t.detach().clone(), unchanged),
    "list": (lambda t: t.tolist(), lambda p: vt.tensor(p, dtype=vt.float64)),
    "bytes": (
        lambda t: t.detach().numpy().tobytes(),
        lambda p: vt.from_numpy(np.frombuffer(p).copy()),
    ),
    "tuple": (lambda t: (t.shape, t.detach().clone()), lambda p: p[1]),
    "clone, seen": (_noted, unchanged),
    "file": (_into_file, _from_file),
    "numpy": (lambda t: t.detach().numpy().copy(), lambda p: vt.from_numpy(p)),
}

SAVES: dict[str, Callable[[vt.Tensor], tuple[vt.Tensor, vt.Tensor]]] = {
    "input": lambda z: (z.sin(), z),
    "result": lambda z: (lambda y: (y * 1, y))(z.exp()),
    "function": lambda z: (
        function(
            lambda ctx, t: (ctx.save_for_backward(t), t.sin())[1],
            lambda ctx, g: g * ctx.saved_tensors[0].cos(),
        )(z),
        z,
    ),
}


@differs_from_torch("there is no check of versions under hooks")
@pytest.mark.parametrize("how", SHARING)
@pytest.mark.parametrize("save", SAVES)
def test_what_shares_memory_is_refused_after_a_write(save: str, how: str) -> None:
    x = leaf(2)
    with hooks(*SHARING[how]):
        y, written = SAVES[save](x.clone())
    written.mul_(2)
    with refused(RuntimeError, "stale-saved", [x, written]):
        y.sum().backward()


@pytest.mark.parametrize("how", SHARING)
@pytest.mark.parametrize("save", SAVES)
def test_what_shares_memory_is_used_if_nothing_was_written(save: str, how: str) -> None:
    x = leaf(2)
    with hooks(*SHARING[how]):
        y, _ = SAVES[save](x.clone())
    expected, _ = SAVES[save](x.clone())
    assert gradients(y.sum(), x) == gradients(expected.sum(), x)


@pytest.mark.parametrize("how", COPYING)
@pytest.mark.parametrize("save", SAVES)
def test_what_is_a_copy_is_used_after_a_write(save: str, how: str) -> None:
    x = leaf(2)
    with hooks(*COPYING[how]):
        y, written = SAVES[save](x.clone())
    expected, _ = SAVES[save](x.clone())
    written.detach().mul_(2)
    assert gradients(y.sum(), x) == gradients(expected.sum(), x)


@differs_from_torch("there the hooks replace the protection")
@pytest.mark.parametrize("how", ["itself", "detached", "view", "later clone"])
@pytest.mark.parametrize("save", SAVES)
def test_rewind_restores_what_shares_memory(save: str, how: str) -> None:
    x = leaf(2)
    with graph.allow_mutation_on_saved_tensors():
        with hooks(*SHARING[how]):
            y, written = SAVES[save](x.clone())
        expected, _ = SAVES[save](x.clone())
        written.detach().mul_(2)
    assert gradients(y.sum(), x) == gradients(expected.sum(), x)


@differs_from_torch("there the hooks replace the protection")
@pytest.mark.parametrize("how", ["tuple", "numpy", "table", "closure"])
def test_rewind_refuses_where_it_cannot_restore_what_was_packed(how: str) -> None:
    x = leaf(2)
    with graph.allow_mutation_on_saved_tensors():
        z = x.clone()
        with hooks(*SHARING[how]):
            y = z.sin()
        z.mul_(2)
    with refused(RuntimeError, "stale-saved", [x]):
        y.sum().backward()


@differs_from_torch("there is no check of versions under hooks")
def test_a_write_beside_the_packed_elements_does_not_matter() -> None:
    x = leaf(3)
    z = x.clone()
    with hooks(lambda t: t.detach(), unchanged):
        y = z[1:].sin().sum()
    z[0] = 5.0
    assert gradients(y, x) == [(ramp(3).cos() * vt.tensor([0, 1, 1])).tolist()]


@differs_from_torch("there detaching is not noticed under hooks")
def test_what_is_packed_as_itself_is_refused_after_detach() -> None:
    x = leaf(2)
    z = x.clone()
    with hooks(unchanged, unchanged):
        y = z.sin().sum()
    z.detach_()
    with refused(RuntimeError, "saved-detached"):
        y.backward()


def test_a_copy_is_used_after_detach() -> None:
    x = leaf(2)
    z = x.clone()
    with hooks(lambda t: t.detach().clone(), unchanged):
        y = z.sin().sum()
    z.detach_()
    assert gradients(y, x) == [ramp(2).cos().tolist()]


@differs_from_torch("there the saved object changes unseen")
def test_an_unpacked_tensor_that_was_written_meanwhile_is_refused() -> None:
    x = leaf(2)
    kept: list[Any] = []

    def pack(t: vt.Tensor) -> Callable[[], Any]:
        kept.append(t.detach())
        return weakref.ref(kept[0])

    z = x.clone()
    with hooks(pack, lambda reference: reference()):
        y = z.sin().sum()
    z.mul_(2)
    with refused(RuntimeError, "stale-saved"):
        y.backward()


@pytest.mark.parametrize(
    "write",
    [
        lambda t: t.detach().mul_(2),
        lambda t: t.detach().view(-1).zero_(),
        lambda t: graph.increment_version(t),
    ],
)
def test_pack_must_not_write(write: Callable[[vt.Tensor], object]) -> None:
    x = leaf(2)
    z = x.clone()
    with hooks(lambda t: (write(t), t)[1], unchanged), refused(RuntimeError, "saved-hook"):
        z.sin()
    assert z._version == 1


def test_pack_may_write_to_what_it_makes() -> None:
    x = leaf(2)
    with hooks(lambda t: t.detach().clone().mul_(2), lambda p: p / 2):
        y = x.sin().sum()
    assert gradients(y, x) == [ramp(2).cos().tolist()]


@pytest.mark.parametrize(
    "write", [lambda z: z.sin_(), lambda z: z.exp_(), lambda z: z[:1].exp_(), lambda z: z.mul_(z)]
)
def test_a_write_whose_pack_raises_is_not_half_recorded(
    write: Callable[[vt.Tensor], vt.Tensor],
) -> None:
    def pack(t: vt.Tensor) -> vt.Tensor:
        raise LookupError("full")

    x = leaf(2)
    z = x.clone()
    with pytest.raises(LookupError, match="full"), hooks(pack, unchanged):
        write(z)
    # Either nothing was done, or all of it.
    expected = x.clone()
    if z._version:
        assert not ON_TORCH or z.tolist() != [1, 2]
        write(expected)
    assert z.tolist() == expected.tolist()
    if not ON_TORCH:
        assert gradients(z.sum(), x) == gradients(expected.sum(), x)


def test_a_result_packed_as_itself_makes_no_cycle() -> None:
    x = leaf(2)
    # PyTorch has a cycle there, which lasts until a freeing backward.
    with hooks(unchanged, unchanged):
        y = x.exp()
    gone = weakref.ref(y)
    with collector_off():
        del y
        assert (gone() is None) is not ON_TORCH


@differs_from_torch("the collector does not see the cycle")
@pytest.mark.parametrize("pack", [lambda t: (t,), lambda t: {"t": t}, lambda t: lambda: t])
def test_a_cycle_through_a_packed_result_is_collected(pack: Callable[[Any], Any]) -> None:
    with collector_off():
        x = leaf(2)
        with hooks(pack, lambda p: x):
            y = x.exp()
        gone = weakref.ref(y)
        del y
        gc.collect()
        assert gone() is None


@differs_from_torch("there what is saved is not checked")
def test_save_on_cpu_keeps_the_checks() -> None:
    x = leaf(2)
    z = x.clone()
    with graph.save_on_cpu():
        y = z.sin().sum()
    z.mul_(2)
    with refused(RuntimeError, "stale-saved"):
        y.backward()


def test_save_on_cpu_gives_the_gradients() -> None:
    x = leaf(2)
    with graph.save_on_cpu():
        y = (x.exp() * x).sum()
    assert isinstance(graph.save_on_cpu(), graph.saved_tensors_hooks)
    assert gradients(y, x) == gradients((x.exp() * x).sum(), x)


@differs_from_torch("memory is pinned for other devices")
def test_save_on_cpu_has_no_memory_to_pin() -> None:
    with refused(NotImplementedError, "not-supported"):
        graph.save_on_cpu(pin_memory=True)


def test_a_view_is_packed_as_a_view() -> None:
    x, log = leaf(4), Log(lambda t: t.detach().clone())
    z = x.clone()
    with log.open():
        v = z[1:3]
        y = v.sin().sum()
    assert log.packed[0] is v
    assert log.packed[0]._base is z
    z.mul_(0)
    assert gradients(y, x) == [(ramp(4).cos() * vt.tensor([0, 1, 1, 0])).tolist()]


def test_writes_through_views_pack_what_they_save() -> None:
    def program(x: vt.Tensor) -> vt.Tensor:
        b = x.clone()
        b[1:].exp_()
        b[:2].mul_(x[:2])
        b[0] = b[1] * b[2]
        return (b * b).sum()

    x = leaf(3)
    with hooks(lambda t: t.detach().clone(), unchanged):
        y = program(x)
    _, second, third = x.unbind()
    # What the writes above have made of each element.
    b1, b2 = second.exp() * second, third.exp()
    expected = (b1 * b2) ** 2 + b1**2 + b2**2
    assert gradients(y, x)[0] == pytest.approx(gradients(expected, x)[0])


@pytest.mark.parametrize("create_graph", [False, True])
def test_unpacking_a_write_through_a_view(create_graph: bool) -> None:
    modes: list[bool] = []

    def unpack(packed: vt.Tensor) -> vt.Tensor:
        modes.append(vt.is_grad_enabled())
        return packed

    x = leaf(3)
    b = x.clone()
    with hooks(lambda t: t.detach().clone(), unpack):
        b[1:].exp_()
    vt.autograd.grad(b.sum(), x, create_graph=create_graph)
    assert modes == [create_graph]


@pytest.mark.parametrize("keep", [False, True])
def test_audit_and_hooks_work_together(keep: bool) -> None:
    pack = unchanged if keep else lambda t: t.detach().clone()
    x = leaf(2)
    with nullcontext() if ON_TORCH else graph.set_audit(True):
        z = x.clone()
        with hooks(pack, unchanged):
            y = z.sin().sum()
        if not keep:
            z.detach().numpy()[0] = 7
        assert gradients(y, x) == [ramp(2).cos().tolist()]


def test_saved_values_of_dead_tensors_are_unpacked() -> None:
    x = leaf(2)
    with hooks(unchanged, unchanged):
        y = x.clone().exp().sin().sum()
    (g,) = vt.autograd.grad(y, x, create_graph=True)
    e = ramp(2).exp()
    assert g.tolist() == (e.cos() * e).tolist()
    expected = (e.cos() * e - e.sin() * e * e).tolist()
    assert gradients(g.sum(), x)[0] == pytest.approx(expected)


def test_an_unpacked_value_shares_the_versions_of_what_was_packed() -> None:
    x = leaf(2)
    with hooks(unchanged, unchanged):
        y = x.clone().sin()
    first, second = saved(y, "_saved_self"), saved(y, "_saved_self")
    assert first is not second
    assert first.tolist() == second.tolist() == [1, 2]
