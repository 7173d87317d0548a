"""The benchmarks measure the same program in every library."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from benchmarks import convolution, reading_back, rewinding
from benchmarks.libraries import PEERS, Body, load
from benchmarks.linear_algebra import PAIRS, Differentiated, Pair
from benchmarks.operator_calls import LAYOUTS, calls
from tests.benchmarks.programs import CASES, Case

KEPT = {**reading_back.PROGRAMS, **rewinding.PROGRAMS}


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("case", CASES, ids=[f"{c.section}: {c.name}" for c in CASES])
def test_a_peer_finds_the_same_gradients(case: Case, peer: str) -> None:
    if peer != "torch":
        # `make bench` adds them to this environment, `make oracle` does not need them.
        pytest.importorskip(peer)
    library = load(peer, "float64")
    if case.writes and not library.writes:
        pytest.skip(f"{peer} cannot express it")
    theirs = case.gradients(library)
    ours = case.gradients(load("vtgrad", "float64"))
    for expected, found in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_torch_finds_the_same_gradients_of_a_convolution() -> None:
    sizes = (2, 3, 4, 5), (2, 3, 3, 3)
    case = Case(
        "", "", convolution.convolved, convolution.inputs(*sizes), convolution.weights(*sizes)
    )
    theirs, ours = [case.gradients(load(name, "float64")) for name in ("torch", "vtgrad")]
    for expected, found in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_torch_finds_the_same_in_linear_algebra(pair: Pair) -> None:
    theirs = Differentiated.of("torch", pair, 6)()
    ours = Differentiated.of("vtgrad", pair, 6)()
    # What the library leaves of the phases of vectors is the same for these matrices.
    for expected, found in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(found.detach(), expected.detach(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("name", "body"), KEPT.items(), ids=KEPT)
def test_where_torch_keeps_what_is_overwritten_its_gradient_is_as_said(
    name: str, body: Body
) -> None:
    # Where it is wrong, without a word, its time is not shown.
    library = load("torch", "float64")
    arrays = reading_back.inputs()
    program = partial(body, length=40)
    expected = Case("", name, partial(program, clone=True), arrays).gradients(library)
    with library.ops.autograd.graph.allow_mutation_on_saved_tensors():
        found = Case("", name, program, arrays).gradients(library)
    right = all(np.allclose(a, b, rtol=1e-9) for a, b in zip(found, expected, strict=True))
    assert right == (name not in rewinding.WRONG_IN_TORCH)


@pytest.mark.parametrize(("name", "body"), KEPT.items(), ids=KEPT)
def test_mygrad_runs_the_programs_as_they_stand(name: str, body: Body) -> None:
    pytest.importorskip("mygrad")
    arrays = reading_back.inputs()
    program = partial(body, length=40)
    found = Case("", name, program, arrays).gradients(load("mygrad", "float64"))
    copying = Case("", name, partial(program, clone=True), arrays)
    for ours, theirs in zip(copying.gradients(load("vtgrad", "float64")), found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["add", "exp", "index_select", "cat", "clamp", "transpose"])
def test_a_call_of_an_operator_is_the_same_in_both_libraries(name: str) -> None:
    libraries = {library: load(library) for library in ("vtgrad", "torch")}
    found = list(calls(libraries, 4, [name]))
    assert {call.layout for call in found} == set(LAYOUTS)
    assert {call.operator for call in found} >= {name}
    for call in found:
        if call.operator == name:
            ours: Any = call.programs["vtgrad"]()
            theirs: Any = call.programs["torch"]()
            assert (ours.shape, ours.stride()) == (theirs.shape, theirs.stride()), call.row
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)


def test_no_call_changes_the_geometry_of_its_operand() -> None:
    libraries = {library: load(library) for library in ("vtgrad", "torch")}
    found = [call.operator for call in calls(libraries, 4, ["unsqueeze", "mul"])]
    assert "mul_" in found
    assert "unsqueeze" in found
    assert "unsqueeze_" not in found
