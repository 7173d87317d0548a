"""The context that forward and backward of a custom Function share."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, cast

from ..errors import ArgumentTypeError, FunctionError, GraphFreedError, ViewInvalidError
from ..graph.audit import Fingerprint
from ..graph.edge import Edge
from ..graph.input_metadata import InputMetadata
from ..graph.node import Node
from ..graph.saved_variable import RELEASED, SavedResult, SavedVariable
from ..graph.set_history import gradient_edge
from ..storage.inference import refuse_outside_inference_mode
from ..storage.tensor_base import TensorBase
from ..storage.version_counter import INFERENCE
from ..tensor.saved_tensor import SavedTensor, saved_tensor
from ..tensor.tensor import Tensor
from ..views.check_inplace import check_inplace
from ..views.differentiable_view_meta import view_meta_of

if TYPE_CHECKING:
    from .node import BackwardCFunction

__all__ = ["Call", "FunctionCtx", "check_declared"]


class Call:
    """The library's state of one call of a Function.

    NOTE [ A context and its node ]

    The user may store any attribute on the context under any name; the engine reads attributes of
    the node under names of its own. So the two are separate objects, and each also shows the
    other's attributes, as in PyTorch. The node holds the context, and the context holds the node
    only weakly, because two strong references would be a cycle. The saved values are kept here, and
    so by the context. So a context that a user keeps still has them when the rest of the graph is
    freed; the node that unpacking needs is then made again.

    Attributes
    ----------
    backward_class : type of BackwardCFunction
        The class of the node.
    edges : tuple of Edge or None
        One for each tensor among the arguments; empty if nothing is recorded.
    records : bool
        Whether the call becomes a part of a graph.
    inputs : tuple of TensorBase
        The tensors among the arguments, until the call is over.
    invalid : tuple of TensorBase
        Saved views that became invalid; they are held so that reading them raises.
    argument_indices : tuple of int
        For each edge, the index of the argument whose gradient it carries; -1 for a written tensor
        that is not an argument.
    shapes : tuple of InputMetadata
        For each edge, shape and dtype of that argument.
    argument_count : int
        The number of arguments, tensors or not.
    audited : tuple of (str, Fingerprint)
        Fingerprints of tensors that forward has stored as attributes of the context, if audit is
        on: see Note [Audit].
    results : tuple of InputMetadata or None
        Shape and dtype of each result; None for one that is not a tensor.
    to_save : tuple of TensorBase or None
        The tensors that forward wants saved, until they are saved.
    saved : tuple of SavedVariable or None
        The saved values.
    freed : bool
        Whether the saved values were freed.
    dirty : tuple of TensorBase
        The tensors that forward declares as written, until the call is over.
    non_differentiable : tuple of TensorBase
        The results that have no gradient, until the call is over.
    materializes : bool
        Whether backward gets zeros for missing gradients.
    """

    __slots__ = (
        "_node",
        "argument_count",
        "argument_indices",
        "audited",
        "backward_class",
        "dirty",
        "edges",
        "freed",
        "inputs",
        "invalid",
        "materializes",
        "non_differentiable",
        "records",
        "results",
        "saved",
        "shapes",
        "to_save",
    )

    backward_class: type[BackwardCFunction]
    edges: tuple[Edge | None, ...]
    records: bool
    inputs: tuple[TensorBase, ...]
    invalid: tuple[TensorBase, ...]
    argument_indices: tuple[int, ...]
    shapes: tuple[InputMetadata, ...]
    argument_count: int
    audited: tuple[tuple[str, Fingerprint], ...]
    results: tuple[InputMetadata | None, ...]
    to_save: tuple[TensorBase | None, ...]
    saved: tuple[SavedVariable | None, ...]
    freed: bool
    dirty: tuple[TensorBase, ...]
    non_differentiable: tuple[TensorBase, ...]
    materializes: bool
    _node: weakref.ref[BackwardCFunction] | None

    def __init__(
        self,
        backward_class: type[BackwardCFunction],
        inputs: tuple[TensorBase, ...],
        argument_indices: tuple[int, ...],
        argument_count: int,
        records: bool,
    ) -> None:
        self.backward_class = backward_class
        self.edges = ()
        self.records = records
        self.inputs = inputs
        self.invalid = ()
        self.argument_indices = argument_indices
        self.shapes = ()
        self.argument_count = argument_count
        self.audited = ()
        self.results = ()
        self.to_save = ()
        self.saved = ()
        self.freed = False
        self.dirty = ()
        self.non_differentiable = ()
        self.materializes = True
        self._node = None

    @property
    def operator(self) -> str:
        """The name of the call, for the record of writes."""
        return f"{self.backward_class._forward_cls.__name__}.apply"

    def node_of(self, context: FunctionCtx) -> BackwardCFunction:
        """The call's node, made if it does not exist; see Note [A context and its node]."""
        node = None if self._node is None else self._node()
        if node is None:
            node = self.backward_class(self.edges)
            node.own(context, self)
            self._node = weakref.ref(node)
        return node

    def save(self, results: dict[int, int]) -> None:
        """Save the tensors that forward passed to `save_for_backward`.

        Parameters
        ----------
        results : dict of int to int
            The number of each result by the identity of its tensor.
        """
        self.saved = tuple([self._saved(tensor, results) for tensor in self.to_save])

    def _saved(self, tensor: TensorBase | None, results: dict[int, int]) -> SavedVariable | None:
        if tensor is None:
            return None
        number = results.get(id(tensor))
        if number is not None:
            return SavedResult(tensor, number)
        view = view_meta_of(tensor)
        if view is not None and not view.was_produced():
            # A view made inside forward, where nothing is recorded, perhaps of a tensor that
            # forward has written since: a constant for backward.
            return SavedVariable(tensor, None)
        try:
            return SavedVariable(tensor, gradient_edge(tensor))
        except ViewInvalidError:
            # Forward has written the view's base. Backward refuses the view when it reads it, not
            # now: the tensor itself is kept, which raises this error again.
            self.invalid = (*self.invalid, tensor)
            return SavedVariable(tensor, None)

    def check_saved(self, node: Node) -> None:
        """Raise if the saved values cannot be read.

        Raises
        ------
        GraphFreedError
            If the saved values were freed by an earlier backward.
        VtgradError
            As `SavedVariable.check` does.
        """
        self.check_freed(node)
        for variable in self.saved:
            if variable is not None:
                variable.check(node)
        for tensor in self.invalid:
            gradient_edge(tensor)

    def check_freed(self, node: Node) -> None:
        """Raise if the saved values were freed by an earlier backward.

        Raises
        ------
        GraphFreedError
            If they were.
        """
        if self.freed:
            raise GraphFreedError(
                f"{node.name()} has already been run backward and its saved values were freed; "
                "pass retain_graph=True to the first backward to be able to read them again",
                node=node.name(),
            )

    def is_over(self) -> None:
        """Drop the tensors; the values needed later are saved."""
        self.inputs = ()
        self.to_save = ()
        self.dirty = ()
        self.non_differentiable = ()

    def audit(self, attributes: dict[str, object]) -> None:
        """Take fingerprints of tensors that forward has stored on the context."""
        self.audited = tuple(
            [
                (name, Fingerprint(value._impl.array, value._impl.storage))
                for name, value in attributes.items()
                if isinstance(value, TensorBase)
            ]
        )

    def check_audited(self, node: Node, attributes: dict[str, object]) -> None:
        """Raise if a tensor stored on the context has changed since.

        Raises
        ------
        UnseenWriteError If one has changed.
        """
        for name, fingerprint in self.audited:
            value = attributes.get(name)
            if isinstance(value, TensorBase):
                fingerprint.check(value._impl.array, node, f", kept as ctx.{name}")

    def release(self) -> None:
        """Free the saved values."""
        self.saved = ()
        self.audited = ()
        self.invalid = ()
        self.freed = True


