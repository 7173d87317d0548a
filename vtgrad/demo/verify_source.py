"""Compare the shipped Nile numbers with the copy in statsmodels' datasets.

Nothing else needs statsmodels, so this is a script for manual runs in an environment that has it::

    python -m venv /tmp/nile && /tmp/nile/bin/pip install statsmodels pandas numpy
    PYTHONPATH=. /tmp/nile/bin/python -m vtgrad.demo.verify_source

It takes the hundred numbers from ``statsmodels.datasets.nile``, prints their fingerprint
(the source of ``data.NILE_SHA256``) and ends with code 0 if the shipped series is the same in every
year, 1 if not, 2 if statsmodels is not installed.
"""

from __future__ import annotations

import importlib
import sys

from vtgrad.demo.data import NILE_SHA256, NileSeries, fingerprint, load_nile

__all__ = ["differences", "main", "series_from_statsmodels"]


def series_from_statsmodels() -> NileSeries:
    """Return the series of statsmodels.

    Raises
    ------
    ModuleNotFoundError
        If statsmodels is not installed.
    """
    dataset = importlib.import_module("statsmodels.datasets.nile").load_pandas().data
    years = tuple(int(year) for year in dataset["year"])
    return NileSeries(years, tuple(float(flow) for flow in dataset["volume"]))


def differences(ours: NileSeries, theirs: NileSeries) -> list[str]:
    """Return one line per year in which two series disagree, missing years included."""
    left = dict(zip(ours.years, ours.flows, strict=True))
    right = dict(zip(theirs.years, theirs.flows, strict=True))
    return [
        f"{year}: ours {left.get(year)}, theirs {right.get(year)}"
        for year in sorted(left.keys() | right.keys())
        if left.get(year) != right.get(year)
    ]


def main() -> int:
    """Run the comparison; return the exit code."""
    try:
        theirs = series_from_statsmodels()
    except ModuleNotFoundError as error:
        print(f"cannot compare: {error}; install statsmodels and pandas", file=sys.stderr)
        return 2
    print(f"sha256 of the statsmodels numbers: {fingerprint(theirs)}")
    problems = differences(load_nile(), theirs)
    if fingerprint(theirs) != NILE_SHA256:
        problems.append(f"data.NILE_SHA256 is {NILE_SHA256}")
    for line in problems:
        print(f"differs: {line}")
    print("different" if problems else f"the same in all {len(theirs.years)} years")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
