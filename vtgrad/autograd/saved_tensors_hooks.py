"""Choosing what the graph keeps of the tensors that it saves for backward."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ClassVar, Generic, ParamSpec, Self, TypeVar

from vtgrad.errors import ArgumentTypeError, HooksDisabledError, NotSupportedError
from vtgrad.graph.packing import HookPair, PackingScope, packing
from vtgrad.tensor.tensor import Tensor

__all__ = ["disable_saved_tensors_hooks", "save_on_cpu", "saved_tensors_hooks"]

P = ParamSpec("P")
R = TypeVar("R")
Held = TypeVar("Held")


class saved_tensors_hooks(PackingScope, Generic[Held]):  # PyTorch's name
    """Choose what the graph keeps of the tensors that it saves for backward, in a block.

    Inside the block, whenever an operator or a custom Function on this thread saves a tensor,
    `pack_hook` is called with it, and the graph keeps what the function returns. When backward
    needs the value, `unpack_hook` makes a tensor of that again, on whichever thread backward runs
    and whether or not the block is still open. Of nested blocks only the innermost counts.

    Each saved slot is packed on its own: ``x * x`` packs `x` twice. An argument is packed as the
    very tensor that the operator was given; a result is packed after the operator has made it, with
    its ``grad_fn``. Numbers, shapes and dimensions are not packed, and nothing is while nothing is
    recorded.

    `pack_hook` runs without recording. `unpack_hook` does too, unless backward itself is recorded
    (``create_graph=True``). The unpacked tensor gets the ``requires_grad`` and the ``grad_fn`` of
    the saved one.

    What is packed counts as the value at that moment. If the packed object is the saved tensor, or
    shares its memory, then overwriting the tensor is refused by backward as without hooks, or
    undone inside `allow_mutation_on_saved_tensors`. If it is a copy, the tensor may be overwritten.

    Parameters
    ----------
    pack_hook : callable
        Takes a tensor and returns any object. It must not write to the tensor.
    unpack_hook : callable
        Takes what `pack_hook` has returned. It returns a tensor of the shape and the dtype of the
        saved one.

    Raises
    ------
    ArgumentTypeError
        When a block is entered, if one of the two cannot be called; in backward, if `unpack_hook`
        does not return a tensor.
    HooksDisabledError
        When a block is entered inside `disable_saved_tensors_hooks`.
    SavedHookError
        In an operator, if `pack_hook` has written to the tensor; in backward, if the result of
        `unpack_hook` has another shape or dtype than the saved tensor.

    Examples
    --------
    Keep values in half of the memory:

    >>> x = vt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> hooks = vt.autograd.graph.saved_tensors_hooks(
    ...     lambda tensor: tensor.to(vt.float16), lambda packed: packed.to(vt.float32)
    ... )
    >>> with hooks:
    ...     y = x * x
    >>> y.sum().backward()
    >>> x.grad
    tensor([2., 4., 6.])
    """

    __slots__ = ("pack_hook", "unpack_hook")

    _reasons: ClassVar[int] = 1

    pack_hook: Callable[[Tensor], Held]
    unpack_hook: Callable[[Held], Tensor]

    def __init__(
        self, pack_hook: Callable[[Tensor], Held], unpack_hook: Callable[[Held], Tensor]
    ) -> None:
        super().__init__()
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> Self:
        if packing.disabled is not None:
            raise HooksDisabledError(packing.disabled)
        self.enter(HookPair(self.pack_hook, self.unpack_hook), None)
        return self


class save_on_cpu(saved_tensors_hooks[Tensor]):  # PyTorch's name
    """Keep saved tensors in the memory of the CPU, in a block, for programs written for PyTorch.

    All tensors are there already. So nothing is copied or moved, and what may be overwritten is the
    same as without the block.

    Parameters
    ----------
    pin_memory : bool, default False
        Only False: there is no other device for which memory could be pinned.
    device_type : str, default "cuda"
        Of no effect.

    Raises
    ------
    NotSupportedError
        If `pin_memory` is true.
    HooksDisabledError
        When a block is entered inside `disable_saved_tensors_hooks`.

    Examples
    --------
    >>> x = vt.ones(2, requires_grad=True)
    >>> with vt.autograd.graph.save_on_cpu():
    ...     y = x.exp()
    >>> y.sum().backward()
    >>> x.grad
    tensor([2.7183, 2.7183])
    """

    __slots__ = ()

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        if pin_memory:
            raise NotSupportedError(
                "there is no device other than the CPU, for which memory could be pinned",
                argument="pin_memory",
            )
        super().__init__(_itself, _itself)


def _itself(tensor: Tensor) -> Tensor:
    return tensor


class disable_saved_tensors_hooks(PackingScope):  # PyTorch's name
    """Refuse `saved_tensors_hooks` in a block or a function, for code that cannot work with them.

    Entering a block of `saved_tensors_hooks` inside raises an error with the given message, on this
    thread. Of nested blocks the innermost message counts. ``register_hooks`` of one saved value
    stays allowed.

    Parameters
    ----------
    error_message : str
        The whole text of the error.

    Raises
    ------
    ArgumentTypeError
        If `error_message` is not a string.
    HooksDisabledError
        When the block is entered while hooks are in force.

    Examples
    --------
    >>> with vt.autograd.graph.disable_saved_tensors_hooks("values must stay in memory"):
    ...     with vt.autograd.graph.save_on_cpu():
    ...         pass
    Traceback (most recent call last):
    ...
    vtgrad.errors.HooksDisabledError: values must stay in memory
    """

    __slots__ = ("_message",)

    _message: str

    def __init__(self, error_message: str) -> None:
        super().__init__()
        if not isinstance(error_message, str):
            raise ArgumentTypeError(
                f"error_message must be a string, not {type(error_message).__name__}",
                argument="error_message",
            )
        self._message = error_message

    def __enter__(self) -> Self:
        if packing.pair is not None:
            raise HooksDisabledError(self._message)
        self.enter(None, self._message)
        return self

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorate a function, so that it always runs inside a block.

        Parameters
        ----------
        function : callable
            The function.

        Returns
        -------
        callable
            A function of the same signature.
        """

        @wraps(function)
        def inside(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return inside
