"""How calls come into adopted code: their arguments, and the mode in which they run."""

from __future__ import annotations

import typing
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from threading import get_ident
from types import FunctionType
from typing import Any, Final, Self

from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.operands import of, result
from vtgrad.ops.generated import functional as F
from vtgrad.storage.rewind import allow_mutation_on_saved_tensors
from vtgrad.storage.scope import Scope
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_state import after_fork
from vtgrad.tensor.tensor import Tensor

__all__ = ["entered", "entries"]


# The threads that run adopted code. A set, since it is asked at each call of an adopted function.
_threads: Final[set[int]] = set()
# The child of a fork has one thread; new ones may get the numbers of those that it does not have.
after_fork(lambda: _threads.intersection_update((get_ident(),)))
_NOTHING: Final = nullcontext()


class _Inside(Scope):
    """The outermost call of adopted code on a thread, which runs under rewind."""

    __slots__ = ("_rewind", "_thread")

    _thread: int
    _rewind: allow_mutation_on_saved_tensors | None

    def __init__(self, rewind: bool) -> None:
        super().__init__()
        self._thread = get_ident()
        self._rewind = allow_mutation_on_saved_tensors() if rewind else None

    def __enter__(self) -> Self:
        _threads.add(self._thread)
        if self._rewind is not None:
            self._rewind.__enter__()
        return self

    def restore(self) -> None:
        """Leave the call."""
        _threads.discard(self._thread)
        if self._rewind is not None:
            self._rewind.restore()


def entered(value: object) -> object:
    """An argument of a call from outside: a tensor as an array or a scalar of the namespace.

    Lists, tuples and dicts with tensors are made anew. What else a program gives, as arrays of
    NumPy, is passed as it is.
    """
    # By the type: a program may answer itself what ``value.__class__`` is, by code that is adopted.
    if issubclass(type(value), TensorBase):
        value = typing.cast("TensorBase", value)
        if value._impl.array.ndim == 0 and type(value) in (Tensor, kinds.array):
            # A number of the program, which nothing writes.
            return result(F.clone(of(value)))
        return of(value)
    if type(value) is list or type(value) is tuple:
        parts = [entered(x) for x in typing.cast("list[object]", value)]
        if any(a is not b for a, b in zip(parts, typing.cast("Any", value), strict=True)):
            return parts if type(value) is list else tuple(parts)
    elif type(value) is dict:
        items = {key: entered(x) for key, x in value.items()}
        if any(items[key] is not x for key, x in value.items()):
            return items
    return value


def entries(rewind: bool) -> dict[str, object]:
    """What the functions of adopted code need when they begin.

    Parameters
    ----------
    rewind : bool
        Whether values that are saved for backward may be overwritten.
    """

    def inside() -> AbstractContextManager[object]:
        return _Inside(rewind)

    def decorated(cls: object) -> object:
        """A class after its decorators: an ``__init__`` that one has written is an entry too."""
        made = vars(cls).get("__init__") if isinstance(cls, type) else None
        if isinstance(made, FunctionType) and made.__code__.co_filename.startswith("<"):
            init: FunctionType = made

            @wraps(init)
            def __init__(*args: object, **options: object) -> None:
                if get_ident() in _threads:
                    init(*args, **options)
                    return
                given = typing.cast("tuple[object, ...]", entered(args))
                named = typing.cast("dict[str, object]", entered(options))
                with inside():
                    init(*given, **named)

            typing.cast("Any", cls).__init__ = __init__
        return cls

    return {
        "ident": get_ident,
        "threads": _threads,
        "nothing": _NOTHING,
        "entered": entered,
        "inside": inside,
        "decorated": decorated,
    }
