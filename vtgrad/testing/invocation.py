"""One call of an operator of the user's: what the model makes of its rule."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from vtgrad.testing.custom import Rule, RuleError, Shape
from vtgrad.testing.differences import Function, remembered, slopes
from vtgrad.testing.geometry import IntArray, contiguous
from vtgrad.testing.jets import Bilinear, FloatArray, Linear
from vtgrad.testing.model import RefusedError, SkippedError
from vtgrad.testing.rules import Computed
from vtgrad.testing.views import ViewCall, picked_by

__all__ = ["Array", "Invocation", "Outcome"]

Array: TypeAlias = npt.NDArray[np.generic]

S = TypeVar("S", bound=np.generic)

#: Bounds what is kept of the derivatives of an operator.
_MOST_KNOWN = 200

_MUST_SAY = "must say for all operands whether it holds; for {} it "

#: The dtypes of results, by the kind that NumPy gives.
_KINDS = {"f": "float64", "c": "complex128", "i": "int64", "u": "int64", "b": "bool"}


@dataclass(frozen=True)
class Outcome:
    """What a reference has returned.

    Attributes
    ----------
    arrays : tuple of ndarray
        One, or several.
    is_several : bool
        Whether it was a tuple.
    """

    arrays: tuple[Array, ...]
    is_several: bool

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The dtypes of the arrays: float64, complex128, int64 or bool."""
        return tuple(_KINDS[array.dtype.kind] for array in self.arrays)

    def differentiable(self) -> list[FloatArray]:
        """Return the arrays that have gradients; of complex ones both parts in a last dimension."""
        return [_real(array) for array in self.arrays if array.dtype.kind in "fc"]


def _is_known(array: Array) -> bool:
    return array.dtype == np.complex128 or array.dtype.kind in "iub"


def _real(array: Array) -> FloatArray:
    if array.dtype.kind != "c":
        return array.astype(np.float64)
    return np.stack([np.real(array), np.imag(array)], -1).astype(np.float64)


