"""Constraints of a minimisation: functions of the parameters, with their derivatives for SciPy.

Note [Jacobians of constraints]

A method that takes sparse matrices gets them, from `vtgrad.func.sparse_jacobian`: the pattern is
found once, and later Jacobians are as many passes as the pattern has colours. If the function takes
another path, or no pattern can be found, the Jacobian is dense. Other methods get dense matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeAlias

from vtgrad.errors import ArgumentTypeError, ArgumentValueError, TransformError
from vtgrad.func.sparsity.find_pattern import sparsity_pattern
from vtgrad.func.sparsity.jacobian_pattern import SparsityPattern
from vtgrad.func.sparsity.sparse_jacobian import sparse_jacobian
from vtgrad.func.value_with_gradient import ValueWithGradient
from vtgrad.ops.generated import functional as F
from vtgrad.optim.bounds import Limits, with_fixed
from vtgrad.optim.derivatives import dense_jacobian, hessian_product, value_only, vector_of
from vtgrad.optim.evaluation import Evaluation, Record
from vtgrad.optim.packing import FloatArray, Packing, as_floats, as_vector
from vtgrad.storage import making
from vtgrad.tensor.tensor import Tensor

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["VectorFunction", "evaluations_of", "scipy_constraints"]

Function: TypeAlias = Callable[[Tensor], Tensor]

_KEYS: Final = {"type", "fun", "args"}


class VectorFunction:
    """A function of a vector that returns a vector, with the derivatives that SciPy asks for.

    Parameters
    ----------
    function : callable
        Of a tensor.
    columns : int
        The size of its argument.
    sparse : bool
        Whether Jacobians are sparse, where they can be.
    record : "auto" or bool
        See `Evaluation`.
    limits : tuple of ndarray, optional
        The bounds, for methods that leave out what these fix.
    """

    def __init__(
        self,
        function: Function,
        columns: int,
        sparse: bool,
        record: Record,
        limits: Limits = None,
    ) -> None:
        self._function = function
        self._columns = columns
        self._sparse = sparse
        self._record = record
        self._limits = limits
        self._pattern: SparsityPattern | None = None
        self._values = Evaluation(value_only(function), record)
        self._matrices: Evaluation[Tensor] | None = None
        self._products = Evaluation(self._product(), record)

    @property
    def evaluations(self) -> list[Evaluation[Tensor]]:
        """What was called."""
        return [self._values, self._products, *([self._matrices] if self._matrices else [])]

    def value(self, vector: FloatArray) -> FloatArray:
        """The value."""
        return as_floats(self._values(as_vector(with_fixed(vector, self._limits))))

    def jacobian(self, vector: FloatArray) -> FloatArray | csr_array:
        """The Jacobian: see Note [Jacobians of constraints]."""
        if self._sparse:
            found = self._sparse_jacobian(as_vector(vector))
            if found is not None:
                return found
            self._sparse = False
        if self._matrices is None:
            rows = self._values(as_vector(vector)).numel()
            self._matrices = Evaluation(
                dense_jacobian(self._function, rows, self._columns), self._record
            )
        matrix = self._matrices(as_vector(vector))
        return as_floats(matrix).reshape(tuple(matrix.shape))

    def choose_sparse(self, vector: FloatArray, large: int) -> None:
        """Take sparse Jacobians if they have many entries, most of which are always zero."""
        rows = self._values(as_vector(vector)).numel()
        if rows * self._columns <= large:
            return
        try:
            self._pattern = sparsity_pattern(self._function, as_vector(vector))
        except (NotImplementedError, TransformError):
            return
        self._sparse = self._pattern.nnz * 10 < rows * self._columns

    def _sparse_jacobian(self, at: Tensor) -> csr_array | None:
        try:
            if self._pattern is None:
                self._pattern = sparsity_pattern(self._function, at)
            return sparse_jacobian(self._function, at, pattern=self._pattern)
        except (NotImplementedError, TransformError):
            return None

    def hessian(self, vector: FloatArray, weights: FloatArray) -> object:
        """The sum of the Hessians of the elements with weights, as SciPy's operator."""
        at = making.array(vector, dtype="float64")
        by = making.array(weights, dtype="float64")

        def product(direction: FloatArray) -> FloatArray:
            flat = making.asarray(direction).reshape(-1)
            return as_floats(self._products(as_vector(at), as_vector(by), as_vector(flat)))

        operator = import_module("scipy.sparse.linalg").LinearOperator
        size = self._columns
        return operator((size, size), matvec=product, rmatvec=product, dtype="float64")

    def _product(self) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
        def product(vector: Tensor, weights: Tensor, direction: Tensor) -> Tensor:
            def weighted(x: Tensor) -> Tensor:
                return F.sum(F.mul(self._function(x), weights))

            return hessian_product(weighted)(vector, direction)

        return product


