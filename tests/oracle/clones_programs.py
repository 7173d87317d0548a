"""The smallest programs about saved values: what is saved stands between the copy and the pass."""

from typing import TypeVar

from tests.oracle.clones_judge import ClonesJudge
from tests.oracle.torch_judge import play, session_of
from vtgrad.testing.session import Run
from vtgrad.testing.steps import Line

__all__ = ["COPY", "LEAF", "PASS", "judged"]

Kind = TypeVar("Kind", bound=ClonesJudge)

LEAF = Line(
    "vt.tensor([1.5, -2.0, 0.5], dtype=vt.float64, requires_grad=True)", ("t0",), "", "leaf"
)
#: What may be written.
COPY = Line("t0.clone()", ("t1",), "", "clone")
PASS = Line("dense(vt.autograd.grad(t2, [t0])[0])", ("t3",), "", "grad", backward=True)


def judged(kind: type[Kind], *steps: Line) -> tuple[Run, Kind]:
    """What became of a program, and its judge, which ran it with audit on as well."""
    judge = kind("always", audited=True)
    return play(session_of(judge, "vtgrad"), steps), judge
