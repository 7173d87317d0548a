"""The namespace is that of the array API: names, what it says of itself, and results by its rules.

`make array-api` runs the test suite of the standard.
"""

from __future__ import annotations

import typing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import array

# What the standard of 2024 has beside the functions of elements, by its chapters.
NAMES = """
e inf nan newaxis pi
arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril
triu zeros zeros_like
astype can_cast finfo iinfo isdtype result_type
bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
take take_along_axis
__array_namespace_info__ __array_api_version__
matmul matrix_transpose tensordot vecdot
broadcast_arrays broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape roll
squeeze stack tile unstack
argmax argmin count_nonzero nonzero searchsorted where
unique_all unique_counts unique_inverse unique_values
argsort sort
cumulative_prod cumulative_sum max mean min prod std sum var
all any diff
"""
OF_ELEMENTS = """
abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert
bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1
floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log log1p
log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply
negative nextafter not_equal positive pow real reciprocal remainder round sign signbit sin sinh
square sqrt subtract tan tanh trunc
"""
FLOATS = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 5.0, -5.0, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("name", [*NAMES.split(), *OF_ELEMENTS.split()])
def test_names(name: str) -> None:
    assert name in vnp.__all__
    assert hasattr(vnp, name)


def test_an_array_names_the_namespace_for_a_version() -> None:
    x = array([1.0, 2.0], grad=True)
    # Not all that NumPy names: 2.5 says that it has 2025.12, and its arrays do not know it.
    for version in (None, "2024.12", "2022.12"):
        assert x.__array_namespace__(api_version=version) is vnp
    with pytest.raises(ValueError, match="not supported"):
        x.__array_namespace__(api_version="1999.12")
    with pytest.raises(ValueError, match="strings"):
        x.__array_namespace__(api_version=2022)


def test_a_number_with_a_derivative_names_the_namespace() -> None:
    x = array([1.0, 2.0], grad=True)
    assert x.sum().__array_namespace__() is vnp
    # Any other one is NumPy's.
    assert x.detach().sum().__array_namespace__() is np


def test_what_arrays_are_by_default() -> None:
    info = vnp.__array_namespace_info__()
    kinds = info.default_dtypes()
    assert vnp.zeros(2).dtype == vnp.asarray([0.5]).dtype == kinds["real floating"]
    assert vnp.asarray([0.5j]).dtype == kinds["complex floating"]
    assert vnp.arange(2).dtype == kinds["integral"]
    assert vnp.argsort(vnp.zeros(2)).dtype == kinds["indexing"]
    x = vnp.zeros(2, device=info.default_device())
    assert x.device in info.devices()
    assert x.to_device(info.default_device()) is x


def test_dtypes_by_kind() -> None:
    info: Any = vnp.__array_namespace_info__()
    for name, dtype in info.dtypes().items():
        assert getattr(vnp, name) == dtype
        assert vnp.zeros(2, dtype=dtype).dtype == dtype
    assert set(info.dtypes(kind="real floating")) == {"float32", "float64"}
    assert info.dtypes(kind="complex floating", device="cpu").keys() == {"complex64", "complex128"}


def test_what_the_namespace_can_do() -> None:
    can: Any = vnp.__array_namespace_info__().capabilities()
    x = vnp.asarray([1.0, 2.0, 3.0])
    assert can["boolean indexing"]
    assert x[x > 1.5].shape == (2,)
    assert can["data-dependent shapes"]
    assert len(vnp.nonzero(x > 1.5)[0]) == 2
    most = can["max dimensions"]
    assert vnp.ones((1,) * most).ndim == most
    with pytest.raises(ValueError, match="dimension"):
        vnp.ones((1,) * (most + 1))


@pytest.mark.parametrize("name", "int8 int64 uint8 float16 float32 float64 complex64".split())
def test_types_of_numbers_equal_dtypes(name: str) -> None:
    kind, dtype = getattr(vnp, name), vnp.zeros(2, dtype=name).dtype
    # The comparison of the type comes first, and then that of the dtype.
    assert kind == dtype
    assert dtype == kind
    assert dtype in (vnp.bool, kind)
    assert kind != np.dtype("longdouble")
    assert np.dtype("longdouble") != kind
    assert kind == getattr(np, name)
    assert kind != np.longdouble
    assert kind != 3
    assert kind is not None