def scipy_constraints(
    given: object, packing: Packing, sparse: bool, record: Record, limits: Limits
) -> tuple[list[object], list[VectorFunction]]:
    """Constraints for SciPy, and the functions behind them.

    Raises
    ------
    ArgumentTypeError
        If one is neither a dict nor a constraint of ``scipy.optimize``.
    ArgumentValueError
        If a dict has no function, another type or another key, or derivatives are given.
    """
    kinds = import_module("scipy.optimize")
    entries = list(given) if isinstance(given, Sequence) else [given]
    made: list[object] = []
    functions: list[VectorFunction] = []
    for entry in entries:
        if isinstance(entry, kinds.LinearConstraint):
            made.append(entry)
            continue
        if isinstance(entry, Mapping):
            kind, fun = entry.get("type"), entry.get("fun")
            if kind not in ("eq", "ineq") or not callable(fun) or entry.keys() - _KEYS:
                raise ArgumentValueError(
                    'a constraint is {"type": "eq" or "ineq", "fun": function}, with "args" or '
                    "not; derivatives are computed",
                    argument="constraints",
                )
            fun = _with_arguments(fun, entry.get("args", ()))
        elif isinstance(entry, kinds.NonlinearConstraint):
            if callable(entry.jac) or callable(entry.hess):
                raise ArgumentValueError(
                    "the derivatives of a constraint are computed: leave out jac and hess",
                    argument="constraints",
                )
            fun = entry.fun
        else:
            raise ArgumentTypeError(
                "a constraint is a dict, a NonlinearConstraint or a LinearConstraint, not "
                f"{type(entry).__name__}",
                argument="constraints",
            )
        function = VectorFunction(
            vector_of(fun, packing, "a constraint"), packing.size, sparse, record, limits
        )
        functions.append(function)
        if isinstance(entry, Mapping) and not sparse:
            made.append({"type": kind, "fun": function.value, "jac": function.jacobian})
            continue
        lower, upper = (
            (0.0, 0.0 if kind == "eq" else float("inf"))
            if isinstance(entry, Mapping)
            else (entry.lb, entry.ub)
        )
        keep = False if isinstance(entry, Mapping) else entry.keep_feasible
        made.append(
            kinds.NonlinearConstraint(
                function.value,
                lower,
                upper,
                jac=function.jacobian,
                keep_feasible=keep,
                **({"hess": function.hessian} if sparse else {}),
            )
        )
    return made, functions


def _with_arguments(fun: Callable[..., object], given: object) -> Callable[..., object]:
    """A function of the parameters alone; as in SciPy, `given` is a tuple or one argument."""
    rest = given if isinstance(given, tuple) else (given,)
    if not rest or isinstance(fun, ValueWithGradient):
        return fun
    return lambda parameters: fun(parameters, *rest)


def evaluations_of(functions: Sequence[VectorFunction]) -> list[Evaluation[Tensor]]:
    """All evaluations behind constraints."""
    return [evaluation for function in functions for evaluation in function.evaluations]
