"""Sample inputs of every operator in the derivative tables."""

from typing import Final

from .sample import Samples
from .samples_indexing import INDEXING
from .samples_pointwise import POINTWISE
from .samples_reductions import REDUCTIONS
from .samples_views import DRAWING, VIEWS

__all__ = ["DRAWN", "SAMPLES"]

SAMPLES: Final[Samples] = {**POINTWISE, **REDUCTIONS, **INDEXING, **VIEWS, **DRAWING}

# Operators whose result depends on a generator.
DRAWN: Final = frozenset(DRAWING)
