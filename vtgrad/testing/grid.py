"""Fixed programs that call an operator of the user's on operands of every layout.

Note [The grid comes first]

Random programs seldom differentiate an operator whose operand is a reversed view or has no
elements, and whose gradient arrives expanded. So each rule is first tried on a grid: operands that
are contiguous, transposed, stepped, reversed, expanded, without dimensions, empty, or have
dimensions of size one, with numbers that are not whole; gradients of the result that arrive
contiguous, transposed and expanded; second derivatives; tangents. These are programs like the
others: of steps, judged by the model, made small where they diverge.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from math import prod

import numpy as np

from vtgrad.testing.calls import call_of
from vtgrad.testing.custom import FLOATING, Rule, Shape
from vtgrad.testing.layouts import LAYOUTS, base_of, view_for
from vtgrad.testing.samples import Sample, places, samples
from vtgrad.testing.steps import (
    Apply,
    Call,
    EnterLevel,
    Fill,
    Gradient,
    Hook,
    Leaf,
    Literal,
    MakeDual,
    SecondOrder,
    Step,
    View,
)
from vtgrad.testing.views import ViewCall

__all__ = ["GridProgram", "grid_of"]

#: So many shapes are tried in one layout.
_MOST_SHAPES = 2


@dataclass(frozen=True)
class GridProgram:
    """One program of the grid.

    Attributes
    ----------
    purpose : {"backward", "refused", "overwritten", "forward"}
        What it is about.
    layout : str
        The layout of its operands.
    steps : sequence of Step
        All its steps.
    unusual : frozenset of int
        The positions of those with unusual gradients, which need to run once only.
    """

    purpose: str
    layout: str
    steps: Sequence[Step]
    unusual: frozenset[int] = frozenset()

    @property
    def usual(self) -> Sequence[Step]:
        """The other steps."""
        return [step for nr, step in enumerate(self.steps) if nr not in self.unusual]


def grid_of(rule: Rule) -> Iterator[GridProgram]:
    """Yield the programs that call an operator; see Note [The grid comes first]."""
    layouts = [name for name in LAYOUTS if (rule.result, name) != ("written", "expanded")]
    for layout in layouts:
        for alone in (None, *range(rule.operands)) if rule.operands > 1 else (None,):
            for sample in _chosen(rule, layout, alone):
                program = _backward(sample)
                unusual = frozenset(program.unusual)
                yield GridProgram("backward", layout, program.steps, unusual)
    for sample in samples(rule, refused=True) if rule.raises else ():
        yield GridProgram("refused", "contiguous", _refused(sample))
    for sample in _chosen(rule, "contiguous", None) if rule.result == "new" else ():
        yield GridProgram("overwritten", "contiguous", _overwritten(sample))
    for layout in layouts if rule.takes_tangents else ():
        for sample in _chosen(rule, layout, None):
            yield GridProgram("forward", layout, _forward(sample))


def _chosen(rule: Rule, layout: str, alone: int | None) -> Iterator[Sample]:
    """A few samples of each dtype; one if a single operand is varied."""
    counts: dict[tuple[str, ...], int] = {}
    for sample in samples(rule, layout, alone):
        counts[sample.typing] = counts.get(sample.typing, 0) + 1
        if counts[sample.typing] <= (_MOST_SHAPES if alone is None else 1):
            yield sample


@dataclass
class _Program:
    """A program that is being written."""

    sample: Sample
    steps: list[Step] = field(default_factory=list)
    made: int = 0
    leaves: list[int] = field(default_factory=list)
    unusual: list[int] = field(default_factory=list)

    def fresh(self) -> int:
        """The number of a new tensor."""
        self.made += 1
        return self.made - 1

    def operand(self, which: int, *, is_copied: bool, is_dual: bool) -> int:
        """Make an array of the sample; return its number."""
        sample = self.sample
        array, place = sample.arrays()[which], places(sample.typing)[which]
        layout = sample.layouts[place]
        base = base_of(layout, array)
        grad = sample.alone not in places(sample.typing) or sample.alone == place
        last = self.fresh()
        self.steps.append(Leaf(last, Literal(base.shape, tuple(base.ravel().tolist())), grad))
        if grad:
            self.leaves.append(last)
        if is_dual:
            self.steps.append(MakeDual(self.fresh(), last, _numbers(base.shape, which)))
            last = self.made - 1
        if is_copied:
            self.steps.append(Apply(self.fresh(), "clone", (last,)))
            last = self.made - 1
        view = view_for(layout, array.shape)
        if view is not None and sample.dtype == "float64":
            self.steps.append(View((self.fresh(),), last, view))
            last = self.made - 1
        return last

    def call(self, *, is_dual: bool = False, is_copied: bool = False) -> Call:
        """Make the operands and call the operator."""
        sample = self.sample
        operands: list[int | Literal] = []
        shapes: list[Shape] = []
        views: dict[int, ViewCall] = {}
        which = 0
        for position, layout in enumerate(sample.layouts):
            constant = sample.constants.get(position)
            shape = sample.shapes[which] if constant is None else constant.shape
            # A cast makes a new tensor, in row-major order: that is viewed.
            view = view_for(layout, shape)
            if view is not None and (constant is not None or sample.dtype != "float64"):
                views[position] = view
                shape = base_of(layout, np.zeros(shape)).shape
            if constant is not None:
                operands.append(_based(constant, layout))
                continue
            for _ in range(sample.invocation.width):
                copied = is_copied or (which == 0 and sample.rule.result == "written")
                operands.append(self.operand(which, is_copied=copied, is_dual=is_dual))
                shapes.append(shape)
                which += 1
        call = call_of(
            sample.rule, operands, shapes, self.fresh, sample.options, sample.dtype, views
        )
        self.steps.append(call)
        return call

    def results(self, call: Call) -> list[tuple[int, Shape]]:
        """Numbers and shapes of the results that have gradients."""
        outcome = self.sample.invocation.outcome(self.sample.arrays())
        if self.sample.rule.result == "written":
            outs = [call.sources[0]]
        else:
            pairs = zip(call.outs, outcome.dtypes, strict=False)
            outs = [out for out, kind in pairs if kind in FLOATING]
        shapes = [array.shape for array in outcome.differentiable()]
        return list(zip(outs, shapes, strict=False))

    def differentiate(self, of: int, shape: Shape) -> None:
        """Differentiate a tensor by all leaves."""
        self.steps.append(Gradient(of, _numbers(shape, 1), tuple(self.leaves), retain=True))


def _based(constant: Literal, layout: str) -> Literal:
    """Return the constant of which a view has the elements of another."""
    array = np.array(constant.numbers, constant.dtype).reshape(constant.shape)
    base = base_of(layout, array)
    return Literal(base.shape, tuple(base.ravel().tolist()), constant.dtype)


def _numbers(shape: Shape, start: int) -> Literal:
    numbers = cycle((1.0, -0.5, 2.0, 1.5, -1.0))
    return Literal(shape, tuple(islice(numbers, start, start + prod(shape))))


def _unusual(shape: Shape) -> Iterator[Literal]:
    """Numbers of which some or all are zero, tiny or huge: a backward must not look at them."""
    usual = np.array(_numbers(shape, 1).numbers)
    half = np.arange(usual.size) % 2
    first, second = (half * usual, (1 - half) * usual) if usual.size > 1 else (usual, usual)
    for values in (0 * usual, first * 2.0**-64, second * 2.0**64):
        yield Literal(shape, tuple(values.tolist()))


def _backward(sample: Sample) -> _Program:
    """Differentiate with gradients of every layout, and twice."""
    program = _Program(sample)
    call = program.call()
    results = program.results(call)
    leaves = tuple(program.leaves)
    for out, shape in results:
        program.differentiate(out, shape)
        if len(shape) > 1 and 0 not in shape:
            turned = (shape[-1], *shape[1:-1], shape[0])
            view = View((program.fresh(),), out, ViewCall("transpose", (0, -1)))
            program.steps.append(view)
            program.differentiate(view.outs[0], turned)
        total = Apply(program.fresh(), "sum", (out,))
        program.steps.append(total)
        program.differentiate(total.out, ())
        shapes = [
            step.value.shape
            for step in program.steps
            if isinstance(step, Leaf) and step.requires_grad
        ]
        weights = tuple(_numbers(below, 2) for below in shapes)
        program.steps.append(SecondOrder(out, _numbers(shape, 1), leaves, weights))
        for cotangent in _unusual(shape):
            program.unusual.append(len(program.steps))
            program.steps.append(SecondOrder(out, cotangent, leaves, weights))
    for out, shape in results[:1]:
        # The hook keeps the gradient that it sees: a backward must not write to it.
        program.steps.append(Hook(out, "h0"))
        program.differentiate(out, shape)
    return program


def _refused(sample: Sample) -> Sequence[Step]:
    """Call the operator where it has to raise."""
    program = _Program(sample)
    program.call()
    return program.steps


def _forward(sample: Sample) -> Sequence[Step]:
    """Carry tangents through the call, and differentiate gradients along them."""
    program = _Program(sample, [EnterLevel()])
    call = program.call(is_dual=True)
    for out, shape in program.results(call):
        program.differentiate(out, shape)
    return program.steps


def _overwritten(sample: Sample) -> Sequence[Step]:
    """Overwrite the operands between the call and its backward."""
    program = _Program(sample)
    call = program.call(is_copied=True)
    program.steps += [Fill(of, 0) for of in dict.fromkeys(call.sources)]
    for out, shape in program.results(call):
        program.differentiate(out, shape)
    return program.steps
