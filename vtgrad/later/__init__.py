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
    "chain_matmul": "vtgrad.linalg.older_names",
    "cholesky": "vtgrad.linalg.older_names",
    "cholesky_inverse": "vtgrad.linalg.older_names",
    "cholesky_solve": "vtgrad.linalg.older_names",
    "corrcoef": "vtgrad.later.covariances",
    "cov": "vtgrad.later.covariances",
    "det": "vtgrad.linalg.older_names",
    "from_dlpack": "vtgrad.tensor.from_memory",
    "frombuffer": "vtgrad.tensor.from_memory",
    "inverse": "vtgrad.linalg.older_names",
    "load": "vtgrad.tensor.file_reader",
    "logdet": "vtgrad.linalg.older_names",
    "lu_solve": "vtgrad.linalg.older_names",
    "lu_unpack": "vtgrad.linalg.older_names",
    "matrix_exp": "vtgrad.linalg.older_names",
    "matrix_power": "vtgrad.linalg.older_names",
    "orgqr": "vtgrad.linalg.older_names",
    "pinverse": "vtgrad.linalg.older_names",
    "qr": "vtgrad.linalg.older_names",
    "save": "vtgrad.tensor.file_writer",
    "slogdet": "vtgrad.linalg.older_names",
    "svd": "vtgrad.linalg.older_names",
    "triangular_solve": "vtgrad.linalg.older_names",
    "vander": "vtgrad.linalg.older_names",
}

# The methods of `Tensor`: functions whose first argument is the tensor.
METHODS: _Final[dict[str, str]] = {
    "cholesky": "vtgrad.linalg.older_names",
    "cholesky_inverse": "vtgrad.linalg.older_names",
    "cholesky_solve": "vtgrad.linalg.older_names",
    "corrcoef": "vtgrad.later.covariances",
    "cov": "vtgrad.later.covariances",
    "det": "vtgrad.linalg.older_names",
    "inverse": "vtgrad.linalg.older_names",
    "logdet": "vtgrad.linalg.older_names",
    "lu_solve": "vtgrad.linalg.older_names",
    "matrix_exp": "vtgrad.linalg.older_names",
    "matrix_power": "vtgrad.linalg.older_names",
    "orgqr": "vtgrad.linalg.older_names",
    "pinverse": "vtgrad.linalg.older_names",
    "qr": "vtgrad.linalg.older_names",
    "slogdet": "vtgrad.linalg.older_names",
    "svd": "vtgrad.linalg.older_names",
    "triangular_solve": "vtgrad.linalg.older_names",
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
