"""Signatures of functions, as the stubs show them."""

import ast
import dataclasses
import re
from collections.abc import Iterable, Sequence
from typing import Final

from vtgrad.codegen.stubs.modules import Module
from vtgrad.codegen.stubs.names import TENSOR_VARIABLE, Names
from vtgrad.codegen.stubs.spelling import Place, Speller, union

__all__ = [
    "Parameter",
    "Signature",
    "as_method",
    "by_either_name",
    "is_generic",
    "merged",
    "read",
    "without_lone_variable",
]

_VARIABLE: Final = re.compile(rf"\b{TENSOR_VARIABLE}\b")


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One parameter.

    Attributes
    ----------
    name : str
        Its name.
    kind : str
        ``/`` if it has no name for users, ``*`` or ``**`` if it takes many, ``=`` if it has no
        position, and nothing for all others.
    types : tuple of str
        The members of its type; nothing for `self` and its like.
    default : str or None
        Its default, as Python text.
    """

    name: str
    kind: str
    types: tuple[str, ...]
    default: str | None


@dataclasses.dataclass(frozen=True)
class Signature:
    """One way to call a function.

    Attributes
    ----------
    parameters : tuple of Parameter
        The parameters in order.
    returns : tuple of str
        The members of the type of what is returned.
    decorators : tuple of str
        Without ``overload``.
    ignored : str
        The error that type checkers must not see in the signature, if there is one.
    """

    parameters: tuple[Parameter, ...]
    returns: tuple[str, ...]
    decorators: tuple[str, ...] = ()
    ignored: str = ""

    def text(self, name: str, names: Names, place: Place) -> str:
        """The head of the function, without a colon."""
        parts: list[str] = []
        position = True
        for nr, p in enumerate(self.parameters):
            if p.kind == "=" and position:
                parts.append("*")
            position = position and p.kind in ("", "/")
            kind = union(p.types, names, place) if p.types else ""
            star = p.kind if p.kind in ("*", "**") else ""
            text = f"{star}{p.name}" + (f": {kind}" if kind else "")
            parts.append(text + (f" = {p.default}" if p.default is not None else ""))
            following = self.parameters[nr + 1].kind if nr + 1 < len(self.parameters) else ""
            if p.kind == "/" and following != "/":
                parts.append("/")
        returns = union(self.returns, names, dataclasses.replace(place, given=False))
        return f"def {name}({', '.join(parts)}) -> {returns}"


def read(
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    module: Module,
    names: Names,
    *,
    wide: bool,
    hidden: frozenset[str] = frozenset(),
) -> Signature:
    """The signature of a function in a source file.

    Parameters
    ----------
    wide : bool
        Whether NumPy's scalars are accepted beside Python's numbers.
    hidden : set of str
        As in `Speller`.
    """
    speller = Speller(module, names, hidden)
    place = Place(given=True, wide=wide)
    found: list[Parameter] = []

    def add(argument: ast.arg, kind: str, default: ast.expr | None) -> None:
        types = () if argument.annotation is None else speller.parts(argument.annotation, place)
        if argument.arg == "out":
            # Any tensor will do, whatever the operands are.
            types = list(_put(names.named("Tensor"), types))
        if argument.arg == "dtype" and {"DType"} <= {*types} <= {"DType", "None"}:
            # `numpy_dtype` takes classes and names too.
            types = [names.named("DTypeLike") if part == "DType" else part for part in types]
        if {*types} == {"DType", "type"}:
            types = [names.named("DTypeLike")]
        spelled = None if default is None else _default(default)
        found.append(Parameter(argument.arg, kind, tuple(types), spelled))

    own = function.args
    positional = [*own.posonlyargs, *own.args]
    missing = len(positional) - len(own.defaults)
    for nr, argument in enumerate(positional):
        default = own.defaults[nr - missing] if nr >= missing else None
        add(argument, "/" if nr < len(own.posonlyargs) else "", default)
    if own.vararg is not None:
        add(own.vararg, "*", None)
    for argument, given in zip(own.kwonlyargs, own.kw_defaults, strict=True):
        add(argument, "=", given)
    if own.kwarg is not None:
        add(own.kwarg, "**", None)
    returns = ["None"]
    if function.returns is not None:
        returns = speller.parts(function.returns, Place(given=False, wide=wide))
    texts = [ast.unparse(d) for d in function.decorator_list]
    kept = tuple(text for text in texts if text not in ("explained", "overload"))
    return Signature(tuple(found), tuple(returns), kept, module.ignored_at(function))


def _default(value: ast.expr) -> str:
    """A default, where it is a literal."""
    try:
        ast.literal_eval(value)
    except ValueError:
        return "..."
    return ast.unparse(value)


def merged(signatures: Sequence[Signature]) -> list[Signature]:
    """The signatures, with one for all that differ in types of parameters only.

    That is exact if one parameter differs. If several do, and one of them takes tensors, the
    signatures stay apart, because the union would take numbers alone. They also stay apart if one
    of them says that a function fits its arguments, which a union would not say: see
    Note [Signatures that know the arguments].
    """
    found: list[Signature] = []
    for one in signatures:
        for nr, known in enumerate(found):
            if _may_be_one(known, one):
                found[nr] = _both(known, one)
                break
        else:
            if not any(_covers(known, one) for known in found):
                found.append(one)
    return found


def _may_be_one(one: Signature, other: Signature) -> bool:
    def shape(s: Signature) -> object:
        return s.returns, s.decorators, [(p.name, p.kind) for p in s.parameters]

    if shape(one) != shape(other):
        return False
    pairs = zip(one.parameters, other.parameters, strict=True)
    types = [{*p.types, *q.types} for p, q in pairs if set(p.types) != set(q.types)]
    if len(types) < 2:
        return True
    linked = {TENSOR_VARIABLE, "Self", "Tensor"}
    return not any(t & linked or any("*_Ts" in part for part in t) for t in types)


def _covers(one: Signature, other: Signature) -> bool:
    """Whether all that the second signature takes by name is taken by the first."""
    taken = {
        p.name: {*p.types, *(("str", "Int") if "Dim" in p.types else ())} for p in one.parameters
    }
    return one.returns == other.returns and all(
        set(p.types) <= taken.get(p.name, set()) for p in other.parameters
    )


def _both(one: Signature, other: Signature) -> Signature:
    parameters = [
        dataclasses.replace(
            p,
            types=tuple(dict.fromkeys([*p.types, *q.types])),
            default=q.default if p.default is None else p.default,
        )
        for p, q in zip(one.parameters, other.parameters, strict=True)
    ]
    return dataclasses.replace(one, parameters=tuple(parameters))


def as_method(signature: Signature) -> Signature | None:
    """A function of tensors as a method of its first argument; None if that is a number."""
    first = signature.parameters[0]
    if not is_generic(first) and "Number" in first.types:
        return None
    this = Parameter("self", first.kind, (), None)
    method = _with(signature, "Self")
    return dataclasses.replace(method, parameters=(this, *method.parameters[1:]))


def by_either_name(signature: Signature, name: str, other: str) -> list[Signature]:
    """A signature with an argument that must be given under one of two names, for each name.

    Parameters
    ----------
    name : str
        The name with a position. Without it, those that follow have none.
    other : str
        The name without a position.
    """
    nr = [p.name for p in signature.parameters].index(name)
    first = signature.parameters[:nr]
    by_position, *rest = signature.parameters[nr:]
    (by_name,) = [p for p in rest if p.name == other]
    rest.remove(by_name)
    required = [dataclasses.replace(p, default=None) for p in (by_position, by_name)]
    named = [dataclasses.replace(p, kind="=") for p in rest]
    return [
        dataclasses.replace(signature, parameters=(*first, required[0], *rest)),
        dataclasses.replace(signature, parameters=(*first, required[1], *named)),
    ]


def is_generic(parameter: Parameter) -> bool:
    """Whether a parameter takes a tensor whose class the result has."""
    return TENSOR_VARIABLE in parameter.types


def without_lone_variable(signature: Signature, names: Names) -> Signature:
    """A signature in which a type variable that stands in one place only is a tensor."""
    every = [part for p in signature.parameters for part in p.types] + list(signature.returns)
    if sum(len(_VARIABLE.findall(part)) for part in every) != 1:
        return signature
    return _with(signature, names.named("Tensor"))


def _with(signature: Signature, name: str) -> Signature:
    """A signature with a class in place of the type variable."""
    parameters = [dataclasses.replace(p, types=_put(name, p.types)) for p in signature.parameters]
    return dataclasses.replace(
        signature, parameters=tuple(parameters), returns=_put(name, signature.returns)
    )


def _put(name: str, types: Iterable[str]) -> tuple[str, ...]:
    return tuple(_VARIABLE.sub(name, part) for part in types)
