"""Faults of the recorder that the samples must find: with each, a sample is no longer exact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from tests.jit.replaying import MODES, cases_of, outcome
from tests.jit.test_record import PROGRAMS
from vtgrad.errors import RecordingError
from vtgrad.jit import check, creators
from vtgrad.jit.interpret import interpret
from vtgrad.jit.provenance import KnownMemory
from vtgrad.jit.record import record
from vtgrad.jit.recorder import Recorder
from vtgrad.jit.recording_array import RecordingArray
from vtgrad.jit.steps import Place

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
]

Plant = Callable[[pytest.MonkeyPatch], None]

OPERATORS = ("cumsum", "flip", "index_add", "mul", "sort", "sum_dim_IntList", "where_self")


def outcomes() -> dict[str, str]:
    """The outcomes of some samples and programs."""
    found = {name: outcome(*made) for name, made in PROGRAMS.items()}
    for case in cases_of("gradient"):
        if case.operator.name in OPERATORS:
            made = MODES["gradient"](case)
            if made is not None:
                found[str(case)] = outcome(*made)
    return found


def lost_address(patch: pytest.MonkeyPatch) -> None:
    """Memory that was freed stays known."""
    patch.setattr(KnownMemory, "_die", lambda self, reference: None)


def shifted_address(patch: pytest.MonkeyPatch) -> None:
    """Parts of a buffer are taken for its beginning."""
    place = KnownMemory.place

    def wrong(self: KnownMemory, known: Any, array: Any, address: int) -> Place:
        found = place(self, known, array, address)
        return Place(found.buffer, found.dtype, found.shape, found.strides, 0)

    patch.setattr(KnownMemory, "place", wrong)


def poisoned_cache(patch: pytest.MonkeyPatch) -> None:
    """An array that is not known is taken for a constant of the library."""
    place_if_known = Recorder.place_if_known

    def wrong(self: Recorder, array: Any) -> Place | None:
        found = place_if_known(self, array)
        return self.constant(array) if found is None else found

    patch.setattr(Recorder, "place_if_known", wrong)


def changed_identity(patch: pytest.MonkeyPatch) -> None:
    """A result that is an argument is another object."""
    wrapped = Recorder._wrapped

    def wrong(self: Recorder, value: object, **options: Any) -> Any:
        self.originals.clear()
        return wrapped(self, value, **options)

    patch.setattr(Recorder, "_wrapped", wrong)


def lost_strides(patch: pytest.MonkeyPatch) -> None:
    """Arrays are made without their strides, and sums run in another order."""
    makers = dict(creators.MAKERS)

    def wrong(shape: Any, dtype: Any = float, buffer: Any = None, *args: Any, **kw: Any) -> Any:
        if buffer is not None:
            return creators.MAKERS["ndarray"](shape, dtype, buffer, *args, **kw)
        return creators.MAKERS["ndarray"](shape, dtype)

    makers["ndarray"] = wrong
    patch.setattr("vtgrad.jit.program_call.MAKERS", makers)


def unguarded_number(patch: pytest.MonkeyPatch) -> None:
    """A number leaves without a guard."""
    patch.setattr(Recorder, "guard", lambda *args: None)


def lost_write(patch: pytest.MonkeyPatch) -> None:
    """Writes to parts are not written down."""

    def wrong(self: RecordingArray, key: Any, value: Any) -> None:
        plain = np.ndarray.view(self, np.ndarray)
        plain[key] = value

    patch.setattr(RecordingArray, "__setitem__", wrong)


FAULTS: list[Plant] = [
    changed_identity,
    lost_address,
    lost_strides,
    lost_write,
    poisoned_cache,
    shifted_address,
    unguarded_number,
]


def more_programs() -> dict[str, tuple[Callable[[Any], object], tuple[object, ...]]]:
    """Programs that show what the others do not."""
    rng = np.random.default_rng(0)
    vector = rng.normal(size=3)
    matrix = vt.tensor(rng.normal(size=(3, 4)))
    return {
        "bytes": (lambda x: x * np.frombuffer(bytes(memoryview(x))), (vector,)),
        "identity": (lambda x: x * (2 if np.asarray(x) is x else 3), (vector,)),
        "item": (lambda x: x * float(x[0]), (vt.tensor(vector),)),
        "strides": (lambda x: x.t().clone(), (matrix,)),
    }


@pytest.fixture(autouse=True)
def with_more_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, made in more_programs().items():
        monkeypatch.setitem(PROGRAMS, name, made)


@pytest.mark.parametrize("plant", FAULTS, ids=lambda x: x.__name__)
def test_a_planted_fault_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = outcomes()
    with monkeypatch.context() as patch:
        plant(patch)
        faulty = outcomes()
    found = {name: faulty[name] for name, kind in sound.items() if faulty[name] != kind}
    assert found


def hides_a_write(x: Any) -> Any:
    y = x * 2
    y[0] = 7.0
    return np.where(x > 100, y, x)


def test_the_check_of_each_step_finds_a_fault_that_no_run_shows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few, many = np.ones(3), np.full(3, 200.0)
    lost_write(monkeypatch)
    with pytest.raises(RecordingError) as caught:
        record(hides_a_write, (few,))
    assert caught.value.line == (__file__, hides_a_write.__code__.co_firstlineno + 3)
    monkeypatch.setattr(check, "_compare_reads", lambda *args: None)
    (found,) = interpret(record(hides_a_write, (few,)).program, [many.view(np.uint8)])
    assert found.tolist() == [400.0, 400.0, 400.0]
    assert hides_a_write(many)[0] == 7.0


def test_without_a_fault_nearly_all_is_exact() -> None:
    assert {name for name, kind in outcomes().items() if kind != "exact"} == {"bytes", "item"}
