"""Calling a custom Function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import MethodType
from typing import ClassVar, ParamSpec, Protocol, TypeVar, overload

from ..errors import ArgumentTypeError
from ..graph.audit import audit
from ..graph.input_metadata import metadata_of
from ..graph.observer import FUNCTION, NO_SEQUENCE_NR, Observer, observer_of_thread, observers
from ..graph.recording import is_recording
from ..graph.set_history import collect_next_edges
from ..graph.thread_local_state import this_thread
from ..storage.mode import switched
from ..storage.tensor_base import TensorBase
from ..storage.thread_mode import settle, thread
from .context import Call, FunctionCtx
from .default_methods import no_setup_context
from .node import BackwardCFunction
from .results import (
    check_results,
    check_undeclared_writes,
    disown_written,
    record_results,
    version_of,
)

__all__ = ["Apply"]

P = ParamSpec("P")
Context_contra = TypeVar("Context_contra", bound=FunctionCtx, contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)


class TakesContext(Protocol[Context_contra, P, Result_co]):
    """A Function whose forward takes the context."""

    @staticmethod
    def forward(ctx: Context_contra, /, *args: P.args, **kwargs: P.kwargs) -> Result_co:
        """Compute the results."""


class TakesNoContext(Protocol[P, Result_co]):
    """A Function whose forward takes only the arguments, beside a ``setup_context``."""

    @staticmethod
    def forward(*args: P.args, **kwargs: P.kwargs) -> Result_co:
        """Compute the results."""


class Callee(Protocol):
    """The part of a Function that `apply` uses."""

    forward: ClassVar[Callable[..., object]]
    setup_context: ClassVar[Callable[..., object]]
    _backward_cls: type[BackwardCFunction]


class Apply:
    """``Function.apply``: a class method whose type is that of forward, without the context."""

    @overload
    def __get__(
        self, instance: object, owner: type[TakesContext[Context_contra, P, Result_co]]
    ) -> Callable[P, Result_co]: ...
    @overload
    def __get__(
        self, instance: object, owner: type[TakesNoContext[P, Result_co]]
    ) -> Callable[P, Result_co]: ...
    def __get__(self, instance: object, owner: object) -> object:
        """The method of one Function."""
        return MethodType(apply, owner)


def apply(function: type[Callee], /, *args: object, **kwargs: object) -> object:
    """Call a Function: run its forward, and make it a part of the graph.

    Parameters
    ----------
    *args, **kwargs : object
        The arguments of forward, without the context. Only tensors that are arguments
        themselves get gradients, not those inside lists or other containers.

    Returns
    -------
    object
        The results of forward, tensors as results of a node ``<Name>Backward``; see Note
        [Results of a custom Function].

    Raises
    ------
    MissingMethodError
        If there is no forward.
    FunctionError
        If forward has declared writes that cannot be recorded.
    UndeclaredWriteError
        If forward has written to an argument that requires grad without declaring it.
    """
    splits = function.setup_context is not no_setup_context
    if splits or kwargs:
        args = _bound(function, args, kwargs, splits)
    inputs: list[TensorBase] = []
    indices: list[int] = []
    needs: list[bool] = []
    for index, argument in enumerate(args):
        needed = False
        if isinstance(argument, TensorBase):
            inputs.append(argument)
            indices.append(index)
            meta = argument._impl.autograd_meta
            needed = meta is not None and meta.requires_grad()
        needs.append(needed)
    records = True in needs and is_recording()
    context = FunctionCtx()
    context.needs_input_grad = tuple(needs)
    call = Call(function._backward_cls, tuple(inputs), tuple(indices), len(args), records)
    context._call = call
    node: BackwardCFunction | None = None
    versions: list[int] = []
    if records:
        call.edges = collect_next_edges(*inputs)
        call.shapes = tuple([metadata_of(x._impl)[0] for x in inputs])
        node = call.node_of(context)
        versions = [version_of(x) for x in inputs]
    observer = observer_of_thread() if observers else None
    event = None if observer is None else _begin(observer, function.__name__, node, args)
    before, ident = thread.mode.grad, thread.ident
    try:
        try:
            thread.mode = switched.silent[ident] = thread.mode.by_grad[False]
            if splits:
                returned = function.forward(*args)
                function.setup_context(context, args, returned)
            else:
                returned = function.forward(context, *args)
        finally:
            thread.mode = switched.silent[ident] = thread.mode.by_grad[before]
            settle(ident)
        results = returned if isinstance(returned, tuple) else (returned,)
        check_results(call, results)
        if records:
            check_undeclared_writes(call, versions)
        given, numbers = record_results(call, results, node)
        if records:
            call.save(numbers)
            if audit.enabled:
                call.audit(context.__dict__)
        call.is_over()
    except BaseException:
        if records:
            disown_written(call, inputs, versions)
        if observer is not None:
            observer.end(event)
        raise
    if observer is not None:
        observer.end(event, given)
    return tuple(given) if isinstance(returned, tuple) else given[0]


def _begin(
    observer: Observer, name: str, node: BackwardCFunction | None, args: tuple[object, ...]
) -> object:
    """The event of a call, with the number of its node, or that of the next one."""
    number = NO_SEQUENCE_NR
    if node is not None:
        number = node.sequence_nr
    elif is_recording():
        number = this_thread.numbering.next_nr
    return observer.begin(name, FUNCTION, number, 0, args if observer.needs_inputs else ())


def _bound(
    function: type[Callee], args: tuple[object, ...], kwargs: dict[str, object], splits: bool
) -> tuple[object, ...]:
    """All arguments as positional ones.

    Raises
    ------
    ArgumentTypeError
        If they do not fit the signature of forward, or one can be given by keyword only.
    """
    signature = inspect.signature(function.forward)
    name = function.__name__
    # The context is the first argument of forward, but not of `apply`.
    given = args if splits else (None, *args)
    try:
        bound = signature.bind(*given, **kwargs)
    except TypeError as error:
        raise ArgumentTypeError(f"{name}.apply: {error}") from None
    passed = set(bound.arguments)
    bound.apply_defaults()
    if by_keyword := sorted(kwargs.keys() & bound.kwargs.keys()):
        raise ArgumentTypeError(
            f"{name}.apply: forward takes {by_keyword} by keyword only; arguments of a Function "
            "have a position, which is that of their gradient"
        )
    if splits:
        return bound.args
    # As in a call without keywords, defaults after the last passed argument do not count.
    count = len(args) + len(kwargs)
    for nr, parameter in enumerate(signature.parameters):
        if parameter in passed:
            count = max(count, nr)
    return bound.args[1 : count + 1]
