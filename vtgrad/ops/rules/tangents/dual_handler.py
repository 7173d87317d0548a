"""Operators that are called with a dual tensor, one that has a tangent.

Note [A tangent follows its value]

An operator computes its value as without tangents, and then the tangent by the forward formula of
the tables (Note [Levels] says which tangents both see). Tangents are ordinary tensors: if recording
is on, their arithmetic is recorded.

A new result gets a tangent in memory of its own, with its strides. A view needs nothing: its
tangent is the view of its base's tangent, made when it is asked for. A write also writes the
tangent, in place; if there is none yet, the base of what is written gets zeros first. What is
overwritten with a constant has the tangent zero from then on.

The formula of a write is evaluated before the write, so that it reads the old values, and so that
nothing has changed if it raises; a result that it needs is computed on a copy. If it is recorded,
it reads copies of what the write will change, so that the tangent can be differentiated. If the
value was stored, and its tangent was not, because of an interrupt, the tensor is marked as
unfinished: its tangent cannot be read any more.

What overlaps itself can be filled with one value while nothing is recorded. A tangent of its shape
could then have several values for one location, so the same elements of its tangent are filled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from vtgrad.errors import NotSupportedError
from vtgrad.graph.recording import is_recording
from vtgrad.graph.set_history import own_meta, requires_grad
from vtgrad.graph.thread_levels import thread
from vtgrad.ops.generated import functional as F
from vtgrad.ops.operator import Operator, Tangent
from vtgrad.ops.rules.batches.values import overlaps_itself
from vtgrad.ops.rules.tangents.functions_of import functions_of
from vtgrad.ops.rules.tangents.over_arrays import Given, stored_over_arrays, tangent_over_arrays
from vtgrad.ops.rules.tangents.tangents import (
    as_tangent,
    forward_base_of,
    highest_level,
    tangent_of,
    tensors_of,
    write_tangent,
    zero_tangent,
    zeros_for,
)
from vtgrad.storage.inference_tensors import refuse_outside_inference_mode
from vtgrad.storage.key_set import DUAL
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.version_counter import INFERENCE
from vtgrad.views.check_inplace import check_base, check_inplace, check_memory

__all__ = ["handle_dual"]

T = TypeVar("T")


def handle_dual(
    operator: Operator,
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    /,
) -> object:
    """Call an operator, and give its results their tangents.

    Raises
    ------
    NotSupportedError
        If the operator has no forward formula, or is given ``out``.
    """
    rule, spoken = operator.tangent, operator.spoken
    if rule is None or rule.kind == "refused":
        raise NotSupportedError(
            f"{spoken} has no forward formula, and got a tensor with a tangent; detach() drops "
            "the tangent where the derivative is not wanted",
            operator=spoken,
        )
    if kwargs.get("out") is not None:
        raise NotSupportedError(
            f"{spoken} with out= does not carry tangents; call it without out= and copy the "
            "result with copy_",
            operator=spoken,
        )
    if rule.kind == "view":
        if operator.changes_geometry:
            return _change_geometry(function, args, kwargs)
        return _without_tangents(function, args, kwargs)
    if rule.kind == "none" and not operator.writes:
        return _without_tangents(function, args, kwargs)
    arguments = {**dict(zip(operator.positional, args, strict=False)), **kwargs}
    before = thread.forward_limit
    level = highest_level(arguments.values(), before)
    try:
        thread.forward_limit = level
        given = _tangents_of_arguments(rule, arguments, level)
        if operator.writes:
            return _write(operator, rule, function, args, kwargs, arguments, given, level)
        result = function(*args, **kwargs)
        if given:
            _attach(operator, rule, arguments, given, result, level)
        return result
    finally:
        thread.forward_limit = before


def _without_tangents(
    function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> object:
    before = thread.excluded_keys
    try:
        thread.excluded_keys = before | DUAL
        return function(*args, **kwargs)
    finally:
        thread.excluded_keys = before


def _change_geometry(
    function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> object:
    """Give a tensor and each of its tangents another geometry."""
    target, *others = args
    assert isinstance(target, TensorBase)
    tangents: list[TensorBase] = []
    limit = thread.forward_limit
    while (limit := highest_level((target,), limit)) != 0:
        tangent = tangent_of(target, limit)
        if tangent is not None:
            _check_tangent(tangent, None)
            tangents.append(tangent)
    # If the second call fails, each tangent is placed as its tensor when it is read.
    result = _without_tangents(function, args, kwargs)
    for tangent in tangents:
        function(tangent, *others, **kwargs)
    return result


def _tangents_of_arguments(
    rule: Tangent, arguments: Mapping[str, object], level: int
) -> dict[str, Given]:
    """The tangents of those arguments of a formula that have one."""
    found: dict[str, Given] = {}
    for name in rule.differentiable:
        value = arguments.get(name)
        if isinstance(value, TensorBase):
            tangent = tangent_of(value, level)
            if tangent is not None:
                found[name] = tangent
        elif isinstance(value, Sequence) and not isinstance(value, str):
            tangents = [
                tangent_of(part, level) if isinstance(part, TensorBase) else None for part in value
            ]
            if any(tangent is not None for tangent in tangents):
                found[name] = tangents
    return found


def _attach(
    operator: Operator,
    rule: Tangent,
    arguments: Mapping[str, object],
    given: Mapping[str, Given],
    result: object,
    level: int,
) -> None:
    """Give new results their tangents."""
    results = result if isinstance(result, tuple) else (result,)
    if rule.kind == "zero":
        tangents: Sequence[object] = [zero_tangent(one) for one in tensors_of(results)]
    else:
        answer = _tangent(operator, arguments, given, result)
        if answer is None and isinstance(result, TensorBase):
            answer = zero_tangent(result)  # as of norm(0), which the argument does not change
        tangents = answer if isinstance(answer, tuple) else (answer,)
    operands = list(tensors_of(arguments.values()))
    for one, tangent in zip(results, tangents, strict=True):
        # What returns its argument returns the argument's tangent.
        if (
            isinstance(tangent, TensorBase)
            and isinstance(one, TensorBase)
            and one._impl.array.dtype.kind in "fc"
            and all(one is not operand for operand in operands)
        ):
            own_meta(one).set_fw_grad(as_tangent(tangent, one, given), one, level, False)


def _tangent(
    operator: Operator,
    arguments: Mapping[str, object],
    given: Mapping[str, Given],
    result: object,
) -> object:
    """What the formula gives."""
    formula, over_arrays, _ = functions_of(operator)
    assert formula is not None
    found = tangent_over_arrays(over_arrays, arguments, given, result)
    return formula(arguments, given, result) if found is None else found


def _write(
    operator: Operator,
    rule: Tangent,
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    arguments: dict[str, object],
    given: Mapping[str, Given],
    level: int,
) -> object:
    """Write a value, and its tangent."""
    target = args[0]
    assert isinstance(target, TensorBase)
    if target._impl.version_counter is INFERENCE:
        refuse_outside_inference_mode()
    if target._impl.array.dtype.kind not in "fc":
        return function(*args, **kwargs)  # it has no tangent
    present = tangent_of(target, level)
    tangent: object = None
    onto = functions_of(operator).onto if given else None
    if onto is not None and not overlaps_itself(target):
        onto = None
    if onto is not None:
        first = operator.parameters[0]
        others = {name: tangent for name, tangent in given.items() if name != first}
        given = _all_kept(others, target, present)
        if is_recording() and any(map(requires_grad, tensors_of((present, *given.values())))):
            check_memory(target)
    in_place = stored_over_arrays(operator, arguments, given, target, present)
    if onto is None and rule.kind == "formula" and given and in_place is None:
        if is_recording() and any(
            map(requires_grad, tensors_of((*arguments.values(), *given.values())))
        ):
            arguments = _all_kept(arguments, target, present)
            given = _all_kept(given, target, present)
        new = target
        if rule.reads_result:
            new = F.clone(target)
            function(new, *args[1:], **kwargs)
        tangent = _tangent(operator, arguments, given, new)
        if isinstance(tangent, TensorBase) and tangent is not present:
            tangent = _kept(tangent, target, present)
    if present is not None:
        _check_tangent(present, tangent)
    before = target._impl.version
    holder = forward_base_of(target)
    try:
        result = function(*args, **kwargs)
        if in_place is not None:
            in_place.store()
            return result
        if onto is not None:
            if present is None:
                present = zeros_for(target, level, next(tensors_of(given.values())))
            onto(arguments, {**given, operator.parameters[0]: present})
        elif isinstance(tangent, TensorBase):
            write_tangent(target, tangent, level, given)
        elif present is not None:
            F.zero_(present)
    except BaseException:
        if target._impl.version != before:
            # Read by `fw_grad`, see Note [A tangent follows its value].
            own_meta(holder).own_fw_grad().unfinished.add(level)
        raise
    return result


def _check_tangent(present: TensorBase, new: object) -> None:
    """Refuse a write whose tangent could not be written, before the value is."""
    if present._impl.version_counter is INFERENCE:
        refuse_outside_inference_mode()
    if is_recording() and any(map(requires_grad, tensors_of((present, new)))):
        check_inplace(present)
        check_base(present)


def _kept(value: TensorBase, target: TensorBase, present: TensorBase | None) -> TensorBase:
    """A tensor that a write to the target and its present tangent does not change."""
    if value is target or value is present:
        return F.clone(value)
    storage = value._impl._storage
    if storage is None:
        return value
    written = storage is target._impl._storage
    if written or (present is not None and storage is present._impl._storage):
        return F.clone(value)
    return value


def _all_kept(
    values: Mapping[str, T], target: TensorBase, present: TensorBase | None
) -> dict[str, T | TensorBase]:
    """The values by name; those that the write changes are copied."""
    return {
        name: _kept(value, target, present) if isinstance(value, TensorBase) else value
        for name, value in values.items()
    }