def zeros_and_numbers(f: Any, grad: bool, x: Any, y: Any) -> Any:
    found = f(array(x, grad), array(y, grad))
    return [vt.numpy.asarray(part).detach().numpy() for part in found]


@pytest.mark.parametrize("grad", [False, True])
def test_zeros_of_remainders_have_the_divisors_sign(grad: bool) -> None:
    x, y = np.repeat(FLOATS, len(FLOATS)), np.tile(FLOATS, len(FLOATS))

    def f(x: Any, y: Any) -> Any:
        return [x % y, np.remainder(x, y), *divmod(x, y), x // y, np.fmod(x, y)]

    with np.errstate(all="ignore"):
        wanted = f(x, y)
    for mine, theirs in zip(zeros_and_numbers(f, grad, x, y), wanted, strict=True):
        np.testing.assert_array_equal(mine, theirs)
        numbers = ~np.isnan(theirs)
        np.testing.assert_array_equal(np.signbit(mine)[numbers], np.signbit(theirs)[numbers])


def test_remainders_have_derivatives() -> None:
    x, y = array([2.5, -2.5, 7.25, 0.0], grad=True), array([2.0, 2.0, -3.0, 1.5], grad=True)
    z = vnp.remainder(x, y)
    z.sum().backward()
    assert x.grad is not None
    assert y.grad is not None
    assert x.grad.tolist() == [1.0] * 4
    assert y.grad.tolist() == (-np.floor(x.detach().numpy() / y.detach().numpy())).tolist()
    x = array([2.5, -2.5], grad=True)
    x2 = x * 1
    x2 %= 2.0
    assert x2.tolist() == [0.5, 1.5]
    assert x2.requires_grad


def test_vecdot_along_an_axis() -> None:
    a = np.arange(12.0).reshape(3, 4)
    numpys: Any = np.vecdot
    for axis in (0, 1, -1, -2):
        found = vnp.vecdot(array(a), array(a + 1), axis=axis)
        np.testing.assert_array_equal(found, numpys(a, a + 1, axis=axis))
    with pytest.raises(np.exceptions.AxisError):
        vnp.vecdot(array(a), array(a), axis=2)
    x, y = array(a[:2, :3], grad=True), array(a[1:, 1:], grad=True)
    assert vt.autograd.gradcheck(lambda x, y: vnp.vecdot(x, y, axis=0), (x, y))


# -- dtypes that stay NumPy's ----------------------------------------------------------------

UNSIGNED = ["H", "I", "L"]


def in_namespace(x: Any) -> Any:
    """An array of the namespace, where it has the dtype."""
    return array(x) if isinstance(x, np.ndarray) and x.dtype.char not in UNSIGNED else x


@pytest.mark.parametrize("code", UNSIGNED)
@pytest.mark.parametrize(
    "name", "add multiply divide maximum equal less bitwise_and power remainder divmod".split()
)
def test_functions_of_elements_take_unsigned_numbers(code: str, name: str) -> None:
    u, i, x = np.array([1, 2, 3], code), np.array([3, 2, 1], "b"), np.array([0.5, 1.5, 2.5])
    for pair in ((u, u), (u, 2), (u[0], u), (u, i), (i, u), (u, x), (x, u), ([1, 2, 3], u)):
        try:
            wanted = getattr(np, name)(*pair)
        except TypeError:
            with pytest.raises(TypeError):
                getattr(vnp, name)(*pair)
            continue
        found = getattr(vnp, name)(*map(in_namespace, pair))
        parts = (found, wanted) if name == "divmod" else ([found], [wanted])
        for mine, theirs in zip(*parts, strict=True):
            assert type(mine) is (np.ndarray if theirs.dtype.char in UNSIGNED else vnp.ndarray)
            assert mine.dtype == theirs.dtype
            np.testing.assert_array_equal(mine, theirs)


def test_unsigned_numbers_are_recorded_as_constants() -> None:
    u = np.array([1, 2, 3], "H")
    x = array([0.5, 1.5, 2.5], grad=True)
    for y in (x * u, u * x, vnp.multiply(u, x), np.multiply(x, u)):
        x.grad = None
        y.sum().backward()
        assert x.grad is not None
        assert x.grad.tolist() == [1.0, 2.0, 3.0]
    z = x * 1
    z += u
    assert z.tolist() == [1.5, 3.5, 5.5]
    assert z.requires_grad


def test_functions_of_elements_store_unsigned_numbers() -> None:
    u = np.array([1, 2, 3], "H")
    x = vnp.zeros(3)
    kept: Any = np.full(3, 7, "H")
    assert vnp.add(u, u, out=x) is x
    assert x.tolist() == [2.0, 4.0, 6.0]
    x += u
    assert x.tolist() == [3.0, 6.0, 9.0]
    assert vnp.add(u, 1, out=kept, where=array([True, False, True])) is kept
    assert kept.tolist() == [2, 7, 4]
    kept += vnp.ones(3, "B")
    assert kept.tolist() == [3, 8, 5]
    with pytest.raises(TypeError, match="same_kind"):
        vnp.add(u, 0.5, out=kept)
    assert kept.tolist() == [3, 8, 5]
    into: Any = np.zeros(3)
    halves, rest = typing.cast("tuple[Any, Any]", vnp.modf(array([1.5] * 3), out=(into, None)))
    assert halves is into
    assert type(rest) is vnp.ndarray
    assert halves.tolist() + rest.tolist() == [0.5] * 3 + [1.0] * 3
    with pytest.raises(TypeError, match="derivative"):
        vnp.add(array([0.5] * 3, grad=True), u, out=into)


# In place of the dots stands an array of unsigned numbers.
CALLS: dict[str, tuple[Any, ...]] = {
    "all": (...,),
    "any": (..., 0),
    "argmax": (..., 1),
    "argmin": (...,),
    "argsort": (...,),
    "broadcast_to": (..., (2, 2, 3)),
    "clip": (..., 2, 4),
    "concat": ([..., np.zeros((1, 3))],),
    "cumsum": (..., 1),
    "diff": (...,),
    "expand_dims": (..., 0),
    "flip": (..., 0),
    "matmul": (..., np.ones((3, 2))),
    "matrix_transpose": (...,),
    "max": (..., 0),
    "mean": (..., 1),
    "min": (...,),
    "moveaxis": (..., 0, 1),
    "permute_dims": (..., (1, 0)),
    "prod": (..., 0),
    "repeat": (..., np.array([1, 2, 0]), 1),
    "reshape": (..., (3, 2)),
    "roll": (..., 1),
    "round": (...,),
    "searchsorted": (np.array([0.5, 2.5]), ...),
    "sort": (..., 0),
    "squeeze": (...,),
    "std": (...,),
    "sum": (..., 0),
    "take": (..., np.array([1, 0]), 1),
    "tile": (..., (2, 1)),
    "tril": (...,),
    "triu": (..., 1),
    "unstack": (...,),
    "var": (..., 1),
    "where": (np.array([True, False, True]), ..., 0),
}


def filled(tree: Any, u: Any, made: Any) -> Any:
    """Arguments with an array in place of the dots, and others as `made` makes them."""
    if tree is ...:
        return u
    if isinstance(tree, list):
        return [filled(part, u, made) for part in tree]
    return made(tree) if isinstance(tree, np.ndarray) else tree


@pytest.mark.parametrize("name", [x for x in CALLS if hasattr(np, x)])
@pytest.mark.parametrize("code", UNSIGNED)
def test_functions_of_arrays_take_unsigned_numbers(code: str, name: str) -> None:
    u = np.array([[3, 1, 2], [0, 5, 4]], code)
    found = getattr(vnp, name)(*[filled(x, u, array) for x in CALLS[name]])
    wanted = getattr(np, name)(*[filled(x, u, np.array) for x in CALLS[name]])
    parts = (found, wanted) if name == "unstack" else ([found], [wanted])
    for mine, theirs in zip(*parts, strict=True):
        assert mine.dtype == theirs.dtype
        assert mine.shape == theirs.shape
        if isinstance(theirs, np.ndarray):
            assert type(mine) is (np.ndarray if theirs.dtype.char in UNSIGNED else vnp.ndarray)
            if mine.dtype == u.dtype:
                # A view is a view.
                assert np.shares_memory(mine, u) == np.shares_memory(theirs, u)
        np.testing.assert_array_equal(mine, theirs)


def test_arrays_in_a_common_shape_keep_their_memory() -> None:
    u, x = np.array([1, 2, 3], "H"), array([[0.5], [1.5]], grad=True)
    a: Any
    a, b = vnp.broadcast_arrays(u, x)
    assert np.shares_memory(a, u)
    assert type(a) is np.ndarray
    assert a.shape == (2, 3)
    assert b.requires_grad
    assert b.tolist() == [[0.5] * 3, [1.5] * 3]
    first: Any
    first, second = vnp.meshgrid(u, array([0.5, 1.5], grad=True))
    assert second.requires_grad
    assert first.tolist() == [[1, 2, 3]] * 2
    first[0] = 7
    assert u.tolist() == [1, 2, 3]
    sparse: Any = vnp.meshgrid(u, copy=False, sparse=True)[0]
    assert np.shares_memory(sparse, u)


def test_a_derivative_is_not_lost_among_unsigned_numbers() -> None:
    u, x = np.array([1, 2, 3], "H"), array([0.5, 1.5, 2.5], grad=True)
    with pytest.raises(vt.errors.NotSupportedError, match="uint16"):
        vnp.clip(u, x, 4)
    with pytest.raises(vt.errors.NotSupportedError, match="uint16"):
        vnp.sum(u, initial=x[0])
    assert vnp.clip(u, x.detach(), 4).tolist() == [1.0, 2.0, 3.0]


def test_results_of_unsigned_numbers_are_stored() -> None:
    u: Any = np.array([[1, 2], [3, 4]], "H")
    out = vnp.zeros(2)
    mine: Any = vnp.sum
    numpys: Any = np.sum
    watched = out[:1]
    for function, given, options in (
        (mine, (u, 0, None, out), {}),
        (mine, (u,), {"axis": 0, "out": out}),
        (numpys, (u,), {"axis": 0, "out": out}),
    ):
        out[...] = 0
        before = out._version
        assert function(*given, **options) is out
        assert out.tolist() == [4.0, 6.0]
        assert out._version > before
        assert watched.tolist() == [4.0]


def test_arrays_of_other_libraries_may_be_unsigned() -> None:
    u = np.array([1, 2], "I")
    found: Any = vnp.from_dlpack(u)
    assert type(found) is np.ndarray
    assert np.shares_memory(found, u)


def test_arrays_of_unsigned_numbers_are_copied_as_numpys() -> None:
    u = np.array([[1, 2, 3], [4, 5, 6]], "H")
    for make in (vnp.asarray, vnp.array):
        assert np.shares_memory(make(u, copy=False), u)
        assert np.shares_memory(make(u, "H", copy=None), u)
        assert not np.shares_memory(make(u, copy=True), u)
        with pytest.raises(ValueError, match="avoid copy"):
            make(u, "I", copy=False)
        with pytest.raises(ValueError, match="avoid copy"):
            make(array([1.0]), "I", copy=False)
        assert np.shares_memory(make(u, copy=None), u)
        assert make(u, order="F").flags["F_CONTIGUOUS"]
        assert make([[1, 2], [3, 4]], "H", order="F").flags["F_CONTIGUOUS"]
    assert not np.shares_memory(vnp.array(u), u)
    assert vnp.array(u, ndmin=3).shape == (1, 2, 3)
    assert vnp.array([1, 2], "H", ndmin=2).shape == (1, 2)
    assert vnp.asarray(array([1.0, 2.0], grad=True), "H").tolist() == [1, 2]


def test_a_number_in_another_dtype_is_a_number() -> None:
    x = array([1.5, 2.0], grad=True)
    function: Any = vnp.astype
    for cast in (lambda x, d: x.astype(d), function):
        single = cast(x[0], vnp.float32)
        assert (type(single), single.dtype) == (vnp.scalar, np.float32)
        single.backward()
        assert x.grad is not None
        assert x.grad.tolist() == [1.0, 0.0]
        x.grad = None
        assert type(cast(x[0], vnp.float64)) is vnp.scalar
        for kind in (np.int64, np.uint16):
            assert type(cast(x[0], kind)) is kind
            assert type(cast(np.float64(2.5), kind)) is kind
    with pytest.raises(TypeError, match="array or scalar"):
        function([1.0], float)


def test_each_test_that_is_skipped_has_a_reason() -> None:
    lines = (Path(__file__).parent / "array_api_skips.txt").read_text("utf-8").splitlines()
    assert lines == sorted(lines)
    for line in lines:
        name, reason = line.split("  # ")
        assert name.startswith("array_api_tests/test_")
        assert "#" not in name
        assert reason
