"""The node of a call of a custom Function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Signature
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar, cast

import numpy as np

from vtgrad.engine.own_copy import own_copy
from vtgrad.engine.validate import fit_array, fit_tensor
from vtgrad.errors import BatchedTensorError, DeviceError, FunctionError, GradientError
from vtgrad.function.context import Call, InputFlags, UnpackedInput
from vtgrad.function.default_methods import no_backward
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.graph.edge import Edge
from vtgrad.graph.hooks import USERS_CODE, NodeHooks
from vtgrad.graph.input_metadata import InputMetadata
from vtgrad.graph.interrupted_write import UNFINISHED
from vtgrad.graph.next_edges import SAME_INPUTS
from vtgrad.graph.node import Node
from vtgrad.graph.operators import operators
from vtgrad.graph.region import Gradient
from vtgrad.graph.saved_variable import SavedVariable
from vtgrad.ops.rules.batches.values import levels_of
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.excluded_keys import run_excluding
from vtgrad.storage.key_set import NAMED, keys
from vtgrad.storage.on_device import impl_on
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_mode import thread
from vtgrad.tensor.saved_tensor import SavedTensor
from vtgrad.tensor.subclass_methods import shown_in
from vtgrad.tensor.tensor import Tensor

__all__ = ["BackwardCFunction", "UsersFunction"]

T = TypeVar("T")

# The metadata of a result that is not a tensor: it never has a gradient.
_NO_TENSOR = InputMetadata((), np.dtype(np.bool_))

# A node that the class was asked for, and not a call, belongs to a call without arguments.
_NO_INPUT = UnpackedInput((), 0)
_NO_FLAGS = InputFlags(False, (), (), ())


class UsersFunction(Protocol):
    """The part of a Function that its node uses."""

    backward: ClassVar[Callable[..., object]]
    vjp: ClassVar[Callable[..., object]]
    jvp: ClassVar[Callable[..., object]]
    clear_saved_tensors_on_access: ClassVar[bool]
    boxed_grads_call: ClassVar[bool]


class BackwardCFunction(Node, FunctionCtx):
    """The node of a call of a custom Function; each Function has a subclass ``<Name>Backward``.

    Attributes that forward has stored on the context can be read from the node, and vice versa;
    see Note [A context and its node]. The class itself is ``Function._backward_cls``.

    Parameters
    ----------
    context : FunctionCtx, optional
        The context of the call. Without one the node belongs to no call: it has no edges, and its
        `apply` runs the Function's backward on an empty context.

    Examples
    --------
    >>> class Twice(vt.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         return grad * 2
    >>> y = Twice.apply(vt.ones(2, requires_grad=True))
    >>> isinstance(y.grad_fn, Twice._backward_cls)
    True
    >>> y.grad_fn.apply(vt.ones(2))
    tensor([2., 2.])
    >>> Twice._backward_cls().apply(vt.ones(2))
    tensor([2., 2.])

    Note [Gradients that users' code sees]

    Backward of a Function may keep the gradients that it gets, and write to them, without
    effect on other values. So it gets an owned array, or a copy. It may also have kept the
    gradients that it returns, or they may belong to other code: so they are never owned, see
    Note [Ownership of gradients].
    """

    takes_ownership: ClassVar[bool] = True
    edge_rule: ClassVar[int] = SAME_INPUTS
    _forward_cls: ClassVar[type[UsersFunction]]
    # Whether backward reads `saved_tensors`; see Note [What backward reads].
    _reads_saved: ClassVar[bool] = False
    # Forward and its signature, once it was asked for.
    _signature: ClassVar[tuple[object, Signature, int] | None] = None

    _ctx: FunctionCtx

    def __init__(self, context: FunctionCtx | None = None) -> None:
        if context is None:
            context = FunctionCtx()
            context.needs_input_grad = ()
            context._call = Call(type(self), _NO_INPUT, _NO_FLAGS)
        call = context._call
        Node.__init__(self, call.edges)
        self._ctx = context
        self._call = call
        self.hooks: NodeHooks | None = USERS_CODE
        if call.results:
            self.state_results(call)
        call.lead_to(self)

    def state_results(self, call: Call) -> None:
        """Store shape and dtype of the call's results, once they are known."""
        stated = [_NO_TENSOR if m is None else m for m in call.results]
        self.input_metadata: tuple[InputMetadata, ...] = tuple(stated)

    def lead_to(self, edges: tuple[Edge | None, ...]) -> None:
        """Store checked edges, also for the node that a context makes anew."""
        super().lead_to(edges)
        self._call.edges = edges

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """The tensors that forward saved; see `FunctionCtx.saved_tensors`.

        Returns
        -------
        tuple of Tensor
            The tensors in the order of saving, None where None was saved.

        Raises
        ------
        GraphFreedError, StaleSavedError, SavedDetachedError, ViewInvalidError
            As `FunctionCtx.saved_tensors` does.
        """
        return self._ctx.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        """The saved tensors, as objects on which hooks can be registered."""
        return self._ctx._raw_saved_tensors

    if not TYPE_CHECKING:
        # Hidden from type checkers, which would accept every attribute because of it.

        def __getattr__(self, name: str) -> object:
            """Attributes of the context; see Note [A context and its node]."""
            if name == "saved_data":
                return self._ctx.saved_data
            if name == "_ctx" or name not in self._ctx.__dict__:
                raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
            return self._ctx.__dict__[name]

    def __repr__(self) -> str:
        return object.__repr__(self)

    def runs_users_code(self) -> bool:
        """True: running the node calls the Function's backward."""
        return True

    def check_saved(self) -> None:
        """Raise if backward cannot run.

        Raises
        ------
        MissingMethodError, FunctionError
            If there is no backward, or two of them.
        VtgradError
            As `Node.check_saved` does, if backward reads the saved tensors.
        """
        if self._backward() is no_backward:
            no_backward()
        if self._call.inputs:
            # See Note [Unfinished writes].
            UNFINISHED.check_saved()
        if self._reads_saved:
            self._call.check_saved(self)
        if self._call.audited:
            self._call.check_audited(self, self._ctx.__dict__)

    def saved_values(self) -> Sequence[tuple[str, SavedVariable]]:
        """The tensors that forward saved, as elements of `saved_tensors`."""
        saved = self._ctx._call.saved
        return [(f"saved_tensors[{nr}]", x) for nr, x in enumerate(saved) if x is not None]

    def release_variables(self) -> None:
        """Free the tensors that forward saved; attributes of the context stay."""
        self._call.release()

    def apply_owned(
        self, grad: Array, owned: bool, may_share: bool, needs: int
    ) -> tuple[Sequence[Gradient | None], Sequence[int]]:
        """Run backward on the gradient of the only result, which it may overwrite if `owned`."""
        device = self.input_metadata[0].device
        return self._answer_arrays(
            [operators().wrap(impl_on(grad, device)) if owned else own_copy(grad, device)]
        ), ()

    def apply_arrays(self, grads: Sequence[Array | None], needs: int) -> Sequence[Gradient | None]:
        """Run backward on copies of gradients."""
        return self._answer_arrays(
            [
                None if grad is None else own_copy(grad, meta.device)
                for grad, meta in zip(grads, self.input_metadata, strict=True)
            ]
        )

    def _answer_arrays(self, grads: list[TensorBase | None]) -> Sequence[Gradient | None]:
        answers: list[Gradient | None] = []
        shapes, edges = self._call.shapes, self.next_edges
        for nr, (index, answer) in enumerate(self._answers(grads)):
            if answer is None:
                answers.append(None)
            elif edges[nr] is None:
                answers.append(answer._impl.array)
            else:
                answers.append(fit_array(answer._impl.array, shapes[nr], self, index))
        return answers

    def apply_tensors(
        self, grads: Sequence[TensorBase | None], needs: int
    ) -> Sequence[TensorBase | None]:
        """Run backward, recorded."""
        clone = operators().clone
        # Clones, because backward may write to them and siblings may have the same tensors.
        shown = [None if grad is None else clone(grad) for grad in grads]
        shapes, edges = self._call.shapes, self.next_edges
        return [
            answer
            if answer is None or edges[nr] is None
            else fit_tensor(answer, shapes[nr], self, index)
            for nr, (index, answer) in enumerate(self._answers(shown))
        ]

    def apply(self, *grads: object) -> object:
        """Run the Function's backward on these arguments, and nothing else.

        Hooks do not run, nothing is accumulated, and what backward returns is not looked at.

        Parameters
        ----------
        *grads : Tensor or None
            What backward takes beside the context: one gradient for each result.

        Returns
        -------
        object
            What backward returns.

        Raises
        ------
        MissingMethodError, FunctionError
            If there is no backward, or two of them.

        Examples
        --------
        >>> class Cube(vt.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x**3
        ...
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         return grad * 3 * ctx.saved_tensors[0] ** 2
        >>> y = Cube.apply(vt.tensor(2.0, requires_grad=True))
        >>> with vt.no_grad():
        ...     y.grad_fn.apply(vt.tensor(1.0))
        tensor(12.)
        """
        return self._run(list(grads))

    def apply_boxed(self, grads: list[object]) -> object:
        """As `apply`, for a backward that takes all gradients in one list.

        Parameters
        ----------
        grads : list of Tensor or None
            The list, which backward may empty; see `Function.boxed_grads_call`.

        Returns
        -------
        object
            What backward returns.

        Raises
        ------
        MissingMethodError, FunctionError
            If there is no backward, or two of them.
        """
        return self._backward()(self._ctx, grads)

    def apply_jvp(self, *tangents: object) -> object:
        """Run the Function's ``jvp`` on these arguments.

        Parameters
        ----------
        *tangents : Tensor or None
            What ``jvp`` takes beside the context: one tangent for each argument.

        Returns
        -------
        object
            What ``jvp`` returns.

        Raises
        ------
        MissingMethodError
            If the Function has no ``jvp``.
        """
        return self._forward_cls.jvp(self._ctx, *tangents)

    def _run(self, grads: list[T]) -> object:
        """Call the user's function, which sees no names of dimensions."""
        if keys.active and not thread.excluded_keys & NAMED:
            return run_excluding(NAMED, self._run, grads)
        samples = self._call.samples
        if samples is None:
            return self._call_backward(grads)

        def of_one_sample() -> object:
            assert samples is not None
            returned = self._call_backward(samples.gradients_of_results(grads))
            answers = returned if isinstance(returned, tuple) else (returned,)
            return tuple(samples.gradients(answers))

        return samples.run_later(of_one_sample)

    def _call_backward(self, grads: Sequence[object]) -> object:
        backward = self._backward()
        if self._forward_cls.boxed_grads_call:
            return backward(self._ctx, list(grads))
        return backward(self._ctx, *grads)

    def _answers(self, grads: list[TensorBase | None]) -> Sequence[tuple[int, TensorBase | None]]:
        """For each edge, the index of its argument and the gradient that backward returns for it.

        An argument that requires no grad may have a gradient of any kind: it is not sent anywhere,
        but the node's hooks get it.
        """
        call = self._call
        if call.materializes:
            all_of_them = call.materializes_non_differentiable
            for nr, result in enumerate(call.results):
                if (
                    grads[nr] is None
                    and result is not None
                    and (all_of_them or call.differentiable[nr])
                ):
                    grads[nr] = operators().zeros(result.shape, result.dtype, result.device)
        given = [x for x in grads if x is not None] if keys.active else ()
        if call.gradient_classes:
            grads = [shown_in(cls, x) for cls, x in zip(call.gradient_classes, grads, strict=True)]
        returned = self._run(grads)
        answers = self._checked(
            tuple(
                [
                    # What a computation with 0-d arrays of `vtgrad.numpy` gives.
                    operators().wrap(TensorImpl(making.array(x)))
                    if isinstance(x, np.generic)
                    else x
                    for x in (returned if isinstance(returned, tuple) else (returned,))
                ]
            )
        )
        found = [
            (
                index,
                None
                if index < 0
                else answers[index]
                if edge is None
                else self._fitting(answers[index], nr, index),
            )
            for nr, (index, edge) in enumerate(
                zip(call.argument_indices, self.next_edges, strict=True)
            )
        ]
        if keys.active:
            self._refuse_captured([answer for _, answer in found if answer is not None], given)
        return found

    def _refuse_captured(self, answers: Sequence[TensorBase], given: Sequence[TensorBase]) -> None:
        """Raise if a gradient has samples that neither an argument nor a gradient has brought.

        Raises
        ------
        BatchedTensorError
            If one does, as the array of such a tensor is that of one sample.
        """
        known = {level for x in given for level in levels_of(x)}
        for answer in answers:
            if not known.issuperset(levels_of(answer)):
                raise BatchedTensorError(
                    f"backward of {self.name()} returned a gradient for each sample of a vmap, and "
                    "forward got no argument with these samples: pass the tensor that it uses as "
                    "an argument, so that all samples have one node"
                )

    def _backward(self) -> Callable[..., object]:
        """The user's function.

        Raises
        ------
        FunctionError
            If there are two of them.
        """
        function = self._forward_cls
        if function.vjp is no_backward:
            return function.backward
        if function.backward is not no_backward:
            raise FunctionError(
                f"{function.__name__} has both backward and vjp, which are two names of one "
                "method; define one of them",
                function=function.__name__,
            )
        return function.vjp

    def _checked(self, answers: tuple[object, ...]) -> Sequence[TensorBase | None]:
        """The gradients that backward returned, if they fit the arguments.

        Raises
        ------
        GradientError
            If there are too few or too many, or one is not a tensor, or its argument is not a
            tensor.
        """
        call, name = self._call, self.name()
        count = call.argument_count
        if len(answers) < count or any(answer is not None for answer in answers[count:]):
            raise GradientError(
                f"{name} returned {len(answers)} gradients for {count} arguments; return one for "
                "each, None for an argument that has none",
                node=name,
                expected=count,
                found=len(answers),
            )
        for nr, answer in enumerate(answers):
            if answer is None:
                continue
            if not isinstance(answer, TensorBase):
                raise GradientError(
                    f"{name} returned a {type(answer).__name__} for argument {nr}; gradients are "
                    "tensors, or None",
                    node=name,
                    index=nr,
                )
            if nr not in call.argument_indices:
                raise GradientError(
                    f"{name} returned a gradient for argument {nr}, which is no tensor; return "
                    "None for it",
                    node=name,
                    index=nr,
                )
        return cast("Sequence[TensorBase | None]", answers)

    def _fitting(self, answer: TensorBase | None, nr: int, index: int) -> TensorBase | None:
        """A gradient, if it can be cast to the dtype of its argument, on its device.

        As in PyTorch, a 0-d gradient is moved to the device.

        Raises
        ------
        GradientError
            If it is complex, and the argument is not.
        DeviceError
            If it is on another device.
        """
        if answer is not None:
            device, own = self._call.shapes[nr].device, answer._impl.device
            if own is not device and own != device:
                if answer._impl.array.ndim:
                    raise DeviceError(
                        f"{self.name()} returned a gradient on {own} for argument {index}, which "
                        f"is on {device}",
                        node=self.name(),
                        index=index,
                        expected=device,
                        found=own,
                    )
                answer = operators().move(answer, device)
            found, expected = answer._impl.array.dtype, self._call.shapes[nr].dtype
            if found.kind == "c" and expected.kind != "c":
                raise GradientError(
                    f"{self.name()} returned a {_name(found)} gradient for argument {index}, "
                    f"which is {_name(expected)}; take the real part",
                    node=self.name(),
                    index=index,
                    expected=dtype_of(expected),
                    found=dtype_of(found),
                )
        return answer


def _name(dtype: NumpyDType) -> str:
    return dtype_of(dtype).name
