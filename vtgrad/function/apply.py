"""Calling a custom Function, step by step: `apply` and below it its steps in their order."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Final, ParamSpec, Protocol, TypeVar, overload

from vtgrad.errors import ArgumentTypeError
from vtgrad.function.batched_apply import apply_batched, level_of
from vtgrad.function.context import Call, InputFlags, UnpackedInput
from vtgrad.function.default_methods import no_setup_context
from vtgrad.function.forward_mode import carry_tangents, disown_tangents, levels_of
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.function.node import BackwardCFunction
from vtgrad.function.results import (
    check_results,
    check_undeclared_writes,
    disown_written,
    version_of,
    with_tensors_for_numbers,
    wrap_outputs,
)
from vtgrad.function.samples import Samples
from vtgrad.graph.audit import audit
from vtgrad.graph.observer import FUNCTION, NO_SEQUENCE_NR, Observer, observer_of_thread, observers
from vtgrad.graph.recording import is_recording
from vtgrad.graph.set_history import collect_next_edges
from vtgrad.graph.thread_levels import settle
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.graph.tracer import current_tracer, thread
from vtgrad.ops.calling.take_over import keys_of
from vtgrad.storage.key_set import BATCHED, DUAL, TRACED, keys
from vtgrad.storage.mode import switched
from vtgrad.storage.tensor_base import TensorBase

if TYPE_CHECKING:
    from vtgrad.function.callee import Callee

__all__ = ["Apply", "apply"]

P = ParamSpec("P")
Context_contra = TypeVar("Context_contra", bound=FunctionCtx, contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)

_NO_OPTIONS: Final[dict[str, object]] = {}
_WITH_POSITION: Final = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)
_WITHOUT_POSITION: Final = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)


class TakesContext(Protocol[Context_contra, P, Result_co]):
    """A Function whose forward takes the context."""

    @staticmethod
    def forward(ctx: Context_contra, /, *args: P.args, **kwargs: P.kwargs) -> Result_co:
        """Compute the results."""
        ...


class TakesNoContext(Protocol[P, Result_co]):
    """A Function whose forward takes only the arguments, beside a ``setup_context``."""

    @staticmethod
    def forward(*args: P.args, **kwargs: P.kwargs) -> Result_co:
        """Compute the results."""
        ...


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
        themselves get gradients, not those inside lists or other containers. What forward takes
        by keyword only has no gradient; ``setup_context`` and ``vmap`` get it by keyword, too.

    Returns
    -------
    object
        The results of forward, tensors as results of a node ``<Name>Backward``; see Note
        [Results of a custom Function].

    Raises
    ------
    ArgumentTypeError
        If the arguments do not fit the signature of forward, or a tensor that may need a derivative
        is passed for what forward takes by keyword only.
    MissingMethodError
        If there is no forward.
    FunctionError
        If forward has declared writes that cannot be recorded.
    UndeclaredWriteError
        If forward has written to an argument that requires grad without declaring it.
    """
    splits = function.setup_context is not no_setup_context
    options = _NO_OPTIONS
    # With all arguments in their positions there is nothing to find.
    if kwargs or (splits and len(args) != _signature_of(function)[1]):
        args, options = _bound(function, args, kwargs, splits)
    level = level_of(args) if keys.active else None
    if level is None:
        return _apply(function, args, options, splits, None)
    return apply_batched(
        function,
        args,
        options,
        level,
        lambda values, samples: _apply(function, values, options, splits, samples),
    )


