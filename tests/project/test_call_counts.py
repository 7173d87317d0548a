"""How many functions of the package the commonest statements call.

Short ways (`quick_binary`, `write_ufunc`, what a layout keeps) change no value: if one is no longer
taken, nothing but time and these numbers show it. A number that has become smaller is entered here
too, so that the next loss is found.
"""

import json
import subprocess
import sys

import pytest

import vtgrad as vt
from tests.project.tree import ROOT
from vtgrad.storage.thread_state import FREE_THREADED

pytestmark = pytest.mark.skipif(
    vt.__compiled__, reason="an interpreter does not tell which native functions it calls"
)

_PLAIN = {
    "a + b": 4,
    "a * 2": 5,
    "a.exp()": 8,
    "a.sum()": 7,
    "a[0]": 9,
    "a[0, 1:]": 16,
    "a[0] = 1.0": 5,
    "a[0] = b[1]": 17,
    "a[mask] = 0.0": 10,
    "a[index] = b": 10,
    "a += b": 3,
    "a.mul_(2)": 4,
    "a[0].mul_(2)": 16,
}
_RECORDED = {
    "a + b": 11,
    "a * b": 17,
    "a.exp()": 21,
    "a.sum()": 14,
    "a[0]": 14,
    "a[0] = 1.0": 62,
    "a[0] = b[1]": 39,
    "a += b": 27,
    "a[0].mul_(2)": 49,
    "loss.backward()": 118,
    "vt.autograd.grad(loss, leaf)": 141,
}
# With the loops in C, see Note [Loops in C]: numbers and kernels need fewer.
_LOOPS_PLAIN = {"a * 2": 4, "a.exp()": 7}
_LOOPS_RECORDED = {"a.exp()": 20, "loss.backward()": 114, "vt.autograd.grad(loss, leaf)": 137}
if vt.__loops__:
    _PLAIN |= _LOOPS_PLAIN
    _RECORDED |= _LOOPS_RECORDED
if FREE_THREADED:
    # They do not ask for the state of their thread: see Note [Without the global lock].
    for _statement in ("a[0] = 1.0", "a[0] = b[1]", "a[mask] = 0.0", "a[index] = b"):
        _PLAIN[_statement] += 1

_SHORT_WAYS = {
    "a + b": "vtgrad.ops.generated.arithmetic.quick_binary",
    "a.mul_(2)": "vtgrad.ops.generated.arithmetic.write_ufunc",
    "a[0] = 1.0": "vtgrad.ops.composites.indexing.getitem.write_part",
    "a[mask] = 0.0": "vtgrad.ops.composites.indexing.getitem.write_at_index",
}


def _calls(program: str, declined: dict[str, str]) -> dict[str, list[list[str]]]:
    """The functions that each statement calls, if some functions decline."""
    asked = [[program, statement, name] for statement, name in declined.items()]
    run = subprocess.run(
        [sys.executable, "-m", "tests.project.called_functions"],
        cwd=ROOT,
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return dict(zip(declined, json.loads(run.stdout), strict=True))


@pytest.mark.parametrize(("program", "expected"), [("plain", _PLAIN), ("recorded", _RECORDED)])
def test_statements_call_as_many_functions_as_before(
    program: str, expected: dict[str, int]
) -> None:
    calls = _calls(program, dict.fromkeys(expected, ""))
    for statement, functions in calls.items():
        if len(functions) != expected[statement]:
            print(statement, *map(":".join, functions), sep="\n    ")
    assert {statement: len(functions) for statement, functions in calls.items()} == expected


def test_a_short_way_that_is_not_taken_is_found() -> None:
    calls = _calls("plain", _SHORT_WAYS)
    assert [s for s, functions in calls.items() if len(functions) <= _PLAIN[s]] == []
