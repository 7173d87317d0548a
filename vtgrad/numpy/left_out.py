"""The names of ``numpy`` that the namespace leaves to NumPy, or loads at first use."""

from __future__ import annotations

from importlib import import_module
from typing import Final

import numpy as np

__all__ = ["LEFT_OUT", "absent"]

# Why each is left out, where a program could expect it.
LEFT_OUT: Final = {
    "asmatrix": "matrices of NumPy carry no derivatives; use two-dimensional arrays",
    "bmat": "matrices of NumPy carry no derivatives; use block",
    "char": "texts carry no derivatives",
    "core": "it is private",
    "ctypeslib": "pointers carry no derivatives",
    "f2py": "it is a program",
    "ma": "masked arrays carry no derivatives; use where, and arguments where=",
    "matrix": "matrices of NumPy carry no derivatives; use two-dimensional arrays",
    "memmap": "arrays in files are NumPy's; use numpy.memmap, and array() for a copy",
    "rec": "arrays with fields carry no derivatives",
    "recarray": "arrays with fields carry no derivatives",
    "record": "arrays with fields carry no derivatives",
    "strings": "texts carry no derivatives",
    "test": "it runs the tests of NumPy",
}

# The types of numbers that exist on some machines only.
_OF_SOME_MACHINES: Final = frozenset(("complex192", "complex256", "float96", "float128"))


def absent(name: str) -> object:
    """What ``vtgrad.numpy.name`` gives for a name that is not there.

    Parameters
    ----------
    name : str
        The name.

    Returns
    -------
    object
        The module ``testing``, which is loaded at first use; one of NumPy's types of long numbers,
        if this machine has it.

    Raises
    ------
    AttributeError
        For any other name. If NumPy has it, the text says so.
    """
    if name == "testing":
        return import_module("vtgrad.numpy.testing")
    if name in _OF_SOME_MACHINES and hasattr(np, name):
        return getattr(np, name)
    text = f"module 'vtgrad.numpy' has no attribute {name!r}"
    if name in LEFT_OUT:
        text += f": {LEFT_OUT[name]}. NumPy's own is numpy.{name}"
    elif not name.startswith("_") and name in np.__all__:
        text += f". NumPy's own is numpy.{name}, which carries no derivatives"
    raise AttributeError(text, name=name)
