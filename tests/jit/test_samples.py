"""Samples of all operators are recorded and replayed on new values, in six modes.

Each is replayed step by step as recorded, and prepared, in all ways that there are. What is not
exact is listed here with its reason; nothing may be wrong.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

import pytest

from tests.jit.replaying import MODES, cases_of, outcome
from tests.jit.ways import WAYS
from tests.ops.calls import Case

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
]

# Their kernels ask for values: a list of Python's numbers, or a branch that holds for few values.
GUARDED: Final = {
    "cumprod_dim": "rows with a zero are computed in Python",
    "igamma": "a series has as many terms as the values need",
    "igammac": "as igamma",
    "index_fill_int_Tensor": "the number is read as a number of Python",
    "linear_recurrence": "short series are computed in Python",
    "log1p": "a complex number close to a zero is computed in another way",
    "masked_fill_Tensor": "the number is read as a number of Python",
    "products_of_others": "rows with a zero are computed in Python",
}
# They give their argument, which a call hands over, another geometry.
GEOMETRY: Final = {
    "as_strided_part_",
    "squeeze_default_",
    "squeeze_dim_",
    "squeeze_dims_",
    "t_",
    "transpose_",
    "unsqueeze_",
}
# The largest part of the samples of a mode that may have no replay.
MOST_REFUSED: Final = 0.05


def is_expected(case: Case, found: str) -> bool:
    """Whether the outcome of a sample is exact, or listed above."""
    name = case.operator.name
    if found == "exact" or found.startswith("raises"):
        return True
    if found.startswith("guard"):
        return name in GUARDED
    return found.startswith("refused: geometry") and name in GEOMETRY


def outcomes(mode: str, step: int) -> list[tuple[Case, str]]:
    """The outcomes of every so many samples of a mode."""
    found = []
    for case in cases_of(mode)[::step]:
        made = MODES[mode](case)
        if made is not None:
            found.append((case, outcome(*made, ways=WAYS)))
    return found


def check(mode: str, step: int) -> None:
    found = outcomes(mode, step)
    assert not [(str(case), x) for case, x in found if not is_expected(case, x)]
    counts = Counter([x.partition(":")[0] for _, x in found])
    ran = len(found) - counts["raises"]
    assert counts["exact"] >= (1 - MOST_REFUSED) * ran, counts


@pytest.mark.usefixtures("few_objects")
@pytest.mark.parametrize("mode", MODES)
def test_every_fifth_sample(mode: str) -> None:
    check(mode, 5)


@pytest.mark.slow
@pytest.mark.usefixtures("few_objects")
@pytest.mark.parametrize("mode", MODES)
def test_every_sample(mode: str) -> None:
    check(mode, 1)
