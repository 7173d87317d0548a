"""Types that stubs state, because those in the source are of no use to programs."""

import ast
import dataclasses
from typing import Final

from vtgrad.codegen.stubs.modules import PACKAGE, Module
from vtgrad.codegen.stubs.names import Names
from vtgrad.codegen.stubs.signatures import Signature
from vtgrad.codegen.stubs.spelling import Place, Speller

__all__ = ["as_stated"]

# By the path of a parameter in its stub. Most are wide in the source, where anything may arrive
# when a program runs; results are as decisions/0019 says.
_STATED: Final = {
    "Tensor.__init__._": "Never",
    "Tensor.__matmul__.other": "Tensor | NDArray[Any]",
    "Tensor.__rmatmul__.other": "Tensor",
    "Tensor.__reduce_ex__.protocol": "SupportsIndex",
    "Tensor.item.return": "int | float",
    "Tensor.new_tensor.data": "Data",
    "Tensor.view.dtype": "DType | None",
    "Tensor.tolist.return": "list[Any] | Any",
    "tensor.data": "Data",
    "as_tensor.data": "Data",
    "is_tensor.return": "TypeIs[Tensor]",
    "set_default_dtype.dtype": "DType",
    "view.dtype": "DType | None",
}
# Where these types would stand.
_MODULE: Final = Module(
    "vtgrad.stated",
    PACKAGE / "stated.py",
    "from typing import Any, Never, SupportsIndex\n"
    "from numpy.typing import NDArray\n"
    "from typing_extensions import TypeIs\n"
    "from .storage.dtypes import DType\n"
    "from .tensor.tensor import Tensor\n"
    "from .types import Data",
)


def as_stated(one: Signature, path: str, names: Names, hidden: frozenset[str]) -> Signature:
    """A signature with the types that are stated for its parameters and its result.

    Parameters
    ----------
    path : str
        The name of the function in its stub, after that of its class.
    hidden : set of str
        As in `Speller`.
    """

    def types(name: str, known: tuple[str, ...]) -> tuple[str, ...]:
        text = _STATED.get(f"{path}.{name}")
        if text is None:
            return known
        place = Place(given=False, wide=False)
        node = ast.parse(text, mode="eval").body
        return tuple(Speller(_MODULE, names, hidden).parts(node, place))

    parameters = tuple(dataclasses.replace(p, types=types(p.name, p.types)) for p in one.parameters)
    return dataclasses.replace(one, parameters=parameters, returns=types("return", one.returns))
