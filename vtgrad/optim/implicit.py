"""Derivatives of solutions of equations, by the implicit function theorem.

Note [Derivatives of a solution]

Let x(p) solve r(x, p) = 0, and let A and B be the Jacobians of r by x and by p there. Then ::

    A dx + B dp = 0

So a tangent of the solution is the solution u of ``A u + B dp = 0``, and a gradient g of it gives
the gradient ``-B^T u`` of p, where u solves ``A^T u = g``. Both are equations whose solution
depends on x and p, and on dp or g. They are solved as the first one was, by an implicit function,
whose derivatives are computed in the same way: so there are derivatives of each order. How x was
found does not matter.

A is computed at the values of x and p, as a matrix, by the first derivative that is asked for. See
A. Griewank and A. Walther, "Evaluating Derivatives" (2008), chapter 15.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Literal, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np

from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    LinAlgError,
    MissingPackageError,
    ShapeError,
)
from vtgrad.func.jvp import jvp
from vtgrad.func.sparsity.sparse_jacobian import sparse_jacobian
from vtgrad.func.vjp import vjp
from vtgrad.function.batched_apply import VmapInfo
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.graph.batch import is_batched
from vtgrad.graph.grad_mode import enable_grad, no_grad
from vtgrad.graph.thread_levels import NO_LIMIT, thread
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.tangents.tangents import highest_level
from vtgrad.optim.derivatives import dense_jacobian
from vtgrad.optim.packing import Packing, flat_outputs
from vtgrad.storage.arrays import Array
from vtgrad.storage.key_set import DUAL
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.thread_state import changed, run_with
from vtgrad.tensor.from_data import from_numpy
from vtgrad.tensor.tensor import Tensor
from vtgrad.utils.pytree import tree_flatten, tree_unflatten

__all__ = ["implicit"]

P = ParamSpec("P")
X = TypeVar("X")

#: Something that solves linear equations: of a matrix and its transpose.
_Solver: TypeAlias = Callable[[Array, bool], Array]


def implicit(
    solution: Callable[P, X],
    residual: Callable[..., object],
    *,
    linear: Literal["dense", "sparse"] = "dense",
    tol: float | None = None,
) -> Callable[P, X]:
    """Make the solution of an equation differentiable, by the implicit function theorem.

    Parameters
    ----------
    solution : callable
        Returns the solution, real floating tensors in containers or not, for its arguments. It is
        not differentiated, so it may iterate, call SciPy, or read a table.
    residual : callable
        Gets the solution and then the arguments, and returns what is zero there: real tensors with
        as many elements. Both functions read tensors and do not write to them. For a minimum it is
        the gradient, ``vt.func.grad(objective)``.
    linear : {"dense", "sparse"}, default "dense"
        How linear equations with the Jacobian of the residual are solved: by a matrix, or by
        `vtgrad.func.sparse_jacobian` and SciPy.
    tol : float, optional
        Raise if an element of the residual at the solution is larger. A derivative at what is no
        solution is wrong.

    Returns
    -------
    callable
        Gets the arguments of `solution` and returns the solution, new tensors, with gradients,
        tangents and derivatives of any order by all real floating tensors among the arguments.

    Raises
    ------
    ArgumentTypeError
        If a function is none; by the result, if `solution` returns something else than tensors.
    ArgumentValueError
        By the result, if the residual depends on a tensor that requires grad, has a tangent or is a
        sample of `vmap`, and is no real argument: its derivative would be lost; or if the residual
        is larger than `tol`.
    ShapeError
        By the result, if the residual has another number of elements.
    ReadOnlyError
        By the result, if a function writes to a real tensor that it gets.
    LinAlgError
        By a derivative, if the Jacobian of the residual is singular.
    MissingPackageError
        With ``linear="sparse"``, if SciPy is not installed.

    Notes
    -----
    Inside of `vtgrad.vmap` samples are solved one after another. See Note [Derivatives of a
    solution].

    Examples
    --------
    >>> def newton(a):
    ...     x = a.clone()
    ...     while abs(x * x - a) > 1e-12:
    ...         x = (x + a / x) / 2
    ...     return x
    >>> root = vt.optim.implicit(newton, lambda x, a: x * x - a)
    >>> a = vt.tensor(4.0, dtype=vt.float64, requires_grad=True)
    >>> root(a).backward()
    >>> round(a.grad.item(), 6)
    0.25
    """
    for name, value in (("solution", solution), ("residual", residual)):
        if not callable(value):
            raise ArgumentTypeError(f"{name} must be a function", argument=name)
    if linear not in ("dense", "sparse"):
        raise ArgumentValueError(
            f'linear must be "dense" or "sparse", not {linear!r}', argument="linear"
        )

    def solve(*args: P.args, **kwargs: P.kwargs) -> X:
        problem = _Equation(solution, residual, linear == "sparse", tol, (args, kwargs))
        vector = _Implicit.apply(problem, *problem.given)
        return cast("X", problem.packing.tree(vector))

    return solve


class _Problem:
    """An equation of a vector x and of parameters, and its solution."""

    def solve(self, params: Sequence[Tensor]) -> Tensor:
        """The solution, a vector that is in no graph."""
        raise NotImplementedError

    def residual(self, x: Tensor, params: Sequence[Tensor]) -> Tensor:
        """What is zero at the solution, a vector; it may be differentiated."""
        raise NotImplementedError

    def solve_linear(
        self, x: Tensor, params: Sequence[Tensor], right: Tensor, transposed: bool
    ) -> Tensor:
        """The solution of equations with the Jacobian of the residual, in no graph."""
        raise NotImplementedError


class _Equation(_Problem):
    """What a user has passed to `implicit`, with the arguments of one call."""

    packing: Packing
    given: list[Tensor]

    def __init__(
        self,
        solution: Callable[..., object],
        residual: Callable[..., object],
        sparse: bool,
        tol: float | None,
        arguments: tuple[tuple[object, ...], dict[str, object]],
    ) -> None:
        self._solution = solution
        self._residual = residual
        self._sparse = sparse
        self._tol = tol
        self._leaves, self._spec = tree_flatten(arguments)
        # Which leaves are parameters.
        self._places = [
            nr
            for nr, leaf in enumerate(self._leaves)
            if isinstance(leaf, Tensor) and leaf.is_floating_point()
        ]
        self.given = [cast("Tensor", self._leaves[nr]) for nr in self._places]

    def _arguments(self, params: Sequence[Tensor]) -> tuple[tuple[object, ...], dict[str, object]]:
        leaves = list(self._leaves)
        for nr, param in zip(self._places, params, strict=True):
            leaves[nr] = param
        return cast(
            "tuple[tuple[object, ...], dict[str, object]]", tree_unflatten(leaves, self._spec)
        )

    def solve(self, params: Sequence[Tensor]) -> Tensor:
        params = [_read_only(param) for param in params]
        args, kwargs = self._arguments(params)
        with no_grad():
            found = self._solution(*args, **kwargs)
            self.packing = Packing(found, "the solution")
            x = flat_outputs(found, "the solution").detach().clone()
        rest = self._checked_residual(_read_only(x), params)
        if rest.numel() != x.numel():
            raise ShapeError(
                f"the residual has {rest.numel()} elements, and the solution {x.numel()}",
                shape=tuple(rest.shape),
            )
        if self._tol is not None and not rest.abs().max().item() <= self._tol:
            raise ArgumentValueError(
                f"the residual at the solution is {rest.abs().max().item():.3g}, and tol is "
                f"{self._tol:.3g}",
                argument="tol",
            )
        return x

    def _checked_residual(self, x: Tensor, params: Sequence[Tensor]) -> Tensor:
        """The residual, if it depends on nothing that a derivative would have to follow."""

        def evaluate() -> Tensor:
            with enable_grad():
                return self.residual(x, params)

        # A forward runs without tangents, but those of other tensors are looked for here.
        rest = run_with(changed(excluded_keys=thread.excluded_keys & ~DUAL), evaluate)
        found = None
        if is_batched(rest) or is_batched(x):
            found = "is a sample of vmap"
        elif rest.requires_grad:
            found = "requires grad"
        elif highest_level([rest], NO_LIMIT):
            found = "has a tangent"
        if found is not None:
            raise ArgumentValueError(
                f"the solution or the residual depends on a tensor that {found} and is no real "
                "argument: its derivative would be lost. Pass it as an argument, or detach it",
                argument="residual",
            )
        return rest

    def residual(self, x: Tensor, params: Sequence[Tensor]) -> Tensor:
        args, kwargs = self._arguments(params)
        return flat_outputs(self._residual(self.packing.tree(x), *args, **kwargs), "the residual")

    def solve_linear(
        self, x: Tensor, params: Sequence[Tensor], right: Tensor, transposed: bool
    ) -> Tensor:
        fixed = [param.detach() for param in params]

        def of_solution(x: Tensor) -> Tensor:
            return self.residual(x, fixed)

        side = resolved(right.detach()._impl.array)
        solver = _sparse_solver if self._sparse else _dense_solver
        found = solver(of_solution, x.detach())(side, transposed)
        return from_numpy(found.astype(side.dtype, copy=False))


class _Linear(_Problem):
    """``A u + s = 0``, or the same with the transpose of A, of another problem.

    Its parameters are s, the solution of the other problem, and the parameters of that.

    Parameters
    ----------
    of : _Problem
        The other problem.
    transposed : bool
        Whether it is the transpose.
    """

    def __init__(self, of: _Problem, transposed: bool) -> None:
        self._of = of
        self._transposed = transposed

    def solve(self, params: Sequence[Tensor]) -> Tensor:
        side, x, *others = params
        return self._of.solve_linear(x, others, F.neg(side.detach()), self._transposed)

    def residual(self, x: Tensor, params: Sequence[Tensor]) -> Tensor:
        side, at, *others = params
        if self._transposed:
            _, pull = vjp(lambda y: self._of.residual(y, others), at)
            (product,) = pull(x)
        else:
            _, product = jvp(lambda y: self._of.residual(y, others), (at,), (x,))
        return F.add(product, side)

    def solve_linear(
        self, x: Tensor, params: Sequence[Tensor], right: Tensor, transposed: bool
    ) -> Tensor:
        _, at, *others = params
        return self._of.solve_linear(at, others, right, self._transposed != transposed)


class _Context(FunctionCtx):
    """What the nodes keep.

    Attributes
    ----------
    problem : _Problem
        The problem.
    """

    problem: _Problem


class _Implicit(Function):
    """The solution of a problem; see Note [Derivatives of a solution]."""

    @staticmethod
    def forward(problem: _Problem, *params: Tensor) -> Tensor:
        return problem.solve(params)

    @staticmethod
    def setup_context(ctx: _Context, inputs: tuple[object, ...], output: object) -> None:
        problem, *params = cast("tuple[_Problem, *tuple[Tensor, ...]]", inputs)
        x = cast("Tensor", output)
        ctx.problem = problem
        ctx.save_for_backward(x, *params)
        ctx.save_for_forward(x, *params)

    @staticmethod
    def backward(ctx: _Context, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, *params = ctx.saved_tensors
        problem = ctx.problem
        needed = [nr for nr, needs in enumerate(ctx.needs_input_grad[1:]) if needs]
        adjoint = _Implicit.apply(_Linear(problem, transposed=True), grad, x, *params)

        def of_needed(*some: Tensor) -> Tensor:
            mixed = list(params)
            for nr, param in zip(needed, some, strict=True):
                mixed[nr] = param
            return problem.residual(x, mixed)

        _, pull = vjp(of_needed, *[params[nr] for nr in needed])
        found: list[Tensor | None] = [None] * len(params)
        for nr, gradient in zip(needed, pull(adjoint), strict=True):
            found[nr] = gradient
        return None, *found

    @staticmethod
    def jvp(ctx: _Context, _: object, *tangents: Tensor | None) -> Tensor:
        x, *params = ctx.saved_tensors
        problem = ctx.problem
        vectors = [
            F.zeros_like(param) if tangent is None else tangent
            for param, tangent in zip(params, tangents, strict=True)
        ]
        _, side = jvp(lambda *some: problem.residual(x, some), tuple(params), tuple(vectors))
        return _Implicit.apply(_Linear(problem, transposed=False), side, x, *params)

    @staticmethod
    def vmap(
        info: VmapInfo, in_dims: Sequence[int | None], problem: _Problem, *params: Tensor
    ) -> tuple[Tensor, int]:
        found = []
        for nr in range(info.batch_size):
            sample = [
                param if dim is None else F.select(param, dim, nr)
                for param, dim in zip(params, in_dims[1:], strict=True)
            ]
            found.append(_Implicit.apply(problem, *sample))
        return F.stack(found), 0


def _read_only(of: Tensor) -> Tensor:
    """A tensor on the same memory that refuses writes, which no version would count."""
    view = resolved(of._impl.array).view()
    view.flags.writeable = False
    return from_numpy(view)


def _dense_solver(function: Callable[[Tensor], Tensor], x: Tensor) -> _Solver:
    size = x.numel()
    matrix = resolved(dense_jacobian(function, size, size)(x)._impl.array)
    if matrix.dtype == np.float16:  # LAPACK has none
        matrix = matrix.astype(np.float32)

    def solve(right: Array, transposed: bool) -> Array:
        try:
            found: Array = np.linalg.solve(
                matrix.T if transposed else matrix, right.astype(matrix.dtype, copy=False)
            )
        except np.linalg.LinAlgError:
            raise _singular() from None
        return found

    return solve


def _sparse_solver(function: Callable[[Tensor], Tensor], x: Tensor) -> _Solver:
    try:
        factorise = import_module("scipy.sparse.linalg").splu
    except ImportError:
        raise MissingPackageError(
            "linear=\"sparse\" needs SciPy, the extra 'scipy': pip install scipy", package="scipy"
        ) from None
    matrix = sparse_jacobian(function, x).tocsc()

    def solve(right: Array, transposed: bool) -> Array:
        try:
            factors = factorise(matrix)
        except RuntimeError:
            raise _singular() from None
        found: Array = factors.solve(right.astype(matrix.dtype), "T" if transposed else "N")
        return found

    return solve


def _singular() -> LinAlgError:
    return LinAlgError(
        "the Jacobian of the residual is singular at the solution: the equation does not determine "
        "how the solution moves with the parameters"
    )
