"""NumPy's random numbers as arrays of the namespace.

The numbers are NumPy's, of the same seeds. Samples of normal, uniform and some other distributions
have derivatives by the parameters; see Note [Derivatives of random numbers].
"""

# Methods and functions return arrays of the namespace.
# mypy: disable-error-code="assignment"

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

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

    beta: Drawn = _method("beta")
    binomial: Drawn = _method("binomial")
    chisquare: Drawn = _method("chisquare")
    choice: Drawn = _of_parts("choice")
    dirichlet: Drawn = _method("dirichlet")
    exponential: Drawn = _method("exponential")
    f: Drawn = _method("f")
    gamma: Drawn = _method("gamma")
    geometric: Drawn = _method("geometric")
    gumbel: Drawn = _method("gumbel")
    hypergeometric: Drawn = _method("hypergeometric")
    integers: Drawn = _method("integers")
    laplace: Drawn = _method("laplace")
    logistic: Drawn = _method("logistic")
    lognormal: Drawn = _method("lognormal")
    logseries: Drawn = _method("logseries")
    multinomial: Drawn = _method("multinomial")
    multivariate_hypergeometric: Drawn = _method("multivariate_hypergeometric")
    multivariate_normal: Drawn = _method("multivariate_normal")
    negative_binomial: Drawn = _method("negative_binomial")
    noncentral_chisquare: Drawn = _method("noncentral_chisquare")
    noncentral_f: Drawn = _method("noncentral_f")
    normal: Drawn = _method("normal")
    pareto: Drawn = _method("pareto")
    permutation: Drawn = _of_parts("permutation")
    permuted: Drawn = _of_parts("permuted")
    poisson: Drawn = _method("poisson")
    power: Drawn = _method("power")
    random: Drawn = _method("random")
    rayleigh: Drawn = _method("rayleigh")
    shuffle: Drawn = _of_parts("shuffle")
    standard_cauchy: Drawn = _method("standard_cauchy")
    standard_exponential: Drawn = _method("standard_exponential")
    standard_gamma: Drawn = _method("standard_gamma")
    standard_normal: Drawn = _method("standard_normal")
    standard_t: Drawn = _method("standard_t")
    triangular: Drawn = _method("triangular")
    uniform: Drawn = _method("uniform")
    vonmises: Drawn = _method("vonmises")
    wald: Drawn = _method("wald")
    weibull: Drawn = _method("weibull")
    zipf: Drawn = _method("zipf")


class RandomState(np.random.RandomState):
    """The generator of random numbers of old programs, whose arrays are of the namespace.

    Parameters
    ----------
    seed : int, sequence of int or numpy.random.BitGenerator, optional
        Which numbers come.
    """

    def __init__(self, seed: Any = None) -> None:
        self._numpys = np.random.RandomState(seed)
        super().__init__(self._numpys._bit_generator)

    def __reduce__(self) -> Any:
        return _restored, (self._numpys,)

    def seed(self, seed: Any = None) -> None:
        """Start anew, by a seed."""
        self._numpys.seed(seed)

    def get_state(self, legacy: bool = True) -> Any:
        """What is needed to go on from here."""
        numpys: Any = self._numpys
        return numpys.get_state(legacy)

    def set_state(self, state: Any) -> None:
        """Go on from where `get_state` was called."""
        self._numpys.set_state(state)

    beta: Drawn = _method("beta")
    binomial: Drawn = _method("binomial")
    chisquare: Drawn = _method("chisquare")
    choice: Drawn = _of_parts("choice")
    dirichlet: Drawn = _method("dirichlet")
    exponential: Drawn = _method("exponential")
    f: Drawn = _method("f")
    gamma: Drawn = _method("gamma")
    geometric: Drawn = _method("geometric")
    gumbel: Drawn = _method("gumbel")
    hypergeometric: Drawn = _method("hypergeometric")
    laplace: Drawn = _method("laplace")
    logistic: Drawn = _method("logistic")
    lognormal: Drawn = _method("lognormal")
    logseries: Drawn = _method("logseries")
    multinomial: Drawn = _method("multinomial")
    multivariate_normal: Drawn = _method("multivariate_normal")
    negative_binomial: Drawn = _method("negative_binomial")
    noncentral_chisquare: Drawn = _method("noncentral_chisquare")
    noncentral_f: Drawn = _method("noncentral_f")
    normal: Drawn = _method("normal")
    pareto: Drawn = _method("pareto")
    permutation: Drawn = _of_parts("permutation")
    poisson: Drawn = _method("poisson")
    power: Drawn = _method("power")
    rand: Drawn = _method("rand")
    randint: Drawn = _method("randint")
    randn: Drawn = _method("randn")
    random: Drawn = _method("random")
    random_integers: Drawn = _method("random_integers")
    random_sample: Drawn = _method("random_sample")
    rayleigh: Drawn = _method("rayleigh")
    shuffle: Drawn = _of_parts("shuffle")
    standard_cauchy: Drawn = _method("standard_cauchy")
    standard_exponential: Drawn = _method("standard_exponential")
    standard_gamma: Drawn = _method("standard_gamma")
    standard_normal: Drawn = _method("standard_normal")
    standard_t: Drawn = _method("standard_t")
    tomaxint: Drawn = _method("tomaxint")
    triangular: Drawn = _method("triangular")
    uniform: Drawn = _method("uniform")
    vonmises: Drawn = _method("vonmises")
    wald: Drawn = _method("wald")
    weibull: Drawn = _method("weibull")
    zipf: Drawn = _method("zipf")


