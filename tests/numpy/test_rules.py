"""Where NumPy and PyTorch differ, arrays of the namespace follow NumPy."""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import array, compare
from vtgrad.errors import GradientLostWarning, NotSupportedError
from vtgrad.numpy import ndarray, scalar


def swap(a: Any) -> tuple[Any, Any]:
    a[0], a[1] = a[1], a[0]
    s = a[2]
    s += 5
    return a, s


def test_scalars_are_copies_and_plus_equals_gives_the_name_another_number() -> None:
    compare(lambda: swap(array([1, 2, 3])), lambda: swap(np.array([1, 2, 3])), "constants")
    recorded = array([1.0, 2.0, 3.0], grad=True) * 1
    a, s = swap(recorded)
    assert a.tolist() == [2, 1, 3]
    assert s.item() == 8
    assert type(s) is scalar
    # PyTorch's scalars are views.
    b, t = swap(vt.tensor([1, 2, 3]))
    assert (b.tolist(), t.item()) == ([2, 2, 8], 8)


@pytest.mark.parametrize("name", "+= -= *= /= //= %= **=".split())
def test_operators_in_place_never_write_a_scalar(name: str) -> None:
    x = array([2.0, 3.0], grad=True) * 1
    scope: dict[str, Any] = {"s": x[0], "kept": x}
    first = scope["s"]
    exec(f"s {name} 2", scope)
    plain: dict[str, Any] = {"s": np.float64(2)}
    exec(f"s {name} 2", plain)
    assert scope["s"] is not first
    assert first.item() == 2
    assert x.tolist() == [2, 3]
    assert scope["s"].item() == plain["s"]


def test_a_recorded_element_is_one_operator() -> None:
    x = array([1.0, 2.0], grad=True)
    s = x[1]
    assert type(s.grad_fn).__name__ == "SelectBackward0_copy"
    assert s.grad_fn.next_functions[0][0] is not None
    assert type(s.grad_fn.next_functions[0][0]).__name__ == "AccumulateGrad"
    (s * s).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 4]


def test_0d_results_are_scalars_where_numpys_are() -> None:
    x = array([[1.0, 2.0], [3.0, 4.0]], grad=True)
    for s in (x[0, 1], x.sum(), x.max(), x.std(), x[0] @ x[1], x.sum() * 2, -x[0, 0], x[0, 0][()]):
        assert type(s) is scalar
    for a in (x.reshape(-1)[:1].reshape(()), x[0, 0, ...], x.sum()[...], array(2.0)):
        assert type(a) is ndarray
        assert a.shape == ()
    plain = x.detach()
    for s in (plain[0, 1], plain.sum(), plain.max(), plain[0] @ plain[1]):
        assert type(s) is np.float64
    assert type(plain.any()) is np.bool_
    assert type(plain.argmax()) is np.int64
    with vt.no_grad():
        assert type(x.sum()) is type(x[0, 0]) is np.float64


def test_arithmetic_on_0d_arrays_gives_scalars() -> None:
    a = array(2.0, grad=True)
    assert type(a * 2) is scalar
    assert type(array(2.0) * 2) is np.float64


def test_scalars_have_no_length_no_iteration_and_no_elements_to_write() -> None:
    s = array([2.0], grad=True)[0]
    with pytest.raises(TypeError):
        len(s)
    with pytest.raises(TypeError):
        iter(s)
    with pytest.raises(TypeError, match="item assignment"):
        s[()] = 3
    with pytest.raises(IndexError):
        s[0]
    with pytest.raises(AttributeError):
        s.shape = (1,)
    view = s[...]
    view[...] = 7
    assert s.item() == 2
    flat = s.reshape(1)
    flat[0] = 9
    assert s.item() == 2


def test_scalars_are_hashable_and_arrays_are_not() -> None:
    s = array([2.0], grad=True)[0]
    assert hash(s) == hash(2.0)
    assert {2.0: "found"}[s] == "found"
    with pytest.raises(TypeError, match="unhashable"):
        hash(array([2.0]))


def test_dtype_shape_strides_and_sizes_are_numpys() -> None:
    x, y = array(np.ones((2, 3), "f")), np.ones((2, 3), "f")
    assert isinstance(x.dtype, np.dtype)
    assert (x.dtype.kind, x.dtype.type) == ("f", np.float32)
    assert type(x.shape) is tuple
    for name in ("dtype", "shape", "strides", "size", "itemsize", "nbytes", "ndim"):
        assert getattr(x, name) == getattr(y, name)
        assert type(getattr(x, name)) is type(getattr(y, name))
    assert x.T.shape == (3, 2)
    assert array(np.ones((2, 3, 4))).T.shape == (4, 3, 2)
    assert x.flags.c_contiguous
    assert x[0].base is not None


