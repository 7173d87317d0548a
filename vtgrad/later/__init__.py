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
    "chain_matmul": "vtgrad.linalg.older_names",
    "cholesky": "vtgrad.linalg.older_names",
    "cholesky_inverse": "vtgrad.linalg.older_names",
    "cholesky_solve": "vtgrad.linalg.older_names",
    "constant_pad_nd": "vtgrad.later.padding",
    "convolve": "vtgrad.later.convolution",
    "corrcoef": "vtgrad.later.covariances",
    "correlate": "vtgrad.later.convolution",
    "cosine_similarity": "vtgrad.later.distances",
    "cov": "vtgrad.later.covariances",
    "cumulative_trapezoid": "vtgrad.later.integrals",
    "det": "vtgrad.linalg.older_names",
    "from_dlpack": "vtgrad.tensor.from_memory",
    "frombuffer": "vtgrad.tensor.from_memory",
    "geqrf": "vtgrad.linalg.reflections",
    "gradient": "vtgrad.later.gradients_of_samples",
    "hamming_window": "vtgrad.tensor.windows",
    "hann_window": "vtgrad.tensor.windows",
    "histc": "vtgrad.later.histograms",
    "histogram": "vtgrad.later.histograms",
    "histogramdd": "vtgrad.later.histograms",
    "interp": "vtgrad.later.interpolation",
    "inverse": "vtgrad.linalg.older_names",
    "isin": "vtgrad.later.uniques",
    "istft": "vtgrad.later.short_time",
    "kaiser_window": "vtgrad.tensor.windows",
    "load": "vtgrad.tensor.file_reader",
    "logdet": "vtgrad.linalg.older_names",
    "logspace": "vtgrad.tensor.logspace",
    "lu": "vtgrad.linalg.older_names",
    "lu_solve": "vtgrad.linalg.older_names",
    "lu_unpack": "vtgrad.linalg.older_names",
    "matrix_exp": "vtgrad.linalg.older_names",
    "matrix_power": "vtgrad.linalg.older_names",
    "msort": "vtgrad.later.msort",
    "multinomial": "vtgrad.later.multinomial",
    "nanquantile": "vtgrad.later.quantiles",
    "nonzero_static": "vtgrad.later.nonzero_static",
    "orgqr": "vtgrad.linalg.older_names",
    "ormqr": "vtgrad.linalg.reflections",
    "pad": "vtgrad.later.padding",
    "pairwise_distance": "vtgrad.later.distances",
    "pdist": "vtgrad.later.distances",
    "pinverse": "vtgrad.linalg.older_names",
    "qr": "vtgrad.linalg.older_names",
    "quantile": "vtgrad.later.quantiles",
    "save": "vtgrad.tensor.file_writer",
    "searchsorted": "vtgrad.later.searching",
    "slogdet": "vtgrad.linalg.older_names",
    "stft": "vtgrad.later.short_time",
    "svd": "vtgrad.linalg.older_names",
    "trapezoid": "vtgrad.later.integrals",
    "trapz": "vtgrad.later.integrals",
    "triangular_solve": "vtgrad.linalg.older_names",
    "tril_indices": "vtgrad.tensor.triangle_indices",
    "triu_indices": "vtgrad.tensor.triangle_indices",
    "unique": "vtgrad.later.uniques",
    "unique_consecutive": "vtgrad.later.uniques",
    "unravel_index": "vtgrad.later.unravel_index",
    "vander": "vtgrad.linalg.older_names",
}

# The methods of `Tensor`: functions whose first argument is the tensor.
METHODS: _Final[dict[str, str]] = {
    "bincount": "vtgrad.later.histograms",
    "cholesky": "vtgrad.linalg.older_names",
    "cholesky_inverse": "vtgrad.linalg.older_names",
    "cholesky_solve": "vtgrad.linalg.older_names",
    "corrcoef": "vtgrad.later.covariances",
    "cov": "vtgrad.later.covariances",
    "det": "vtgrad.linalg.older_names",
    "geqrf": "vtgrad.linalg.reflections",
    "histc": "vtgrad.later.histograms",
    "histogram": "vtgrad.later.histograms",
    "inverse": "vtgrad.linalg.older_names",
    "istft": "vtgrad.later.short_time",
    "logdet": "vtgrad.linalg.older_names",
    "lu": "vtgrad.linalg.older_names",
    "lu_solve": "vtgrad.linalg.older_names",
    "matrix_exp": "vtgrad.linalg.older_names",
    "matrix_power": "vtgrad.linalg.older_names",
    "msort": "vtgrad.later.msort",
    "multinomial": "vtgrad.later.multinomial",
    "nanquantile": "vtgrad.later.quantiles",
    "nonzero_static": "vtgrad.later.nonzero_static",
    "orgqr": "vtgrad.linalg.older_names",
    "ormqr": "vtgrad.linalg.reflections",
    "pinverse": "vtgrad.linalg.older_names",
    "qr": "vtgrad.linalg.older_names",
    "quantile": "vtgrad.later.quantiles",
    "slogdet": "vtgrad.linalg.older_names",
    "stft": "vtgrad.later.short_time",
    "svd": "vtgrad.linalg.older_names",
    "triangular_solve": "vtgrad.linalg.older_names",
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