def _apply(
    function: type[Callee],
    args: tuple[object, ...],
    options: Mapping[str, object],
    splits: bool,
    samples: Samples | None,
) -> object:
    """`apply` with tensors that stand for themselves, for the whole batch if there are samples."""
    levels = levels_of(function, args) if keys.modes else ()
    tracer = current_tracer() if keys.modes else None
    unpacked, flags = unpack_input(args)
    context = function._ctx_cls()
    context.needs_input_grad = flags.needs_input_grad
    context._call = call = Call(function._backward_cls, unpacked, flags)
    call.samples = samples
    node: BackwardCFunction | None = None
    versions: list[int] = []
    if flags.is_executable:
        node = function._backward_cls(context)
    if flags.is_executable or levels:
        versions = [version_of(x) for x in unpacked.input_vars]
    observer = observer_of_thread() if observers else None
    event = None if observer is None else _begin(observer, function, node, args)
    try:
        returned = forward_without_grad(function, context, args, options, splits)
        given = process_outputs(context, returned, node, versions)
        if tracer is not None:
            results = given if isinstance(given, tuple) else (given,)
            tracer.called(unpacked.input_vars, [x for x in results if isinstance(x, TensorBase)])
        if levels:
            results = given if isinstance(given, tuple) else (given,)
            carry_tangents(function, context, args, results, levels)
        call.is_over()
    except BaseException:
        if flags.is_executable:
            disown_written(call, unpacked.input_vars, versions)
        if levels:
            disown_tangents(call, unpacked.input_vars, versions, levels)
        # Results are there already if saving has failed, and would make a cycle with these.
        call.is_over()
        if observer is not None:
            observer.end(event)
        raise
    if observer is not None:
        observer.end(event, given if isinstance(given, tuple) else (given,))
    return given


def unpack_input(args: tuple[object, ...]) -> tuple[UnpackedInput, InputFlags]:
    """The tensors among the arguments of a call, and what is known of all of them."""
    inputs: list[TensorBase] = []
    needs: list[bool] = []
    are_tensors: list[bool] = []
    for argument in args:
        needed = False
        if isinstance(argument, TensorBase):
            inputs.append(argument)
            are_tensors.append(True)
            meta = argument._impl.autograd_meta
            needed = meta is not None and meta.needs_gradient()
        else:
            are_tensors.append(False)
        needs.append(needed)
    records = True in needs and is_recording()
    edges = collect_next_edges(*inputs) if records else ()
    return (
        UnpackedInput(tuple(inputs), len(args)),
        InputFlags(records, tuple(needs), tuple(are_tensors), edges),
    )


def forward_without_grad(
    function: type[Callee],
    context: FunctionCtx,
    args: tuple[object, ...],
    options: Mapping[str, object],
    splits: bool,
) -> object:
    """What forward returns; nothing that it does is recorded.

    Parameters
    ----------
    options : mapping of str to object
        What forward takes by keyword only.
    splits : bool
        Whether forward takes no context, and ``setup_context`` follows.
    """
    before, excluded, ident = thread.mode.grad, thread.excluded_keys, thread.ident
    tracer = thread.tracer
    opaque = tracer is not None and tracer.opaque
    try:
        thread.mode = switched.silent[ident] = thread.mode.by_grad[False]
        # Forward may make the first tangent at an open level.
        if keys.modes or keys.levels:
            thread.excluded_keys = excluded | DUAL
            if tracer is not None:
                tracer.opaque = True
        samples = context._call.samples
        if samples is not None:
            args = tuple(samples.of_values(args, samples.of_arguments))
        inputs = context._call.inputs
        if not splits:
            returned = function.forward(context, *args, **options)
            returned = with_tensors_for_numbers(returned, inputs)
        else:
            returned = with_tensors_for_numbers(function.forward(*args, **options), inputs)
            function.setup_context(context, args, returned, **options)
        return returned if samples is None else _values_of_results(context._call, returned)
    finally:
        thread.excluded_keys = excluded
        if tracer is not None:
            tracer.opaque = opaque
        thread.mode = switched.silent[ident] = thread.mode.by_grad[before]
        settle(ident)


def _values_of_results(call: Call, returned: object) -> object:
    """What forward returned for all samples, from what it returned for one."""
    results = returned if isinstance(returned, tuple) else (returned,)
    assert call.samples is not None
    values = call.samples.values_of_results(results)
    # Results that were expanded are what is saved of them, too, and what is marked.
    expanded = call.samples.expanded_results
    call.samples.of_saved = tuple(
        [
            call.samples.all if id(x) in expanded else at
            for x, at in zip(call.to_save, call.samples.of_saved, strict=True)
        ]
    )
    call.to_save = tuple([x if x is None else expanded.get(id(x), x) for x in call.to_save])
    call.non_differentiable = tuple([expanded.get(id(x), x) for x in call.non_differentiable])
    # Not needed any more, and they would keep the arguments alive.
    call.samples.arguments = ()
    call.samples.expanded_results = {}
    return tuple(values) if isinstance(returned, tuple) else values[0]


