"""Model-based testing of programs with views and in-place writes.

The suite that tests vtgrad itself, open to users: to test an extension, or a program's own
in-place helpers, on the same random programs.

- :mod:`~vtgrad.testing.world` predicts what a program does, without a graph;
- :mod:`~vtgrad.testing.steps` are the statements, :mod:`~vtgrad.testing.program` prints them;
- :mod:`~vtgrad.testing.session` runs a program on the model and on a library and compares;
- :mod:`~vtgrad.testing.strategies` and :mod:`~vtgrad.testing.machine` make programs with
  Hypothesis, which only these two and the next import and which is not installed with vtgrad;
- :mod:`~vtgrad.testing.checking` is for users: `Rule`, `check` and `machine` let operators of
  theirs take part.
"""
