"""The base class of Functions with a switch for writing in place."""

from __future__ import annotations

from vtgrad.function.function import Function

__all__ = ["InplaceFunction"]


class InplaceFunction(Function):
    """A `Function` whose instances keep a switch `inplace`; it is called as any other.

    It comes from the time when Functions had instances. A Function writes in place if its forward
    calls `FunctionCtx.mark_dirty`, whatever its base class is.

    Parameters
    ----------
    inplace : bool, optional
        Kept as an attribute.

    Examples
    --------
    >>> class Double(vt.autograd.function.InplaceFunction):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.mark_dirty(x)
    ...         return x.mul_(2)
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         return grad * 2
    >>> Double.apply(vt.ones(2, requires_grad=True).clone())
    tensor([2., 2.], grad_fn=<DoubleBackward>)
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
