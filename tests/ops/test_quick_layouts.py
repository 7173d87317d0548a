"""The quick way through operators of operands with two layouts gives what the general way gives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import VtgradError
from vtgrad.ops.calling.quick import quick_binary

VALUES = np.linspace(-2.0, 3.0, 64).reshape(8, 8)

OPERANDS: dict[str, Callable[[vt.Tensor], vt.Tensor]] = {
    "dense": lambda x: x,
    "transposed": lambda x: x.t(),
    "strided": lambda x: x[:, ::2],
    "inner": lambda x: x[1:-1, 1:-1],
    "backward": lambda x: x.flip(0)[2:, 2:],
    "column": lambda x: x[:, 2:3],
    "row": lambda x: x[3],
    "one": lambda x: x[3, 3],
    "expanded": lambda x: x[:1].expand(8, 8),
    "empty": lambda x: x[:0],
    "higher": lambda x: x.reshape(2, 4, 8).transpose(0, 2),
}


def shown(result: vt.Tensor) -> tuple[object, ...]:
    """Dtype, shape, strides and bits."""
    return result.dtype, result.shape, result.stride(), result.numpy().tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.int64, np.bool_])
@pytest.mark.parametrize("name", ["add", "mul", "true_divide"])
def test_operands_of_two_layouts_give_what_they_give_in_general(
    name: str, dtype: type[np.generic], monkeypatch: pytest.MonkeyPatch
) -> None:
    if vt.__compiled__:
        pytest.skip("native calls go past the seam")
    x = vt.from_numpy(VALUES.astype(dtype))
    function = getattr(vt, name)
    for first in OPERANDS.values():
        for second in [*OPERANDS.values(), 2, 0.5, -0.0, float("nan"), 10**30, True]:
            found = []
            for way in (quick_binary, lambda *_: None):
                monkeypatch.setattr("vtgrad.ops.generated.arithmetic.quick_binary", way)
                try:
                    b = second(x) if callable(second) else second
                    found.append(shown(function(first(x), b)))
                except VtgradError as error:
                    found.append((str(error),))
            assert found[0] == found[1], (first, second)


def test_what_is_more_than_its_array_takes_the_general_way() -> None:
    wide = vt.from_numpy(VALUES)
    part = wide[:, ::2]
    assert quick_binary(np.add, part, part) is not None
    assert quick_binary(np.add, part, 2.0) is not None
    assert quick_binary(np.add, part, wide) is None
    assert quick_binary(np.add, part, part.float()) is None
    assert quick_binary(np.add, part.long(), part.long(), True) is None
    lazy = vt.complex(part, part).conj()
    assert quick_binary(np.add, lazy, lazy) is None
    assert quick_binary(np.add, part.refine_names("n", "k"), part) is None
