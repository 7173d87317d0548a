"""Interrupts programs at random, and judges what they left behind.

Note [The judge]

Whatever an interrupt has done, a program must be able to go on without a wrong number:

1. what was saved before gives the gradient of its elements at that time, or is refused;
2. every ``.grad`` is as before the step that was interrupted, or every one as after it (unless a
   custom Function's backward could see some that were filled), and the next pass adds just what it
   should;
3. all modes are what they were;
4. what is saved afterwards gives its gradient or is refused, a later write is noticed, and a
   version stands for one content;
5. what a handler saved in the midst gives the gradient of the elements that it saw, or is refused;
6. a gradient through the written tensor is that of the tensor's present values, be they those
   before the step or those after it, or it is refused.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from random import Random
from threading import get_ident
from types import FrameType
from typing import Final, TypeAlias

import numpy as np

import vtgrad as vt
from tests.hostile.attacked_programs import KINDS, STEPS, Step, Tensors
from tests.hostile.random_signals import INTERRUPTS, RAISING, Place, Shot, measured
from vtgrad.autograd.graph import (
    allow_mutation_on_saved_tensors,
    saved_tensors_hooks,
    set_overwrite_check,
)
from vtgrad.errors import VtgradError
from vtgrad.graph.audit import audit
from vtgrad.graph.overwrite_rule import overwrite_rule
from vtgrad.graph.packing import HookPair, packing
from vtgrad.graph.thread_local_state import this_thread as graph_thread
from vtgrad.storage import rewind
from vtgrad.storage.arrays import Array
from vtgrad.storage.record_write import on_behalf
from vtgrad.storage.thread_mode import settle, thread

__all__ = ["GROUPS", "RULES", "Report", "attack"]

#: The rules by which a saved value counts as overwritten.
RULES: Final[dict[str, Callable[[], AbstractContextManager[object]]]] = {
    "elements": nullcontext,
    "storage": lambda: set_overwrite_check("storage"),
    "rewind": allow_mutation_on_saved_tensors,
    "clones": lambda: saved_tensors_hooks(lambda x: x.detach().clone(), lambda x: x),
}

#: Kinds of programs: of one step, or of several.
GROUPS: Final = (*STEPS, "sequence")

# So often one program is attacked before the next is drawn.
_EACH: Final = 12


@dataclass
class Report:
    """What came of an attack.

    Attributes
    ----------
    counts : Counter
        How often, for a form and an outcome.
    wrong : dict of str to list of str
        What must not be, by what it is about.
    interrupts : int
        How many calls were interrupted.
    lost : int
        How many interrupts were raised where they cannot be caught, as in a finalizer.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: dict[str, list[str]] = field(default_factory=dict)
    interrupts: int = 0
    lost: int = 0

    def table(self) -> str:
        """The counts, for people."""
        outcomes = sorted({outcome for _, outcome in self.counts})
        lines = []
        for form in sorted({form for form, _ in self.counts}):
            line = ", ".join(
                f"{self.counts[form, outcome]} {outcome}"
                for outcome in outcomes
                if self.counts[form, outcome]
            )
            lines.append(f"{form}: {line}")
        return "\n".join(lines)


def _elements(x: vt.Tensor) -> Array:
    """A copy that leaves no trace."""
    return x._impl.array.copy()


class Saved:
    """A value that was saved for backward, and its elements at that time.

    Attributes
    ----------
    elements : ndarray
        The elements; undefined if not `steady`.
    steady : bool
        Whether they were the same before and after.
    """

    def __init__(self, part: vt.Tensor, name: str) -> None:
        self.name = name
        before = _elements(part)
        self._weight = vt.ones(part.shape, dtype=vt.float64, requires_grad=True)
        self._root = (self._weight * part).sum()
        self.elements = _elements(part)
        self.steady = np.array_equal(before, self.elements, equal_nan=True)

    def outcome(self) -> str:
        """``"right"``, ``"refused"`` or what is wrong."""
        try:
            (grad,) = vt.autograd.grad(self._root, self._weight, retain_graph=True)
        except VtgradError:
            return "refused"
        except Exception as error:
            return f"backward of {self.name} raises {error!r}"
        if np.array_equal(grad.numpy(), self.elements, equal_nan=True):
            return "right"
        return f"{self.name} saved {self.elements.tolist()}, its gradient is {grad.tolist()}"


