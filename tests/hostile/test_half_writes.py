"""A write that is broken off anywhere, in the funnel too, leaves nothing wrong behind.

What breaks it: elements that are marked, or a version that moves, after the store; a producer that
stays when the value has changed, or changes when the value stays.
"""

from __future__ import annotations

import signal
import sys
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache, partial
from operator import call

import numpy as np
import pytest

import vtgrad as vt
from tests.hostile.breaking import broken_off
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from vtgrad.autograd import Function
from vtgrad.autograd.function import FunctionCtx
from vtgrad.autograd.graph import allow_mutation_on_saved_tensors
from vtgrad.errors import InterruptedWriteError, StaleSavedError
from vtgrad.storage.arrays import Array
from vtgrad.storage.prepared_store import Store
from vtgrad.storage.rewind import saves_observed
from vtgrad.views.write import write

#: One program: makes tensors with history, and a write to some of them.
Made = tuple[tuple[vt.Tensor, ...], Callable[[], object]]

#: Of one tensor: shape, strides and elements; version; gradients, None if they are refused.
Seen = tuple[tuple[object, ...], int, list[object] | None]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:out= has shape:UserWarning"),
]


def _tensors() -> tuple[vt.Tensor, vt.Tensor, vt.Tensor]:
    """A leaf, a result and a sister view of whatever is written."""
    leaf = vt.arange(6.0).reshape(2, 3).clone().requires_grad_()
    x = leaf * 2
    return leaf, x, x[:, 1]


def _add() -> Made:
    leaf, x, sister = _tensors()
    return (leaf, x, sister), lambda: x.add_(1)


def _add_without_history() -> Made:
    x = vt.ones(2, 3)
    return (x, x[0]), lambda: x.add_(1)


def _view() -> Made:
    leaf, x, sister = _tensors()
    view = x[0]
    return (leaf, x, sister, view), lambda: view.mul_(2)


def _view_of_a_plain_tensor() -> Made:
    leaf, _, _ = _tensors()
    x = vt.ones(2, 3)
    view = x[0]
    return (leaf, x, view), lambda: view.mul_(leaf[1])


def _result_is_saved() -> Made:
    leaf, x, sister = _tensors()
    return (leaf, x, sister), lambda: x[1].exp_()


def _assignment() -> Made:
    leaf, x, sister = _tensors()
    y = leaf[0] * 3
    return (leaf, x, sister, y), lambda: x.__setitem__(1, y)


def _assignment_of_a_number() -> Made:
    x = vt.ones(2, 3)
    return (x, x[0]), lambda: x.__setitem__(1, 2.0)


def _retained() -> Made:
    leaf, x, sister = _tensors()
    x.retain_grad()
    return (leaf, x, sister), lambda: x.mul_(3)


def _retained_view() -> Made:
    leaf, x, sister = _tensors()
    sister.retain_grad()
    x[0, 0] = 5.0
    return (leaf, x, sister), lambda: sister.mul_(3)


def _complex_view() -> Made:
    leaf, x, _ = _tensors()
    z = x * (1 + 2j)
    view = z.real
    return (leaf, z, view), lambda: view.mul_(3)


def _former_leaf() -> Made:
    x = vt.ones(2, 3, requires_grad=True)
    kept = x * 2
    x.requires_grad_(False)
    leaf = vt.full((2, 3), 3.0, requires_grad=True)
    return (kept, x, leaf), lambda: x.mul_(leaf)


def _transposed() -> Made:
    leaf, x, sister = _tensors()
    x.retain_grad()
    return (leaf, x, sister), lambda: x.t_()


def _transposed_leaf() -> Made:
    vt.set_grad_enabled(True)
    leaf = vt.ones(2, 3, requires_grad=True)
    kept = leaf * 2
    # Not by `with`, whose end can be broken off too.
    vt.set_grad_enabled(False)
    return (leaf, kept), lambda: leaf.t_()


@pytest.fixture(autouse=True)
def recording() -> Iterator[None]:
    """Grad mode is on again after each test."""
    yield
    vt.set_grad_enabled(True)


def _resized() -> Made:
    x = vt.ones(2, 3)
    return (x, x[0]), lambda: x.resize_(2, 1)


def _set() -> Made:
    _, x, _ = _tensors()
    y = vt.ones(4) * 3
    return (x, y), lambda: x.set_(y)


