"""The tables of operators while a profile is open, and after it: Note [Observed operators].

What breaks them: an interrupt between two of their entries, a thread or a child process that has
another state than the one that profiles, a program that has replaced an entry itself.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from tests.project.tree import PACKAGE
from tests.support import needs_global_lock
from vtgrad.graph.observer import observers
from vtgrad.ops.generated import functional
from vtgrad.profiler import tables
from vtgrad.tensor.tensor import Tensor

profile = vt.autograd.profiler.profile

# Seconds after which another thread is taken to hang.
LONG = 60


def entries() -> list[object]:
    """What a profile replaces."""
    modules = (vt, functional)
    return [Tensor.__bases__, *[value for module in modules for value in vars(module).values()]]


def ended(thread: threading.Thread) -> None:
    """Wait for the end of a thread; a test that waits for ever would not be named."""
    thread.join(LONG)
    assert not thread.is_alive()


def names(p: vt.autograd.profiler.profile) -> list[str]:
    return [event.name for event in p.function_events]


def test_methods_are_wrapped_not_what_has_their_name() -> None:
    # In a profile, the method `conj` was the function of formulas, which is not lazy.
    with profile():
        observed = dict(vars(Tensor.__bases__[0]))
        assert vt.ones(1, dtype=vt.complex64).conj().is_conj()
    wrong = [
        name
        for name, member in observed.items()
        if hasattr(member, "__wrapped__") and name not in ("__getitem__",)
        if member.__wrapped__ is not getattr(Tensor, name)
    ]
    assert wrong == []


def test_the_tables_hold_wrappers_in_a_block_and_operators_after_it() -> None:
    before, sin = entries(), vt.sin

    def look() -> None:
        assert vt.sin is not sin
        assert vt.sin.__name__ == "sin"
        raise KeyError

    with pytest.raises(KeyError), profile():
        look()
    assert entries() == before
    assert vt.Tensor.sin(vt.zeros(1)).item() == 0


@needs_global_lock
def test_the_tables_hold_wrappers_until_the_last_thread_has_ended() -> None:
    before, sin = entries(), vt.sin
    inside, over = threading.Event(), threading.Event()

    def work() -> None:
        with profile():
            inside.set()
            over.wait(LONG)

    thread = threading.Thread(target=work)
    with profile():
        thread.start()
        assert inside.wait(LONG)
    assert vt.sin is not sin
    over.set()
    ended(thread)
    assert entries() == before


@NEEDS_TRACE
def test_an_interrupt_leaves_no_wrapper_and_no_observer(monkeypatch: pytest.MonkeyPatch) -> None:
    # The tables of all modules would take as many places as they have entries.
    small = ModuleType("small")
    small.__dict__.update(exp=vt.exp, sin=vt.sin, other=None)
    monkeypatch.setattr(tables, "_modules", lambda: [small])
    with profile():
        assert small.exp is not vt.exp
    before = [Tensor.__bases__, small.exp, small.sin]

    def prepare() -> Callable[[], object]:
        x = vt.ones(2, requires_grad=True)

        def call() -> None:
            with profile():
                x.exp()

        return call

    def check(over: bool) -> None:
        assert not observers
        assert [Tensor.__bases__, small.exp, small.sin] == before

    assert interrupted_everywhere(prepare, check) > 50


@NEEDS_TRACE
def test_an_interrupt_of_a_scheduled_profile_leaves_nothing_and_comes_out_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "_modules", list[ModuleType])
    with profile():
        pass
    before = Tensor.__bases__

    def prepare() -> Callable[[], object]:
        schedule = vt.profiler.schedule(wait=0, warmup=0, active=1, repeat=1)
        p = vt.profiler.profile(schedule=schedule)

        def block() -> None:
            with p:
                p.step()

        return block

    def check(over: bool) -> None:
        assert not observers
        assert Tensor.__bases__ == before

    assert interrupted_everywhere(prepare, check) > 50


def test_a_profile_whose_start_or_stop_is_interrupted_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(self: object, *_: object) -> None:
        raise KeyboardInterrupt

    def run(p: vt.profiler.profile) -> None:
        p.start()
        p.stop()

    for method in ("__enter__", "__exit__"):
        p = vt.profiler.profile(schedule=vt.profiler.schedule(wait=0, warmup=0, active=1))
        with monkeypatch.context() as patch:
            patch.setattr(vt.autograd.profiler.record_function, method, interrupted)
            with pytest.raises(KeyboardInterrupt):
                run(p)
        assert not observers


def test_no_step_begins_after_the_block() -> None:
    with vt.profiler.profile() as p:
        vt.ones(2)
    with pytest.raises(vt.errors.ProfilerError, match="within the block"):
        p.step()
    assert not observers
    p = vt.profiler.profile(on_trace_ready=vt.profiler.profile.step)
    with pytest.raises(vt.errors.ProfilerError, match="within the block"), p:
        vt.ones(2)
    assert not observers


def test_a_block_of_record_function_may_end_on_another_thread() -> None:
    record = vt.autograd.profiler.record_function("part")

    def parts() -> Iterator[int]:
        with record:
            yield 1

    with profile() as p:
        for generator in (parts(), parts()):
            next(generator)
            errors: list[BaseException] = []

            def work(generator: Iterator[int], errors: list[BaseException]) -> None:
                try:
                    list(generator)
                except BaseException as error:
                    errors.append(error)

            thread = threading.Thread(target=work, args=(generator, errors))
            thread.start()
            ended(thread)
            assert not errors
    assert names(p) == ["part", "part"]
    with pytest.raises(vt.errors.ProfilerError, match="no block"):
        record.__exit__()


def test_no_operator_looks_whether_it_is_observed() -> None:
    # `x[i, j:k]` is several operators, which are called one by one only if they are observed.
    looking = {PACKAGE / "ops/composites/indexing/getitem.py"}
    for folder in ("ops", "storage", "tensor"):
        for path in (PACKAGE / folder).rglob("*.py"):
            assert ("observer" in path.read_text("utf-8")) == (path in looking), path


def test_an_operator_that_a_program_has_replaced_stays_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def own_sin(x: vt.Tensor) -> vt.Tensor:
        return x.sin()

    monkeypatch.setattr(vt, "sin", own_sin)
    with profile() as p:
        vt.sin(vt.ones(2))
    assert vt.sin is own_sin
    assert "aten::sin" in names(p)


def test_subclasses_of_tensors_are_observed() -> None:
    class Own(vt.Tensor):
        """A tensor of a program's own class."""

    x = vt.ones(2)
    own = Own._wrap(x._impl)
    with profile() as p:
        own += 1
        y = own.exp() + own
    assert type(y) is Own
    assert names(p) == ["aten::add_", "aten::exp", "aten::add"]


