"""What of an operator of the user's was tried: counted where it was called and differentiated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, cast

from vtgrad.testing.custom import Rule
from vtgrad.testing.interpreter import Interpreter
from vtgrad.testing.layouts import LAYOUTS, can_have, layout_of
from vtgrad.testing.libraries import Library, TensorLike
from vtgrad.testing.samples import shapes_of
from vtgrad.testing.steps import Step

__all__ = ["Coverage", "CoverageError", "watch"]

#: The columns of the table: calls, gradients by how they arrived, second derivatives, tangents.
COLUMNS = ("called", "g contiguous", "g strided", "g expanded", "twice", "forward")


class CoverageError(ValueError):
    """So little of an operator was tried that a wrong one might pass.

    Attributes
    ----------
    coverage : Coverage
        What was tried.
    """

    def __init__(self, message: str, coverage: Coverage) -> None:
        super().__init__(f"{message}\n\n{coverage}")
        self.coverage = coverage


@dataclass
class Coverage:
    """How often operators were called and differentiated; printed, a table.

    Attributes
    ----------
    cells : dict
        By name of the rule, layout of an operand and column of the table, in the grid.
    calls : dict
        By name: how often random programs called it.

    Examples
    --------
    >>> from vtgrad.testing.checking import Rule, check
    >>> covered = check(Rule("doubled", lambda x: x * 2, lambda x: x * 2), programs=5)
    >>> covered.count("doubled", "reversed", "g expanded") > 0
    True
    >>> covered.missing("doubled")
    ()
    """

    rules: Sequence[Rule]
    cells: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)

    def count(self, name: str, layout: str, column: str) -> int:
        """Return one number of the table.

        Parameters
        ----------
        name : str
            That of a rule.
        layout : str
            ``"contiguous"``, ``"transposed"``, ``"stepped"``, ``"reversed"``, ``"expanded"``,
            ``"0-d"``, ``"empty"`` or ``"size 1"``.
        column : str
            ``"called"``, ``"g contiguous"``, ``"g strided"``, ``"g expanded"``, ``"twice"`` or
            ``"forward"``.
        """
        return self.cells[name, layout, column]

    def missing(self, name: str) -> tuple[str, ...]:
        """Return the layouts that operands can have and that were not differentiated.

        An operator without a result that has gradients needs only to have been called.
        """
        rule = self._rule(name)
        gradients = any(self.cells[name, layout, c] for layout in LAYOUTS for c in COLUMNS[1:4])
        columns = COLUMNS[1:4] if gradients else COLUMNS[:1]
        return tuple(
            layout
            for layout in _possible(rule)
            if not any(self.cells[name, layout, column] for column in columns)
        )

    def share(self, name: str) -> float:
        """Return the share of the layouts that operands can have and that were tried."""
        possible = _possible(self._rule(name))
        return 1 - len(self.missing(name)) / len(possible) if possible else 0.0

    def _rule(self, name: str) -> Rule:
        return next(rule for rule in self.rules if rule.name == name)

    def __str__(self) -> str:
        width = max(len(layout) for layout in LAYOUTS) + 2
        lines: list[str] = []
        for rule in self.rules:
            lines.append(f"{rule.name}: called {self.calls[rule.name]} times by random programs")
            lines.append(" " * width + "".join(f"{column:>14}" for column in COLUMNS))
            for layout in _possible(rule):
                counts = (self.cells[rule.name, layout, column] for column in COLUMNS)
                lines.append(f"  {layout:<{width - 2}}" + "".join(f"{n:>14}" for n in counts))
            missing = self.missing(rule.name)
            lines += [f"  not tried: {', '.join(missing)}"] if missing else []
        return "\n".join(lines)


def _possible(rule: Rule) -> list[str]:
    """The layouts that operands of the stated shapes can have."""
    shapes = {shape for shapes in shapes_of(rule) for shape in shapes}
    found = [layout for layout in LAYOUTS if any(can_have(layout, shape) for shape in shapes)]
    out = {"expanded"} if rule.result == "written" else set[str]()
    return [layout for layout in found if layout not in out]


class _Node(Protocol):
    """What is asked of a node."""

    def register_prehook(self, hook: Callable[[Sequence[TensorLike | None]], None]) -> object: ...


def watch(coverage: Coverage, library: Library, steps: Sequence[Step]) -> None:
    """Run a program again, and count what happens to the user's operators.

    It is not the run that is judged, because hooks count here.
    """
    subject = Interpreter(library)
    for name, rule in library.rules.items():
        subject.names[name] = partial(_called, coverage, library, rule)
    try:
        for step in steps:
            subject.run(step)
    finally:
        subject.close()


def _called(
    coverage: Coverage,
    library: Library,
    rule: Rule,
    *operands: TensorLike,
    **options: object,
) -> object:
    call: Callable[..., object] = rule.call
    found = call(*operands, **options)
    layouts = {
        layout_of(operand.shape, operand.stride())
        for operand in operands
        if str(operand.dtype).rpartition(".")[2] not in ("int64", "bool")
    }
    for layout in layouts:
        coverage.cells[rule.name, layout, "called"] += 1
    returned = found if isinstance(found, tuple | list) else (found,)
    results = operands[:1] if rule.result == "written" else cast("Sequence[TensorLike]", returned)
    for result in results:
        if result.requires_grad:
            note = partial(_differentiated, coverage, library, rule.name, layouts)
            cast("_Node", result.grad_fn).register_prehook(note)
        if library.has_level() and library.tangent(result) is not None:
            for layout in layouts:
                coverage.cells[rule.name, layout, "forward"] += 1
    return found


def _differentiated(
    coverage: Coverage,
    library: Library,
    name: str,
    layouts: set[str],
    gradients: Sequence[TensorLike | None],
) -> None:
    for gradient in gradients:
        if gradient is None:
            continue
        arrived = layout_of(gradient.shape, gradient.stride())
        column = {"expanded": "g expanded", "transposed": "g strided", "stepped": "g strided"}
        for layout in layouts:
            coverage.cells[name, layout, column.get(arrived, "g contiguous")] += 1
            if library.module.is_grad_enabled():
                coverage.cells[name, layout, "twice"] += 1
