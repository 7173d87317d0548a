"""Filling in templates."""

import pytest

from vtgrad.codegen.template import fill, tuple_of


def test_a_field_alone_on_a_line_takes_any_number_of_lines() -> None:
    template = """
def $name():
    $doc
    if x:
        $body
"""
    filled = fill(template, name="f", doc="", body="a = 1\n\nif a:\n    b = 2\n")
    assert filled == "def f():\n    if x:\n        a = 1\n\n        if a:\n            b = 2\n"


def test_a_missing_field_is_an_error() -> None:
    with pytest.raises(KeyError, match="body"):
        fill("return $body", name="f")


def test_tuples() -> None:
    assert [tuple_of(names) for names in ([], ["a"], ["a", "b"])] == ["()", "(a,)", "(a, b)"]
