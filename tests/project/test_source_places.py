"""What the documentation names has a place in the source, to which the built site links."""

import pytest

import vtgrad as vt
from docs.reference_pages.entries import all_entries
from docs.reference_pages.pages import thing_named
from docs.source_places import (
    Definitions,
    anchor_of_note,
    definitions,
    files,
    of_file,
    of_name,
    of_note,
    of_symbol,
    of_thing,
)
from tests.project.test_glossary import _places
from tests.project.test_notes import titles
from tests.project.test_walks import _walks

pytestmark = pytest.mark.skipif(
    vt.__compiled__, reason="native functions do not tell where they are defined"
)


def _exists(place: tuple[str, str] | None) -> bool:
    if place is None:
        return False
    file, anchor = place
    found = definitions(file)
    return not anchor or anchor in found.lines or anchor in map(anchor_of_note, found.notes)


def test_definitions_are_found_by_their_qualified_names() -> None:
    found = Definitions(
        '"""Text.\n\nNote [A title]\n"""\n\nlimit: int = 3\n\n\n'
        "@cache\ndef f():\n    def g(): ...\n"
        "\n\nclass C:\n    first = second = 1\n\n    def m(self): ...\n"
    )
    assert found.lines == {
        "limit": 6,
        "f": 9,
        "f.<locals>.g": 11,
        "C": 14,
        "C.first": 15,
        "C.second": 15,
        "C.m": 17,
    }
    assert found.notes == {"A title": 3}


def test_places_of_the_glossary_lead_to_a_definition() -> None:
    places = {symbol: of_symbol(symbol) for symbol in _places()}
    assert [symbol for symbol, place in places.items() if not _exists(place)] == []
    assert [
        s for s, place in places.items() if place is not None and ":" in s and not place[1]
    ] == []
    assert places["vtgrad.graph.node:Node"] == ("graph/node", "Node")


def test_steps_of_walks_lead_to_a_definition() -> None:
    steps = [step for _, found in _walks().values() for step in found]
    assert [step for step in steps if not _exists(of_name(step[1], step[0]))] == []


def test_entries_of_the_reference_lead_to_a_definition() -> None:
    entries = [entry for entry in all_entries() if entry.kind != "data"]
    places = {e.name: of_thing(thing_named(e.name), e.name) for e in entries}
    assert [name for name, place in places.items() if not _exists(place)] == []
    assert [name for name, place in places.items() if place is not None and not place[1]] == []
    assert places["vtgrad.Tensor.backward"] == (
        "tensor/autograd_methods",
        "AutogradMethods.backward",
    )


@pytest.mark.slow
def test_notes_have_places_of_their_own() -> None:
    assert [title for title in titles() if not _exists(of_note(title))] == [
        "The judge"
    ]  # of a test
    for file in files():
        notes = definitions(file).notes
        assert len({*map(anchor_of_note, notes)}) == len(notes)


def test_what_is_gone_has_no_place() -> None:
    assert of_file("graph/gone") is None
    assert of_name("graph/node", "Node.gone") is None
    assert of_note("No such note") is None
    assert of_thing(len) is None