@dataclass(frozen=True)
class Invocation:
    """A rule, with all that goes into a call except the numbers of its tensors.

    Those are float64 arrays here: one for an operand, two for a complex one.

    Attributes
    ----------
    constants : mapping
        Operands that are no tensors of the program, by position.
    options : mapping
        Arguments by keyword, with the ``seed`` of an operator that draws random numbers.
    dtype : str
        That of the operands that are no constants.
    views : mapping
        Views that are taken, inside of the call, of what the arrays are cast to: by position of the
        operand.
    """

    rule: Rule
    constants: Mapping[int, Array] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)
    dtype: str = "float64"
    views: Mapping[int, ViewCall] = field(default_factory=dict)
    # Differences ask thousands of times which elements the same views show.
    _shown: dict[tuple[int, Shape], IntArray] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def width(self) -> int:
        """How many arrays each operand is made of."""
        return 2 if self.dtype == "complex128" else 1

    @property
    def variables(self) -> list[int]:
        """The operands that are no constants."""
        return [i for i in range(self.rule.operands) if i not in self.constants]

    @property
    def tensors(self) -> int:
        """How many arrays it takes."""
        return self.width * (self.rule.operands - len(self.constants))

    def operands(self, arrays: Sequence[FloatArray]) -> list[Array]:
        """Return the operands as the rule's functions take them."""
        left = list(arrays)
        made: list[Array] = []
        for position in range(self.rule.operands):
            if position in self.constants:
                made.append(self.constants[position].copy())
            elif self.width == 2:
                real, imaginary = left.pop(0), left.pop(0)
                if real.shape != imaginary.shape:
                    raise SkippedError
                made.append(self._viewed(position, real + 1j * imaginary))
            else:
                made.append(self._viewed(position, left.pop(0)).copy())
        return made

    def _picks(self, position: int, shape: Shape) -> IntArray | None:
        """Return which elements of its array an operand shows; None if it is the array."""
        if position not in self.views:
            return None
        shown = self._shown.get((position, shape))
        if shown is None:
            shown = self._shown[position, shape] = picked_by(self.views[position], shape)
        return shown

    def _viewed(self, position: int, array: npt.NDArray[S]) -> npt.NDArray[S]:
        picks = self._picks(position, array.shape)
        return array if picks is None else array.reshape(-1)[picks]

    def _put_back(self, position: int, part: Array, shape: Shape) -> Array:
        """Return the gradient of the array, of that of the operand which shows a part of it."""
        picks = self._picks(position, shape)
        if picks is None:
            return part
        whole = np.zeros(shape, part.dtype)
        np.add.at(whole.reshape(-1), picks.ravel(), part.ravel())
        return whole

    def outcome(self, arrays: Sequence[FloatArray]) -> Outcome:
        """Return what the reference makes of some arrays.

        Raises
        ------
        SkippedError
            If it is not defined there: `accepts` or, with a ValueError, the reference says so.
        RefusedError
            If the operator has to raise.
        RuleError
            If the rule is wrong.
        """
        rule = self.rule
        with np.errstate(all="ignore"):
            if rule.accepts is not None and not self._ask("accepts", rule.accepts, arrays):
                raise SkippedError
            for kind, where in rule.raises:
                if self._ask("raises", where, arrays):
                    raise RefusedError(f"raises {kind.__name__}")
            return self._referred(arrays)

    def _ask(
        self, argument: str, question: Callable[..., object], arrays: Sequence[FloatArray]
    ) -> bool:
        operands = self.operands(arrays)
        try:
            answer = question(*operands, **self.options)
        except ValueError:
            return False  # shapes that do not go together
        except Exception as error:
            told = f"raised {type(error).__name__}: {error}"
            raise self.rule.error(argument, _MUST_SAY.format(_shapes(operands)) + told) from error
        try:
            return bool(answer)
        except ValueError:
            told = f"returned {answer!r}"
            raise self.rule.error(argument, _MUST_SAY.format(_shapes(operands)) + told) from None

    def _referred(self, arrays: Sequence[FloatArray]) -> Outcome:
        operands = self.operands(arrays)
        reference: Callable[..., object] = self.rule.reference
        try:
            found = reference(*operands, **self.options)
        except ValueError:
            raise SkippedError from None  # shapes that do not go together
        except Exception as error:
            told = f"raised {type(error).__name__}: {error}"
            hint = ". Where the operator is not defined, `accepts` must say so"
            raise self._wrong(operands, told + hint) from error
        is_several = isinstance(found, tuple | list)
        parts = tuple(found) if isinstance(found, tuple | list) else (found,)
        made, is_new = Outcome(tuple(map(np.asarray, parts)), is_several), self.rule.result == "new"
        for array in made.arrays:
            if not (array.dtype == np.float64 or (is_new and _is_known(array))):
                raise self._wrong(operands, f"returned {array.dtype}")
            if not np.isfinite(array).all():
                raise SkippedError
        if is_several and self.rule.result == "written":
            raise self._wrong(operands, "returned several")
        return made

    def _wrong(self, operands: Sequence[Array], told: str) -> RuleError:
        must = f"must return a float64 array; for {_shapes(operands)} it {told}"
        return self.rule.error("reference", must)

    def outline(self, shapes: Sequence[Shape]) -> Outcome:
        """Return what the reference makes of ones: it may be defined elsewhere only."""
        with np.errstate(all="ignore"):
            return self._referred([np.ones(shape) for shape in shapes])

    def picked(self, arrays: Sequence[FloatArray]) -> list[tuple[int, IntArray]]:
        """Return of each view which array it is of, and the numbers of the elements it shows.

        Raises
        ------
        SkippedError
            If a view has no elements, and it is not known which array it is of.
        """
        left = self.variables
        subjects = [left.index(operand) for operand in self.rule.views_of]
        numbered, starts, count = list(arrays), [], 0
        for subject in subjects:
            array = arrays[subject]
            starts.append(count)
            numbered[subject] = np.arange(count, count + array.size, dtype=float).reshape(
                array.shape
            )
            count += array.size
        with np.errstate(all="ignore"):
            found = self._referred(numbered)
        bounds = [*starts, count]
        return [self._pick(nr, one, subjects, bounds) for nr, one in enumerate(found.arrays)]

    def _pick(
        self, nr: int, array: Array, subjects: Sequence[int], bounds: Sequence[int]
    ) -> tuple[int, IntArray]:
        for subject, start, stop in zip(subjects, bounds, bounds[1:], strict=False):
            if array.size and np.isin(array, np.arange(start, stop)).all():
                return subject, array.astype(np.intp) - start
        if array.size:
            which = list(self.rule.views_of)
            must = (
                f"must pick elements of one array of {which}, and compute nothing: it is of a view"
            )
            raise self.rule.error("reference", must)
        if len(subjects) == 1:
            return subjects[0], array.astype(np.intp)
        if nr not in self.rule.homes:
            raise SkippedError
        return self.variables.index(self.rule.homes[nr]), array.astype(np.intp)

    # -- derivatives -------------------------------------------------------------------------

    def computed(
        self, arrays: Sequence[FloatArray], most_curved: int
    ) -> tuple[Outcome, list[Computed]]:
        """Return the outcome, and the results that have gradients with their derivatives.

        Parameters
        ----------
        most_curved
            Second derivatives are found for so many elements of operands; for more they are
            not numbers.
        """
        outcome = self.outcome(arrays)
        results = outcome.differentiable()
        jacobian, hessian = self._derivatives(arrays, most_curved)
        if not np.isfinite(jacobian).all():
            raise SkippedError
        made, start = [], 0
        for result in results:
            stop = start + result.size
            curves = None if hessian is None else hessian[start:stop]
            first = _linear(jacobian[start:stop], arrays)
            second = _bilinear(curves, arrays, result.size)
            made.append(Computed(contiguous(result.shape), result.ravel(), first, second))
            start = stop
        return outcome, made

    def _derivatives(
        self, arrays: Sequence[FloatArray], most: int
    ) -> tuple[FloatArray, FloatArray | None]:
        """Find first and second derivatives, or look them up: the grid repeats its operands."""
        given = (self.options, self.constants, self.views)
        facts = (self.dtype, *map(repr, given), most)
        key = (facts, tuple((array.shape, array.tobytes()) for array in arrays))
        known = self.rule.known
        if key not in known:
            if len(known) >= _MOST_KNOWN:
                known.clear()
            jacobian = self.jacobian(arrays)
            known[key] = jacobian, self.hessian(arrays, most)
        return known[key]

    def _flat(self, arrays: Sequence[FloatArray]) -> FloatArray:
        """The elements of all results that have gradients."""
        found = self._referred(arrays).differentiable()
        if len(found) == 1:
            return found[0].ravel()
        return np.concatenate([np.zeros(0), *(array.ravel() for array in found)])

    def jacobian(self, arrays: Sequence[FloatArray]) -> FloatArray:
        """Derivatives of every element of the results by every element of each array."""
        with np.errstate(all="ignore"):
            return self._jacobian(arrays, self._flat)

    def _jacobian(self, arrays: Sequence[FloatArray], flat: Function) -> FloatArray:
        if self.rule.gradient is not None:
            return self._stated(arrays)
        return slopes(flat, arrays)

    def hessian(self, arrays: Sequence[FloatArray], most: int) -> FloatArray | None:
        """Second derivatives: by result and two elements; None if they are not known."""
        count = sum(array.size for array in arrays)
        if self.rule.once_differentiable:
            return None
        if count > (most if self.rule.gradient is None else 3 * most):
            return None
        flat = remembered(self._flat)
        with np.errstate(all="ignore"):
            try:
                found = slopes(lambda moved: self._jacobian(moved, flat).ravel(), arrays)
            except SkippedError:
                return None
        return found.reshape(-1, count, count) if count else None

    def _stated(self, arrays: Sequence[FloatArray]) -> FloatArray:
        """Derivatives from the gradient that the rule states."""
        raw = self._referred(arrays)
        results = [array for array in raw.arrays if array.dtype.kind in "fc"]
        count = sum(array.size for array in arrays)
        rows: list[FloatArray] = []
        for which, result in enumerate(results):
            for at in range(result.size):
                for unit in (1.0, 1j) if result.dtype.kind == "c" else (1.0,):
                    ones = [np.zeros_like(array) for array in raw.arrays]
                    place = next(n for n, a in enumerate(raw.arrays) if a is results[which])
                    ones[place].reshape(-1)[at] = unit
                    seed = tuple(ones) if raw.is_several else ones[0]
                    rows.append(self._row(seed, arrays))
        return np.stack(rows) if rows else np.zeros((0, count))

    def _row(self, seed: object, arrays: Sequence[FloatArray]) -> FloatArray:
        """What the rule's gradient makes of one gradient of the results."""
        assert self.rule.gradient is not None
        gradient: Callable[..., object] = self.rule.gradient
        operands = self.operands(arrays)
        must = f"must return a tuple of {len(operands)} arrays, one for each operand; "
        must += f"for operands of {_shapes(operands)} it "
        try:
            parts = gradient(seed, *operands, **self.options)
        except Exception as error:
            told = f"raised {type(error).__name__}: {error}"
            raise self.rule.error("gradient", must + told) from error
        if not isinstance(parts, tuple | list):
            raise self.rule.error("gradient", f"{must}returned {type(parts).__name__}")
        if len(parts) != len(operands):
            raise self.rule.error("gradient", f"{must}returned {len(parts)}")
        row = [np.zeros(0)]
        left = list(arrays)
        for position, (part, operand) in enumerate(zip(parts, operands, strict=True)):
            if position in self.constants:
                continue
            shape = left[0].shape
            del left[: self.width]
            given = 0.0 if part is None else part
            try:
                whole = np.broadcast_to(np.asarray(given, dtype=operand.dtype), operand.shape)
            except (TypeError, ValueError):
                told = f"returned shape {np.shape(given)} for operand {position}"
                raise self.rule.error("gradient", must + told) from None
            whole = self._put_back(position, whole, shape)
            row += [np.real(whole).ravel()]
            row += [np.imag(whole).ravel()] * (self.width - 1)
        return np.concatenate(row)


