"""The ways to run a program that reads what it wrote: each is what it is called.

What breaks it: a row that is called exact and copies or keeps something, one that is called rewind
and would run without it, or a way that finds another gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest

from benchmarks import peak_memory, reading_back, rewinding
from benchmarks.libraries import Array, Body, Library, Real, load
from benchmarks.ways import Way, both_passes
from vtgrad.autograd import graph
from vtgrad.errors import StaleSavedError

EXACT = {name: partial(body, length=9) for name, body in reading_back.PROGRAMS.items()}
# Long enough for every row of the table and of the ring to be written more than once.
REWIND = {name: partial(body, length=140) for name, body in rewinding.PROGRAMS.items()}
SWING = "swing"


@pytest.fixture(scope="module")
def library() -> Library:
    return load("vtgrad", "float64")


def _gradients(
    library: Library,
    monkeypatch: pytest.MonkeyPatch,
    body: Body,
    arrays: Sequence[Real],
    way: Way,
) -> list[Real]:
    """What the measured call computes, before it drops it."""
    found: list[Real] = []

    def differentiate(program: Body, inputs: Sequence[Real]) -> Callable[[], object]:
        def run() -> None:
            leaves: list[Array] = [library.leaf(array) for array in inputs]
            program(library, *leaves).backward()
            found.extend(np.array(leaf.grad) for leaf in leaves)

        return run

    with monkeypatch.context() as patch:
        patch.setattr(library, "differentiate", differentiate)
        both_passes(library, body, arrays, way)()()
    return found


def _programs() -> list[tuple[str, Body, Sequence[Real]]]:
    return [
        *((name, body, reading_back.inputs()) for name, body in EXACT.items()),
        *((name, body, rewinding.inputs()) for name, body in REWIND.items()),
        (SWING, peak_memory.swing, [np.linspace(-1.0, 1.0, 6)]),
    ]


@pytest.mark.parametrize(("name", "body", "arrays"), _programs())
def test_all_ways_find_the_gradient_with_copies(
    name: str,
    body: Body,
    arrays: Sequence[Real],
    library: Library,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = _gradients(library, monkeypatch, body, arrays, "clone")
    ways: list[Way] = ["exact", "rewind"] if name in EXACT else ["rewind"]
    for way in ways:
        found = _gradients(library, monkeypatch, body, arrays, way)
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("name", "body", "arrays"), _programs())
def test_what_is_called_rewind_is_refused_without_it(
    name: str, body: Body, arrays: Sequence[Real], library: Library
) -> None:
    call = both_passes(library, body, arrays, "exact")()
    if name in EXACT:
        call()
    else:
        with pytest.raises(StaleSavedError):
            call()


def test_only_rewind_opens_a_block(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    original = graph.allow_mutation_on_saved_tensors

    def noted() -> object:
        opened.append("block")
        return original()

    monkeypatch.setattr(graph, "allow_mutation_on_saved_tensors", noted)
    ways: tuple[Way, ...] = ("exact", "clone", "rewind")
    counts = []
    for way in ways:
        both_passes(library, EXACT["rows"], reading_back.inputs(), way)()()
        counts.append(len(opened))
    assert counts == [0, 0, 1]