def test_the_shape_can_be_set_in_place() -> None:
    x = array(np.arange(6.0), grad=True) * 1
    y = x
    x.shape = 2, -1
    assert y.shape == (2, 3)
    x[0, 1] *= 10
    leaf = x.sum()
    leaf.backward()
    with pytest.raises(ValueError, match="cannot reshape"):
        x.shape = (4,)
    nothing: Any = None
    with pytest.raises(TypeError):
        x.shape = nothing
    z = array(np.arange(6.0).reshape(2, 3)).T
    with pytest.raises(AttributeError):
        z.shape = (6,)


def test_promotion_is_numpys() -> None:
    i, f, d = array([1, 2]), array(np.ones(2, "f")), array(1.0)
    assert (i / 2).dtype == np.float64
    assert (i + 1.0).dtype == np.float64
    assert (d * f).dtype == np.float64
    assert (f * 2.0).dtype == np.float32
    assert (f * np.float64(2)).dtype == np.float64


def test_in_place_casts_are_of_the_same_kind_and_stores_cast_anything() -> None:
    x = array([1, 2, 3])
    with pytest.raises(TypeError, match="same_kind"):
        x += 1.5
    assert x.tolist() == [1, 2, 3]
    x[...] = 2.9
    assert x.tolist() == [2, 2, 2]
    x[0] = array([7.5], grad=True)[0].detach()
    assert x.tolist() == [7, 2, 2]
    f = array(np.ones(2, "f"))
    f += array([0.1, 0.2])
    assert f.dtype == np.float32


def test_clip_into_itself_is_one_operator() -> None:
    x = array([1.0, 5.0], grad=True)
    c = x * 2
    assert c.clip(3, 8, out=c) is c
    c.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 0]


def test_conversions_warn_and_item_is_silent() -> None:
    s = array([0.5], grad=True)[0]
    for convert in (float, int, complex, math.exp):
        with pytest.warns(GradientLostWarning):
            convert(s)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert s.item() == 0.5
        assert array([0.5, 1.5], grad=True).item(1) == 1.5
        assert f"{s:.2f}" == "0.50"
    with pytest.raises(TypeError):
        float(array([1.0, 2.0]))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(array([1.0, 2.0]))
    with pytest.raises(ValueError):  # noqa: PT011  # NumPy's text
        array([1.0, 2.0]).item()


def test_isinstance_is_numpys() -> None:
    x = array([1.0, 2.0], grad=True)
    s = x[0]
    assert isinstance(x, vnp.ndarray)
    assert isinstance(np.ones(2), vnp.ndarray)
    assert not isinstance(s, vnp.ndarray)
    assert not isinstance(np.float64(1), vnp.ndarray)
    floating: Any = vnp.floating
    assert not isinstance(x, floating)
    for cls in (vnp.generic, vnp.number, vnp.inexact, vnp.floating, vnp.float64):
        assert isinstance(s, cls)
        assert isinstance(np.float64(1), cls)
    for other in (vnp.integer, vnp.complexfloating, vnp.float32):
        assert not isinstance(s, other)
    arrays: Any = vnp.ndarray
    assert arrays[Any, Any].__origin__ is vnp.ndarray


def test_types_of_scalars_are_numpys_and_calls_record() -> None:
    assert np.dtype(vnp.float32) == np.float32
    assert vnp.float64 == np.float64
    assert np.float64 == vnp.float64
    assert {np.float64: 1}[vnp.float64] == 1
    assert issubclass(np.float64, vnp.floating)
    assert issubclass(vnp.float64, np.floating)
    assert np.issubdtype(array([1.0]).dtype, vnp.floating)
    assert type(vnp.float64(2)) is np.float64
    x = array([1.5, 2.0], grad=True)
    convert: Any = vnp.float64
    s = convert(x[0])
    assert type(s) is scalar
    s.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1, 0]
    assert vnp.float32(x).dtype == np.float32
    integers: Any = vnp.int64
    assert integers([1, 2]).tolist() == [1, 2]


