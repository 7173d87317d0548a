"""Forward mode and reverse mode agree on every call of the oracle's menu.

Both modes are the same linear map and its adjoint: for any weights `w` of the results and any
tangents `t`, the real parts of ``<w, J t>`` and ``<J^H w, t>`` agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pytest

import vtgrad as vt
from tests.forward.menu import GROUPS, Called, inner, tangent_of_leaf, weights_of
from vtgrad.autograd import forward_ad as fw
from vtgrad.errors import (
    ArgumentTypeError,
    DetachViewError,
    LeafWriteError,
    NotALeafError,
    NotSupportedError,
    NumpyConversionError,
    RequiresGradError,
    StaleSavedError,
    ViewOfLeafWriteError,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
]

# What tensors that require grad may not do, and duals may.
OF_REVERSE_MODE: Final = (
    ArgumentTypeError,
    LeafWriteError,
    NotALeafError,
    NumpyConversionError,
    RequiresGradError,
    ViewOfLeafWriteError,
)
# What duals may not do: NotSupportedError says so of an operator, and a dual is a view.
OF_FORWARD_MODE: Final = (DetachViewError, NotSupportedError)

EXCUSED: Final[Mapping[str, str]] = {
    "{a} ** {m}": "the formula subtracts from a bool, in backward too",
    "{s} ** {m}": "as above",
    "{f} ** {m}": "as above",
    "{z} ** {m}": "as above",
    "{P}.atanh_()": "an infinite slope times weights of both signs",
    "{V}.atanh_()": "as above",
    "{P}.mvlgamma_(2)": "as above",
    "{A}.div_({i})": "as above",
    "{P}.div_({i})": "as above",
    "{V}.div_({i})": "as above",
    "{e}.mean()": "0 / 0 elements: nan, of which backward has no element to tell",
    "{e}.mean(0)": "as above",
    "{e}.mean(0, keepdim=True)": "as above",
    "{e}.mean(0, dtype=L.float32)": "as above",
    "{e}.mean(0, dtype=L.float64)": "as above",
    "{e}.mean(dim=(0, 1))": "as above",
    "{e}.mean(dim=(-1, 0))": "as above",
    "{e}.mean(dim=(0, 1), keepdim=True)": "as above",
    "{e}.mean(dim=())": "as above",
    "{e}.nanmean(0)": "as above",
    "L.var_mean({e}, 0)[1]": "as above",
    "{a}.requires_grad_(False)": "the leaf is constant in reverse mode only",
    "{v}.requires_grad_(False)": "as above",
    "{s}.requires_grad_(False)": "as above",
    "{k}.requires_grad_(False)": "as above",
}


def forward_product(called: Called) -> float:
    total = 0.0
    for nr, y in enumerate(called.results):
        tangent = fw.unpack_dual(y).tangent
        if tangent is None:
            continue
        assert (tangent.shape, tangent.dtype) == (y.shape, y.dtype)
        pairs = zip(y.shape, y.stride(), tangent.stride(), strict=True)
        assert all(a == b for n, a, b in pairs if n > 1), "another layout than the value's"
        total += inner(weights_of(nr, y), tangent)
    return total


def backward_product(called: Called) -> float:
    roots = [(nr, y) for nr, y in enumerate(called.results) if y.requires_grad]
    if not roots or not called.leaves:
        return 0.0
    grads: Sequence[vt.Tensor | None] = vt.autograd.grad(
        [y for _, y in roots],
        called.leaves,
        [vt.tensor(weights_of(nr, y)) for nr, y in roots],
        allow_unused=True,
    )
    return sum(
        inner(tangent_of_leaf(nr, leaf), grad)
        for nr, (leaf, grad) in enumerate(zip(called.leaves, grads, strict=True))
        if grad is not None
    )


def wrong_with(call: str) -> str:
    """What differs between the modes; empty if nothing does."""
    with np.errstate(all="ignore"):
        recorded = Called(call, dual=False, recorded=True)
        with fw.dual_level():
            dual = Called(call, dual=True, recorded=False)
            if recorded.error is not None or dual.error is not None:
                return _wrong_errors(recorded.error, dual.error)
            for x, y in zip(recorded.results, dual.results, strict=True):
                a, b = x.numpy(force=True), y.numpy(force=True)
                if not np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"):
                    return f"values {a} and {b}"
            forward = forward_product(dual)
        try:
            backward = backward_product(recorded)
        except StaleSavedError:
            # An operand that is also what was written.
            return ""
        tolerance = 2e-2 if recorded.low else 1e-8
        if np.isclose(forward, backward, tolerance, tolerance, equal_nan=True):
            return ""
        return f"{forward} forward, {backward} backward"


def _wrong_errors(recorded: Exception | None, dual: Exception | None) -> str:
    if (
        (recorded is not None and dual is not None)
        or isinstance(recorded, OF_REVERSE_MODE)
        or isinstance(dual, OF_FORWARD_MODE)
    ):
        return ""
    return f"{recorded!r} where it is recorded, {dual!r} with duals"


@pytest.mark.parametrize("group", GROUPS)
def test_calls_agree(group: str) -> None:
    wrong = {call: text for call in GROUPS[group] if (text := wrong_with(call))}
    excused = {call for call in GROUPS[group] if call in EXCUSED}
    assert {call: text for call, text in wrong.items() if call not in excused} == {}
    assert excused <= set(wrong), "excused without a reason"


def test_excuses_are_about_calls_of_the_menu() -> None:
    assert set(EXCUSED) <= {call for calls in GROUPS.values() for call in calls}


def test_out_is_refused_for_tensors_with_tangents() -> None:
    calls = {call.replace(".detach()", "") for listed in GROUPS.values() for call in listed}
    accepted = []
    tried = 0
    with fw.dual_level():
        for call in sorted(calls):
            if "out=" in call:
                called = Called(call, dual=True, recorded=False)
                if called.leaves:
                    tried += 1
                    if called.error is None:
                        accepted.append(call)
    assert accepted == []
    assert tried > 400