def _out() -> Made:
    x, out = vt.ones(2, 3), vt.zeros(2, 3)
    return (x, out), lambda: vt.add(x, 1.0, out=out)


def _out_of_another_shape() -> Made:
    x, out = vt.ones(2, 2), vt.zeros(2, 3)
    return (x, out, out[0]), lambda: vt.add(x, 1.0, out=out)


def _leaf_as_out() -> Made:
    vt.set_grad_enabled(True)
    leaf = vt.ones(2, 3, requires_grad=True)
    kept = leaf * 2
    vt.set_grad_enabled(False)
    x = vt.ones(3, 2)
    return (leaf, kept, x), lambda: vt.add(x, 1.0, out=leaf)


def _leaf_among_outs() -> Made:
    (leaf, kept, x), _ = _leaf_as_out()
    indices = vt.zeros(3, 2, dtype=vt.int64)
    return (leaf, kept, x, indices), lambda: vt.sort(x, 0, out=(leaf, indices))


def _out_that_grows() -> Made:
    x, out = vt.ones(3, 3), vt.zeros(4)
    return (x, out, out[1:]), lambda: vt.add(x, 1.0, out=out)


def _outs_that_grow() -> Made:
    x, values, indices = vt.ones(3, 3), vt.zeros(4), vt.zeros(0, dtype=vt.int64)
    return (x, values, values[1:], indices), lambda: vt.sort(x, 0, out=(values, indices))


def _resized_to_more() -> Made:
    x = vt.ones(2, 3)
    return (x, x[0], x.t()), lambda: x.resize_(5, 5)


def _set_to_more() -> Made:
    x, y = vt.ones(2), vt.ones(3)
    return (x, y, y[1:]), lambda: x.set_(y, 1, (4, 4))


def _saved_before(write: Callable[[vt.Tensor], object], *, rewinds: bool = False) -> Made:
    """A write to part of what a square has saved, the first of it or one of many."""
    leaf = vt.arange(1.0, 7.0).reshape(2, 3).clone().requires_grad_()
    with allow_mutation_on_saved_tensors() if rewinds else nullcontext():
        x = leaf * 2
        first, second = x[0] * x[0], x[1] * x[1]

    def do() -> None:
        with allow_mutation_on_saved_tensors() if rewinds else nullcontext():
            write(x)

    return (leaf, x, first, second), do


def _saved() -> Made:
    return _saved_before(lambda x: x[0].mul_(3))


def _saved_and_assigned() -> Made:
    return _saved_before(lambda x: x.__setitem__((1, 2), 5.0))


def _saved_and_scattered() -> Made:
    return _saved_before(lambda x: x.index_fill_(1, vt.tensor([1]), 0.5))


def _rewound() -> Made:
    return _saved_before(lambda x: x[0].mul_(3), rewinds=True)


def _rewound_index() -> Made:
    return _saved_before(lambda x: x.__setitem__(vt.tensor([1, 1]), 0.5), rewinds=True)


def _announced() -> Made:
    x = vt.ones(2, 3)
    return (x, x[0]), lambda: vt.autograd.graph.increment_version(x)


PROGRAMS = [
    _add,
    _add_without_history,
    _announced,
    _assignment,
    _assignment_of_a_number,
    _complex_view,
    _former_leaf,
    _leaf_among_outs,
    _leaf_as_out,
    _out,
    _out_of_another_shape,
    _resized,
    _result_is_saved,
    _retained,
    _retained_view,
    _rewound,
    _rewound_index,
    _saved,
    _saved_and_assigned,
    _saved_and_scattered,
    _set,
    _transposed,
    _transposed_leaf,
    _view,
    _view_of_a_plain_tensor,
    # Each growth looks for tensors among all objects that there are.
    pytest.param(_out_that_grows, marks=pytest.mark.slow),
    pytest.param(_outs_that_grow, marks=pytest.mark.slow),
    pytest.param(_resized_to_more, marks=pytest.mark.slow),
    pytest.param(_set_to_more, marks=pytest.mark.slow),
]


#: All that takes part in a write. Grad modes are not among it: what breaks their ends off lets
#: them go on.
FILES = (
    "graph/accumulate_grad.py",
    "graph/autograd_meta.py",
    "graph/set_history.py",
    "graph/hooks.py",
    "graph/node.py",
    "ops/",
    "storage/growth.py",
    "storage/mark_written.py",
    "storage/rewind.py",
    "storage/write_log.py",
    "storage/record_write.py",
    "views/",
)