def test_negative_steps_are_views() -> None:
    x = array([1.0, 2.0, 3.0], grad=True)
    assert x[::-1].tolist() == [3, 2, 1]
    weights = array([1.0, 10.0, 100.0])
    (x[::-1] * weights).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [100, 10, 1]
    y = x * 1
    y[::-1] = [4, 5, 6]
    assert y.tolist() == [6, 5, 4]
    view = y[::-1]
    with pytest.raises(NotSupportedError, match="reshape"):
        view.shape = (3, 1)
    y[0] = 9
    view[0] = x[1]
    assert view.tolist() == [2, 5, 9]
    assert y.tolist() == [9, 5, 2]
    x.grad = None
    (y * weights).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 100, 0]


def test_text_is_numpys_with_what_it_does_not_know() -> None:
    x, y = array([1.0, 2.5]), np.array([1.0, 2.5])
    assert (repr(x), str(x)) == (repr(y), str(y))
    x.requires_grad_()
    assert repr(x) == "array([1. , 2.5], requires_grad=True)"
    assert repr(x[1] * 2) == "np.float64(5.0, grad_fn=<MulBackward0>)"
    assert str(x[1] * 2) == "5.0"


def test_copies_and_pickles_keep_the_class() -> None:
    x = array([1.0, 2.0], grad=True)
    s = x[1] * 2
    for made in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert type(made) is ndarray
        assert made.requires_grad
        assert made.tolist() == [1, 2]
    other = pickle.loads(pickle.dumps(s))
    assert type(other) is scalar
    assert other.item() == 4
    assert copy.deepcopy(s) is s
    part = copy.deepcopy(x * 3)
    part.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3, 3]
    twin = copy.copy(x)
    assert twin is not x
    assert not np.may_share_memory(twin.detach().numpy(), x.detach().numpy())


def test_a_class_body_may_hold_functions() -> None:
    class Holder:
        total = vnp.sum
        sine = vnp.sin
        kind = vnp.float64

    assert Holder().total([1.0, 2.0]) == 3
    assert Holder().sine(0.0) == 0
    assert pickle.loads(pickle.dumps(vnp.sum)) is vnp.sum
    assert pickle.loads(pickle.dumps(vnp.sin)) is vnp.sin
    assert vnp.sum.__name__ == "sum"


INTO_ITS_OPERAND = """
np.cumprod(y, 0, out=y)
np.cumulative_prod(y, axis=1, out=y)
np.multiply.accumulate(y, 0, out=y)
np.maximum.accumulate(y, 1, out=y)
np.hypot.accumulate(y, 0, out=y)
np.einsum("ij,ij->ij", y, y, out=y)
np.outer(y[0], y[1], out=y)
np.prod(y, 0, out=y[0])
np.max(y, 0, out=y[1])
np.var(y, 0, out=y[0])
np.std(y, 1, out=y[:, 0])
np.multiply.reduce(y, 0, out=y[0])
np.hypot.reduce(y, 0, out=y[0])
y.cumprod(0, out=y)
"""


@pytest.mark.parametrize("call", INTO_ITS_OPERAND.strip().splitlines())
def test_what_is_put_into_its_operand_has_its_derivative(call: str) -> None:
    def function(x: Any) -> Any:
        y = x * 1
        exec(call, {"np": vnp, "y": y})
        return (y * y).sum()

    x = array(np.array([[1.5, 2.0], [3.0, 0.5]]), grad=True)
    right = x.detach().numpy().copy()
    exec(call, {"np": np, "y": right})
    np.testing.assert_allclose(function(x).item(), (right * right).sum(), rtol=1e-12)
    assert vt.autograd.gradcheck(function, (x,))


def test_flags_that_are_assigned_hold_for_the_array() -> None:
    for make in (np.array, vnp.array):
        x: Any = make([[1.0, 2.0], [3.0, 4.0]])
        view = x[0]
        x.flags.writeable = False
        assert not x.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            x.fill(1)
        with pytest.raises(ValueError, match="read-only"):
            x[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            x += 1
        view[0] = 9
        assert x.tolist() == [[9.0, 2.0], [3.0, 4.0]]
        flags = x.flags
        flags["W"] = True
        assert x.flags["WRITEABLE"]
        assert x.flags.writeable
        x += 1
        assert x.tolist() == [[10.0, 3.0], [4.0, 5.0]]
        assert (flags.c_contiguous, flags.f_contiguous, x.T.flags.fnc) == (True, False, True)
        assert "C_CONTIGUOUS : True" in repr(flags)
        with pytest.raises(KeyError):
            flags["C"] = False
        with pytest.raises(KeyError):
            _ = flags["nothing"]
    number: Any = vnp.array([1.0]).requires_grad_()[0]
    with pytest.raises(ValueError, match="scalars"):
        number.flags.writeable = False
