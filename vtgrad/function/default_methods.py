"""The default methods of a custom Function, which raise."""

from __future__ import annotations

from typing import NoReturn

from vtgrad.errors import MissingMethodError

__all__ = ["no_backward", "no_forward", "no_jvp", "no_setup_context", "no_vmap"]


def no_forward(*args: object, **kwargs: object) -> NoReturn:
    """Compute the results; a Function must override it.

    Parameters
    ----------
    *args, **kwargs : object
        A context and the arguments of ``apply``; if there is a ``setup_context``, the arguments
        only.

    Returns
    -------
    object
        Tensors or anything else, alone or in a tuple.

    Raises
    ------
    MissingMethodError
        If the Function has none.
    """
    raise MissingMethodError("this Function has no forward; define it as a static method")


def no_backward(*args: object) -> NoReturn:
    """Compute gradients of the arguments from gradients of the results.

    ``vjp`` is another name for it; a Function has one of the two.

    Parameters
    ----------
    *args : object
        The context, and one gradient for each result; zeros, or None, where nothing arrived:
        see `FunctionCtx.set_materialize_grads`.

    Returns
    -------
    Tensor, None, or tuple of them
        One for each argument of forward, None for those that have no gradient.

    Raises
    ------
    MissingMethodError
        If the Function has neither.
    """
    raise MissingMethodError(
        "backward reached a custom Function that has neither backward nor vjp; define one of them "
        "as a static method, or mark its results as non-differentiable"
    )


def no_setup_context(*args: object) -> NoReturn:
    """Store on the context the values that backward needs, if forward takes no context.

    Parameters
    ----------
    *args : object
        The context, the tuple of all arguments, and the results of forward.

    Raises
    ------
    MissingMethodError
        If the Function has none.
    """
    raise MissingMethodError("this Function has no setup_context")


def no_jvp(*args: object) -> NoReturn:
    """Compute the tangents of the results from those of the arguments.

    Called when an argument has a tangent, see `vtgrad.autograd.forward_ad`.

    Parameters
    ----------
    *args : object
        The context, and for each argument of forward its tangent: zeros for a floating tensor
        without one, None for whatever else has none.

    Returns
    -------
    Tensor or tuple of Tensor or None
        The tangent of each result; None for results that are not differentiable.

    Raises
    ------
    MissingMethodError
        If the Function has none.
    """
    raise MissingMethodError("this Function has no jvp, which forward mode calls")


def no_vmap(*args: object) -> NoReturn:
    """Compute the results for all samples of a batch.

    `vtgrad.vmap` calls it if an argument is a tensor of one sample. A Function that consists of
    operators of tensors can set ``generate_vmap_rule = True`` instead.

    Parameters
    ----------
    *args : object
        An object with ``batch_size`` and ``randomness``; a tuple with one entry for each argument
        of forward: where its batch dimension is, or None; and these arguments, whole batches.

    Returns
    -------
    tuple
        The results, and where they have their batch dimension: an int, or None for a result that is
        the same for all samples, or a tuple of these.

    Raises
    ------
    MissingMethodError
        If the Function has none.
    """
    raise MissingMethodError("this Function has no vmap")
