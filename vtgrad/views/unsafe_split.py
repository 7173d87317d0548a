# Compiled by mypyc.
"""Results of operators that split a tensor, but are not views of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from vtgrad.errors import ArgumentTypeError, OptionValueError
from vtgrad.graph.node import Node
from vtgrad.graph.set_history import set_history_of_each
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.tensor_base import TensorBase, handle_like, wrap_like
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import INFERENCE
from vtgrad.views.write_out import check_out, write_outs

__all__ = ["make_copies", "make_unsafe_split", "write_copies"]


T = TypeVar("T", bound=TensorBase)


def make_copies(parent: T, impls: list[TensorImpl], node: Node | None) -> tuple[T, ...]:
    """New tensors with the values of aliases of `parent`, the results of `node`."""
    copies = tuple([wrap_like(parent, array) for array in _copied(impls)])
    if node is not None:
        set_history_of_each(copies, node)
    return copies


def _copied(impls: list[TensorImpl]) -> list[Array]:
    return [making.array(resolved(impl.array), order="C") for impl in impls]


def write_copies(
    out: Sequence[T], parent: T, impls: list[TensorImpl], operator: str
) -> tuple[T, ...]:
    """Store the values of aliases of `parent` in ``out``: all of them or, if refused, none.

    Raises
    ------
    ArgumentTypeError
        If `out` is no list or tuple of tensors.
    OptionValueError
        If there are not as many as aliases.
    VtgradError
        As `check_out` and `write_outs` do.
    """
    if not isinstance(out, (tuple, list)):
        raise ArgumentTypeError(
            f"argument 'out' must be a list or tuple of tensors, not {type(out).__name__}",
            argument="out",
        )
    if len(out) != len(impls):
        raise OptionValueError(
            f"out= has {len(out)} tensors, but {operator} stores {len(impls)}",
            argument="out",
            expected=len(impls),
            found=len(out),
        )
    for tensor in out:
        if not isinstance(tensor, TensorBase):
            raise ArgumentTypeError(
                f"argument 'out' must hold tensors, not {type(tensor).__name__}", argument="out"
            )
        check_out(tensor, parent)
    return tuple(write_outs(out, _copied(impls), operator, exact=True))


def make_unsafe_split(parent: T, impls: list[TensorImpl], node: Node | None) -> tuple[T, ...]:
    """Tensors that share the memory of `parent`, but are not views of it.

    They have versions of their own, so each may be written in place, and the write is not counted
    for the others and `parent`: that is why the operators are called unsafe.
    """
    for impl in impls:
        if impl.version_counter is not INFERENCE:
            impl.version_counter = None
    pieces = tuple([handle_like(parent, impl) for impl in impls])
    if node is not None:
        set_history_of_each(pieces, node)
    return pieces