def _linear(jacobian: FloatArray, arrays: Sequence[FloatArray]) -> tuple[Linear, ...]:
    made, start = [], 0
    for operand, array in enumerate(arrays):
        part = jacobian[:, start : start + array.size]
        rows, columns = (grid.ravel() for grid in np.indices(part.shape))
        made.append(Linear(operand, rows, columns, part.ravel()))
        start += array.size
    return tuple(made)


def _bilinear(
    hessian: FloatArray | None, arrays: Sequence[FloatArray], numel: int
) -> tuple[Bilinear, ...]:
    starts = np.cumsum([0, *(array.size for array in arrays)]).tolist()
    made = []
    for one in range(len(arrays)):
        for other in range(len(arrays)):
            if not arrays[one].size or not arrays[other].size:
                continue
            if hessian is None:
                rows = np.arange(numel, dtype=np.intp)
                zero = np.zeros_like(rows)
                made.append(Bilinear(one, other, rows, zero, zero, np.full(numel, np.nan)))
                continue
            part = hessian[:, starts[one] : starts[one + 1], starts[other] : starts[other + 1]]
            rows, first, second = np.nonzero(part)
            made.append(Bilinear(one, other, rows, first, second, part[rows, first, second]))
    return tuple(made)


def _shapes(operands: Sequence[Array]) -> str:
    shapes = [operand.shape for operand in operands]
    return f"shape {shapes[0]}" if len(shapes) == 1 else f"shapes {shapes}"
