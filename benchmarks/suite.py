"""The sections, in the order of the table."""

from collections.abc import Iterator
from typing import Protocol

from benchmarks import (
    chains,
    checkpoints,
    cliffs,
    convolution,
    every_operator,
    factorisations,
    filling,
    forward_mode,
    growth,
    imports,
    lanes,
    large_arrays,
    linear_algebra,
    lstm,
    mlp,
    peak_memory,
    reading_back,
    rewinding,
    shards,
    slices_of_one_base,
    small_operators,
    stencil,
    views_and_writes,
)
from benchmarks.bench import Bench
from benchmarks.results import Result

__all__ = ["SECTIONS"]


class Section(Protocol):
    """A module of rows."""

    SECTION: str

    def rows(self, bench: Bench) -> Iterator[Result]:
        """Measure, and yield each row as soon as it is found."""


SECTIONS: dict[str, Section] = {
    "small_operators": small_operators,
    "views_and_writes": views_and_writes,
    "cliffs": cliffs,
    "every_operator": every_operator,
    "growth": growth,
    "chains": chains,
    "filling": filling,
    "reading_back": reading_back,
    "rewinding": rewinding,
    "slices_of_one_base": slices_of_one_base,
    "factorisations": factorisations,
    "linear_algebra": linear_algebra,
    "stencil": stencil,
    "checkpoints": checkpoints,
    "mlp": mlp,
    "convolution": convolution,
    "lstm": lstm,
    "lanes": lanes,
    "shards": shards,
    "large_arrays": large_arrays,
    "forward_mode": forward_mode,
    "peak_memory": peak_memory,
    "imports": imports,
}
