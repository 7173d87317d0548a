"""What the steps of a call know of the Function, which is defined above them."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol

from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.function.node import BackwardCFunction

__all__ = ["Callee"]


class Callee(Protocol):
    """The part of a Function that `apply` uses."""

    forward: ClassVar[Callable[..., object]]
    setup_context: ClassVar[Callable[..., object]]
    jvp: ClassVar[Callable[..., object]]
    vmap: ClassVar[Callable[..., object]]
    generate_vmap_rule: ClassVar[bool]
    _backward_cls: type[BackwardCFunction]
    _ctx_cls: ClassVar[type[FunctionCtx]]
