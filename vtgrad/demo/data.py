"""The Nile data: one hundred annual flows, shipped as ``nile.csv`` beside this module.

``load_nile`` verifies the file.  It refuses any other series than the expected one, because an
estimate from a damaged series would look just as plausible as the right one.  The fingerprint below
was computed from the copy in statsmodels, not from ``nile.csv``: ``python -m
vtgrad.demo.verify_source`` repeats the computation.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Final

from vtgrad.errors import VtgradError

__all__ = [
    "FIRST_YEAR",
    "LAST_YEAR",
    "NILE_SHA256",
    "NileDataError",
    "NileSeries",
    "canonical_text",
    "fingerprint",
    "load_nile",
    "parse_csv",
]

FIRST_YEAR: Final = 1871
LAST_YEAR: Final = 1970

NILE_SHA256: Final = "15ee17272bfb03070ca5c71638cba01960bb27270658b7df249e8a57c78e5c13"
"""SHA-256 of ``canonical_text`` of the series in statsmodels 0.15.0."""

_HEADER: Final = "year,volume"


class NileDataError(VtgradError, ValueError):
    """The shipped series is damaged.

    Attributes
    ----------
    part : str
        What is wrong: ``"header"``, ``"row"``, ``"years"`` or ``"fingerprint"``.
    """

    kind = "nile-data"
    part: str

    def __init__(self, message: str, *, part: str) -> None:
        super().__init__(message, part=part)


@dataclass(frozen=True, slots=True)
class NileSeries:
    """Years and the flow of each year.

    Attributes
    ----------
    years : tuple of int
        1871 to 1970.
    flows : tuple of float
        Annual discharge at Aswan in 10^8 cubic metres.
    """

    years: tuple[int, ...]
    flows: tuple[float, ...]


def canonical_text(series: NileSeries) -> str:
    r"""Return the series as text in the canonical form for the fingerprint.

    Returns
    -------
    str
        One line ``year,flow`` per year, each ended by a newline; a whole flow is written
        without a decimal point, so 1120.0 and 1120 give the same text.

    Examples
    --------
    >>> canonical_text(NileSeries((1871, 1872), (1120.0, 1160.5)))
    '1871,1120\n1872,1160.5\n'
    """
    lines = (f"{year},{flow:.17g}\n" for year, flow in zip(series.years, series.flows, strict=True))
    return "".join(lines)


def fingerprint(series: NileSeries) -> str:
    """Return the SHA-256 of ``canonical_text(series)`` as hexadecimal digits."""
    return hashlib.sha256(canonical_text(series).encode("ascii")).hexdigest()


def parse_csv(lines: Iterable[str]) -> NileSeries:
    """Read the series from the lines of a CSV file.

    Lines that start with ``#`` state the source and are skipped.

    Raises
    ------
    NileDataError
        If the header is missing, a row is not ``integer,positive number``, or the years are
        not 1871 to 1970 in order.
    """
    numbered = ((number, line.strip()) for number, line in enumerate(lines, start=1))
    rows = ((number, line) for number, line in numbered if line and not line.startswith("#"))
    _, header = next(rows, (0, ""))
    if header != _HEADER:
        raise NileDataError(f"expected the header {_HEADER!r}, found {header!r}", part="header")
    pairs = list(_parse_rows(rows))
    years = tuple(year for year, _ in pairs)
    if years != tuple(range(FIRST_YEAR, LAST_YEAR + 1)):
        raise NileDataError(
            f"expected each year from {FIRST_YEAR} to {LAST_YEAR} once, in order", part="years"
        )
    return NileSeries(years, tuple(flow for _, flow in pairs))


def load_nile() -> NileSeries:
    """Return the shipped series, after checking that it is the published one.

    Raises
    ------
    NileDataError
        If the file does not parse, or its numbers do not have the fingerprint
        ``NILE_SHA256``.
    """
    text = resources.files("vtgrad.demo").joinpath("nile.csv").read_text(encoding="ascii")
    series = parse_csv(text.splitlines())
    found = fingerprint(series)
    if found != NILE_SHA256:
        raise NileDataError(
            f"nile.csv is not the published series: sha256 {found} found", part="fingerprint"
        )
    return series


def _parse_rows(rows: Iterable[tuple[int, str]]) -> Iterator[tuple[int, float]]:
    for number, line in rows:
        year, _, flow = line.partition(",")
        try:
            pair = int(year), float(flow)
        except ValueError as error:
            message = f"line {number} is not 'year,flow': {line!r}"
            raise NileDataError(message, part="row") from error
        if not (math.isfinite(pair[1]) and pair[1] > 0.0):
            raise NileDataError(f"line {number} has an impossible flow: {line!r}", part="row")
        yield pair
