"""How the names of results follow from those of operands.

Each rule has a name, by which the tables state it for an operator: ``names: unify``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

from vtgrad.errors import NamesMismatchError, NamesNotSupportedError
from vtgrad.ops.calling.sequences import given_integers
from vtgrad.ops.rules.names import contractions
from vtgrad.ops.rules.names.named_call import NamedCall
from vtgrad.storage.extra_meta import Names
from vtgrad.storage.geometry import movedim_order
from vtgrad.storage.names import shown, unified, unnamed

__all__ = ["RULES", "Rule"]

Rule = Callable[[NamedCall], Names]


def _unify(call: NamedCall) -> Names:
    """The names of all operands, which broadcast, brought together from the last dimension."""
    names: Names = ()
    for tensor in call.operands():
        names = unified(names, tensor._impl.names, call.operator.spoken)
    return names


def _same(call: NamedCall) -> Names:
    """The names of the first operand; others, as an index, have none.

    Raises
    ------
    NamesNotSupportedError
        If another has names.
    """
    first, *others = call.operands()
    for tensor in others:
        if not unnamed(tensor._impl.names):
            raise NamesNotSupportedError(
                f"{call.operator.spoken} takes names of its first operand only, and another one "
                f"has {shown(tensor._impl.names)}; drop them with rename(None)",
                operator=call.operator.spoken,
            )
    return first._impl.names


def _none(call: NamedCall) -> Names:
    """No names: the dimensions of the result are not those of an operand."""
    return ()


def _elements(call: NamedCall) -> Names:
    """No names: elements in a row, of operands whose names agree."""
    _unify(call)
    return ()


def _drop(call: NamedCall) -> Names:
    """The names of the first operand without those of the dimensions that go."""
    names = call.operands()[0]._impl.names
    if call.values.get("keepdim") is True:
        call.dims()
        return names
    gone = call.dims()
    return tuple([name for dim, name in enumerate(names) if dim not in gone])


def _transpose(call: NamedCall) -> Names:
    names = list(call.order)
    a, b = call.dim("dim0"), call.dim("dim1")
    names[a], names[b] = names[b], names[a]
    return tuple(names)


def _reversed(call: NamedCall) -> Names:
    """The names of a matrix that is transposed."""
    return call.order[::-1]


def _last_two(call: NamedCall) -> Names:
    """The last two dimensions change places."""
    return call.order[:-2] + call.order[:-3:-1]


def _permute(call: NamedCall) -> Names:
    order = call.values["dims"]
    if not isinstance(order, Sequence) or len(order) != len(call.order):
        return call.order  # refused by the operator
    return tuple([call.order[dim] for dim in call.dims("dims")])


def _movedim(call: NamedCall) -> Names:
    source, destination = call.dims("source"), call.dims("destination")
    if not call.order:
        return ()
    return tuple([call.order[dim] for dim in movedim_order(len(call.order), source, destination)])


def _cat(call: NamedCall) -> Names:
    return call.order


def _stack(call: NamedCall) -> Names:
    """A new dimension, without a name."""
    return _inserted(call, call.order)


def _inserted(call: NamedCall, names: Names) -> Names:
    dim = call.dim("dim", len(names) + 1)
    return (*names[:dim], None, *names[dim:])


def _expand(call: NamedCall) -> Names:
    """New dimensions, without names, before the others."""
    size = call.values["size"]
    new = len(size) - len(call.order) if isinstance(size, Sequence) else 0
    return (None,) * new + call.order


def _squeeze(call: NamedCall) -> Names:
    """Without the dimensions of size 1; of those that were given, where there are any."""
    sizes = call.operands()[0].shape
    dim = call.values.get("dim")
    asked: Sequence[int] = range(len(sizes))
    if isinstance(dim, Sequence) and not dim:
        asked = ()
    elif dim is not None:
        asked = call.dims()
    return tuple(
        [n for d, n in enumerate(call.order) if d not in asked or sizes[d] != 1],
    )


def _diagonal(call: NamedCall) -> Names:
    """The two dimensions go; their diagonal is the last one, without a name."""
    gone = call.dim("dim1"), call.dim("dim2", default=1)
    return (*[name for dim, name in enumerate(call.order) if dim not in gone], None)


def _repeat(call: NamedCall) -> Names:
    counts = call.values["repeats"]
    new = len(counts) - len(call.order) if isinstance(counts, Sequence) else 0
    return (None,) * new + call.order


def _view(call: NamedCall) -> Names:
    """The same, if the shape is.

    Raises
    ------
    NamesNotSupportedError
        If it is another one, whose dimensions are new.
    """
    size = call.values["size"]
    if not isinstance(size, Sequence) or tuple(size) != call.operands()[0].shape:
        raise NamesNotSupportedError(
            f"{call.operator.spoken} of a tensor with names {shown(call.order)} would make new "
            "dimensions; use flatten and unflatten, or drop the names with rename(None)",
            operator=call.operator.spoken,
            names=call.order,
        )
    return call.order


def _resize(call: NamedCall) -> Names:
    """The same, as long as the size is the same too.

    Raises
    ------
    NamesMismatchError
        If it is another one.
    """
    tensor, keyword = call.operands()[0], call.values.get("size")
    size = given_integers(
        cast("Sequence[int]", call.args[1:]), cast("Sequence[int] | None", keyword), "resize_"
    )
    if size != tensor.shape:
        raise NamesMismatchError(
            f"a tensor with names {shown(call.order)} keeps its size {list(tensor.shape)}; "
            "drop the names with rename(None), and resize what that returns",
            names=call.order,
        )
    return call.order


RULES: Final[Mapping[str, Rule]] = {
    "unify": _unify,
    "same": _same,
    "none": _none,
    "elements": _elements,
    "drop dim": _drop,
    "transpose": _transpose,
    "reversed": _reversed,
    "last two": _last_two,
    "permute": _permute,
    "movedim": _movedim,
    "cat": _cat,
    "stack": _stack,
    "unsqueeze": _stack,
    "expand": _expand,
    "squeeze": _squeeze,
    "diagonal": _diagonal,
    "repeat": _repeat,
    "view": _view,
    "resize": _resize,
    "matmul": contractions.matmul,
    "dot": contractions.dot,
    "outer": contractions.outer,
    "addmm": contractions.addmm,
    "addr": contractions.addr,
}
