"""An error anywhere inside a kernel, a writer, a view or a formula leaves everything as it was.

But for what a write has marked as written. What breaks it: a version that moves after the store; a
producer or a geometry that is stored too early, or for a value that is not there; a pass that has
filled a ``.grad`` before it was over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

import vtgrad as vt
from tests.hostile.breaking import Breaker, InjectedError, Stack, Watcher, broken_off
from tests.hostile.state import Snapshot
from tests.ops.calls import Case, arguments_of, cases, function_named, results_of, tensors_in
from tests.ops.samples import DRAWN
from tests.sweeping import sweep
from vtgrad.errors import ResultTypeError, SelfOverlapError, VtgradError
from vtgrad.ops.generated import functional

pytestmark = [
    pytest.mark.skipif(vt.__compiled__, reason="compiled code does not say which line it is at"),
    pytest.mark.slow,
]

ERRORS = (InjectedError, KeyboardInterrupt)

#: Prepares one call, with tensors of its own, and says which tensors it must leave alone.
Prepared = tuple[Callable[[], object], Sequence[vt.Tensor]]


#: A call with more places than this repeats itself: it is broken off at so many of the first, of
#: the last, and of those between.
PLACES = 40


class Tried:
    """From where the samples of one operator have come to the places where they were broken off.

    What another sample does at the same lines, called from the same lines, is the same.

    Attributes
    ----------
    reached : bool
        Whether one of the places was met again, where the call was broken off.
    """

    def __init__(self) -> None:
        self._last: Case | None = None
        self._stacks: set[Stack] = set()
        self.reached = False

    def places(self, case: Case, prepare: Callable[[], Prepared]) -> Sequence[int]:
        """Where to break a call off; of a loop, the first and the last time that it goes round."""
        last, self._last = self._last, case
        if last is None or last.operator is not case.operator or last.nr >= case.nr:
            self._stacks.clear()
            self.reached = False
        call, _ = prepare()
        with Watcher() as watcher:
            call()
        stacks = list(enumerate(watcher.stacks, 1))
        first = {stack: at for at, stack in reversed(stacks) if stack not in self._stacks}
        final = {stack: at for at, stack in stacks if stack not in self._stacks}
        self._stacks.update(first)
        every = sorted({*first.values(), *final.values()})
        if len(every) <= 3 * PLACES:
            return every
        between = every[PLACES:-PLACES]
        return [*every[:PLACES], *between[:: len(between) // PLACES], *every[-PLACES:]]


def assert_nothing_changes(
    case: Case, prepare: Callable[[], Prepared], tried: Tried, *, writes: bool = False
) -> None:
    """Break the call off at one place after another.

    Parameters
    ----------
    writes : bool
        Whether the call writes: then what it breaks off while it stores is marked as written.
    """
    places = tried.places(case, prepare)
    for error in ERRORS:
        for at in places:
            call, tensors = prepare()
            before = Snapshot(*tensors)
            # What the watched call has put into caches, later ones find: they have fewer places.
            if broken_off(call, at, error):
                tried.reached = True
                if writes:
                    before.assert_nothing_unseen()
                else:
                    before.assert_unchanged()
            else:
                assert tried.reached


#: Of each test; of writes that are not recorded, and of those that are.
CALLED, RECORDED, OUT, PASSED = Tried(), Tried(), Tried(), Tried()
WRITTEN = Tried(), Tried()


def _bases(tensors: Sequence[vt.Tensor]) -> list[vt.Tensor]:
    return [x._base for x in tensors if x._base is not None]


def _recorded(case: Case) -> tuple[list[object], dict[str, object], list[vt.Tensor]]:
    """Arguments that have history: copies of leaves."""
    values, options = arguments_of(case)
    leaves: list[vt.Tensor] = []

    def with_history(value: object) -> object:
        if isinstance(value, list):
            return [with_history(part) for part in value]
        if isinstance(value, vt.Tensor) and (value.is_floating_point() or value.is_complex()):
            leaves.append(value.requires_grad_())
            return value.clone()
        return value

    return (
        [with_history(value) for value in values],
        {name: with_history(value) for name, value in options.items()},
        leaves,
    )


@sweep(cases())
def test_a_call_without_history(case: Case) -> None:
    def prepare() -> Prepared:
        vt.manual_seed(5)
        values, options = arguments_of(case)
        call = function_named(case.operator.name)
        return lambda: call(*values, **options), tensors_in(values, options)

    assert_nothing_changes(case, prepare, CALLED)


@sweep(cases())
def test_a_call_that_is_recorded(case: Case) -> None:
    def prepare() -> Prepared:
        vt.manual_seed(5)
        values, options, leaves = _recorded(case)
        call = function_named(case.operator.name)
        return lambda: call(*values, **options), [*tensors_in(values, options), *leaves]

    assert_nothing_changes(case, prepare, RECORDED)


def _fits(case: Case) -> bool:
    """Whether the in-place operator can do it at all."""
    assert case.operator.inplace is not None
    values, options = arguments_of(case)
    try:
        function_named(case.operator.inplace)(*values, **options)
    except VtgradError:
        return False
    return True


@sweep(cases(lambda op: op.inplace is not None), [False, True])
def test_a_write(case: Case, recorded: bool) -> None:
    assert case.operator.inplace is not None
    call = function_named(case.operator.inplace)
    if not _fits(case):
        return

    def prepare() -> Prepared:
        vt.manual_seed(5)
        values, options = arguments_of(case)
        leaves: list[vt.Tensor] = []
        if recorded:
            values, options, leaves = _recorded(case)
        target = values[0]
        assert isinstance(target, vt.Tensor)
        # A view, so that a base could be changed.
        values[0] = target.view(target.shape)
        tensors = tensors_in(values, options)

        return lambda: call(*values, **options), [*tensors, *_bases(tensors), *leaves]

    assert_nothing_changes(case, prepare, WRITTEN[recorded], writes=True)


#: Whose outs are too small. Not all: memory that grows looks for tensors among all objects.
GROWING = ("add", "exp", "gather", "min_dim", "mm", "nonzero_rows", "sort_dim", "sum_dim_IntList")


@pytest.mark.filterwarnings("ignore:out= has shape")
@sweep(cases(lambda op: op.out))
def test_a_call_with_out(case: Case) -> None:
    call = function_named(case.operator.name)
    vt.manual_seed(5)
    plain, plain_options = arguments_of(case)
    models = results_of(call(*plain, **plain_options))

    def shape(y: vt.Tensor) -> tuple[int, ...]:
        if case.nr % 2 == 0:
            return y.shape
        return (0,) if case.operator.name in GROWING else (y.numel() + 1,)

    def prepare() -> Prepared:
        vt.manual_seed(5)
        values, options = arguments_of(case)
        outs = tuple(vt.zeros(shape(y), dtype=y.dtype) for y in models)
        out = outs[0] if len(outs) == 1 else outs
        return lambda: call(*values, **options, out=out), [*tensors_in(values, options), *outs]

    assert_nothing_changes(case, prepare, OUT, writes=True)


@sweep(cases(lambda op: bool(op.formulas)))
def test_a_pass(case: Case) -> None:
    if case.operator.name in DRAWN:
        return

    def prepare() -> Prepared:
        values, options, leaves = _recorded(case)
        results = results_of(function_named(case.operator.name)(*values, **options))
        rooted = [y for y in results if y.grad_fn is not None]
        tensors = [*tensors_in(values, options), *leaves, *results]

        def run() -> None:
            if rooted:
                vt.autograd.backward(rooted, [vt.ones_like(y) for y in rooted])

        return run, tensors

    assert_nothing_changes(case, prepare, PASSED)


def test_places_to_break_off_at_are_found() -> None:
    """The search itself: a product is broken off at several places, and a half write is seen."""
    x, y = vt.ones(2), vt.ones(2, dtype=vt.float64)
    with Breaker(0) as breaker:
        x.mul_(y)
    assert breaker.passed >= 3

    def half_written() -> None:
        x.zero_()
        raise InjectedError

    before = Snapshot(x)
    with pytest.raises(InjectedError):
        half_written()
    with pytest.raises(AssertionError):
        before.assert_unchanged()


def test_out_of_several_results_is_written_whole_or_not_at_all() -> None:
    """The second ``out`` has a wrong dtype: the first one must not have been written by then."""
    x = vt.tensor([3.0, 1.0, 2.0])
    values, wrong = vt.zeros(3), vt.zeros(3)
    before = Snapshot(x, values, wrong)
    with pytest.raises(ResultTypeError):
        functional.sort_dim(x, 0, False, out=(values, wrong))
    before.assert_unchanged()
    overlapping = vt.zeros(1, dtype=vt.int64).expand(3)
    before = Snapshot(x, values, overlapping)
    with pytest.raises(SelfOverlapError):
        functional.sort_dim(x, 0, False, out=(values, overlapping))
    before.assert_unchanged()
