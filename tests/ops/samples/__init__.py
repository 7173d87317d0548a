"""Sample inputs of every operator in the derivative tables, by family."""

from typing import Final

from tests.ops.sample import Samples
from tests.ops.samples import (
    arithmetic,
    comparison,
    complex_numbers,
    copying,
    creation,
    cumulative,
    elementary,
    fft,
    float_parts,
    indexing,
    joining,
    linalg,
    logic,
    random,
    reductions,
    sorting,
    special,
    structure,
    views,
)

__all__ = ["DRAWN", "SAMPLES"]

SAMPLES: Final[Samples] = {
    **arithmetic.SAMPLES,
    **comparison.SAMPLES,
    **complex_numbers.SAMPLES,
    **copying.SAMPLES,
    **creation.SAMPLES,
    **cumulative.SAMPLES,
    **elementary.SAMPLES,
    **fft.SAMPLES,
    **float_parts.SAMPLES,
    **indexing.SAMPLES,
    **joining.SAMPLES,
    **linalg.SAMPLES,
    **logic.SAMPLES,
    **random.SAMPLES,
    **reductions.SAMPLES,
    **sorting.SAMPLES,
    **special.SAMPLES,
    **structure.SAMPLES,
    **views.SAMPLES,
    **{copy: views.SAMPLES[view] for copy, view in views.VIEW_COPIES.items()},
}

# Operators whose result depends on a generator.
DRAWN: Final = frozenset(random.SAMPLES)