def _values(x: vt.Tensor) -> tuple[object, ...]:
    with vt.no_grad():
        return tuple(x.shape), x.stride(), x.resolve_conj().tolist()


def _gradients(root: vt.Tensor, tensors: tuple[vt.Tensor, ...]) -> list[object] | None:
    """What a pass from one of the tensors puts into ``.grad``; None if it is refused."""
    for x in tensors:
        if x.is_leaf or x.retains_grad:
            x.grad = None
    try:
        vt.autograd.backward([root], [vt.ones_like(root)], retain_graph=True)
    except RuntimeError:
        return None
    grads = [x.grad if x.is_leaf or x.retains_grad else None for x in tensors]
    return [None if grad is None else grad.tolist() for grad in grads]


def _seen(tensors: tuple[vt.Tensor, ...]) -> list[Seen]:
    """Value, version and gradients of each tensor."""
    seen: list[Seen] = []
    values = [(_values(x), x._version) for x in tensors]
    for x, (value, version) in zip(tensors, values, strict=True):
        passed = _gradients(x, tensors) if x.requires_grad and not x.is_leaf else []
        seen.append((value, version, passed))
    return seen


@cache
def _without_and_with(
    make: Callable[[], Made],
) -> tuple[list[Seen], list[Seen]]:
    """What is seen of a program's tensors if it does not write, and if it does."""
    before, _ = make()
    after, do = make()
    do()
    return _seen(before), _seen(after)


def _assert_nothing_is_wrong(make: Callable[[], Made], tensors: tuple[vt.Tensor, ...]) -> None:
    """Values are those before or after the write, and so are gradients, or they are refused.

    New values have a new version, and where no version has moved the values are as before; a
    gradient may be refused by then, because the producer is taken away first.
    """
    before, after = _without_and_with(make)
    seen = _seen(tensors)
    if [version for _, version, _ in seen] == [version for _, version, _ in before]:
        assert [value for value, _, _ in seen] == [value for value, _, _ in before]
    for now, old, new in zip(seen, before, after, strict=True):
        value, version, passed = now
        assert value == old[0] or version != old[1]
        if value[:2] != old[0][:2]:
            # `out=` takes on another shape before its elements are stored.
            assert value[:2] == new[0][:2]
        else:
            assert value in (old[0], new[0])
        if passed is not None:
            same = [each[2] for each in (old, new) if each[0] == value]
            assert passed in (same or [each[2] for each in (old, new) if each[0][:2] == value[:2]])


def _set_limit(frames: int) -> None:
    """Leave so many frames, counted from the caller's."""
    for limit in range(1, 10_000):
        try:
            sys.setrecursionlimit(limit)
        except RecursionError:  # there are more in use
            continue
        sys.setrecursionlimit(limit + frames)
        return


def _runs_with(frames: int, do: Callable[[], object]) -> bool:
    """Whether the call succeeds with so many frames left on the stack."""
    before = sys.getrecursionlimit()
    try:
        _set_limit(frames)
        do()
    except RecursionError:
        return False
    finally:
        sys.setrecursionlimit(before)
    return True


@pytest.mark.parametrize("make", PROGRAMS)
def test_a_write_where_the_stack_ends(make: Callable[[], Made]) -> None:
    outcomes = []
    for frames in range(1, 30):
        tensors, do = make()
        outcomes.append(_runs_with(frames, do))
        if outcomes[-1]:
            assert _seen(tensors) == _without_and_with(make)[1]
        else:
            _assert_nothing_is_wrong(make, tensors)
    assert outcomes[-1]
    # In a build whose functions are not counted, all succeed.
    assert vt.__compiled__ or not outcomes[0]


@pytest.mark.skipif(vt.__compiled__, reason="compiled code does not say which line it is at")
@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
@pytest.mark.parametrize("make", PROGRAMS)
def test_a_write_that_is_broken_off(make: Callable[[], Made], error: type[BaseException]) -> None:
    at, broken = 1, True
    while broken:
        tensors, do = make()
        open_blocks = saves_observed.reasons
        broken = broken_off(do, at, error, FILES)
        # Some breaks come where a block counts itself, which neither signals nor NumPy do.
        saves_observed.reasons = open_blocks
        _assert_nothing_is_wrong(make, tensors)
        at += 1
    assert at > 3


