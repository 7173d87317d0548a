"""Programs as text: one step is one line of Python in which ``L`` is the library.

The text is what runs, on both sides, and what a failure prints: nothing can get lost between
the program that failed and the program that is shown. Tensors are called ``t0``, ``t1`` ...
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_NAME = re.compile(r"\bt\d+\b")

PREAMBLE = '''\
OPAQUE, LOG = [], []

def dense(g):
    """A contiguous copy of a gradient: layouts of gradients are no part of the comparison."""
    if g is None:
        return None
    g = (L.zeros(tuple(g.shape), dtype=g.dtype) + g).clone(memory_format=L.contiguous_format)
    OPAQUE.append(g.grad_fn)
    return g

def ramp(t):
    """Weights that differ from element to element, in the shape and dtype of a result."""
    numbers = [k / 4 + 0.5 for k in range(t.numel())]
    return L.tensor(numbers, dtype=t.dtype).reshape(tuple(t.shape))

def hook(tag, factor=None):
    """A tensor hook that records what it sees and may scale it."""
    def run(g):
        LOG.append((tag, None if g is None else g.detach().tolist()))
        return None if factor is None or g is None else g * factor
    return run
'''


@dataclass(frozen=True)
class Step:
    """One line of a program.

    Attributes
    ----------
    text : str
        The statement, without the names that it binds.
    defs : tuple of str
        The names it binds: none, one, or one for each output.
    mode : str
        A context manager of the library around this line, such as ``no_grad()``, or empty.
    op : str
        Name of the operator, for reports.
    backward : bool
        Whether the step walks the graph: after it failed, PyTorch's state is half changed.
    """

    text: str
    defs: tuple[str, ...] = ()
    mode: str = ""
    op: str = ""
    backward: bool = False
    uses: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Collect the names that the line reads."""
        object.__setattr__(self, "uses", frozenset(_NAME.findall(self.text)))

    @property
    def source(self) -> str:
        """The statement as Python source."""
        if not self.defs:
            line = self.text
        elif len(self.defs) == 1:
            line = f"{self.defs[0]} = {self.text}"
        else:
            line = f"{', '.join(self.defs)} = {self.text}"
        return f"with L.{self.mode}:\n    {line}\n" if self.mode else line + "\n"


Program = tuple[Step, ...]


def without_orphans(steps: Iterable[Step]) -> Program:
    """Drop the steps that read a name which no kept step binds."""
    known: set[str] = set()
    kept = []
    for step in steps:
        if step.uses <= known:
            kept.append(step)
            known.update(step.defs)
    return tuple(kept)


def render(program: Program, library: str) -> str:
    """The program as a file that runs against one library."""
    body = "".join(step.source for step in program)
    helpers = PREAMBLE if re.search(r"\b(dense|hook|ramp)\(", body) else ""
    return f"import {library} as L\n{helpers}\n{body}"
