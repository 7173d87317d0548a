"""What counts as an integer, and what is refused for its kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support import differs_from_torch, fn_name, leaf, parent_name, ramp, refused, vt

# What the calls below are given is no integer to type checkers, which is the point.
Call = Callable[[Any], object]

BOOLS: dict[str, Call] = {
    "select, dim": lambda x: x.select(True, 0),
    "select, index": lambda x: x.select(0, True),
    "narrow": lambda x: x.narrow(0, 0, True),
    "transpose": lambda x: x.transpose(False, 1),
    "transpose_": lambda x: x.detach().transpose_(False, 1),
    "unsqueeze": lambda x: x.unsqueeze(False),
    "unbind": lambda x: x.unbind(True),
    "split": lambda x: x.split(True),
    "split, dim": lambda x: x.split(1, True),
    "chunk": lambda x: x.chunk(True),
    "diagonal": lambda x: x.diagonal(True),
    "unfold": lambda x: x.unfold(0, True, 1),
    "flatten": lambda x: x.flatten(False),
    "as_strided": lambda x: x.as_strided((1,), (1,), True),
    "movedim": lambda x: x.movedim(True, 0),
    "gather": lambda x: x.gather(False, vt.tensor([[0]])),
    "index_select": lambda x: x.index_select(False, vt.tensor([0])),
    "cat": lambda x: vt.cat((x, x), True),  # type: ignore[arg-type,unused-ignore]
    "tril": lambda x: x.tril(True),
    "diag": lambda x: x.diag(True),
    "round": lambda x: x.round(decimals=True),
    "polygamma": lambda x: x.polygamma(True),
    "mvlgamma": lambda x: x.mvlgamma(True),
    "sum": lambda x: x.sum(True),
    "size": lambda x: x.size(True),
    "diff": lambda x: vt.diff(x, True),
    "roll": lambda x: x.roll(True),
    "roll, dims": lambda x: x.roll(1, True),
    "repeat": lambda x: x[0].repeat(True),
    "tile": lambda x: x[0].tile(True),
    "expand": lambda x: x[0, :1].expand(True),
    "expand, in a tuple": lambda x: x[0, :1].expand((True, 1)),
    "permute": lambda x: x.permute(True, False),
    "flip": lambda x: x.flip(True),
    "view": lambda x: x.view(True, 4),
    "reshape": lambda x: x.reshape(True, 4),
    "rot90, dims": lambda x: x.rot90(1, (True, 0)),
    "polygamma_": lambda x: x.detach().polygamma_(vt.tensor(True)),
    "mvlgamma_": lambda x: x.detach().mvlgamma_(vt.tensor(True)),
    "eye": lambda x: vt.eye(True),
    "linspace": lambda x: vt.linspace(0, 1, True),
    "randperm": lambda x: vt.randperm(True),
    "randint": lambda x: vt.randint(True, (2,)),
}


SINGLE: dict[str, Call] = {
    "repeat": lambda x: x.repeat(repeats=2),
    "tile": lambda x: x.tile(dims=2),
    "expand": lambda x: x.expand(size=2),
    "permute": lambda x: x.permute(dims=0),
    "view": lambda x: x.view(size=2),
    "reshape": lambda x: x.reshape(shape=2),
    "resize_": lambda x: x.detach().resize_(size=2),
    "sum_to_size": lambda x: x.sum_to_size(size=1),
}


@pytest.mark.parametrize("call", SINGLE.values(), ids=SINGLE)
def test_one_integer_by_keyword_is_no_sequence_of_sizes(call: Call) -> None:
    with pytest.raises(TypeError):
        call(leaf(2))


@pytest.mark.parametrize("call", BOOLS.values(), ids=BOOLS)
def test_a_bool_is_no_integer(call: Call) -> None:
    x = leaf(2, 2)
    with pytest.raises(TypeError):
        call(x)
    assert x._version == 0


def test_a_bool_among_sizes_counts() -> None:
    assert vt.zeros(2, True).shape == (2, 1)
    assert vt.Size((2, True)) == (2, 1)


@differs_from_torch("only the first of several dimensions is looked at there")
def test_no_bool_is_a_dimension_in_a_sequence() -> None:
    x = ramp(2, 2)
    with pytest.raises(TypeError):
        x.flip((1, False))
    with pytest.raises(TypeError):
        x.sum((0, True))


# Integer tensors of one element, where kernels compute with the number.
NUMBERS_IN_TENSORS: dict[str, tuple[Call, Call]] = {
    "round": (lambda x: x.round(decimals=vt.tensor(1)), lambda x: x.round(decimals=1)),
    "polygamma": (lambda x: x.polygamma(vt.tensor(1)), lambda x: x.polygamma(1)),
    "mvlgamma": (lambda x: x.mvlgamma(vt.tensor(1)), lambda x: x.mvlgamma(1)),
    "repeat": (lambda x: x.repeat((vt.tensor(1), 2)), lambda x: x.repeat(1, 2)),
    "tile": (lambda x: x.tile((vt.tensor(2),)), lambda x: x.tile(2)),
    "rot90": (lambda x: x.rot90(vt.tensor(1)), lambda x: x.rot90(1)),
    "rot90, dims": (lambda x: x.rot90(1, [vt.tensor(1), 0]), lambda x: x.rot90(1, [1, 0])),
    "slice_scatter": (
        lambda x: x.slice_scatter(x[:1], 0, 0, 2, vt.tensor(2)),
        lambda x: x.slice_scatter(x[:1], 0, 0, 2, 2),
    ),
    "tensordot": (
        lambda x: vt.tensordot(x, x, vt.tensor(1)),  # type: ignore[arg-type,unused-ignore]
        lambda x: vt.tensordot(x, x, 1),
    ),
}


@pytest.mark.parametrize(("call", "expected"), NUMBERS_IN_TENSORS.values(), ids=NUMBERS_IN_TENSORS)
def test_an_integer_may_come_as_a_tensor(call: Call, expected: Call) -> None:
    given, wanted = call(leaf(2, 2)), expected(leaf(2, 2))
    assert isinstance(given, vt.Tensor)
    assert isinstance(wanted, vt.Tensor)
    assert given.tolist() == wanted.tolist()
    assert fn_name(given) == fn_name(wanted)


def test_roll_of_no_elements_looks_at_its_dimensions_too() -> None:
    x: Any = vt.zeros(0, 6).requires_grad_()
    dims: list[Any] = [[[]], "0", 0.5]
    for wrong in dims:
        with pytest.raises(TypeError):
            x.roll(0, wrong)


def test_a_number_of_differences_is_an_integer() -> None:
    x = leaf(2, 2)
    numbers: list[Any] = [0.0, 1.0, "1"]
    for wrong in numbers:
        with pytest.raises(TypeError):
            vt.diff(x, wrong)


@differs_from_torch("what is no dimension is told by other errors there, or not looked at")
def test_what_tensordot_sums_over_is_an_integer_or_two_sequences_of_them() -> None:
    x = leaf(2, 2)
    matrix = vt.tensordot(x, x, 1).tolist()
    right: list[Any] = [np.int64(1), np.array([[1], [0]]), ([1], vt.tensor([0]))]
    for dims in right:
        assert vt.tensordot(x, x, dims).tolist() == matrix
    wrong: list[Any] = [1.5, None, "a", [1], [[0], [1], [0]], [["a"], [0]], [[True], [0]]]
    for dims in wrong:
        with refused(TypeError, "argument-type", [x]):
            vt.tensordot(x, x, dims)


def test_no_dimension_for_amax_is_all_of_them() -> None:
    x = leaf(2, 2)
    assert x.amax(None).tolist() == 4
    assert vt.amin(x, dim=None, keepdim=True).tolist() == [[1]]
    assert fn_name(x.amax(None)) == "AmaxBackward0"


def test_memory_formats_are_nothing_else() -> None:
    x: Any = leaf(2, 2)
    for wrong in (True, 1, "contiguous_format"):
        with pytest.raises(TypeError):
            x.clone(memory_format=wrong)
        with pytest.raises(TypeError):
            x.contiguous(memory_format=wrong)
    with pytest.raises(TypeError):
        x.contiguous(memory_format=None)


def test_contiguous_preserves_no_format_by_a_copy() -> None:
    x = leaf(2, 2)
    assert x.contiguous(memory_format=vt.preserve_format) is x
    with pytest.raises(RuntimeError):
        x.t().contiguous(memory_format=vt.preserve_format)
    assert parent_name(x.t().contiguous(memory_format=vt.contiguous_format)) == "TBackward0"


def test_abs_of_complex_numbers_fits_no_other_complex_dtype() -> None:
    z = vt.tensor([3 + 4j], dtype=vt.complex64)
    assert vt.abs(z, out=vt.zeros(1, dtype=vt.complex64)).tolist() == [5]
    assert vt.abs(z, out=vt.zeros(1, dtype=vt.float64)).tolist() == [5]
    out = vt.zeros(1, dtype=vt.complex128)
    with pytest.raises(RuntimeError):
        vt.abs(z, out=out)
    assert out._version == 0
    assert out.tolist() == [0]


# -- arguments that contradict each other, or are of another kind -----------------------------


@pytest.mark.parametrize("reduce", [vt.all, vt.any])
def test_a_dimension_comes_under_one_name(reduce: Callable[..., vt.Tensor]) -> None:
    x = ramp(2, 3)
    with pytest.raises(TypeError):
        reduce(x, dim=0, axis=1)
    with pytest.raises(TypeError):
        reduce(x, dim=None, axis=1)
    assert reduce(x, axis=1).tolist() == [True, True]
    assert reduce(x, None).tolist() is True
    assert reduce(x).tolist() is True


@pytest.mark.parametrize("name", ["all", "any"])
def test_keepdims_is_keepdim(name: str) -> None:
    x = ramp(2, 3) > -1
    reduce, method = getattr(vt, name), getattr(x, name)
    assert reduce(x, axis=1, keepdims=True).shape == (2, 1)
    assert reduce(x, 0, keepdims=True).shape == method(0, keepdims=True).shape == (1, 3)
    assert reduce(x, keepdims=True).shape == (1, 1)
    assert reduce(x, 0, keepdims=False).shape == (3,)
    with pytest.raises(TypeError):
        reduce(x, 0, keepdims="no")


REDUCING = [
    *("sum", "mean", "prod", "nansum", "nanmean", "amax", "amin", "aminmax", "max", "min"),
    *("argmax", "argmin", "logsumexp", "var", "std", "var_mean", "std_mean"),
]
ALONG = [
    *("softmax", "log_softmax", "cumsum", "cumprod", "cummax", "cummin", "argsort", "topk"),
    *("count_nonzero", "logcumsumexp"),
]


def results(found: Any) -> list[Any]:
    """Shapes and values of a tensor, or of each of a tuple."""
    tensors = [found] if isinstance(found, vt.Tensor) else list(found)
    return [(tuple(t.shape), t.tolist()) for t in tensors]


@pytest.mark.parametrize("name", REDUCING + ALONG)
def test_axis_is_dim_and_keepdims_is_keepdim(name: str) -> None:
    x = vt.tensor([[3.0, 1.0], [2.0, 5.0], [7.0, 4.0]], dtype=vt.float64)
    numbers = {"topk": {"k": 1}}.get(name, {})
    for function in (getattr(vt, name), getattr(vt.Tensor, name, None)):
        if function is None:
            continue
        for dim in (0, 1, -1):
            expected = results(function(x, dim=dim, **numbers))
            assert results(function(x, axis=dim, **numbers)) == expected
            with pytest.raises((TypeError, ValueError, RuntimeError)):
                function(x, dim=dim, axis=dim, **numbers)
            if name in REDUCING:
                kept = results(function(x, dim=dim, keepdim=True))
                assert results(function(x, axis=dim, keepdims=True)) == kept != expected
                assert results(function(x, dim=dim, keepdims=False)) == expected


@pytest.mark.parametrize(
    "name", ["softmax", "log_softmax", "cumsum", "cumprod", "logsumexp", "logcumsumexp"]
)
def test_a_dimension_that_is_required_is_so_under_both_names(name: str) -> None:
    with pytest.raises(TypeError, match="dim"):
        getattr(vt, name)(ramp(2, 2))


@pytest.mark.parametrize("extreme", [vt.max, vt.min])
def test_a_dimension_and_a_second_tensor_do_not_go_together(extreme: Callable[..., object]) -> None:
    x = ramp(3, 2)
    with pytest.raises(TypeError):
        extreme(x, 1, other=x)
    with pytest.raises(TypeError):
        extreme(x, dim=1, other=x)
    with pytest.raises(TypeError):
        extreme(x, x, dim=1)
    with pytest.raises(TypeError):
        extreme(x, x, other=x)
    with pytest.raises(TypeError):
        extreme(x, dim=x)


def test_a_tensor_by_keyword_is_the_dimension_of_an_extreme() -> None:
    x = ramp(2, 2)
    calls: list[Any] = [vt.max, vt.min]
    for extreme, values, indices in zip(calls, [[3, 4], [1, 2]], [[1, 1], [0, 0]], strict=True):
        for found in (
            extreme(x, dim=vt.tensor(0)),
            extreme(x, 0),
            extreme(input=x, dim=0),
        ):
            assert found.values.tolist() == values
            assert found.indices.tolist() == indices
        assert extreme(x, dim=vt.tensor(0), keepdim=True).values.tolist() == [values]
        assert extreme(x, vt.tensor(0), True).values.tolist() == [values]
    assert vt.max(x, vt.tensor(2.0)).tolist() == [[2, 2], [3, 4]]
    assert vt.min(x, other=vt.tensor(2.0)).tolist() == [[1, 2], [2, 2]]


FLAGS: dict[str, Call] = {
    "put": lambda flag: vt.zeros(3).put(vt.tensor([0]), vt.ones(1), accumulate=flag),
    "put_": lambda flag: vt.zeros(3).put_(vt.tensor([0]), vt.ones(1), accumulate=flag),
    "index_put": lambda flag: vt.zeros(3).index_put((vt.tensor([0]),), vt.ones(1), flag),
    "index_put_": lambda flag: vt.zeros(3).index_put_((vt.tensor([0]),), vt.ones(1), flag),
    "sort": lambda flag: vt.sort(vt.zeros(3), stable=flag),
}


@pytest.mark.parametrize("call", FLAGS.values(), ids=FLAGS)
def test_a_flag_is_a_bool(call: Call) -> None:
    for wrong in ("a", 1, 0.0):
        with pytest.raises(TypeError):
            call(wrong)
    call(True)
    call(False)


@pytest.mark.parametrize("argument", ["nan", "posinf", "neginf"])
@pytest.mark.parametrize("dtype", [vt.float64, vt.complex128, vt.int64])
def test_what_stands_for_nan_is_real(argument: str, dtype: vt.dtype) -> None:
    x: Any = vt.ones(2, dtype=dtype)
    wrong: Any = {argument: 1j}
    with pytest.raises(TypeError):
        vt.nan_to_num(x, **wrong)
    with pytest.raises(TypeError):
        x.nan_to_num_(**wrong)
    assert x._version == 0


@differs_from_torch("NumPy's warning comes out of it there")
def test_what_stands_for_nan_is_no_complex_number_of_numpy() -> None:
    with pytest.raises(TypeError, match=r"'nan' must be a real number or None, not complex64"):
        vt.nan_to_num(ramp(2), np.complex64(1j))  # type: ignore[arg-type]  # the point of the test


@pytest.mark.parametrize("out", [vt.zeros(()), vt.zeros(2), [vt.zeros(())], 3])
def test_two_results_are_stored_in_two_tensors(out: Any) -> None:
    with pytest.raises(TypeError, match=r"out|expected tuple of 2 elements"):
        vt.aminmax(ramp(3), out=out)
    with pytest.raises(TypeError, match=r"out|expected tuple of 2 elements"):
        vt.frexp(ramp(3), out=out)


def test_the_mean_without_nan_is_computed_in_a_floating_dtype() -> None:
    for dtype in (vt.int64, vt.bool):
        with pytest.raises(RuntimeError):
            vt.nanmean(ramp(3), dtype=dtype)
    assert vt.nanmean(ramp(3).float(), dtype=vt.float64).dtype is vt.float64