def _saved_parts(x: vt.Tensor, name: str) -> list[Saved]:
    return [
        Saved(x, name),
        Saved(x[0:1], f"{name}[0:1]"),
        Saved(x[1:2], f"{name}[1:2]"),
        Saved(x[2:], f"{name}[2:]"),
    ]


def _grads(p: Tensors) -> list[Array | None]:
    return [None if x.grad is None else _elements(x.grad) for x in p.leaves()]


def _same(found: Sequence[Array | None], expected: Sequence[Array | None]) -> bool:
    return all(
        y is None if x is None else y is not None and np.allclose(x, y, 1e-12, 0, equal_nan=True)
        for x, y in zip(found, expected, strict=True)
    )


def _zeros_for_none(p: Tensors, grads: Sequence[vt.Tensor | None]) -> list[Array]:
    return [
        np.zeros(x.shape) if grad is None else _elements(grad)
        for x, grad in zip((p.leaf, p.factor), grads, strict=True)
    ]


def _products(root: vt.Tensor, p: Tensors, cotangent: Array | None = None) -> list[Array] | None:
    """What a backward gives the leaves that `base` may depend on; None if it is refused."""
    leaves = [p.leaf, p.factor]
    if not root.requires_grad:
        return _zeros_for_none(p, [None, None])
    former = [x.grad for x in leaves]
    try:
        for x in leaves:
            x.grad = None
        root.backward(None if cotangent is None else vt.from_numpy(cotangent), retain_graph=True)
        return _zeros_for_none(p, [x.grad for x in leaves])
    except VtgradError:
        return None
    finally:
        for x, grad in zip(leaves, former, strict=True):
            x.grad = grad


def _products_alone(root: vt.Tensor, p: Tensors) -> list[Array] | None:
    """The same of `grad`, which runs only what leads to these leaves."""
    if not root.requires_grad:
        return _zeros_for_none(p, [None, None])
    leaves = [p.leaf, p.factor]
    try:
        grads = vt.autograd.grad(root, leaves, retain_graph=True, allow_unused=True)
    except VtgradError:
        return None
    return _zeros_for_none(p, grads)


#: Of a root, gradients of the leaves that `base` may depend on.
Products: TypeAlias = Callable[[vt.Tensor, Tensors], list[Array] | None]


class Course:
    """What a program is like before its first step, and after each, if it is not interrupted."""

    def __init__(self, kind: str, steps: Sequence[Step]) -> None:
        self.programs = []
        for count in range(len(steps) + 1):
            p = Tensors(kind)
            for step in steps[:count]:
                step(p)
            self.programs.append(p)
        self.values = [_elements(p.base) for p in self.programs]
        self.grads = [_grads(p) for p in self.programs]
        self._cache: dict[tuple[int, bytes], list[Array] | None] = {}
        first = self.programs[0]
        grads = vt.autograd.grad(first.root, first.leaves()[2:], retain_graph=True)
        self.of_root = [grad.numpy().copy() for grad in grads]

    def products(self, count: int, values: Array) -> list[Array] | None:
        """The gradients of ``(base * base).sum()`` after so many steps, with these values."""
        key = count, values.tobytes()
        if key not in self._cache:
            p = self.programs[count]
            self._cache[key] = _products(p.base, p, 2 * values)
        return self._cache[key]

    def histories(self, count: int, values: Array) -> list[int]:
        """After how many steps a tensor with these values may be, if `count` are over."""
        near = range(count, min(count + 2, len(self.values)))
        equal = [n for n in near if np.array_equal(self.values[n], values, equal_nan=True)]
        if equal or len(near) == 1:
            return equal
        # Values in between have a gradient only if the write has no part in it.
        probe = np.linspace(0.5, 1.5, values.size).reshape(values.shape)
        former, later = (self.products(n, probe) for n in near)
        if former is not None and later is not None and _same(former, later):
            return [count]
        return []


