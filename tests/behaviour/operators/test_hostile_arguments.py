"""Arguments that fit nothing: errors of the library, of the kind that PyTorch raises."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.support import (
    ON_TORCH,
    differs_from_torch,
    grad_list,
    gradients,
    leaf,
    ramp,
    refused,
    vt,
)

ones_of = differs_from_torch("NumPy has 64 dimensions, PyTorch 64 here and 25 there")


@pytest.mark.parametrize("compare", [vt.isclose, vt.allclose])
def test_shapes_that_do_not_broadcast_are_not_compared(compare: Callable[..., object]) -> None:
    with refused(RuntimeError, "shape"):
        compare(ramp(2, 3), ramp(3, 2))
    with refused(RuntimeError, "shape"):
        compare(vt.ones(2, dtype=vt.complex64), vt.ones(3, dtype=vt.complex64))


# -- what has no end --------------------------------------------------------------------------


@pytest.mark.skipif(ON_TORCH, reason="it needs the memory that is refused here")
def test_combinations_take_no_more_memory_than_they_fill() -> None:
    # Of 60**4 ways to take four, of which PyTorch looks at each.
    x = vt.arange(60.0, requires_grad=True)
    rows = vt.combinations(x, 4)
    assert rows.shape == (487635, 4)
    assert rows[0].tolist() == [0, 1, 2, 3]
    assert rows[-1].tolist() == [56, 57, 58, 59]
    rows.sum().backward()
    assert grad_list(x) == [487635 * 4 / 60] * 60


def test_combinations_beyond_all_memory_are_refused() -> None:
    with refused(RuntimeError, "shape" if not ON_TORCH else "out-of-bounds"):
        vt.combinations(vt.arange(100), 50)


@differs_from_torch("it counts 3**60 ways to take three elements")
def test_more_elements_than_there_are_make_no_combination() -> None:
    assert vt.combinations(vt.arange(3), 60).shape == (0, 60)
    assert vt.combinations(vt.arange(1), 70, with_replacement=True).shape == (1, 70)


def test_both_ways_to_count_combinations_agree() -> None:
    # 8**7 ways are looked at one by one, 9**7 are not.
    small, large = vt.combinations(vt.arange(7), 7), vt.combinations(vt.arange(9), 7)
    assert small.tolist() == [[0, 1, 2, 3, 4, 5, 6]]
    assert large.shape == (36, 7)
    assert large[0].tolist() == small[0].tolist()
    repeated = vt.combinations(vt.arange(130.0), 3, with_replacement=True)
    assert repeated.shape == (130 * 131 * 132 // 6, 3)
    assert repeated[1].tolist() == [0, 0, 1]


def test_a_range_of_infinitely_many_steps_is_refused() -> None:
    with refused(RuntimeError, "shape" if not ON_TORCH else "argument-value"):
        vt.arange(0, 1e308, 1e-300)


# -- far away -----------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [3, -3, 2**31, -(2**31) - 1, 2**40, 2**62])
def test_a_diagonal_outside_of_the_matrix_is_empty(offset: int) -> None:
    x = leaf(2, 3)
    assert x.diagonal(offset).shape == (0,)
    assert gradients(vt.diagonal_copy(x, offset).sum(), x) == [[[0] * 3] * 2]
    assert gradients(x.diagonal(offset).sum(), x) == [[[0] * 3] * 2]


@differs_from_torch("strides are not counted in bytes there")
def test_a_stride_of_more_bytes_than_64_bits_hold_is_refused() -> None:
    # A stride may be any where there is one element only.
    x = ramp(3)
    with refused(RuntimeError, "out-of-bounds", [x]):
        x.set_(ramp(4).untyped_storage(), 0, (1,), (2**62,))
    with refused(RuntimeError, "out-of-bounds", [x]):
        x.as_strided((1, 1), (2**60 - 1, 2**59)).diagonal()
    with refused(RuntimeError, "out-of-bounds"):
        vt.empty_strided((5, 1), (2, 2**63 - 1))


@differs_from_torch("other sizes are computed there")
def test_nothing_is_put_on_a_diagonal_far_outside() -> None:
    assert vt.zeros(0, 0, dtype=vt.uint8).diag_embed(-(2**31)).shape == (0, 2**31, 2**31)


@pytest.mark.parametrize("decimals", [400, 2**31 - 1, 2**40])
def test_rounding_to_more_decimals_than_there_are_powers_of_ten(decimals: int) -> None:
    assert str(vt.round(ramp(1), decimals=decimals).item()) == "nan"
    assert vt.round(ramp(1), decimals=-decimals).isnan().tolist() == [True]


@differs_from_torch("there it is an OverflowError")
@pytest.mark.parametrize(
    "write",
    [
        lambda x, n: x.add_(n),
        lambda x, n: x.__iadd__(n),
        lambda x, n: x.__imul__(n),
        lambda x, n: x.floor_divide_(n),
        lambda x, n: vt.float_power(x, n),
        lambda x, n: vt.float_power(n, x),
        lambda x, n: vt.normal(n, 1.0, size=(2,)),
    ],
)
def test_a_number_that_no_float_holds_is_refused(
    write: Callable[[vt.Tensor, int], object],
) -> None:
    x = ramp(2)
    with refused(ValueError, "argument-value", [x]):
        write(x, 10**400)


# -- nothing ------------------------------------------------------------------------------------


@differs_from_torch("its gradient has the index's shape and is refused")
@pytest.mark.parametrize(
    "scatter", [vt.scatter, vt.scatter_add, lambda x, d, i, y: vt.scatter_reduce(x, d, i, y, "sum")]
)
def test_a_source_of_which_nothing_is_scattered_has_a_gradient_of_zero(
    scatter: Callable[..., vt.Tensor],
) -> None:
    x, source, index = leaf(3, 3), leaf(1, 5), vt.zeros(2, 0, dtype=vt.int64)
    scatter(x, 0, index, source).sum().backward()
    assert grad_list(source) == [[0] * 5]
    assert grad_list(x) == [[1] * 3] * 3


def test_a_number_has_no_cross_product() -> None:
    with refused(IndexError, "dimension"):
        vt.cross(vt.tensor(1.0), vt.tensor(1.0), -1)


def test_a_source_without_the_dimension_of_the_indices_is_refused() -> None:
    x = ramp(2, 2)
    with refused(RuntimeError, "shape", [x]):
        vt.index_add(x, 1, vt.zeros(6, dtype=vt.int64), vt.ones(0, dtype=x.dtype))


# -- of another type ------------------------------------------------------------------------------


TYPES: dict[str, Callable[[vt.Tensor], object]] = {
    "matmul": lambda x: vt.matmul(x, x[0], out=3),  # type: ignore[arg-type]  # on purpose
    "tensordot": lambda x: vt.tensordot(x, x, out="i,i"),  # type: ignore[arg-type]  # on purpose
    "scatter reduce": lambda x: x.scatter_(0, vt.zeros(1, 1, dtype=vt.int64), 1.0, reduce=[1]),  # type: ignore[arg-type]  # on purpose
    "scatter dim": lambda x: x.scatter_([x], vt.zeros(1, 1, dtype=vt.int64), 1.0, reduce="add"),  # type: ignore[arg-type]  # on purpose
    "float_power": lambda x: vt.float_power(x, "x"),  # type: ignore[call-overload]  # on purpose
    "float_power_": lambda x: x.float_power_(None),  # type: ignore[arg-type]  # on purpose
    "sum_to_size": lambda x: x.sum_to_size([[1]]),  # type: ignore[list-item]  # on purpose
    "cat": lambda x: vt.cat([x[:0, 0]], [0]),  # type: ignore[arg-type]  # on purpose
    "three results": lambda x: vt.frexp(x, out=(x, x, x)),  # a pair is wanted
}


@pytest.mark.parametrize("call", TYPES.values(), ids=TYPES)
def test_an_argument_of_another_type_is_refused(call: Callable[[vt.Tensor], object]) -> None:
    x = ramp(2, 2)
    with refused(TypeError, "argument-type", [x]):
        call(x)


@differs_from_torch("there functions take what has the method")
@pytest.mark.parametrize("function", ["is_set_to", "resize_as_"])
def test_what_is_no_tensor_has_no_memory(function: str) -> None:
    with refused(TypeError, "argument-type"):
        getattr(vt, function)(None, ramp(2))


@differs_from_torch("the order there is refused as a value")
def test_no_norm_has_a_complex_order() -> None:
    with refused(TypeError, "argument-type"):
        vt.dist(ramp(2), ramp(2), 1j)  # type: ignore[arg-type]  # on purpose


@differs_from_torch("it takes no arrays for sequences")
def test_sizes_and_dimensions_come_in_whatever_holds_integers() -> None:
    x = leaf(2, 3)
    turned = vt.permute_copy(x, np.array([1, 0]))  # type: ignore[arg-type]  # on purpose
    assert gradients(turned.sum(), x) == [[[1] * 3] * 2]
    assert vt.view_copy(x, [3, vt.tensor(2), 1]).shape == (3, 2, 1)  # type: ignore[list-item]  # on purpose
    assert vt.repeat_interleave(ramp(2), 2, output_size=vt.tensor(4)).tolist() == [1, 1, 2, 2]  # type: ignore[arg-type]  # on purpose


# -- as many dimensions as an array can have -------------------------------------------------------


def _deep() -> vt.Tensor:
    """Three elements along the first of 64 dimensions."""
    return vt.tensor([3.0, 1, 2]).reshape((3,) + (1,) * 63)


CHOSEN: dict[str, tuple[Callable[[vt.Tensor], vt.Tensor], list[float], list[float]]] = {
    "min": (lambda x: vt.min(x, 0)[0], [1], [0, 1, 0]),
    "max": (lambda x: vt.max(x, 0)[0], [3], [1, 0, 0]),
    "gather": (lambda x: x.gather(0, vt.zeros_like(x, dtype=vt.int64)), [3, 3, 3], [3, 0, 0]),
}


@ones_of
@pytest.mark.parametrize(("call", "values", "slopes"), CHOSEN.values(), ids=CHOSEN)
def test_elements_are_chosen_in_64_dimensions(
    call: Callable[[vt.Tensor], vt.Tensor], values: list[float], slopes: list[float]
) -> None:
    x = _deep().requires_grad_()
    chosen = call(x)
    assert chosen.flatten().tolist() == values
    chosen.sum().backward()
    assert x.grad is not None
    assert x.grad.flatten().tolist() == slopes


@ones_of
@pytest.mark.parametrize(
    "call",
    [
        lambda x: vt.stack([x]),
        lambda x: x[vt.zeros(1, 1, dtype=vt.int64)],
        lambda x: vt.view_copy(x, (*x.shape, 1)),
        lambda x: vt.median(x, 0),
        lambda x: vt.sort(x, 0),
    ],
)
def test_what_numpy_cannot_do_with_so_many_dimensions_is_refused(
    call: Callable[[vt.Tensor], object],
) -> None:
    with refused(NotImplementedError, "not-supported"):
        call(_deep())


@ones_of
def test_complex_numbers_are_drawn_in_64_dimensions() -> None:
    sizes = (2,) + (1,) * 63
    vt.manual_seed(3)
    deep = vt.randn(sizes, dtype=vt.complex64)
    vt.manual_seed(3)
    assert deep.flatten().tolist() == vt.randn(2, dtype=vt.complex64).tolist()
    even = vt.zeros(sizes, dtype=vt.complex64).uniform_(1, 2).flatten()
    assert vt.view_as_real(even).min() >= 1


def test_a_shape_without_elements_may_be_large_elsewhere() -> None:
    x = vt.zeros(2, 0, 3, requires_grad=True)
    many = x.tile((3, 2**20, 2**30))
    assert many.shape == (6, 0, 3 * 2**30)
    many.sum().backward()
    assert x.grad is not None
    assert x.grad.shape == (2, 0, 3)


@differs_from_torch("it multiplies sizes one of which is 0 in any order")
@pytest.mark.parametrize("counts", [(1, 1, 2**63), (3, 2**31, 2**31), (1, 2**62, 1)])
def test_a_shape_without_elements_may_not_be_larger_than_any_array(
    counts: tuple[int, ...],
) -> None:
    with refused(RuntimeError, "shape"):
        vt.zeros(2, 0, 3).tile(counts)
