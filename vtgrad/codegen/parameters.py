"""Parameters and their types, as Python text."""

from collections.abc import Sequence

from vtgrad.codegen.language import Argument, Operator

__all__ = [
    "INTEGER_TYPES",
    "argument_type",
    "as_stated",
    "has_keyword_only",
    "interpreted_type",
    "passed",
    "signature",
]

_UNCHECKED = {
    "Tensor": "AnyTensor",
    "bool": "AnyBool",
    "float": "AnyFloat",
    "int": "AnyInt",
    "str": "AnyStr",
}
# What a node is given where it keeps Python's integers.
INTEGER_TYPES = {"int": "SupportsIndex", "int | None": "SupportsIndex | None"}


def argument_type(kind: str) -> str:
    """The type that stands for `kind` where arguments of users arrive.

    See Note [Arguments arrive unchecked].
    """
    return " | ".join([_UNCHECKED.get(part, part) for part in kind.split(" | ")])


def interpreted_type(kind: str, *, unset: bool = False) -> str:
    """The type of a parameter of what is not compiled, which may have the default ``UNSET``."""
    parts = ["TensorBase" if part == "Tensor" else part for part in kind.split(" | ")]
    if unset:
        parts.insert(len(parts) - (parts[-1] == "None"), "Unset")
    return " | ".join(parts)


def signature(arguments: Sequence[Argument], types: Sequence[str]) -> str:
    """Parameters as Python text."""
    parts: list[str] = []
    starred = False
    for argument, kind in zip(arguments, types, strict=True):
        if argument.keyword_only and not starred:
            parts.append("*")
            starred = True
        default = "" if argument.default is None else f" = {argument.default}"
        parts.append(f"{argument.name}: {kind}{default}")
    return ", ".join(parts)


def has_keyword_only(operator: Operator) -> bool:
    """Whether some parameter stands after the ``*``."""
    return any(a.keyword_only for a in operator.arguments)


def passed(arguments: Sequence[Argument], values: Sequence[str]) -> str:
    """Arguments of a call as Python text."""
    return ", ".join(
        f"{a.name}={value}" if a.keyword_only else value
        for a, value in zip(arguments, values, strict=True)
    )


def as_stated(name: str, kind: str) -> str:
    """A parameter as records state it."""
    return name if kind == "Tensor" else f"{name}:{kind.replace(' ', '')}"
