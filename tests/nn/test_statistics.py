"""The two running statistics are written together: Note [Both statistics or neither]."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from vtgrad.errors import BatchedWriteError, ReadOnlyError
from vtgrad.nn import functional

BEFORE = ((1.0, 2.0), (3.0, 4.0))


def _statistics() -> list[vt.Tensor]:
    return [vt.tensor(values) for values in BEFORE]


def _values() -> vt.Tensor:
    return vt.arange(12.0).reshape(3, 2, 2)


def _found(statistics: list[vt.Tensor]) -> tuple[object, ...]:
    return tuple([tuple(x.numpy().tolist()) for x in statistics])


@NEEDS_TRACE
@pytest.mark.slow
@pytest.mark.parametrize("name", ["batch_norm", "instance_norm"])
def test_an_interrupt_leaves_both_or_neither(name: str) -> None:
    norm: Callable[..., vt.Tensor] = getattr(functional, name)
    options = {"training": True} if name == "batch_norm" else {}
    done = _statistics()
    norm(_values(), *done, **options)
    after = _found(done)
    held: list[vt.Tensor] = []
    seen: set[object] = set()

    def prepare() -> Callable[[], object]:
        held[:] = _statistics()
        x, (mean, var) = _values(), held
        return lambda: norm(x, mean, var, **options)

    def check(over: bool) -> None:
        found = _found(held)
        seen.add(found)
        assert found == after if over else found in (BEFORE, after)

    assert interrupted_everywhere(prepare, check) > 50
    assert seen == {BEFORE, after}


def test_a_variance_that_cannot_be_written_leaves_the_mean() -> None:
    (mean, _) = _statistics()
    memory = np.array(BEFORE[1], dtype=np.float32)
    memory.flags.writeable = False
    var = vt.from_numpy(memory)
    with pytest.raises(ReadOnlyError):
        functional.batch_norm(_values(), mean, var, training=True)
    assert _found([mean, var]) == BEFORE
    assert mean._version == 0


def test_a_variance_without_samples_leaves_the_mean() -> None:
    mean, var = _statistics()
    means = vt.stack([mean, mean])

    def call(x: vt.Tensor, m: vt.Tensor) -> vt.Tensor:
        return functional.batch_norm(x, m, var, training=True)

    with pytest.raises(BatchedWriteError):
        vt.vmap(call)(vt.stack([_values(), _values() * 2]), means)
    assert _found([*means, var]) == (BEFORE[0], *BEFORE)
