"""The comparison is itself tested: faults planted in custom Functions make programs differ."""

from collections.abc import Callable
from typing import Any

import pytest

import vtgrad
from tests.oracle.fuzz import Fuzzer
from vtgrad.function import results as made
from vtgrad.function.context import Call
from vtgrad.function.node import BackwardCFunction
from vtgrad.graph.node import Node
from vtgrad.graph.saved_variable import SavedResult
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.creation_meta import CreationMeta
from vtgrad.views.rebase_history import set_own_history

PROGRAMS = 400


def views_may_be_written(patch: pytest.MonkeyPatch) -> None:
    """A view that a Function returns forgets where it came from."""
    produced = made._produced

    def planted(x: TensorBase, node: BackwardCFunction, nr: int, _: CreationMeta) -> TensorBase:
        return produced(x, node, nr, CreationMeta.DEFAULT)

    patch.setattr(made, "_produced", planted)


def arguments_come_back_themselves(patch: pytest.MonkeyPatch) -> None:
    """An argument that is returned unchanged gets the node as its producer."""

    def planted(x: TensorBase, node: Node | None, nr: int, _: CreationMeta) -> TensorBase:
        if node is not None:
            set_own_history(x, node)
        return x

    patch.setattr(made, "_view_as_is", planted)


def base_is_not_told(patch: pytest.MonkeyPatch) -> None:
    """A declared write to a view reaches the view only."""
    patch.setattr(made, "rebase_history", set_own_history)


def marking_does_not_count(patch: pytest.MonkeyPatch) -> None:
    """A dirty argument's version moves by the writes in forward alone."""
    record = made.wrap_outputs

    def planted(call: Call, *rest: Any) -> Any:
        for tensor in call.dirty:
            tensor._impl.counter.value -= 1
        return record(call, *rest)

    patch.setattr("vtgrad.function.apply.wrap_outputs", planted)


def saved_results_are_not_checked(patch: pytest.MonkeyPatch) -> None:
    """Overwriting a saved result goes unnoticed."""
    patch.setattr(BackwardCFunction, "check_saved", lambda self: None)
    patch.setattr(SavedResult, "_look", lambda self, node: False)


def gradients_are_not_made_zeros(patch: pytest.MonkeyPatch) -> None:
    """The gradient of a result that was not used is None although zeros were asked for."""

    def planted(call: Call, *rest: Any) -> None:
        initialise(call, *rest)
        call.materializes = False

    initialise = Call.__init__
    patch.setattr(Call, "__init__", planted)


FAULTS: list[Callable[[pytest.MonkeyPatch], None]] = [
    views_may_be_written,
    arguments_come_back_themselves,
    base_is_not_told,
    marking_does_not_count,
    saved_results_are_not_checked,
    gradients_are_not_made_zeros,
]


def programs_of_functions() -> Fuzzer:
    """A writer of programs in which every third step or so calls a Function."""
    fuzzer = Fuzzer("vtgrad", seed=20261121)
    for name in ("function", "writing_function"):
        fuzzer.weights[name] *= 8
    return fuzzer


def first_difference(fuzzer: Fuzzer, programs: int) -> str | None:
    """What the first program that differs shows; None if none does."""
    for index in range(programs):
        _, run = fuzzer.run(index)
        if run.divergences:
            return run.signature
    return None


@pytest.mark.skipif(
    vtgrad.__compiled__, reason="native calls go past the seams at which faults are planted"
)
@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault.__name__))
def test_a_planted_fault_is_found(
    fault: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    assert first_difference(programs_of_functions(), PROGRAMS) is not None


@pytest.mark.slow
def test_without_a_fault_the_same_programs_agree() -> None:
    assert first_difference(programs_of_functions(), PROGRAMS // 4) is None
