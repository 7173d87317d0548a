"""Makes failing programs small by leaving out steps.

Hypothesis shrinks the choices that a program was drawn from; when a step is left out there, later
choices come to mean other tensors. Here whole steps are left out, names stay what they are, and
whatever needs a tensor that is gone is left out with it. A program of thirty steps takes about a
hundred runs.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from vtgrad.testing.program import without_orphans
from vtgrad.testing.session import DivergenceError, Session
from vtgrad.testing.steps import (
    Apply,
    AugmentItem,
    Backward,
    Call,
    Detach,
    Fill,
    Gradient,
    Hook,
    Inference,
    Line,
    Literal,
    MakeDual,
    SecondOrder,
    SetItem,
    Step,
    TakePrimal,
    View,
    WithoutForward,
    Write,
)
from vtgrad.testing.views import ViewCall

__all__ = ["Attempt", "attempt_in", "shrink"]

#: Runs what can be run of a program; returns its divergence if it fails as the original does.
Attempt: TypeAlias = Callable[[Sequence[Step]], DivergenceError | None]


def shrink(
    found: DivergenceError, attempts: Sequence[Attempt], *, budget: float = math.inf
) -> DivergenceError:
    """Return the divergence of the smallest program that could be made of a failing one.

    Parameters
    ----------
    found : DivergenceError
        The program as it failed.
    attempts : sequence of callable
        Ways to run a program, the ones preferred first. The first in which the whole program fails
        again is used for all smaller ones.
    budget : float
        How many programs may be run at most.
    """
    for attempt in attempts:
        again = attempt(found.steps)
        if again is not None:
            smallest = _smallest(again, _Limited(attempt, budget))
            renumbered = attempt(_without_holes(smallest.steps))
            return smallest if renumbered is None else renumbered
    return found


class _Limited:
    """An attempt that gives up when it was made too often."""

    def __init__(self, attempt: Attempt, budget: float) -> None:
        self._attempt = attempt
        self._left = budget

    def __call__(self, steps: Sequence[Step]) -> DivergenceError | None:
        self._left -= 1
        kept = without_orphans(steps)
        return self._attempt(kept) if kept and self._left >= 0 else None


def _smallest(best: DivergenceError, attempt: Attempt) -> DivergenceError:
    for candidate in _ancestries(best):
        shorter = attempt(candidate)
        if shorter is not None and len(shorter.steps) < len(best.steps):
            best = shorter
            break
    while True:
        before = best
        for candidate in [*_without_steps(best), *_bypassing(best)]:
            shorter = attempt(candidate)
            if shorter is not None and len(shorter.steps) < len(best.steps):
                best = shorter
                break
        if best is before:
            best = _plainer(best, attempt)
        if best is before:
            return best


def _ancestries(found: DivergenceError) -> Iterator[Sequence[Step]]:
    """Programs of what the last step reads, how that was made, and how it was written."""
    *earlier, last = found.steps
    for with_writes in (False, True):
        needed, kept = set(last.line().uses), [last]
        for step in reversed(earlier):
            line = step.line()
            if needed.intersection(line.defs) or (with_writes and line.uses & needed):
                needed |= line.uses
                kept.insert(0, step)
        yield kept


def _without_steps(found: DivergenceError) -> list[Sequence[Step]]:
    """Programs without a run of steps: long runs first, from the end backwards."""
    steps = found.steps
    candidates: list[Sequence[Step]] = []
    length = max(1, len(steps) // 2)
    while length:
        for stop in range(len(steps), length - 1, -max(1, length // 2)):
            candidates.append(steps[: stop - length] + steps[stop:])
        length //= 2
    return candidates


def _bypassing(found: DivergenceError) -> Iterator[Sequence[Step]]:
    """Programs in which a tensor is taken for one that was made from it."""
    for position, taken in enumerate(found.steps):
        step = taken.step if isinstance(taken, Inference | WithoutForward) else taken
        outs, sources = _made(step) if position else ((), ())
        for source in dict.fromkeys(sources):
            taken_for = dict.fromkeys(outs, source)
            rest = [_renamed(later, taken_for) for later in found.steps[position + 1 :]]
            yield [*found.steps[:position], *rest]


def _made(step: Step) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return which tensors a step makes, and of which."""
    if isinstance(step, View):
        return step.outs, (step.of,)
    if isinstance(step, Detach | MakeDual | TakePrimal):
        return (step.out,), (step.of,)
    if isinstance(step, Apply):
        return (step.out,), step.operands
    if isinstance(step, Call):
        return step.outs, step.sources
    if isinstance(step, Line) and step.defs and step.uses and not step.is_pass:
        return tuple(map(_number, step.defs)), (min(map(_number, step.uses)),)
    return (), ()


