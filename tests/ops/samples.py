"""Sample inputs of every operator in the derivative tables."""

from typing import Final

from .sample import Samples
from .samples_indexing import INDEXING
from .samples_pointwise import POINTWISE
from .samples_reductions import REDUCTIONS
from .samples_special import SPECIAL
from .samples_structure import STRUCTURE
from .samples_views import DRAWING, VIEW_COPIES, VIEWS

__all__ = ["DRAWN", "SAMPLES"]

SAMPLES: Final[Samples] = {
    **POINTWISE,
    **SPECIAL,
    **REDUCTIONS,
    **INDEXING,
    **VIEWS,
    **STRUCTURE,
    **{copy: VIEWS[view] for copy, view in VIEW_COPIES.items()},
    **DRAWING,
}

# Operators whose result depends on a generator.
DRAWN: Final = frozenset(DRAWING)
