"""Without the interpreter's global lock one thread uses the library, and a second one is refused.

What breaks it: an operator that writes or records without asking for the state of its thread; a
thread of the library's own that is refused.
"""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from tests.support import HAS_GLOBAL_LOCK
from vtgrad.engine.helper_thread import run_on_helper_thread
from vtgrad.errors import NotSupportedError
from vtgrad.graph.set_history import own_meta
from vtgrad.storage import thread_state
from vtgrad.storage.tensor_impl import TensorImpl


def _switch_a_mode(_: vt.Tensor) -> None:
    with vt.no_grad():
        pass


INDEX = vt.tensor([0])
OTHER = vt.zeros(3)
USES: dict[str, Callable[[vt.Tensor], object]] = {
    "a recorded operator": lambda x: x * 2,
    "a view": lambda x: x[0],
    "backward": lambda x: x.sum().backward(),
    "a write": lambda x: x.detach().mul_(2),
    "out=": lambda x: vt.add(x.detach(), 1, out=vt.empty(3)),
    "a mode": _switch_a_mode,
}
#: These do not ask for the state of the thread.
QUICK_USES: dict[str, Callable[[vt.Tensor], object]] = {
    "a write of a part": lambda x: x.detach().__setitem__(0, 3.0),
    "a write at an index": lambda x: x.detach().__setitem__(INDEX, 3.0),
    "a declared write": lambda x: vt.autograd.graph.increment_version(x.detach()),
    "another geometry": lambda x: x.detach().unsqueeze_(0),
    "other memory": lambda x: setattr(x, "data", OTHER),
    "a larger buffer": lambda x: x.untyped_storage().resize_(64),
    "a leaf of its own": lambda x: x.detach_(),
    "first metadata": lambda _: own_meta(vt.from_numpy(np.ones(3))),
}
ALL_USES = USES | QUICK_USES if thread_state.FREE_THREADED else USES


@pytest.fixture
def no_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_state, "_has_global_lock", lambda: False)


def on_another_thread(use: Callable[[vt.Tensor], object], x: vt.Tensor) -> BaseException | None:
    errors: list[BaseException] = []

    def work() -> None:
        try:
            use(x)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return errors[0] if errors else None


@pytest.mark.parametrize("name", ALL_USES)
@pytest.mark.usefixtures("no_lock")
def test_a_second_thread_is_refused_before_it_changes_anything(name: str) -> None:
    x = vt.ones(3, requires_grad=True)
    nbytes = x.untyped_storage().nbytes()
    error = on_another_thread(ALL_USES[name], x)
    assert isinstance(error, NotSupportedError), error
    assert "set PYTHON_GIL=1" in str(error)
    assert (x.tolist(), x._version, x.grad) == ([1, 1, 1], 0, None)
    assert x.requires_grad
    assert x.untyped_storage().nbytes() == nbytes


@pytest.mark.usefixtures("no_lock")
def test_a_second_thread_pickles() -> None:
    # As those of a pool of processes do.
    x = vt.ones(2, 3)
    part = x[1]
    assert on_another_thread(lambda _: pickle.loads(pickle.dumps(part)), x) is None
    assert on_another_thread(lambda x: pickle.loads(pickle.dumps(x)), x) is None
    assert x.untyped_storage().data_ptr() == x.data_ptr()


@pytest.mark.skipif(HAS_GLOBAL_LOCK, reason="threads take turns, one for each tensor")
@pytest.mark.parametrize("own", [TensorImpl.own_counter, TensorImpl.own_storage])
def test_what_a_tensor_has_once_is_made_once(own: Callable[[TensorImpl], object]) -> None:
    impls = [vt.ones(1)._impl for _ in range(500)]
    found: list[list[object]] = [[], []]

    def make(own_nr: int) -> None:
        mine, others = found[own_nr], found[1 - own_nr]
        for nr, impl in enumerate(impls):
            while len(others) < nr:
                continue
            mine.append(own(impl))

    threads = [threading.Thread(target=make, args=(nr,)) for nr in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one is other for one, other in zip(*found, strict=True))


@pytest.mark.parametrize("name", USES | QUICK_USES)
def test_with_the_lock_no_thread_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_state, "_has_global_lock", lambda: True)
    uses = USES | QUICK_USES
    assert on_another_thread(uses[name], vt.ones(3, requires_grad=True)) is None


@pytest.mark.usefixtures("no_lock")
def test_threads_of_lanes_are_not_refused() -> None:
    x = vt.ones(3, requires_grad=True)
    halves = [(x.to(f"lane:{nr}") * (nr + 2)).cpu() for nr in range(2)]
    (halves[0] + halves[1]).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [5, 5, 5]
    assert len(thread_state._admitted) == 1


@pytest.mark.usefixtures("no_lock")
def test_the_thread_of_a_deep_backward_is_not_refused() -> None:
    x = vt.ones(3, requires_grad=True)
    run_on_helper_thread(lambda: (x * 2).sum().backward())
    assert x.grad is not None
    assert x.grad.tolist() == [2, 2, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.usefixtures("no_lock")
def test_the_only_thread_of_a_fork_is_not_refused() -> None:
    codes: list[int] = []

    def fork() -> None:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                x = vt.ones(3, requires_grad=True)
                (x * 2).sum().backward()
                code = 0
            finally:
                os._exit(code)
        codes.append(os.waitpid(child, 0)[1])

    thread = threading.Thread(target=fork)
    thread.start()
    thread.join()
    assert codes == [0]
