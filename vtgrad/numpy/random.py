"""NumPy's random numbers as arrays of the namespace.

The numbers are NumPy's, of the same seeds. Samples of normal, uniform and some other distributions
have derivatives by the parameters; see Note [Derivatives of random numbers].
"""

# Methods and functions return arrays of the namespace.
# mypy: disable-error-code="assignment"

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.random import MT19937 as MT19937
from numpy.random import PCG64 as PCG64
from numpy.random import PCG64DXSM as PCG64DXSM
from numpy.random import SFC64 as SFC64
from numpy.random import BitGenerator as BitGenerator
from numpy.random import Philox as Philox
from numpy.random import SeedSequence as SeedSequence
from numpy.random import bytes as bytes
from numpy.random import get_state as get_state
from numpy.random import seed as seed
from numpy.random import set_state as set_state

from vtgrad.numpy import drawing
from vtgrad.numpy.function import function
from vtgrad.numpy.operands import ArrayLike
from vtgrad.numpy.public_ndarray import ndarray

if TYPE_CHECKING:
    from vtgrad.numpy import signatures

# What chooses the numbers that come; None for others in each run.
_Seed: TypeAlias = int | Sequence[int] | np.ndarray[Any, np.dtype[np.integer[Any]]] | None

__all__ = [
    "BitGenerator",
    "Generator",
    "MT19937",
    "PCG64",
    "PCG64DXSM",
    "Philox",
    "RandomState",
    "SFC64",
    "SeedSequence",
    "beta",
    "binomial",
    "bytes",
    "chisquare",
    "choice",
    "default_rng",
    "dirichlet",
    "exponential",
    "f",
    "gamma",
    "geometric",
    "get_bit_generator",
    "get_state",
    "gumbel",
    "hypergeometric",
    "laplace",
    "logistic",
    "lognormal",
    "logseries",
    "multinomial",
    "multivariate_normal",
    "negative_binomial",
    "noncentral_chisquare",
    "noncentral_f",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "power",
    "rand",
    "randint",
    "randn",
    "random",
    "random_integers",
    "random_sample",
    "ranf",
    "rayleigh",
    "sample",
    "seed",
    "set_bit_generator",
    "set_state",
    "shuffle",
    "standard_cauchy",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
    "standard_t",
    "triangular",
    "uniform",
    "vonmises",
    "wald",
    "weibull",
    "zipf",
]

Drawn: TypeAlias = Callable[..., ndarray]


def _method(name: str) -> Drawn:
    """A method that draws by the generator of NumPy's that an object holds."""

    def method(self: Any, *args: object, **options: object) -> object:
        return drawing.draw(self._numpys, name, args, options)

    return _named(method, name)


def _of_parts(name: str) -> Drawn:
    """A method that puts the parts of an array in another order, or takes some."""
    call: Any = getattr(drawing, name)

    def method(self: Any, *args: object, **options: object) -> object:
        return call(self._numpys, *args, **options)

    return _named(method, name)


def _function(name: str) -> Drawn:
    """A function that draws by NumPy's generator for all of the program."""

    def drawn(*args: object, **options: object) -> object:
        return drawing.draw(np.random, name, args, options)

    return function(of=getattr(np.random, name))(_named(drawn, name))


def _named(function: Any, name: str) -> Drawn:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"As ``numpy.random.{name}``, with an array of the namespace."
    found: Drawn = function
    return found


