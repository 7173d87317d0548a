"""The assertions of ``numpy.testing`` for arrays of the namespace: they compare values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.testing import assert_no_warnings as assert_no_warnings
from numpy.testing import assert_raises as assert_raises
from numpy.testing import assert_raises_regex as assert_raises_regex
from numpy.testing import assert_string_equal as assert_string_equal
from numpy.testing import suppress_warnings as suppress_warnings

from vtgrad.numpy.function import function
from vtgrad.numpy.on_values import values_in

__all__ = [
    "assert_",
    "assert_allclose",
    "assert_almost_equal",
    "assert_approx_equal",
    "assert_array_almost_equal",
    "assert_array_almost_equal_nulp",
    "assert_array_equal",
    "assert_array_less",
    "assert_array_max_ulp",
    "assert_equal",
    "assert_no_warnings",
    "assert_raises",
    "assert_raises_regex",
    "assert_string_equal",
    "suppress_warnings",
]

_Assertion: TypeAlias = Callable[..., None]


def _assertion(name: str) -> _Assertion:
    call: Any = getattr(np.testing, name)

    def asserted(*args: object, **options: object) -> object:
        values: Any = values_in(list(args))
        named: Any = values_in(options)
        return call(*values, **named)

    asserted.__name__ = asserted.__qualname__ = name
    asserted.__doc__ = f"As ``numpy.testing.{name}``, on the values of arrays."
    found: Any = function(of=call)(asserted)
    return found  # type: ignore[no-any-return]  # what it takes, NumPy says


assert_: Final = _assertion("assert_")
assert_allclose: Final = _assertion("assert_allclose")
assert_almost_equal: Final = _assertion("assert_almost_equal")
assert_approx_equal: Final = _assertion("assert_approx_equal")
assert_array_almost_equal: Final = _assertion("assert_array_almost_equal")
assert_array_almost_equal_nulp: Final = _assertion("assert_array_almost_equal_nulp")
assert_array_equal: Final = _assertion("assert_array_equal")
assert_array_less: Final = _assertion("assert_array_less")
assert_array_max_ulp: Final = _assertion("assert_array_max_ulp")
assert_equal: Final = _assertion("assert_equal")
