"""Inside of `vmap` a tensor is one sample: shape, broadcasting, promotion, memory, levels."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import differs_from_torch, ramp, vt

vmap: Any = vt.vmap


@pytest.mark.parametrize(
    ("in_dim", "shape", "strides"), [(0, (3, 4), (4, 1)), (1, (2, 4), (12, 1))]
)
def test_the_geometry_is_that_of_a_sample(
    in_dim: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    def function(a: vt.Tensor) -> vt.Tensor:
        assert tuple(a.shape) == tuple(a.size()) == shape
        assert a.dim() == a.ndim == 2
        assert len(a) == shape[0]
        assert a.numel() == shape[0] * shape[1]
        assert a.stride() == strides
        assert a.size(-1) == shape[1]
        assert a.is_contiguous() == (in_dim == 0)
        return a

    vmap(function, in_dims=in_dim)(ramp(2, 3, 4))


@pytest.mark.parametrize("dim", [1, -2])
def test_a_dimension_that_a_sample_has_not_is_refused(dim: int) -> None:
    for function in (lambda a: a.sum(dim), lambda a: a.cumsum(dim), lambda a: a.unbind(dim)[0]):
        with pytest.raises(IndexError):
            vmap(function)(ramp(2, 3))


def test_a_view_needs_the_strides_of_a_sample() -> None:
    x = ramp(2, 3, 4)
    assert vmap(lambda a: a.view(-1))(x).shape == (2, 12)
    with pytest.raises(RuntimeError):
        vmap(lambda a: a.view(-1), in_dims=1)(x)
    assert vmap(lambda a: a.reshape(-1), in_dims=1)(x).shape == (3, 8)


@pytest.mark.parametrize(
    ("function", "shapes", "expected"),
    [
        (lambda a: a + ramp(4, 3), [(3,)], (4, 3)),
        (lambda a, b: a + b, [(3,), (4, 3)], (4, 3)),
        (lambda a: a @ ramp(3, 4), [(3,)], (4,)),
        (lambda a: a @ ramp(5, 3, 4), [(3,)], (5, 4)),
        (lambda a: ramp(4, 3) @ a, [(3,)], (4,)),
        (lambda a, b: a @ b, [(2, 3), (3,)], (2,)),
        (lambda a, b: vt.dot(a, b), [(3,), (3,)], ()),
        (lambda a: vt.mv(ramp(4, 3), a), [(3,)], (4,)),
        (lambda a: vt.mm(a, ramp(3, 4)), [(2, 3)], (2, 4)),
        (lambda a, b: vt.bmm(a, b), [(5, 2, 3), (5, 3, 4)], (5, 2, 4)),
        (lambda a: a.squeeze(), [(1, 3, 1)], (3,)),
        (lambda a: a.squeeze(0), [(1, 1)], (1,)),
        (lambda a: a[None], [(3,)], (1, 3)),
        (lambda a: a.expand(4, 3), [(3,)], (4, 3)),
    ],
)
def test_operators_see_the_shape_of_a_sample(
    function: Any, shapes: list[tuple[int, ...]], expected: tuple[int, ...]
) -> None:
    for count in (1, 2):
        assert vmap(function)(*[ramp(count, *shape) for shape in shapes]).shape == (
            count,
            *expected,
        )


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda a: vt.mm(a, a), (3,)),
        (lambda a: vt.bmm(a, a), (2, 2)),
        (lambda a: vt.dot(a, a), (2, 2)),
        (lambda a: vt.mv(a, a), (2, 2)),
        (lambda a: a.t(), (2, 2, 2)),
    ],
)
def test_a_value_is_not_taken_for_a_sample_with_one_dimension_more(
    function: Any, shape: tuple[int, ...]
) -> None:
    with pytest.raises(RuntimeError):
        vmap(function)(ramp(2, *shape))


@differs_from_torch("it takes a batch of vectors for a matrix")
@pytest.mark.parametrize("function", [lambda a: a.tril(), lambda a: a.triu()])
def test_a_batch_of_vectors_is_not_taken_for_a_matrix(function: Any) -> None:
    with pytest.raises(RuntimeError):
        vmap(function)(ramp(2, 3))


@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        (lambda a, ones: a * ones, vt.float32),
        (lambda a, ones: ones - a, vt.float32),
        (lambda a, ones: ones**a, vt.float32),
        (lambda a, ones: vt.maximum(a, ones), vt.float32),
        (lambda a, ones: a * ones.long(), vt.float64),
        (lambda a, ones: a.long() * ones, vt.float32),
        (lambda a, ones: a * ones[0], vt.float64),
        (lambda a, ones: a.float() * ones[0].double(), vt.float64),
        (lambda a, ones: ones.clone().mul_(a), vt.float32),
    ],
)
def test_a_sample_without_dimensions_counts_as_such_in_promotion(
    function: Any, dtype: vt.dtype
) -> None:
    ones = vt.ones(2, dtype=vt.float32)
    if "mul_" in function.__code__.co_names:
        found = vmap(function, in_dims=(0, 0))(ramp(3), ones.expand(3, 2))
    else:
        found = vmap(function, in_dims=(0, None))(ramp(3), ones)
    assert found.dtype == dtype


@differs_from_torch("it takes a condition, and the dtype of other operands, for those of a batch")
def test_a_sample_without_dimensions_counts_as_such_beside_others() -> None:
    ones = vt.ones(2, dtype=vt.float32)
    assert vmap(lambda a: vt.where(a > 1, a, ones))(ramp(3)).dtype == vt.float32
    assert vmap(lambda a: vt.addcmul(ones, ones, a))(ramp(3)).dtype == vt.float32
    found = vmap(lambda a: vt.lerp(ones, ones * 3, a))(vt.tensor([0.0, 0.5, 1.0], dtype=vt.float64))
    assert found.dtype == vt.float32
    assert found.tolist() == [[1, 1], [2, 2], [3, 3]]


def test_what_holds_for_tensors_without_dimensions_holds_for_such_samples() -> None:
    x = ramp(3)
    assert vmap(lambda a: a.sum(0))(x).tolist() == [1, 2, 3]
    assert vmap(lambda a: a.sort()[0])(x).tolist() == [1, 2, 3]
    assert vmap(lambda a: a.argmax())(x).tolist() == [0, 0, 0]
    assert vmap(lambda a: a.cumsum(-1))(x).tolist() == [1, 2, 3]
    for function in (lambda a: a.select(0, 0), lambda a: a[0], lambda a: a.unbind(), len):
        with pytest.raises((IndexError, RuntimeError, TypeError)):
            vmap(function)(x)


def test_as_strided_counts_from_the_start_of_each_sample() -> None:
    x = ramp(2, 3)
    assert vmap(lambda a: a.as_strided((2,), (1,), 1))(x).tolist() == [[2, 3], [5, 6]]
    assert vmap(lambda a: a[1:].as_strided((2,), (1,)))(x).tolist() == [[2, 3], [5, 6]]
    columns = vmap(lambda a: a.as_strided((2,), (3,)), in_dims=1)(x)
    assert columns.tolist() == [[1, 4], [2, 5], [3, 6]]


@pytest.mark.parametrize("size", [(4,), (2, 2)])
def test_as_strided_into_other_samples_is_refused(size: tuple[int, ...]) -> None:
    with pytest.raises(RuntimeError):
        vmap(lambda a: a.as_strided(size, (1,) * len(size), 1))(ramp(2, 3))


# Columns are interleaved in memory: a stride of 1 leads to the next sample.
@differs_from_torch("it reads other samples")
@pytest.mark.parametrize(
    ("size", "stride", "offset"),
    [((2,), (1,), None), ((2,), (1,), 3), ((3,), (3,), 0), ((2, 2), (3, 1), None)],
)
def test_as_strided_of_columns_stays_within_the_column(
    size: tuple[int, ...], stride: tuple[int, ...], offset: int | None
) -> None:
    x = ramp(3, 3)
    if size == (3,):
        whole = vmap(lambda a: a.as_strided(size, stride, offset), in_dims=1)(x)
        assert whole.tolist() == [[1, 4, 7], [2, 5, 8], [3, 6, 9]]
    else:
        with pytest.raises(RuntimeError):
            vmap(lambda a: a.as_strided(size, stride, offset), in_dims=1)(x)


# -- levels --------------------------------------------------------------------------------------


def test_levels_are_kept_apart() -> None:
    x, y = ramp(2), ramp(3)
    assert vmap(lambda a: vmap(lambda b: a * b)(y))(x).tolist() == [[1, 2, 3], [2, 4, 6]]
    found = vmap(lambda a: vmap(lambda b: b - a.sum(), in_dims=1, out_dims=1)(ramp(2, 3)))(
        ramp(2, 2)
    )
    assert found.tolist() == [
        [[-2, -1, 0], [1, 2, 3]],
        [[-6, -5, -4], [-3, -2, -1]],
    ]


def test_a_sample_of_the_outer_level_may_be_the_result_of_the_inner_function() -> None:
    found = vmap(lambda a: vmap(lambda b: a)(ramp(3)))(ramp(2))
    assert found.tolist() == [[1, 1, 1], [2, 2, 2]]


def escaped() -> vt.Tensor:
    found: list[vt.Tensor] = []

    def function(a: vt.Tensor) -> vt.Tensor:
        found.append(a)
        return a

    vmap(function)(ramp(2, 3))
    return found[0]


@pytest.mark.parametrize(
    "use",
    [
        lambda a: a * 2,
        lambda a: a[0],
        lambda a: ramp(3) + a,
        lambda a: a.mul_(2),
        lambda a: vt.stack([a, a]),
        lambda a: a.item(),
    ],
)
def test_a_sample_is_of_no_use_after_its_vmap(use: Any) -> None:
    with pytest.raises(RuntimeError):
        use(escaped())


@differs_from_torch("it takes the sample for one of the next call")
def test_a_sample_is_of_no_use_in_another_vmap() -> None:
    a = escaped()
    with pytest.raises(RuntimeError, match="after its vmap had returned"):
        vmap(lambda b: a * b)(ramp(2, 3))


def test_an_error_leaves_no_level_behind() -> None:
    def fails(a: vt.Tensor) -> vt.Tensor:
        raise KeyError("expected")

    for function in (fails, lambda a: vmap(fails)(a)):
        with pytest.raises(KeyError):
            vmap(function)(ramp(2, 3))
        assert vt.rand(2).shape == (2,)
        assert vmap(lambda a: a.sum())(ramp(2, 3)).tolist() == [6, 15]
