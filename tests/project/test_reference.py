"""The reference has one entry for each public name, and none for anything else."""

import doctest
import inspect
import pkgutil
import re
import types
from collections import Counter
from functools import cache
from importlib import import_module

import pytest

import vtgrad as vt
from docs.reference_pages.entries import (
    MODULES,
    all_entries,
    is_error_of_another,
    operators_of_python,
)
from docs.reference_pages.pages import reference
from docs.reference_pages.topics import GROUPS, TITLES

pytestmark = pytest.mark.skipif(
    vt.__compiled__, reason="the reference is made from the build in Python"
)

# A directive, and what stands below it: further signatures, a blank line, the text.
_HEAD = re.compile(
    r"^ *\.\. py:(?:function|method|property|attribute|class|exception|data):: "
    r"(.+(?:\n(?: +[\w.]+\(.*| {8,}[\w.]+))*)",
    re.MULTILINE,
)


@cache
def _pages() -> dict[str, str]:
    return reference(str.splitlines)


@cache
def _documented() -> Counter[str]:
    """How many entries each name has; several ways to call it are one entry."""
    names: Counter[str] = Counter()
    for text in _pages().values():
        for found in _HEAD.finditer(text):
            heads = [line.strip().split("(")[0] for line in found.group(1).split("\n")]
            names.update({f"vtgrad.{head}" for head in heads})
    return names


def _public() -> set[str]:
    names = set()
    for module_name in MODULES:
        module = import_module(module_name)
        for name in getattr(module, "__all__", dir(module)):
            thing = getattr(module, name)
            foreign = type(thing).__module__ in ("typing", "__future__")
            hidden = name[0] == "_" and not hasattr(module, "__all__")
            elsewhere = isinstance(thing, types.ModuleType) or is_error_of_another(module, thing)
            if not hidden and not foreign and not elsewhere:
                names.add(f"{module_name}.{name}")
    return names | {f"vtgrad.Tensor.{name}" for name in dir(vt.Tensor) if name[0] != "_"}


def test_every_public_module_is_in_the_reference() -> None:
    shown = {f"vtgrad.{n}" for n in vt.__all__ if isinstance(getattr(vt, n), types.ModuleType)}
    within = {"vtgrad.autograd.function", "vtgrad.autograd.graph", "vtgrad.testing.checking"}
    assert "vtgrad.utils" in shown
    # The names of types are on the page docs/howto/types.md; of `vtgrad.testing` users need
    # `checking`, which is in the list.
    assert sorted((shown | within) - set(MODULES)) == ["vtgrad.testing", "vtgrad.types"]


def test_every_public_name_has_an_entry() -> None:
    assert sorted(_public() - set(_documented())) == []


def test_no_name_has_two_entries() -> None:
    assert [name for name, times in _documented().items() if times > 1] == []


def test_every_entry_is_of_something_that_exists() -> None:
    for name in set(_documented()) - _public():
        # A member of a class that has an entry.
        owner, _, attribute = name.rpartition(".")
        assert owner in _public(), name
        found: object = vt
        for part in owner.split(".")[1:]:
            found = getattr(found, part)
        assert inspect.isclass(found), name
        assert hasattr(found, attribute), name


def test_python_operators_are_in_the_table_of_the_tensor() -> None:
    methods = [name for name, _ in operators_of_python()]
    assert "__getitem__" in methods
    assert [name for name in methods if f"``{name}``" not in _pages()["tensor"]] == []


def test_signatures_are_made_of_names_and_plain_defaults() -> None:
    heads = [found.group(1) for text in _pages().values() for found in _HEAD.finditer(text)]
    odd = re.compile(r"<|\bAny\w|\bUnset\b|TensorBase|(?<!\.)\bT\b|Result\b(?!\()|(?<!=)'[A-Z]\w*'")
    assert [head for head in heads if odd.search(head)] == []
    assert "sum(input, dim=None, keepdim=False, *, dtype=None, out=None" in "\n".join(heads)


def test_methods_stand_below_a_function_whose_last_name_has_no_dot() -> None:
    """Sphinx takes them for members of what that name has before its dot, and finds none."""
    heads = re.compile(r"^\.\. py:function:: (.*(?:\n {8}.*)*)((?:\n(?: .*)?)*)", re.MULTILINE)
    above = [
        found[1].splitlines()[-1].split("(")[0].strip()
        for text in _pages().values()
        for found in heads.finditer(text)
        if ".. py:method:: Tensor." in found[2]
    ]
    assert "matmul" in above
    assert [name for name in above if "." in name] == []


def test_a_topic_is_the_module_that_defines_the_function() -> None:
    topics = {entry.name: entry.topic for entry in all_entries()}
    assert topics["vtgrad.arange"] == "creation"
    for name in ("exp", "index_select", "cumsum"):
        assert vt.__dict__[name].__module__.split(".")[3] == topics[f"vtgrad.{name}"]


def test_every_topic_has_a_title_and_a_place() -> None:
    topics = set(_pages()) - {"index"}
    assert sorted(TITLES) == sorted(topics)
    assert sorted(topic for group in GROUPS.values() for topic in group) == sorted(topics)


def test_the_index_leads_to_every_page() -> None:
    listed = re.findall(r"^   (\w+)$", _pages()["index"], re.MULTILINE)
    assert sorted(listed) == sorted(set(_pages()) - {"index"})


@pytest.mark.slow
def test_examples_of_public_names_are_collected() -> None:
    # An example that no module's doctests contain, as in a function made at run time, never runs.
    finder = doctest.DocTestFinder(exclude_empty=True)
    collected = {
        inspect.cleandoc(example.docstring)
        for found in pkgutil.walk_packages(vt.__path__, "vtgrad.")
        if not found.name.endswith("__main__")
        for example in finder.find(import_module(found.name))
        if example.docstring is not None
    }
    shown = [inspect.getdoc(entry.thing) or "" for entry in all_entries() if entry.kind != "data"]
    assert [text for text in shown if ">>>" in text and text not in collected] == []
