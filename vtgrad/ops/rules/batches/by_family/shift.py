"""Operators along dimensions, which are counted from one further on for a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from vtgrad.ops.calling.reduction_arguments import checked_dim
from vtgrad.ops.generated import functional as F
from vtgrad.ops.operator import DIMENSIONS, SIZES
from vtgrad.ops.rules.batches.batched_call import BatchedCall, Operand, like_parts
from vtgrad.ops.rules.batches.values import innermost
from vtgrad.storage.shapes import normalize_dim
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["RULES", "along", "along_dims", "selected", "shift", "shifted", "with_dimension"]


def shifted(value: object, ndim: int, name: str = "dim") -> int | tuple[int, ...]:
    """Dimensions of a sample as those of its value.

    Raises
    ------
    DimensionError
        If a sample has no such dimension.
    """
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple([normalize_dim(checked_dim(one, name), ndim) + 1 for one in value])
    return normalize_dim(checked_dim(value, name), ndim) + 1


def shift(call: BatchedCall) -> object:
    """Dimensions are counted from one further on, and sizes have the samples in front."""
    operands = {name: call.expanded(tensor) for name, tensor in call.tensors()}
    return along_dims(call, operands)


def along_dims(call: BatchedCall, operands: dict[str, Operand]) -> object:
    """As `shift`, with these operands.

    If samples have no dimensions, they get one for the operator, and lose it afterwards, unless the
    operator gives such a sample one.
    """
    # `unfold_backward` has a `size` too, one number, which says nothing of the dimensions.
    listed = [call.arguments[name] for name in SIZES if name in call.arguments]
    sizes = next((one for one in listed if isinstance(one, Sequence)), None)
    first = next(iter(operands.values())).tensor._impl.array.ndim
    ndim = first if sizes is None else len(sizes)
    model = None if ndim or call.operator.writes else call.as_one_sample()
    changes: dict[str, object] = {
        name: operand.value if ndim else with_dimension(operand)
        for name, operand in operands.items()
    }
    result = _called(call, changes, ndim)
    if call.operator.writes:
        return next(iter(call.arguments.values()))
    return call.finish(result if model is None else _like_model(result, model))


def along(call: BatchedCall) -> object:
    """`gather` and its kin, where samples without dimensions stand beside samples with one."""
    operands = {name: call.expanded(tensor) for name, tensor in call.tensors()}
    changes: dict[str, object] = {n: with_dimension(x) for n, x in operands.items()}
    ndim = next(iter(operands.values())).tensor._impl.array.ndim
    result = _called(call, changes, ndim)
    if call.operator.writes:
        return next(iter(call.arguments.values()))
    shaping = call.tensor("index") if call.operator.spoken == "gather" else call.tensor("input")
    assert isinstance(result, TensorBase)
    return call.finish(result if shaping._impl.array.ndim else F.squeeze_dim(result, 1))


def with_dimension(operand: Operand) -> TensorBase:
    """The value; if samples have no dimension, with one of size 1 for them."""
    if operand.has_samples and not operand.tensor._impl.array.ndim:
        return F.unsqueeze(operand.value, 1)
    return operand.value


def _called(call: BatchedCall, changes: dict[str, object], ndim: int) -> object:
    """What the operator returns, with dimensions and sizes for the value."""
    for name, value in call.arguments.items():
        if name in DIMENSIONS:
            none = value is None or (isinstance(value, Sequence) and not value)
            changes[name] = _all_or_none(call, value) if none else shifted(value, ndim, name)
        elif name in SIZES and isinstance(value, Sequence):
            changes[name] = (call.level.size, *(value or (1,)))
    return call.called(changes)


def _all_or_none(call: BatchedCall, value: object) -> object:
    """What no dimensions mean to the operator: all dimensions of a sample, or none of them."""
    sample = call.tensor("input")
    ndim = sample._impl.array.ndim
    probe = F.zeros_shaped(innermost(sample), tuple([min(n, 1) * 2 for n in sample.shape]))
    found = call.called({"input": probe})
    if ndim and isinstance(found, TensorBase) and found.shape == probe.shape:
        return value
    return tuple(range(1, max(ndim, 1) + 1))


def unfold_backward(call: BatchedCall) -> object:
    """As `shift`; a sample without dimensions has one window of it at most."""
    if call.arguments["input_sizes"] != ():
        return shift(call)
    return call.finish(F.sum_dim_IntList(call.value("input"), (1,)))


def selected(call: BatchedCall) -> object:
    """`take_selected` and `put_selected`, which copy what has no dimensions."""
    sizes = call.arguments.get("sizes")
    whole = sizes if isinstance(sizes, Sequence) else call.tensor("input")._impl.array.shape
    if not whole:
        return call.finish(F.clone(call.value("input")))
    return shift(call)


def _like_model(result: object, model: object) -> object:
    """Values of samples that were given a dimension, with the dimensions that a model has."""
    if isinstance(result, TensorBase):
        assert isinstance(model, TensorBase)
        extra = result._impl.array.ndim - model._impl.array.ndim > 1
        return F.select(result, 1, 0) if extra else result
    assert isinstance(result, tuple)
    assert isinstance(model, tuple)
    return like_parts(
        result, [_like_model(part, one) for part, one in zip(result, model, strict=True)]
    )


RULES: Final[dict[str, Callable[[BatchedCall], object]]] = {
    "shift": shift,
    "unfold_backward": unfold_backward,
}
