"""Makes failing programs small by leaving out steps.

Hypothesis shrinks the choices that a program was drawn from; when a step is left out there, later
choices come to mean other tensors. Here whole steps are left out, names stay what they are, and
whatever needs a tensor that is gone is left out with it. A program of thirty steps takes about a
hundred runs.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from .program import without_orphans
from .session import DivergenceError, Session
from .steps import (
    Apply,
    Backward,
    Call,
    Detach,
    Gradient,
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
)
from .views import ViewCall

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
            return _smallest(again, _Limited(attempt, budget))
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
        if isinstance(step, View | Detach | MakeDual | TakePrimal) and position:
            outs, source = step.outs if isinstance(step, View) else (step.out,), step.of
        elif isinstance(step, Apply | Call):
            outs, source = (step.out,), step.operands[0]
        elif isinstance(step, Line) and step.defs and step.uses and not step.is_pass:
            outs, source = tuple(map(_number, step.defs)), min(map(_number, step.uses))
        else:
            continue
        rest = [_renamed(later, outs, source) for later in found.steps[position + 1 :]]
        yield [*found.steps[:position], *rest]


def _number(name: str) -> int:
    return int(name[1:])


def _renamed(step: Step, old: Sequence[int], new: int) -> Step:
    """Let a step speak of tensor `new` where it speaks of one of `old`."""
    if isinstance(step, Inference | WithoutForward):
        return type(step)(_renamed(step.step, old, new))
    if isinstance(step, Line):
        names = "|".join(f"t{index}" for index in old)
        return replace(step, text=re.sub(rf"\b({names})\b", f"t{new}", step.text))
    names_of = {f"t{index}": f"t{new}" for index in old}

    def swap(value: object) -> object:
        if isinstance(value, tuple):
            return tuple(swap(part) for part in value)
        if isinstance(value, str):
            return names_of.get(value, value)
        return new if value in old else value

    changes: dict[str, object] = {}
    for field in ("of", "target", "operands", "inputs", "leaves", "others"):
        value = getattr(step, field, None)
        if value is not None:
            changes[field] = swap(value)
    if isinstance(step, SetItem) and isinstance(step.value, str):
        changes["value"] = swap(step.value)
    if isinstance(step, MakeDual):
        changes["seed"] = swap(step.seed)
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
    if isinstance(step, View) and step.call.method in ("view", "reshape"):
        # A view of any shape: the tensor can then be taken for one that it was made from.
        yield replace(step, call=ViewCall("unsqueeze", (0,)))
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
