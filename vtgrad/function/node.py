"""The node of a call of a custom Function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol, cast

import numpy as np

from ..engine.observers import own_copy
from ..engine.validate import fit_array, fit_tensor
from ..errors import FunctionError, GradientError
from ..graph.hooks import USERS_CODE, NodeHooks
from ..graph.input_metadata import InputMetadata
from ..graph.interrupted_write import UNFINISHED
from ..graph.node import Node
from ..graph.operators import operators
from ..graph.region import Gradient
from ..storage.arrays import Array, NumpyDType
from ..storage.dtypes import dtype_of
from ..storage.tensor_base import TensorBase
from ..storage.tensor_impl import TensorImpl
from ..tensor.saved_tensor import SavedTensor
from ..tensor.tensor import Tensor
from .context import Call, FunctionCtx
from .default_methods import no_backward

__all__ = ["BackwardCFunction", "UsersFunction"]

# The metadata of a result that is not a tensor: it never has a gradient.
_NO_TENSOR = InputMetadata((), np.dtype(np.bool_))


class UsersFunction(Protocol):
    """The part of a Function that its node uses."""

    backward: ClassVar[Callable[..., object]]
    vjp: ClassVar[Callable[..., object]]


class BackwardCFunction(Node):
    """The node of a call of a custom Function; each Function has a subclass ``<Name>Backward``.

    Attributes that forward has stored on the context can be read from the node, and vice versa;
    see Note [A context and its node].

    NOTE [ Gradients that users' code sees ]

    Backward of a Function may keep the gradients that it gets, and write to them, without
    effect on other values. So it gets an owned array, or a copy. It may also have kept the
    gradients that it returns, or they may belong to other code: so they are never owned, see
    Note [Ownership of gradients].
    """

    takes_ownership: ClassVar[bool] = True
    _forward_cls: ClassVar[type[UsersFunction]]
    # Whether backward reads `saved_tensors`; see Note [What backward reads].
    _reads_saved: ClassVar[bool] = False

    _ctx: FunctionCtx

    def own(self, context: FunctionCtx, call: Call) -> None:
        """Make this the node of a call."""
        self._ctx = context
        self.hooks: NodeHooks | None = USERS_CODE
        self.state_results(call)

    def state_results(self, call: Call) -> None:
        """Store shape and dtype of the call's results, once they are known."""
        stated = [_NO_TENSOR if m is None else m for m in call.results]
        self.input_metadata: tuple[InputMetadata, ...] = tuple(stated)

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

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """For each argument, whether it required grad.

        Returns
        -------
        tuple of bool
            As in the context.
        """
        return self._ctx.needs_input_grad

    if not TYPE_CHECKING:
        # Hidden from type checkers, which would accept every attribute because of it.

        def __getattr__(self, name: str) -> object:
            """Attributes of the context; see Note [A context and its node]."""
            if name == "_ctx" or name not in self._ctx.__dict__:
                raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
            return self._ctx.__dict__[name]

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
        if self._ctx._call.inputs:
            # See Note [Unfinished writes].
            UNFINISHED.check_saved()
        if self._reads_saved:
            self._ctx._call.check_saved(self)
        if self._ctx._call.audited:
            self._ctx._call.check_audited(self, self._ctx.__dict__)

    def release_variables(self) -> None:
        """Free the tensors that forward saved; attributes of the context stay."""
        self._ctx._call.release()

    def apply_owned(
        self, grad: Array, owned: bool, may_share: bool, needs: int
    ) -> tuple[Sequence[Gradient | None], Sequence[int]]:
        """Run backward on the gradient of the only result, which it may overwrite if `owned`."""
        shown = operators().wrap(TensorImpl(grad)) if owned else own_copy(grad)
        return self._answer_arrays((shown,)), ()

    def apply_arrays(self, grads: Sequence[Array | None], needs: int) -> Sequence[Gradient | None]:
        """Run backward on copies of gradients."""
        return self._answer_arrays([None if grad is None else own_copy(grad) for grad in grads])

    def _answer_arrays(self, grads: Sequence[TensorBase | None]) -> Sequence[Gradient | None]:
        answers: list[Gradient | None] = []
        shapes, edges = self._ctx._call.shapes, self.next_edges
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
        shapes, edges = self._ctx._call.shapes, self.next_edges
        return [
            answer
            if answer is None or edges[nr] is None
            else fit_tensor(answer, shapes[nr], self, index)
            for nr, (index, answer) in enumerate(self._answers(shown))
        ]

    def _answers(
        self, grads: Sequence[TensorBase | None]
    ) -> Sequence[tuple[int, TensorBase | None]]:
        """For each edge, the index of its argument and the gradient that backward returns for it.

        An argument that requires no grad may have a gradient of any kind: it is not sent anywhere,
        but the node's hooks get it.
        """
        context = self._ctx
        call = context._call
        if call.materializes:
            grads = [
                _zeros(result) if grad is None and result is not None else grad
                for grad, result in zip(grads, call.results, strict=True)
            ]
        returned = self._backward()(context, *grads)
        answers = self._checked(returned if isinstance(returned, tuple) else (returned,))
        return [
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
        call, name = self._ctx._call, self.name()
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
        """A gradient, if it can be cast to the dtype of its argument.

        Raises
        ------
        GradientError
            If it is complex, and the argument is not.
        """
        if answer is not None:
            found, expected = answer._impl.array.dtype, self._ctx._call.shapes[nr].dtype
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


def _zeros(result: InputMetadata) -> TensorBase:
    return operators().zeros(result.shape, result.dtype)


def _name(dtype: NumpyDType) -> str:
    return dtype_of(dtype).name
