"""Least squares by ``scipy.optimize.least_squares``, with exact Jacobians."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from vtgrad.errors import ArgumentValueError
from vtgrad.optim.bounds import bounds_of
from vtgrad.optim.constraints import VectorFunction, evaluations_of
from vtgrad.optim.derivatives import vector_of
from vtgrad.optim.evaluation import Evaluation, Record, check_record
from vtgrad.optim.fit import Fit
from vtgrad.optim.optimizer import refuse_in_recording
from vtgrad.optim.packing import FloatArray, Packing
from vtgrad.optim.search import Iterate, Search, scipy_optimize

__all__ = ["least_squares"]

X = TypeVar("X")

# From so many entries on a Jacobian is looked at for a pattern.
_LARGE: Final = 10_000


def least_squares(
    f: Callable[[X], object],
    x0: X,
    method: Literal["trf", "dogbox", "lm"] = "trf",
    *,
    jac: Literal["auto", "dense", "sparse"] = "auto",
    bounds: object = None,
    loss: str | Callable[[NDArray[np.float64]], NDArray[np.float64]] = "linear",
    f_scale: float = 1.0,
    tol: float | None = None,
    options: Mapping[str, object] | None = None,
    callback: Callable[[Iterate[X]], object] | None = None,
    progress: bool = False,
    record: Record = "auto",
) -> Fit[X]:
    """Minimise half the sum of squares of a function.

    Parameters
    ----------
    f : callable
        Gets the parameters and returns the residuals: real tensors, in containers or not.
    x0 : Tensor, or tuple, list or dict of such, nested at will
        Where the search begins.
    method : {"trf", "dogbox", "lm"}, default "trf"
        The method, as in SciPy.
    jac : {"auto", "dense", "sparse"}, default "auto"
        The kind of Jacobian. By default it is sparse if it has more than 10,000 entries of which
        less than a tenth may be other than zero, and the method takes such.
    bounds : object, optional
        As for `minimize`.
    loss : str or callable, default "linear"
        The function of the squares, as in SciPy: its name, or a function of an array of them that
        returns three rows, its values and two derivatives.
    f_scale : float, default 1.0
        The residual from which on the loss differs from squares.
    tol : float, optional
        All three tolerances of SciPy.
    options : dict, optional
        More arguments of ``scipy.optimize.least_squares``, such as ``x_scale`` or ``max_nfev``.
    callback, progress, record
        As for `minimize`. An iteration is a Jacobian that is computed.

    Returns
    -------
    Fit
        Its ``fun`` is half the sum of squares, of which the loss is taken.

    Raises
    ------
    MissingPackageError, ArgumentTypeError, ArgumentValueError, RecordingError
        As for `minimize`.

    Examples
    --------
    >>> t = vt.linspace(0.0, 1.0, 5, dtype=vt.float64)
    >>> y = 3 * vt.exp(-2 * t)
    >>> fit = vt.optim.least_squares(
    ...     lambda p: p[0] * vt.exp(-p[1] * t) - y, vt.ones(2, dtype=vt.float64)
    ... )
    >>> fit.x.round(decimals=5)
    tensor([3., 2.], dtype=vtgrad.float64)
    """
    scipy = scipy_optimize("least_squares")
    refuse_in_recording("least_squares")
    check_record(record)
    for name, given, known in (
        ("method", method, ("trf", "dogbox", "lm")),
        ("jac", jac, ("auto", "dense", "sparse")),
    ):
        if given not in known:
            raise ArgumentValueError(
                f"{name} must be one of {', '.join(map(repr, known))}, not {given!r}", argument=name
            )
    packing = Packing(x0, "x0")
    limits = bounds_of(bounds, packing)
    function = VectorFunction(
        vector_of(f, packing, "the function"), packing.size, jac == "sparse", record
    )
    arguments: dict[str, object] = {}
    if limits is not None:
        arguments["bounds"] = limits
    if tol is not None:
        arguments |= {"ftol": tol, "xtol": tol, "gtol": tol}
    total = cast("int | None", (options or {}).get("max_nfev"))
    with Search(packing, method, callback, progress, total) as search:

        def value(vector: FloatArray) -> FloatArray:
            found = function.value(vector)
            search.evaluated(vector, _cost(found, loss, f_scale))
            return found

        def jacobian(vector: FloatArray) -> object:
            # The first one is at the start.
            if started:
                search.iterated(vector)
            started.append(True)
            return function.jacobian(vector)

        started: list[bool] = []

        def solve() -> object:
            first = packing.vector()
            if jac == "auto" and method != "lm":
                function.choose_sparse(first, _LARGE)
            return scipy.least_squares(
                value,
                first,
                jac=jacobian,
                method=method,
                loss=loss,
                f_scale=f_scale,
                **arguments,
                **(options or {}),
            )

        def evaluations() -> list[Evaluation[object]]:
            return cast("list[Evaluation[object]]", evaluations_of([function]))

        return search.run(solve, evaluations)


def _cost(residuals: FloatArray, loss: object, scale: float) -> float:
    """Half the sum of the loss of the squares, as SciPy computes it."""
    z = (residuals / scale) ** 2
    if loss == "soft_l1":
        rho = 2 * (np.sqrt(1 + z) - 1)
    elif loss == "huber":
        rho = np.where(z <= 1, z, 2 * np.sqrt(z) - 1)
    elif loss == "cauchy":
        rho = np.log1p(z)
    elif loss == "arctan":
        rho = np.arctan(z)
    elif callable(loss):
        rho = loss(z)[0]
    else:
        rho = z
    return float(0.5 * scale**2 * np.sum(rho))