def test_other_operands_of_python_have_their_turn() -> None:
    class Odd:
        """Knows how to be added."""

        def __radd__(self, other: object) -> str:
            return "odd"

    x = vt.ones(2)
    with profile() as p:
        assert x + Odd() == "odd"
        assert x != "x"
    # A native operator calls that of the other operand itself, within its own event.
    assert vt.__compiled__ or "aten::add" not in names(p)


def test_events_hold_no_tensors() -> None:
    with profile(record_shapes=True, profile_memory=True, with_stack=True):
        x = vt.ones(2)
        y = x.exp()
        gone = weakref.ref(x), weakref.ref(y)
        del x, y
        assert [ref() for ref in gone] == [None, None]


def test_results_and_gradients_do_not_change() -> None:
    def program() -> list[object]:
        x = vt.tensor([0.5, 1.5, 2.5], dtype=vt.float64, requires_grad=True)
        b = x.clone()
        b[1:] *= x[:2]
        b[0] = b[1:].sum()
        b.T.mean().backward() if b.ndim == 2 else b.sin().sum().backward()
        assert x.grad is not None
        return [b.tolist(), x.grad.tolist(), b.writes()[-1].operator, b._version]

    plain = program()
    with profile(record_shapes=True, profile_memory=True, with_stack=True):
        observed = program()
    assert observed == plain


def test_the_lines_of_writes_are_those_of_the_program() -> None:
    x = vt.zeros(2)
    with profile():
        x += 1
        x[0] = 1
        x.mul_(2)
    assert [write.filename for write in x.writes()] == [__file__] * 3


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this platform")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_child_of_a_fork_has_no_profile_of_another_thread() -> None:
    sin = vt.sin
    inside, over = threading.Event(), threading.Event()

    def work() -> None:
        with profile():
            inside.set()
            over.wait(LONG)

    thread = threading.Thread(target=work)
    thread.start()
    assert inside.wait(LONG)
    child = os.fork()
    if child == 0:
        os._exit(0 if vt.sin is sin and not observers else 1)
    over.set()
    ended(thread)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
