"""Where the batch is: ``in_dims``, ``out_dims``, containers, chunks, arguments as results."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import differs_from_torch, ramp, refused, vt

vmap: Any = vt.vmap


def double(a: vt.Tensor) -> vt.Tensor:
    return a * 2


def product(a: vt.Tensor, b: vt.Tensor) -> vt.Tensor:
    return a * b


# -- in_dims -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("in_dims", "expected"),
    [
        (({"a": 0, "b": None},), [[1, 4, 9], [4, 10, 18]]),
        ((0,), "refused"),
        (({"a": 0, "b": 0},), "refused"),
        (({"a": None, "b": None},), "refused"),
        (({"a": 0},), "refused"),
        (((0, None),), "refused"),
    ],
)
def test_in_dims_may_have_the_containers_of_an_argument(in_dims: Any, expected: object) -> None:
    given = {"a": ramp(2, 3), "b": ramp(3)}
    function = vmap(lambda d: d["a"] * d["b"], in_dims=in_dims)
    if expected == "refused":
        with refused(ValueError, "argument-value"):
            function(given)
    else:
        assert function(given).tolist() == expected


def test_one_entry_is_for_a_whole_container_and_one_int_for_all_arguments() -> None:
    x = ramp(2, 2)
    expected = [[1, 4], [9, 16]]
    assert vmap(lambda pair: pair[0] * pair[1], in_dims=(0,))([x, x]).tolist() == expected
    assert vmap(product, in_dims=1, out_dims=1)(x, x).tolist() == expected
    assert vmap(product, in_dims=(0, 1))(x, x.t()).tolist() == expected


@pytest.mark.parametrize("in_dims", [None, [0], 1.0, (0, 0), (), (None,), (1.0,)])
def test_in_dims_of_another_form_are_refused(in_dims: Any) -> None:
    with refused(ValueError, "argument-value"):
        vmap(double, in_dims=in_dims)(ramp(2, 3))


def test_negative_in_dims_count_from_the_end() -> None:
    x = ramp(2, 3)
    assert vmap(lambda a: a.sum(), in_dims=-1)(x).tolist() == [5, 7, 9]
    assert vmap(lambda a: a.sum(), in_dims=-2)(x).tolist() == [6, 15]


@pytest.mark.parametrize("in_dim", [2, -3])
def test_in_dims_out_of_range_are_refused(in_dim: int) -> None:
    with refused(ValueError, "argument-value"):
        vmap(double, in_dims=in_dim)(ramp(2, 3))


def test_what_is_no_batch_is_refused() -> None:
    arguments: tuple[object, ...]
    for arguments in ((vt.tensor(1.0),), (ramp(2, 3), ramp(3, 3)), (), ([],)):
        with refused(ValueError, "argument-value"):
            vmap(lambda *given: given[0])(*arguments)


def test_a_number_has_no_batch_and_a_keyword_argument_is_never_one() -> None:
    x = ramp(2)
    assert vmap(product, in_dims=(0, None))(x, 3).tolist() == [3, 6]
    for in_dims in (0, (0, 0)):
        with refused(ValueError, "argument-value"):
            vmap(product, in_dims=in_dims)(x, 3)
    # Not compared in size, and a tensor as any other: this is the outer product.
    assert vmap(product)(x, b=ramp(3)).tolist() == [[1, 2, 3], [2, 4, 6]]
    with refused(ValueError, "argument-value"):
        vmap(lambda b: b)(b=x)


# -- out_dims ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("out_dims", "expected"),
    [(0, [[2, 4, 6], [8, 10, 12]]), (1, [[2, 8], [4, 10], [6, 12]])],
)
def test_out_dims_count_in_the_result_with_its_batch(out_dims: int, expected: object) -> None:
    for dim in (out_dims, out_dims - 2):
        assert vmap(double, out_dims=dim)(ramp(2, 3)).tolist() == expected
    for dim in (2, -3):
        with pytest.raises(IndexError):
            vmap(double, out_dims=dim)(ramp(2, 3))


def test_results_are_tensors_in_containers() -> None:
    x = ramp(2, 3)
    for result in (3, None, "text", (x, None)):
        with refused(ValueError, "argument-value"):
            vmap(lambda a, result=result: result)(x)
    assert vmap(lambda a: ())(x) == ()
    found = vmap(lambda a: {"k": a, "l": (a, [a])}, out_dims={"k": 1, "l": (0, [1])})(x)
    assert found["k"].shape == found["l"][1][0].shape == (3, 2)
    assert found["l"][0].shape == (2, 3)


@pytest.mark.parametrize("out_dims", [(0, 1), (0, (1, 1))])
def test_an_entry_of_out_dims_may_be_for_a_container(out_dims: Any) -> None:
    one, (two, three) = vmap(lambda a: (a, (a, a)), out_dims=out_dims)(ramp(2, 3))
    assert one.shape == (2, 3)
    assert two.shape == three.shape == (3, 2)


@pytest.mark.parametrize("out_dims", [(0,), (0, 0, 0), [0, 0], 1.0, {"a": 0}])
def test_out_dims_without_the_containers_of_the_result_are_refused(out_dims: Any) -> None:
    with refused(ValueError, "argument-value"):
        vmap(lambda a: (a, a), out_dims=out_dims)(ramp(2, 3))


def test_a_tuple_of_one_is_taken_for_a_single_result() -> None:
    assert vmap(double, out_dims=(1,))(ramp(2, 3)).shape == (3, 2)


def test_a_result_that_is_no_tensor_may_have_none() -> None:
    found = vmap(lambda a: (a, 3), out_dims=(0, None))(ramp(2))
    assert found[1] == 3


def test_a_result_that_does_not_depend_on_the_batch_is_expanded() -> None:
    x, c = ramp(2, 3), ramp(3)
    found = vmap(lambda a: c)(x)
    assert found.shape == (2, 3)
    assert found.stride() == (0, 1)
    assert vmap(lambda a: c, out_dims=None)(x) is c
    with refused(ValueError, "argument-value"):
        vmap(double, out_dims=None)(x)


# -- results that are arguments --------------------------------------------------------------------


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("function", [lambda a: a, lambda a: a.mul_(2)])
def test_an_argument_comes_back_itself(function: Any, dim: int) -> None:
    q = ramp(2, 3)
    assert vmap(function, in_dims=dim, out_dims=dim)(q) is q
    assert vmap(lambda a: (a, a), in_dims=dim, out_dims=dim)(q)[1] is q


def test_an_argument_whose_batch_is_moved_comes_back_as_a_view() -> None:
    q = ramp(2, 3)
    found = vmap(lambda a: a, in_dims=1)(q)
    assert found is not q
    assert found._base is q
    assert found.tolist() == [[1, 4], [2, 5], [3, 6]]


@differs_from_torch("its inner call makes a view")
def test_an_argument_comes_back_itself_through_two_levels() -> None:
    q = ramp(2, 3)
    assert vmap(vmap(lambda a: a.mul_(2)))(q) is q


def test_a_batch_of_no_samples() -> None:
    x = vt.zeros(0, 3)
    assert vmap(double)(x).shape == (0, 3)
    assert vmap(lambda a: a.sum())(x).shape == (0,)
    assert vmap(lambda a: vt.ones(2))(x).shape == (0, 2)


@differs_from_torch("it expands to the sizes in another order")
def test_a_result_without_samples_may_have_its_batch_anywhere() -> None:
    for count in (0, 2):
        assert vmap(lambda a: vt.ones(3), out_dims=1)(ramp(count, 4)).shape == (3, count)


# -- chunks ----------------------------------------------------------------------------------------


def test_a_chunk_size_calls_the_function_once_for_each_chunk() -> None:
    shapes = []

    def function(a: vt.Tensor) -> vt.Tensor:
        shapes.append(tuple(a.shape))
        return a * 2

    x = ramp(5, 2)
    for size, calls in ((2, 3), (5, 1), (9, 1), (1, 5)):
        shapes.clear()
        assert vmap(function, chunk_size=size)(x).tolist() == (x * 2).tolist()
        assert shapes == [(2,)] * calls
    assert vmap(double, in_dims=1, out_dims=-1, chunk_size=1)(x).tolist() == (x * 2).tolist()


@pytest.mark.parametrize("size", [0, -1])
def test_a_chunk_size_below_one_is_refused(size: int) -> None:
    with refused(ValueError, "argument-value"):
        vmap(double, chunk_size=size)(ramp(5, 2))


def test_results_of_chunks_are_copies_and_writes_reach_the_argument() -> None:
    x = ramp(5, 2)
    found = vmap(lambda a: a.mul_(2), chunk_size=2)(x)
    assert found is not x
    assert found.data_ptr() != x.data_ptr()
    assert x.tolist() == found.tolist() == (ramp(5, 2) * 2).tolist()
    with pytest.raises(TypeError):
        vmap(lambda a: vt.ones(2), out_dims=None, chunk_size=2)(x)
