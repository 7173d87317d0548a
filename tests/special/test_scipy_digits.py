"""Derivatives of SciPy's special functions beside mpmath, in units of the last place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.special.scipy_digits import CASES, measured
from vtgrad import special

# Of a value that is nearly exact, its derivative may be off by so much.
ALLOWED = 10


@pytest.mark.parametrize("name", CASES)
def test_a_derivative_is_at_most_four_times_as_far_off_as_the_value(name: str) -> None:
    of_value, of_slope = measured(CASES[name])
    assert of_slope <= max(4 * of_value, ALLOWED)


def test_the_page_has_a_row_for_each_function() -> None:
    page = (Path(__file__).parents[2] / "docs" / "special-functions-of-scipy.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    named = {line.split("`")[1] for line in rows}
    of_scipy = {
        name
        for name in special.__all__
        if "scipy" in getattr(getattr(special, name), "__module__", "")
    }
    assert named == of_scipy
