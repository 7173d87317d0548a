"""Functions that are imported when a program first names them, as `vtgrad.searchsorted`.

Each is a function of `vtgrad` or a method of `Tensor` like any other to whom calls it, in type
checkers and in the reference. Its text stands in a module that ``import vtgrad`` does not load; see
Note [Tools come at first use]. The tables below say in which.

A module of a family of such functions stands in this package, or wherever its layer is. Its
functions call operators. What the row of an operator names, its kernel, formulas and rules, is
always loaded: a backward may run it at any moment.
"""

from collections.abc import Callable as _Callable
from importlib import import_module as _import_module
from types import MethodType as _MethodType
from typing import Final as _Final

__all__ = ["FUNCTIONS", "METHODS", "add_methods"]

# The functions of `vtgrad`, by name, with the module that defines each. The generator of stubs
# reads both tables as text.
FUNCTIONS: _Final[dict[str, str]] = {
    "bartlett_window": "vtgrad.tensor.windows",
    "bincount": "vtgrad.later.histograms",
    "blackman_window": "vtgrad.tensor.windows",
    "bucketize": "vtgrad.later.searching",
    "cdist": "vtgrad.later.distances",
    "constant_pad_nd": "vtgrad.later.padding",
    "convolve": "vtgrad.later.convolution",
    "corrcoef": "vtgrad.later.covariances",
    "correlate": "vtgrad.later.convolution",
    "cosine_similarity": "vtgrad.later.distances",
    "cov": "vtgrad.later.covariances",
    "cumulative_trapezoid": "vtgrad.later.integrals",
    "from_dlpack": "vtgrad.tensor.from_memory",
    "frombuffer": "vtgrad.tensor.from_memory",
    "gradient": "vtgrad.later.gradients_of_samples",
    "hamming_window": "vtgrad.tensor.windows",
    "hann_window": "vtgrad.tensor.windows",
    "histc": "vtgrad.later.histograms",
    "histogram": "vtgrad.later.histograms",
    "histogramdd": "vtgrad.later.histograms",
    "interp": "vtgrad.later.interpolation",
    "isin": "vtgrad.later.uniques",
    "istft": "vtgrad.later.short_time",
    "kaiser_window": "vtgrad.tensor.windows",
    "load": "vtgrad.tensor.file_reader",
    "logspace": "vtgrad.tensor.logspace",
    "msort": "vtgrad.later.msort",
    "multinomial": "vtgrad.later.multinomial",
    "nanquantile": "vtgrad.later.quantiles",
    "nonzero_static": "vtgrad.later.nonzero_static",
    "pad": "vtgrad.later.padding",
    "pairwise_distance": "vtgrad.later.distances",
    "pdist": "vtgrad.later.distances",
    "quantile": "vtgrad.later.quantiles",
    "save": "vtgrad.tensor.file_writer",
    "searchsorted": "vtgrad.later.searching",
    "stft": "vtgrad.later.short_time",
    "trapezoid": "vtgrad.later.integrals",
    "trapz": "vtgrad.later.integrals",
    "tril_indices": "vtgrad.tensor.triangle_indices",
    "triu_indices": "vtgrad.tensor.triangle_indices",
    "unique": "vtgrad.later.uniques",
    "unique_consecutive": "vtgrad.later.uniques",
    "unravel_index": "vtgrad.later.unravel_index",
}

# The methods of `Tensor`: functions whose first argument is the tensor.
METHODS: _Final[dict[str, str]] = {
    "bincount": "vtgrad.later.histograms",
    "corrcoef": "vtgrad.later.covariances",
    "cov": "vtgrad.later.covariances",
    "histc": "vtgrad.later.histograms",
    "histogram": "vtgrad.later.histograms",
    "istft": "vtgrad.later.short_time",
    "msort": "vtgrad.later.msort",
    "multinomial": "vtgrad.later.multinomial",
    "nanquantile": "vtgrad.later.quantiles",
    "nonzero_static": "vtgrad.later.nonzero_static",
    "quantile": "vtgrad.later.quantiles",
    "stft": "vtgrad.later.short_time",
    "unique": "vtgrad.later.uniques",
    "unique_consecutive": "vtgrad.later.uniques",
}


class _Method:
    """A method in the class until a program first names it, and the function afterwards.

    Looked up in the class it is the function itself, so that `inspect.signature`, `help` and pickle
    find what they find of other methods. Two threads that name it first wait for one import.

    Attributes
    ----------
    home, name : str
        The module of the function, and its name there.
    function : callable or None
        The function; None until the first use.
    """

    __slots__ = ("function", "home", "name")

    home: str
    name: str
    function: _Callable[..., object] | None

    def __init__(self, home: str, name: str) -> None:
        self.home = home
        self.name = name
        self.function = None

    def __get__(self, instance: object, owner: type) -> object:
        function = self.function
        if function is None:
            found: _Callable[..., object] = getattr(_import_module(self.home), self.name)
            function = self.function = found
        return function if instance is None else _MethodType(function, instance)


def add_methods(owner: type) -> None:
    """Give a class the methods in the table."""
    for name, home in METHODS.items():
        setattr(owner, name, _Method(home, name))
