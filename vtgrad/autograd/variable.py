"""`Variable`, as tensors that require grad were called once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from vtgrad.autograd.differentiate import Root, backward, grad
from vtgrad.autograd.multi_grad_hook import queue_callback
from vtgrad.errors import ArgumentTypeError, ArgumentValueError, GradientError
from vtgrad.storage.tensor_name import set_name
from vtgrad.storage.warn import warn
from vtgrad.tensor.creation import empty
from vtgrad.tensor.tensor import Tensor

__all__ = ["Variable"]


class ExecutionEngine:
    """What PyTorch's programs ask of `Variable._execution_engine`.

    Attributes
    ----------
    queue_callback : callable
        `vtgrad.autograd.graph.queue_callback`.
    """

    __slots__ = ()

    queue_callback: staticmethod[[Callable[[], object]], None] = staticmethod(queue_callback)

    @staticmethod
    def run_backward(
        tensors: Sequence[Root],
        grad_tensors: Sequence[Tensor],
        keep_graph: bool,
        create_graph: bool,
        inputs: Sequence[Root] = (),
        allow_unreachable: bool = False,
        accumulate_grad: bool = False,
    ) -> tuple[Tensor | None, ...] | None:
        """What `vtgrad.autograd.backward` and `grad` do, as PyTorch's functions call its engine.

        Parameters
        ----------
        tensors : sequence of Tensor or GradientEdge
            The roots.
        grad_tensors : sequence of Tensor
            The gradient of each root; none is implied.
        keep_graph : bool
            Keep saved values for another backward.
        create_graph : bool
            Record the backward itself.
        inputs : sequence of Tensor or GradientEdge, optional
            What to differentiate by.
        allow_unreachable : bool, default False
            Return None for an input that the roots do not depend on, instead of raising.
        accumulate_grad : bool, default False
            Add the gradients into ``.grad``, of all leaves or of `inputs`, and return nothing.

        Returns
        -------
        tuple of Tensor or None
            A gradient for each input; None with `accumulate_grad`.

        Raises
        ------
        GradientError
            If the gradient of a root is None, or does not fit.
        EmptyInputsError
            If there are no inputs, without `accumulate_grad`.
        UnusedInputError
            If an input is not reached and may not be.
        RootError, GradRequiredError, StaleSavedError, GraphFreedError, ArgumentTypeError
            As in `vtgrad.autograd.grad`.

        Examples
        --------
        >>> x = vt.tensor([1.0, 2.0], requires_grad=True)
        >>> run = vt.autograd.Variable._execution_engine.run_backward
        >>> run((x * x,), (vt.ones(2),), False, False, (x,))
        (tensor([2., 4.]),)
        """
        given: Sequence[object] = grad_tensors
        for nr, gradient in enumerate(given):
            if gradient is None:
                raise GradientError(f"the gradient of root {nr} is None", index=nr)
        if accumulate_grad:
            backward(tensors, grad_tensors, keep_graph, create_graph, inputs or None)
            return None
        return grad(
            tensors,
            inputs,
            grad_tensors,
            keep_graph,
            create_graph,
            allow_unused=allow_unreachable,
        )


class VariableMeta(type):
    """The metaclass of `Variable`: tensors are its instances, and calling it makes a `Tensor`."""

    def __instancecheck__(cls, instance: object) -> bool:
        """Whether the object is a tensor."""
        return isinstance(instance, Tensor)

    def __call__(
        cls,
        data: Tensor | None = None,
        requires_grad: bool = False,
        volatile: bool | None = None,
        _grad_fn: None = None,
        name: str | None = None,
    ) -> Tensor:
        """Make a leaf on the memory of a tensor."""
        if volatile:
            warn(
                "volatile has no effect any more; use `with vtgrad.no_grad():` for what is not to "
                "be recorded"
            )
        if volatile and requires_grad:
            raise ArgumentValueError("a Variable cannot be volatile and require grad")
        if _grad_fn is not None:
            raise ArgumentTypeError("a Variable is a leaf: it is not made with a _grad_fn")
        if name is not None and not isinstance(name, str):
            raise ArgumentTypeError(f"name is a string or None, not {type(name).__name__}")
        if not isinstance(requires_grad, int):
            raise ArgumentTypeError(
                f"requires_grad is True or False, not {type(requires_grad).__name__}"
            )
        if data is None:
            made = empty(0, requires_grad=bool(requires_grad))
            set_name(made, name)
            return made
        if not isinstance(data, Tensor):
            raise ArgumentTypeError(
                f"a Variable is made of a tensor, not of {type(data).__name__}; use vtgrad.tensor"
            )
        leaf = data.detach().requires_grad_(bool(requires_grad))
        set_name(leaf, name)
        return leaf


if TYPE_CHECKING:
    # Type checkers know no class whose instances are those of another one.
    class Variable(Tensor):
        """The old name of a tensor."""

        _execution_engine: ClassVar[ExecutionEngine]

        def __init__(
            self,
            data: Tensor | None = None,
            requires_grad: bool = False,
            volatile: bool | None = None,
            _grad_fn: None = None,
            name: str | None = None,
        ) -> None: ...

else:

    class Variable(metaclass=VariableMeta):
        """The old name of a tensor: every `Tensor` is an instance, and calling it makes a `Tensor`.

        Parameters
        ----------
        data : Tensor, optional
            The result is a leaf on its memory, with the same version. Without it the result is
            empty.
        requires_grad : bool, optional
            Whether the result requires grad; False by default, whatever `data` does.
        volatile : bool, optional
            Has no effect; there is a warning if it is true.
        name : str, optional
            The result's `Tensor.name`.

        Returns
        -------
        Tensor
            Shares the memory of `data`.

        Raises
        ------
        ArgumentTypeError
            If `data` is not a tensor, or `name` not a string.
        ArgumentValueError
            If both `volatile` and `requires_grad` are true.
        RequiresGradError
            If the result is to require grad and has a dtype of integers.

        Examples
        --------
        >>> x = vt.autograd.Variable(vt.ones(2), requires_grad=True)
        >>> x
        tensor([1., 1.], requires_grad=True)
        >>> isinstance(x, vt.autograd.Variable), type(x) is vt.Tensor
        (True, True)

        A program for PyTorch finds `vtgrad.autograd.graph.queue_callback` here:

        >>> engine = vt.autograd.Variable._execution_engine
        >>> handle = x.register_hook(lambda g: engine.queue_callback(lambda: print("end")))
        >>> x.sum().backward()
        end
        """

        _execution_engine = ExecutionEngine()