@pytest.mark.slow
@NEEDS_TRACE
@pytest.mark.parametrize("make", PROGRAMS)
def test_a_write_that_a_signal_interrupts_anywhere(make: Callable[[], Made]) -> None:
    """Also between two calls of one line, and where the write has stored and is about to return."""
    made: list[tuple[vt.Tensor, ...]] = []

    def prepare() -> Callable[[], object]:
        tensors, do = make()
        made.append(tensors)
        return do

    def check(finished: bool) -> None:
        vt.set_grad_enabled(True)
        _assert_nothing_is_wrong(make, made.pop())

    _without_and_with(make)
    assert interrupted_everywhere(prepare, check) > 5


def _interrupted(write: Callable[[], object]) -> None:
    # A shell that starts the tests in the background may let them ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            write()
    finally:
        signal.signal(signal.SIGINT, before)


def _double_then_interrupt(array: Array) -> Store:
    """Stores and is interrupted in one call, as by Ctrl-C while it stores."""
    steps: tuple[Callable[[], object], ...] = (
        partial(np.multiply, array, 2, array),
        interrupt_main,
    )
    return tuple, (map(call, steps),), None


def _interrupt_then_double(array: Array) -> Store:
    def store() -> None:
        interrupt_main()
        np.multiply(array, 2, array)

    return store, (), None


@pytest.mark.parametrize("writer", [_double_then_interrupt, _interrupt_then_double])
@pytest.mark.parametrize("through_view", [False, True])
def test_a_value_whose_store_was_interrupted_has_no_gradient(
    through_view: bool, writer: Callable[[Array], Store]
) -> None:
    if vt.__compiled__ and writer is _double_then_interrupt:
        pytest.skip("compiled code is interrupted when the write is over")
    leaf = vt.ones(2, requires_grad=True)
    x = leaf * 3
    square = x * x
    target = x[:] if through_view else x
    node = vt.ones(2, requires_grad=True).mul(2).grad_fn
    assert node is not None
    _interrupted(lambda: write(target, lambda *_, inplace: node, writer, operator="mul_"))
    assert x._version == 1
    for root in (x, target, x * 2):
        with pytest.raises(InterruptedWriteError, match="was interrupted"):
            root.sum().backward()
    with pytest.raises(StaleSavedError, match="was overwritten"):
        square.sum().backward()
    assert leaf.grad is None
    # A new value is like any other.
    with vt.no_grad():
        x.copy_(vt.ones(2))
    y = x.detach() * leaf
    y.sum().backward()
    assert leaf.grad is not None


def test_an_interrupted_store_beside_what_was_saved_refuses_nothing() -> None:
    leaf = vt.ones(4, requires_grad=True)
    x = leaf * 3
    square = x[:2] * x[:2]
    with vt.no_grad():
        _interrupted(lambda: write(x[2:], None, _double_then_interrupt, operator="mul_"))
    square.sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [18.0, 18.0, 0.0, 0.0]


@pytest.mark.skipif(vt.__compiled__, reason="compiled code does not say which line it is at")
def test_memory_that_had_grown_is_shared_as_before() -> None:
    out = vt.zeros(4)
    view = out[1:]
    # It has grown when the record of the write is made.
    assert broken_off(
        lambda: vt.add(vt.ones(3, 3), 1.0, out=out),
        1,
        KeyboardInterrupt,
        ("storage/record_write.py",),
    )
    assert out.tolist() == [0.0] * 4
    out[1] = 5.0
    assert view.tolist() == [5.0, 0.0, 0.0]


class _FailsHalfWritten(Function):
    """Writes what it has declared by means that no version sees, and fails."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(x)
        x.detach().numpy()[0] = 100
        raise ValueError("half")

    @staticmethod
    def backward(ctx: FunctionCtx, grad: vt.Tensor) -> vt.Tensor:
        return grad


def test_a_declared_write_through_numpy_that_breaks_off_leaves_no_gradient() -> None:
    x = vt.ones(2, requires_grad=True) * 2
    with pytest.raises(ValueError, match="half"):
        _FailsHalfWritten.apply(x)
    assert x.tolist() == [100, 2]
    with pytest.raises(InterruptedWriteError):
        (x * x).sum().backward()
