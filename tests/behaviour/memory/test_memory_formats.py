"""`channels_last` and its sisters, wherever a memory format may be asked for."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest

from tests.support import differs_from_torch, fn_name, leaf, ramp, refused, vt

ROWS = (60, 20, 5, 1)
LAST = (60, 1, 15, 3)
SHAPE = (2, 3, 4, 5)
CASTS = (
    *("bool", "byte", "char", "short", "int", "long", "half", "float", "double"),
    *("cfloat", "cdouble"),
)


def images() -> vt.Tensor:
    return ramp(*SHAPE)


def strides(x: vt.Tensor) -> tuple[int, ...]:
    return tuple(x.stride())


def last(x: vt.Tensor) -> vt.Tensor:
    return x.contiguous(memory_format=vt.channels_last)


# -- the formats themselves --------------------------------------------------------------------


def test_formats_have_names_and_stay_themselves() -> None:
    for name in ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d"):
        memory_format = getattr(vt, name)
        assert repr(memory_format) == str(memory_format) == f"{vt.__name__}.{name}"
        assert isinstance(memory_format, vt.memory_format)
        assert copy.deepcopy(memory_format) is memory_format
        assert pickle.loads(pickle.dumps(memory_format)) is memory_format


# -- contiguous and is_contiguous ---------------------------------------------------------------


def test_contiguous_copies_into_a_format_and_returns_what_has_it() -> None:
    x = images()
    y = last(x)
    assert (strides(y), y.equal(x)) == (LAST, True)
    assert not y.is_contiguous()
    assert last(y) is y
    assert x.contiguous() is x
    assert strides(y.contiguous()) == ROWS
    volumes = ramp(2, 3, 2, 2, 2).contiguous(memory_format=vt.channels_last_3d)
    assert strides(volumes) == (24, 1, 12, 6, 3)
    assert volumes.is_contiguous(memory_format=vt.channels_last_3d)


@pytest.mark.parametrize(
    ("shape", "stride", "rows", "channels_last"),
    [
        (SHAPE, ROWS, True, False),
        (SHAPE, LAST, False, True),
        (SHAPE, (120, 1, 30, 6), False, False),
        ((2, 1, 4, 5), (20, 20, 5, 1), True, True),
        ((2, 3, 1, 1), (3, 1, 9, 9), True, True),
        ((1, 1, 1, 1), (0, 0, 0, 0), True, True),
        ((2, 0, 3, 4), (12, 12, 4, 1), True, False),
        ((2, 0, 3, 4), (0, 1, 0, 0), True, True),
        ((2, 3), (1, 2), False, False),
    ],
)
def test_strides_of_dimensions_of_one_element_do_not_count_but_those_of_none_do(
    shape: tuple[int, ...], stride: tuple[int, ...], rows: bool, channels_last: bool
) -> None:
    x = vt.empty_strided(shape, stride)
    assert x.is_contiguous() is x.is_contiguous(memory_format=vt.contiguous_format) is rows
    assert x.is_contiguous(memory_format=vt.preserve_format) is rows
    assert x.is_contiguous(memory_format=vt.channels_last) is channels_last
    assert not x.is_contiguous(memory_format=vt.channels_last_3d)


@pytest.mark.parametrize(
    ("shape", "memory_format"),
    [
        ((2, 3), vt.channels_last),
        ((2, 3, 2, 2, 2), vt.channels_last),
        (SHAPE, vt.channels_last_3d),
    ],
)
def test_a_format_is_for_one_number_of_dimensions(
    shape: tuple[int, ...], memory_format: vt.memory_format
) -> None:
    x = ramp(*shape)
    calls: list[Callable[[], object]] = [
        lambda: x.contiguous(memory_format=memory_format),
        lambda: x.clone(memory_format=memory_format),
        lambda: x.to(memory_format=memory_format),
        lambda: x.float(memory_format=memory_format),
        lambda: x.cpu(memory_format=memory_format),
        lambda: vt.zeros_like(x, memory_format=memory_format),
        lambda: vt.empty(x.shape, memory_format=memory_format),
    ]
    for call in calls:
        with refused(RuntimeError, "memory-format", [x]):
            call()


def test_there_must_be_something_to_preserve() -> None:
    x = images()
    assert x.contiguous(memory_format=vt.preserve_format) is x
    with refused(RuntimeError, "memory-format"):
        last(x).contiguous(memory_format=vt.preserve_format)
    with refused(RuntimeError, "memory-format"):
        vt.empty(2, 3, memory_format=vt.preserve_format)
    with refused(RuntimeError, "memory-format"):
        x.resize_(2, 3, memory_format=vt.preserve_format)


def test_what_is_no_format_is_refused() -> None:
    x = images()
    calls: list[Callable[[], object]] = [
        lambda: x.contiguous(memory_format=None),  # type: ignore[arg-type]  # the test
        lambda: x.is_contiguous(memory_format=None),  # type: ignore[arg-type]  # the test
        lambda: x.clone(memory_format="channels_last"),  # type: ignore[arg-type]  # the test
        lambda: x.double(memory_format=3),  # type: ignore[arg-type]  # the test
        lambda: x.to(vt.float64, memory_format=3),  # type: ignore[call-overload]  # the test
        lambda: x.to(vt.float64, False, False, vt.channels_last),  # type: ignore[call-overload]
        lambda: vt.ones_like(x, memory_format=3),  # type: ignore[arg-type]  # the test
        lambda: vt.empty(2, 3, memory_format=3),  # type: ignore[arg-type]  # the test
        lambda: x.resize_(2, 3, memory_format=3),  # type: ignore[arg-type]  # the test
    ]
    for call in calls:
        with refused(TypeError, "argument-type", [x]):
            call()


# -- copies and casts ---------------------------------------------------------------------------


def test_a_clone_preserves_unless_asked_for_another_format() -> None:
    x = last(images())
    assert strides(x.clone()) == strides(x.clone(memory_format=vt.preserve_format)) == LAST
    assert strides(x.clone(memory_format=vt.contiguous_format)) == ROWS
    assert strides(vt.clone(images(), memory_format=vt.channels_last)) == LAST
    gaps = last(ramp(2, 6, 4, 5))[:, ::2]
    assert (strides(gaps), strides(gaps.clone())) == ((120, 2, 30, 6), LAST)


@pytest.mark.parametrize("name", CASTS)
def test_a_cast_takes_a_format(name: str) -> None:
    x = images()
    cast = getattr(x, name)(memory_format=vt.channels_last)
    assert strides(cast) == LAST
    assert getattr(cast, name)(memory_format=vt.channels_last) is cast
    assert getattr(cast, name)() is cast
    assert strides(getattr(cast, name)(memory_format=vt.contiguous_format)) == ROWS


def test_to_takes_a_format_in_each_of_its_forms() -> None:
    x, other = images(), ramp(1).float()
    for y in (
        x.to(memory_format=vt.channels_last),
        x.to(vt.float64, memory_format=vt.channels_last),
        x.to(vt.float32, False, True, memory_format=vt.channels_last),
        x.to(dtype=vt.float32, memory_format=vt.channels_last),
        x.to("cpu", vt.float32, memory_format=vt.channels_last),
        x.to("cpu", memory_format=vt.channels_last),
        x.to(other, memory_format=vt.channels_last),
        x.cpu(memory_format=vt.channels_last),
        x.type(vt.float64, memory_format=vt.channels_last),
        x.type(vt.int32, False, memory_format=vt.channels_last),
    ):
        assert (strides(y), y._version) == (LAST, 0)
    assert x.to(memory_format=None) is x.to(memory_format=vt.preserve_format) is x
    assert x.type(memory_format=vt.channels_last) == x.type()


def test_to_tells_channels_last_from_other_orders_and_nothing_else() -> None:
    x = ramp(2, 3).t()
    assert x.to(memory_format=vt.contiguous_format) is x
    assert strides(x.to(copy=True, memory_format=vt.contiguous_format)) == (2, 1)
    y = last(images())
    assert y.to(memory_format=vt.channels_last) is y
    gaps = last(ramp(2, 6, 4, 5))[:, :3]
    assert gaps.to(memory_format=vt.channels_last) is gaps
    assert strides(y.to(memory_format=vt.contiguous_format)) == ROWS


def test_lazy_tensors_are_resolved_into_a_format() -> None:
    z = vt.view_as_complex(ramp(*SHAPE, 2))
    for x in (z.conj(), z.conj().imag):
        for y in (last(x), x.clone(memory_format=vt.channels_last)):
            assert (strides(y), y.is_conj(), y.is_neg()) == (LAST, False, False)
            assert y.tolist() == x.tolist()


# -- new tensors --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["empty", "zeros", "ones", "rand", "randn"])
def test_new_tensors_like_another_take_a_format(name: str) -> None:
    like = getattr(vt, f"{name}_like")
    x = last(images())
    assert strides(like(x)) == strides(like(images(), memory_format=vt.channels_last)) == LAST
    assert strides(like(x, memory_format=vt.contiguous_format)) == ROWS
    y = like(x, dtype=vt.float32, requires_grad=True, memory_format=vt.preserve_format)
    assert (strides(y), y.requires_grad, y.dtype, y._version) == (LAST, True, vt.float32, 0)


def test_values_do_not_depend_on_the_format() -> None:
    x = images()
    assert vt.zeros_like(x, memory_format=vt.channels_last).sum() == 0
    assert vt.ones_like(x, memory_format=vt.channels_last).sum() == 120
    assert vt.full_like(x, 7, memory_format=vt.channels_last).sum() == 840
    assert strides(vt.full_like(x, 7, memory_format=vt.channels_last)) == LAST
    assert strides(vt.randint_like(x, 9, memory_format=vt.channels_last)) == LAST


def test_empty_takes_a_format_but_not_together_with_out() -> None:
    x = vt.empty(*SHAPE, dtype=vt.float64, requires_grad=True, memory_format=vt.channels_last)
    assert (strides(x), x.requires_grad, x._version) == (LAST, True, 0)
    assert strides(vt.empty((2, 3), memory_format=vt.contiguous_format)) == (3, 1)
    out = vt.zeros(SHAPE)
    with refused(RuntimeError, "memory-format", [out]):
        vt.empty(SHAPE, out=out, memory_format=vt.channels_last)
    assert vt.empty(SHAPE, out=out, memory_format=None) is out


def test_tensors_without_elements_have_the_strides_of_the_format_too() -> None:
    x = vt.zeros(2, 3, 0, 5)
    for y in (
        last(x),
        x.clone(memory_format=vt.channels_last),
        x.double(memory_format=vt.channels_last),
        vt.ones_like(x, memory_format=vt.channels_last),
        vt.empty(2, 3, 0, 5, memory_format=vt.channels_last),
        vt.zeros(1).resize_(2, 3, 0, 5, memory_format=vt.channels_last),
    ):
        assert strides(y) == strides(y.clone()) == (0, 1, 15, 3)
        assert last(y) is y
    assert strides(x.transpose(0, 1).clone()) == (5, 15, 5, 1)


# -- resize_ ------------------------------------------------------------------------------------


def test_resize_takes_a_format() -> None:
    x = ramp(3)
    assert x.resize_(*SHAPE, memory_format=vt.channels_last) is x
    assert (strides(x), x._version, x.untyped_storage().nbytes()) == (LAST, 1, 960)
    x.resize_(SHAPE)
    assert (strides(x), x._version) == (LAST, 1)
    x.resize_(2, 3, 4, 4)
    assert (strides(x), x._version) == ((48, 16, 4, 1), 2)
    x.resize_(2, 3, 4, 4, memory_format=vt.channels_last)
    assert strides(x) == (48, 1, 12, 3)


def test_elements_stay_where_they_are_when_the_format_changes() -> None:
    x = ramp(1, 2, 1, 3)
    x.resize_(1, 2, 1, 3, memory_format=vt.channels_last)
    assert x.tolist() == [[[[1, 3, 5]], [[2, 4, 6]]]]


def test_resize_as_preserves_channels_last_only_if_asked() -> None:
    model = last(images())
    assert strides(ramp(3).resize_as_(model)) == ROWS
    assert strides(ramp(3).resize_as_(model, memory_format=vt.preserve_format)) == LAST
    assert strides(ramp(3).resize_as_(images(), memory_format=vt.channels_last)) == LAST
    turned = ramp(4, 2, 3, 5).permute(1, 2, 0, 3)
    assert strides(ramp(3).resize_as_(turned, memory_format=vt.preserve_format)) == ROWS


@differs_from_torch("PyTorch changes the shape first")
def test_a_refused_format_leaves_shape_and_memory_alone() -> None:
    x = ramp(3)
    with refused(RuntimeError, "memory-format", [x]):
        x.resize_(2, 3, memory_format=vt.channels_last)
    with refused(RuntimeError, "memory-format", [x]):
        x.resize_as_(ramp(2, 3), memory_format=vt.channels_last)
    assert x.untyped_storage().nbytes() == 24


@differs_from_torch("PyTorch lets the tensor reach beyond its memory")
def test_memory_grows_for_another_format_of_the_same_shape() -> None:
    x = vt.zeros(1).expand(2, 3).detach()
    x.resize_(2, 3, memory_format=vt.contiguous_format)
    assert (strides(x), x.untyped_storage().nbytes(), x._version) == ((3, 1), 24, 1)
    x.fill_(2)
    assert x.tolist() == [[2, 2, 2], [2, 2, 2]]


# -- gradients ----------------------------------------------------------------------------------


def test_copies_in_a_format_are_recorded_as_clones_and_casts() -> None:
    x = leaf(*SHAPE)
    assert fn_name(last(x)) == fn_name(x.clone(memory_format=vt.channels_last)) == "CloneBackward0"
    for y in (
        x.to(memory_format=vt.channels_last),
        x.float(memory_format=vt.channels_last),
        x.double(memory_format=vt.channels_last),
        x.cpu(memory_format=vt.channels_last),
    ):
        assert (fn_name(y), strides(y)) == ("ToCopyBackward0", LAST)
    with vt.no_grad():
        assert fn_name(last(x)) is None


@pytest.mark.parametrize("dtype", [vt.float64, vt.float32])
def test_gradients_of_copies_lie_as_what_arrives_and_grad_as_the_leaf(dtype: vt.dtype) -> None:
    x = leaf(*SHAPE)
    seen: list[tuple[int, ...]] = []
    x.register_hook(lambda grad: seen.append(strides(grad)))
    y = x.to(dtype, memory_format=vt.channels_last)
    (y * y).sum().backward()
    assert x.grad is not None
    assert (seen, strides(x.grad)) == ([LAST], ROWS)
    assert x.grad.equal(2 * x)


def test_the_grad_of_a_leaf_with_channels_last_has_them_last() -> None:
    x = last(images()).detach().requires_grad_()
    (x.contiguous() * 3).sum().backward()
    grad = x.grad
    assert grad is not None
    assert strides(grad) == LAST
    (x * x).sum().backward()
    assert x.grad is grad
    assert (strides(grad), grad.equal(3 + 2 * x)) == (LAST, True)


def test_second_derivatives_pass_copies_in_a_format() -> None:
    x = leaf(*SHAPE)
    (grad,) = vt.autograd.grad((last(x * 1) ** 3).sum(), x, create_graph=True)
    (second,) = vt.autograd.grad(grad.sum(), x)
    assert second.equal(6 * x)


def test_a_tensor_that_has_the_format_is_no_copy_and_is_written_through() -> None:
    x = leaf(*SHAPE)
    y = last(x * 1)
    z = y.contiguous(memory_format=vt.channels_last)
    assert z is y
    z.mul_(2)
    assert (y._version, fn_name(y)) == (1, "MulBackward0")
