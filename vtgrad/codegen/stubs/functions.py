"""Functions and methods, as the stubs show them."""

import ast
from collections.abc import Iterator
from typing import Final

from vtgrad.codegen.docstrings import docstring
from vtgrad.codegen.stubs.by_position import TRANSFORMS, by_position
from vtgrad.codegen.stubs.modules import Definition
from vtgrad.codegen.stubs.names import Names
from vtgrad.codegen.stubs.signatures import (
    as_method,
    by_either_name,
    is_generic,
    merged,
    read,
    without_lone_variable,
)
from vtgrad.codegen.stubs.spelling import Place
from vtgrad.codegen.stubs.stated import as_stated
from vtgrad.codegen.stubs.users_arguments import UsersArguments

__all__ = ["FunctionWriter"]

# Decorators from other modules.
_IMPORTED: Final = {"contextmanager": "contextlib"}

# mypy reports overloads that override something else at the first of them, pyright at the last.
_LAST_OVERRIDES: Final = "  # pyright: ignore[reportIncompatibleMethodOverride]"


class FunctionWriter:
    """Writes functions into one stub.

    Parameters
    ----------
    names : Names
        The names of the stub.
    users : UsersArguments
        What functions take that their source does not say.
    wide : bool
        Whether functions take NumPy's scalars.
    """

    def __init__(self, names: Names, users: UsersArguments, *, wide: bool) -> None:
        self._names = names
        self._users = users
        self._wide = wide

    def lines(
        self,
        path: str,
        found: Definition,
        hidden: frozenset[str] = frozenset(),
        *,
        shared: bool = False,
    ) -> Iterator[str]:
        """A function, method or property, in all its ways.

        Parameters
        ----------
        path : str
            Its name in the stub, after that of its class.
        found : Definition
            What is written.
        hidden : set of str
            As in `Speller`.
        shared : bool
            Whether a function is a method here.
        """
        names = self._names
        name = path.rpartition(".")[2]
        of_class = path != name
        # Special methods of Python's classes take what their bases take.
        narrow = of_class and name.startswith("__") and not path.startswith("Tensor.")
        wide = self._wide and not narrow
        signatures = [
            way
            for f in _ways_of(found)
            for way in self._users.signatures(
                found, read(f, found.module, names, wide=wide, hidden=hidden), names
            )
        ]
        if shared or (of_class and any(map(is_generic, signatures[0].parameters[:1]))):
            signatures = [own for s in signatures if (own := as_method(s)) is not None]
        signatures = [as_stated(one, path, names, hidden) for one in signatures]
        # The ways of a descriptor differ in the class for which they are.
        if names.stub == "vtgrad.func" and path in TRANSFORMS:
            signatures = by_position(signatures[0], path, names)
        elif name != "__get__":
            signatures = merged(signatures)
        if _needs_dim(found):
            signatures = [s for one in signatures for s in by_either_name(one, "dim", "axis")]
        decorators = [d for one in signatures for d in one.decorators]
        # Editors find all other docstrings in the source.
        doc = _summary(found) if shared or _IMPORTED.keys() & set(decorators) else ""
        overloaded = len(signatures) > 1 and not any(
            "." in d or d == "property" for d in decorators
        )
        if overloaded:
            names.use("typing", "overload")
        for nr, one in enumerate(signatures):
            # Other errors than that of an override are those of a body.
            comment = "  # type: ignore[override]" if one.ignored == "override" else ""
            if overloaded:
                yield f"@overload{comment if nr == 0 else ''}"
                overrides = signatures[0].ignored == "override" and nr == len(signatures) - 1
                comment = _LAST_OVERRIDES if overrides else ""
            for decorator in one.decorators:
                if decorator in _IMPORTED:
                    names.use(_IMPORTED[decorator], decorator)
                yield f"@{decorator}"
            head = without_lone_variable(one, names).text(name, names, Place(True, self._wide))
            if doc and nr == 0:
                yield f"{head}:{comment}"
                yield f"    {docstring(doc)}"
            else:
                yield f"{head}: ...{comment}"


def _ways_of(found: Definition) -> list[ast.FunctionDef]:
    """The overloads of a function, or the function itself, or the parts of a property."""
    functions = [s for s in found.statements if isinstance(s, ast.FunctionDef)]
    overloads = [f for f in functions if "overload" in map(ast.unparse, f.decorator_list)]
    return overloads or functions


def _needs_dim(found: Definition) -> bool:
    """Whether a function raises without ``dim``, which has a default because of ``axis``."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "given"
        and ast.unparse(node).startswith("given(dim,")
        for node in ast.walk(found.last)
    )


def _summary(found: Definition) -> str:
    assert isinstance(found.last, ast.FunctionDef)
    return (ast.get_docstring(found.last) or "").partition("\n")[0]
