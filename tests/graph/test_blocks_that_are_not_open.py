"""The end of a block that was never begun, or has ended, says so and switches nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Thread, get_ident

import pytest

import vtgrad as vt
from tests.support import needs_global_lock
from vtgrad.storage.rewind import saves_observed

graph = vt.autograd.graph

BLOCKS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "no_grad": vt.no_grad,
    "enable_grad": vt.enable_grad,
    "set_grad_enabled": lambda: vt.set_grad_enabled(True),
    "inference_mode": vt.inference_mode,
    "saved_tensors_hooks": lambda: graph.saved_tensors_hooks(lambda x: x, lambda x: x),
    "disable_saved_tensors_hooks": lambda: graph.disable_saved_tensors_hooks("no hooks"),
}


@pytest.mark.parametrize("was_open", [False, True])
@pytest.mark.parametrize("name", BLOCKS)
def test_leaving_a_block_that_is_not_open_is_an_error(name: str, was_open: bool) -> None:
    block = BLOCKS[name]()
    if was_open:
        with block:
            pass
    with pytest.raises(vt.errors.BlockNotOpenError, match="is open on this thread") as caught:
        block.__exit__(None, None, None)
    assert caught.value.facts == {"block": type(block).__name__}
    assert isinstance(caught.value, RuntimeError)
    assert vt.is_grad_enabled()
    assert not vt.is_inference_mode_enabled()
    with block:
        pass


@needs_global_lock
@pytest.mark.parametrize("name", [name for name in BLOCKS if name.endswith("hooks")])
def test_a_block_of_a_thread_that_has_ended_is_of_no_later_thread(name: str) -> None:
    # The system gives the number of the thread to the next one; so it does in the child of a fork.
    block, before = BLOCKS[name](), saves_observed.reasons
    refused: list[int] = []

    def enter() -> None:
        block.__enter__()

    def leave() -> None:
        try:
            block.__exit__(None, None, None)
        except vt.errors.BlockNotOpenError:
            refused.append(get_ident())

    try:
        for work in (enter, *[leave] * 20):
            thread = Thread(target=work)
            thread.start()
            thread.join()
        assert len(refused) == 20
    finally:
        saves_observed.reasons = before
