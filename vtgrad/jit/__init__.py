"""Record a program once, and replay what NumPy was asked to do."""

from vtgrad.jit.api import Replayed as Replayed
from vtgrad.jit.api import Traced as Traced
from vtgrad.jit.api import replay as replay
from vtgrad.jit.api import trace as trace
from vtgrad.jit.explain import Explanation as Explanation
from vtgrad.jit.graph import GraphStep as GraphStep
from vtgrad.jit.graph import ProgramGraph as ProgramGraph
from vtgrad.jit.operators import TracedOperator as TracedOperator
from vtgrad.jit.operators import TracedValue as TracedValue
from vtgrad.jit.state import is_tracing as is_tracing

__all__ = [
    "Explanation",
    "GraphStep",
    "ProgramGraph",
    "Replayed",
    "Traced",
    "TracedOperator",
    "TracedValue",
    "is_tracing",
    "replay",
    "trace",
]
