"""Operators of a user's own: what a rule says of one, and what the model makes of it."""

import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .geometry import Geometry, IntArray, contiguous
from .jets import FloatArray, Jet, Linear
from .model import SkippedError
from .rules import Computed, Operator, Saving

__all__ = ["Rule"]

#: Distance of the points between which differences are taken, for numbers up to one.
_STEP = 1e-3


@dataclass(frozen=True)
class Rule:
    """One operator of a user's own, and what is independently known about it.

    Parameters
    ----------
    name : str
        What programs call it: a Python name.
    call : callable
        The operator: takes `operands` tensors and nothing else.
    reference : callable
        The same with NumPy alone: takes as many float64 arrays and returns the result. For a
        view it must pick elements of whatever array it is given.
    gradient : callable, optional
        Takes the gradient of the result and then the operands, and returns an array for each
        operand. Without it, central differences of `reference` judge; then no operand may lie
        where the function has a kink, which `accepts` can see to.
    operands : int, default 1
        Number of tensors that it takes.
    result : {"new", "view", "written"}
        ``"new"`` if it returns a tensor on memory of its own, ``"view"`` if it returns a view
        of its only operand, ``"written"`` if it writes to the first operand and leaves its
        shape.
    accepts : callable, optional
        Takes the arrays; says whether the operator is defined there. Shapes are arbitrary, and
        so are numbers, many of them small integers and zeros.
    is_function : bool, default False
        Whether `call` applies a custom ``Function``. A view that one returns may not be
        written, and a tensor that one writes forgets its retained gradient.
    has_jvp : bool, default False
        Whether that ``Function`` has a ``jvp``; without one it refuses tensors with tangents.
    source : str, optional
        The text that defines `name`, to be put in front of a failing program. Unless given, the
        text of `call` where Python can find it.

    Raises
    ------
    ValueError
        If `name` is not a Python name, or `operands` is less than one, or not one for a view.

    Examples
    --------
    >>> rule = Rule("swish", lambda x: x * x.sigmoid(), lambda x: x / (1 + np.exp(-x)))
    >>> rule.result
    'new'
    """

    name: str
    call: Callable[..., object]
    reference: Callable[..., FloatArray]
    gradient: Callable[..., Sequence[FloatArray]] | None = None
    operands: int = 1
    result: Literal["new", "view", "written"] = "new"
    accepts: Callable[..., bool] | None = None
    is_function: bool = False
    has_jvp: bool = False
    source: str | None = None

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"a program cannot call an operator {self.name!r}")
        if self.operands < 1 or (self.result == "view" and self.operands != 1):
            raise ValueError(f"{self.name} needs at least one operand; for a view, exactly one")

    def definition(self) -> str:
        """Return the text that defines the operator, for people to read and run."""
        if self.source is not None:
            return textwrap.dedent(self.source).strip()
        function = getattr(self.call, "__name__", "...")
        owner = getattr(self.call, "__self__", None)
        try:
            if isinstance(owner, type):  # the `apply` of a custom Function
                text, function = inspect.getsource(owner), f"{owner.__name__}.{function}"
            else:
                text = inspect.getsource(self.call)
        except (OSError, TypeError):
            return f"# {self.name} is yours: from {self.call.__module__} import {function}"
        text = textwrap.dedent(text).strip()
        if text.startswith(("def ", "class ", "@")):
            return text if function == self.name else f"{text}\n\n{self.name} = {function}"
        return "\n".join(f"# {line}" for line in text.splitlines())

    # -- for the model -----------------------------------------------------------------------

    @property
    def takes_tangents(self) -> bool:
        """Whether it may be called with tensors that have tangents."""
        return self.has_jvp or not self.is_function

    def operator(self) -> Operator:
        """Return the row of the model's table: all that it may save, it may also not save."""
        everyone = tuple(range(self.operands))
        saves = tuple(Saving(i, everyone, uncertain=True) for i in everyone)
        result = Saving("result", everyone, uncertain=True)
        return Operator(self.name, "", self.operands, self._computed, (*saves, result))

    def values(self, arrays: Sequence[FloatArray]) -> FloatArray:
        """Return what the reference makes of some arrays.

        Raises
        ------
        SkippedError
            If it is not defined there: `accepts` or, with a ValueError, the reference says so.
        """
        with np.errstate(all="ignore"):
            copies = [array.copy() for array in arrays]
            if self.accepts is not None and not self.accepts(*copies):
                raise SkippedError
            return self._referred(arrays)

    def _referred(self, arrays: Sequence[FloatArray]) -> FloatArray:
        try:
            found = np.asarray(self.reference(*(array.copy() for array in arrays)))
        except ValueError:
            raise SkippedError from None  # shapes that do not go together
        if found.dtype != np.float64:
            raise TypeError(f"the reference of {self.name} returned {found.dtype}, not float64")
        if not np.isfinite(found).all():
            raise SkippedError
        return found

    def picked(self, numbers: IntArray) -> IntArray:
        """Return the elements that a view shows, of an array that numbers them."""
        found = self.reference(numbers.astype(np.float64))
        if not np.isin(found, numbers).all():
            raise TypeError(f"the reference of {self.name} must pick elements: it is of a view")
        return found.astype(np.intp)

    def _computed(
        self, operands: Sequence[Jet], geometries: Sequence[Geometry], extra: object
    ) -> Computed:
        arrays = [jet.values.reshape(jet.shape) for jet in operands]
        result = self.values(arrays)
        jacobians = self.jacobians(arrays, result)
        terms: list[Linear] = []
        for operand, jacobian in enumerate(jacobians):
            if not np.isfinite(jacobian).all():
                raise SkippedError
            rows, columns = (grid.ravel() for grid in np.indices(jacobian.shape))
            terms.append(Linear(operand, rows, columns, jacobian.ravel()))
        return Computed(contiguous(result.shape), result.ravel(), tuple(terms))

    def jacobians(self, arrays: Sequence[FloatArray], result: FloatArray) -> list[FloatArray]:
        """Derivatives of every element of the result by every element of each operand."""
        if self.gradient is not None:
            return self._given(arrays, result)
        return self._measured(arrays, result)

    def _given(self, arrays: Sequence[FloatArray], result: FloatArray) -> list[FloatArray]:
        """Derivatives of every element of the result, from the gradient that the rule states."""
        assert self.gradient is not None
        jacobians = [np.zeros((result.size, array.size)) for array in arrays]
        for row in range(result.size):
            one = np.zeros(result.size)
            one[row] = 1
            with np.errstate(all="ignore"):
                parts = self.gradient(one.reshape(result.shape), *(a.copy() for a in arrays))
            for jacobian, part, array in zip(jacobians, parts, arrays, strict=True):
                jacobian[row] = np.broadcast_to(part, array.shape).ravel()
        return jacobians

    def _measured(self, arrays: Sequence[FloatArray], result: FloatArray) -> list[FloatArray]:
        """The same from values on both sides of each number, exact to the fourth order."""
        jacobians: list[FloatArray] = []
        for operand, array in enumerate(arrays):
            columns: list[FloatArray] = []
            for at, number in enumerate(array.ravel().tolist()):
                step = _STEP * max(1.0, abs(number))

                def moved(
                    by: float, operand: int = operand, at: int = at, step: float = step
                ) -> FloatArray:
                    changed = [a.copy() for a in arrays]
                    changed[operand].reshape(-1)[at] += by * step
                    return self._referred(changed).ravel()

                with np.errstate(all="ignore"):
                    near, far = moved(1) - moved(-1), moved(2) - moved(-2)
                columns.append((8 * near - far) / (12 * step))
            empty = np.zeros((result.size, 0))
            jacobians.append(np.stack(columns, 1) if columns else empty)
        return jacobians
