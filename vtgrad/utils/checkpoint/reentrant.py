"""Checkpoints that run a backward inside of backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from vtgrad.engine.backward import backward as run_backward
from vtgrad.engine.current_graph_task import running
from vtgrad.errors import CheckpointError
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.function.results import with_tensors_for_numbers
from vtgrad.graph.recording import is_recording
from vtgrad.graph.set_history import own_meta, requires_grad
from vtgrad.ops.view_impls import views as view_impls
from vtgrad.storage.mode import mode_of
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_state import changed, run_with
from vtgrad.storage.warn import warn
from vtgrad.tensor.subclass_methods import made_of
from vtgrad.tensor.tensor import Tensor
from vtgrad.utils.checkpoint.digest import sum_of
from vtgrad.utils.checkpoint.named import NamesOfCall
from vtgrad.utils.checkpoint.rewound import is_rewound, rewound
from vtgrad.utils.checkpoint.rng import RandomState, kept_random_state

__all__ = ["CheckpointFunction", "run_reentrant"]

R = TypeVar("R")


class _Call:
    """A call of a function, to be run again.

    Attributes
    ----------
    sums : list of int
        CRC-32 sums of the tensors that the function returned at first.
    """

    __slots__ = ("_arguments", "_function", "_names", "_random", "_rewinds", "sums")

    sums: list[int]
    _function: Callable[..., object]
    # None in the place of a tensor.
    _arguments: Sequence[object]
    _names: NamesOfCall
    _random: RandomState | None
    _rewinds: bool

    def __init__(
        self,
        function: Callable[..., object],
        arguments: Sequence[object],
        random: RandomState | None,
        result: object,
    ) -> None:
        self._function = function
        self._arguments = [None if isinstance(x, TensorBase) else x for x in arguments]
        self._names = NamesOfCall(arguments)
        self._random = random
        self._rewinds = is_rewound()
        self.sums = _sums(_listed(result))

    def arguments(
        self, tensors: Sequence[TensorBase], indices: Sequence[int]
    ) -> tuple[list[object], dict[int, TensorBase]]:
        """The arguments for another run, and the leaves among them."""
        arguments, leaves = list(self._arguments), dict[int, TensorBase]()
        for nr, tensor in zip(indices, tensors, strict=True):
            arguments[nr] = leaf = made_of(type(tensor), view_impls.alias(tensor._impl))
            leaf._impl.set_names(self._names.of(nr))
            if requires_grad(tensor):
                own_meta(leaf).requires_grad_ = True
                leaves[nr] = leaf
        return arguments, leaves

    def run(self, arguments: Sequence[object]) -> Sequence[object]:
        """Run the function again, recorded.

        Raises
        ------
        CheckpointError
            If it does not return what it returned at first.
        """
        recording = changed(mode=mode_of(grad=True, inference=False))
        with kept_random_state(self._random is not None), rewound(self._rewinds):
            if self._random is not None:
                self._random.enter()
            results = _listed(run_with(recording, self._names.run, self._function, *arguments))
        if _sums(results) != self.sums:
            raise CheckpointError(
                "the function of a checkpoint with use_reentrant=True did not return the same when "
                "it ran again: a tensor or variable that it uses was changed since, or it depends "
                "on random numbers of another generator, or on how often it runs",
                function=self._function,
            )
        return results


def _listed(result: object) -> Sequence[object]:
    return result if isinstance(result, tuple) else (result,)


def _sums(results: Sequence[object]) -> list[int]:
    return [sum_of(x._impl.array) for x in results if isinstance(x, TensorBase)]


class CheckpointCtx(FunctionCtx):
    """The context of `CheckpointFunction`, for type checkers."""

    call: _Call
    indices: list[int]


class CheckpointFunction(Function):
    """The custom Function behind ``checkpoint(..., use_reentrant=True)``.

    Its forward runs the function without recording. Its backward runs the function again, recorded,
    on detached copies of the arguments, and runs a backward through that, which adds to the
    ``.grad`` of the parameters that the function uses.

    Examples
    --------
    >>> x = vt.ones(2, requires_grad=True)
    >>> y = vt.utils.checkpoint.checkpoint(vt.exp, x, use_reentrant=True)
    >>> y.grad_fn.name()
    'CheckpointFunctionBackward'
    """

    @staticmethod
    def forward(
        ctx: CheckpointCtx,
        /,
        run_function: Callable[..., object],
        preserve_rng_state: bool,
        *args: object,
    ) -> object:
        """Run the function.

        Parameters
        ----------
        run_function : callable
            The function.
        preserve_rng_state : bool
            Whether backward draws the same random numbers.
        *args : object
            The arguments of the function.

        Returns
        -------
        object
            What the function returns.
        """
        ctx.indices = [nr for nr, x in enumerate(args) if isinstance(x, TensorBase)]
        inputs = [x for x in args if isinstance(x, Tensor)]
        ctx.save_for_backward(*inputs)
        random = RandomState.now() if preserve_rng_state else None
        result = with_tensors_for_numbers(run_function(*args), inputs)
        ctx.call = _Call(run_function, args, random, result)
        return result

    @staticmethod
    def backward(ctx: CheckpointCtx, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Run the function again, and backward through it.

        Parameters
        ----------
        *grads : Tensor
            The gradients of the results.

        Returns
        -------
        tuple of Tensor or None
            Those of the arguments.

        Raises
        ------
        CheckpointError
            If the pass is one to given inputs, or the function does not do the same again.
        """
        task = running.task
        if task is not None and task.runs is not None:
            raise CheckpointError(
                "a checkpoint with use_reentrant=True fills the .grad of the parameters that its "
                "function uses, so it cannot be a part of grad() or backward(inputs=...); pass "
                "use_reentrant=False"
            )
        arguments, leaves = ctx.call.arguments(ctx.saved_tensors, ctx.indices)
        results = ctx.call.run(arguments)
        roots: list[TensorBase] = []
        incoming: list[TensorBase] = []
        for result, grad in zip(results, grads, strict=True):
            if isinstance(result, TensorBase) and requires_grad(result):
                roots.append(result)
                incoming.append(grad)
        if not roots:
            raise CheckpointError(
                "no result of a checkpoint with use_reentrant=True requires grad when its function "
                "runs again, so nothing can be differentiated"
            )
        run_backward(roots, incoming)
        answers: list[Tensor | None] = [None] * len(arguments)
        for nr, leaf in leaves.items():
            meta = own_meta(leaf)
            if meta.cell is not None and meta.cell.grad is not None:
                answers[nr] = cast("Tensor", meta.cell.grad)
        return None, None, *answers


def run_reentrant(
    function: Callable[..., R], args: Sequence[object], preserve_rng_state: bool
) -> R:
    """Call a function by `CheckpointFunction`."""
    if is_recording() and not requires_grad(*args):
        warn(
            "no argument of a checkpoint with use_reentrant=True is a tensor that requires grad, "
            "so its results have no gradient, not even for parameters that the function uses"
        )
    return cast("R", CheckpointFunction.apply(function, preserve_rng_state, *args))
