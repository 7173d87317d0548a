"""Signatures of the transforms of `vtgrad.func` whose results depend on the value of `argnums`.

Note [Results by position]

``grad(f, argnums=1)`` has the type of the second argument of ``f``, ``grad(f, (0, 2))`` is a pair.
No single signature says that, so the stub has an overload for each of the usual values, and a
general one behind them. All are written here, because ten times the same overloads in the source
would hide what differs.

- An overload names the parameters up to the last chosen one (`Concatenate`), so these have
  positions only, which is what `argnums` counts; a `ParamSpec` keeps all that follow.
- Overloads in which the arguments are tensors come first. They tell pyright that the parameter of a
  lambda is a tensor.
- The general overload gives `object`, or a tuple of it, which programs narrow by `isinstance`.
- For mypy the parameters of a lambda are `Any`, so that a lambda fits several overloads. Of results
  with different types mypy makes `Any`. But if all of them are functions, it makes a function
  without types, which must not be called in strict mode. So the last overload gives `Any`. It is
  chosen for no call whose types are known: those before it take each member of its `argnums`.
- The overloads overlap where they differ in their results, which mypy refuses elsewhere.
"""

import dataclasses
from collections.abc import Iterator
from typing import Final

from vtgrad.codegen.stubs.names import Names
from vtgrad.codegen.stubs.signatures import Parameter, Signature

__all__ = ["TRANSFORMS", "by_position"]

# The transforms, by what the name of a function in the stub is.
TRANSFORMS: Final = frozenset({"grad", "grad_and_value", "hessian", "jacfwd", "jacrev"})

_NUMBERS: Final = ((0,), (1,), (2,), (3,))
_TUPLES: Final = ((0,), (1,), (0, 1), (0, 2), (1, 2), (0, 1, 2), (0, 1, 2, 3))
# Those for which a lambda's parameters are known to be tensors.
_OF_LAMBDAS: Final = ((0,), (1,), (0, 1), (0, 1, 2))
# The types of the arguments by position, where they may be containers.
_VARIABLES: Final = ("_A", "_B", "_C", "_D")
_T: Final = "Tensor"
_ANY: Final = "int | tuple[int, ...]"


@dataclasses.dataclass(frozen=True)
class _Way:
    """One way to call a transform, without `has_aux`.

    Attributes
    ----------
    chosen : tuple of int
        The value of `argnums`.
    one : bool
        Whether that is the number itself and no tuple.
    arguments : tuple of str
        The types of the arguments of the function up to the last chosen one.
    output : str
        What the function returns.
    derivative : str
        The derivative.
    """

    chosen: tuple[int, ...]
    one: bool
    arguments: tuple[str, ...]
    output: str
    derivative: str

    @property
    def argnums(self) -> str:
        """The type of `argnums`."""
        numbers = [f"Literal[{nr}]" for nr in self.chosen]
        return numbers[0] if self.one else f"tuple[{', '.join(numbers)}]"


def by_position(signature: Signature, name: str, names: Names) -> list[Signature]:
    """The signatures of a transform in place of the one in the source.

    Parameters
    ----------
    signature : Signature
        The parameters as they are in the source.
    name : str
        Which transform it is.
    names : Names
        The names of the stub.
    """
    names.named(_T)
    names.use("collections.abc", "Callable")
    for one in ("Any", "Concatenate", "Literal", "ParamSpec"):
        names.use("typing", one)
    names.use("typing_extensions", "TypeVar")
    names.allowed = 'disable-error-code="overload-overlap"'
    names.declare("_P", 'ParamSpec("_P")')
    texts = [text for one in _overloads(signature, name) for text in _types(one)]
    for variable in ("_A", "_Aux", "_B", "_C", "_D", "_K", "_R"):
        if any(variable in text for text in texts):
            names.declare(variable, f'TypeVar("{variable}")')
    return list(_overloads(signature, name))


def _types(signature: Signature) -> Iterator[str]:
    for parameter in signature.parameters:
        yield from parameter.types
    yield from signature.returns


def _overloads(signature: Signature, name: str) -> Iterator[Signature]:
    has_aux = any(p.name == "has_aux" for p in signature.parameters)
    ways = {"hessian": _second, "jacfwd": _jacobian, "jacrev": _jacobian}.get(name, _gradient)
    for aux in (False, True) if has_aux else (False,):
        for way in dict.fromkeys(ways()):
            output = f"tuple[{way.output}, _Aux]" if aux else way.output
            result = _result(name, way.derivative, aux)
            taken = f"Concatenate[{', '.join(way.arguments)}, _P]"
            returned = f"Callable[{taken}, {result}]"
            argnums = f"{way.argnums} = 0" if way.argnums == "Literal[0]" else way.argnums
            yield from _signatures(
                signature, f"Callable[{taken}, {output}]", argnums, aux, returned
            )
        yield from _general(signature, name, aux)
    if has_aux:
        result = "tuple[object, object]" if name == "grad_and_value" else "object"
        returned = f"Callable[_P, {result}]"
        func = "Callable[_P, object]"
        yield from _signatures(signature, func, f"{_ANY} = 0", None, returned)


