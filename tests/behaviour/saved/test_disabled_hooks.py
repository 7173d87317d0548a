"""`disable_saved_tensors_hooks`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from tests.behaviour.saved.packing import Log, hooks, saved, unchanged
from tests.support import differs_from_torch, gradients, leaf, needs_global_lock, ramp, refused, vt

graph = vt.autograd.graph
disabled = graph.disable_saved_tensors_hooks


@pytest.mark.parametrize("block", [lambda: hooks(unchanged, unchanged), graph.save_on_cpu])
def test_a_block_is_refused_with_the_message(
    block: Callable[[], AbstractContextManager[object]],
) -> None:
    with disabled("not here"), pytest.raises(RuntimeError) as caught, block():
        pass
    assert str(caught.value) == "not here"
    with block():
        pass


def test_the_innermost_message_counts() -> None:
    block = hooks(unchanged, unchanged)
    with disabled("outer"):
        with disabled("inner"), pytest.raises(RuntimeError, match=r"^inner$"):
            block.__enter__()
        with pytest.raises(RuntimeError, match=r"^outer$"):
            block.__enter__()


def test_it_is_refused_while_hooks_are_open() -> None:
    log = Log()
    with log.open():
        with pytest.raises(RuntimeError, match=r"^now$"), disabled("now"):
            pass
        leaf(2).sin()
    assert len(log.packed) == 1


def test_it_decorates_functions() -> None:
    @disabled("in the function")
    def work() -> None:
        with hooks(unchanged, unchanged):
            pass

    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"^in the function$"):
            work()
    with hooks(unchanged, unchanged):
        pass


def test_operators_and_hooks_of_one_value_go_on() -> None:
    x, log = leaf(2), Log(lambda t: t.detach().clone())
    with disabled("no blocks"):
        y = x.sin()
        saved(y, "_raw_saved_self").register_hooks(log.pack, log.unpack)
        assert gradients(y.sum(), x) == [ramp(2).cos().tolist()]
    assert len(log.packed) == len(log.unpacked) == 1


@needs_global_lock
def test_it_is_per_thread() -> None:
    errors: list[BaseException] = []

    def work() -> None:
        try:
            with hooks(unchanged, unchanged):
                pass
        except RuntimeError as error:
            errors.append(error)

    with disabled("only here"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert not errors


@differs_from_torch("there they are hooks, and here a switch of their own")
def test_rewind_is_no_hook() -> None:
    with disabled("no blocks"), graph.allow_mutation_on_saved_tensors():
        x = leaf(2)
        z = x.clone()
        y = z.sin().sum()
        z.mul_(2)
    assert gradients(y, x) == [ramp(2).cos().tolist()]


@differs_from_torch("there anything is taken as a message")
def test_the_message_is_a_string() -> None:
    with refused(TypeError, "argument-type"):
        disabled(3)  # type: ignore[arg-type]
