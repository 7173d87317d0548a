"""A warning where a value leaves the graph as a plain number."""

from __future__ import annotations

import os
import warnings
from opcode import opmap
from sys import _getframe
from types import FrameType
from typing import Final

import numpy as np

from vtgrad.errors import GradientLostWarning
from vtgrad.graph.recording import is_recording
from vtgrad.graph.set_history import requires_grad
from vtgrad.graph.tracer import read_value
from vtgrad.ops.calling.take_over import keys_of
from vtgrad.storage.key_set import DUAL, keys
from vtgrad.storage.record_write import is_inside
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["ARGUMENT", "ARRAY", "ELEMENT", "NUMBER", "is_library", "note_number"]

# What happens to the tensor, what keeps the gradient, and what says that none is wanted.
NUMBER: Final = (
    "becomes a plain number, by float(), int(), math or as an element of a NumPy array",
    "compute with tensors, store it in a table made by vt.zeros(), or use vt.stack()",
    "x.item()",
)
ELEMENT: Final = (
    "is copied as a plain number into a new tensor",
    "use vt.stack() or vt.cat(), or store it in a table made by vt.zeros()",
    "x.item()",
)
ARGUMENT: Final = (
    "is taken as a plain number by an operator",
    "use operators that take a tensor there",
    "x.item()",
)
ARRAY: Final = ("becomes a NumPy array", "compute with tensors", "x.numpy()")

_LIBRARY: Final = os.path.dirname(os.__file__) + os.sep
_NUMPY: Final = os.path.dirname(np.__file__) + os.sep
# Folders inside that of the standard library, for packages that are installed.
_INSTALLED: Final = tuple(_LIBRARY + name + os.sep for name in ("site-packages", "dist-packages"))


def note_number(tensor: TensorBase, how: tuple[str, str, str]) -> None:
    """Warn that a value leaves the graph, if it has a gradient or a tangent, and tell the tracer.

    What says plainly that a number is meant, as `Tensor.item` does, does not call this.

    Parameters
    ----------
    tensor : TensorBase
        The tensor whose value is used.
    how : tuple of str
        `NUMBER`, `ELEMENT`, `ARGUMENT` or `ARRAY`.
    """
    if is_recording() and requires_grad(tensor):
        _warn("that requires grad", "gradient", how)
    elif keys.modes and keys_of(tensor) & DUAL:
        _warn("with a tangent", "tangent", how)
    if keys.modes:
        read_value(tensor)


def _warn(which: str, lost: str, how: tuple[str, str, str]) -> None:
    """Warn about the line of the user's program; `warnings` filters repetitions by text and line.

    The text therefore says nothing about the value, so that a loop warns once.
    """
    level = 2  # the caller
    frame: FrameType | None = _getframe(1)
    while frame is not None and is_inside(frame.f_code):
        frame, level = frame.f_back, level + 1
    if frame is not None and _is_formatting(frame):
        return
    while frame is not None and is_library(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    what, instead, meant = how
    warnings.warn(
        f"a tensor {which} {what}: its {lost} is lost here. To keep the {lost}, {instead}. "
        f"Where none is wanted, write {meant}",
        GradientLostWarning,
        stacklevel=level,
    )


def is_library(filename: str) -> bool:
    """Whether a file is part of NumPy, Python's library or this package."""
    if filename.startswith(_LIBRARY):
        return filename.startswith(_NUMPY) or not filename.startswith(_INSTALLED)
    return filename.startswith(_NUMPY)


def _operands_of_remainder() -> frozenset[int]:
    """The operands of the instruction `BINARY_OP` that mean ``%`` and ``%=``."""
    found = set()
    for source in ("a % b", "a %= b"):
        code = compile(source, "<vtgrad>", "exec").co_code
        position = next(i for i in range(0, len(code), 2) if code[i] == _BINARY)
        found.add(code[position + 1])
    return frozenset(found)


_BINARY: Final = opmap["BINARY_OP"]
_REMAINDER: Final = _operands_of_remainder()


def _is_formatting(frame: FrameType) -> bool:
    """Whether a frame is computing ``text % x``, the one ``%`` that asks for a Python number."""
    code, position = frame.f_code.co_code, frame.f_lasti
    return position >= 0 and code[position] == _BINARY and code[position + 1] in _REMAINDER
