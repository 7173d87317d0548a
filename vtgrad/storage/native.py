"""Helpers by which one source makes two builds. This file is never compiled.

Note [One source, two builds]

The same files run interpreted or compiled by mypyc, and behave the same. The rules:

- A native class that interpreted classes inherit from has mypyc's decorator, which mypyc recognises
  by the name `mypy_extensions.mypyc_attr` and never calls. So that `mypy_extensions` is needed by
  type checkers and by the compiler but not by users, at run time the decorator is the one below,
  which does nothing.
- Native objects take no weak references. `Tensor` takes them, because it is interpreted, and so do
  the classes of `graph/hooks.py`; nodes do not, as in PyTorch, except those of `WrittenView`.
- A class has no attributes if a subclass has ``__call__``, as `Node` under `Edge`: mypyc puts the
  attributes of the two at different offsets in memory.
- A `threading.local` cannot be compiled, nor a class that declares fields of it; see Note [The
  state of a thread].
- An object of a native class is made by calling the class by its name. A call by way of a
  variable (`cls(...)`) runs the ``__init__`` of a class under `Node` twice.
- The first line of a file that is compiled says so: ``# Compiled by mypyc.``, which `setup.py`
  reads. A file without this line is not compiled.
"""

from __future__ import annotations

import ctypes
from types import BuiltinFunctionType
from typing import TYPE_CHECKING

__all__ = ["bind_functions", "mypyc_attr"]

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr as mypyc_attr
else:

    def mypyc_attr(**_):
        """Leave a class as it is."""
        return lambda decorated: decorated


def bind_functions(methods: type) -> None:
    """Let native functions that are attributes of a class bind to its objects as methods.

    Python's functions bind by themselves; native ones get the wrapper that CPython has for this.
    """
    for name, value in list(vars(methods).items()):
        if isinstance(value, BuiltinFunctionType):
            setattr(methods, name, _as_method(value))


_as_method = ctypes.pythonapi.PyInstanceMethod_New
_as_method.argtypes = (ctypes.py_object,)
_as_method.restype = ctypes.py_object
