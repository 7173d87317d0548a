"""Calling the ``jvp`` of a custom Function.

Note [The jvp of a Function]

Forward runs with forward mode off; after it, ``jvp`` is called once for each level at which an
argument has a tangent, from the lowest level to the highest. It sees tensors as operators do that
treat that level (Note [Levels]), and grad mode is on in it, so that a tangent can be differentiated
in reverse mode. What it returns belongs to the results:

- a new result gets the tangent, in memory of its own;
- a result that is a view of an argument, or the argument itself, has the view of the argument's
  tangent already, and ``jvp`` must return a view as well;
- an argument that forward has written has its tangent written by ``jvp``, in place; that it was
  written shows by its version.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vtgrad.errors import FunctionError, MissingMethodError
from vtgrad.function.default_methods import no_jvp
from vtgrad.function.results import version_of
from vtgrad.graph.operators import operators
from vtgrad.graph.set_history import meta_of, own_meta
from vtgrad.graph.thread_levels import NO_LIMIT, thread
from vtgrad.ops.rules.batches.values import innermost
from vtgrad.ops.rules.tangents.tangents import (
    as_tangent,
    forward_base_of,
    highest_level,
    share_memory,
    tangent_of,
    write_tangent,
    zero_tangent,
)
from vtgrad.storage.key_set import DUAL
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_state import changed, run_with
from vtgrad.storage.version_counter import INFERENCE
from vtgrad.views.differentiable_view_meta import view_meta_of

if TYPE_CHECKING:
    from vtgrad.function.callee import Callee
    from vtgrad.function.context import Call
    from vtgrad.function.function_ctx import FunctionCtx

__all__ = ["carry_tangents", "disown_tangents", "levels_of"]


def levels_of(function: type[Callee], args: Sequence[object]) -> tuple[int, ...]:
    """The levels at which arguments of a Function have tangents, from the lowest on.

    Raises
    ------
    MissingMethodError
        If there is one, and the Function has no ``jvp``.
    """
    found: list[int] = []
    if thread.excluded_keys & DUAL or thread.mode.inference:
        return ()
    limit = thread.forward_limit
    while (limit := highest_level([x for x in args if isinstance(x, TensorBase)], limit)) != 0:
        found.append(limit)
    if found and function.jvp is no_jvp:
        raise MissingMethodError(
            f"{function.__name__} got a tensor with a tangent, and has no jvp; give it one, or "
            "detach() the argument"
        )
    return tuple(reversed(found))


def carry_tangents(
    function: type[Callee],
    context: FunctionCtx,
    args: tuple[object, ...],
    results: Sequence[object],
    levels: Sequence[int],
) -> None:
    """Give the results of a call their tangents; see Note [The jvp of a Function].

    Raises
    ------
    FunctionError
        If ``jvp`` does not return what the results need.
    """
    call = context._call
    if call.saved_for_forward is None:
        call.saved_for_forward = ()
    mode = thread.mode.by_grad[True]
    for level in levels:
        settings = changed(mode=mode, forward_limit=level)
        run_with(settings, _carry, function, context, args, results, level)


def disown_tangents(
    call: Call, inputs: Sequence[TensorBase], versions: Sequence[int], levels: Sequence[int]
) -> None:
    """Give up the tangents of what forward has written in a call that failed.

    Reading one raises; see Note [A tangent follows its value].

    Parameters
    ----------
    inputs : sequence of TensorBase
        The tensors among the arguments.
    versions : sequence of int
        The version of each before forward.
    levels : sequence of int
        The levels at which arguments have tangents.
    """
    moved = [x for x, version in zip(inputs, versions, strict=True) if version_of(x) != version]
    for tensor in (*call.dirty, *moved):
        own_meta(forward_base_of(tensor)).own_fw_grad().unfinished.update(levels)


def _carry(
    function: type[Callee],
    context: FunctionCtx,
    args: tuple[object, ...],
    results: Sequence[object],
    level: int,
) -> None:
    call, name = context._call, function.__name__
    own = [tangent_of(x, level) if isinstance(x, TensorBase) else None for x in args]
    versions = [0 if t is None else version_of(innermost(t)) for t in own] if call.dirty else []
    given = [
        zero_tangent(x)
        if tangent is None and isinstance(x, TensorBase) and call.materializes
        else tangent
        for x, tangent in zip(args, own, strict=True)
    ]
    tangents = _tangents(function, context, given)
    if len(tangents) != len(results):
        raise FunctionError(
            f"the jvp of {name} returned {len(tangents)} tangents for {len(results)} results"
        )
    for nr, (result, tangent) in enumerate(zip(results, tangents, strict=True)):
        differentiable = (
            isinstance(result, TensorBase)
            and result._impl.array.dtype.kind in "fc"
            and all(result is not x for x in call.non_differentiable)
        )
        if tangent is not None and not isinstance(tangent, TensorBase):
            raise FunctionError(
                f"the jvp of {name} returned {type(tangent).__name__} as tangent {nr}; tangents "
                "are tensors or None"
            )
        if not differentiable:
            if tangent is not None:
                raise FunctionError(
                    f"the jvp of {name} returned a tangent for result {nr}, which has none: return "
                    "None there"
                )
            continue
        assert isinstance(result, TensorBase)
        if tangent is not None and all(tangent is not t for t in own):
            tangent = _without_own_level(tangent, level)
        if tangent is None:
            tangent = zero_tangent(result)
            assert tangent is not None
        if tangent._impl.array.shape != result._impl.array.shape:
            raise FunctionError(
                f"the jvp of {name} returned a tangent of shape {list(tangent._impl.array.shape)} "
                f"for result {nr}, of shape {list(result._impl.array.shape)}"
            )
        if tangent._impl.array.dtype.kind == "c" and result._impl.array.dtype.kind != "c":
            raise FunctionError(
                f"the jvp of {name} returned a complex tangent for result {nr}, which is real; "
                "return its real part if that is meant"
            )
        for x, present, version in zip(args, own, versions, strict=False):
            if present is tangent and any(x is y for y in call.dirty):
                if _is_unwritten(tangent, version):
                    raise _not_written(name, nr)
        _give(name, nr, call.dirty, args, own, result, tangent, level)


def _without_own_level(tangent: TensorBase, level: int) -> TensorBase:
    """A tangent that has no tangents of its own level or higher ones, as `func.jvp` may leave."""
    meta = meta_of(tangent)
    has_some = meta is not None and meta.fw_level(NO_LIMIT) >= level
    return operators().clone(tangent) if has_some else tangent


def _tangents(
    function: type[Callee], context: FunctionCtx, given: Sequence[object]
) -> Sequence[object]:
    """What ``jvp`` returns."""
    samples = context._call.samples
    if samples is None:
        returned = function.jvp(context, *given)
        return returned if isinstance(returned, tuple) else (returned,)

    def of_one_sample() -> Sequence[object]:
        assert samples is not None
        answer = function.jvp(context, *samples.of_values(given, samples.of_arguments))
        found = answer if isinstance(answer, tuple) else (answer,)
        return samples.tangents(found)

    return samples.run_later(of_one_sample)


def _give(
    name: str,
    nr: int,
    dirty: Sequence[TensorBase],
    args: Sequence[object],
    own: Sequence[TensorBase | None],
    result: TensorBase,
    tangent: TensorBase,
    level: int,
) -> None:
    """Give one result its tangent."""
    taken = {str(i): t for i, t in enumerate(own) if t is not None}
    written = next((x for x in dirty if x is result or _is_alias(result, x)), None)
    if written is not None:
        present = next((t for x, t in zip(args, own, strict=False) if x is written), None)
        if present is not None and tangent is not present:
            raise _not_written(name, nr)
        if present is None:
            write_tangent(written, tangent, level, taken)
        if result is not written:
            shared = tangent_of(written, level)
            assert shared is not None
            own_meta(result).set_fw_grad(shared, result, level, False)
        return
    if view_meta_of(result) is not None:
        # The tangents of the arguments of which it may be a view.
        bases = [
            t
            for x, t in zip(args, own, strict=True)
            if isinstance(x, TensorBase)
            and t is not None
            and x._impl._storage is result._impl._storage
        ]
        if bases:
            if all(t is tangent or not share_memory(t, tangent) for t in bases):
                raise FunctionError(
                    f"result {nr} of {name} is a view of an argument, so jvp must return the same "
                    "view of the argument's tangent, such as tangent.view_as(tangent)"
                )
            return
    view = view_meta_of(result)
    if view is not None:
        # Of a tensor that forward has made: its views follow it, not that tensor.
        view.be_forward_base()
    own_meta(result).set_fw_grad(as_tangent(tangent, result, taken), result, level, False)


def _is_unwritten(tangent: TensorBase, version: int) -> bool:
    """Whether the memory of a tangent, of all samples, has the version that it had before."""
    value = innermost(tangent)
    return value._impl.version_counter is not INFERENCE and version_of(value) == version


def _not_written(name: str, nr: int) -> FunctionError:
    return FunctionError(
        f"forward of {name} wrote to an argument and returned it as result {nr}, so jvp must write "
        "to the tangent of that argument, in place, and return it"
    )


def _is_alias(result: TensorBase, argument: TensorBase) -> bool:
    """Whether a result is a written argument, detached because nothing is recorded."""
    own, other = result._impl, argument._impl
    storage = own._storage
    return storage is not None and storage is other._storage and own.geometry == other.geometry
