"""The library's part of the context: the state of one call of a custom Function."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vtgrad.errors import GraphFreedError, ViewInvalidError, WriteRefusedError
from vtgrad.function.samples import Samples
from vtgrad.graph.audit import Fingerprint
from vtgrad.graph.edge import Edge
from vtgrad.graph.input_metadata import InputMetadata, metadata_of
from vtgrad.graph.node import Node
from vtgrad.graph.saved_variable import SavedResult, SavedVariable
from vtgrad.graph.set_history import gradient_edge
from vtgrad.storage.inference_tensors import refuse_outside_inference_mode
from vtgrad.storage.key_set import keys
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.version_counter import INFERENCE
from vtgrad.tensor.subclass_methods import class_of_saved
from vtgrad.views.check_inplace import check_inplace
from vtgrad.views.differentiable_view_meta import view_meta_of

if TYPE_CHECKING:
    from vtgrad.function.function_ctx import FunctionCtx
    from vtgrad.function.node import BackwardCFunction

__all__ = ["Call", "InputFlags", "UnpackedInput", "check_declared"]


class UnpackedInput:
    """The arguments of a call.

    Attributes
    ----------
    input_vars : tuple of TensorBase
        The tensors among them.
    argument_count : int
        The number of all of them.
    """

    __slots__ = ("argument_count", "input_vars")

    input_vars: tuple[TensorBase, ...]
    argument_count: int

    def __init__(self, input_vars: tuple[TensorBase, ...], argument_count: int) -> None:
        self.input_vars = input_vars
        self.argument_count = argument_count


class InputFlags:
    """What is known of the arguments of a call before its forward runs.

    Attributes
    ----------
    is_executable : bool
        Whether the call becomes a part of a graph: a tensor requires grad, and recording is on.
    needs_input_grad : tuple of bool
        For each argument, whether it is a tensor that requires grad.
    is_variable_input : tuple of bool
        For each argument, whether it is a tensor.
    next_edges : tuple of Edge or None
        One for each tensor among the arguments; empty if nothing is recorded.
    """

    __slots__ = ("is_executable", "is_variable_input", "needs_input_grad", "next_edges")

    is_executable: bool
    needs_input_grad: tuple[bool, ...]
    is_variable_input: tuple[bool, ...]
    next_edges: tuple[Edge | None, ...]

    def __init__(
        self,
        is_executable: bool,
        needs_input_grad: tuple[bool, ...],
        is_variable_input: tuple[bool, ...],
        next_edges: tuple[Edge | None, ...],
    ) -> None:
        self.is_executable = is_executable
        self.needs_input_grad = needs_input_grad
        self.is_variable_input = is_variable_input
        self.next_edges = next_edges


class Call:
    """The library's state of one call of a Function.

    Note [A context and its node]

    The user may store any attribute on the context under any name; the engine reads attributes of
    the node under names of its own. So the two are separate objects. Each also shows the other's
    attributes, and the node has the methods of a context, because in PyTorch they are one object.
    The node holds the context, and the context holds the node only weakly, because two strong
    references would be a cycle. The saved values are kept here, and so by the context. So a context
    that a user keeps still has them when the rest of the graph is freed; the node that unpacking
    needs is then made again.

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
        that is not an argument. In forward mode for each tensor among the arguments.
    shapes : tuple of InputMetadata
        For each edge, shape and dtype of that argument.
    argument_count : int
        The number of arguments, tensors or not.
    audited : tuple of (str, Fingerprint)
        Fingerprints of tensors that forward has stored as attributes of the context, if audit is
        on: see Note [Audit].
    results : tuple of InputMetadata or None
        Shape and dtype of each result; None for one that is not a tensor.
    differentiable : sequence of bool
        For each result, whether it has a gradient.
    saved_for_forward : tuple of TensorBase or None
        The tensors that forward keeps for ``jvp``, until the call is over.
    to_save : tuple of TensorBase or None
        The tensors that forward wants saved, until they are saved.
    saved : tuple of SavedVariable or None
        The saved values.
    saved_classes, gradient_classes : tuple of type or None
        The class of each saved tensor, and of the gradient of each result, where one is not
        `Tensor`; empty if all are. See Note [Classes of gradients].
    freed : bool
        Whether the saved values were freed.
    was_read : bool
        Whether it was reading them that freed them.
    dirty : tuple of TensorBase
        The tensors that forward declares as written, until the call is over.
    writes_are_counted : bool
        Whether these writes have moved the versions.
    non_differentiable : tuple of TensorBase
        The results that have no gradient, until the call is over.
    materializes : bool
        Whether backward gets zeros for missing gradients.
    materializes_non_differentiable : bool
        Whether it gets them also for results that have no gradient.
    samples : Samples or None
        If the methods run with tensors of one sample: see Note [A Function of one sample].
    """

    backward_class: type[BackwardCFunction]
    inputs: tuple[TensorBase, ...]
    argument_count: int
    records: bool
    # Most calls leave most of the others as they are here.
    edges: tuple[Edge | None, ...] = ()
    argument_indices: tuple[int, ...] = ()
    shapes: tuple[InputMetadata, ...] = ()
    results: tuple[InputMetadata | None, ...] = ()
    differentiable: Sequence[bool] = ()
    to_save: tuple[TensorBase | None, ...] = ()
    saved_for_forward: tuple[TensorBase | None, ...] | None = None
    saved: tuple[SavedVariable | None, ...] = ()
    saved_classes: tuple[type[TensorBase] | None, ...] = ()
    gradient_classes: tuple[type[TensorBase] | None, ...] = ()
    invalid: tuple[TensorBase, ...] = ()
    audited: tuple[tuple[str, Fingerprint], ...] = ()
    freed: bool = False
    was_read: bool = False
    dirty: tuple[TensorBase, ...] = ()
    writes_are_counted: bool = False
    non_differentiable: tuple[TensorBase, ...] = ()
    materializes: bool = True
    materializes_non_differentiable: bool = True
    samples: Samples | None = None
    _node: weakref.ref[BackwardCFunction] | None = None

    def __init__(
        self, backward_class: type[BackwardCFunction], unpacked: UnpackedInput, flags: InputFlags
    ) -> None:
        self.backward_class = backward_class
        self.inputs = inputs = unpacked.input_vars
        self.argument_count = unpacked.argument_count
        self.records = flags.is_executable
        if flags.is_executable or keys.modes:
            self.argument_indices = tuple(
                [nr for nr, is_tensor in enumerate(flags.is_variable_input) if is_tensor]
            )
        if flags.is_executable:
            self.edges = flags.next_edges
            self.shapes = tuple([metadata_of(x._impl)[0] for x in inputs])

    @property
    def operator(self) -> str:
        """The name of the call, for the record of writes."""
        return f"{self.backward_class._forward_cls.__name__}.apply"

    def node_of(self, context: FunctionCtx) -> BackwardCFunction:
        """The call's node, made if it does not exist; see Note [A context and its node]."""
        node = None if self._node is None else self._node()
        return self.backward_class(context) if node is None else node

    def lead_to(self, node: BackwardCFunction) -> None:
        """Make `node` the call's node."""
        self._node = weakref.ref(node)

    def save_variables(self, results: dict[int, int]) -> None:
        """Save the tensors that forward passed to `save_for_backward`.

        Parameters
        ----------
        results : dict of int to int
            The number of each result by the identity of its tensor.
        """
        self.saved = tuple([self._saved(tensor, results) for tensor in self.to_save])
        classes = tuple([class_of_saved(tensor) for tensor in self.to_save])
        if any(classes):
            self.saved_classes = classes

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
            As `check_freed` does.
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
        """Raise if the saved values were freed.

        Raises
        ------
        GraphFreedError
            If an earlier backward has freed them, or an earlier reading.
        """
        if not self.freed:
            return
        if self.was_read:
            raise GraphFreedError(
                f"{node.name()} has read its saved tensors once, which freed them, because its "
                "Function has clear_saved_tensors_on_access; keep what ctx.saved_tensors gives in "
                "a local variable",
                node=node.name(),
            )
        raise GraphFreedError(
            f"{node.name()} has already been run backward and its saved values were freed; "
            "pass retain_graph=True to the first backward to be able to read them again",
            node=node.name(),
        )

    def is_over(self) -> None:
        """Drop the tensors; the values needed later are saved."""
        self.inputs = ()
        self.to_save = ()
        self.saved_for_forward = None
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
        UnseenWriteError
            If one has changed.
        """
        for name, fingerprint in self.audited:
            value = attributes.get(name)
            if isinstance(value, TensorBase):
                fingerprint.check(value._impl.array, node, f", kept as ctx.{name}")

    def release_read(self) -> None:
        """Free the saved values, which have been read; reading them again raises."""
        self.was_read = True
        self.freed = True
        self.saved = ()
        self.invalid = ()

    def release(self) -> None:
        """Free the saved values."""
        self.saved = ()
        self.audited = ()
        self.invalid = ()
        self.freed = True


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
        try:
            check_inplace(tensor)
        except WriteRefusedError as error:
            error.add_note(
                "What forward has written before mark_dirty stays written; called before the first "
                "write, mark_dirty refuses it"
            )
            raise
