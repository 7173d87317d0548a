"""What users pass to a function that chooses among overloads."""

import dataclasses
from collections.abc import Sequence

from vtgrad.codegen.groups import UNSET, Group
from vtgrad.codegen.language import Argument, TableError
from vtgrad.codegen.parameters import interpreted_type

__all__ = ["Parameter", "listed", "users_parameters"]


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One parameter of users.

    Attributes
    ----------
    name, type : str
        Its name with a star if it takes many values, and its type.
    default : str or None
        Its default, as Python text.
    keyword_only : bool
        Whether it stands after the ``*``.
    """

    name: str
    type: str
    default: str | None
    keyword_only: bool


def users_parameters(group: Group, arguments: Sequence[Argument]) -> list[Parameter]:
    """The parameters of the function, for the arguments of all overloads.

    Raises
    ------
    TableError
        If 'also' speaks of a parameter that does not exist.
    """
    found: list[Parameter] = []
    last: list[Parameter] = []
    for argument in arguments:
        own = _forms_of(argument)
        found += [p for p in own if not p.keyword_only]
        last += [p for p in own if p.keyword_only]
    # NumPy's `std` has a dtype, PyTorch's has none.
    numpys = "Correction" in group.forms
    casts = [Parameter(name, "DType | None", "None", numpys) for name in group.casts]
    found += [p for p in casts if not p.keyword_only]
    last += [p for p in casts if p.keyword_only]
    if group.has_out:
        last.append(Parameter("out", _type_of_out(group), "None", keyword_only=True))
    known = {a.name: a for a in arguments}
    for other, name in group.also.items():
        if name not in known:
            raise TableError(f"{group.rows[0].where}: 'also' of {name!r}, which is no parameter")
        flag = known[name].type == "bool"
        kind = interpreted_type(known[name].type, unset=not flag)
        # As NumPy says that all dimensions are meant.
        if group.without(name):
            kind = f"{kind} | None"
        last.append(Parameter(other, kind, "False" if flag else UNSET, keyword_only=True))
    return found + last


def listed(parameters: Sequence[Parameter]) -> str:
    """Parameters as Python text."""
    parts: list[str] = []
    starred = False
    for p in parameters:
        if p.keyword_only and not starred:
            parts.append("*")
        starred = starred or p.keyword_only or p.name.startswith("*")
        default = "" if p.default is None else f" = {p.default}"
        parts.append(f"{p.name}: {p.type}{default}")
    return ", ".join(parts)


def _forms_of(argument: Argument) -> list[Parameter]:
    """What users pass for one argument."""
    name = argument.name
    if argument.form is None:
        kind = interpreted_type(argument.type, unset=argument.default == UNSET)
        kind = "T" if name == "input" else kind
        return [Parameter(name, kind, argument.default, argument.keyword_only)]
    form, _, star = argument.form.rstrip("]").partition("[")
    if form == "Sizes":
        return [
            Parameter(f"*{star}", "int | Sequence[int]", None, keyword_only=False),
            Parameter(name, f"{argument.type} | None", "None", keyword_only=True),
        ]
    return [
        Parameter("unbiased", "bool | Unset", UNSET, keyword_only=False),
        Parameter(name, "float | Unset | None", UNSET, keyword_only=True),
    ]


def _type_of_out(group: Group) -> str:
    kinds = ["Sequence[T]" if op.returns == "tuple" else "T" for op in group.overloads if op.out]
    return " | ".join([*dict.fromkeys(kinds), "None"])
