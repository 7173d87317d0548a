"""A class of tensors that notes what is called with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import vtgrad as vt

__all__ = ["Logged", "logged", "names"]


class Logged(vt.Tensor):
    """Notes each function that it takes over."""

    calls: ClassVar[list[tuple[Any, tuple[Any, ...], dict[str, Any]]]] = []

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., object],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        Logged.calls.append((func, args, kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs)


def logged(x: vt.Tensor) -> Logged:
    """A tensor of this class on the memory of `x`; nothing is noted before."""
    made = x.as_subclass(Logged)
    Logged.calls.clear()
    return made


def names() -> list[str]:
    """The functions that were noted, which are forgotten."""
    found = [vt.overrides.resolve_name(func) or repr(func) for func, _, _ in Logged.calls]
    Logged.calls.clear()
    return [name.removeprefix("vtgrad.") for name in found]
