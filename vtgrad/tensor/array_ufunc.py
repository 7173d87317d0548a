"""NumPy's ufuncs on tensors.

Note [Ufuncs of tensors]

NumPy hands a ufunc over to `Tensor.__array_ufunc__` if an operand or ``out=`` is a tensor, also for
``array + tensor``. It is computed by the operator of the same meaning, so that it is recorded, with
PyTorch's dtypes: the operator decides, as if it had been called by its own name. Arrays among the
operands are constants (Note [Arrays as constants]).

A ufunc that has no operator, such as those of other packages, is computed by NumPy on the memory of
the tensors; it is refused if a gradient, a tangent or a batch would be lost there.

With ``where=`` a ufunc is not computed where the mask is false. An operator computes everywhere,
and a derivative there may be infinite, and NaN after it was masked. So the operands are replaced
there by numbers at which every ufunc is differentiable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

import numpy as np

from vtgrad.errors import (
    ArgumentTypeError,
    DimensionError,
    NotSupportedError,
    OutOfRangeError,
    ResultTypeError,
    ShapeError,
)
from vtgrad.graph.recording import is_recording
from vtgrad.graph.set_history import requires_grad
from vtgrad.ops.calling.arguments import is_array
from vtgrad.ops.calling.constants import (
    computes_as_numpy,
    constant,
    exact_beside,
    impl_of_array,
)
from vtgrad.ops.calling.reduction_arguments import checked_dim
from vtgrad.ops.calling.take_over import keys_of
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.key_set import BATCHED, DUAL, TRACED
from vtgrad.storage.promotion import python_number
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.ufunc_operators import OPERATORS, Operator, inside_of, operator_of

__all__ = ["array_ufunc"]

_Function = Callable[..., TensorBase]


def _matmul(a: object, b: object) -> TensorBase:
    if not isinstance(a, TensorBase) or not isinstance(b, TensorBase):
        raise ArgumentTypeError("np.matmul takes tensors and arrays, not numbers")
    # A matrix of float64 is no constant that a program in float32 has chosen: NumPy promotes.
    dtype = np.result_type(a._impl.array.dtype, b._impl.array.dtype)
    return F.matmul(F.to_dtype(a, dtype), F.to_dtype(b, dtype))


def _clip(a: TensorBase, low: TensorBase, high: TensorBase) -> TensorBase:
    return F.minimum(F.maximum(a, low), high)


def _operator(ufunc: np.ufunc) -> Callable[..., object] | None:
    """The function that computes a ufunc, of tensors and numbers."""
    if ufunc is np.matmul:
        return _matmul
    if ufunc.__name__ == "clip" and ufunc.nin == 3:
        # That of `np.clip`, which has no public name.
        return _clip
    return operator_of(ufunc)


# Those whose operator takes tensors only; the numbers beside them become 0-d tensors.
_OF_TENSORS: Final = frozenset(
    "arctan2 clip copysign fmax fmin fmod gcd heaviside hypot lcm ldexp logaddexp logaddexp2 "
    "logical_and logical_or logical_xor maximum minimum nextafter".split()
)
# The comparisons with their operands in the other order, for a number that is the first.
_TURNED: Final[Mapping[np.ufunc, Operator]] = {
    np.equal: F.eq,
    np.not_equal: F.ne,
    np.less: F.gt,
    np.less_equal: F.ge,
    np.greater: F.lt,
    np.greater_equal: F.le,
}

# What `reduce` and `accumulate` of a ufunc are. Those of one dimension at a time reduce over one
# after the other.
_REDUCED: Final[Mapping[np.ufunc, str]] = {
    np.add: "sum",
    np.multiply: "prod",
    np.maximum: "amax",
    np.minimum: "amin",
    np.logical_and: "all",
    np.logical_or: "any",
    np.logaddexp: "logsumexp",
}
_ACCUMULATED: Final[Mapping[np.ufunc, str]] = {
    np.add: "cumsum",
    np.multiply: "cumprod",
    np.maximum: "cummax",
    np.minimum: "cummin",
    np.logaddexp: "logcumsumexp",
}


def array_ufunc(
    tensor: TensorBase,
    ufunc: np.ufunc,
    method: str,
    inputs: Sequence[object],
    options: Mapping[str, object],
) -> object:
    """What `Tensor.__array_ufunc__` gives; see Note [Ufuncs of tensors].

    Parameters
    ----------
    tensor : Tensor
        The tensor whose method NumPy has called.
    ufunc : numpy.ufunc
        The ufunc.
    method : str
        ``__call__``, ``reduce``, ``accumulate``, ``outer``, ``at`` or ``reduceat``.
    inputs : sequence of object
        The operands.
    options : mapping of str to object
        The keywords.

    Returns
    -------
    Tensor or tuple of Tensor
        The results; NotImplemented if another operand must decide.

    Raises
    ------
    ArgumentTypeError
        If a result is to be put into an array, and would lose its gradient there.
    NotSupportedError
        If vtgrad has no operator for what is asked.
    ResultTypeError
        If the dtype of ``out=`` cannot hold the result, or no ``dtype=`` loop takes the operands.
    DimensionError
        If there is no such axis.
    ShapeError
        If an axis is given twice, or the result does not fit ``out=``.
    """
    # No keyword but axis means something else by None than when it is left out.
    given = {name: x for name, x in options.items() if x is not None or name == "axis"}
    outs = cast("tuple[object, ...]", given.pop("out", ()))
    for value in (*inputs, *outs):
        kind = type(value)
        if hasattr(kind, "__array_ufunc__") and not _is_known(value):
            return NotImplemented
    _check_outs(ufunc, outs, inputs)
    if method == "at":
        _at(ufunc, *inputs)
        return None
    operands = [_operand(x, inputs) for x in inputs]
    function = _operator(ufunc)
    if function is None or method == "reduceat":
        return _on_memory(tensor, ufunc, method, operands, outs, given)
    given.pop("subok", None)
    if given.pop("order", "K") not in ("K", "C", "A"):
        raise NotSupportedError(f"np.{ufunc.__name__} of tensors has no order='F'")
    mask = given.pop("where", True)
    casting = str(given.pop("casting", "same_kind"))
    if method == "__call__":
        dtype = given.pop("dtype", None)
        _refuse_others(ufunc, method, given)
        loop = None if dtype is None else _loop(ufunc, operands, dtype, casting)
        if loop is not None:
            operands = [_in_dtype(x, d) for x, d in zip(operands, loop, strict=False)]
        if mask is not True:
            operands = _harmless(ufunc, operands, mask)
        found = _computed(ufunc, function, operands)
        if loop is not None and ufunc.nout == 1:
            found = _in_dtype(found, loop[-1])
    elif method == "outer":
        _refuse_others(ufunc, method, given)
        found = _computed(ufunc, function, _spread(operands[0], operands[1]))
    elif method == "reduce":
        found = _reduce(ufunc, operands[0], mask, given)
        mask = True
    else:
        found = _accumulate(ufunc, operands[0], given)
    results = found if isinstance(found, tuple) else (found,)
    stored = [
        _store(ufunc, cast("TensorBase", result), out, mask, casting, method == "__call__")
        for result, out in zip(results, outs or (None,) * len(results), strict=True)
    ]
    return stored[0] if ufunc.nout == 1 or method != "__call__" else tuple(stored)


def _computed(
    ufunc: np.ufunc, function: Callable[..., object], operands: Sequence[object]
) -> object:
    """What an operator gives for operands of which some may be numbers."""
    tensor = next((x for x in operands if isinstance(x, TensorBase)), None)
    if tensor is not None and ufunc.__name__ in _OF_TENSORS:
        operands = [
            exact_beside(x, tensor) if isinstance(x, (int, float, complex)) else x for x in operands
        ]
    elif ufunc in _TURNED and not isinstance(operands[0], TensorBase):
        return _TURNED[ufunc](operands[1], operands[0])
    return function(*operands)


def _is_known(value: object) -> bool:
    if isinstance(value, np.ndarray):
        # Another one has units, or the like, and computes itself.
        return computes_as_numpy(value)
    return isinstance(value, (np.generic, TensorBase))


def _operand(value: object, others: Sequence[object]) -> object:
    """A tensor or a number."""
    if isinstance(value, np.generic):
        return python_number(value)
    if isinstance(value, (list, tuple)):
        value = making.asarray(value)
    return constant(value, *others) if is_array(value) else value


def _check_outs(ufunc: np.ufunc, outs: Sequence[object], inputs: Sequence[object]) -> None:
    """Refuse an array as ``out=``, as in ``array += tensor``, if a gradient would be lost."""
    if any(isinstance(out, np.ndarray) for out in outs):
        needed = _reason(inputs)
        if needed:
            raise ArgumentTypeError(
                f"the result of np.{ufunc.__name__} cannot be put into a NumPy array: an operand "
                f"{needed}, which would be lost there. Write `a = a + x` for `a += x`, or make the "
                "array a tensor"
            )


def _reason(values: Sequence[object]) -> str:
    """Why values may not become arrays; empty if they may."""
    for value in values:
        if isinstance(value, TensorBase):
            if is_recording() and requires_grad(value):
                return "requires grad"
            if keys_of(value) & (DUAL | BATCHED | TRACED):
                return "has a tangent, or is the sample of a batch"
    return ""


def _on_memory(
    tensor: TensorBase,
    ufunc: np.ufunc,
    method: str,
    operands: Sequence[object],
    outs: Sequence[object],
    given: Mapping[str, object],
) -> object:
    """What NumPy computes, where vtgrad has no operator."""
    called = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    reason = _reason(operands)
    if reason:
        raise NotSupportedError(
            f"vtgrad has no operator for the ufunc {called}, and an operand {reason}; "
            "x.detach() is computed without"
        )
    if any(isinstance(out, TensorBase) for out in outs):
        raise NotSupportedError(f"vtgrad has no operator for {called}, and out= is a tensor")
    arrays = [_memory(x) for x in operands]
    options = {name: _memory(value) for name, value in given.items()}
    if outs:
        options["out"] = outs
    found = getattr(ufunc, method)(*arrays, **options)
    if outs:
        return found
    if isinstance(found, tuple):
        return tuple([_as_result(tensor, x) for x in found])
    return _as_result(tensor, found)


def _memory(value: object) -> object:
    return making.asarray(value) if isinstance(value, TensorBase) else value


def _as_result(tensor: TensorBase, value: object) -> TensorBase:
    array: Array = making.asarray(value)
    dtype_of(array.dtype)
    return tensor._wrap(impl_of_array(array))


def _refuse_others(ufunc: np.ufunc, method: str, given: Mapping[str, object]) -> None:
    if given:
        called = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        raise NotSupportedError(f"np.{called} of tensors has no {next(iter(given))}=")


def _loop(
    ufunc: np.ufunc, operands: Sequence[object], dtype: object, casting: str
) -> Sequence[object]:
    """The dtypes of the operands and results of a ufunc, for ``dtype=``."""
    # A number has no dtype, but a bool has NumPy's.
    known: list[object] = [
        x._impl.array.dtype
        if isinstance(x, TensorBase)
        else np.dtype(np.bool_)
        if isinstance(x, bool)
        else type(x)
        for x in operands
    ]
    wanted = np.dtype(cast("np.dtype[np.generic]", dtype))
    signature = (*[None] * ufunc.nin, *[wanted] * ufunc.nout)
    try:
        found: Sequence[object] = cast("Callable[..., Sequence[object]]", ufunc.resolve_dtypes)(
            (*known, *[None] * ufunc.nout), signature=signature, casting=casting
        )
    except TypeError as error:
        raise ResultTypeError(f"np.{ufunc.__name__} with dtype={dtype}: {error}") from None
    return found


def _in_dtype(value: object, dtype: object) -> object:
    wanted = np.dtype(cast("np.dtype[np.generic]", dtype))
    dtype_of(wanted)
    return F.to_dtype(value, wanted) if isinstance(value, TensorBase) else value


def _harmless(ufunc: np.ufunc, operands: Sequence[object], mask: object) -> list[object]:
    """The operands with a number in their place where the mask is false."""
    chosen = _mask(mask, operands)
    made: list[object] = []
    for value in operands:
        if isinstance(value, TensorBase) and value._impl.array.dtype.kind in "fc":
            value = F.where(chosen, value, inside_of(ufunc))
        elif isinstance(value, TensorBase) and value._impl.array.dtype.kind in "iu":
            value = F.where(chosen, value, 1)
        made.append(value)
    return made


def _mask(mask: object, beside: Sequence[object]) -> TensorBase:
    found = mask if isinstance(mask, TensorBase) else constant(making.asarray(mask), *beside)
    if found._impl.array.dtype != np.bool_:
        raise ArgumentTypeError("where= takes bools", argument="where")
    return found


def _spread(first: object, second: object) -> tuple[object, object]:
    """The operands of an outer call, so that they broadcast."""
    if not isinstance(first, TensorBase) or not isinstance(second, TensorBase):
        return first, second
    return F.reshape(first, (*first.shape, *([1] * second.ndim))), second


def _reduce(ufunc: np.ufunc, value: object, mask: object, given: dict[str, object]) -> TensorBase:
    name = _REDUCED.get(ufunc)
    if name is None:
        raise NotSupportedError(f"np.{ufunc.__name__}.reduce of tensors is not supported")
    tensor = value if isinstance(value, TensorBase) else constant(making.asarray(value))
    axis = given.pop("axis", 0)
    dtype, initial = given.pop("dtype", None), given.pop("initial", None)
    keepdims = bool(given.pop("keepdims", False))
    _refuse_others(ufunc, "reduce", given)
    if dtype is not None:
        tensor = cast("TensorBase", _in_dtype(tensor, dtype))
    if mask is not True:
        start = ufunc.identity if initial is None else initial
        if start is None:
            raise NotSupportedError(
                f"np.{ufunc.__name__}.reduce with where= needs initial=, since it has no identity"
            )
        tensor = F.where(_mask(mask, [tensor]), tensor, cast("float", start))
    function: _Function = getattr(F, name)
    dims = _dims(ufunc, axis, tensor.ndim)
    if not dims:
        # Of no axis, each element alone is reduced.
        tensor, dims, keepdims = F.unsqueeze(tensor, 0), (0,), False
    if name == "prod":
        found = tensor
        for dim in sorted(dims, reverse=True):
            found = F.prod(found, dim, keepdims)
    else:
        found = function(tensor, dims, keepdims)
    if initial is not None:
        start = _operand(initial, [tensor])
        found = cast("TensorBase", _computed(ufunc, OPERATORS[ufunc], [found, start]))
    return found


def _dims(ufunc: np.ufunc, axis: object, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    if ndim == 0 and axis in (0, -1):
        return ()
    given = axis if isinstance(axis, tuple) else (axis,)
    dims: list[int] = []
    for one in given:
        dim = checked_dim(one, "axis")
        if not -ndim <= dim < ndim:
            raise DimensionError(
                f"np.{ufunc.__name__}.reduce has no axis {dim} of {ndim} dimension(s)"
            )
        dims.append(dim % ndim)
    if len(set(dims)) < len(dims):
        raise ShapeError(f"an axis appears more than once in {axis}")
    return tuple(dims)


def _accumulate(ufunc: np.ufunc, value: object, given: dict[str, object]) -> TensorBase:
    name = _ACCUMULATED.get(ufunc)
    if name is None:
        raise NotSupportedError(f"np.{ufunc.__name__}.accumulate of tensors is not supported")
    tensor = value if isinstance(value, TensorBase) else constant(making.asarray(value))
    axis, dtype = given.pop("axis", 0), given.pop("dtype", None)
    _refuse_others(ufunc, "accumulate", given)
    if dtype is not None:
        tensor = cast("TensorBase", _in_dtype(tensor, dtype))
    found = getattr(F, name)(tensor, axis)
    return cast("TensorBase", found[0] if isinstance(found, tuple) else found)


def _at(ufunc: np.ufunc, target: object, indices: object, values: object = None) -> None:
    """``ufunc.at``: add to elements, each as often as it is named."""
    if ufunc not in (np.add, np.subtract):
        raise NotSupportedError(f"np.{ufunc.__name__}.at of tensors is not supported")
    if not isinstance(target, TensorBase):
        raise ArgumentTypeError("ufunc.at writes into a tensor here, not into an array")
    numbers = making.arange(target.numel()).reshape(target.shape)
    try:
        places: Array = numbers[cast("int", _memory_index(indices))]
    except IndexError as error:
        raise OutOfRangeError(f"np.{ufunc.__name__}.at: {error}") from None
    positions = constant(making.ascontiguousarray(places), target)
    amount = values if isinstance(values, TensorBase) else constant(making.asarray(values), target)
    if not np.can_cast(amount._impl.array.dtype, target._impl.array.dtype, "same_kind"):
        raise ResultTypeError(
            f"np.{ufunc.__name__}.at cannot add {amount._impl.array.dtype.name} to "
            f"{target._impl.array.dtype.name}"
        )
    amount = F.expand(F.to_dtype(amount, target._impl.dtype), places.shape)
    F.put_(target, positions, amount if ufunc is np.add else F.neg(amount), True)


def _memory_index(index: object) -> object:
    if isinstance(index, tuple):
        return tuple([_memory(part) for part in index])
    return _memory(index)


def _store(
    ufunc: np.ufunc, result: TensorBase, out: object, mask: object, casting: str, broadcast: bool
) -> object:
    """The result, in ``out=`` if that is given, and only where the mask is true.

    A call broadcasts to the shape of ``out=``, other methods do not.
    """
    if out is None:
        if mask is True:
            return result
        return F.where(_mask(mask, [result]), result, F.zeros_like(result))
    source = result._impl.array.dtype
    wanted = out.dtype if isinstance(out, np.ndarray) else cast("TensorBase", out)._impl.array.dtype
    if not np.can_cast(source, wanted, cast("np._CastingKind", casting)):
        raise ResultTypeError(
            f"np.{ufunc.__name__} gives {source.name}, which out= of {wanted.name} cannot hold",
            dtype=wanted.name,
        )
    shape = cast("TensorBase", out).shape
    extra = len(shape) - len(result.shape)
    fits = extra >= 0 and all(n in (1, m) for n, m in zip(result.shape, shape[extra:], strict=True))
    if not fits or not (broadcast or tuple(result.shape) == tuple(shape)):
        raise ShapeError(
            f"np.{ufunc.__name__} gives shape {tuple(result.shape)}, and out= has {tuple(shape)}"
        )
    if isinstance(out, np.ndarray):
        np.copyto(out, making.asarray(result), casting="unsafe", where=cast("bool", _memory(mask)))
        return out
    target = cast("TensorBase", out)
    if mask is not True:
        result = F.where(_mask(mask, [target]), F.to_dtype(result, target._impl.dtype), target)
    return F.copy_(target, result)
