"""Forward mode: tensors that carry a tangent.

`make_dual` pairs a value with a tangent; operators compute with both, and `unpack_dual` returns the
tangent of a result, which is the derivative of the result along the first tangent. See
Note [Levels] and Note [A tangent follows its value].
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from typing import NamedTuple, ParamSpec, TypeVar

from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DeviceError,
    ForwardModeError,
    ShapeError,
)
from vtgrad.graph.batch import is_batched
from vtgrad.graph.forward_grad import DualLevel
from vtgrad.graph.operators import operators
from vtgrad.graph.set_history import own_meta
from vtgrad.graph.thread_levels import NO_LIMIT, thread
from vtgrad.ops.calling.take_over import handle_key
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.entering import expanded
from vtgrad.ops.rules.batches.values import batch_along_first, innermost, levels_of, rebatched
from vtgrad.ops.rules.tangents.dual_handler import handle_dual
from vtgrad.ops.rules.tangents.tangents import tangent_of
from vtgrad.storage.excluded_keys import run_excluding
from vtgrad.storage.geometry import has_self_overlap
from vtgrad.storage.key_set import DUAL, NAMED, keys
from vtgrad.storage.lazy_array import has_bits_of
from vtgrad.storage.rewind import saves_observed
from vtgrad.storage.scope import Scope
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.tensor import Tensor
from vtgrad.views.differentiable_view_meta import view_meta_of

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "set_fwd_grad_enabled",
    "unpack_dual",
]

P = ParamSpec("P")
R = TypeVar("R")


class UnpackedDualTensor(NamedTuple):
    """A value and its tangent.

    Attributes
    ----------
    primal : Tensor
        A view of the value, without the tangent.
    tangent : Tensor or None
        The tangent; None if there is none.
    """

    primal: Tensor
    tangent: Tensor | None


class _Current:
    """The level that users have opened, one at a time in the process.

    Attributes
    ----------
    level : DualLevel or None
        None outside of a block.
    shown : DualLevel or None
        The level of a checker that calls a function, which sees it as one of the user's. A block of
        the function's own covers it.
    """

    __slots__ = ("level", "shown")

    level: DualLevel | None
    shown: DualLevel | None

    def __init__(self) -> None:
        self.level = None
        self.shown = None


_current = _Current()


def current_level() -> int:
    """The number of the open level: 0, or -1 if there is none."""
    return -1 if _current.level is None else 0


def enter_dual_level() -> int:
    """Open the level of forward mode; `dual_level` is the block that also closes it.

    Returns
    -------
    int
        0, the number of the one level.

    Raises
    ------
    ForwardModeError
        If it is open, also on another thread: the transforms of `vtgrad.func` nest. In the ``jvp``
        of a custom Function.

    Examples
    --------
    >>> from vtgrad.autograd import forward_ad as fw
    >>> level = fw.enter_dual_level()
    >>> fw.exit_dual_level(level=level)
    """
    _refuse_in_jvp()
    level = DualLevel()
    if _current.level is not _current.shown:
        raise _already_open()
    # No call from here on, see Note [Levels]: nor can another thread open one in between.
    _current.level = keys.levels[level.number] = level
    saves_observed.reasons += 1
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level: all tensors lose their tangents.

    Parameters
    ----------
    level : int, optional
        The number that `enter_dual_level` has returned.

    Raises
    ------
    ForwardModeError
        If no level is open, or another one.

    Examples
    --------
    >>> from vtgrad.autograd import forward_ad as fw
    >>> level = fw.enter_dual_level()
    >>> fw.exit_dual_level()
    """
    opened = _current.level
    if opened is None or opened is _current.shown:
        raise ForwardModeError("no level of forward mode is open, so none can be closed")
    if level is not None and level != 0:
        raise ForwardModeError(f"level {level} is not the one that was opened last, which is 0")
    _current.level = _current.shown
    del keys.levels[opened.number]
    if opened.number in keys.modes:
        del keys.modes[opened.number]
    saves_observed.reasons -= 1
    opened.drop_tangents()


def _refuse_in_jvp() -> None:
    if thread.forward_limit != NO_LIMIT:
        raise ForwardModeError(
            "the jvp of a custom Function cannot open a level of forward mode, because it does not "
            "see tangents of the level that called it; vtgrad.func.jvp can be called there"
        )


def _already_open() -> ForwardModeError:
    return ForwardModeError(
        "a level of forward mode is open already, and there is only one; vtgrad.func.jvp nests"
    )


