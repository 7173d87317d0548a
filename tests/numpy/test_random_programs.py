"""Random programs with writes and views: NumPy's values and dtypes, and the right gradients.

After each statement every live array is compared, so that what shares memory is compared too. A
statement that the namespace refuses must have changed nothing, and is left out of the program.
What breaks it: a copy for a view or a view for a copy, a dtype, a lost or a doubled gradient.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from typing import Any, Final

import pytest

import vtgrad.numpy as vnp
from tests.numpy.program_gradients import check
from tests.numpy.program_runs import Program, generate, report, run, shortened

#: Every fourth of them is differentiated. 100,000 take about half an hour.
PROGRAMS: Final = int(os.environ.get("VTGRAD_NUMPY_PROGRAMS", "600"))
BLOCKS: Final = 10


def seeds(block: int) -> range:
    return range(block * PROGRAMS // BLOCKS, (block + 1) * PROGRAMS // BLOCKS)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_programs_give_what_numpy_gives(block: int) -> None:
    kept = 0
    for seed in seeds(block):
        program, outcome = generate(seed)
        assert outcome.difference is None, f"program {seed}\n{report(program, outcome)}"
        kept += len(outcome.kept)
    # Of twelve statements few are refused.
    assert kept > 10 * len(seeds(block))


def wrong_gradient(seed: int, program: Program) -> str | None:
    return check(program, seed, Counter())


@pytest.mark.parametrize("block", range(BLOCKS))
def test_gradients_of_programs(block: int) -> None:
    counts: Counter[str] = Counter()
    for seed in seeds(block)[::4]:
        program, outcome = generate(seed)
        if not program.recorded:
            continue
        kept = Program(program.inputs, True, tuple(outcome.kept))
        wrong = check(kept, seed, counts)
        if wrong is not None:
            short = shortened(kept, partial(wrong_gradient, seed))
            pytest.fail(f"program {seed}\n{short}\n--> {wrong_gradient(seed, short)}")
    assert counts["compared"] > counts.total() // 2, counts


def test_a_copy_for_a_view_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vnp.ndarray, "T", property(lambda self: self.transpose().copy()))
    found = next((p, o) for p, o in map(generate, range(300)) if o.difference is not None)
    assert ".T" in report(*found)


def test_a_wrong_dtype_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = vnp.ndarray.astype

    def wrong(self: Any, dtype: Any, *args: Any, **options: Any) -> Any:
        return right(self, "float64" if dtype == "float32" else dtype, *args, **options)

    monkeypatch.setattr(vnp.ndarray, "astype", wrong)
    assert any(generate(seed)[1].difference for seed in range(300))


def test_a_lost_gradient_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    program = next(
        Program(p.inputs, True, tuple(o.kept))
        for p, o in map(generate, range(300))
        if p.recorded and any(".copy()" in statement for statement in o.kept)
    )
    assert run(program).difference is None
    right = vnp.ndarray.copy
    monkeypatch.setattr(vnp.ndarray, "copy", lambda self, *args: right(self.detach(), *args))
    assert "derivative" in str(wrong_gradient(0, program))
