"""The options of a check that every part of it reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from vtgrad.errors import CheckOptionError, OptionValueError

__all__ = ["Settings", "require_a_mode", "require_tolerances"]


class Settings(NamedTuple):
    """Steps, tolerances and what else is checked.

    Attributes
    ----------
    eps : float
        Step of the central differences.
    atol, rtol : float
        Allowed difference, absolute and relative to the numerical derivative.
    nondet_tol : float
        Allowed difference between two runs of the same backward.
    fast_mode : bool
        Whether derivatives are compared along one random direction first.
    check_undefined_grad : bool
        Whether missing gradients are checked to count as zeros.
    check_grad_dtypes : bool
        Whether a gradient must have the dtype of its input.
    check_batched_grad : bool
        Whether batches of gradients are compared with their members.
    check_batched_forward_grad : bool
        The same of tangents.
    check_linear : bool
        Whether backward is run for gradients that are zero, tiny and huge.
    """

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    fast_mode: bool
    check_undefined_grad: bool
    check_grad_dtypes: bool
    check_batched_grad: bool = False
    check_batched_forward_grad: bool = False
    check_linear: bool = True


def require_tolerances(settings: Settings) -> None:
    """Refuse tolerances that no difference could be within.

    Raises
    ------
    OptionValueError
        If one of them is negative, or not a number.
    """
    for name in ("atol", "rtol", "nondet_tol"):
        tolerance = getattr(settings, name)
        if not tolerance >= 0:
            raise OptionValueError(
                f"{name} must not be negative, and is {tolerance}", argument=name
            )


def require_a_mode(modes: Mapping[str, bool]) -> None:
    """Refuse options that leave nothing to check.

    Raises
    ------
    CheckOptionError
        If none of the modes is on.
    """
    if not any(modes.values()):
        names = " and ".join(modes)
        raise CheckOptionError(f"{names} are both off, so that nothing would be checked")
