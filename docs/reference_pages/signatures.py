"""Signatures for readers: names and defaults, and what comes back."""

import inspect
import re
import typing
from collections.abc import Callable
from enum import Enum

from vtgrad.ops.calling.reduction_arguments import UNSET

__all__ = ["signatures", "type_for_readers"]

Function = Callable[..., object]

# What is shown for a default that only says that nothing was passed. None for all others.
_NOTHING_PASSED = {"unbiased": True, "correction": 1, "stable": False}

_TENSOR = re.compile(r"\b(?:T|Self|TensorBase)\b")
_OTHER_NAMES: dict[str, str] = {
    r"\bDType\b": "dtype",
    r"\bArray\b": "numpy.ndarray",
    r"\bDevice\b": "device",
    r"\bShape\b": "tuple[int, ...]",
    r"\bNumber\b": "number",
    r"\bNested\b": "list | number",
    r"\bbuiltins\.": "",
}


def signatures(function: Function, *, method: bool = False) -> list[str]:
    """The ways in which a function is called, such as ``(input, dim=None) -> Tensor``.

    Overloads that differ in types only are one way. A method's first argument is left out, and
    ``out``, which is for functions, as in PyTorch.
    """
    whole = inspect.signature(function)
    ways = [inspect.signature(way) for way in typing.get_overloads(function)] or [whole]
    shown = [_way(way, whole, function, method) for way in ways]
    return list(dict.fromkeys(shown))


def type_for_readers(text: str, function: Function) -> str:
    """The text of an annotation, in the words of the documentation."""
    text = text.replace("'", "").replace('"', "")
    several = re.fullmatch(r"(\w+Result)(?:\[\w+\])?", text.split(" | ")[0])
    if several is not None:
        fields = getattr(_named(several.group(1), function), "_fields", ("", ""))
        return f"tuple[{', '.join('Tensor' for _ in fields)}]"
    text = _TENSOR.sub("Tensor", text)
    for pattern, replacement in _OTHER_NAMES.items():
        text = re.sub(pattern, replacement, text)
    return " | ".join(dict.fromkeys(text.split(" | ")))


def _named(name: str, function: Function) -> object:
    inner = inspect.unwrap(function)
    return getattr(inner, "__globals__", {}).get(name)


def _way(way: inspect.Signature, whole: inspect.Signature, function: Function, method: bool) -> str:
    parameters = list(way.parameters.values())
    if method:
        parameters = [p for p in parameters[1:] if p.name != "out"]
    shown = []
    starred = False
    for number, parameter in enumerate(parameters):
        keyword = parameter.kind is parameter.KEYWORD_ONLY
        if keyword and not starred:
            shown.append("*")
        starred = starred or keyword or parameter.kind is parameter.VAR_POSITIONAL
        shown.append(_parameter(parameter, whole))
        following = parameters[number + 1 : number + 2]
        positional = parameter.kind is parameter.POSITIONAL_ONLY
        if positional and not (following and following[0].kind is parameter.kind):
            shown.append("/")
    returned = way.return_annotation
    if returned is inspect.Signature.empty:
        return f"({', '.join(shown)})"
    text = returned if isinstance(returned, str) else inspect.formatannotation(returned)
    return f"({', '.join(shown)}) -> {type_for_readers(text, function)}"


def _parameter(parameter: inspect.Parameter, whole: inspect.Signature) -> str:
    if parameter.kind is parameter.VAR_POSITIONAL:
        return f"*{parameter.name}"
    if parameter.kind is parameter.VAR_KEYWORD:
        return f"**{parameter.name}"
    default = parameter.default
    if default is ... and parameter.name in whole.parameters:
        default = whole.parameters[parameter.name].default
    if default is parameter.empty:
        return parameter.name
    return f"{parameter.name}={_default(parameter.name, default)}"


def _default(name: str, value: object) -> str:
    simple = value is None or isinstance(value, (bool, int, float, complex, str, tuple))
    if simple and not isinstance(value, Enum):
        return repr(value)
    if isinstance(value, Enum) and "<" not in repr(value) and value is not UNSET:
        return repr(value)
    return repr(_NOTHING_PASSED.get(name))
