"""How many functions of the package the commonest statements call.

Short ways (`quick_binary`, `write_ufunc`, what a layout keeps) change no value: if one is
no longer taken, nothing but time and these numbers show it. A number that has become smaller is
entered here too, so that the next loss is found.
"""

from types import ModuleType

import pytest

import vtgrad as vt
from tests.project.calls import calls_of_the_last_statement
from vtgrad.ops.composites.indexing import getitem
from vtgrad.ops.generated import arithmetic

pytestmark = pytest.mark.skipif(
    vt.__compiled__, reason="an interpreter does not tell which native functions it calls"
)

_PLAIN = """
import vtgrad as vt
a, b = vt.ones(2, 3), vt.ones(2, 3)
a += b  # layouts and version counters are made at first use
"""
_RECORDED = """
import vtgrad as vt
leaf = vt.ones(2, 3, requires_grad=True)
a, b = leaf * 2, leaf * 3
a += b
a.sum().backward(retain_graph=True)
loss = (leaf * b).sum()
"""
_OF_PLAIN = {
    "a + b": 4,
    "a * 2": 5,
    "a.exp()": 8,
    "a.sum()": 7,
    "a[0]": 9,
    "a[0, 1:]": 21,
    "a[0] = 1.0": 6,
    "a[0] = b[1]": 18,
    "a += b": 3,
    "a.mul_(2)": 4,
    "a[0].mul_(2)": 16,
}
_OF_RECORDED = {
    "a + b": 14,
    "a * b": 18,
    "a.exp()": 23,
    "a.sum()": 16,
    "a[0]": 16,
    "a[0] = 1.0": 79,
    "a[0] = b[1]": 90,
    "a += b": 37,
    "a[0].mul_(2)": 65,
    "loss.backward()": 119,
    "vt.autograd.grad(loss, leaf)": 139,
}


@pytest.mark.parametrize("statement", _OF_PLAIN)
def test_a_statement_that_is_not_recorded(statement: str) -> None:
    assert _count(_PLAIN, statement) == _OF_PLAIN[statement]


@pytest.mark.parametrize("statement", _OF_RECORDED)
def test_a_statement_that_is_recorded(statement: str) -> None:
    assert _count(_RECORDED, statement) == _OF_RECORDED[statement]


@pytest.mark.parametrize(
    ("statement", "module", "short_way", "declined"),
    [
        ("a + b", arithmetic, "quick_binary", None),
        ("a.mul_(2)", arithmetic, "write_ufunc", False),
        ("a[0] = 1.0", getitem, "write_part", False),
    ],
)
def test_a_lost_short_way_is_found(
    monkeypatch: pytest.MonkeyPatch,
    statement: str,
    module: ModuleType,
    short_way: str,
    declined: bool | None,
) -> None:
    monkeypatch.setattr(module, short_way, lambda *_: declined)
    assert _count(_PLAIN, statement) > _OF_PLAIN[statement]


def _count(program: str, statement: str) -> int:
    calls = calls_of_the_last_statement(program + statement)
    # For the message of a failure, which pytest shows.
    print("\n".join(f"{name}  {module}" for name, module in calls))
    return len(calls)