def process_outputs(
    context: FunctionCtx,
    returned: object,
    node: BackwardCFunction | None,
    versions: Sequence[int],
) -> object:
    """Make what forward returned a part of the graph, and save what backward needs.

    Parameters
    ----------
    node : BackwardCFunction or None
        None if nothing is recorded.
    versions : sequence of int
        The version of each tensor among the arguments before forward; none if `node` is None and no
        argument has a tangent.

    Returns
    -------
    object
        The results for the caller.

    Raises
    ------
    FunctionError, UndeclaredWriteError
        As `apply` does.
    """
    call = context._call
    results = returned if isinstance(returned, tuple) else (returned,)
    check_results(call, results)
    if versions:
        check_undeclared_writes(call, versions)
    given, numbers = wrap_outputs(call, results, node)
    if node is not None:
        save_variables(context, numbers)
    return tuple(given) if isinstance(returned, tuple) else given[0]


def save_variables(context: FunctionCtx, results: dict[int, int]) -> None:
    """Save the tensors that forward passed to `FunctionCtx.save_for_backward`.

    Parameters
    ----------
    results : dict of int to int
        The number of each result by the identity of its tensor.
    """
    call = context._call
    call.save_variables(results)
    if audit.enabled:
        call.audit(context.__dict__)


def _signature_of(function: type[Callee]) -> tuple[inspect.Signature, int]:
    """The signature of forward, which takes longer to find than all else that `apply` does.

    With it how many arguments it takes, if all have a position, else -1.
    """
    nodes, forward = function._backward_cls, function.forward
    known = nodes._signature
    if known is None or known[0] != forward:
        signature = inspect.signature(forward)
        kinds = [parameter.kind for parameter in signature.parameters.values()]
        count = len(kinds) if all(kind in _WITH_POSITION for kind in kinds) else -1
        # One store, because several threads may call the Function.
        nodes._signature = known = forward, signature, count
    return known[1:]


def _begin(
    observer: Observer,
    function: type[Callee],
    node: BackwardCFunction | None,
    args: tuple[object, ...],
) -> object:
    """The event of a call, with the number of its node, or that of the next one."""
    number = NO_SEQUENCE_NR
    if node is not None:
        number = node.sequence_nr
    elif is_recording():
        number = this_thread.numbering.next_nr
    inputs = args if observer.needs_inputs else ()
    return observer.begin(function.__name__, FUNCTION, number, 0, inputs, function._backward_cls)


def _bound(
    function: type[Callee], args: tuple[object, ...], kwargs: dict[str, object], splits: bool
) -> tuple[tuple[object, ...], dict[str, object]]:
    """All arguments that have a position as positional ones, and those without.

    Raises
    ------
    ArgumentTypeError
        If they do not fit the signature of forward, or one without a position is a tensor that may
        need a derivative.
    """
    signature, _ = _signature_of(function)
    name = function.__name__
    # The context is the first argument of forward, but not of `apply`.
    given = args if splits else (None, *args)
    try:
        bound = signature.bind(*given, **kwargs)
    except TypeError as error:
        raise ArgumentTypeError(f"{name}.apply: {error}") from None
    passed = set(bound.arguments)
    # Until here, what follows an argument that is left out counts as passed by keyword.
    bound.apply_defaults()
    options = {key: kwargs[key] for key in kwargs if key in bound.kwargs}
    for key, value in options.items():
        if isinstance(value, TensorBase) and _may_need_derivative(value):
            raise ArgumentTypeError(
                f"{name}.apply: forward takes {key!r} by keyword only; derivatives belong to "
                "arguments with a position, so pass a detached tensor or give it a position"
            )
    if splits:
        return bound.args, options
    # As in a call without keywords, defaults after the last passed argument do not count.
    count = len(args) + len(kwargs) - len(options)
    for nr, parameter in enumerate(signature.parameters.values()):
        if parameter.name in passed and parameter.kind not in _WITHOUT_POSITION:
            count = max(count, nr)
    return bound.args[1 : count + 1], options


def _may_need_derivative(tensor: TensorBase) -> bool:
    meta = tensor._impl.autograd_meta
    requires_grad = meta is not None and meta.needs_gradient()
    return requires_grad or bool(keys.active and keys_of(tensor) & (BATCHED | DUAL | TRACED))
