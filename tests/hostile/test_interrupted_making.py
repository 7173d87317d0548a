"""After an interrupt of a call with other makers, arrays are NumPy's own again.

What breaks it: an entry of the thread that is removed by a function of Python, or makers that are
restored by one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lasting_arrays import lasting_arrays
from vtgrad.storage.number_arrays import numbers_of


class Recorded(np.ndarray[tuple[int, ...], np.dtype[np.float64]]):
    """What a recording has in place of arrays."""


def _recorded(name: str) -> making.Maker:
    numpys = making.NUMPYS[name]

    def make(*args: object, **kwargs: object) -> object:
        made: Array = np.asarray(numpys(*args, **kwargs)).view(Recorded)
        return made

    return make


MAKERS = {name: _recorded(name) for name in ("array", "asarray", "zeros")}


@NEEDS_TRACE
@pytest.mark.slow
def test_makers_are_gone_wherever_the_call_was_interrupted() -> None:
    numbers = numbers_of(np.dtype(np.float64))
    assert numbers is not None

    def prepare() -> Callable[[], object]:
        numbers.known.pop(0.6875, None)

        def program() -> None:
            made = vt.zeros(2, dtype=vt.float64)
            assert type(made._impl.array) is Recorded
            numbers.operand(0.6875)

        return lambda: making.run_with(MAKERS, program)

    def check(over: bool) -> None:
        assert making.state.makers is None
        assert type(vt.zeros(2)._impl.array) is np.ndarray
        assert {type(array) for array in lasting_arrays()} == {np.ndarray}
        # Functions that look at the thread may be left, until the next call ends.
        making.run_with({}, int)
        assert making.zeros is np.zeros

    assert interrupted_everywhere(prepare, check) > 20