class dual_level(Scope):  # PyTorch's name
    """A block, or a decorator, in which tensors may have tangents.

    There is one level in the process; `vtgrad.func.jvp` nests. At the end of the block all tangents
    are dropped, those of views and of written tensors too. A tangent that was taken out by
    `unpack_dual` stays usable.

    Returns
    -------
    context manager
        Its variable is 0, the number of the level.

    Raises
    ------
    ForwardModeError
        If the level is open already, or in the ``jvp`` of a custom Function.

    Examples
    --------
    >>> from vtgrad.autograd import forward_ad as fw
    >>> x = vt.tensor([1.0, 2.0])
    >>> with fw.dual_level():
    ...     d = fw.make_dual(x, vt.tensor([1.0, 0.0]))
    ...     b = vt.zeros(3)
    ...     b[1:] = d * d
    ...     fw.unpack_dual(b).tangent
    tensor([0., 2., 0.])
    """

    __slots__ = ("_level",)

    _level: DualLevel | None

    def __init__(self) -> None:
        super().__init__()
        self._level = None

    def __enter__(self) -> int:  # type: ignore[override]  # the number of the level
        _refuse_in_jvp()
        level = DualLevel()
        if _current.level is not _current.shown:
            raise _already_open()
        self._level = _current.level = keys.levels[level.number] = level
        saves_observed.reasons += 1
        return 0

    def restore(self) -> None:
        """Close the level, if it is still the open one."""
        level, self._level = self._level, None
        if level is not None and _current.level is level:
            _current.level = _current.shown
            del keys.levels[level.number]
            if level.number in keys.modes:
                del keys.modes[level.number]
            saves_observed.reasons -= 1
            level.drop_tangents()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorate a function, so that each of its calls runs in a level of its own.

        Raises
        ------
        ArgumentTypeError
            If it is a generator or a coroutine, which runs in steps and not in its call, or no
            function.
        """
        given: object = function
        if not callable(given) or any(
            runs_in_steps(given)
            for runs_in_steps in (isgeneratorfunction, iscoroutinefunction, isasyncgenfunction)
        ):
            raise ArgumentTypeError(
                f"dual_level decorates functions, not {getattr(given, '__name__', given)!r}: open "
                "the level inside of generators and coroutines, as it lasts as long as a call",
                argument="function",
            )

        @wraps(function)
        def in_level(*args: P.args, **kwargs: P.kwargs) -> R:
            with dual_level():
                return function(*args, **kwargs)

        return in_level


class set_fwd_grad_enabled(Scope):  # PyTorch's name, without its underscore
    """Switch forward mode on or off, permanently or for a ``with`` block, on this thread.

    While it is off, operators neither see tangents nor write them: a write then leaves a tangent
    that is no longer that of the value. `no_grad` does not switch forward mode off.

    Parameters
    ----------
    mode : bool
        Whether operators carry tangents.

    Raises
    ------
    ArgumentTypeError
        If `mode` is not a bool.

    Examples
    --------
    >>> from vtgrad.autograd import forward_ad as fw
    >>> with fw.dual_level():
    ...     d = fw.make_dual(vt.ones(2), vt.ones(2))
    ...     with fw.set_fwd_grad_enabled(False):
    ...         y = d * 2
    ...     fw.unpack_dual(y).tangent is None
    True
    """

    __slots__ = ("_before", "mode")

    _before: int
    mode: bool

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise ArgumentTypeError(
                f"argument 'mode' must be bool, not {type(mode).__name__}", argument="mode"
            )
        super().__init__()
        self.mode = mode
        self._before = thread.excluded_keys & DUAL
        thread.excluded_keys = thread.excluded_keys & ~DUAL | (0 if mode else DUAL)

    def restore(self) -> None:
        """Restore the former setting."""
        thread.excluded_keys = thread.excluded_keys & ~DUAL | self._before


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """Return a view of a tensor that has a tangent.

    Parameters
    ----------
    tensor : Tensor
        The value: floating or complex, without a tangent of its own. It stays without.
    tangent : Tensor
        Of the same shape; floating or complex. It is kept as the very object if its memory is laid
        out as that of `tensor`, but not the same, and its dtype is the same; then writes to the
        dual tensor write it. Otherwise it is copied, and cast.
    level : int, optional
        The number that `enter_dual_level` has returned.

    Returns
    -------
    Tensor
        A view of `tensor`.

    Raises
    ------
    ForwardModeError
        If no level is open, or one of the two has a tangent already.
    ShapeError
        If the shapes differ.
    ArgumentValueError
        If one is neither floating nor complex, or the tangent is complex and the tensor is real.

    Examples
    --------
    >>> from vtgrad.autograd import forward_ad as fw
    >>> with fw.dual_level():
    ...     d = fw.make_dual(vt.tensor(3.0), vt.tensor(1.0))
    ...     fw.unpack_dual(d ** 2).tangent
    tensor(6.)
    """
    return make_dual_at(tensor, tangent, _level_of(level))


def make_dual_at(tensor: Tensor, tangent: Tensor, level: DualLevel) -> Tensor:
    """`make_dual` at a level of the caller's own."""
    given: tuple[object, ...] = (tensor, tangent)
    for name, one in zip(("tensor", "tangent"), given, strict=True):
        if not isinstance(one, TensorBase):
            raise ArgumentTypeError(
                f"argument {name!r} must be a tensor, not {type(one).__name__}", argument=name
            )
        if one._impl.array.dtype.kind not in "fc":
            raise ArgumentValueError(
                f"argument {name!r} is {one.dtype}; only floating and complex tensors have "
                "tangents",
                argument=name,
            )
        if tangent_of(innermost(one), level.number) is not None:
            raise ForwardModeError(f"argument {name!r} has a tangent at this level already")
    impl, other = tensor._impl, tangent._impl
    if impl.array.shape != other.array.shape:
        raise ShapeError(
            f"the tangent has shape {list(other.array.shape)}, the tensor "
            f"{list(impl.array.shape)}; they must be equal",
            expected=impl.array.shape,
            found=other.array.shape,
        )
    if impl.device != other.device:
        raise DeviceError(
            f"the tangent is on {other.device}, the tensor on {impl.device}: move one of them",
            expected=impl.device,
            found=other.device,
        )
    if other.array.dtype.kind == "c" and impl.array.dtype.kind != "c":
        raise ArgumentValueError(
            f"the tangent is {tangent.dtype}, the tensor {tensor.dtype}: a real tensor has real "
            "tangents",
            argument="tangent",
        )
    if is_batched(tensor):
        levels = levels_of(tensor)
        for batch in levels:
            tangent = expanded(tangent, batch)
        return rebatched(make_dual_at(innermost(tensor), tangent, level), levels)
    for batch in levels_of(tangent):
        if batch.number > level.number:
            raise ForwardModeError(
                "the tangent is that of one sample inside of vmap, and the level of forward mode "
                "was opened outside of it; vtgrad.func.jvp opens one inside"
            )
    dual = F.alias(tensor)
    meta = own_meta(dual)
    view = view_meta_of(dual)
    if view is not None:
        _follow_other_levels(dual, level)
        view.be_forward_base()
    meta.set_fw_grad(_laid_out(tangent, dual), dual, level.number, False)
    return dual


