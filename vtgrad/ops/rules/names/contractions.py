"""The names of products of matrices and vectors."""

from __future__ import annotations

from vtgrad.ops.rules.names.named_call import NamedCall
from vtgrad.storage.extra_meta import Names
from vtgrad.storage.names import check_unique, unified

__all__ = ["addmm", "addr", "dot", "matmul", "outer"]


def _product(first: Names, second: Names, operator: str) -> Names:
    """The names of a product over the last dimension of `first` and the last but one of `second`.

    A contracted dimension disappears, so its two names may differ. Dimensions before the matrices
    broadcast.

    Raises
    ------
    NamesMismatchError
        If names of a batch do not agree.
    NamesError
        If the result would have a name twice.
    """
    batch = unified(first[:-2], second[:-2], operator)
    rows = first[-2:-1]
    columns = second[-1:] if len(second) > 1 else ()
    return check_unique(batch + rows + columns)


def _two(call: NamedCall) -> tuple[Names, Names]:
    a, b = call.operands()[-2:]
    return a._impl.names, b._impl.names


def matmul(call: NamedCall) -> Names:
    """A product of two tensors, of vectors too."""
    return _product(*_two(call), call.operator.spoken)


def dot(call: NamedCall) -> Names:
    """A number."""
    return ()


def outer(call: NamedCall) -> Names:
    """One dimension of each of two vectors."""
    a, b = _two(call)
    return check_unique(a[:1] + b[:1])


def addmm(call: NamedCall) -> Names:
    """A product, of a matrix and a vector too, that is added to the first operand."""
    return unified(call.order, matmul(call), call.operator.spoken)


def addr(call: NamedCall) -> Names:
    """An outer product that is added to the first operand."""
    return unified(call.order, outer(call), call.operator.spoken)
