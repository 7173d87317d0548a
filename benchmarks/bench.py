"""The measuring functions that a section uses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from benchmarks.libraries import PEERS, Array, Body, Library, Real
from benchmarks.measure import Prepare, growth_exponent, interleaved, steady
from benchmarks.results import Bar, Result

__all__ = ["Bench", "Pass", "prepared"]

Pass: TypeAlias = Literal["forward", "backward", "both"]


@dataclass(frozen=True)
class Bench:
    """The libraries of a run, and its number of rounds.

    Attributes
    ----------
    libraries : dict[str, Library]
        The libraries by name, vtgrad first.
    rounds : int
        The number of repetitions of each measurement.
    quick : bool
        Leave out the largest sizes.
    """

    libraries: dict[str, Library]
    rounds: int
    quick: bool

    def able(self, *, writes: bool, without: Sequence[str] = ()) -> dict[str, Library]:
        """The libraries that can express a program, except those in `without`."""
        return {
            name: library
            for name, library in self.libraries.items()
            if (library.writes or not writes) and name not in without
        }

    def compare(
        self,
        section: str,
        row: str,
        programs: Mapping[str, Prepare],
        bar: Bar | None = None,
        *,
        rounds: int | None = None,
    ) -> Result:
        """Measure equivalent programs in several libraries."""
        return Result(section, row, "s", interleaved(programs, rounds or self.rounds), bar)

    def compare_body(
        self,
        section: str,
        row: str,
        body: Body,
        arrays: Sequence[Real],
        part: Pass,
        bar: Bar | None = None,
        *,
        constants: Sequence[Real] = (),
        writes: bool = False,
        without: Sequence[str] = (),
        rounds: int | None = None,
    ) -> Result:
        """Measure a program, or one of its two passes, in every library that can express it."""
        able = self.able(writes=writes, without=without)
        programs = {
            name: prepared(lib, body, arrays, part, constants) for name, lib in able.items()
        }
        return self.compare(section, row, programs, bar, rounds=rounds)

    def growth(
        self,
        section: str,
        row: str,
        sizes: Sequence[int],
        prepare: Callable[[Library, int], Prepare],
        bar: float,
        *,
        without: Sequence[str] = (),
    ) -> Result:
        """Fit how the cost of a program with in-place writes grows with its size.

        A quick run fits vtgrad alone.
        """
        able = self.able(writes=True, without=PEERS if self.quick else without)
        found: dict[str, list[float]] = {}
        for name, library in able.items():
            programs = {str(size): prepare(library, size) for size in sizes}
            # A round measures all sizes once, so each round has an exponent of its own.
            costs = interleaved(programs, 3)
            found[name] = [
                growth_exponent(sizes, turn) for turn in zip(*costs.values(), strict=True)
            ]
        return Result(section, row, "exponent", found, Bar(bar, bar, against=""))


def prepared(
    library: Library,
    body: Body,
    arrays: Sequence[Real],
    part: Pass,
    constants: Sequence[Real] = (),
) -> Prepare:
    """One pass of a program, or both, ready to be measured."""
    if constants:
        body = _with_constants(library, body, constants)
    match part:
        case "forward":
            return steady(library.forward(body, arrays))
        case "backward":
            return library.backward(body, arrays)
        case "both":
            return steady(library.differentiate(body, arrays))


def _with_constants(library: Library, body: Body, constants: Sequence[Real]) -> Body:
    made = [library.constant(array) for array in constants]

    def program(lib: Library, *leaves: Array) -> Array:
        return body(lib, *leaves, *made)

    return program
