"""How functions are called that are made of NumPy's, for type checkers only.

The functions of `fft`, `linalg` and `random` that NumPy computes, or that have several kinds of
results, are objects that one function makes. Type checkers know them by these protocols; a running
program does not import this file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol, SupportsIndex, TypeVar, overload

from numpy.typing import DTypeLike

from vtgrad.numpy.operands import ArrayLike
from vtgrad.numpy.public_ndarray import ndarray

R = TypeVar("R")

Size = SupportsIndex | Sequence[SupportsIndex] | None
Axes = SupportsIndex | Sequence[SupportsIndex] | None
Norm = Literal["backward", "ortho", "forward"] | None


# -- fft ---------------------------------------------------------------------------------------


class Transform(Protocol):
    """`fft` and its like, along one axis."""

    def __call__(
        self,
        a: ArrayLike,
        n: SupportsIndex | None = None,
        axis: SupportsIndex = -1,
        norm: Norm = None,
        out: ndarray | None = None,
    ) -> ndarray: ...


class TransformOfTwo(Protocol):
    """`fft2` and its like."""

    def __call__(
        self,
        a: ArrayLike,
        s: Sequence[SupportsIndex] | None = None,
        axes: Axes = (-2, -1),
        norm: Norm = None,
        out: ndarray | None = None,
    ) -> ndarray: ...


class TransformOfSeveral(Protocol):
    """`fftn` and its like."""

    def __call__(
        self,
        a: ArrayLike,
        s: Sequence[SupportsIndex] | None = None,
        axes: Axes = None,
        norm: Norm = None,
        out: ndarray | None = None,
    ) -> ndarray: ...


# -- linalg ------------------------------------------------------------------------------------


class EigResult(NamedTuple):
    """The result of `eig` and `eigh`."""

    eigenvalues: ndarray
    eigenvectors: ndarray


class QRResult(NamedTuple):
    """The result of `qr`."""

    Q: ndarray
    R: ndarray


class SVDResult(NamedTuple):
    """The result of `svd`."""

    U: ndarray
    S: ndarray
    Vh: ndarray


class OfMatrices(Protocol):
    """A function of matrices alone."""

    def __call__(self, a: ArrayLike) -> ndarray: ...


class SVDVals(Protocol):
    """`svdvals`."""

    def __call__(self, x: ArrayLike, /) -> ndarray: ...


class Eig(Protocol):
    """`eig`."""

    def __call__(self, a: ArrayLike) -> EigResult: ...


class Eigh(Protocol):
    """`eigh`."""

    def __call__(self, a: ArrayLike, UPLO: Literal["L", "U", "l", "u"] = "L") -> EigResult: ...


class Eigvalsh(Protocol):
    """`eigvalsh`."""

    def __call__(self, a: ArrayLike, UPLO: Literal["L", "U", "l", "u"] = "L") -> ndarray: ...


class QR(Protocol):
    """`qr`."""

    @overload
    def __call__(
        self, a: ArrayLike, mode: Literal["reduced", "complete"] = "reduced"
    ) -> QRResult: ...
    @overload
    def __call__(self, a: ArrayLike, mode: Literal["r"]) -> ndarray: ...
    @overload
    def __call__(self, a: ArrayLike, mode: Literal["raw"]) -> tuple[ndarray, ndarray]: ...


class SVD(Protocol):
    """`svd`."""

    @overload
    def __call__(
        self,
        a: ArrayLike,
        full_matrices: bool = True,
        compute_uv: Literal[True] = True,
        hermitian: bool = False,
    ) -> SVDResult: ...
    @overload
    def __call__(
        self,
        a: ArrayLike,
        full_matrices: bool = True,
        *,
        compute_uv: Literal[False],
        hermitian: bool = False,
    ) -> ndarray: ...
    @overload
    def __call__(
        self,
        a: ArrayLike,
        full_matrices: bool,
        compute_uv: Literal[False],
        hermitian: bool = False,
    ) -> ndarray: ...


class Pinv(Protocol):
    """`pinv`."""

    def __call__(
        self,
        a: ArrayLike,
        rcond: ArrayLike | None = None,
        hermitian: bool = False,
        *,
        rtol: ArrayLike | None = ...,
    ) -> ndarray: ...


class Lstsq(Protocol):
    """`lstsq`."""

    def __call__(
        self, a: ArrayLike, b: ArrayLike, rcond: float | None = None
    ) -> tuple[ndarray, ndarray, int, ndarray]: ...


class TensorSolve(Protocol):
    """`tensorsolve`."""

    def __call__(
        self, a: ArrayLike, b: ArrayLike, axes: Sequence[SupportsIndex] | None = None
    ) -> ndarray: ...


class TensorInv(Protocol):
    """`tensorinv`."""

    def __call__(self, a: ArrayLike, ind: SupportsIndex = 2) -> ndarray: ...


class Cond(Protocol):
    """`cond`."""

    def __call__(self, x: ArrayLike, p: float | Literal["fro", "nuc"] | None = None) -> ndarray: ...


class MatrixRank(Protocol):
    """`matrix_rank`."""

    def __call__(
        self,
        A: ArrayLike,
        tol: ArrayLike | None = None,
        hermitian: bool = False,
        *,
        rtol: ArrayLike | None = None,
    ) -> ndarray: ...


# -- results of two kinds ----------------------------------------------------------------------


class Indices(Protocol):
    """`indices`."""

    @overload
    def __call__(
        self, dimensions: Sequence[int], dtype: DTypeLike = ..., sparse: Literal[False] = False
    ) -> ndarray: ...
    @overload
    def __call__(
        self, dimensions: Sequence[int], dtype: DTypeLike = ..., *, sparse: Literal[True]
    ) -> tuple[ndarray, ...]: ...
    @overload
    def __call__(
        self, dimensions: Sequence[int], dtype: DTypeLike, sparse: Literal[True]
    ) -> tuple[ndarray, ...]: ...


class FromFunction(Protocol):
    """`fromfunction`."""

    def __call__(
        self,
        function: Callable[..., R],
        shape: Sequence[int],
        *,
        dtype: DTypeLike = ...,
        like: ArrayLike | None = None,
        **kwargs: object,
    ) -> R: ...


class Linspace(Protocol):
    """`linspace`."""

    @overload
    def __call__(
        self,
        start: ArrayLike,
        stop: ArrayLike,
        num: SupportsIndex = 50,
        endpoint: bool = True,
        retstep: Literal[False] = False,
        dtype: DTypeLike | None = None,
        axis: SupportsIndex = 0,
        *,
        device: str | None = None,
    ) -> ndarray: ...
    @overload
    def __call__(
        self,
        start: ArrayLike,
        stop: ArrayLike,
        num: SupportsIndex = 50,
        endpoint: bool = True,
        *,
        retstep: Literal[True],
        dtype: DTypeLike | None = None,
        axis: SupportsIndex = 0,
        device: str | None = None,
    ) -> tuple[ndarray, ndarray]: ...
    @overload
    def __call__(
        self,
        start: ArrayLike,
        stop: ArrayLike,
        num: SupportsIndex,
        endpoint: bool,
        retstep: Literal[True],
        dtype: DTypeLike | None = None,
        axis: SupportsIndex = 0,
        *,
        device: str | None = None,
    ) -> tuple[ndarray, ndarray]: ...


class Polyfit(Protocol):
    """`polyfit`."""

    @overload
    def __call__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        deg: SupportsIndex,
        rcond: float | None = None,
        full: Literal[False] = False,
        w: ArrayLike | None = None,
        cov: Literal[False] = False,
    ) -> ndarray: ...
    @overload
    def __call__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        deg: SupportsIndex,
        rcond: float | None = None,
        full: bool = False,
        w: ArrayLike | None = None,
        cov: bool | Literal["unscaled"] = False,
    ) -> ndarray | tuple[ndarray, ...]: ...


class Average(Protocol):
    """`average`."""

    @overload
    def __call__(
        self,
        a: ArrayLike,
        axis: Axes = None,
        weights: ArrayLike | None = None,
        returned: Literal[False] = False,
        *,
        keepdims: bool = ...,
    ) -> ndarray: ...
    @overload
    def __call__(
        self,
        a: ArrayLike,
        axis: Axes = None,
        weights: ArrayLike | None = None,
        *,
        returned: Literal[True],
        keepdims: bool = ...,
    ) -> tuple[ndarray, ndarray]: ...
    @overload
    def __call__(
        self,
        a: ArrayLike,
        axis: Axes,
        weights: ArrayLike | None,
        returned: Literal[True],
        *,
        keepdims: bool = ...,
    ) -> tuple[ndarray, ndarray]: ...


# -- random ------------------------------------------------------------------------------------


class OfLocation(Protocol):
    """`normal`, `gumbel`, `laplace` and `logistic`."""

    def __call__(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None
    ) -> ndarray: ...


class Lognormal(Protocol):
    """`lognormal`."""

    def __call__(
        self, mean: ArrayLike = 0.0, sigma: ArrayLike = 1.0, size: Size = None
    ) -> ndarray: ...


class Uniform(Protocol):
    """`uniform`."""

    def __call__(
        self, low: ArrayLike = 0.0, high: ArrayLike = 1.0, size: Size = None
    ) -> ndarray: ...


class OfScale(Protocol):
    """`exponential` and `rayleigh`."""

    def __call__(self, scale: ArrayLike = 1.0, size: Size = None) -> ndarray: ...


class Gamma(Protocol):
    """`gamma`."""

    def __call__(self, shape: ArrayLike, scale: ArrayLike = 1.0, size: Size = None) -> ndarray: ...


class StandardGamma(Protocol):
    """`standard_gamma`."""

    def __call__(self, shape: ArrayLike, size: Size = None) -> ndarray: ...


class Beta(Protocol):
    """`beta`."""

    def __call__(self, a: ArrayLike, b: ArrayLike, size: Size = None) -> ndarray: ...


class OfShape(Protocol):
    """`pareto`, `power`, `weibull` and `zipf`."""

    def __call__(self, a: ArrayLike, size: Size = None) -> ndarray: ...


class OfFreedom(Protocol):
    """`chisquare` and `standard_t`."""

    def __call__(self, df: ArrayLike, size: Size = None) -> ndarray: ...


class F(Protocol):
    """`f`."""

    def __call__(self, dfnum: ArrayLike, dfden: ArrayLike, size: Size = None) -> ndarray: ...


class NoncentralChisquare(Protocol):
    """`noncentral_chisquare`."""

    def __call__(self, df: ArrayLike, nonc: ArrayLike, size: Size = None) -> ndarray: ...


class NoncentralF(Protocol):
    """`noncentral_f`."""

    def __call__(
        self, dfnum: ArrayLike, dfden: ArrayLike, nonc: ArrayLike, size: Size = None
    ) -> ndarray: ...


class Binomial(Protocol):
    """`binomial` and `negative_binomial`."""

    def __call__(self, n: ArrayLike, p: ArrayLike, size: Size = None) -> ndarray: ...


class OfProbability(Protocol):
    """`geometric` and `logseries`."""

    def __call__(self, p: ArrayLike, size: Size = None) -> ndarray: ...


class Poisson(Protocol):
    """`poisson`."""

    def __call__(self, lam: ArrayLike = 1.0, size: Size = None) -> ndarray: ...


class Hypergeometric(Protocol):
    """`hypergeometric`."""

    def __call__(
        self, ngood: ArrayLike, nbad: ArrayLike, nsample: ArrayLike, size: Size = None
    ) -> ndarray: ...


class Multinomial(Protocol):
    """`multinomial`."""

    def __call__(self, n: ArrayLike, pvals: ArrayLike, size: Size = None) -> ndarray: ...


class Dirichlet(Protocol):
    """`dirichlet`."""

    def __call__(self, alpha: ArrayLike, size: Size = None) -> ndarray: ...


class MultivariateNormal(Protocol):
    """`multivariate_normal`."""

    def __call__(
        self,
        mean: ArrayLike,
        cov: ArrayLike,
        size: Size = None,
        check_valid: Literal["warn", "raise", "ignore"] = "warn",
        tol: float = 1e-8,
    ) -> ndarray: ...


class MultivariateNormalOfGenerator(Protocol):
    """`Generator.multivariate_normal`."""

    def __call__(
        self,
        mean: ArrayLike,
        cov: ArrayLike,
        size: Size = None,
        check_valid: Literal["warn", "raise", "ignore"] = "warn",
        tol: float = 1e-8,
        *,
        method: Literal["svd", "eigh", "cholesky"] = "svd",
    ) -> ndarray: ...


class Vonmises(Protocol):
    """`vonmises`."""

    def __call__(self, mu: ArrayLike, kappa: ArrayLike, size: Size = None) -> ndarray: ...


class Wald(Protocol):
    """`wald`."""

    def __call__(self, mean: ArrayLike, scale: ArrayLike, size: Size = None) -> ndarray: ...


class Triangular(Protocol):
    """`triangular`."""

    def __call__(
        self, left: ArrayLike, mode: ArrayLike, right: ArrayLike, size: Size = None
    ) -> ndarray: ...


class OfDimensions(Protocol):
    """`rand` and `randn`."""

    def __call__(self, *dims: SupportsIndex) -> ndarray: ...


class OfSize(Protocol):
    """`random`, `standard_normal` and other functions of a size alone."""

    def __call__(self, size: Size = None) -> ndarray: ...


class OfSizeAndDType(Protocol):
    """`Generator.random` and `Generator.standard_normal`."""

    def __call__(
        self, size: Size = None, dtype: DTypeLike = ..., out: ndarray | None = None
    ) -> ndarray: ...


class StandardExponential(Protocol):
    """`Generator.standard_exponential`."""

    def __call__(
        self,
        size: Size = None,
        dtype: DTypeLike = ...,
        method: Literal["zig", "inv"] = "zig",
        out: ndarray | None = None,
    ) -> ndarray: ...


class StandardGammaOfGenerator(Protocol):
    """`Generator.standard_gamma`."""

    def __call__(
        self,
        shape: ArrayLike,
        size: Size = None,
        dtype: DTypeLike = ...,
        out: ndarray | None = None,
    ) -> ndarray: ...


class Randint(Protocol):
    """`randint`."""

    def __call__(
        self,
        low: ArrayLike,
        high: ArrayLike | None = None,
        size: Size = None,
        dtype: DTypeLike = ...,
    ) -> ndarray: ...


class RandomIntegers(Protocol):
    """`random_integers`."""

    def __call__(
        self, low: ArrayLike, high: ArrayLike | None = None, size: Size = None
    ) -> ndarray: ...


class Integers(Protocol):
    """`Generator.integers`."""

    def __call__(
        self,
        low: ArrayLike,
        high: ArrayLike | None = None,
        size: Size = None,
        dtype: DTypeLike = ...,
        endpoint: bool = False,
    ) -> ndarray: ...


class Choice(Protocol):
    """`choice`."""

    def __call__(
        self, a: ArrayLike, size: Size = None, replace: bool = True, p: ArrayLike | None = None
    ) -> ndarray: ...


class ChoiceOfGenerator(Protocol):
    """`Generator.choice`."""

    def __call__(
        self,
        a: ArrayLike,
        size: Size = None,
        replace: bool = True,
        p: ArrayLike | None = None,
        axis: SupportsIndex = 0,
        shuffle: bool = True,
    ) -> ndarray: ...


class Permutation(Protocol):
    """`permutation`."""

    def __call__(self, x: ArrayLike) -> ndarray: ...


class PermutationOfGenerator(Protocol):
    """`Generator.permutation`."""

    def __call__(self, x: ArrayLike, axis: SupportsIndex = 0) -> ndarray: ...


class Permuted(Protocol):
    """`Generator.permuted`."""

    def __call__(
        self, x: ArrayLike, *, axis: SupportsIndex | None = None, out: ndarray | None = None
    ) -> ndarray: ...


class Shuffle(Protocol):
    """`shuffle`."""

    def __call__(self, x: object) -> None: ...


class ShuffleOfGenerator(Protocol):
    """`Generator.shuffle`."""

    def __call__(self, x: object, axis: SupportsIndex = 0) -> None: ...