class Generator(np.random.Generator):
    """A generator of random numbers, as NumPy's, whose arrays are of the namespace.

    Parameters
    ----------
    bit_generator : numpy.random.BitGenerator
        Where random bits come from.
    """

    def __init__(self, bit_generator: BitGenerator) -> None:
        super().__init__(bit_generator)
        # NumPy's methods call each other, on arrays of NumPy.
        self._numpys = np.random.Generator(bit_generator)

    def __reduce__(self) -> Any:
        return Generator, (self.bit_generator,)

    beta: signatures.Beta = _method("beta")
    binomial: signatures.Binomial = _method("binomial")
    chisquare: signatures.OfFreedom = _method("chisquare")
    choice: signatures.ChoiceOfGenerator = _of_parts("choice")
    dirichlet: signatures.Dirichlet = _method("dirichlet")
    exponential: signatures.OfScale = _method("exponential")
    f: signatures.F = _method("f")
    gamma: signatures.Gamma = _method("gamma")
    geometric: signatures.OfProbability = _method("geometric")
    gumbel: signatures.OfLocation = _method("gumbel")
    hypergeometric: signatures.Hypergeometric = _method("hypergeometric")
    integers: signatures.Integers = _method("integers")
    laplace: signatures.OfLocation = _method("laplace")
    logistic: signatures.OfLocation = _method("logistic")
    lognormal: signatures.Lognormal = _method("lognormal")
    logseries: signatures.OfProbability = _method("logseries")
    multinomial: signatures.Multinomial = _method("multinomial")
    multivariate_hypergeometric: Drawn = _method("multivariate_hypergeometric")
    multivariate_normal: signatures.MultivariateNormalOfGenerator = _method("multivariate_normal")
    negative_binomial: signatures.Binomial = _method("negative_binomial")
    noncentral_chisquare: signatures.NoncentralChisquare = _method("noncentral_chisquare")
    noncentral_f: signatures.NoncentralF = _method("noncentral_f")
    normal: signatures.OfLocation = _method("normal")
    pareto: signatures.OfShape = _method("pareto")
    permutation: signatures.PermutationOfGenerator = _of_parts("permutation")
    permuted: signatures.Permuted = _of_parts("permuted")
    poisson: signatures.Poisson = _method("poisson")
    power: signatures.OfShape = _method("power")
    random: signatures.OfSizeAndDType = _method("random")
    rayleigh: signatures.OfScale = _method("rayleigh")
    shuffle: signatures.ShuffleOfGenerator = _of_parts("shuffle")
    standard_cauchy: signatures.OfSize = _method("standard_cauchy")
    standard_exponential: signatures.StandardExponential = _method("standard_exponential")
    standard_gamma: signatures.StandardGammaOfGenerator = _method("standard_gamma")
    standard_normal: signatures.OfSizeAndDType = _method("standard_normal")
    standard_t: signatures.OfFreedom = _method("standard_t")
    triangular: signatures.Triangular = _method("triangular")
    uniform: signatures.Uniform = _method("uniform")
    vonmises: signatures.Vonmises = _method("vonmises")
    wald: signatures.Wald = _method("wald")
    weibull: signatures.OfShape = _method("weibull")
    zipf: signatures.OfShape = _method("zipf")