class Historied:
    """The gradient through the written tensor of what was computed from it."""

    def __init__(self, p: Tensors, course: Course, done: int) -> None:
        before = _elements(p.base)
        self._root = (p.base * p.base).sum()
        self.values = _elements(p.base)
        self.steady = np.array_equal(before, self.values, equal_nan=True)
        self._p, self._course, self._done = p, course, done

    def outcome(self, products: Products = _products) -> str:
        """``"right"``, ``"refused"`` or what is wrong."""
        try:
            found = products(self._root, self._p)
        except Exception as error:
            return f"backward through the written tensor raises {error!r}"
        if found is None:
            return "refused"
        counts = self._course.histories(self._done, self.values)
        expected = [self._course.products(count, self.values) for count in counts]
        if any(each is not None and _same(found, each) for each in expected):
            return "right"
        shown = [None if each is None else [x.tolist() for x in each] for each in expected]
        return (
            f"(base * base).sum(), with values {self.values.tolist()} after {self._done} steps, "
            f"has gradients {[x.tolist() for x in found]}, not {shown}"
        )


def _state() -> tuple[object, ...]:
    """Everything that a block switches, or that a call says about itself while it runs."""
    return (
        thread.mode.grad,
        thread.mode.inference,
        audit.enabled,
        audit.locks,
        overwrite_rule.exact,
        rewind.rewinding.keeps,
        rewind.saves_observed.reasons,
        rewind.rewinding.cursors,
        packing.pair,
        packing.disabled,
        dict(graph_thread.unpacked),
        dict(graph_thread.writes),
        on_behalf.get(get_ident()),
    )


def _restore(state: tuple[object, ...]) -> None:
    """Bring back what a wrong program has left, so that the next one does not suffer for it."""
    vt.set_grad_enabled(bool(state[0]))
    thread.mode = thread.mode.by_grad[bool(state[0])]
    settle(thread.ident)
    audit.enabled, audit.locks = bool(state[2]), bool(state[3])
    overwrite_rule.exact = bool(state[4])
    rewind.rewinding.keeps = bool(state[5])
    rewind.saves_observed.reasons = int(str(state[6]))
    rewind.rewinding.cursors = None
    packing.pair = state[8] if isinstance(state[8], HookPair) else None
    packing.disabled = None
    graph_thread.unpacked = {}
    graph_thread.writes.clear()
    on_behalf.pop(get_ident(), None)


class Versions:
    """What was seen of one buffer: a version stands for one content, and never goes back."""

    def __init__(self, x: vt.Tensor, name: str) -> None:
        self._tensor = x
        self._name = name
        self._seen: tuple[int, Array] = x._version, _elements(x)

    def look(self) -> str | None:
        """What is wrong, if something is."""
        version, values = self._seen
        now, found = self._tensor._version, _elements(self._tensor)
        self._seen = now, found
        if now < version:
            return f"the version of {self._name} went back from {version} to {now}"
        if now == version and not np.array_equal(values, found, equal_nan=True):
            return f"version {now} of {self._name} is {values.tolist()} and {found.tolist()}"
        return None


