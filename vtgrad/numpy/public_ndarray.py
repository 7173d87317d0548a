"""The class of arrays in the types of functions.

The files of functions stand below the class, whose methods call them, so at run time they know its
base only. Type checkers read the stub of this module, which shows the class: see Note [Stubs]. For
``isinstance`` the base is right: it has arrays and scalars, and nothing else.
"""

from __future__ import annotations

from vtgrad.numpy.base import ArrayBase as ndarray

__all__ = ["ndarray"]