def _follow_other_levels(view: Tensor, level: DualLevel) -> None:
    """Make the tangents of a view at all other levels, which it will not look for any more."""
    meta = own_meta(view)
    for number in tuple(keys.modes):
        if number != level.number:
            # Made when it is asked for.
            meta.fw_grad(number, view)


def _laid_out(tangent: Tensor, dual: Tensor) -> TensorBase:
    """A tangent whose memory is laid out as that of its tensor."""
    impl, other = dual._impl, tangent._impl
    if (
        impl.array.dtype == other.array.dtype
        and has_bits_of(impl.array, other.array)
        and not other.key_set
        and impl.storage is not other._storage
        and impl.byte_offset == other.byte_offset
        and impl.storage.nbytes() == other.storage.nbytes()
        and all(
            a == b or n == 1
            for n, a, b in zip(impl.sizes, impl.strides, other.strides, strict=True)
        )
    ):
        return tangent
    # A tangent has no names of dimensions, as a gradient has none.
    own = operators().zeros_as_memory(dual, tangent)
    run_excluding(NAMED, F.copy_, own, tangent)
    return own


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Return a tensor's value and its tangent.

    Parameters
    ----------
    tensor : Tensor
        With or without a tangent.
    level : int, optional
        The number that `enter_dual_level` has returned. Without an open level, or for a negative
        number, there is no tangent.

    Returns
    -------
    UnpackedDualTensor
        ``primal``, a view of `tensor` without the tangent, and ``tangent``, the same object in
        every call, or None. Without an open level, or for a negative number, ``primal`` is `tensor`
        itself.

    Raises
    ------
    ForwardModeError
        If another level than the open one is asked for.

    Examples
    --------
    >>> from vtgrad.autograd import forward_ad as fw
    >>> with fw.dual_level():
    ...     d = fw.make_dual(vt.ones(2), vt.tensor([1.0, 2.0]))
    ...     primal, tangent = fw.unpack_dual(d * 3)
    >>> primal, tangent
    (tensor([3., 3.]), tensor([3., 6.]))
    """
    if not isinstance(tensor, TensorBase):
        raise ArgumentTypeError(
            f"argument 'tensor' must be a tensor, not {type(tensor).__name__}", argument="tensor"
        )
    opened = _current.level
    if level is not None and level > 0:
        raise ForwardModeError(f"there is no level {level}; the one level is 0")
    if opened is None or (level is not None and level < 0):
        return UnpackedDualTensor(tensor, None)
    primal = _without_tangent(innermost(tensor), opened)
    if is_batched(tensor):
        primal = rebatched(primal, levels_of(tensor))
    return UnpackedDualTensor(primal, tangent_at(tensor, opened))


def dual_argument(tensor: Tensor, tangent: Tensor, level: DualLevel) -> Tensor:
    """`make_dual_at` for an argument of a transform, whose elements may share memory.

    Then they have one tangent each, so that it is a copy that is made dual.
    """
    array = innermost(tensor)._impl.array
    if has_self_overlap(array.shape, array.strides):
        tensor = tensor.clone()
    return make_dual_at(tensor, tangent, level)


def at_new_level(body: Callable[[DualLevel], R]) -> R:
    """What a function returns that is called at a level of its own; see Note [Levels].

    Tangents are on there, whatever is switched off outside, except in inference mode.
    """
    level, limit, excluded = DualLevel(), thread.forward_limit, thread.excluded_keys
    try:
        keys.levels[level.number] = level
        saves_observed.reasons += 1
        # In the jvp of a custom Function the limit is lower than the number of the new level, and
        # in its forward tangents are off.
        thread.forward_limit = NO_LIMIT
        thread.excluded_keys = excluded & ~DUAL
        return body(level)
    finally:
        del keys.levels[level.number]
        if level.number in keys.modes:
            del keys.modes[level.number]
        saves_observed.reasons -= 1
        thread.forward_limit = limit
        thread.excluded_keys = excluded
        level.drop_tangents()


def at_shown_level(body: Callable[[DualLevel], R]) -> R:
    """`at_new_level`, where `make_dual` and `unpack_dual` use this level, as in a `dual_level`.

    Raises
    ------
    ForwardModeError
        If such a block is open, also on another thread.
    """

    def shown(level: DualLevel) -> R:
        if _current.level is not None:
            raise _already_open()
        try:
            _current.level = _current.shown = level
            return body(level)
        finally:
            if _current.level is level:
                _current.level = None
            _current.shown = None

    return at_new_level(shown)


def tangent_at(tensor: Tensor, level: DualLevel) -> Tensor | None:
    """The tangent at a level of the caller's own; None if there is none, or it is not seen here."""
    off = thread.excluded_keys & DUAL or thread.mode.inference
    if off or level.number >= thread.forward_limit:
        return None
    tangent = tangent_of(innermost(tensor), level.number)
    assert tangent is None or isinstance(tangent, Tensor)
    if tangent is not None:
        for batch in reversed(levels_of(tensor)):
            tangent = batch_along_first(tangent, batch)
    return tangent


def _without_tangent(tensor: Tensor, level: DualLevel) -> Tensor:
    """A view of a tensor that has no tangent at a level."""
    primal = F.alias(tensor)
    view = view_meta_of(primal)
    if view is not None:
        _follow_other_levels(primal, level)
        view.be_forward_base()
    return primal


def _level_of(level: int | None) -> DualLevel:
    opened = _current.level
    if opened is None:
        raise ForwardModeError(
            "no level of forward mode is open; make dual tensors in a `with dual_level()` block"
        )
    if level is not None and level != 0:
        raise ForwardModeError(f"there is no level {level}; the one level is 0")
    return opened


# Only this module opens levels, so no tensor has a tangent before. See Note [Tools come at first
# use].
handle_key(DUAL, handle_dual)
