"""Tests of many small cases as one item of pytest for each row, which runs all cases of the row.

An item costs pytest and xdist some milliseconds, more than most cases cost.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

__all__ = ["at_once", "by_table", "sweep"]

_ROW = inspect.Parameter("row", inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _operator(case: Any, *_: object) -> str:
    """The row of a sample: its operator."""
    name: str = case.operator.name
    return name


def by_table(case: Any, *_: object) -> str:
    """The row of a sample that takes some milliseconds: the table where its operator stands."""
    table: str = case.operator.where.partition(".yaml")[0]
    return table


def at_once(*_: object) -> str:
    """The only row of a test whose cases are mere look-ups."""
    return "all"


def sweep(
    *axes: Iterable[object], row: Callable[..., str] = _operator
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a test of one case a test of each row of cases.

    All cases of a row run, also after one that fails, and each error has a note that names its
    case. The test is skipped if all cases of its row are.

    Parameters
    ----------
    *axes : iterable
        The arguments of the test, one or a tuple of them for each case. With several axes there is
        a case for each combination.
    row : callable
        Gives the row of a case, called like the test.

    Examples
    --------
    >>> @sweep([(2, 4), (3, 9), (-3, 9)], row=lambda x, y: "negative" if x < 0 else "positive")
    ... def test_square(x: int, y: int) -> None:
    ...     assert x**2 == y
    >>> test_square("negative")
    """
    rows: dict[str, list[tuple[object, ...]]] = {}
    for parts in itertools.product(*axes):
        arguments = tuple([x for y in parts for x in (y if isinstance(y, tuple) else (y,))])
        rows.setdefault(row(*arguments), []).append(arguments)

    def of_rows(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def test_row(row: str) -> None:
            _run(test, rows[row])

        # pytest passes what the signature asks for: the row, not what the test of a case takes.
        vars(test_row)["__signature__"] = inspect.Signature([_ROW])
        of_row: Callable[..., None] = pytest.mark.parametrize("row", rows)(test_row)
        return of_row

    return of_rows


def _run(test: Callable[..., None], cases: list[tuple[object, ...]]) -> None:
    """Call the test with one case after another, and raise what any of them raised."""
    errors: list[BaseException] = []
    skips: list[BaseException] = []
    for arguments in cases:
        try:
            test(*arguments)
        except pytest.skip.Exception as skipped:
            skips.append(skipped)
        except (Exception, pytest.fail.Exception) as error:
            error.add_note(f"case: {', '.join(map(str, arguments))}")
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise BaseExceptionGroup(f"{len(errors)} of {len(cases)} cases", errors)
    if len(skips) == len(cases):
        raise skips[0]
