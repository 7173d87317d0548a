"""Functions that take and return tensors inside tuples, lists and dicts."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, ClassVar, NoReturn, ParamSpec, Protocol, TypeVar, cast, overload

from vtgrad.errors import ArgumentTypeError, MissingMethodError
from vtgrad.function.apply import Apply, apply
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.function.nested import put_in, take_out, take_out_gradients, tensors_in
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.tensor import Tensor

if TYPE_CHECKING:
    from vtgrad.function.callee import Callee

__all__ = ["NestedIOCtx", "NestedIOFunction"]

P = ParamSpec("P")
Context_contra = TypeVar("Context_contra", bound=FunctionCtx, contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)


class NestedIOCtx(FunctionCtx):
    """The context of a `NestedIOFunction`: its methods take tensors in tuples, lists and dicts.

    Only type checkers need the name. `FunctionCtx.needs_input_grad` has one entry for each tensor
    among the arguments.

    Examples
    --------
    >>> from vtgrad.autograd.function import NestedIOCtx, NestedIOFunction
    >>> class Product(NestedIOFunction):
    ...     @staticmethod
    ...     def forward_extended(ctx: NestedIOCtx, pair: list[vt.Tensor]) -> vt.Tensor:
    ...         ctx.save_for_backward(pair)
    ...         return pair[0] * pair[1]
    ...
    ...     @staticmethod
    ...     def backward_extended(ctx: NestedIOCtx, grad: vt.Tensor) -> list[vt.Tensor]:
    ...         (a, b) = ctx.saved_tensors[0]
    ...         return [grad * b, grad * a]
    >>> a, b = vt.tensor(2.0, requires_grad=True), vt.tensor(3.0, requires_grad=True)
    >>> Product.apply([a, b]).backward()
    >>> a.grad, b.grad
    (tensor(3.), tensor(2.))
    """

    _nested_input: object
    _nested_output: object
    _to_save_nested: object

    def save_for_backward(self, *values: object) -> None:
        """Save values for backward, which reads them from `saved_tensors`.

        A second call replaces the first. The containers are kept as they are now.

        Parameters
        ----------
        *values : object
            Tensors, alone or in containers; what is no tensor is kept with them.

        Examples
        --------
        >>> class Shift(vt.autograd.function.NestedIOFunction):
        ...     @staticmethod
        ...     def forward_extended(ctx, x):
        ...         ctx.save_for_backward({"x": x}, 3)
        ...         return x + 3
        >>> Shift.apply(vt.ones(2, requires_grad=True)).grad_fn.saved_tensors
        ({'x': tensor([1., 1.], requires_grad=True)}, 3)
        """
        tensors: list[TensorBase] = []
        self._to_save_nested = take_out(values, tensors)
        super().save_for_backward(*_tensors(tensors))

    @property
    def saved_tensors(self) -> tuple[object, ...]:  # type: ignore[override]  # they are nested
        """The values that `save_for_backward` saved.

        Returns
        -------
        tuple of object
            The values in the order of saving, nested as they were.

        Raises
        ------
        GraphFreedError, StaleSavedError, SavedDetachedError, ViewInvalidError
            As `FunctionCtx.saved_tensors` does.
        """
        flat = super().saved_tensors
        # None: `save_for_backward` was not called, or what is read is kept for ``jvp``.
        structure = self.__dict__.get("_to_save_nested")
        if structure is None or self._call.saved_for_forward is not None:
            return flat
        return cast("tuple[object, ...]", put_in(structure, flat))

    def mark_dirty(self, *values: object) -> None:
        """Declare the arguments that forward writes in place; forward must return all of them.

        Parameters
        ----------
        *values : object
            The written tensors, alone or in containers.

        Raises
        ------
        WriteRefusedError
            As `FunctionCtx.mark_dirty` does.

        Examples
        --------
        >>> class Double_(vt.autograd.function.NestedIOFunction):
        ...     @staticmethod
        ...     def forward_extended(ctx, pair):
        ...         ctx.mark_dirty(pair)
        ...         return [x.mul_(2) for x in pair]
        >>> x, y = vt.ones(1), vt.ones(1)
        >>> Double_.apply([x, y]), y
        ([tensor([2.]), tensor([2.])], tensor([2.]))
        """
        super().mark_dirty(*_flat(values))

    def mark_non_differentiable(self, *values: object) -> None:
        """Declare the results that have no gradient.

        Parameters
        ----------
        *values : object
            Results of forward, alone or in containers.

        Examples
        --------
        >>> class Signs(vt.autograd.function.NestedIOFunction):
        ...     @staticmethod
        ...     def forward_extended(ctx, pair):
        ...         signs = [x.sign() for x in pair]
        ...         ctx.mark_non_differentiable(signs)
        ...         return signs
        >>> Signs.apply([vt.ones(1, requires_grad=True)])
        [tensor([1.])]
        """
        super().mark_non_differentiable(*_flat(values))


def _tensors(tensors: list[TensorBase]) -> list[Tensor]:
    return cast("list[Tensor]", tensors)


def _flat(values: object) -> list[Tensor]:
    return _tensors(tensors_in(values))


class Extended(Protocol[Context_contra, P, Result_co]):
    """A Function with nested arguments and results."""

    @staticmethod
    def forward_extended(ctx: Context_contra, /, *args: P.args, **kwargs: P.kwargs) -> Result_co:
        """Compute the results."""
        ...


class NestedApply(Apply):
    """``NestedIOFunction.apply``: a class method of the type of forward_extended."""

    if TYPE_CHECKING:

        @overload  # type: ignore[override]  # the type is that of another method
        def __get__(
            self, instance: object, owner: type[Extended[Context_contra, P, Result_co]]
        ) -> Callable[P, Result_co]: ...
        @overload
        def __get__(self, instance: object, owner: object) -> Callable[..., object]: ...
        def __get__(self, instance: object, owner: object) -> object: ...  # pyright: ignore[reportIncompatibleMethodOverride]  # as above

    else:

        def __get__(self, instance: object, owner: type[NestedIOFunction]) -> object:
            """The method of one Function."""
            return MethodType(apply_nested, owner)


def apply_nested(function: type[NestedIOFunction], /, *args: object, **kwargs: object) -> object:
    """Call a Function with nested arguments and results.

    A Function that has a ``forward`` of its own is called as any other.

    Parameters
    ----------
    *args : object
        The arguments of ``forward_extended``, without the context.
    **kwargs : object
        Only for a Function with a ``forward`` of its own.

    Returns
    -------
    object
        The result of ``forward_extended``, with tensors as results of the node.

    Raises
    ------
    MissingMethodError
        If there is neither ``forward`` nor ``forward_extended``.
    ArgumentTypeError
        If ``forward_extended`` is to be called with arguments by keyword.
    FunctionError, UndeclaredWriteError
        As ``apply`` of any Function does.
    """
    callee = cast("type[Callee]", function)
    if function.forward is not _forward:
        return apply(callee, *args, **kwargs)
    if kwargs:
        raise ArgumentTypeError(
            f"{function.__name__}.apply: {sorted(kwargs)} are passed by keyword; arguments of "
            "forward_extended have a position, which is that of their gradient"
        )
    tensors: list[TensorBase] = []
    structure = take_out(args, tensors)
    returned = apply(callee, structure, *tensors)
    assert isinstance(returned, tuple)
    return put_in(returned[0], returned[1:])


def _function_of(ctx: NestedIOCtx) -> type[NestedIOFunction]:
    return cast("type[NestedIOFunction]", ctx._call.backward_class._forward_cls)


def _forward(ctx: NestedIOCtx, structure: object, *tensors: TensorBase) -> object:
    """Call ``forward_extended``.

    Returns
    -------
    tuple
        The structure of its result, and the tensors in it.
    """
    ctx.needs_input_grad = ctx.needs_input_grad[1:]
    ctx._nested_input = structure
    args = cast("tuple[object, ...]", put_in(structure, tensors))
    result = _function_of(ctx).forward_extended(ctx, *args)
    found: list[TensorBase] = []
    ctx._nested_output = take_out(result, found)
    return (ctx._nested_output, *found)


def _backward(ctx: NestedIOCtx, _: None, *grads: TensorBase | None) -> object:
    """Call ``backward_extended``."""
    nested = put_in(ctx._nested_output, grads, keeps_others=False)
    # A result that is no tuple is the only one, and so is an answer.
    shown = nested if isinstance(nested, tuple) else (nested,)
    answer = _function_of(ctx).backward_extended(ctx, *shown)
    answers = answer if isinstance(answer, tuple) else (answer,)
    found: list[object] = [None] * len(ctx.needs_input_grad)
    take_out_gradients(ctx._nested_input, answers, found, ctx.name(), "arguments")
    return (None, *found)


def _no_forward_extended(*args: object) -> NoReturn:
    """Compute the results from nested arguments; a Function must override it.

    Parameters
    ----------
    *args : object
        A context and the arguments of ``apply``.

    Returns
    -------
    object
        Tensors or anything else, nested in tuples, lists and dicts.

    Raises
    ------
    MissingMethodError
        If the Function has none.
    """
    raise MissingMethodError("this Function has no forward_extended; define it as a static method")


def _no_backward_extended(*args: object) -> NoReturn:
    """Compute gradients of nested arguments.

    Parameters
    ----------
    *args : object
        The context, and for each result a gradient that is nested as the result; None in place of
        what is no tensor.

    Returns
    -------
    object
        One value for each argument, nested as the argument, or None.

    Raises
    ------
    MissingMethodError
        If the Function has none.
    """
    raise MissingMethodError("this Function has no backward_extended; define it as a static method")


class NestedIOFunction(Function):
    """A `Function` whose arguments and results are tensors in tuples, lists and dicts.

    A subclass defines ``forward_extended`` and ``backward_extended`` as static methods. The first
    takes the context and the arguments of ``apply`` as they are, and its result, nested or not, is
    that of ``apply``. The second takes the context and one gradient for each result, and returns
    one for each argument: both nested as these are, with None in place of any part.

    `FunctionCtx.save_for_backward`, `FunctionCtx.saved_tensors`, `FunctionCtx.mark_dirty` and
    `FunctionCtx.mark_non_differentiable` take and give nested values too. A subclass that defines
    ``forward`` and ``backward`` instead is a `Function` as any other.

    Raises
    ------
    MissingMethodError
        By ``apply`` without a forward_extended, and in backward without a backward_extended.
    ArgumentTypeError
        By ``apply``, if an argument of forward_extended is passed by keyword.
    GradientError
        In backward, if the gradients are nested in another way than the arguments.

    Examples
    --------
    >>> class Mix(vt.autograd.function.NestedIOFunction):
    ...     @staticmethod
    ...     def forward_extended(ctx, pair, options):
    ...         a, b = pair
    ...         ctx.scale = options["scale"]
    ...         return {"sum": a + b, "scaled": a * ctx.scale}
    ...
    ...     @staticmethod
    ...     def backward_extended(ctx, grad):
    ...         return [grad["sum"] + grad["scaled"] * ctx.scale, grad["sum"]], None
    >>> a, b = vt.ones(2, requires_grad=True), vt.ones(2, requires_grad=True)
    >>> mixed = Mix.apply([a, b], {"scale": 3})
    >>> (mixed["sum"] + mixed["scaled"]).sum().backward()
    >>> a.grad, b.grad
    (tensor([4., 4.]), tensor([1., 1.]))
    """

    forward: ClassVar[Callable[..., object]] = staticmethod(_forward)
    backward: ClassVar[Callable[..., object]] = staticmethod(_backward)
    forward_extended: ClassVar[Callable[..., object]] = staticmethod(_no_forward_extended)
    backward_extended: ClassVar[Callable[..., object]] = staticmethod(_no_backward_extended)
    apply: ClassVar[NestedApply] = NestedApply()  # type: ignore[assignment]  # as `__get__` there
    _ctx_cls: ClassVar[type[FunctionCtx]] = NestedIOCtx