def _general(signature: Signature, name: str, aux: bool) -> Iterator[Signature]:
    """The overloads for all values of `argnums`."""
    gradient = name in ("grad", "grad_and_value")
    output = _T if gradient else "object"
    func = f"Callable[_P, {f'tuple[{output}, _Aux]' if aux else output}]"
    for argnums, found in (("int = 0", "object"), ("tuple[int, ...]", "tuple[object, ...]")):
        result = _result(name, found if gradient else "object", aux)
        yield from _signatures(signature, func, argnums, aux, f"Callable[_P, {result}]")
    yield from _signatures(signature, func, f"{_ANY} = 0", aux, "Any")


def _result(name: str, derivative: str, aux: bool) -> str:
    """What the function that a transform makes returns."""
    if name == "grad_and_value":
        return f"tuple[{derivative}, {f'tuple[{_T}, _Aux]' if aux else _T}]"
    return f"tuple[{derivative}, _Aux]" if aux else derivative


def _gradient() -> Iterator[_Way]:
    """The containers of the arguments."""
    for chosen, one in _values():
        for arguments in _choices(chosen):
            found = [arguments[nr] for nr in chosen]
            yield _Way(
                chosen, one, arguments, _T, found[0] if one else f"tuple[{', '.join(found)}]"
            )


def _jacobian() -> Iterator[_Way]:
    """The containers of the outputs or of the arguments, if the others are tensors."""
    for chosen, one in _values():
        for arguments in _choices(chosen):
            if one:
                by_tensor = tuple(_T if nr in chosen else a for nr, a in enumerate(arguments))
                yield _Way(chosen, one, by_tensor, "_R", "_R")
    yield from (way for way in _gradient() if not (way.one and way.arguments[-1] == _T))


def _second() -> Iterator[_Way]:
    """Twice the containers of the arguments, if the output is a tensor, or those of the output."""
    yield from (way for way in _jacobian() if way.output == "_R")
    for whole, part in (("dict", "dict[_K, Tensor]"), ("list", "list[Tensor]")):
        key = "_K, " if whole == "dict" else ""
        yield _Way((0,), True, (part,), _T, f"{whole}[{key}{part}]")
    for chosen in _TUPLES:
        for arguments in _choices(chosen):
            by_tensor = tuple(_T if nr in chosen else a for nr, a in enumerate(arguments))
            row = f"tuple[{', '.join([_T] * len(chosen))}]"
            found = f"tuple[{', '.join([row] * len(chosen))}]"
            yield _Way(chosen, False, by_tensor, _T, found)


def _values() -> Iterator[tuple[tuple[int, ...], bool]]:
    for numbers, one in ((_NUMBERS, True), (_TUPLES, False)):
        for chosen in numbers:
            yield chosen, one


def _choices(chosen: tuple[int, ...]) -> Iterator[tuple[str, ...]]:
    """The types of the arguments: tensors if a lambda may be meant, and any."""
    count = max(chosen) + 1
    if chosen in _OF_LAMBDAS:
        yield (_T,) * count
    yield _VARIABLES[:count]


def _signatures(
    signature: Signature, func: str, argnums: str, aux: bool | None, returned: str
) -> Iterator[Signature]:
    """An overload; two if `has_aux` must be given, by name or after `argnums`.

    Parameters
    ----------
    argnums : str
        The type, and the default if there is one.
    aux : bool or None
        The value of `has_aux`; None if that is not known.
    """
    kind, _, default = argnums.partition(" = ")
    by_position = any(p.name == "has_aux" and not p.kind for p in signature.parameters)
    both = bool(default) and aux is not False and by_position
    for without in (False, True) if both else (False,):
        found: list[Parameter] = []
        for p in signature.parameters:
            if p.name == "func":
                found.append(dataclasses.replace(p, types=(func,)))
            elif p.name == "argnums":
                given = None if without or not default else default
                found.append(dataclasses.replace(p, types=(kind,), default=given))
            elif p.name == "has_aux":
                types = ("bool",) if aux is None else (f"Literal[{aux}]",)
                # What has no default follows nothing that has one, unless it has no position.
                own = "=" if both and not without else p.kind
                given = "False" if aux is False else None
                found.append(dataclasses.replace(p, types=types, default=given, kind=own))
            else:
                found.append(p)
        yield dataclasses.replace(signature, parameters=tuple(found), returns=(returned,))
