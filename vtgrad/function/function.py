"""The class that custom Functions inherit from."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import CodeType
from typing import ClassVar, NoReturn

from vtgrad.errors import FunctionError
from vtgrad.function.apply import Apply
from vtgrad.function.default_methods import (
    no_backward,
    no_forward,
    no_jvp,
    no_setup_context,
    no_vmap,
)
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.function.node import BackwardCFunction
from vtgrad.storage.warn import warn

__all__ = ["Function", "FunctionMeta"]


class FunctionMeta(type):
    """The metaclass of `Function`.

    It makes the class of a Function's nodes, ``<Name>Backward``, beside the Function itself.

    Raises
    ------
    FunctionError
        If `Function.clear_saved_tensors_on_access` or `Function.boxed_grads_call` is not a bool.

    Examples
    --------
    >>> class Twice(vt.autograd.Function):
    ...     pass
    >>> type(Twice) is vt.autograd.function.FunctionMeta
    True
    """

    _backward_cls: type[BackwardCFunction]

    def __init__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, object], **options: object
    ) -> None:
        super().__init__(name, bases, namespace, **options)
        for option in ("clear_saved_tensors_on_access", "boxed_grads_call"):
            value = getattr(cls, option, False)
            if not isinstance(value, bool):
                raise FunctionError(
                    f"{name}.{option} is True or False, not {type(value).__name__}", function=name
                )
        names = ("backward", "vjp", "backward_extended")
        methods = [getattr(cls, method, None) for method in names]
        cls._backward_cls = type(
            f"{name}Backward",
            (BackwardCFunction,),
            {
                # As in PyTorch, the classes of all nodes are of one place.
                "__module__": "vtgrad.autograd.function",
                "__doc__": f"The node of a call of {name}.",
                "_forward_cls": cls,
                "_reads_saved": any(_mentions(method, "saved_tensors") for method in methods),
            },
        )


def _mentions(function: object, name: str) -> bool:
    """Whether the code of a Python function contains an attribute of this name.

    Note [What backward reads]

    An overwritten value must be found before any node has run, see Note [Backward is all or
    nothing], but only if it would be read: PyTorch finds it when backward reads
    ``ctx.saved_tensors``, and accepts a backward that never reads it. So the values that a Function
    saved are checked beforehand if the code of its backward contains that name. If another function
    reads them for the backward, they are checked at that time.
    """
    code = getattr(inspect.unwrap(function) if callable(function) else function, "__code__", None)
    codes = [code] if isinstance(code, CodeType) else []
    for found in codes:
        if name in found.co_names:
            return True
        codes.extend([constant for constant in found.co_consts if isinstance(constant, CodeType)])
    return False


class Function(metaclass=FunctionMeta):
    """Base class of operators whose forward and backward a user writes.

    A subclass defines, as static methods, ``forward``, which computes the results, and
    ``backward``, which computes gradients of the arguments from gradients of the results. Call
    it by ``apply``, which takes the arguments of forward without the context and returns its
    results.

    Forward runs without recording. Its results may be tensors, alone or in a tuple, and any
    other objects, which are passed through. Only tensors that are arguments themselves get
    gradients, not those inside lists. Backward returns one gradient for each argument, or None.

    Forward may also be written without the context; then ``setup_context(ctx, inputs, output)``
    stores what backward needs.

    Attributes
    ----------
    clear_saved_tensors_on_access : bool
        Whether reading ``ctx.saved_tensors`` frees them, so that backward can drop them one by one;
        reading them again raises. False by default.
    boxed_grads_call : bool
        Whether backward gets its gradients in one list, which it may empty to drop them one by one.
        False by default.

    Raises
    ------
    MissingMethodError
        By ``apply`` without a forward, and in backward without a backward.
    UndeclaredWriteError
        By ``apply``, if forward wrote to an argument that it did not declare by `mark_dirty`.
    FunctionError
        By ``apply``, if forward did not return what it declared dirty; by calling an instance.
    GradientError
        In backward, if the gradients do not fit the arguments.

    Examples
    --------
    >>> class Power(vt.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x, exponent):
    ...         ctx.save_for_backward(x)
    ...         ctx.exponent = exponent
    ...         return x**exponent
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return grad * ctx.exponent * x ** (ctx.exponent - 1), None
    >>> x = vt.tensor([1.0, 2.0], requires_grad=True)
    >>> y = Power.apply(x, 3)
    >>> y.grad_fn.name()
    'PowerBackward'
    >>> y.sum().backward()
    >>> x.grad
    tensor([ 3., 12.])

    What forward writes in place it declares, and returns:

    >>> class Triple(vt.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.mark_dirty(x)
    ...         return x.mul_(3)
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         return grad * 3
    >>> x = vt.ones(2, 2, requires_grad=True)
    >>> b = x.clone()
    >>> _ = Triple.apply(b[0])
    >>> b.sum().backward()
    >>> x.grad
    tensor([[3., 3.],
            [1., 1.]])
    """

    forward: ClassVar[Callable[..., object]] = staticmethod(no_forward)
    backward: ClassVar[Callable[..., object]] = staticmethod(no_backward)
    vjp: ClassVar[Callable[..., object]] = staticmethod(no_backward)
    setup_context: ClassVar[Callable[..., object]] = staticmethod(no_setup_context)
    jvp: ClassVar[Callable[..., object]] = staticmethod(no_jvp)
    vmap: ClassVar[Callable[..., object]] = staticmethod(no_vmap)
    generate_vmap_rule: ClassVar[bool] = False
    clear_saved_tensors_on_access: ClassVar[bool] = False
    boxed_grads_call: ClassVar[bool] = False
    apply: ClassVar[Apply] = Apply()
    _ctx_cls: ClassVar[type[FunctionCtx]] = FunctionCtx

    def __init__(self, *args: object, **kwargs: object) -> None:
        """Warn: a Function is called by its class, and an instance is of no use.

        Parameters
        ----------
        *args, **kwargs : object
            Ignored.
        """
        warn(
            f"a Function is not to be instantiated, because its methods are static; call "
            f"{type(self).__name__}.apply(...) of the class",
            DeprecationWarning,
        )

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        """Raise: a Function is called by its class.

        Parameters
        ----------
        *args, **kwargs : object
            Ignored.

        Raises
        ------
        FunctionError
            Always.
        """
        name = type(self).__name__
        raise FunctionError(
            f"an instance of a Function cannot be called; write forward and backward as static "
            f"methods, and call {name}.apply(...) of the class",
            function=name,
        )
