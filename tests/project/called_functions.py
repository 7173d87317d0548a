"""A program that prints which functions of the package the commonest statements call, as JSON.

It is a process of its own: what a process has used before (lanes, tangents, names) makes some
statements call more.
"""

import json
import sys
from contextlib import nullcontext
from unittest.mock import patch

from tests.project.calls import calls_of_the_last_statement

PLAIN = """
import vtgrad as vt
a, b = vt.ones(2, 3), vt.ones(2, 3)
a += b  # layouts and version counters are made at first use
mask, index = a > 1, vt.tensor([1, 0])
"""
RECORDED = """
import vtgrad as vt
leaf = vt.ones(2, 3, requires_grad=True)
a, b = leaf * 2, leaf * 3
a += b
a.sum().backward(retain_graph=True)
loss = (leaf * b).sum()
"""
PROGRAMS = {"plain": PLAIN, "recorded": RECORDED}


def main() -> None:
    """Read triples of a program, a statement and what declines in it, and print the calls."""
    found = []
    for program, statement, declined in json.load(sys.stdin):
        with patch(declined, return_value=None) if declined else nullcontext():
            found.append(calls_of_the_last_statement(PROGRAMS[program] + statement))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
