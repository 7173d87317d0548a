"""Writing the functions that store a result in their first argument."""

from vtgrad.codegen.calls import NUMBERS, parameters_of, recovered, rest_of, taken_over
from vtgrad.codegen.docstrings import docstring, inplace_docstring
from vtgrad.codegen.language import Operator
from vtgrad.codegen.template import fill

__all__ = ["emit_inplace", "emit_writers"]

_INPLACE = """
def $name($parameters) -> T:
    $doc
    $taken_over
    $written
"""

_WRITTEN = """
$checks
return write($first, $recorder, $writer$rest$options)
"""

_WRITTEN_BY_UFUNC = """
if write_ufunc($first._impl, np.$ufunc, $second, "$spoken"$inexact):
    return $first
$taken_over
return write($first, $recorder, $writer, $second, operator="$spoken")
"""

_WRITTEN_BY_UFUNC_ALONE = """
if write_ufunc($first._impl, np.$ufunc, ALONE, "$spoken", True):
    return $first
$general
"""

_WRITTEN_BY_UFUNC_IF = """
if $condition:
    $quick
$general
"""


def _ufunc(operator: Operator, name: str) -> str | None:
    """The ufunc by which a function writes."""
    # A table's in-place operator may be one on its own, whose writer is no ufunc.
    return None if name == operator.name else operator.ufunc


def emit_writers(operator: Operator, name: str, made: str) -> str:
    """What an in-place function writes with, as Python text.

    Parameters
    ----------
    operator : Operator
        The entry.
    name : str
        What the function is called.
    made : str
        The writer, as Python text.
    """
    text, ufunc = f"_{name}writer = {made}\n", _ufunc(operator, name)
    if ufunc is not None and len(operator.arguments) > 1:
        extra = ", inexact=True" if operator.ufunc_inexact else ""
        text += f"_{name}ufunc_writer = store_ufunc(np.{ufunc}, _{name}writer{extra})\n"
    return text


def emit_inplace(operator: Operator, name: str) -> str:
    """The function, as Python text.

    Parameters
    ----------
    operator : Operator
        The entry.
    name : str
        What the function is called.
    """
    writer, quick = f"_{name}writer", f"_{name}ufunc_writer"
    own, ufunc, inexact = name == operator.name, _ufunc(operator, name), operator.ufunc_inexact
    spoken = operator.spoken_inplace
    body, keyed = _written(operator, writer, spoken), taken_over(operator, name, out=False)
    if ufunc is not None and len(operator.arguments) == 1:
        body = fill(
            _WRITTEN_BY_UFUNC_ALONE,
            first=operator.arguments[0].name,
            ufunc=ufunc,
            spoken=spoken,
            general=keyed + body,
        )
    elif ufunc is not None:
        short = fill(
            _WRITTEN_BY_UFUNC,
            first=operator.arguments[0].name,
            second=operator.arguments[1].name,
            taken_over=keyed,
            ufunc=ufunc,
            spoken=spoken,
            inexact=", True" if inexact else "",
            recorder=_recorder(operator),
            writer=quick,
        )
        condition = operator.ufunc_if
        if condition is None:
            body = _checks(operator) + short
        else:
            general = keyed + body
            body = fill(_WRITTEN_BY_UFUNC_IF, condition=condition, quick=short, general=general)
    return fill(
        _INPLACE,
        name=name,
        parameters=parameters_of(operator),
        doc=docstring(operator.own_doc) if own else inplace_docstring(spoken),
        taken_over="" if ufunc is not None else keyed,
        written=recovered(operator, body, name, out=False),
    )


def _recorder(operator: Operator) -> str:
    if operator.undifferentiable:
        return "NotImplementedNode.record"
    return "None" if operator.inplace_node is None else f"{operator.inplace_node}.record"


def _checks(operator: Operator) -> str:
    lines = []
    for a in operator.arguments[1:]:
        if a.type == "Tensor":
            lines.append(f'array_of({a.name}, "{a.name}")\n')
            if a.name == operator.read_first:
                target = operator.arguments[0].name
                lines.append(f"{a.name} = read_first({a.name}, {target})\n")
        elif (
            operator.is_public and not a.keyword_only and a.type.removesuffix(" | None") in NUMBERS
        ):
            # The funnel would take a tensor's array, which a kernel may take for the number.
            lines.append(f"refuse_tensor({a.name})\n")
    return "".join(lines)


def _written(operator: Operator, writer: str, spoken: str) -> str:
    options = f', operator="{spoken}"'
    if operator.overlap != "refused":
        options += f', overlap="{operator.overlap}"'
    if operator.distinct:
        options += ", distinct=True"
    return fill(
        _WRITTEN,
        checks=_checks(operator),
        first=operator.arguments[0].name,
        recorder=_recorder(operator),
        writer=writer,
        rest=rest_of(operator),
        options=options,
    )
