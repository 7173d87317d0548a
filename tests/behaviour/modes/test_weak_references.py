"""Weak references to what programs keep in tables: modes, blocks, handles, generators."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from tests.support import differs_from_torch, leaf, vt

graph: Any = vt.autograd.graph
fw: Any = vt.autograd.forward_ad


def multi_grad_handle() -> Any:
    return graph.register_multi_grad_hook((leaf(2),), print)


def linearized() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, about its tracer
        return vt.func.linearize(lambda x: x * 2, leaf(2).detach())[1]


MADE: dict[str, Callable[[], Any]] = {
    "no_grad": vt.no_grad,
    "enable_grad": vt.enable_grad,
    "inference_mode": vt.inference_mode,
    "set_grad_enabled": lambda: vt.set_grad_enabled(True),
    "set_detect_anomaly": lambda: vt.autograd.set_detect_anomaly(False),
    "set_multithreading_enabled": lambda: vt.autograd.set_multithreading_enabled(True),
    "saved_tensors_hooks": lambda: graph.saved_tensors_hooks(id, id),
    "save_on_cpu": lambda: graph.save_on_cpu(),
    "disable_saved_tensors_hooks": lambda: graph.disable_saved_tensors_hooks("no"),
    "allow_mutation_on_saved_tensors": lambda: graph.allow_mutation_on_saved_tensors(),
    "register_multi_grad_hook": multi_grad_handle,
    "dual_level": lambda: fw.dual_level(),
    "set_checkpoint_early_stop": lambda: vt.utils.checkpoint.set_checkpoint_early_stop(True),
    "Generator": vt.Generator,
    "hook of a tensor": lambda: leaf(2).register_hook(print),
    "hook of a node": lambda: (leaf(2) * 2).grad_fn.register_hook(print),  # type: ignore[union-attr]  # it has one
    "hook of a leaf": lambda: leaf(2).register_post_accumulate_grad_hook(print),
    "profile": lambda: vt.autograd.profiler.profile(),
    "record_function": lambda: vt.autograd.profiler.record_function("part"),
    "tensor": lambda: leaf(2),
    "saved value": lambda: (leaf(2) ** 2).grad_fn._raw_saved_self,  # type: ignore[union-attr]  # it has one
    "vjp": lambda: vt.func.vjp(lambda x: x * 2, leaf(2))[1],
    "linearize": linearized,
}


@pytest.mark.parametrize("name", MADE)
def test_a_weak_reference_ends_with_its_object(name: str) -> None:
    made = MADE[name]()
    reference = weakref.ref(made)
    assert reference() is made
    del made
    gc.collect()
    assert reference() is None


def test_weak_tables_find_what_they_were_given() -> None:
    generator, mode = vt.Generator(), vt.no_grad()
    seen: weakref.WeakKeyDictionary[object, str] = weakref.WeakKeyDictionary()
    seen[generator], seen[mode] = "generator", "mode"
    assert seen[generator] == "generator"
    assert seen[mode] == "mode"
    del generator, mode
    gc.collect()
    assert len(seen) == 0


@differs_from_torch("a storage lives as long as its memory there")
def test_storages_have_no_weak_references() -> None:
    x = leaf(2)
    for storage in (x.storage(), x.untyped_storage()):
        with pytest.raises(TypeError, match="weak reference"):
            weakref.ref(storage)


def test_a_block_may_be_held_weakly_while_it_is_open() -> None:
    x = leaf(2)
    block = vt.no_grad()
    reference = weakref.ref(block)
    with block:
        del block
        assert not (x * 2).requires_grad
        assert reference() is not None
    assert (x * 2).requires_grad
