"""The results of a run: rows with their raw rounds, from which every figure is computed."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from benchmarks.measure import Figure, figure, ratios

__all__ = ["Bar", "Result", "Run", "Unit"]

Unit: TypeAlias = Literal["s", "B", "ms", "us", "exponent", "times"]

# Figures in these units depend on the machine: peers are shown as ratios.
_ABSOLUTE = ("s", "B")


@dataclass(frozen=True)
class Bar:
    """The limit of a row.

    Attributes
    ----------
    interpreted, compiled : float
        The limit for the pure Python build and for the compiled one.
    against : str
        The library to which the bar is a ratio; empty if it bounds vtgrad's own figure.
    """

    interpreted: float
    compiled: float
    against: str = "torch"

    def of(self, compiled: bool) -> float:
        """The bar of one build."""
        return self.compiled if compiled else self.interpreted


@dataclass(frozen=True)
class Result:
    """One row of the table.

    Attributes
    ----------
    section, row : str
        The position in the table.
    unit : Unit
        The unit of `rounds`.
    rounds : dict[str, list[float]]
        The figures of each round, by library.
    bar : Bar or None
        None for a row that other rows are compared with.
    """

    section: str
    row: str
    unit: Unit
    rounds: dict[str, list[float]]
    bar: Bar | None = None

    def own(self, library: str = "vtgrad") -> Figure:
        """A library's own figure, in `unit`."""
        return figure(self.rounds[library])

    def beside(self, peer: str) -> Figure | None:
        """The figure shown for a peer: a ratio, or its own figure if that has no unit.

        None if the peer was not measured.
        """
        if peer not in self.rounds:
            return None
        if self.unit in _ABSOLUTE:
            return figure(ratios(self.rounds["vtgrad"], self.rounds[peer]))
        return self.own(peer)

    def judged(self) -> Figure | None:
        """The figure to which the bar applies; None without a bar, or without its peer."""
        if self.bar is None:
            return None
        return self.beside(self.bar.against) if self.bar.against else self.own()

    def over(self, compiled: bool) -> bool:
        """Whether the row is over its bar."""
        found = self.judged()
        return self.bar is not None and found is not None and found.value > self.bar.of(compiled)


@dataclass(frozen=True)
class Run:
    """All results of one run, and its machine.

    Attributes
    ----------
    machine : dict[str, str]
        Processor and system.
    versions : dict[str, str]
        The versions of Python and of every library in the run.
    compiled : bool
        Whether vtgrad was the compiled build.
    quick : bool
        Whether rounds were fewer and sizes smaller: not for the table.
    results : list[Result]
        The rows, in order.
    """

    machine: dict[str, str]
    versions: dict[str, str]
    compiled: bool
    quick: bool
    results: list[Result] = field(default_factory=list)

    def save(self, path: Path) -> None:
        """Write the run as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "Run":
        """Read what `save` wrote."""
        kept = json.loads(path.read_text(encoding="utf-8"))
        results = [
            Result(**row | {"bar": Bar(**row["bar"]) if row["bar"] else None})
            for row in kept.pop("results")
        ]
        return cls(**kept, results=results)