class RandomState(np.random.RandomState):
    """The generator of random numbers of old programs, whose arrays are of the namespace.

    Parameters
    ----------
    seed : int, sequence of int or numpy.random.BitGenerator, optional
        Which numbers come.
    """

    def __init__(self, seed: _Seed | np.random.BitGenerator = None) -> None:
        self._numpys = np.random.RandomState(seed)
        super().__init__(self._numpys._bit_generator)

    def __reduce__(self) -> Any:
        return _restored, (self._numpys,)

    def seed(self, seed: object = None) -> None:
        """Start anew, by a seed."""
        self._numpys.seed(typing.cast("Any", seed))

    def get_state(self, legacy: bool = True) -> Any:
        """What is needed to go on from here."""
        numpys: Any = self._numpys
        return numpys.get_state(legacy)

    def set_state(self, state: Any) -> None:
        """Go on from where `get_state` was called."""
        self._numpys.set_state(state)

    beta: signatures.Beta = _method("beta")
    binomial: signatures.Binomial = _method("binomial")
    chisquare: signatures.OfFreedom = _method("chisquare")
    choice: signatures.Choice = _of_parts("choice")
    dirichlet: signatures.Dirichlet = _method("dirichlet")
    exponential: signatures.OfScale = _method("exponential")
    f: signatures.F = _method("f")
    gamma: signatures.Gamma = _method("gamma")
    geometric: signatures.OfProbability = _method("geometric")
    gumbel: signatures.OfLocation = _method("gumbel")
    hypergeometric: signatures.Hypergeometric = _method("hypergeometric")
    laplace: signatures.OfLocation = _method("laplace")
    logistic: signatures.OfLocation = _method("logistic")
    lognormal: signatures.Lognormal = _method("lognormal")
    logseries: signatures.OfProbability = _method("logseries")
    multinomial: signatures.Multinomial = _method("multinomial")
    multivariate_normal: signatures.MultivariateNormal = _method("multivariate_normal")
    negative_binomial: signatures.Binomial = _method("negative_binomial")
    noncentral_chisquare: signatures.NoncentralChisquare = _method("noncentral_chisquare")
    noncentral_f: signatures.NoncentralF = _method("noncentral_f")
    normal: signatures.OfLocation = _method("normal")
    pareto: signatures.OfShape = _method("pareto")
    permutation: signatures.Permutation = _of_parts("permutation")
    poisson: signatures.Poisson = _method("poisson")
    power: signatures.OfShape = _method("power")
    rand: signatures.OfDimensions = _method("rand")
    randint: signatures.Randint = _method("randint")
    randn: signatures.OfDimensions = _method("randn")
    random: signatures.OfSize = _method("random")
    random_integers: signatures.RandomIntegers = _method("random_integers")
    random_sample: signatures.OfSize = _method("random_sample")
    rayleigh: signatures.OfScale = _method("rayleigh")
    shuffle: signatures.Shuffle = _of_parts("shuffle")
    standard_cauchy: signatures.OfSize = _method("standard_cauchy")
    standard_exponential: signatures.OfSize = _method("standard_exponential")
    standard_gamma: signatures.StandardGamma = _method("standard_gamma")
    standard_normal: signatures.OfSize = _method("standard_normal")
    standard_t: signatures.OfFreedom = _method("standard_t")
    tomaxint: signatures.OfSize = _method("tomaxint")
    triangular: signatures.Triangular = _method("triangular")
    uniform: signatures.Uniform = _method("uniform")
    vonmises: signatures.Vonmises = _method("vonmises")
    wald: signatures.Wald = _method("wald")
    weibull: signatures.OfShape = _method("weibull")
    zipf: signatures.OfShape = _method("zipf")


def _restored(numpys: np.random.RandomState) -> RandomState:
    made = RandomState.__new__(RandomState)
    RandomState.__init__(made, numpys._bit_generator)
    made._numpys = numpys
    return made


@function(of=np.random.default_rng)
def default_rng(
    seed: _Seed | np.random.SeedSequence | np.random.BitGenerator | np.random.Generator = None,
) -> Generator:
    """A generator of random numbers.

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence, BitGenerator or Generator, optional
        Which numbers come; by default others in each run.

    Returns
    -------
    Generator
        NumPy's generator, with arrays of the namespace.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.random.default_rng(0).normal(size=2)
    array([ 0.12573022, -0.13210486])
    >>> x = np.array(2.0).requires_grad_()
    >>> np.random.default_rng(0).normal(0, x, 2).requires_grad
    True
    """
    return (
        seed
        if isinstance(seed, Generator)
        else Generator(np.random.default_rng(seed).bit_generator)
    )


# -- by the generator for all of the program -------------------------------------------------

