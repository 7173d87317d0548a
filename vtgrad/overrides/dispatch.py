"""Calls that ``__torch_function__`` takes over, of classes and of modes.

Note [Overridden functions]

A class takes functions over if it, or a class between it and `Tensor`, defines
``__torch_function__``. Plain tensors must not pay for the question, so it is asked where it costs
them nothing:

- Each tensor of such a class has the key TORCH_FUNCTION (Note [Keys]). Operators hand the call to
  `OverrideHandler`. It finds the public function for the operator, and calls
  ``__torch_function__``.
- Functions that are made of operators ask `is_overridden`, if any tensor has a key.
- The class itself gets methods and properties in place of those of `Tensor` (`members.py`). The
  operators of Python hand over by the key.
- An object that is no tensor makes an operator fail. `recover` and `explained` then ask whether it
  has ``__torch_function__``, once this package is loaded.

docs/decisions/0025-torch-function.md says why, with measurements.

The objects of such a class are made at few places (`SubclassMethods._of_impl`), because operators
make plain tensors of its tensors: `_make` of the class makes them. The default
``__torch_function__`` turns results into the class, as PyTorch's does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Final, cast

from vtgrad.errors import ArgumentTypeError
from vtgrad.graph.function_modes import ModeBlock, innermost_mode
from vtgrad.graph.function_modes import thread as modes
from vtgrad.ops.calling.take_over import handle_key
from vtgrad.ops.generated import functional as F
from vtgrad.ops.operator import Operator
from vtgrad.overrides.arguments import PLAIN, has_torch_function, overriding
from vtgrad.overrides.members import SeenFunction
from vtgrad.overrides.names import resolve_name
from vtgrad.overrides.public_call import public_call, without_defaults
from vtgrad.storage.excluded_keys import run_excluding
from vtgrad.storage.key_set import FUNCTION_MODE, TORCH_FUNCTION, keys
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_mode import thread
from vtgrad.storage.thread_state import part_of_thread
from vtgrad.tensor.tensor import Tensor

__all__ = ["default_torch_function", "dispatch", "handle_torch_function"]


def dispatch(
    func: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> object:
    """What the first ``__torch_function__`` gives that does not give NotImplemented.

    Parameters
    ----------
    func : callable
        The function that was called, or the method of `Tensor`.
    args, kwargs
        Its arguments.

    Raises
    ------
    ArgumentTypeError
        If all of them give NotImplemented.
    """
    return _ask(func, [*args, *kwargs.values()], args, kwargs)


def _ask(
    func: Callable[..., object],
    relevant: Iterable[object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> object:
    asked = overriding(relevant)
    types = tuple([type(one) for one in asked])
    block = innermost_mode()
    if block is not None:
        result = _run_mode(block, func, types, args, kwargs)
        if result is not NotImplemented:
            return result
    for one in asked:
        result = one.__torch_function__(func, types, args, kwargs)
        if result is not NotImplemented:
            return result
    name = resolve_name(func) or getattr(func, "__name__", repr(func))
    kinds = types if block is None else (type(block.mode), *types)
    listed = ", ".join([kind.__qualname__ for kind in kinds])
    raise ArgumentTypeError(
        f"{name} is not defined for these arguments: __torch_function__ of {listed} gave "
        "NotImplemented"
    )


def _run_mode(
    block: ModeBlock,
    func: Callable[..., object],
    types: tuple[type, ...],
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> object:
    """What a mode gives; while its function runs, the modes outside of it are on."""
    before = modes.function_modes
    place = before.index(block)
    outer, inner = before[:place], before[place:]
    try:
        modes.function_modes = outer
        return block.mode.__torch_function__(func, types, args, kwargs)
    finally:
        # With the blocks that the function has entered and not left.
        modes.function_modes = modes.function_modes + inner


def handle_torch_function(
    public_api: Callable[..., object],
    relevant_args: Iterable[object],
    *args: object,
    **kwargs: object,
) -> object:
    """Call ``__torch_function__`` of a mode, or of arguments, for a function of a user.

    Parameters
    ----------
    public_api : callable
        The function, as its callers know it.
    relevant_args : iterable of object
        The arguments that may take it over.
    *args, **kwargs
        All arguments.

    Returns
    -------
    object
        What the first ``__torch_function__`` gives that does not give NotImplemented.

    Raises
    ------
    ArgumentTypeError
        If all of them give NotImplemented, or there is none.

    Examples
    --------
    >>> class Length:
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         return f"{func.__name__} of a length"
    >>> def double(x):
    ...     if vt.overrides.has_torch_function((x,)):
    ...         return vt.overrides.handle_torch_function(double, (x,), x)
    ...     return x * 2
    >>> double(Length())
    'double of a length'
    """
    return _ask(public_api, relevant_args, args, kwargs)


# What ``x[index]`` and ``x[index] = value`` call.
_OF_BRACKETS: Final[dict[object, str]] = {F.getitem: "__getitem__", F.setitem: "__setitem__"}


class OverrideHandler:
    """The handler of two keys: see Note [Overridden functions] and Note [Function modes]."""

    __slots__ = ("plain",)

    plain: frozenset[type]

    def __init__(self) -> None:
        self.plain = PLAIN

    def __call__(
        self,
        operator: Operator,
        function: Callable[..., object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
        /,
    ) -> object:
        """Call ``__torch_function__`` in place of an operator."""
        if not self.takes([*args, *kwargs.values()]):
            # The object was given another class.
            return run_excluding(TORCH_FUNCTION, function, *args, **kwargs)
        return dispatch(*public_call(operator, function, args, kwargs))

    def call(
        self,
        function: Callable[..., object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
        /,
    ) -> object:
        """Call ``__torch_function__`` in place of a function that has no record."""
        if function in _OF_BRACKETS:
            return dispatch(getattr(Tensor, _OF_BRACKETS[function]), args, kwargs)
        return dispatch(function, *without_defaults(function, args, kwargs))

    def takes(self, values: Iterable[object]) -> bool:
        """Whether a call with these arguments is one for ``__torch_function__``."""
        return has_torch_function(values)

    def has_raised(self, error: BaseException) -> bool:
        """Whether an error came from a ``__torch_function__``, and is not to be explained."""
        traceback: TracebackType | None = error.__traceback__
        while traceback is not None:
            if traceback.tb_frame.f_code is _ask.__code__:
                return True
            traceback = traceback.tb_next
        return False


# What gives a tensor that other code holds, or that is of its own class on purpose.
_AS_IT_IS: Final = [Tensor.grad.__get__, Tensor._base.__get__]


# Without its type, by which a checker would take comparing with it for a test.
_BACKWARD: Final[object] = Tensor.backward


class _Running:
    """See Note [The state of a thread].

    Attributes
    ----------
    overridden : object
        The function that the default runs.
    """

    overridden: object = None


_running: Final = part_of_thread(_Running)


def default_torch_function(
    cls: type[Tensor],
    func: Callable[..., object],
    types: Iterable[type],
    args: tuple[object, ...],
    kwargs: dict[str, object] | None,
) -> object:
    """What ``__torch_function__`` of `Tensor` does, for a class under it."""
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    if thread.excluded_keys & TORCH_FUNCTION and func is _running.overridden:
        # Of another library, which does not know that overrides are disabled, and calls back.
        return NotImplemented
    if func == _BACKWARD:
        # Code of users that runs in backward, as a checkpoint does, is as it was in forward.
        own = func.function if isinstance(func, SeenFunction) else func
        return own(*args, **(kwargs or {}))
    return run_excluding(TORCH_FUNCTION, _run, cls, func, args, kwargs or {})


def _run(
    cls: type[Tensor],
    func: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> object:
    before = _running.overridden
    try:
        _running.overridden = func
        result = func(*args, **kwargs)
    finally:
        _running.overridden = before
    return result if cls is Tensor or func in _AS_IT_IS else _converted(result, cls)


def _converted(result: object, cls: type[Tensor]) -> object:
    """A result with tensors of a class for all others in it."""
    if isinstance(result, cls):
        return result
    if isinstance(result, TensorBase):
        return cast("Tensor", result).as_subclass(cls)
    if isinstance(result, (tuple, list)):
        parts = [_converted(one, cls) for one in result]
        if all(new is old for new, old in zip(parts, result, strict=True)):
            return result
        kind = type(result)
        make: Callable[[Iterable[object]], object] = getattr(kind, "_make", kind)
        return make(parts)
    return result


_handler: Final = OverrideHandler()
handle_key(TORCH_FUNCTION, _handler)
handle_key(FUNCTION_MODE, _handler)
# Functions that are made of operators ask from now on.
keys.active = True
