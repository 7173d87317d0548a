"""Minima by the methods of ``scipy.optimize.minimize``, with exact derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, SupportsFloat, TypeVar, cast

from vtgrad.errors import ArgumentTypeError, ArgumentValueError, RecordingError
from vtgrad.func.value_with_gradient import ValueWithGradient
from vtgrad.optim.bounds import bounds_of, with_fixed
from vtgrad.optim.constraints import VectorFunction, evaluations_of, scipy_constraints
from vtgrad.optim.derivatives import (
    dense_hessian,
    hessian_product,
    number_of,
    scalar_of,
    value_and_gradient,
    value_only,
)
from vtgrad.optim.evaluation import Evaluation, Record, check_record
from vtgrad.optim.fit import Fit
from vtgrad.optim.optimizer import refuse_in_recording
from vtgrad.optim.packing import FloatArray, Packing, as_floats, as_vector
from vtgrad.optim.search import Iterate, Search, scipy_optimize
from vtgrad.tensor.tensor import Tensor

__all__ = ["minimize"]

X = TypeVar("X")

# Methods by what they ask for.
_BY_VALUES: Final = {"nelder-mead", "powell", "cobyla", "cobyqa"}
_BY_PRODUCTS: Final = {"newton-cg", "trust-ncg", "trust-krylov", "trust-constr"}
_BY_MATRICES: Final = {"dogleg", "trust-exact"}
# Those that have no approximation of their own.
_NEED_HESSIAN: Final = {"dogleg", "trust-exact", "trust-ncg", "trust-krylov"}
_WITH_CONSTRAINTS: Final = {"cobyla", "cobyqa", "slsqp", "trust-constr"}
_WITH_BOUNDS: Final = {*_WITH_CONSTRAINTS, "nelder-mead", "powell", "l-bfgs-b", "tnc"}
_NAMES: Final = {
    "nelder-mead": "Nelder-Mead",
    "powell": "Powell",
    "cg": "CG",
    "bfgs": "BFGS",
    "newton-cg": "Newton-CG",
    "l-bfgs-b": "L-BFGS-B",
    "tnc": "TNC",
    "cobyla": "COBYLA",
    "cobyqa": "COBYQA",
    "slsqp": "SLSQP",
    "trust-constr": "trust-constr",
    "dogleg": "dogleg",
    "trust-ncg": "trust-ncg",
    "trust-exact": "trust-exact",
    "trust-krylov": "trust-krylov",
}
_CALLED: Final = "the function returns its gradient itself, and is called as it is"
# BFGS keeps a matrix of all parameters by all parameters.
_MOST_FOR_BFGS: Final = 1000


def minimize(
    f: Callable[[X], object],
    x0: X,
    method: str | None = None,
    *,
    jac: bool = False,
    hess: Literal["auto", "product", "dense"] | None = "auto",
    bounds: object = None,
    constraints: object = (),
    tol: float | None = None,
    options: Mapping[str, object] | None = None,
    callback: Callable[[Iterate[X]], object] | None = None,
    progress: bool = False,
    record: Record = "auto",
) -> Fit[X]:
    """Minimise a function by a method of SciPy.

    SciPy gets exact gradients, products with the Hessian by forward mode over reverse mode, and
    sparse Jacobians of constraints.

    Parameters
    ----------
    f : callable
        Gets the parameters and returns a real tensor of one element. A
        `vtgrad.distributed.SumOverShards` is one too.
    x0 : Tensor, or tuple, list or dict of such, nested at will
        Where the search begins: real floating tensors, which are not written. The search itself is
        in float64.
    method : str, optional
        A method of ``scipy.optimize.minimize``. By default SLSQP with constraints, L-BFGS-B with
        bounds or more than 1000 elements, and BFGS otherwise.
    jac : bool, default False
        Whether `f` returns a pair, the value and the gradient in the containers of `x0`, as a
        `SumOverShards` always does. Such a function is called as it is: it is neither recorded nor
        differentiated.
    hess : {"auto", "product", "dense", None}, default "auto"
        What Newton's methods get: products with the Hessian, or the matrix; by default what the
        method takes. None leaves it to the method, and so does "auto" if `f` returns its gradient:
        ``"Newton-CG"`` then takes differences of gradients, and ``"trust-constr"`` updates.
    bounds : object, optional
        In the containers of `x0`: a pair for each tensor, of which each is None, a number, an
        array or a tensor. What has no key in a dict has no bounds. Also SciPy's forms.
    constraints : dict, constraint of SciPy, or sequence of such
        ``{"type": "eq", "fun": g}`` for g(x) = 0, ``"ineq"`` for g(x) >= 0, with ``"args"`` for
        ``g(x, *args)``, or a ``NonlinearConstraint``. The function gets the parameters and returns
        tensors; its derivatives are computed. A ``LinearConstraint`` is one of the vector of all
        elements.
    tol : float, optional
        The tolerance, as in SciPy.
    options : dict, optional
        Options of the method, as in SciPy.
    callback : callable, optional
        Gets an `Iterate` after each iteration, with ``x``, ``fun``, ``nit`` and ``nfev``. The
        search ends if it returns something true or raises StopIteration.
    progress : bool, default False
        Whether a bar of tqdm counts the iterations.
    record : "auto" or bool, default "auto"
        Whether functions are recorded by `vtgrad.jit.replay`: where that can be, never, or with an
        error where it cannot. What a function takes from outside and no guard sees, as a number of
        a closure that changes, is a part of the recording.

    Returns
    -------
    Fit
        The parameters in the containers of `x0`, the value, the status and the history. After
        Ctrl-C it is the best point so far.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed, or tqdm for `progress`.
    ArgumentTypeError
        If parameters or results are no real floating tensors.
    ArgumentValueError
        If an option has another value, bounds do not fit, or the method has no bounds, no
        constraints, no Hessian, or needs a Hessian and `f` returns its gradient.
    RecordingError
        With ``record=True``, if a function cannot be recorded; and inside of a recording.

    Notes
    -----
    With constraints "the best point" of a search that is broken off is that of the last iteration.
    What is found has no history: `implicit` gives it derivatives.

    Examples
    --------
    >>> def valley(p):
    ...     return (1 - p["x"]) ** 2 + 100 * (p["y"] - p["x"] ** 2) ** 2
    >>> start = {"x": vt.tensor(-1.0, dtype=vt.float64), "y": vt.tensor(1.0, dtype=vt.float64)}
    >>> fit = vt.optim.minimize(valley, start, bounds={"x": (None, 0.5)})
    >>> fit.x["x"].item(), round(fit.x["y"].item(), 4), fit.status
    (0.5, 0.25, 'converged')
    """
    scipy = scipy_optimize("minimize")
    refuse_in_recording("minimize")
    check_record(record)
    if hess not in ("auto", "product", "dense", None):
        raise ArgumentValueError(
            f'hess must be "auto", "product", "dense" or None, not {hess!r}', argument="hess"
        )
    if not isinstance(jac, bool):
        raise ArgumentValueError(
            "jac is True if the function returns its gradient with its value; a gradient that is "
            "a function of its own is not taken",
            argument="jac",
        )
    packing = Packing(x0, "x0")
    limits = bounds_of(bounds, packing)
    has_constraints = not (isinstance(constraints, Sequence) and not constraints)
    name = _method(method, packing, limits is not None, has_constraints)
    has_gradient = jac or isinstance(f, ValueWithGradient)
    if has_gradient:
        _check_given_gradient(name, hess, record)
    elif hess in ("product", "dense") and name not in _BY_PRODUCTS | _BY_MATRICES:
        raise ArgumentValueError(f"{_NAMES[name]} takes no Hessian", argument="hess")
    elif hess == "product" and name in _BY_MATRICES:
        raise ArgumentValueError(f"{_NAMES[name]} takes the Hessian as a matrix", argument="hess")
    total = cast("int | None", (options or {}).get("maxiter"))
    with Search(packing, _NAMES[name], callback, progress, total, has_constraints) as search:
        objective = _Objective(f, packing, search, has_gradient, record)
        arguments: dict[str, object] = objective.arguments(name, hess)
        functions: list[VectorFunction] = []
        settings = dict(options or {})
        if limits is not None:
            arguments["bounds"] = scipy.Bounds(*limits)
        if has_constraints:
            arguments["constraints"], functions = scipy_constraints(
                constraints, packing, name == "trust-constr", record, limits
            )
            if name == "trust-constr":
                settings.setdefault("sparse_jacobian", True)

        def solve() -> object:
            return scipy.minimize(
                objective.value if name in _BY_VALUES else objective.value_and_gradient,
                packing.vector(),
                method=_NAMES[name],
                tol=tol,
                options=settings,
                callback=lambda vector, *rest: search.iterated(with_fixed(vector, limits)),
                **arguments,
            )

        def evaluations() -> list[Evaluation[object]]:
            return cast(
                "list[Evaluation[object]]", [*objective.evaluations, *evaluations_of(functions)]
            )

        return search.run(solve, evaluations)


def _method(name: str | None, packing: Packing, bounded: bool, constrained: bool) -> str:
    """The key of the method."""
    if name is None:
        if constrained:
            return "slsqp"
        return "l-bfgs-b" if bounded or packing.size > _MOST_FOR_BFGS else "bfgs"
    key = str(name).lower()
    if key not in _NAMES:
        raise ArgumentValueError(
            f"method must be one of {', '.join(_NAMES.values())}, not {name!r}", argument="method"
        )
    if bounded and key not in _WITH_BOUNDS:
        raise ArgumentValueError(f"{_NAMES[key]} takes no bounds", argument="bounds")
    if constrained and key not in _WITH_CONSTRAINTS:
        raise ArgumentValueError(f"{_NAMES[key]} takes no constraints", argument="constraints")
    return key


def _check_given_gradient(name: str, hess: object, record: Record) -> None:
    """Raise if a function that returns its gradient would have to be differentiated or recorded."""
    if hess in ("product", "dense"):
        raise ArgumentValueError(
            f"the function returns its gradient and is not differentiated: there is no "
            f"hess={hess!r}",
            argument="hess",
        )
    if name in _NEED_HESSIAN:
        raise ArgumentValueError(
            f"{_NAMES[name]} needs the Hessian, and a function that returns its gradient is not "
            "differentiated: take BFGS, L-BFGS-B or Newton-CG",
            argument="method",
        )
    if record is True:
        raise RecordingError(
            f"record=True, and {_CALLED}", reason="given gradient", library=None, line=None
        )


class _Objective:
    """The function that is minimised, as SciPy calls it.

    Parameters
    ----------
    f : callable
        The function of the user.
    packing : Packing
        The parameters.
    search : Search
        Takes note of values.
    has_gradient : bool
        Whether it returns its gradient too.
    record : "auto" or bool
        See `Evaluation`.
    """

    def __init__(
        self,
        f: Callable[..., object],
        packing: Packing,
        search: Search[X],
        has_gradient: bool,
        record: Record,
    ) -> None:
        self._packing = packing
        self._note = search.evaluated
        self._has_gradient = has_gradient
        function = scalar_of(f, packing)
        self._pairs = Evaluation(f, False, _CALLED)
        self._values = Evaluation(value_only(function), record)
        self._both = Evaluation(value_and_gradient(function), record)
        self._products = Evaluation(hessian_product(function), record)
        self._matrices = Evaluation(dense_hessian(function), record)

    @property
    def evaluations(self) -> list[object]:
        """What was called."""
        return [self._pairs, self._values, self._both, self._products, self._matrices]

    def arguments(
        self, name: str, hess: Literal["auto", "product", "dense"] | None
    ) -> dict[str, object]:
        """The derivatives among the arguments of SciPy."""
        if name in _BY_VALUES:
            return {}
        found: dict[str, object] = {"jac": True}
        if hess is None or self._has_gradient or name not in _BY_PRODUCTS | _BY_MATRICES:
            return found
        if hess == "product" or (hess == "auto" and name in _BY_PRODUCTS):
            found["hessp"] = self.product
        else:
            found["hess"] = self.matrix
        return found

    def value(self, vector: FloatArray) -> float:
        """The value alone."""
        if self._has_gradient:
            return self.value_and_gradient(vector)[0]
        value = float(self._values(as_vector(vector)).item())
        self._note(vector, value)
        return value

    def value_and_gradient(self, vector: FloatArray) -> tuple[float, FloatArray]:
        """The value and the gradient."""
        if self._has_gradient:
            value, gradient = self._given(vector)
        else:
            tensors = self._both(as_vector(vector))
            value, gradient = float(tensors[0].item()), as_floats(tensors[1])
        self._note(vector, value)
        return value, gradient

    def _given(self, vector: FloatArray) -> tuple[float, FloatArray]:
        returned = self._pairs(self._packing.filled(vector))
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise ArgumentTypeError(
                "with jac=True the function returns a pair, the value and the gradient",
                argument="f",
            )
        value, gradient = returned
        if isinstance(value, Tensor):
            value = number_of(value).item()
        if not isinstance(value, SupportsFloat):
            raise ArgumentTypeError(
                f"the value must be a real number, not {type(value).__name__}", argument="f"
            )
        return float(value), self._packing.vector_of(gradient, "the gradient")

    def product(self, vector: FloatArray, direction: FloatArray) -> FloatArray:
        """The product of the Hessian and a vector."""
        return as_floats(self._products(as_vector(vector), as_vector(direction)))

    def matrix(self, vector: FloatArray) -> FloatArray:
        """The Hessian."""
        found = self._matrices(as_vector(vector))
        return as_floats(found).reshape(tuple(found.shape))
