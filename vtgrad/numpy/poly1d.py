"""The class of polynomials of NumPy's old interface."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any, ClassVar, SupportsIndex

import numpy as np

from vtgrad.numpy.convolution import convolve
from vtgrad.numpy.index import getitem, setitem
from vtgrad.numpy.operands import ArrayLike, as_array, cast, fresh, of, value_of
from vtgrad.numpy.polynomials import (
    PolyBase,
    poly,
    polyadd,
    polyder,
    polydiv,
    polyint,
    polysub,
    polyval,
    roots,
)
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making

__all__ = ["poly1d"]


class poly1d(PolyBase):
    """A polynomial, with operators.

    Leading zeros are no coefficients, as in NumPy, but they take part in what is computed, so they
    have gradients. Inside of `vmap`, where no values are read, they are coefficients.

    Parameters
    ----------
    c_or_r : array_like or poly1d
        The coefficients, the highest power first, or the roots.
    r : bool
        Whether roots are given.
    variable : str, optional
        The name of the variable in the printed form.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> p = np.poly1d(np.array([1.0, 2.0])) * [1.0, 3.0]
    >>> p
    poly1d([1., 5., 6.])
    >>> p(1.0).item()
    12.0
    """

    __slots__ = ("variable",)

    variable: str
    whole: ndarray

    __hash__: ClassVar[Any] = None

    # NumPy's numbers and arrays leave operators with a polynomial to it.
    __array_ufunc__ = None

    def __init__(
        self, c_or_r: ArrayLike | poly1d, r: bool = False, variable: str | None = None
    ) -> None:
        given: Any = c_or_r
        if isinstance(given, (poly1d, np.poly1d)) and variable is None:
            variable = given.variable
        super().__init__(poly(given) if r else given)
        if self.whole._impl.array.ndim > 1:
            raise ValueError("Polynomial must be 1d only.")
        if not self.whole.shape[0]:
            self.whole = fresh(making.zeros(1, self.whole.dtype))
        self.variable = variable or "x"

    @property
    def coeffs(self) -> ndarray:
        """The coefficients, the highest power first."""
        x = self.whole
        if x._impl.key_set:
            return x
        places = np.flatnonzero(value_of(x))
        start = int(places[0]) if places.size else x.shape[0] - 1
        return as_array(F.slice(x, 0, start, None)) if start else x

    @coeffs.setter
    def coeffs(self, value: object) -> None:
        if value is not self.whole:
            raise AttributeError("Cannot set attribute")

    c: property = typing.cast("property", coeffs)
    coef: property = typing.cast("property", coeffs)
    coefficients: property = typing.cast("property", coeffs)

    @property
    def order(self) -> int:
        """The degree."""
        return self.coeffs.shape[0] - 1

    o = order

    @property
    def roots(self) -> ndarray:
        """The roots."""
        return roots(self.whole)

    r = roots

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        found: np.ndarray[Any, Any] = making.asarray(self.coeffs, dtype)
        return found.copy() if copy else found

    def __repr__(self) -> str:
        return repr(self._numpys())

    def __str__(self) -> str:
        return str(self._numpys())

    def _numpys(self) -> np.poly1d:
        """The polynomial of NumPy with the values of the coefficients."""
        return np.poly1d(value_of(self.coeffs), variable=self.variable)

    def __len__(self) -> int:
        return self.order

    def __iter__(self) -> Iterator[ndarray]:
        return iter(self.coeffs)

    def __getitem__(self, power: int) -> ndarray:
        coefficients = self.coeffs
        order = coefficients.shape[0] - 1
        if not 0 <= power <= order:
            return typing.cast("ndarray", coefficients.dtype.type(0))
        return getitem(coefficients, order - power)

    def __setitem__(self, power: int, value: ArrayLike) -> None:
        if power < 0:
            raise ValueError("Does not support negative powers.")
        changed: Any = F.clone(self.whole)
        missing = power - changed.shape[0] + 1
        if missing > 0:
            changed = F.cat([fresh(making.zeros(missing, changed.dtype)), changed], 0)
        changed = as_array(changed)
        setitem(changed, changed.shape[0] - 1 - power, value)
        self.whole = changed

    def __call__(self, val: ArrayLike | poly1d) -> ndarray:
        """The value at points; a polynomial if one is given."""
        return polyval(self.whole, typing.cast("Any", val))

    def __neg__(self) -> poly1d:
        return poly1d(-self.whole)

    def __pos__(self) -> poly1d:
        return self

    def __mul__(self, other: ArrayLike | poly1d) -> poly1d:
        given = PolyBase(typing.cast("Any", other)).whole
        kind = np.result_type(self.whole.dtype, given.dtype)
        return poly1d(convolve(cast(self.whole, kind), given))

    def __rmul__(self, other: ArrayLike) -> poly1d:
        return self * other

    def __add__(self, other: ArrayLike | poly1d) -> poly1d:
        return _made(polyadd(self.whole, poly1d(other).whole))

    def __radd__(self, other: ArrayLike) -> poly1d:
        return self + other

    def __sub__(self, other: ArrayLike | poly1d) -> poly1d:
        return _made(polysub(self.whole, poly1d(other).whole))

    def __rsub__(self, other: ArrayLike) -> poly1d:
        return _made(polysub(poly1d(other).whole, self.whole))

    def __pow__(self, exponent: int) -> poly1d:
        number = exponent
        if np.ndim(number) or int(number) != number or number < 0:
            raise ValueError("Power to non-negative integers only.")
        found = poly1d([1])
        for _ in range(int(number)):
            found = self * found
        return found

    def __truediv__(self, other: ArrayLike | poly1d) -> poly1d | tuple[poly1d, poly1d]:
        if not isinstance(other, PolyBase) and not of(other)._impl.array.ndim:
            return poly1d(self.whole / of(other))
        quotient, rest = polydiv(self.coeffs, poly1d(other).coeffs)
        return poly1d(quotient), poly1d(rest)

    def __rtruediv__(self, other: ArrayLike) -> poly1d | tuple[poly1d, poly1d]:
        if not of(other)._impl.array.ndim:
            return poly1d(of(other) / self.coeffs)
        return poly1d(other) / self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, poly1d):
            return NotImplemented
        mine, others = value_of(self.coeffs), value_of(other.coeffs)
        return mine.shape == others.shape and typing.cast("bool", (mine == others).all())

    def __ne__(self, other: object) -> bool:
        if not isinstance(other, poly1d):
            return NotImplemented
        return not self == other if self.order != other.order else np.logical_not(self == other)

    def integ(self, m: SupportsIndex = 1, k: ArrayLike = 0) -> poly1d:
        """The integral, as `polyint` gives it.

        Parameters
        ----------
        m : int
            Its order.
        k : array_like
            The constants.

        Returns
        -------
        poly1d
            The polynomial.
        """
        return _made(polyint(self.whole, m, k))

    def deriv(self, m: SupportsIndex = 1) -> poly1d:
        """The derivative, as `polyder` gives it.

        Parameters
        ----------
        m : int
            Its order.

        Returns
        -------
        poly1d
            The polynomial.
        """
        return _made(polyder(self.whole, m))


def _made(coefficients: ndarray) -> poly1d:
    return poly1d(coefficients)