class Attempt:
    """One program that is interrupted, and the judge of it; see Note [The judge]."""

    def __init__(self, kind: str, steps: Sequence[Step], course: Course, random: Random) -> None:
        self.random = random
        self.course = course
        self.steps = steps
        self.done = 0
        self.wrote = False
        functions = (*STEPS["Functions"].values(), STEPS["others"]["Function"])
        self._calls_users_code = packing.pair is not None or any(
            step in functions for step in steps
        )
        self.state = _state()
        self.state_at_once = self.state
        self.busy = False
        self.p = p = Tensors(kind)
        self.before: list[Saved | Historied] = [
            *_saved_parts(p.base, "base"),
            *_saved_parts(p.out, "out"),
            Historied(p, course, 0),
        ]
        for x, name in zip(p.leaves(), ("leaf", "factor", "a", "b", "c"), strict=True):
            if x.grad is not None:
                self.before.append(Saved(x.grad, f"{name}.grad"))
        self.versions = [Versions(x, f"buffer {nr}") for nr, x in enumerate(p.buffers())]
        self.in_flight: list[Saved | Historied] = []

    def run(self) -> None:
        """All steps: this is what is interrupted."""
        for step in self.steps:
            step(self.p)
            self.done += 1

    # -- handlers --------------------------------------------------------------------------

    def handle(self, interrupt: str) -> None:
        """What a handler does that returns."""
        if self.busy:
            return
        self.busy = True
        with vt.inference_mode(False):
            for act in interrupt.split(", then "):
                try:
                    if act == "saves":
                        self._save()
                    else:
                        self._write()
                except VtgradError:
                    # What the interrupted code is at may not be used in every way.
                    pass
        self.busy = False

    def _save(self) -> None:
        for nr, x in enumerate(self.p.buffers()):
            self.in_flight.append(Saved(x, f"buffer {nr} in the midst"))
            self.in_flight.append(Saved(x[1:2], f"buffer {nr}[1:2] in the midst"))
        if not self.wrote:
            self.in_flight.append(Historied(self.p, self.course, self.done))

    def _write(self) -> None:
        self.wrote = True
        x = self.random.choice(self.p.buffers())
        with vt.no_grad():
            if self.random.random() < 0.5:
                x.add_(0.5)
            else:
                x[1] = 3.25

    # -- the judge -------------------------------------------------------------------------

    def at_once(self) -> None:
        """In the ``except`` clause."""
        self.state_at_once = _state()

    def judge(self, switches: bool) -> Iterator[tuple[str, str]]:
        """Outcomes, each with what it is about."""
        if _state() != self.state:
            yield "mode", f"modes are {_state()}, and were {self.state}" if not switches else "left"
            _restore(self.state)
        elif self.state_at_once != self.state and not switches:
            yield "mode", f"modes were {self.state_at_once} in the except clause"
        for versions in self.versions:
            if wrong := versions.look():
                yield "version", wrong
        for saved in self.in_flight:
            if saved.steady:
                yield "in flight", saved.outcome()
        for saved in self.before:
            yield "before", saved.outcome()
        if not self.wrote:
            historied = Historied(self.p, self.course, self.done)
            yield "history", historied.outcome()
            yield "history of some leaves", historied.outcome(_products_alone)
            yield "grads", self._judge_grads()
        yield "next pass", self._judge_next_pass()
        yield from self._judge_what_follows()

    def _judge_grads(self) -> str:
        found = _grads(self.p)
        near = self.course.grads[self.done : self.done + 2]
        if any(_same(found, grads) for grads in near):
            return "right"
        # What was filled before user code was called, which could see it, stays: the backward of a
        # custom Function, and functions that unpack.
        if self._calls_users_code and all(
            any(_same([x], [grads[nr]]) for grads in near) for nr, x in enumerate(found)
        ):
            return "right"
        return f"after {self.done} steps every .grad together is {found}"

    def _judge_next_pass(self) -> str:
        before = _grads(self.p)
        try:
            self.p.root.backward(retain_graph=True)
        except VtgradError:
            return "right" if _same(_grads(self.p), before) else "a refused pass has filled a .grad"
        expected = list(before)
        for nr, grad in enumerate(self.course.of_root, 2):
            former = before[nr]
            expected[nr] = grad if former is None else former + grad
        found = _grads(self.p)
        return "right" if _same(found, expected) else f"the next pass: {before} became {found}"

    def _judge_what_follows(self) -> Iterator[tuple[str, str]]:
        buffers = {f"buffer {nr} afterwards": x for nr, x in enumerate(self.p.buffers())}
        after = [saved for name, x in buffers.items() for saved in _saved_parts(x, name)]
        for saved in after:
            yield "after", saved.outcome()
        versions = [Versions(x, name) for name, x in buffers.items()]
        with vt.no_grad():
            for x in buffers.values():
                x[0:1].add_(0.5)
        for saved in after:
            yield "a later write", saved.outcome()
        for each in versions:
            if wrong := each.look():
                yield "version", wrong
        yield "fresh", _fresh()


def _fresh() -> str:
    """A program that has nothing to do with all this."""
    x = vt.ones(3, requires_grad=True)
    y = x * 2
    y[0] = 5.0
    y.mul_(x)
    y.sum().backward()
    assert x.grad is not None
    grad = x.grad.tolist()
    return "right" if grad == [5.0, 4.0, 4.0] else f"a fresh program has the gradient {grad}"


