"""Roots by ``scipy.optimize.root``, with exact Jacobians."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar, cast

import numpy as np

from vtgrad.errors import ArgumentValueError
from vtgrad.optim.constraints import VectorFunction, evaluations_of
from vtgrad.optim.derivatives import vector_of
from vtgrad.optim.evaluation import Evaluation, Record, check_record
from vtgrad.optim.fit import Fit
from vtgrad.optim.optimizer import refuse_in_recording
from vtgrad.optim.packing import FloatArray, Packing
from vtgrad.optim.search import Iterate, Search, scipy_optimize

__all__ = ["root"]

X = TypeVar("X")

_WITH_JACOBIAN: Final = {"hybr", "lm"}
_OTHERS: Final = {
    "broyden1", "broyden2", "anderson", "linearmixing", "diagbroyden", "excitingmixing", "krylov",
    "df-sane",
}  # fmt: skip


def root(
    f: Callable[[X], object],
    x0: X,
    method: str = "hybr",
    *,
    tol: float | None = None,
    options: Mapping[str, object] | None = None,
    callback: Callable[[Iterate[X]], object] | None = None,
    progress: bool = False,
    record: Record = "auto",
) -> Fit[X]:
    """Find where a function is zero, by a method of SciPy.

    Parameters
    ----------
    f : callable
        Gets the parameters and returns real tensors, in containers or not, with as many elements.
    x0 : Tensor, or tuple, list or dict of such, nested at will
        Where the search begins.
    method : str, default "hybr"
        A method of ``scipy.optimize.root``. ``"hybr"`` and ``"lm"`` get the Jacobian, others only
        values.
    tol : float, optional
        The tolerance, as in SciPy.
    options : dict, optional
        Options of the method, as in SciPy.
    callback, progress, record
        As for `minimize`. An iteration of ``"hybr"`` and ``"lm"`` is a Jacobian that is computed.

    Returns
    -------
    Fit
        Its ``fun`` is the norm of what `f` returns.

    Raises
    ------
    MissingPackageError, ArgumentTypeError, ArgumentValueError, RecordingError
        As for `minimize`.

    Examples
    --------
    >>> fit = vt.optim.root(lambda x: vt.cos(x) - x, vt.tensor(1.0, dtype=vt.float64))
    >>> round(fit.x.item(), 6)
    0.739085
    """
    scipy = scipy_optimize("root")
    refuse_in_recording("root")
    check_record(record)
    method = str(method).lower()
    if method not in _WITH_JACOBIAN | _OTHERS:
        raise ArgumentValueError(
            f"method must be one of {', '.join(sorted(_WITH_JACOBIAN | _OTHERS))}, not {method!r}",
            argument="method",
        )
    packing = Packing(x0, "x0")
    function = VectorFunction(vector_of(f, packing, "the function"), packing.size, False, record)
    arguments: dict[str, object] = {}
    total = cast("int | None", (options or {}).get("maxiter"))
    with Search(packing, method, callback, progress, total) as search:

        def value(vector: FloatArray) -> FloatArray:
            found = function.value(vector)
            search.evaluated(vector, float(np.linalg.norm(found)))
            return found

        def jacobian(vector: FloatArray) -> object:
            if started:
                search.iterated(vector)
            started.append(True)
            return function.jacobian(vector)

        started: list[bool] = []
        if method in _WITH_JACOBIAN:
            arguments["jac"] = jacobian
        else:
            arguments["callback"] = lambda vector, *rest: search.iterated(vector)

        def solve() -> object:
            return scipy.root(
                value,
                packing.vector(),
                method=method,
                tol=tol,
                options=dict(options or {}),
                **arguments,
            )

        def evaluations() -> list[Evaluation[object]]:
            return cast("list[Evaluation[object]]", evaluations_of([function]))

        return search.run(solve, evaluations)
