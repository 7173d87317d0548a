"""Signatures in which dimensions are given by name."""

import re
from typing import Final

from vtgrad.codegen.template import fill

__all__ = ["LATE", "named_overloads"]

_OVERLOAD = """
@overload
def $name($parameters) -> $returned: ...
"""

# A name that is left when the body is reached was of a tensor without names: the call fails.
LATE: Final = (
    "  # type: ignore[misc]  # pyright: ignore[reportInconsistentOverload]"
    "  # names are numbers when the body is reached\n    "
)

# One parameter that says which dimension is meant, with its type and default.
_DIMENSION: Final = re.compile(
    r"(?<![\w])(\*?(?:dim|dim0|dim1|dims|order|axes|axis)): ([^=,]+?)( = [^,]+)?(?=,|$)"
)


def named_overloads(name: str, parameters: str, returned: str, rule: str | None) -> str:
    """The signatures of an operator that takes dimensions by number, and by name; empty if none.

    Parameters
    ----------
    name, parameters, returned : str
        The function, as Python text.
    rule : str or None
        Its rule for names, without which it takes none.
    """
    found = _DIMENSION.search(parameters)
    # A parameter with a default before it: not among those of users.
    if rule in (None, "stack", "unsqueeze") or found is None or _is_late(parameters, found):
        return ""
    axis = "axis: " in parameters
    ways = [parameters, _by_name(parameters, axis=False)]
    ways += [_by_name(parameters, axis=True)] if axis else []
    return "".join(fill(_OVERLOAD, name=name, parameters=way, returned=returned) for way in ways)


def _is_late(parameters: str, dimension: re.Match[str]) -> bool:
    """Whether a positional parameter with a default comes before a dimension."""
    before = parameters[: dimension.start()]
    return " = " in before and "*" not in before


def _by_name(parameters: str, *, axis: bool) -> str:
    """Parameters with names for dimensions: in `axis`, or in all others."""

    def replaced(found: re.Match[str]) -> str:
        parameter, kind, default = found[1], found[2], found[3]
        if (parameter == "axis") is not axis:
            return found[0]
        several = "Dims" in kind or "Sequence[int]" in kind
        single = "Dims" in kind or "int" in kind.split(" | ")
        types = ["str"] * single + ["Sequence[str]"] * several
        if parameter == "dims" and default == " = None":
            types.append("None = None")
        return f"{parameter}: {' | '.join(types)}"

    return _DIMENSION.sub(replaced, parameters)
