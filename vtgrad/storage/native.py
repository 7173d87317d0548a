"""How a class asks for its place in the compiled build.

NOTE [ One source, two builds ]

The same files run interpreted or compiled by mypyc. Where a native class needs telling that
interpreted classes may inherit from it, it is told by mypyc's own decorator, which mypyc knows by
the name `mypy_extensions.mypyc_attr` and never calls. So that `mypy_extensions` is needed by type
checkers and by the compiler, but not by users, at run time the decorator is the one below, which
does nothing. This file itself is never compiled.
"""

from typing import TYPE_CHECKING

__all__ = ["mypyc_attr"]

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr as mypyc_attr
else:

    def mypyc_attr(**_):
        """Leave a class as it is."""
        return lambda decorated: decorated