def _number(name: str) -> int:
    return int(name[1:])


#: The fields of steps that have numbers or names of tensors that there are.
_USES = ("of", "target", "operands", "inputs", "leaves", "others")


def _renamed(step: Step, numbers: Mapping[int, int]) -> Step:
    """Let a step speak of other tensors."""
    if isinstance(step, Inference | WithoutForward):
        return type(step)(_renamed(step.step, numbers))
    if isinstance(step, Line):
        return replace(step, text=_renamed_text(step.text, numbers))

    def swap(value: object) -> object:
        if isinstance(value, tuple):
            return tuple(swap(part) for part in value)
        if isinstance(value, str):
            return _renamed_text(value, numbers)
        return numbers.get(value, value) if isinstance(value, int) else value

    changes = {name: swap(getattr(step, name)) for name in _USES if hasattr(step, name)}
    if isinstance(step, SetItem | AugmentItem) and isinstance(step.value, str):
        changes["value"] = swap(step.value)
    if isinstance(step, MakeDual):
        changes["seed"] = swap(step.seed)
    return replace(step, **changes)


def _renamed_text(text: str, numbers: Mapping[int, int]) -> str:
    def new(found: re.Match[str]) -> str:
        number = int(found[1])
        return f"t{numbers.get(number, number)}"

    return re.sub(r"\bt(\d+)\b", new, text)


def _without_holes(steps: Sequence[Step]) -> list[Step]:
    """Number tensors and hooks in the order in which they are made."""
    numbers: dict[int, int] = {}
    hooks = 0
    renumbered: list[Step] = []
    for step in steps:
        for name in step.line().defs:
            numbers[_number(name)] = len(numbers)
        new = _with_defs(_renamed(step, numbers), numbers)
        if isinstance(new, Hook) and re.fullmatch(r"h\d+", new.name):
            new = replace(new, name=f"h{hooks}")
            hooks += 1
        renumbered.append(new)
    return renumbered


def _with_defs(step: Step, numbers: Mapping[int, int]) -> Step:
    """Let a step bind other names."""
    if isinstance(step, Inference | WithoutForward):
        return type(step)(_with_defs(step.step, numbers))
    if isinstance(step, Line):
        return replace(step, defs=tuple(f"t{numbers[_number(name)]}" for name in step.defs))
    changes: dict[str, object] = {}
    out: int | None = getattr(step, "out", None)
    if out is not None:
        changes["out"] = numbers.get(out, out)
    outs: Sequence[int] | None = getattr(step, "outs", None)
    if outs is not None:
        changes["outs"] = tuple(numbers[one] for one in outs)
    return replace(step, **changes)