beta: Final[signatures.Beta] = _function("beta")
binomial: Final[signatures.Binomial] = _function("binomial")
chisquare: Final[signatures.OfFreedom] = _function("chisquare")
dirichlet: Final[signatures.Dirichlet] = _function("dirichlet")
exponential: Final[signatures.OfScale] = _function("exponential")
f: Final[signatures.F] = _function("f")
gamma: Final[signatures.Gamma] = _function("gamma")
geometric: Final[signatures.OfProbability] = _function("geometric")
gumbel: Final[signatures.OfLocation] = _function("gumbel")
hypergeometric: Final[signatures.Hypergeometric] = _function("hypergeometric")
laplace: Final[signatures.OfLocation] = _function("laplace")
logistic: Final[signatures.OfLocation] = _function("logistic")
lognormal: Final[signatures.Lognormal] = _function("lognormal")
logseries: Final[signatures.OfProbability] = _function("logseries")
multinomial: Final[signatures.Multinomial] = _function("multinomial")
multivariate_normal: Final[signatures.MultivariateNormal] = _function("multivariate_normal")
negative_binomial: Final[signatures.Binomial] = _function("negative_binomial")
noncentral_chisquare: Final[signatures.NoncentralChisquare] = _function("noncentral_chisquare")
noncentral_f: Final[signatures.NoncentralF] = _function("noncentral_f")
normal: Final[signatures.OfLocation] = _function("normal")
pareto: Final[signatures.OfShape] = _function("pareto")
poisson: Final[signatures.Poisson] = _function("poisson")
power: Final[signatures.OfShape] = _function("power")
rand: Final[signatures.OfDimensions] = _function("rand")
randint: Final[signatures.Randint] = _function("randint")
randn: Final[signatures.OfDimensions] = _function("randn")
random: Final[signatures.OfSize] = _function("random")
random_integers: Final[signatures.RandomIntegers] = _function("random_integers")
random_sample: Final[signatures.OfSize] = _function("random_sample")
rayleigh: Final[signatures.OfScale] = _function("rayleigh")
standard_cauchy: Final[signatures.OfSize] = _function("standard_cauchy")
standard_exponential: Final[signatures.OfSize] = _function("standard_exponential")
standard_gamma: Final[signatures.StandardGamma] = _function("standard_gamma")
standard_normal: Final[signatures.OfSize] = _function("standard_normal")
standard_t: Final[signatures.OfFreedom] = _function("standard_t")
triangular: Final[signatures.Triangular] = _function("triangular")
uniform: Final[signatures.Uniform] = _function("uniform")
vonmises: Final[signatures.Vonmises] = _function("vonmises")
wald: Final[signatures.Wald] = _function("wald")
weibull: Final[signatures.OfShape] = _function("weibull")
zipf: Final[signatures.OfShape] = _function("zipf")
ranf: Final = random_sample
sample: Final = random_sample
get_bit_generator: Final[Callable[[], BitGenerator]] = vars(np.random)["get_bit_generator"]
set_bit_generator: Final[Callable[[BitGenerator], None]] = vars(np.random)["set_bit_generator"]


@function(of=np.random.choice)
def choice(
    a: ArrayLike,
    size: signatures.Size = None,
    replace: bool = True,
    p: ArrayLike | None = None,
) -> ndarray:
    """Elements of an array that are drawn at random.

    Parameters
    ----------
    a : array_like or int
        The array; the numbers below an integer.
    size : int or sequence of int, optional
        The shape of the result; one element by default.
    replace : bool
        Whether an element may be drawn several times.
    p : array_like, optional
        The probability of each element; by default all are equal.

    Returns
    -------
    ndarray
        Elements of the array, recorded.
    """
    return typing.cast("ndarray", drawing.choice(np.random, a, size, replace, p))


@function(of=np.random.permutation)
def permutation(x: ArrayLike) -> ndarray:
    """The rows of an array in a random order, recorded; the numbers below an integer.

    Parameters
    ----------
    x : array_like or int
        The array, or the integer.

    Returns
    -------
    ndarray
        A new array.
    """
    return drawing.permutation(np.random, x)


@function(of=np.random.shuffle)
def shuffle(x: ArrayLike) -> None:
    """Put the rows of an array in a random order, in place; recorded.

    Parameters
    ----------
    x : ndarray or sequence
        What is put in order.
    """
    drawing.shuffle(np.random, x)
