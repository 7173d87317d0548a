"""Writes inside of `vmap`: to samples, and the refusal of samples in one tensor."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import ON_TORCH, Unchanged, differs_from_torch, ramp, vt

vmap: Any = vt.vmap
func: Any = vt.func
fw: Any = vt.autograd.forward_ad


def put(target: vt.Tensor, index: Any, value: Any) -> vt.Tensor:
    target[index] = value
    return target


# -- a write to a sample writes the caller's tensor ---------------------------------------------

I = vt.tensor([0, 2])  # noqa: E741  (one index for each sample)
V = vt.tensor([7.0, 8.0], dtype=vt.float64)


@pytest.mark.parametrize(
    ("function", "more", "expected"),
    [
        (lambda a: a.mul_(10), (), [[10, 20, 30], [40, 50, 60]]),
        (lambda a: put(a, 0, 9.0), (), [[9, 2, 3], [9, 5, 6]]),
        (lambda a: a[1:].mul_(10), (), [[1, 20, 30], [4, 50, 60]]),
        (lambda a: put(a, [0, 2], 9.0), (), [[9, 2, 9], [9, 5, 9]]),
        (lambda a, i: put(a, i, 9.0), (I,), [[9, 2, 3], [4, 5, 9]]),
        (lambda a, v: put(a, 0, v), (V,), [[7, 2, 3], [8, 5, 6]]),
        (lambda a, i, v: put(a, i, v), (I, V), [[7, 2, 3], [4, 5, 8]]),
        (lambda a, i, v: put(a, (i,), v), (I, V), [[7, 2, 3], [4, 5, 8]]),
        (lambda a, v: put(a, ..., v), (V,), [[7, 7, 7], [8, 8, 8]]),
        (lambda a, v: put(a, slice(1, None), v), (V,), [[1, 7, 7], [4, 8, 8]]),
        (lambda a: put(a, vt.tensor([True, False, True]), 0.0), (), [[0, 2, 0], [0, 5, 0]]),
        (lambda a, v: a.fill_(v), (V,), [[7, 7, 7], [8, 8, 8]]),
        (lambda a: a.copy_(a.flip(0)), (), [[3, 2, 1], [6, 5, 4]]),
        (lambda a: a.masked_fill_(a > 2, 0.0), (), [[1, 2, 0], [0, 0, 0]]),
        (lambda a, i: a.index_fill_(0, i.reshape(1), 0.0), (I,), [[0, 2, 3], [4, 5, 0]]),
        (lambda a, i: a.index_add_(0, i.reshape(1), a[:1].clone()), (I,), [[2, 2, 3], [4, 5, 10]]),
        (lambda a, i: a.scatter_(0, i.reshape(1), a[1:2].clone()), (I,), [[2, 2, 3], [4, 5, 5]]),
    ],
)
def test_a_write_to_a_sample_writes_the_callers_tensor_once(
    function: Any, more: tuple[vt.Tensor, ...], expected: object
) -> None:
    q = ramp(2, 3)
    vmap(function)(q, *more)
    assert q.tolist() == expected
    # In PyTorch a fill with indices of samples counts twice.
    assert q._version == 1 or ON_TORCH
    # The same along the other dimension.
    q = ramp(2, 3).t().clone().t()
    vmap(function, in_dims=(1, *(0 for _ in more)), out_dims=1)(q.t(), *more)
    assert q.tolist() == expected


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda a: a.unsqueeze_(0), (2, 1, 3, 4)),
        (lambda a: a.unsqueeze_(-1), (2, 3, 4, 1)),
        (lambda a: a.t_(), (2, 4, 3)),
        (lambda a: a.transpose_(0, -1), (2, 4, 3)),
        (lambda a: a.swapaxes_(0, 1), (2, 4, 3)),
        (lambda a: a.squeeze_(), (2, 3, 4)),
    ],
)
def test_an_in_place_change_of_geometry_is_one_of_the_callers_tensor(
    function: Any, expected: tuple[int, ...]
) -> None:
    q = ramp(2, 3, 4)

    def changed(a: vt.Tensor) -> vt.Tensor:
        function(a)
        assert tuple(a.shape) == expected[1:]
        return a

    assert vmap(changed)(q) is q
    assert q.shape == expected


@differs_from_torch("it changes the caller's tensor, around its batch dimension")
def test_with_the_batch_elsewhere_a_change_of_geometry_stays_inside() -> None:
    q = ramp(3, 2, 4)
    found = vmap(lambda a: a.t_(), in_dims=1, out_dims=1)(q)
    assert q.shape == (3, 2, 4)
    assert found.tolist() == q.transpose(0, 2).tolist()
    found = vmap(lambda a: a.unsqueeze_(0), in_dims=1)(q)
    assert found.shape == (2, 1, 3, 4)


# -- samples do not fit into one tensor ---------------------------------------------------------

INTO_ONE: list[Any] = [
    lambda b, a: b.add_(a),
    lambda b, a: b.copy_(a),
    lambda b, a: put(b, 0, a[0]),
    lambda b, a: put(b, slice(1, None), a[1:]),
    lambda b, a: b[1:].mul_(a[1:]),
    lambda b, a: b.fill_(a[0]),
    lambda b, a: b.masked_fill_(a > 2, 1.0),
    lambda b, a: b.scatter_(0, vt.tensor([0]), a[:1]),
    lambda b, a: b.scatter_(0, (a > 2).long(), 1.0),
    lambda b, a: b.index_add_(0, vt.tensor([0, 1, 2]), a),
    lambda b, a: b.index_copy_(0, vt.tensor([0, 1, 2]), a),
    lambda b, a: b.index_fill_(0, vt.tensor([0]), a[0]),
    lambda b, a: put(b, (a[0] > 2).long(), 5.0),
    lambda b, a: b.addcmul_(a, a),
    lambda b, a: b.lerp_(a, 0.5),
    lambda b, a: b.put_(vt.tensor([0]), a[:1]),
    lambda b, a: b.masked_scatter_(vt.tensor([True, False, True]), a),
    lambda b, a: b.data.add_(a),
]


@pytest.mark.parametrize("write", INTO_ONE)
def test_a_write_of_samples_into_one_tensor_is_refused(write: Any) -> None:
    captured = ramp(3)
    watched = Unchanged(captured)

    for function in (
        lambda a: write(captured, a),
        lambda a: write(captured.clone(), a),
        lambda a: write(captured[:], a),
    ):
        with pytest.raises(RuntimeError):
            vmap(function)(ramp(2, 3))
    watched.check()


def test_out_of_place_forms_take_samples() -> None:
    c = ramp(3)
    assert vmap(lambda a: c.add(a))(ramp(2, 3)).tolist() == [[2, 4, 6], [5, 7, 9]]
    found = vmap(lambda a: c.masked_fill(a > 2, 0.0))(ramp(2, 3))
    assert found.tolist() == [[1, 2, 0], [0, 0, 0]]
    found = vmap(lambda a: c.index_put((vt.tensor([0]),), a[:1]))(ramp(2, 3))
    assert found.tolist() == [[1, 2, 3], [4, 2, 3]]


@pytest.mark.parametrize(
    "make",
    [
        lambda a: vt.zeros_like(a),
        lambda a: a.new_zeros(3),
        lambda a: a.new_zeros((3,)),
        lambda a: a.new_full((3,), 0.0),
        lambda a: a.new_ones(3) * 0,
        lambda a: vt.full_like(a, 0.0),
        lambda a: vt.empty_like(a).fill_(0.0),
        lambda a: a.new_empty(3).zero_(),
    ],
)
def test_what_is_made_of_a_sample_has_samples(make: Any) -> None:
    found = vmap(lambda a: put(make(a), 0, a[1]))(ramp(2, 3))
    assert found.tolist() == [[2, 0, 0], [5, 0, 0]]


@differs_from_torch("the write is lost there: y[i] is a copy")
def test_an_index_of_each_sample_chooses_a_view() -> None:
    def scaled(x: vt.Tensor, i: vt.Tensor) -> vt.Tensor:
        y = x * 1
        y[i].mul_(10)
        return y

    assert vmap(scaled)(ramp(2, 3), I).tolist() == [[10, 2, 3], [4, 5, 60]]


@differs_from_torch("it refuses new_tensor")
def test_new_tensor_has_samples() -> None:
    found = vmap(lambda a: put(a.new_tensor([1.0, 2.0]), 0, a[0]))(ramp(2, 3))
    assert found.tolist() == [[1, 2], [4, 2]]


def test_each_level_counts_by_itself() -> None:
    x, y = ramp(2), ramp(3)
    # A sample of the outer level is one tensor for the inner one.
    with pytest.raises(RuntimeError):
        vmap(lambda a: vmap(lambda b: a.add_(b))(y))(x)
    vmap(lambda a: vmap(lambda b: b + a.add_(1))(y))(x)
    assert x.tolist() == [2, 3]
    # Samples of both levels.
    with pytest.raises(RuntimeError):
        vmap(lambda a: vmap(lambda b: b.add_(a))(y))(x)
    table = ramp(2, 3)
    vmap(lambda a, row: vmap(lambda b: b.add_(a))(row))(x, table)
    assert table.tolist() == [[3, 4, 5], [7, 8, 9]]


def test_a_value_that_is_the_same_for_all_samples_is_written_once() -> None:
    c = vt.zeros(2)
    vmap(lambda a: a + c.add_(1).sum())(ramp(5))
    assert c.tolist() == [1, 1]


def test_the_refusal_in_hidden_places() -> None:
    with pytest.raises(RuntimeError):
        vmap(lambda a, b: a.clone().mul_(b), in_dims=(None, 0))(ramp(3), ramp(2, 3))


# -- tangents --------------------------------------------------------------------------------------


def cascade(a: vt.Tensor) -> vt.Tensor:
    b = vt.zeros(3, dtype=vt.float64)
    b[0] = a[0] ** 2
    b[1] = a[1] * b[0]
    return b


def test_tangents_alone_fit_into_one_tensor() -> None:
    assert func.jacfwd(cascade)(ramp(3)).tolist() == [[2, 0, 0], [4, 1, 0], [0, 0, 0]]
    found = vmap(lambda t: func.jvp(cascade, (ramp(3),), (t,))[1])(ramp(2, 3))
    assert found.tolist() == [[2, 6, 0], [8, 21, 0]]


@differs_from_torch("the tangent of what is written has no samples there")
@pytest.mark.parametrize("function", [lambda z: z.clone().mul_(z), lambda z: z.mul_(z)])
def test_a_tangent_gets_samples_when_a_dual_sample_is_written(function: Any) -> None:
    ones = vt.ones(3, dtype=vt.float64)
    found = vmap(lambda a: func.jvp(function, (a.clone(),), (ones,))[1])(ramp(2, 3))
    assert found.tolist() == [[2, 4, 6], [8, 10, 12]]


def test_a_tangent_of_samples_at_an_outer_level_is_refused() -> None:
    with fw.dual_level(), pytest.raises(RuntimeError):
        vmap(lambda t: fw.make_dual(ramp(3), t) * 2)(ramp(2, 3))


@differs_from_torch("make_dual has no rule there")
def test_make_dual_of_samples_that_have_a_tangent_each() -> None:
    def function(a: vt.Tensor, t: vt.Tensor) -> vt.Tensor:
        tangent: vt.Tensor = fw.unpack_dual(fw.make_dual(a, t) ** 2).tangent
        return tangent

    with fw.dual_level():
        assert vmap(function)(ramp(2, 3), ramp(2, 3)).tolist() == [[2, 8, 18], [32, 50, 72]]

    def inside(a: vt.Tensor) -> vt.Tensor:
        with fw.dual_level():
            return function(a, vt.ones(3, dtype=vt.float64))

    assert vmap(inside)(ramp(2, 3)).tolist() == [[2, 4, 6], [8, 10, 12]]


def test_a_batch_inside_of_a_dual_level() -> None:
    with fw.dual_level():
        d, e = fw.make_dual(ramp(2, 3), ramp(2, 3) * 10), fw.make_dual(ramp(3), ramp(3))
        found = fw.unpack_dual(vmap(lambda a: a * e)(d)).tangent
        assert found.tolist() == [[11, 44, 99], [44, 110, 198]]
        written = vmap(lambda a: a.mul_(2))(d)
        assert written is d
        assert fw.unpack_dual(d).tangent.tolist() == [[20, 40, 60], [80, 100, 120]]
