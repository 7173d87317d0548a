"""In-place operators on columns of wider tables: NumPy's loops differ by stride, one was wrong."""

from __future__ import annotations

import numpy as np

import vtgrad as vt
from tests.ops.calls import OPERATORS
from tests.ops.samples import DRAWN
from tests.sweeping import sweep
from vtgrad.errors import VtgradError

UNARY = sorted(
    operator.inplace
    for operator in OPERATORS.values()
    if operator.inplace is not None
    and len(operator.arguments) == 1
    and operator.name not in DRAWN
    and operator.is_public
)


@sweep(UNARY, ["float32", "float64", "int32", "int64", "complex64"], row=lambda name, _: name)
def test_a_strided_write_stores_what_a_contiguous_one_does(name: str, dtype: str) -> None:
    values = np.arange(1, 8).astype(dtype)
    try:
        expected = getattr(vt.tensor(values), name)()
    except VtgradError:
        return  # not of this dtype
    for step in range(2, 19):
        buffer = np.ones((7, step), dtype)
        buffer[:, 0] = values
        column = vt.from_numpy(buffer)[:, 0]
        getattr(column, name)()
        np.testing.assert_allclose(column.numpy(), expected.numpy(), rtol=1e-5)
        assert (buffer[:, 1:] == 1).all()
