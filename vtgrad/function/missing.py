"""The default methods of a custom Function, which raise."""

from __future__ import annotations

from typing import NoReturn

from ..errors import MissingMethodError, NotSupportedError

__all__ = ["no_backward", "no_forward", "no_jvp", "no_setup_context", "no_vmap"]


def no_forward(*args: object, **kwargs: object) -> NoReturn:
    """Compute the results; a Function must override it.

    Called with a context and the arguments of ``apply``, or, if there is a ``setup_context``, with
    the arguments only.

    Raises
    ------
    MissingMethodError
        Always.
    """
    raise MissingMethodError("this Function has no forward; define it as a static method")


def no_backward(*args: object) -> NoReturn:
    """Compute gradients of the arguments from gradients of the results.

    Called with the context and one gradient for each result; returns one gradient, or None, for
    each argument. ``vjp`` is another name for it.

    Raises
    ------
    MissingMethodError
        Always.
    """
    raise MissingMethodError(
        "backward reached a custom Function that has neither backward nor vjp; define one of them "
        "as a static method, or mark its results as non-differentiable"
    )


def no_setup_context(*args: object) -> NoReturn:
    """Store on the context the values that backward needs, if forward takes no context.

    Called with the context, the tuple of all arguments, and the results of forward.

    Raises
    ------
    MissingMethodError
        Always.
    """
    raise MissingMethodError("this Function has no setup_context")


def no_jvp(*args: object) -> NoReturn:
    """Forward-mode derivative, which this version does not have.

    Raises
    ------
    NotSupportedError
        Always.
    """
    raise NotSupportedError("this version has no forward-mode derivatives of custom Functions")


def no_vmap(*args: object) -> NoReturn:
    """Batched evaluation, which this version does not have.

    Raises
    ------
    NotSupportedError
        Always.
    """
    raise NotSupportedError("this version has no vmap")
