"""Differences of numbers: special functions, points and dtypes; see `tests.oracle.allowlist`."""

import re
from typing import TypeAlias

import numpy as np

from tests.oracle.compare import same_bits
from tests.oracle.kinds import kind_of
from tests.oracle.situation import Situation
from vtgrad.ops.generated import operators
from vtgrad.ops.operator import Operator

Numbers: TypeAlias = np.ndarray[tuple[int], np.dtype[np.complex128]]


def nothing_to_compute(s: Situation) -> bool:
    return (
        s.torch_error is None
        and s.our_error is not None
        and kind_of(s.our_error) in ("not-supported", "dtype")
        and any(t.numel() == 0 for t in s.tensors_used())
    )


def index_beyond_one_column(s: Situation) -> bool:
    """Whether PyTorch's quick way for a matrix of one column finds an index that does not exist."""
    return (
        s.torch_error is not None
        and "out of DATA bounds" in str(s.torch_error)
        and s.our_error is not None
        and kind_of(s.our_error) == "index"
    )


def complex_infinities(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "values":
        return False
    theirs, ours = np.asarray(s.divergence.expected), np.asarray(s.divergence.found)
    known = np.isfinite(theirs)
    # Or the parts of complex numbers.
    views = any(t.is_complex() for t in s.torch.tensors().values())
    return (
        theirs.shape == ours.shape
        and (theirs.dtype.kind == "c" or (theirs.dtype.kind == "f" and views))
        and bool((np.isnan(theirs[~known]) | np.isnan(ours[~known])).any())
        and bool(np.allclose(theirs[known], ours[known]))
    )


def number_for_a_tensor(s: Situation) -> bool:
    return s.torch_error is not None and refuses_a_number(s.torch_error)


_NUMBER = r"(?:int|float|complex|bool)"
_NO_NUMBER = re.compile(rf"must be Tensor, not {_NUMBER}\b|got \({_NUMBER}, Tensor\b")


_RECORDS = [x for x in vars(operators).values() if isinstance(x, Operator)]
# Those written by hand call one of the others.
_TAKING_NUMBERS = {x.row for x in _RECORDS if x.takes_numbers or x.number_first} | {
    *(x.spoken for x in _RECORDS if x.takes_numbers or x.number_first),
    *("arctan2", "clamp_max", "clamp_min", "isclose", "max", "min", "rsub"),
}


def refuses_a_number(error: Exception) -> bool:
    """Whether PyTorch asks for a tensor where an operator takes a number here."""
    name = str(error).partition("(")[0].removesuffix("_")
    return (
        isinstance(error, TypeError)
        and _NO_NUMBER.search(str(error)) is not None
        and name in _TAKING_NUMBERS
    )


def arcs_on_their_cuts(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "values":
        return False
    theirs, ours = np.asarray(s.divergence.expected), np.asarray(s.divergence.found)
    if theirs.dtype.kind != "c" or theirs.shape != ours.shape:
        return False
    # On a cut one part of such a derivative is zero, and the other side has the other sign.
    differ = ~np.isclose(theirs, ours)
    turned = theirs[differ]
    least = np.minimum(np.abs(turned.real), np.abs(turned.imag))
    return bool(
        np.allclose(turned, -ours[differ]) and np.all(least <= 1e-9 * np.abs(turned))
    ) and s.follows(lambda step: re.search(r"a(rc)?(sin|cos)h?_?\(", step.text) is not None)


# Operators whose first derivative PyTorch masks where the second one then is NaN.
# (`nan_to_num` multiplies by its mask, so that an infinite gradient becomes NaN.)
_MASKED_ONCE = r"\b(atan2|sinc_?|copysign_?|logit_?|nan_to_num_?)\("


def second_derivative_at_the_origin(s: Situation) -> bool:
    if not s.step.backward or s.divergence is None:
        return False
    if s.divergence.what not in ("values", "hooks"):
        return False
    if not any(re.search(_MASKED_ONCE, step.text) for step in s.earlier):
        return False
    theirs, ours = _numbers(s.divergence.expected), _numbers(s.divergence.found)
    known = ~np.isnan(theirs)
    return (
        theirs.shape == ours.shape and not known.all() and np.allclose(theirs[known], ours[known])
    )


def _numbers(found: object) -> Numbers:
    """All numbers of an array, or of what hooks saw."""
    if isinstance(found, (list, tuple)):
        parts = [_numbers(x) for x in found if not isinstance(x, str)]
        return np.concatenate(parts) if parts else np.zeros(0, np.complex128)
    return np.asarray(np.nan if found is None else found, np.complex128).reshape(-1)


def power_of_false(s: Situation) -> bool:
    if not s.step.backward or s.divergence is None or s.divergence.what != "values":
        return False
    if not any(re.search(r"(\*\*|pow_?\().*False", step.text) for step in s.earlier):
        return False
    theirs, ours = _numbers(s.divergence.expected), _numbers(s.divergence.found)
    known = ~np.isnan(theirs)
    return (
        theirs.shape == ours.shape and not known.all() and np.allclose(theirs[known], ours[known])
    )


def second_derivative_of_a_power_of_zero(s: Situation) -> bool:
    if not s.step.backward or s.divergence is None:
        return False
    if s.divergence.what not in ("values", "hooks"):
        return False
    if not any(re.search(r"\*\*|pow(er)?_?\(", step.text) for step in s.earlier):
        return False
    theirs, ours = _numbers(s.divergence.expected), _numbers(s.divergence.found)
    if theirs.shape != ours.shape:
        return False
    lost = np.isnan(theirs) & ~np.isnan(ours)
    same = np.allclose(theirs[~lost], ours[~lost], equal_nan=True)
    return bool(lost.any() and not ours[lost].any() and same)


def integer_power_of_two(s: Situation) -> bool:
    return (
        s.step.backward
        and s.divergence is not None
        and s.divergence.what == "values"
        and any(re.search(r"\bldexp_?\(", step.text) for step in s.earlier)
    )


def _gradients_behind(s: Situation, names: str) -> tuple[Numbers, Numbers] | None:
    """Both sides of gradients that differ after certain operators; None if it is not that."""
    if not s.step.backward or s.divergence is None or s.divergence.what not in ("values", "hooks"):
        return None
    if not any(re.search(rf"\b({names})_?\(", step.text) for step in s.earlier):
        return None
    theirs, ours = _numbers(s.divergence.expected), _numbers(s.divergence.found)
    return (theirs, ours) if theirs.shape == ours.shape else None


def inexact_special_function(s: Situation) -> bool:
    found = _gradients_behind(s, "lgamma|digamma|polygamma|i0")
    if found is None:
        return False
    theirs, ours = found
    # PyTorch's poles are large numbers, and its values at infinity and nan what came out.
    proper = np.isfinite(theirs) & np.isfinite(ours) & (np.abs(theirs) < 1e30)
    return bool(np.allclose(theirs[proper], ours[proper], rtol=1e-6))


_SHARES = "logaddexp2?|logsumexp|logcumsumexp"
_TIMES_INFINITY = f"{_SHARES}|prod|cumprod|scatter_reduce|acosh"


def nan_by_infinity(s: Situation) -> bool:
    found = _gradients_behind(s, _TIMES_INFINITY)
    if found is None:
        return False
    theirs, ours = found
    lost = np.isnan(theirs) & ~np.isnan(ours)
    same = np.allclose(theirs[~lost], ours[~lost], equal_nan=True)
    given = any(re.search(r"\b(inf|nan)\b", step.text) for step in s.earlier)
    return bool(lost.any() and same) and given


def shares_that_do_not_add_up(s: Situation) -> bool:
    found = _gradients_behind(s, _SHARES)
    if found is None:
        return False
    theirs, ours = found
    half = any("float16" in str(t.dtype) for t in s.torch.tensors().values())
    near = 1e-2 if half else 1e-7
    return bool(np.allclose(theirs, ours, rtol=near, atol=near, equal_nan=True))


def second_gradient_of_running_sums(s: Situation) -> bool:
    return _gradients_behind(s, "logcumsumexp") is not None and _is_second(s, "logcumsumexp")


def second_gradient_by_a_sum(s: Situation) -> bool:
    if _gradients_behind(s, _SHARES) is None or not _is_second(s, _SHARES) or s.divergence is None:
        return False
    inputs = re.search(r"grad\(.*, \[([^]]*)\]", s.step.text)
    if inputs is None or s.divergence.where not in s.step.defs:
        return False
    by = inputs[1].split(", ")[s.step.defs.index(s.divergence.where)]
    return any(by in step.defs and re.search(rf"\b({_SHARES})\(", step.text) for step in s.earlier)


def _is_second(s: Situation, names: str) -> bool:
    """Whether the step differentiates a recorded gradient of what certain operators return."""
    return s.follows(
        lambda step: re.search(rf"\b({names})_?\(", step.text) is not None,
        lambda step: step.backward and "create_graph=True" in step.text,
    )


def behind_two_zeros(s: Situation) -> bool:
    found = _gradients_behind(s, "cumprod")
    if found is None:
        return False
    theirs, ours = found
    same = np.isclose(theirs, ours, rtol=1e-4, equal_nan=True)
    values = [_numbers(t.tolist()) for t in s.torch.tensors().values()]
    return bool(np.isnan(ours[~same]).all()) and not np.isfinite(np.concatenate(values)).all()


def variance_of_nothing(s: Situation) -> bool:
    return s.step.backward and re.search(r"\.(var|std)\(dim=\(\)", s.step.op) is not None


def half_complex(s: Situation) -> bool:
    return s.torch_error is not None and "'ComplexHalf'" in str(s.torch_error)


def running_bool(s: Situation) -> bool:
    if s.step.op not in ("cumsum_", "cumprod_") or s.torch_error is not None:
        return False
    trivial = [t for t in s.tensors_used() if t.dim() == 0 or t.numel() == 0]
    return bool(trivial) and kind_of(s.our_error) == "not-supported" if s.our_error else False


def sign_of_nan(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "values":
        return False
    if not s.step.op.startswith(("copysign", "signbit")):
        return False
    nans = [np.asarray((t != t).tolist()) for t in s.tensors_used()]
    if not any(bool(nan.any()) for nan in nans):
        return False
    theirs, ours = np.asarray(s.divergence.expected), np.asarray(s.divergence.found)
    if theirs.dtype.kind != "b":
        return same_bits(np.abs(theirs), np.abs(ours))
    return any(
        nan.shape == theirs.shape == ours.shape and bool(np.all((theirs == ours) | nan))
        for nan in nans
    )


def digamma_beside_a_pole(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "values" or "digamma" not in s.step.op:
        return False
    theirs, ours = np.asarray(s.divergence.expected), np.asarray(s.divergence.found)
    near = np.isclose(theirs, ours, rtol=1e-9, equal_nan=True) | (np.abs(ours) > 1e6)
    known = near & (np.sign(theirs) == np.sign(ours))
    return bool(np.all(known | np.isnan(theirs) & np.isnan(ours)))