def _restored(numpys: np.random.RandomState) -> RandomState:
    made = RandomState.__new__(RandomState)
    RandomState.__init__(made, numpys._bit_generator)
    made._numpys = numpys
    return made


@function(of=np.random.default_rng)
def default_rng(seed: Any = None) -> Generator:
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

beta: Final = _function("beta")
binomial: Final = _function("binomial")
chisquare: Final = _function("chisquare")
dirichlet: Final = _function("dirichlet")
exponential: Final = _function("exponential")
f: Final = _function("f")
gamma: Final = _function("gamma")
geometric: Final = _function("geometric")
gumbel: Final = _function("gumbel")
hypergeometric: Final = _function("hypergeometric")
laplace: Final = _function("laplace")
logistic: Final = _function("logistic")
lognormal: Final = _function("lognormal")
logseries: Final = _function("logseries")
multinomial: Final = _function("multinomial")
multivariate_normal: Final = _function("multivariate_normal")
negative_binomial: Final = _function("negative_binomial")
noncentral_chisquare: Final = _function("noncentral_chisquare")
noncentral_f: Final = _function("noncentral_f")
normal: Final = _function("normal")
pareto: Final = _function("pareto")
poisson: Final = _function("poisson")
power: Final = _function("power")
rand: Final = _function("rand")
randint: Final = _function("randint")
randn: Final = _function("randn")
random: Final = _function("random")
random_integers: Final = _function("random_integers")
random_sample: Final = _function("random_sample")
rayleigh: Final = _function("rayleigh")
standard_cauchy: Final = _function("standard_cauchy")
standard_exponential: Final = _function("standard_exponential")
standard_gamma: Final = _function("standard_gamma")
standard_normal: Final = _function("standard_normal")
standard_t: Final = _function("standard_t")
triangular: Final = _function("triangular")
uniform: Final = _function("uniform")
vonmises: Final = _function("vonmises")
wald: Final = _function("wald")
weibull: Final = _function("weibull")
zipf: Final = _function("zipf")
ranf: Final = random_sample
sample: Final = random_sample
get_bit_generator: Final[Callable[[], BitGenerator]] = vars(np.random)["get_bit_generator"]
set_bit_generator: Final[Callable[[BitGenerator], None]] = vars(np.random)["set_bit_generator"]


@function(of=np.random.choice)
def choice(a: ArrayLike, *args: object, **options: object) -> Any:
    """As ``numpy.random.choice``, with an array of the namespace.

    Parameters
    ----------
    a : array_like or int
        The array; the numbers below an integer.
    *args, **options
        As of ``numpy.random.choice``: ``size``, ``replace``, ``p``.

    Returns
    -------
    ndarray
        Elements of the array, recorded.
    """
    return drawing.choice(np.random, a, *args, **options)


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
