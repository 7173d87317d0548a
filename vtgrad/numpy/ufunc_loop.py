"""How a ufunc computes.

Note [One loop for value and derivative]

NumPy itself says in which dtypes a ufunc computes (`numpy.ufunc.resolve_dtypes`). Where no operand
carries a derivative, NumPy's ufunc computes the result too. Where one does, the operands are cast
to the dtypes of the loop, which is recorded, and the operator of the library computes.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.numpy.deliver import handed_over
from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.operands import (
    as_array,
    cast,
    fresh,
    has_dtype,
    is_differentiated,
    is_keyed,
    of,
    of_any_dtype,
    overlap,
    result,
    value_of,
)
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.write import check_target, store
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import NumpyDType
from vtgrad.storage.no_fp_warnings import run_without_warnings
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.ufunc_operators import Operator, inplace_operator, inside_of, operator_of

__all__ = ["Operator", "UfuncLoop", "by_numpys", "computes_itself", "outs_of"]

_Loop: TypeAlias = tuple[NumpyDType, ...]
_WEAK: Final = (bool, int, float, complex)
_BOOL: Final = np.dtype(np.bool_)

# The ufunc of the namespace for each of NumPy's: what `__array_ufunc__` calls.
by_numpys: Final[dict[np.ufunc, UfuncLoop]] = {}


def computes_itself(x: object) -> bool:
    """Whether an operand is no array, and computes ufuncs, as data frames do."""
    if isinstance(x, (TensorBase, np.ndarray, np.generic)):
        return False
    return getattr(type(x), "__array_ufunc__", None) is not None


class UfuncLoop:
    """A function of the elements of arrays, as NumPy's ufunc of the same name computes it.

    Parameters
    ----------
    ufunc : numpy.ufunc
        NumPy's.
    operator : callable, optional
        The operator of the library on arrays of the dtypes of a loop, if it is not the one of all
        tensors. What has neither has no derivative.
    """

    ufunc: np.ufunc
    operator: Operator | None
    inplace: Operator | None
    loops: dict[object, _Loop]

    def __init__(
        self,
        ufunc: np.ufunc,
        operator: Operator | None = None,
    ) -> None:
        self.ufunc = ufunc
        self.operator = operator_of(ufunc) if operator is None else operator
        # Writes the result into the first operand.
        self.inplace = inplace_operator(ufunc) if operator is None else None
        self.loops = {}
        self.__name__ = ufunc.__name__
        self.__qualname__ = ufunc.__name__
        self.__doc__ = ufunc.__doc__
        by_numpys.setdefault(ufunc, self)

    def compute(
        self,
        inputs: Sequence[object],
        outs: tuple[object, ...] = (),
        where: object = True,
        casting: str = "same_kind",
        dtype: DTypeLike | None = None,
        signature: object = None,
    ) -> ndarray:
        """The function with all its options."""
        for x in inputs:
            if computes_itself(x):
                return self._by_another(inputs, outs, where, casting, dtype, signature)
        operands = [x if type(x) in _WEAK else of_any_dtype(x) for x in inputs]
        loop = self.loop(operands, dtype, signature, casting)
        mask = True if where is True else of(where, _BOOL)
        nin = self.ufunc.nin
        for target, kind in zip(outs, loop[nin:], strict=False):
            if target is not None and not np.can_cast(
                kind, _dtype_of(target), typing.cast("Any", casting)
            ):
                raise TypeError(
                    f"Cannot cast ufunc {self.__name__!r} output from {kind!r} to "
                    f"{_dtype_of(target)!r} with casting rule {casting!r}"
                )
        # Of bools and integers there is no derivative, but samples and traces.
        # Objects and durations would lose it: there the operator refuses the dtype.
        carries = is_keyed if all(d.kind in "biu" for d in loop[nin:]) else is_differentiated
        differentiated = self.operator is not None and any(
            isinstance(x, TensorBase) and carries(x) for x in operands
        )
        if not differentiated:
            if outs and not any(isinstance(x, TensorBase) for x in outs):
                stored = self._into_numpys(operands, outs, mask, casting, dtype, signature)
                return typing.cast("ndarray", stored)
            computed = self._by_numpy(operands, loop, mask, dtype, signature)
            if not outs:
                made = tuple([handed_over(x) for x in computed])
                return made[0] if len(made) == 1 else typing.cast("ndarray", made)
            found = [
                handed_over(x) if target is None else _storable(x, target)
                for x, target in zip(computed, outs, strict=True)
            ]
        elif mask is True and self._writes_first(operands, outs, loop):
            others = [_operand(x, d) for x, d in zip(operands[1:], loop[1:nin], strict=True)]
            assert self.inplace is not None
            return typing.cast("ndarray", self.inplace(operands[0], *others))
        else:
            found = self._by_operator(operands, outs, loop, mask)
        if not outs:
            made = tuple([result(x) for x in found])
            return made[0] if len(made) == 1 else typing.cast("ndarray", made)
        if self.ufunc.signature is not None:
            self._check_shapes(found, outs)
        if len(outs) > 1:
            # Neither is written if one cannot be.
            for x, target in zip(found, outs, strict=True):
                if target is not None:
                    check_target(target, x)
        kept = [
            (result(x) if isinstance(typing.cast("object", x), TensorBase) else x)
            if target is None
            else store(target, x, mask)
            for x, target in zip(found, outs, strict=True)
        ]
        return kept[0] if len(kept) == 1 else typing.cast("ndarray", tuple(kept))

    def _by_another(
        self,
        inputs: Sequence[object],
        outs: tuple[object, ...],
        where: object,
        casting: str,
        dtype: DTypeLike | None,
        signature: object,
    ) -> ndarray:
        """What an operand gives that computes ufuncs itself, which NumPy asks."""
        options: dict[str, Any] = {"out": outs, "dtype": dtype, "signature": signature}
        options = {name: value for name, value in options.items() if value}
        if where is not True:
            options["where"] = where
        if casting != "same_kind":
            options["casting"] = casting
        numpys: Any = self.ufunc
        return typing.cast("ndarray", numpys(*inputs, **options))

    def _check_shapes(self, found: Sequence[ndarray], outs: tuple[object, ...]) -> None:
        """Refuse ``out=`` of another shape, in a function of vectors and matrices.

        Raises
        ------
        ValueError
            If there is one.
        """
        for x, target in zip(found, outs, strict=True):
            shape = np.shape(typing.cast("Any", target))
            if target is not None and shape != x._impl.array.shape:
                raise ValueError(
                    f"{self.__name__}: the output has the shape {shape}, and the result "
                    f"{x._impl.array.shape}"
                )

    def loop(
        self,
        operands: Sequence[object],
        dtype: DTypeLike | None = None,
        signature: object = None,
        casting: str = "same_kind",
    ) -> _Loop:
        """The dtypes of operands and results in which NumPy computes.

        Raises
        ------
        TypeError
            If NumPy has no loop for the dtypes.
        """
        known = tuple(
            [
                x._impl.array.dtype
                if isinstance(x, TensorBase)
                else x.dtype
                if isinstance(x, np.ndarray)
                else type(x)
                for x in operands
            ]
        )
        plain = dtype is None and signature is None
        found = self.loops.get(known) if plain else None
        if found is None:
            if dtype is not None:
                outs = (np.dtype(dtype),) * self.ufunc.nout
                signature = (*[None] * self.ufunc.nin, *outs)
            kinds = tuple([_BOOL if k is bool else k for k in known])
            options: dict[str, Any] = {} if signature is None else {"signature": signature}
            found = self.ufunc.resolve_dtypes(
                typing.cast("Any", (*kinds, *[None] * self.ufunc.nout)),
                casting=typing.cast("Any", casting),
                **options,
            )
            if plain:
                self.loops[known] = found
        return found

    # -- the ways to compute ---------------------------------------------------------------------

    def _by_numpy(
        self,
        operands: Sequence[object],
        loop: _Loop,
        mask: ndarray | bool,
        dtype: DTypeLike | None,
        signature: object,
    ) -> list[Any]:
        """The results without derivatives."""
        values = [value_of(x) if isinstance(x, TensorBase) else x for x in operands]
        options = _given(dtype=dtype, signature=signature)
        if mask is not True:
            shape = np.broadcast_shapes(
                *[np.shape(typing.cast("Any", x)) for x in values],
                typing.cast("ndarray", mask).shape,
            )
            options["where"] = value_of(typing.cast("ndarray", mask))
            options["out"] = tuple([making.zeros(shape, d) for d in loop[self.ufunc.nin :]])
        call: Callable[..., Any] = self.ufunc
        found = run_without_warnings(call, *values, **options)
        return list(found) if self.ufunc.nout > 1 else [found]

    def _into_numpys(
        self,
        operands: Sequence[object],
        outs: tuple[object, ...],
        mask: ndarray | bool,
        casting: str,
        dtype: DTypeLike | None,
        signature: object,
    ) -> Any:
        """The results without derivatives, which NumPy stores in arrays of its own."""
        values = [value_of(x) if isinstance(x, TensorBase) else x for x in operands]
        options = _given(dtype=dtype, signature=signature)
        if mask is not True:
            options["where"] = value_of(typing.cast("ndarray", mask))
        call: Callable[..., Any] = self.ufunc
        found = run_without_warnings(call, *values, out=outs, casting=casting, **options)
        if self.ufunc.nout == 1:
            return found
        # In place of None NumPy makes a new array.
        return tuple([handed_over(x) if o is None else x for x, o in zip(found, outs, strict=True)])

    def _by_operator(
        self,
        operands: Sequence[object],
        outs: tuple[object, ...],
        loop: _Loop,
        mask: ndarray | bool,
    ) -> list[ndarray]:
        """The results with derivatives."""
        assert self.operator is not None
        typed = [_operand(x, d) for x, d in zip(operands, loop[: self.ufunc.nin], strict=True)]
        if mask is not True:
            typed = [
                as_array(
                    F.where(typing.cast("Any", mask), x, _operand(inside_of(self.ufunc), x.dtype))
                )
                for x in typed
            ]
        # What is overwritten below may be what the operator saves.
        written = [x for x in outs if isinstance(x, TensorBase)]
        typed = [as_array(F.clone(x)) if any(overlap(x, y) for y in written) else x for x in typed]
        found = self.operator(*typed)
        results = list(found) if self.ufunc.nout > 1 else [found]
        if mask is not True and not outs:
            results = [
                F.where(typing.cast("Any", mask), x, _operand(0, x._impl.dtype)) for x in results
            ]
        return results

    def _writes_first(
        self, operands: Sequence[object], outs: tuple[object, ...], loop: _Loop
    ) -> bool:
        """Whether the operator in place does what is asked for: ``f(x, y, out=x)``."""
        if self.inplace is None or len(outs) != 1 or outs[0] is not operands[0]:
            return False
        target = outs[0]
        if not isinstance(target, TensorBase) or any(target._impl.dtype != d for d in loop):
            return False
        array = target._impl.array
        return all(
            not isinstance(x, TensorBase)
            or (_broadcasts(x._impl.array.shape, array.shape) and not overlap(x, target))
            for x in operands[1:]
        )


def outs_of(out: object, count: int) -> tuple[object, ...]:
    """The arguments ``out`` as a tuple, empty if there is none."""
    if out is None:
        return ()
    outs = out if isinstance(out, tuple) else (out,)
    if len(outs) != count:
        raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
    for x in outs:
        # A scalar is a number, which is not written.
        writable = isinstance(x, (TensorBase, np.ndarray)) and type(x) is not kinds.scalar
        if x is not None and not writable:
            raise TypeError("return arrays must be of ArrayType")
    return () if all(x is None for x in outs) else outs


def _given(**options: object) -> dict[str, Any]:
    """The options that are given."""
    return {name: value for name, value in options.items() if value is not None}


def _storable(found: Any, target: object) -> ndarray:
    """A result of NumPy for `store`, which takes arrays of the namespace only."""
    array = making.asarray(found)
    return fresh(array if has_dtype(array.dtype) else array.astype(_dtype_of(target)))


def _operand(x: object, dtype: NumpyDType) -> ndarray:
    """An operand in the dtype of the loop."""
    if isinstance(x, ndarray):
        return cast(x, dtype)
    return fresh(making.asarray(x).astype(dtype))


def _dtype_of(target: object) -> NumpyDType:
    dtype: NumpyDType = typing.cast("np.ndarray[Any, Any]", target).dtype
    return target._impl.dtype if isinstance(target, TensorBase) else dtype


def _broadcasts(sizes: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether an operand broadcasts to the shape of what is written."""
    return len(sizes) <= len(target) and all(
        n in (1, m) for n, m in zip(reversed(sizes), reversed(target), strict=False)
    )
