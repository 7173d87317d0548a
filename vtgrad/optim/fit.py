"""What a search has found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeVar

from vtgrad.errors import MissingPackageError

__all__ = ["Drawing", "Fit"]

X = TypeVar("X")


class Drawing(Protocol):
    """A figure of matplotlib, as far as type checkers know it without matplotlib."""

    def savefig(self, fname: str | Path) -> object:
        """Write it to a file."""
        ...


@dataclass(frozen=True)
class Fit(Generic[X]):
    """What `minimize`, `least_squares` or `root` has found.

    Attributes
    ----------
    x : object
        The parameters: new tensors in the containers of `x0`.
    fun : float
        The function there; of `least_squares` half the sum of squares, of `root` the norm.
    status : {"converged", "failed", "stopped", "interrupted"}
        Whether the method is content, is not, was stopped by the callback, or by Ctrl-C. After the
        last two `x` is the best point so far.
    message : str
        The reason, in the words of the method.
    nit, nfev : int
        How many iterations there were, as a callback counts them, and how often the function was
        evaluated.
    history : tuple of float
        The value at the start and after each iteration.
    method : str
        The method.
    recorded : bool
        Whether the function was recorded and replayed.
    reason : str or None
        Why it was not.
    raw : object
        SciPy's own result; None for a search that was broken off.

    Examples
    --------
    >>> fit = vt.optim.minimize(lambda x: (x - 2) ** 2, vt.tensor(0.0, dtype=vt.float64))
    >>> fit.status, round(fit.x.item(), 4), fit.recorded
    ('converged', 2.0, True)
    """

    x: X
    fun: float
    status: Literal["converged", "failed", "stopped", "interrupted"]
    message: str
    nit: int
    nfev: int
    history: tuple[float, ...] = field(repr=False)
    method: str
    recorded: bool
    reason: str | None
    raw: object = field(default=None, repr=False)

    @property
    def success(self) -> bool:
        """Whether the method is content."""
        return self.status == "converged"

    def plot(self, path: str | Path | None = None) -> Drawing:
        """Draw the values of the iterations.

        Parameters
        ----------
        path : str or Path, optional
            A file to write too: a picture of the kind that its name says.

        Returns
        -------
        matplotlib.figure.Figure
            The drawing, which notebooks show.

        Raises
        ------
        MissingPackageError
            If matplotlib is not installed.
        """
        try:
            make = import_module("matplotlib.figure").Figure
        except ImportError:
            raise MissingPackageError(
                "plot needs matplotlib: pip install matplotlib", package="matplotlib"
            ) from None
        figure = make(figsize=(6.0, 3.6), layout="constrained")
        axes = figure.subplots()
        axes.plot(range(len(self.history)), self.history, marker=".")
        finite = [value for value in self.history if math.isfinite(value)]
        if finite and min(finite) > 0 and max(finite) > 50 * min(finite):
            axes.set_yscale("log")
        axes.set_xlabel("iteration")
        axes.set_ylabel("value")
        axes.set_title(f"{self.method}: {self.status}")
        if path is not None:
            figure.savefig(path)
        drawing: Drawing = figure
        return drawing