class FunctionCtx:
    """The first argument of a custom Function's methods: the state of one call.

    Attributes can be stored on it under any name. Tensors that backward needs should be passed
    to `save_for_backward`, which detects that they were overwritten.

    Attributes
    ----------
    needs_input_grad : tuple of bool
        For each argument of ``apply``, whether it is a tensor that requires grad.

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
        for nr, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, TensorBase):
                raise ArgumentTypeError(
                    f"save_for_backward keeps tensors and None, but argument {nr} is of type "
                    f"{type(tensor).__name__}; store other values as attributes of ctx",
                    index=nr,
                )
        self._call.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for ``jvp``, which is not called in this version: nothing is kept.

        It exists so that a Function with a ``jvp`` can be run backward.

        Parameters
        ----------
        *tensors : Tensor or None
            Ignored.
        """

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
            If they were freed by a backward.
        StaleSavedError, SavedDetachedError, ViewInvalidError
            If one of the tensors was overwritten or detached in place, or is a view that became
            invalid.
        """
        call = self._call
        node = call.node_of(self)
        call.check_saved(node)
        found = [None if variable is None else variable.unpack(node) for variable in call.saved]
        return cast("tuple[Tensor, ...]", tuple(found))

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        """The saved tensors, as objects on which hooks can be registered."""
        call = self._call
        call.check_freed(call.node_of(self))
        return tuple([saved_tensor(SlotOfCall(self, nr)) for nr in range(len(call.saved))])

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Declare the arguments that forward writes in place; forward must return all of them.

        Call this before the writes: arguments that may not be written are refused here.

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
        self._call.non_differentiable = (*self._call.non_differentiable, *tensors)

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
        if not isinstance(value, bool):
            raise ArgumentTypeError(
                f"set_materialize_grads takes a bool, not {type(value).__name__}"
            )
        self._call.materializes = value

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


def check_declared(call: Call, tensor: TensorBase) -> None:
    """Raise if a declared write to an argument cannot become a part of the graph.

    Raises
    ------
    WriteRefusedError
        As `check_inplace` does.
    """
    if tensor._impl.version_counter is INFERENCE:
        refuse_outside_inference_mode()
    elif call.records and tensor._impl.array.dtype.kind in "fc":
        check_inplace(tensor)
