"""A write to an inference tensor is refused as such before its arguments are looked at.

What breaks it: a function that checks its arguments before it calls `write`; see Note [The write
funnel].
"""

import pytest

import vtgrad as vt
from tests.ops.calls import Case, arguments_of, cases
from tests.sweeping import at_once, sweep
from vtgrad.codegen.language import Operator
from vtgrad.errors import InferenceWriteError


def _is_called_alike(operator: Operator) -> bool:
    """Whether the method in place takes what samples of the operator have."""
    name = operator.spoken_inplace
    return operator.inplace is not None and hasattr(vt.Tensor, name) and name != "index_put_"


@sweep(
    cases(_is_called_alike),
    [vt.bool, vt.int64, vt.float64],
    row=at_once,
)
def test_a_write_outside_of_inference_mode(case: Case, dtype: vt.dtype) -> None:
    (target, *values), options = arguments_of(case)
    assert isinstance(target, vt.Tensor)
    with vt.inference_mode():
        target = vt.zeros(tuple(target.shape), dtype=dtype)
    with pytest.raises(InferenceWriteError):
        getattr(vt.Tensor, case.operator.spoken_inplace)(target, *values, **options)