def _refitted(step: Step, session: Session) -> Step:
    """Give a pass a cotangent, and a dual a seed, of the shape that its tensor has by now."""
    if isinstance(step, Line):
        return step
    if isinstance(step, Inference | WithoutForward):
        return type(step)(_refitted(step.step, session))
    subject: int = getattr(step, "target", -1)
    if isinstance(step, Apply):
        subject = step.operands[0]
    has_mask = getattr(step, "name", "") == "masked_fill" or getattr(step, "mask", None) is not None
    written_for = getattr(step, "shape", ())
    if has_mask and session.world.tensors[subject].cells.shape != written_for:
        raise ValueError("the step was drawn for a tensor of another shape")
    if isinstance(step, MakeDual) and isinstance(step.seed, Literal):
        shape = session.world.tensors[step.of].cells.shape
        return replace(step, seed=_of_shape(step.seed, shape))
    if not isinstance(step, Backward | Gradient | SecondOrder):
        return step
    shape = session.world.tensors[step.of].cells.shape
    return replace(step, cotangent=_of_shape(step.cotangent, shape))


def _of_shape(value: Literal, shape: tuple[int, ...]) -> Literal:
    """A constant, or another one where it has not the shape."""
    if value.shape == shape:
        return value
    return Literal(shape, tuple(range(1, math.prod(shape) + 1)))


def _plainer(best: DivergenceError, attempt: Attempt) -> DivergenceError:
    """Set one thing to its plain value: recording on, the graph kept, few inputs."""
    for position, step in enumerate(best.steps):
        for plain in _plain(step):
            plainer = attempt([*best.steps[:position], plain, *best.steps[position + 1 :]])
            if plainer is not None and len(plainer.steps) <= len(best.steps):
                return plainer
    return best


def _plain(step: Step) -> Iterator[Step]:
    if isinstance(step, Inference | WithoutForward):
        yield step.step
        yield from map(type(step), _plain(step.step))
    if isinstance(step, Line) and step.mode:
        yield replace(step, mode="")
    for name, value in (("grad", True), ("retain", True), ("factor", 1), ("requires_grad", False)):
        if getattr(step, name, value) != value:
            yield replace(step, **{name: value})
    if isinstance(step, Apply) and step.name != "clone":
        # Of one operand; and the operand can then be taken for what it was made from.
        yield Apply(step.out, "clone", step.operands[:1], grad=step.grad)
    if isinstance(step, View) and step.call.method in ("view", "reshape"):
        # A view of any shape: the tensor can then be taken for one that it was made from.
        yield replace(step, call=ViewCall("unsqueeze", (0,)))
    if isinstance(step, Write) and step.others:
        yield Fill(step.target, 2, step.grad)  # which needs no other tensor
    if isinstance(step, SetItem) and not isinstance(step.value, int):
        yield replace(step, value=2)
    if isinstance(step, AugmentItem):
        yield SetItem(step.target, 2, step.index, grad=step.grad)
    if isinstance(step, MakeDual) and isinstance(step.seed, str):
        yield replace(step, seed=Literal((), (1,)))  # of the shape that is needed, when it is run
    if isinstance(step, Gradient) and len(step.inputs) > 1:
        for index in step.inputs:
            yield replace(step, inputs=(index,))
        for index in step.inputs:
            yield replace(step, inputs=tuple(i for i in step.inputs if i != index))


def attempt_in(make: Callable[[], Session], signature: str = "") -> Attempt:
    """Return the attempt that runs a program in a session of its own.

    Parameters
    ----------
    make : callable
        Makes a session.
    signature : str
        Of the failures that count; any if it is empty.
    """

    def attempt(steps: Sequence[Step]) -> DivergenceError | None:
        failure = _failure(make(), steps)
        return failure if failure is None or signature in ("", failure.signature) else None

    return attempt


def _failure(session: Session, steps: Sequence[Step]) -> DivergenceError | None:
    """Run what can be run of a program; return its divergence, if it has one."""
    try:
        for number, step in enumerate(steps, 1):
            try:
                session.run(_refitted(step, session), last=number == len(steps))
            except KeyError:
                continue  # of a tensor that is gone
        session.finish()
    except DivergenceError as divergence:
        if isinstance(divergence.__cause__, NameError):
            return None  # a step that is refused anyway speaks of a tensor that is gone
        return divergence
    except (ValueError, IndexError, TypeError):
        return None  # a step does not fit the tensor that it now speaks of
    finally:
        session.close()
    return None
