"""Calls that a tensor's key takes over, see Note [Keys].

A generated operator begins, unless a quick way has its result already, with

    if keys.active and is_keyed(input, other):
        return take_over(ADD, add, input, other, alpha=alpha)

and so do the functions written by hand that look at arrays, or at arguments whose meaning depends
on a key. A function that only calls others needs nothing: its parts are taken over. What is handed
over first is the operator's record, see Note [One record for each operator].
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Protocol, TypeVar, cast

from vtgrad.graph.function_modes import in_function_mode
from vtgrad.graph.tracer import is_traced_elsewhere, thread, tracing
from vtgrad.ops.calling.constants import holds_array, with_constants
from vtgrad.ops.operator import Operator
from vtgrad.storage.key_set import (
    BATCHED,
    DUAL,
    FUNCTION_MODE,
    NAMED,
    OVERRIDES,
    TORCH_FUNCTION,
    TRACED,
    keys,
)
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "Handler",
    "OverrideHandler",
    "call_override",
    "handle_key",
    "is_drawn_in_batch",
    "is_keyed",
    "is_keyed_as_whole",
    "is_keyed_on_memory",
    "is_named",
    "is_overridden",
    "keyed_operands",
    "keys_of",
    "override_handler",
    "take_over",
]

R = TypeVar("R")

# The keys that a composite does not hand over, because they take over the operators that it calls;
# the second set is for composites that look at memory themselves.
FOLLOWS_PARTS: Final = DUAL | TRACED | BATCHED
FOLLOWS_PARTS_ON_MEMORY: Final = DUAL | TRACED


class Handler(Protocol):
    """What is done with the calls that a key takes over."""

    def __call__(
        self,
        operator: Operator,
        function: Callable[..., object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
        /,
    ) -> object:
        """Call the function with the key excluded, and finish what it returns.

        Parameters
        ----------
        operator : Operator
            Its record.
        function : callable
            Its function.
        args, kwargs
            Its arguments.
        """


class OverrideHandler(Handler, Protocol):
    """The handler for modes and classes with ``__torch_function__``: Note [Overridden functions].

    Calls that have failed ask it: the operand that is to blame may be no tensor, and have one.

    Attributes
    ----------
    plain : frozenset of type
        Classes whose objects take nothing over, for a quick answer.
    """

    plain: frozenset[type]

    def call(
        self,
        function: Callable[..., object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
        /,
    ) -> object:
        """Call ``__torch_function__`` in place of a function that has no record."""

    def takes(self, values: Iterable[object], /) -> bool:
        """Whether a mode, or one of the arguments, takes the call over."""

    def has_raised(self, error: BaseException, /) -> bool:
        """Whether an error is that of a call that was taken over."""


_handlers: Final[dict[int, Handler]] = {}


def handle_key(key: int, handler: Handler) -> None:
    """Name the handler of a key, before any tensor has it."""
    _handlers[key] = handler


def override_handler() -> OverrideHandler | None:
    """The handler of ``__torch_function__``; None until `vtgrad.overrides` is loaded."""
    return cast("OverrideHandler | None", _handlers.get(TORCH_FUNCTION))


def is_keyed(*operands: object) -> bool:
    """Whether one of the operands has a key that this thread does not exclude.

    Parameters
    ----------
    *operands : object
        Tensors, sequences of tensors, and what else stands where a tensor may stand.
    """
    for operand in operands:
        if isinstance(operand, TensorBase):
            if keys_of(operand):
                return True
        elif isinstance(operand, (list, tuple)) or (
            operand is not None and isinstance(operand, Sequence) and not isinstance(operand, str)
        ):
            if is_keyed(*operand):
                return True
    return False


def keys_of(tensor: TensorBase) -> int:
    """The keys of a tensor that this thread does not exclude."""
    impl = tensor._impl
    extra = impl.extra_meta
    found = 0 if extra is None else extra.key_set
    if keys.modes:
        meta = impl.autograd_meta
        # In inference mode there is no forward mode either.
        if meta is not None and meta.fw_level(thread.forward_limit) and not thread.mode.inference:
            found |= DUAL
        if thread.tracer is not None or (tracing.count and is_traced_elsewhere(impl)):
            found |= TRACED
        if in_function_mode():
            found |= FUNCTION_MODE
    return found & ~thread.excluded_keys


def is_overridden(*operands: object) -> bool:
    """Whether a mode, or the class of one of the operands, takes the function over.

    For functions that look at no other key, since they call operators. They ask `keys.active`
    first:

        if keys.active and is_overridden(input):
            return call_override(flatten, input, start_dim, end_dim)
    """
    handler = override_handler()
    if handler is None:
        return False
    if keys.modes and in_function_mode():
        return True
    return not handler.plain.issuperset(map(type, operands)) and handler.takes(operands)


def call_override(
    # Not of R alone: its own signature is generic.
    function: Callable[..., R | object],
    *args: object,
    **kwargs: object,
) -> R:
    """What ``__torch_function__`` gives in place of a function.

    Parameters
    ----------
    function : callable
        The public function.
    *args, **kwargs
        Its arguments.
    """
    handler = cast("OverrideHandler", _handlers[TORCH_FUNCTION])
    return cast("R", handler.call(function, args, kwargs))


def is_keyed_as_whole(*operands: object) -> bool:
    """As `is_keyed`, for a composite: other keys follow each operator that it calls."""
    return is_keyed(*operands) and bool(_keys(operands) & ~FOLLOWS_PARTS)


def is_keyed_on_memory(*operands: object) -> bool:
    """As `is_keyed_as_whole`, for a composite that looks at memory, or makes tensors on it."""
    return is_keyed(*operands) and bool(_keys(operands) & ~FOLLOWS_PARTS_ON_MEMORY)


def _keys(operands: tuple[object, ...]) -> int:
    found = 0
    for tensor in keyed_operands(operands, {}):
        found |= keys_of(tensor)
    return found


def is_drawn_in_batch(*operands: object) -> bool:
    """As `is_keyed`, for an operator that draws: see Note [Random numbers in a batch]."""
    return bool(thread.batch_levels) or is_keyed(*operands)


def is_named(tensor: object) -> bool:
    """Whether dimensions of a tensor have names that this thread does not ignore."""
    return isinstance(tensor, TensorBase) and bool(
        tensor._impl.key_set & NAMED & ~thread.excluded_keys
    )


def keyed_operands(args: tuple[object, ...], kwargs: dict[str, object]) -> Iterator[TensorBase]:
    """The tensors among the arguments, and in sequences among them, that have some key."""
    for value in (*args, *kwargs.values()):
        given: Sequence[object] = (value,)
        if isinstance(value, Sequence) and not isinstance(value, str):
            given = value
        for tensor in given:
            if isinstance(tensor, TensorBase) and (tensor._impl.key_set or keys_of(tensor)):
                yield tensor


def take_over(
    operator: Operator,
    # Not of R alone: its own signature is generic.
    function: Callable[..., R | object],
    *args: object,
    **kwargs: object,
) -> R:
    """The result of a call with an operand that has a key, by the handler of the highest key.

    A key that the operator has no rule for leaves the call to the next one: the operators that it
    calls are taken over.

    Parameters
    ----------
    operator : Operator
        The record of the operator.
    function : callable
        Its function, which the handler calls again.
    *args, **kwargs
        Its arguments.
    """
    found = 0
    others = False
    for value in args:
        if isinstance(value, TensorBase):
            found |= keys_of(value)
        elif value is not None:
            others = others or operator.takes_numbers or holds_array(value)
            if isinstance(value, Sequence):
                for tensor in keyed_operands((value,), {}):
                    found |= keys_of(tensor)
    if found & OVERRIDES or (kwargs and _keys(tuple(kwargs.values())) & OVERRIDES):
        # It gets what the caller passed.
        return cast("R", _handlers[TORCH_FUNCTION](operator, function, args, kwargs))
    if others:
        # A handler looks at the operands, and would take what is no tensor for no operand at all.
        args = with_constants(operator, args, kwargs) or args
    if kwargs:
        for tensor in keyed_operands((), kwargs):
            found |= keys_of(tensor)
    # Without a key it is a random operator inside of vmap; see Note [Random numbers in a batch].
    highest = _highest(found) if found else BATCHED
    while found != highest and operator.lacks & highest:
        found &= ~highest
        highest = _highest(found)
    return cast("R", _handlers[highest](operator, function, args, kwargs))


def _highest(found: int) -> int:
    """The key whose handler is asked first: the highest bit."""
    return 1 << (found.bit_length() - 1)