def _shown(places: Sequence[Place]) -> str:
    """The lines that were interrupted, innermost first."""
    return " and ".join(
        " < ".join(f"{code.co_filename.split('vtgrad/')[-1]}:{line}" for code, line in place)
        for place in places
    )


@contextmanager
def _counting_lost(report: Report) -> Iterator[None]:
    """Count what is raised in finalizers and callbacks, which can only be printed."""

    def count(lost: object) -> None:
        report.lost += 1

    before = sys.unraisablehook
    sys.unraisablehook = count
    try:
        with warnings.catch_warnings():
            # Of ``out=`` with another shape, and of the cycle that `create_graph` makes.
            warnings.simplefilter("ignore", UserWarning)
            yield
    finally:
        sys.unraisablehook = before


def _draw(random: Random, group: str) -> tuple[str, list[Step]]:
    """A form and its steps."""
    if group == "sequence":
        groups = [STEPS[each] for each in STEPS if each not in ("switches", "geometry")]
        drawn = [random.choice(list(random.choice(groups).values())) for _ in range(4)]
        return group, drawn[: random.randint(2, 4)]
    name = random.choice(list(STEPS[group]))
    return name, [STEPS[group][name]]


def attack(
    count: int,
    seed: int,
    groups: Sequence[str] = GROUPS,
    interrupts: Sequence[str] = INTERRUPTS,
    seconds: float = np.inf,
) -> Report:
    """Interrupt programs until so many interrupts have arrived.

    Parameters
    ----------
    count : int
        How many.
    seed : int
        Of what is drawn; where a timer strikes is not drawn alone.
    groups : sequence of str
        Kinds of programs; see `GROUPS`.
    interrupts : sequence of str
        Kinds of interrupts; see `INTERRUPTS`.
    seconds : float
        After this time no further program is begun.
    """
    random = Random(seed)
    report = Report()
    end = time.monotonic() + seconds
    with _counting_lost(report):
        while report.interrupts < count and time.monotonic() < end:
            group = random.choice(groups)
            name, steps = _draw(random, group)
            kind, rule = random.choice(KINDS), random.choice(list(RULES))
            with RULES[rule]():
                form = name, kind, rule
                _attack_one(report, random, interrupts, form, steps, group == "switches")
    return report


def _attack_one(
    report: Report,
    random: Random,
    interrupts: Sequence[str],
    form: tuple[str, str, str],
    steps: list[Step],
    switches: bool,
) -> None:
    """Attack one program."""
    name, kind, _ = form
    try:
        course = Course(kind, steps)
    except VtgradError:
        # These steps cannot follow each other.
        report.counts[name, "refused without an interrupt"] += 1
        return
    lengths = measured(lambda: Attempt(kind, steps, course, random).run)
    for _ in range(_EACH):
        interrupt = random.choice(interrupts)
        attempt = Attempt(kind, steps, course, random)

        def handler(
            frame: FrameType | None, attempt: Attempt = attempt, interrupt: str = interrupt
        ) -> None:
            attempt.handle(interrupt)

        shot = Shot(random, lengths, interrupt, handler)
        shot.fire(attempt.run, attempt.at_once)
        refused = False
        where = f"{form}, {interrupt} by {shot.way} at {_shown(shot.places)}"
        error = shot.error
        if error is not None and not isinstance(error, (VtgradError, *RAISING.values())):
            report.wrong.setdefault("errors", []).append(f"{where}: {error!r}")
        for about, outcome in attempt.judge(switches):
            refused = refused or outcome == "refused"
            if outcome == "left":
                report.counts[name, "left switched"] += 1
            elif outcome not in ("right", "refused"):
                report.wrong.setdefault(about, []).append(f"{where}: {about}: {outcome}")
        if not shot.places:
            report.counts[name, "not interrupted"] += 1
            continue
        report.interrupts += 1
        if error is None and interrupt in RAISING:
            report.counts[name, "interrupt swallowed"] += 1
        elif refused:
            report.counts[name, "refused"] += 1
        else:
            report.counts[name, "right"] += 1
