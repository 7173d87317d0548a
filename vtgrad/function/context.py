"""What forward and backward of a custom Function are given to talk to each other."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, cast

from ..errors import ArgumentTypeError, FunctionError, GraphFreedError, ViewInvalidError
from ..graph.audit import Fingerprint
from ..graph.edge import Edge
from ..graph.functions import gradient_edge
from ..graph.input_metadata import InputMetadata
from ..graph.node import Node
from ..graph.saved_variable import SavedResult, SavedVariable
from ..storage.inference import refuse_outside_inference_mode
from ..storage.tensor_base import TensorBase
from ..storage.version_counter import INFERENCE
from ..tensor.tensor import Tensor
from ..views.check_inplace import check_inplace
from ..views.differentiable_view_meta import view_meta_of

if TYPE_CHECKING:
    from .node import BackwardCFunction

__all__ = ["Call", "FunctionCtx", "check_declared"]


class Call:
    """What the library keeps of one application of a Function.

    NOTE [ A context and its node ]

    The context belongs to the user, who may store anything on it under any name; the node belongs
    to the engine, which reads its attributes under names of its own. So they are two objects,
    though each shows the other's attributes as if they were one, as in PyTorch. The node holds the
    context, and the context holds the node only weakly, or both would be a cycle. What was saved
    is kept here, by the context. So a context that a user keeps can be asked for it when the rest
    of the graph is gone; the node that unpacking needs is then made once more.

    Attributes
    ----------
    backward_class : type of BackwardCFunction
        The class of the node.
    edges : tuple of Edge or None
        One for each tensor among the arguments; none of them if nothing is recorded.
    records : bool
        Whether there is a graph that the call becomes a part of.
    inputs : tuple of TensorBase
        The tensors among the arguments, until the call is over.
    invalid : tuple of TensorBase
        Saved views that have lost their base; they are held to say so.
    places : tuple of int
        For each edge, which argument its gradient belongs to; -1 for a tensor that was written
        without being one.
    shapes : tuple of InputMetadata
        For each edge, shape and dtype of that argument.
    argument_count : int
        How many arguments there were, tensors or not.
    audited : tuple of (str, Fingerprint)
        What tensors looked like that forward has stored as attributes of the context, if audit is
        on: see Note [Audit].
    results : tuple of InputMetadata or None
        Shape and dtype of each result; None for one that is no tensor.
    to_save : tuple of TensorBase or None
        What forward wants to be saved, until it is.
    saved : tuple of SavedVariable or None
        What was saved.
    freed : bool
        Whether it was freed since.
    dirty : tuple of TensorBase
        What forward says that it wrote, until the call is over.
    non_differentiable : tuple of TensorBase
        Which results have no gradient, until the call is over.
    materializes : bool
        Whether backward sees zeros for gradients that did not arrive.
    """

    __slots__ = (
        "_node",
        "argument_count",
        "audited",
        "backward_class",
        "dirty",
        "edges",
        "freed",
        "inputs",
        "invalid",
        "materializes",
        "non_differentiable",
        "places",
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
    places: tuple[int, ...]
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
        places: tuple[int, ...],
        argument_count: int,
        records: bool,
    ) -> None:
        self.backward_class = backward_class
        self.edges = ()
        self.records = records
        self.inputs = inputs
        self.invalid = ()
        self.places = places
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
        """What users call, for the record of writes."""
        return f"{self.backward_class._forward_cls.__name__}.apply"

    def node_of(self, context: FunctionCtx) -> BackwardCFunction:
        """The call's node, made if there is none; see Note [A context and its node]."""
        node = None if self._node is None else self._node()
        if node is None:
            node = self.backward_class(self.edges)
            node.own(context, self)
            self._node = weakref.ref(node)
        return node

    def save(self, results: dict[int, int]) -> None:
        """Save what forward asked for.

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
            # forward has written since: it is a constant of backward.
            return SavedVariable(tensor, None)
        try:
            return SavedVariable(tensor, gradient_edge(tensor))
        except ViewInvalidError:
            # Forward has written its base. That is refused when backward reads it, not now: so
            # the tensor itself is kept, which raises this again.
            self.invalid = (*self.invalid, tensor)
            return SavedVariable(tensor, None)

    def check_saved(self, node: Node) -> None:
        """Raise if what was saved cannot be read.

        Raises
        ------
        GraphFreedError
            If it was freed by an earlier backward.
        VtgradError
            As `SavedVariable.check` does.
        """
        if self.freed:
            raise GraphFreedError(
                f"{node.name()} has already been run backward and its saved values were freed; "
                "pass retain_graph=True to the first backward to be able to read them again",
                node=node.name(),
            )
        for variable in self.saved:
            if variable is not None:
                variable.check(node)
        for tensor in self.invalid:
            gradient_edge(tensor)

    def is_over(self) -> None:
        """Let go of tensors; whatever is needed later was saved."""
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
        """Raise if one of them has changed since.

        Raises
        ------
        UnseenWriteError
            If so.
        """
        for name, fingerprint in self.audited:
            value = attributes.get(name)
            if isinstance(value, TensorBase):
                fingerprint.check(value._impl.array, node, f", kept as ctx.{name}")

    def release(self) -> None:
        """Free what was saved."""
        self.saved = ()
        self.audited = ()
        self.invalid = ()
        self.freed = True


class FunctionCtx:
    """The first argument of a custom Function's methods: what one call remembers.

    Attributes can be stored on it under any name. Tensors that backward needs are better handed
    to `save_for_backward`, which notices when they are overwritten.

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
        """Keep tensors for backward, which finds them in `saved_tensors`.

        Called in ``forward`` or ``setup_context``. Arguments and results are best kept so, and so
        are other tensors. A second call replaces the first.

        Parameters
        ----------
        *tensors : Tensor or None
            What to keep.

        Raises
        ------
        ArgumentTypeError
            If something else is to be saved.

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

        It is here so that a Function with a ``jvp`` can be run backward.

        Parameters
        ----------
        *tensors : Tensor or None
            Ignored.
        """

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """What `save_for_backward` kept.

        Returns
        -------
        tuple of Tensor
            The tensors in the order of saving, None in the place of None.

        Raises
        ------
        GraphFreedError
            If it was freed by a backward.
        StaleSavedError, SavedDetachedError, ViewInvalidError
            If one of the tensors was overwritten, detached in place, or lost its base.
        """
        call = self._call
        node = call.node_of(self)
        call.check_saved(node)
        found = [None if variable is None else variable.unpack(node) for variable in call.saved]
        return cast("tuple[Tensor, ...]", tuple(found))

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Declare which arguments forward writes in place; it must return all of them.

        Best called before they are written: what may not be written is refused here.

        Parameters
        ----------
        *tensors : Tensor
            The arguments that are written.

        Raises
        ------
        FunctionError
            If something else than tensors is declared.
        WriteRefusedError
            As a write in place would: for leaves that require grad, and their views, for instance.

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
        """Declare which results have no gradient.

        Backward has an argument for them all the same; it gets zeros. Results of an integer dtype
        need not be declared.

        Parameters
        ----------
        *tensors : Tensor
            Results of forward.

        Raises
        ------
        FunctionError
            If something else than tensors is declared.

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
        """Choose whether backward gets zeros or None for a result whose gradient did not arrive.

        Parameters
        ----------
        value : bool
            True, the default, for zeros.

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
