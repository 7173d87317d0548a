"""Model-based testing of programs with views and in-place writes.

The suite that tests vtgrad itself, open to users: to test an extension, or a program's own
in-place helpers, on the same random programs.

- :mod:`~vtgrad.testing.world` predicts what a program does, without a graph;
- :mod:`~vtgrad.testing.steps` are the statements, :mod:`~vtgrad.testing.program` prints them, with
  what defines operators (:mod:`~vtgrad.testing.definitions`) and what must be so in the end
  (:mod:`~vtgrad.testing.assertions`);
- :mod:`~vtgrad.testing.session` runs a program on a library and asks judges after every step;
- :mod:`~vtgrad.testing.judging` says what a judge is, :mod:`~vtgrad.testing.model_judge` is the one
  that compares with the model;
- :mod:`~vtgrad.testing.shrink` makes failing programs small;
- :mod:`~vtgrad.testing.menu` draws steps, from a random generator, and
  :mod:`~vtgrad.testing.writer` makes programs of them;
- :mod:`~vtgrad.testing.machine` makes programs with Hypothesis, which only it and the next import
  and which is not installed with vtgrad;
- :mod:`~vtgrad.testing.checking` is for users: `Rule`, `check` and `machine` let operators of
  theirs take part;
- :mod:`~vtgrad.testing.strategies` is for users too: what stateful tests of objects draw;
- :mod:`~vtgrad.testing.invocation` is what the model makes of a rule,
  :mod:`~vtgrad.testing.rule_checks` what is found out about it before the first program,
  :mod:`~vtgrad.testing.grid` its fixed programs, :mod:`~vtgrad.testing.coverage` what was tried.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

__all__ = ["checking"]

if TYPE_CHECKING:
    from vtgrad.testing import checking as checking
else:
    # Hidden from type checkers, which would accept every name because of it.

    def __getattr__(name):
        """What is for users; it imports Hypothesis."""
        if name == "checking":
            return _import_module("vtgrad.testing.checking")
        raise AttributeError(f"module 'vtgrad.testing' has no attribute {name!r}")
