"""How the elements of tensors are printed."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from vtgrad.errors import ArgumentTypeError, ArgumentValueError
from vtgrad.storage.integers import index_of

__all__ = ["PrintOptions", "printing", "set_printoptions"]


class PrintOptions(NamedTuple):
    """The options of `set_printoptions`."""

    precision: int
    threshold: float
    edgeitems: int
    linewidth: int
    sci_mode: bool | None


_DEFAULT: Final = PrintOptions(4, 1000, 3, 80, None)
_PROFILES: Final = {
    "default": _DEFAULT,
    "short": _DEFAULT._replace(precision=2, edgeitems=2),
    "full": _DEFAULT._replace(threshold=float("inf")),
}


class _Printing:
    """The options for all threads.

    Attributes
    ----------
    options : PrintOptions
        A text is printed with the options that are here when it begins.
    """

    __slots__ = ("options",)

    options: PrintOptions

    def __init__(self) -> None:
        self.options = _DEFAULT


printing: Final = _Printing()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: Literal["default", "short", "full"] | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how the elements of tensors are printed.

    It holds for all threads. What is not given stays, but for `sci_mode`.

    Parameters
    ----------
    precision : int, optional
        The digits after the point; 4 at first.
    threshold : float, optional
        Tensors with more elements are abbreviated; 1000 at first.
    edgeitems : int, optional
        How many elements an abbreviated dimension shows at each end; 3 at first.
    linewidth : int, optional
        The columns of a line; 80 at first.
    profile : {"default", "short", "full"}, optional
        Values of the four that are set before the others: those at first; two digits and two
        elements at each end; no abbreviation.
    sci_mode : bool, optional
        Whether floating numbers are in scientific notation. By default, also when other options
        are set later, their sizes decide.

    Raises
    ------
    ArgumentTypeError
        If an option is of another type.
    ArgumentValueError
        If a number is negative or NaN, or there is no such profile.

    Examples
    --------
    >>> vt.set_printoptions(precision=2, edgeitems=1, threshold=5)
    >>> vt.arange(6) / 7
    tensor([0.00,  ..., 0.71])
    >>> vt.set_printoptions(sci_mode=True)
    >>> vt.tensor(120.0)
    tensor(1.20e+02)
    >>> vt.set_printoptions(profile="default")
    """
    options = printing.options
    if profile is not None:
        if profile not in _PROFILES:
            raise ArgumentValueError(
                f"there is no profile {profile!r}, only " + ", ".join(_PROFILES), profile=profile
            )
        options = _PROFILES[profile]
    if threshold is None:
        limit = options.threshold
    elif type(threshold) is float:
        limit = threshold
    else:
        limit = index_of(threshold, "threshold")
    new = PrintOptions(
        options.precision if precision is None else index_of(precision, "precision"),
        limit,
        options.edgeitems if edgeitems is None else index_of(edgeitems, "edgeitems"),
        options.linewidth if linewidth is None else index_of(linewidth, "linewidth"),
        _bool_or_none(sci_mode),
    )
    for name, value in zip(PrintOptions._fields[:4], new[:4], strict=True):
        if not value >= 0:
            raise ArgumentValueError(f"{name} cannot be {value}", **{name: value})
    printing.options = new


def _bool_or_none(sci_mode: object) -> bool | None:
    """The argument of this name, checked."""
    if sci_mode is not None and not isinstance(sci_mode, bool):
        raise ArgumentTypeError(
            f"argument 'sci_mode' must be a bool or None, not {type(sci_mode).__name__}",
            argument="sci_mode",
        )
    return sci_mode
