"""Writing the functions of views, and of changes of geometry."""

from vtgrad.codegen.calls import (
    parameters_of,
    passed_on,
    recording,
    recovered,
    rest_of,
    taken_over,
    view_node,
)
from vtgrad.codegen.docstrings import docstring
from vtgrad.codegen.language import Operator
from vtgrad.codegen.parameters import has_keyword_only
from vtgrad.codegen.template import fill

__all__ = ["MADE_BY", "emit_geometry", "emit_view"]

_GEOMETRY = """
def $name($parameters) -> T:
    $doc
    $taken_over
    $written
"""

_WRITTEN_GEOMETRY = """
return write_geometry($first, $node.record, view_impls.$kernel$rest, operator="$spoken")
"""

_VIEW = """
def $name($parameters) -> $returned:
    $doc
    $taken_over
    $viewed
    $written
    if $condition:
        return $made($first, $aliases, $node.record($arguments)$replay)
    return $made($first, $aliases, None$replay)


$replayed
"""

# Where copies go that have a place already.
_WRITTEN_COPIES = """
if out is not None:
    return write_copies(out, $first, impls, "$spoken")
"""

_VIEWED = """
$aliases = view_impls.$kernel($first._impl$rest)
"""

_REPLAYED = """
_replay_$stem: ViewFunction = $name
"""

# What turns the aliases of an operator into its results.
MADE_BY = {
    "View": "make_view",
    "Views": "make_views",
    "Copies": "make_copies",
    "UnsafeSplit": "make_unsafe_split",
}


def emit_geometry(operator: Operator) -> str:
    """The function that changes the geometry of its argument, as Python text."""
    written = fill(
        _WRITTEN_GEOMETRY,
        first=operator.arguments[0].name,
        node=str(operator.node),
        kernel=operator.kernel,
        rest=rest_of(operator),
        spoken=operator.base,
    )
    return fill(
        _GEOMETRY,
        name=operator.name,
        parameters=parameters_of(operator),
        doc=docstring(operator.own_doc),
        taken_over=taken_over(operator),
        written=recovered(operator, written),
    )


def emit_view(operator: Operator) -> str:
    """The function of a view, or of what takes a view's place, as Python text."""
    first = operator.arguments[0].name
    several = operator.returns != "View"
    aliases = "impls" if several else "impl"
    stem = operator.name.strip("_")
    parameters, written = parameters_of(operator), ""
    if operator.returns == "Copies":
        star = "" if has_keyword_only(operator) else "*, "
        parameters += f", {star}out: Sequence[T] | None = None"
        written = fill(_WRITTEN_COPIES, first=first, spoken=operator.base)
    viewed = fill(
        _VIEWED, aliases=aliases, kernel=operator.kernel, first=first, rest=rest_of(operator)
    )
    returned = "tuple[T, ...]" if several else "T"
    return fill(
        _VIEW,
        name=operator.name,
        parameters=parameters,
        returned=returned,
        doc=docstring(operator.own_doc),
        taken_over=taken_over(operator),
        viewed=recovered(operator, viewed),
        written=written,
        node=view_node(operator),
        arguments=passed_on(operator) + (", copy=True" if operator.copies_view else ""),
        condition=recording(operator),
        made=MADE_BY[operator.returns],
        first=first,
        aliases=aliases,
        replay=f", view_fn=_replay_{stem}" if operator.replay else "",
        replayed=fill(_REPLAYED, stem=stem, name=operator.name) if operator.replay else "",
    )
