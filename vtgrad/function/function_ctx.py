"""The context that forward and backward of a custom Function share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from vtgrad.errors import ArgumentTypeError, FunctionError
from vtgrad.function.context import Call, check_declared
from vtgrad.graph.node import Node
from vtgrad.graph.saved_variable import RELEASED, SavedVariable
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.warn import warn
from vtgrad.tensor.saved_tensor import SavedTensor, saved_tensor
from vtgrad.tensor.subclass_methods import shown_in
from vtgrad.tensor.tensor import Tensor

__all__ = ["FunctionCtx"]

T = TypeVar("T")


class FunctionCtx:
    """The first argument of a custom Function's methods: the state of one call.

    Attributes can be stored on it under any name. Tensors that backward needs should be passed
    to `save_for_backward`, which detects that they were overwritten.

    Attributes
    ----------
    needs_input_grad : tuple of bool
        For each argument of ``apply``, whether it is a tensor that requires grad.
    saved_data : dict of str to object
        Values for backward that are not tensors, made on first use; attributes do as well. It stays
        when a backward frees the saved tensors.

    Examples
    --------
    >>> class Product(vt.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x, y):
    ...         ctx.save_for_backward(x, y)
    ...         return x * y
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         x, y = ctx.saved_tensors
    ...         need_x, need_y = ctx.needs_input_grad
    ...         return grad * y if need_x else None, grad * x if need_y else None
    >>> x = vt.ones(2, requires_grad=True)
    >>> Product.apply(x, vt.tensor([3.0, 4.0])).sum().backward()
    >>> x.grad
    tensor([3., 4.])
    """

    needs_input_grad: tuple[bool, ...]
    saved_data: dict[str, object]
    _call: Call

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save tensors for backward, which reads them from `saved_tensors`.

        Called in ``forward`` or ``setup_context``, for arguments, results and other tensors. A
        second call replaces the first.

        Parameters
        ----------
        *tensors : Tensor or None
            The tensors to save.

        Raises
        ------
        ArgumentTypeError
            If any other object is to be saved.

        Examples
        --------
        >>> class Exp(vt.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         y = x.exp()
        ...         ctx.save_for_backward(y)
        ...         return y
        ...
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         return grad * ctx.saved_tensors[0]
        >>> x = vt.zeros(2, requires_grad=True)
        >>> Exp.apply(x).sum().backward()
        >>> x.grad
        tensor([1., 1.])
        """
        _check_saved_types(tensors, "save_for_backward")
        call = self._call
        if call.samples is not None:
            values, call.samples.of_saved = call.samples.values_of(tensors)
            tensors = cast("tuple[Tensor | None, ...]", tuple(values))
        call.to_save = tensors

    @property
    def to_save(self) -> tuple[Tensor | None, ...] | None:
        """The tensors that `save_for_backward` got; assigning a tuple is calling it.

        Returns
        -------
        tuple of Tensor or None
            None if there are none, and after ``apply``.
        """
        return cast("tuple[Tensor | None, ...]", self._call.to_save) or None

    @to_save.setter
    def to_save(self, tensors: tuple[Tensor | None, ...]) -> None:
        FunctionCtx.save_for_backward(self, *_as_tuple(tensors, "to_save"))

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for ``jvp``, which reads them from `saved_tensors`.

        They are kept until ``apply`` returns; before that ``jvp`` is called, if an argument has a
        tangent.

        Parameters
        ----------
        *tensors : Tensor or None
            The tensors to keep.

        Raises
        ------
        ArgumentTypeError
            If any other object is to be kept.

        Examples
        --------
        >>> class Scale(vt.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x, factor):
        ...         ctx.save_for_forward(factor)
        ...         print(ctx.saved_for_forward)
        ...         return x * factor
        >>> y = Scale.apply(vt.ones(2), vt.tensor(3.0))
        (tensor(3.),)
        """
        _check_saved_types(tensors, "save_for_forward")
        call = self._call
        if call.samples is not None:
            values, call.samples.kept = call.samples.values_of(tensors)
            tensors = cast("tuple[Tensor | None, ...]", tuple(values))
        call.saved_for_forward = tensors

    @property
    def saved_for_forward(self) -> tuple[Tensor | None, ...] | None:
        """The tensors that `save_for_forward` keeps; assigning a tuple is calling it.

        Returns
        -------
        tuple of Tensor or None
            None if it was not called, and after ``apply``.
        """
        return cast("tuple[Tensor | None, ...] | None", self._call.saved_for_forward)

    @saved_for_forward.setter
    def saved_for_forward(self, tensors: tuple[Tensor | None, ...]) -> None:
        FunctionCtx.save_for_forward(self, *_as_tuple(tensors, "saved_for_forward"))

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """The tensors that `save_for_backward` saved.

        Returns
        -------
        tuple of Tensor
            The tensors in the order of saving, None where None was saved.

        Raises
        ------
        GraphFreedError
            If they were freed by a backward, or by an earlier reading in a Function that has
            `Function.clear_saved_tensors_on_access`.
        StaleSavedError, SavedDetachedError, ViewInvalidError
            If one of the tensors was overwritten or detached in place, or is a view that became
            invalid.
        """
        call, samples = self._call, self._call.samples
        if call.saved_for_forward is not None:
            kept: Sequence[object] = call.saved_for_forward
            if samples is not None:
                kept = samples.of_values(kept, samples.kept)
            return cast("tuple[Tensor, ...]", tuple(kept))
        node = call.node_of(self)
        call.check_saved(node)
        found: list[object] = [
            None if variable is None else variable.unpack(node) for variable in call.saved
        ]
        if samples is not None:
            found = samples.of_values(found, samples.of_saved)
        if call.saved_classes:
            found = [shown_in(cls, x) for cls, x in zip(call.saved_classes, found, strict=True)]
        if call.backward_class._forward_cls.clear_saved_tensors_on_access:
            call.release_read()
        return cast("tuple[Tensor, ...]", tuple(found))

    @property
    def saved_variables(self) -> tuple[Tensor, ...]:
        """The old name of `saved_tensors`, which warns.

        Returns
        -------
        tuple of Tensor
            As `saved_tensors`.
        """
        warn("ctx.saved_variables is the old name of ctx.saved_tensors", DeprecationWarning)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        """The saved tensors, as objects on which hooks can be registered."""
        call = self._call
        call.check_freed(call.node_of(self))
        return tuple([saved_tensor(SlotOfCall(self, nr)) for nr in range(len(call.saved))])

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Declare the arguments that forward writes in place; forward must return all of them.

        Call this before the writes: arguments that may not be written are refused here, and what
        forward has written by then stays written.

        Parameters
        ----------
        *tensors : Tensor
            The arguments that are written.

        Raises
        ------
        FunctionError
            If any other object than a tensor is declared.
        WriteRefusedError
            As an in-place write: for example for leaves that require grad, and their views.

        Examples
        --------
        >>> class Double_(vt.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.mark_dirty(x)
        ...         return x.mul_(2)
        ...
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         return grad * 2
        >>> x = vt.ones(2, requires_grad=True)
        >>> y = x.clone()
        >>> Double_.apply(y) is y, y
        (True, tensor([2., 2.], grad_fn=<Double_Backward>))
        """
        call = self._call
        if call.samples is not None:
            values, _ = call.samples.values_of(tensors)
            tensors = cast("tuple[Tensor, ...]", tuple(values))
        before = call.dirty
        added = []
        for tensor in tensors:
            if not isinstance(tensor, TensorBase):
                raise FunctionError(
                    f"mark_dirty takes the tensors that are written, not {type(tensor).__name__}"
                )
            if not any(tensor is known for known in before):
                added.append(tensor)
            if any(tensor is argument for argument in call.inputs):
                check_declared(call, tensor)
        call.dirty = (*before, *added)

    @property
    def dirty_tensors(self) -> tuple[Tensor, ...] | None:
        """The tensors that `mark_dirty` got; assigning a tuple is calling it.

        Returns
        -------
        tuple of Tensor
            None if there are none, and after ``apply``.
        """
        return cast("tuple[Tensor, ...]", self._call.dirty) or None

    @dirty_tensors.setter
    def dirty_tensors(self, tensors: tuple[Tensor, ...]) -> None:
        FunctionCtx.mark_dirty(self, *_as_tuple(tensors, "dirty_tensors"))

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Declare the results that have no gradient.

        Backward still has an argument for each of them, which is zeros. Results of an integer dtype
        need not be declared.

        Parameters
        ----------
        *tensors : Tensor
            Results of forward.

        Raises
        ------
        FunctionError
            If any other object than a tensor is declared.

        Examples
        --------
        >>> class Split(vt.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         whole = x.floor()
        ...         ctx.mark_non_differentiable(whole)
        ...         return whole, x - whole
        ...
        ...     @staticmethod
        ...     def backward(ctx, grad_whole, grad_rest):
        ...         return grad_rest
        >>> whole, rest = Split.apply(vt.tensor([2.5], requires_grad=True))
        >>> whole.requires_grad, rest.requires_grad
        (False, True)
        """
        for tensor in tensors:
            if not isinstance(tensor, TensorBase):
                raise FunctionError(
                    f"mark_non_differentiable takes results, not {type(tensor).__name__}"
                )
        if self._call.samples is not None:
            values, _ = self._call.samples.values_of(tensors)
            tensors = cast("tuple[Tensor, ...]", tuple(values))
        self._call.non_differentiable = (*self._call.non_differentiable, *tensors)

    @property
    def non_differentiable(self) -> tuple[Tensor, ...] | None:
        """The tensors that `mark_non_differentiable` got; assigning a tuple is calling it.

        Returns
        -------
        tuple of Tensor
            None if there are none, and after ``apply``.
        """
        return cast("tuple[Tensor, ...]", self._call.non_differentiable) or None

    @non_differentiable.setter
    def non_differentiable(self, tensors: tuple[Tensor, ...]) -> None:
        FunctionCtx.mark_non_differentiable(self, *_as_tuple(tensors, "non_differentiable"))

    def mark_shared_storage(self, *pairs: tuple[Tensor, Tensor]) -> None:
        """Do nothing but warn: which tensors share memory is known without it.

        Parameters
        ----------
        *pairs : tuple of Tensor
            Ignored.
        """
        warn(
            "ctx.mark_shared_storage has no effect: which tensors share memory is known without "
            "it; leave the call out",
            FutureWarning,
        )

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether backward gets zeros (the default) or None for missing gradients.

        Parameters
        ----------
        value : bool
            True for zeros.

        Raises
        ------
        ArgumentTypeError
            If `value` is not a bool.

        Examples
        --------
        >>> class Pair(vt.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.set_materialize_grads(False)
        ...         return x * 2, x * 3
        ...
        ...     @staticmethod
        ...     def backward(ctx, grad_twice, grad_thrice):
        ...         print(grad_twice, grad_thrice)
        ...         return grad_twice * 2
        >>> twice, thrice = Pair.apply(vt.ones(2, requires_grad=True))
        >>> twice.sum().backward()
        tensor([1., 1.]) None
        """
        _check_bool(value, "set_materialize_grads")
        self._call.materializes = value

    @property
    def materialize_grads(self) -> bool:
        """Assigning a bool is calling `set_materialize_grads`; as in PyTorch it cannot be read."""
        raise AttributeError("materialize_grads can be assigned, but not read")

    @materialize_grads.setter
    def materialize_grads(self, value: bool) -> None:
        FunctionCtx.set_materialize_grads(self, value)

    @property
    def _materialize_non_diff_grads(self) -> bool:
        """Whether backward gets zeros also for results that have no gradient.

        Assign False to get None for them, and zeros for the others: results of integer dtypes and
        those that were passed to `mark_non_differentiable`.
        """
        return self._call.materializes_non_differentiable

    @_materialize_non_diff_grads.setter
    def _materialize_non_diff_grads(self, value: bool) -> None:
        _check_bool(value, "_materialize_non_diff_grads")
        self._call.materializes_non_differentiable = value

    def name(self) -> str:
        """The name of the node.

        Returns
        -------
        str
            ``<Name>Backward`` for a Function of this name.

        Examples
        --------
        >>> class Twice(vt.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         print(ctx.name())
        ...         return x * 2
        >>> y = Twice.apply(vt.ones(2))
        TwiceBackward
        """
        return self._call.backward_class.__name__

    if not TYPE_CHECKING:
        # Hidden from type checkers, which would accept every attribute because of it.

        def __getattr__(self, name: str) -> object:
            """Attributes of the node; see Note [A context and its node]."""
            if name == "saved_data":
                # `setdefault` looks and stores in one step: see Note [Made once].
                return self.__dict__.setdefault(name, {})
            if "_call" not in self.__dict__ or name.startswith("__"):
                raise AttributeError(name)
            return getattr(self._call.node_of(self), name)


class SlotOfCall:
    """The place of one saved value of a call."""

    __slots__ = ("_context", "_index")

    _context: FunctionCtx
    _index: int

    def __init__(self, context: FunctionCtx, index: int) -> None:
        self._context = context
        self._index = index

    @property
    def key(self) -> tuple[int, str, int]:
        """What tells the place from all others, as long as this object lives."""
        return id(self._context), "", self._index

    def node(self) -> Node:
        """The node."""
        return self._context._call.node_of(self._context)

    def read(self) -> SavedVariable | None:
        """The saved value; None if None was saved."""
        call = self._context._call
        return RELEASED if call.freed else call.saved[self._index]

    def store(self, variable: SavedVariable) -> None:
        """Replace the saved value."""
        call, nr = self._context._call, self._index
        call.saved = (*call.saved[:nr], variable, *call.saved[nr + 1 :])


def _check_saved_types(tensors: tuple[object, ...], method: str) -> None:
    """Raise if one is neither a tensor nor None.

    Raises
    ------
    ArgumentTypeError
        If it is of another type.
    """
    for nr, tensor in enumerate(tensors):
        if tensor is not None and not isinstance(tensor, TensorBase):
            raise ArgumentTypeError(
                f"{method} keeps tensors and None, but argument {nr} is of type "
                f"{type(tensor).__name__}; store other values as attributes of ctx",
                index=nr,
            )


def _check_bool(value: object, name: str) -> None:
    if not isinstance(value, bool):
        raise ArgumentTypeError(f"{name} takes a bool, not {type(value).__name__}")


def _as_tuple(tensors: tuple[T, ...], name: str) -> tuple[T, ...]:
    if not isinstance(tensors, tuple):
        raise FunctionError(f"ctx.{name} is a tuple of tensors, not {type(tensors).__name__}")
    return tensors
