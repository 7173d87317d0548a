"""Calls whose saved values are computed again in backward."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Literal, TypeVar, TypeVarTuple, cast, overload

from vtgrad.errors import ArgumentTypeError, ArgumentValueError, HooksDisabledError
from vtgrad.graph.packing import packing
from vtgrad.graph.recording import is_recording
from vtgrad.graph.thread_levels import thread
from vtgrad.storage.warn import warn
from vtgrad.utils.checkpoint.frame import Frame, Options
from vtgrad.utils.checkpoint.reentrant import run_reentrant
from vtgrad.utils.checkpoint.samples import SamplesOfCall
from vtgrad.utils.checkpoint.settings import settings

__all__ = ["checkpoint", "noop_context_fn"]

R = TypeVar("R")
Ts = TypeVarTuple("Ts")

_CHECKS = ("default", "metadata", "none")


def noop_context_fn() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """Return two blocks that do nothing: the default ``context_fn`` of `checkpoint`.

    Returns
    -------
    tuple of context manager
        One for the first run of the function, one for each later run.

    Examples
    --------
    >>> first, again = vt.utils.checkpoint.noop_context_fn()
    >>> with first:
    ...     pass
    """
    return nullcontext(), nullcontext()


# See Note [Signatures that know the arguments]. With keyword arguments the function is any.
@overload
def checkpoint(
    function: Callable[[*Ts], R],
    *args: *Ts,
    use_reentrant: bool | None = None,
    context_fn: Callable[
        [], tuple[AbstractContextManager[object], AbstractContextManager[object]]
    ] = noop_context_fn,
    determinism_check: Literal["default", "metadata", "none"] = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
) -> R: ...
@overload
def checkpoint(
    function: Callable[..., R],
    *args: object,
    use_reentrant: bool | None = None,
    context_fn: Callable[
        [], tuple[AbstractContextManager[object], AbstractContextManager[object]]
    ] = noop_context_fn,
    determinism_check: Literal["default", "metadata", "none"] = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: object,
) -> R: ...
def checkpoint(
    function: Callable[..., R],
    *args: object,
    use_reentrant: bool | None = None,
    context_fn: Callable[
        [], tuple[AbstractContextManager[object], AbstractContextManager[object]]
    ] = noop_context_fn,
    determinism_check: Literal["default", "metadata", "none"] = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: object,
) -> R:
    """Call a function, and compute again in backward what it would have saved.

    The graph keeps the arguments of the function instead of the values that its operators save.
    When backward needs the first of these values, it calls the function again, and takes them all.
    There are two ways. With ``use_reentrant=False``, which is the better one, the function is
    recorded as always, and only saved values are left out. With ``use_reentrant=True`` it runs
    without recording, as the forward of a custom Function whose backward records it and runs a
    backward of its own.

    Parameters
    ----------
    function : callable
        What to call. When it runs again, it must do the same.
    *args : object
        Its arguments.
    use_reentrant : bool, optional
        Which way to take; if it is left out there is a warning, and it is True, as in PyTorch.
    context_fn : callable, optional
        Returns two context managers: one for the first run, one for every later run.
    determinism_check : {"default", "metadata", "none"}, default "default"
        What is compared when the function runs again: the shapes, dtypes and elements of the values
        that it saves, all but the elements (PyTorch's default), or only their number.
    debug : bool, default False
        Whether the error of that check tells where each value was saved.
    early_stop : bool, default True
        Whether a function that runs again is left as soon as all values are there; inside of
        forward mode it may run to its end.
    preserve_rng_state : bool, default True
        Whether a function that runs again draws the same numbers from the default generator.
    **kwargs : object
        Keyword arguments of the function, without `use_reentrant` only.

    Returns
    -------
    object
        What the function returns.

    Raises
    ------
    ArgumentValueError
        If `determinism_check` has another value; with ``use_reentrant=True``, if there are keyword
        arguments, `context_fn` or `debug`.
    ArgumentTypeError
        If `context_fn` does not return a pair.
    HooksDisabledError
        With ``use_reentrant=False``, where hooks of saved values are disabled.
    CheckpointError
        In backward, if the function does not do the same when it runs again; with
        ``use_reentrant=True`` also if the pass is one to given inputs.
    StaleSavedError
        In backward, if an argument, or a tensor that the function uses and that requires grad, was
        overwritten since.

    Examples
    --------
    >>> def layer(x):
    ...     return (x.sin() * x).exp()
    >>> x = vt.ones(2, requires_grad=True)
    >>> y = vt.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
    >>> y.sum().backward()
    >>> x.grad
    tensor([3.2054, 3.2054])
    """
    if use_reentrant is None:
        warn(
            "checkpoint got no use_reentrant, which is True then, as in PyTorch; pass "
            "use_reentrant=False, which refuses less"
        )
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ArgumentValueError(
                f"checkpoint with use_reentrant=True takes no keyword arguments: {sorted(kwargs)}"
            )
        if context_fn is not noop_context_fn or debug:
            raise ArgumentValueError(
                "checkpoint takes context_fn and debug with use_reentrant=False only"
            )
        if thread.batch_levels:
            samples = SamplesOfCall(function, args, {})
            values = run_reentrant(samples.call, samples.args, preserve_rng_state)
            return cast("R", samples.results(values))
        return run_reentrant(function, args, preserve_rng_state)
    if determinism_check not in _CHECKS:
        raise ArgumentValueError(
            f"determinism_check must be one of {_CHECKS}, not {determinism_check!r}"
        )
    contexts = _pair(context_fn)
    options = Options(
        early_stop=early_stop if settings.early_stop is None else settings.early_stop,
        compares_shapes=determinism_check != "none",
        compares_values=determinism_check == "default",
        debug=debug if settings.debug is None else settings.debug,
    )
    if thread.batch_levels:
        samples = SamplesOfCall(function, args, kwargs)
        values = _recorded(
            samples.call, samples.args, samples.kwargs, contexts, options, preserve_rng_state
        )
        return cast("R", samples.results(values))
    return _recorded(function, args, kwargs, contexts, options, preserve_rng_state)


def _recorded(
    function: Callable[..., R],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    contexts: tuple[AbstractContextManager[object], AbstractContextManager[object]],
    options: Options,
    preserve_rng_state: bool,
) -> R:
    """Call the function, recorded as always, and keep no saved values."""
    first, again = contexts
    if not is_recording():
        with first:
            return function(*args, **kwargs)
    if packing.disabled is not None:
        raise HooksDisabledError(packing.disabled)
    frame = Frame(function, args, kwargs, again, options, preserve_rng_state)
    with first, frame.recording():
        result = function(*args, **kwargs)
    frame.finish()
    return result


def _pair(
    context_fn: Callable[[], object],
) -> tuple[AbstractContextManager[object], AbstractContextManager[object]]:
    """The two context managers.

    Raises
    ------
    ArgumentTypeError
        If these are not two.
    """
    found = context_fn()
    if isinstance(found, (tuple, list)) and len(found) == 2:
        first, again = found
        if isinstance(first, AbstractContextManager) and isinstance(again, AbstractContextManager):
            return first, again
    raise ArgumentTypeError(
        f"context_fn must return two context managers, not {found!r}", argument="context_fn"
    )
