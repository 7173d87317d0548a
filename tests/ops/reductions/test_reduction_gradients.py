"""Gradients of reductions, running products and normalisations, in numbers worked by hand."""

from collections.abc import Callable

import pytest

import vtgrad as vt
from tests.support import leaf_of
from vtgrad.errors import (
    ArgumentTypeError,
    OutGradError,
    ResultTypeError,
    StaleSavedError,
    UnseenWriteError,
    UnusedInputError,
)

INF = float("inf")
NAN = float("nan")

Op = Callable[[vt.Tensor], vt.Tensor]


def gradient(op: Op, x: vt.Tensor, *cotangent: float) -> object:
    y = op(x)
    seed = vt.tensor(list(cotangent), dtype=vt.float64) if cotangent else vt.ones_like(y)
    (g,) = vt.autograd.grad(y, x, seed)
    return g.tolist()


def second(op: Op, x: vt.Tensor, direction: list[float]) -> object:
    """The second derivative of a scalar times a direction."""
    (g,) = vt.autograd.grad(op(x), x, create_graph=True)
    (h,) = vt.autograd.grad(g, x, vt.tensor(direction, dtype=vt.float64))
    return h.tolist()


# -- ties, zeros and nans -------------------------------------------------------------------


@pytest.mark.parametrize("op", [lambda x: x.max(), lambda x: x.amax(), lambda x: x.amax(0)])
def test_equal_largest_elements_share_the_gradient(op: Op) -> None:
    assert gradient(op, leaf_of(2, 2, 1)) == [0.5, 0.5, 0]


@pytest.mark.parametrize("op", [lambda x: x.min(), lambda x: x.amin()])
def test_equal_smallest_elements_share_the_gradient(op: Op) -> None:
    assert gradient(op, leaf_of(1, 4, 1, 1)) == [1 / 3, 0, 1 / 3, 1 / 3]


def test_along_a_dimension_the_chosen_element_gets_everything() -> None:
    x = leaf_of([2, 2], [2, 1])
    assert gradient(lambda x: x.max(0).values, x) == [[1, 1], [0, 0]]
    assert gradient(lambda x: x.min(1, True)[0], x) == [[1, 0], [0, 1]]
    assert gradient(lambda x: x.median(1).values, x) == [[1, 0], [0, 1]]


def test_nans_share_the_gradient_of_the_largest_of_all() -> None:
    assert gradient(lambda x: x.max(), leaf_of(1, NAN, NAN)) == [0, 0.5, 0.5]
    assert gradient(lambda x: x.median(), leaf_of(1, NAN, NAN)) == [0, 0.5, 0.5]


def test_the_gradient_of_a_product_survives_zeros() -> None:
    assert gradient(lambda x: x.prod(), leaf_of(0, 2, 3)) == [6, 0, 0]
    assert gradient(lambda x: x.prod(), leaf_of(0, 2, 0)) == [0, 0, 0]
    assert gradient(lambda x: x.prod(1), leaf_of([0, 2, 3], [1, 2, 3])) == [[6, 0, 0], [6, 3, 2]]


def test_the_second_derivative_of_a_product_survives_zeros() -> None:
    # xyz has the mixed derivative y by x and z, also where x and z are zero.
    assert second(lambda x: x.prod(), leaf_of(0, 2, 0), [1, 0, 0]) == [0, 0, 2]
    assert second(lambda x: x.prod(0), leaf_of(0, 2, 3), [0, 1, 0]) == [3, 0, 0]


def test_running_products_survive_zeros() -> None:
    # y = (a, ab, abc): da = g0 + b g1 + bc g2, and so on.
    assert gradient(lambda x: x.cumprod(0), leaf_of(0, 2, 3)) == [9, 0, 0]
    assert gradient(lambda x: x.cumprod(0), leaf_of(5, 0, 3), 1, 1, 1) == [1, 20, 0]
    assert gradient(lambda x: x.cumprod(0), leaf_of(5, 0, 0), 1, 1, 1) == [1, 5, 0]
    # sum of y = a + ab + abc: d2/dadb = 1 + c, d2/dadc = b, d2/dbdc = a.
    total: Op = lambda x: x.cumprod(0).sum()  # noqa: E731
    assert second(total, leaf_of(5, 0, 3), [1, 0, 0]) == [0, 4, 0]
    assert second(total, leaf_of(5, 0, 3), [0, 0, 1]) == [0, 5, 0]
    assert second(total, leaf_of(5, 2, 3), [1, 0, 0]) == [0, 4, 2]


def test_running_sums_send_each_gradient_to_all_earlier_elements() -> None:
    assert gradient(lambda x: x.cumsum(0), leaf_of(1, 2, 3), 1, 10, 100) == [111, 110, 100]
    assert gradient(lambda x: x.clone().cumsum_(0), leaf_of(1, 2, 3), 1, 10, 100) == [111, 110, 100]


@pytest.mark.parametrize("order", [1, 2, 3, 1.5, 0.5, INF])
def test_norms_have_a_zero_gradient_at_zero(order: float) -> None:
    assert gradient(lambda x: x.norm(order), leaf_of(0, 0, 0)) == [0, 0, 0]


def test_norms_of_several_orders() -> None:
    assert gradient(lambda x: x.norm(), leaf_of(-3, 0, 4)) == [-0.6, 0, 0.8]
    assert gradient(lambda x: x.norm(1), leaf_of(-3, 0, 4)) == [-1, 0, 1]
    assert gradient(lambda x: x.norm(INF), leaf_of(-4, 0, 4)) == [-0.5, 0, 0.5]
    assert gradient(lambda x: x.norm(dim=1), leaf_of([3, 4], [0, 2])) == [[0.6, 0.8], [0, 1]]


def test_counting_what_is_not_zero_has_no_gradient() -> None:
    x = leaf_of(1, 2)
    with pytest.raises(UnusedInputError):
        vt.autograd.grad(x.norm(0), x)


def test_spread_is_flat_where_nothing_varies() -> None:
    assert gradient(lambda x: x.std(), leaf_of(2, 2, 2)) == [0, 0, 0]
    assert gradient(lambda x: x.var(), leaf_of(1, 2, 3)) == [-1, 0, 1]
    assert gradient(lambda x: x.var(correction=0), leaf_of(1, 3)) == [-1, 1]
    assert gradient(lambda x: x.var(1, correction=0), leaf_of([1, 3], [4, 4])) == [[-1, 1], [0, 0]]
    assert gradient(lambda x: x.var(correction=3), leaf_of(1, 2, 3))[0] == INF  # type: ignore[index]  # tolist


def test_means_divide_by_what_they_merge() -> None:
    x = leaf_of([1, 2, 3], [4, 5, 6])
    assert gradient(lambda x: x.mean(), x) == [[1 / 6] * 3] * 2
    assert gradient(lambda x: x.mean((0,)), x, 2, 4, 6) == [[1, 2, 3], [1, 2, 3]]
    assert gradient(lambda x: x.mean(1, keepdim=True).sum(0), x) == [[1 / 3] * 3] * 2


def test_shares_that_add_up_to_one_have_gradients_that_cancel() -> None:
    x = leaf_of(0, 0)
    assert gradient(lambda x: x.softmax(0), x, 1, 0) == [0.25, -0.25]
    assert gradient(lambda x: x.log_softmax(0), x, 1, 0) == [0.5, -0.5]
    shares = gradient(lambda x: x.logsumexp(0), leaf_of(7, 7, -INF))
    assert shares == pytest.approx([0.5, 0.5, 0], rel=1e-15)


def test_complex_gradients_are_conjugated() -> None:
    x = vt.tensor([1 + 2j, 3 - 1j], dtype=vt.complex128, requires_grad=True)
    assert gradient(lambda x: x.prod(), x) == pytest.approx([3 + 1j, 1 - 2j], rel=1e-15)
    assert gradient(lambda x: x.dot(x.detach()), x) == [1 - 2j, 3 + 1j]


def test_sorting_puts_gradients_back_in_place() -> None:
    assert gradient(lambda x: x.sort().values, leaf_of(3, 1, 2), 10, 20, 30) == [30, 10, 20]
    assert gradient(lambda x: x.topk(2).values, leaf_of(3, 1, 2), 5, 7) == [5, 0, 7]


def test_a_wider_dtype_inside_does_not_leak_into_the_gradient() -> None:
    x = vt.ones(3, requires_grad=True)
    (g,) = vt.autograd.grad(x.sum(dtype=vt.float64), x)
    assert g.dtype is vt.float32


# -- what is recorded and saved -------------------------------------------------------------

NAMES: list[tuple[Op, str]] = [
    (lambda x: x.sum(), "SumBackward0"),
    (lambda x: x.sum(None), "SumBackward1"),
    (lambda x: x.sum(0), "SumBackward1"),
    (lambda x: x.mean(), "MeanBackward0"),
    (lambda x: x.mean(0, True), "MeanBackward1"),
    (lambda x: x.prod(), "ProdBackward0"),
    (lambda x: x.prod(0), "ProdBackward1"),
    (lambda x: x.max(), "MaxBackward1"),
    (lambda x: x.max(0).values, "MaxBackward0"),
    (lambda x: x.min(), "MinBackward1"),
    (lambda x: x.min(0)[0], "MinBackward0"),
    (lambda x: x.max(x.detach()), "MaximumBackward0"),
    (lambda x: x.amax(), "AmaxBackward0"),
    (lambda x: x.median(), "MedianBackward0"),
    (lambda x: x.median(0)[0], "MedianBackward1"),
    (lambda x: x.var(), "VarBackward0"),
    (lambda x: x.std(0), "StdBackward0"),
    (lambda x: x.norm(), "LinalgVectorNormBackward0"),
    (lambda x: x.logsumexp(0), "LogsumexpBackward0"),
    (lambda x: x.softmax(0), "SoftmaxBackward0"),
    (lambda x: x.log_softmax(0), "LogSoftmaxBackward0"),
    (lambda x: x.cumsum(0), "CumsumBackward0"),
    (lambda x: x.cumprod(0), "CumprodBackward0"),
    (lambda x: x.sort().values, "SortBackward0"),
    (lambda x: x.sort(stable=True).values, "SortBackward1"),
    (lambda x: x.topk(1).values, "TopkBackward0"),
]


@pytest.mark.parametrize(("op", "name"), NAMES, ids=[name for _, name in NAMES])
def test_nodes_have_their_names(op: Op, name: str) -> None:
    node = op(leaf_of([3, 1], [2, 5])).grad_fn
    assert node is not None
    assert type(node).__name__ == name


SAVES: list[tuple[str, Op, bool, bool]] = [
    ("sum", lambda x: x.sum(), False, False),
    ("mean", lambda x: x.mean(0), False, False),
    ("prod", lambda x: x.prod(), True, True),
    ("max", lambda x: x.max(), True, True),
    ("max_dim", lambda x: x.max(0).values, False, False),
    ("amax", lambda x: x.amax(0), True, True),
    ("var", lambda x: x.var(), True, False),
    ("std", lambda x: x.std(), True, True),
    ("norm", lambda x: x.norm(), True, True),
    ("logsumexp", lambda x: x.logsumexp(0), True, True),
    ("softmax", lambda x: x.softmax(0), False, True),
    ("log_softmax", lambda x: x.log_softmax(0), False, True),
    ("cumsum", lambda x: x.cumsum(0), False, False),
    ("cumprod", lambda x: x.cumprod(0), True, True),
    ("sort", lambda x: x.sort().values, False, False),
    ("topk", lambda x: x.topk(1).values, False, False),
]


@pytest.mark.parametrize(
    ("op", "saves_input", "saves_result"),
    [case[1:] for case in SAVES],
    ids=[case[0] for case in SAVES],
)
def test_overwriting_matters_only_if_it_was_saved(
    op: Op, saves_input: bool, saves_result: bool
) -> None:
    x = leaf_of([3, 1], [2, 5]).clone()
    y = op(x)
    x.mul_(2)
    if saves_input:
        with pytest.raises(StaleSavedError):
            y.sum().backward()
    else:
        y.sum().backward()
    y = op(leaf_of([3, 1], [2, 5]).clone())
    z = y + 1
    y.mul_(2)
    if saves_result:
        with pytest.raises(StaleSavedError):
            z.sum().backward()
    else:
        z.sum().backward()


def test_places_never_require_grad() -> None:
    found = leaf_of([3, 1], [2, 5]).max(1)
    assert found.values.output_nr == 0
    assert not found.indices.requires_grad
    assert found.indices.dtype is vt.int64
    assert found.indices.is_leaf


@pytest.mark.parametrize(
    "op",
    [
        lambda x: x.max(0).values,
        lambda x: x.sort().values,
        lambda x: x.topk(1).values,
        lambda x: x.cumsum(0),
        lambda x: x.mean(0),
    ],
)
def test_the_recorded_gradient_of_a_linear_choice_is_a_constant(op: Op) -> None:
    x = leaf_of([3, 1], [2, 5])
    y = op(x)
    (g,) = vt.autograd.grad(y, x, vt.ones_like(y), create_graph=True)
    assert not g.requires_grad


def test_a_running_sum_through_a_view_rewrites_the_base() -> None:
    x = leaf_of([1, 2], [3, 4])
    base = x.clone()
    base[0].cumsum_(0)
    assert base.tolist() == [[1, 3], [3, 4]]
    (g,) = vt.autograd.grad(base.sum(), x)
    assert g.tolist() == [[2, 1], [1, 1]]


# -- arguments ------------------------------------------------------------------------------


def test_numpy_names_of_arguments() -> None:
    x = leaf_of([1, 2], [3, 4])
    assert x.sum(axis=0).tolist() == [4, 6]
    assert x.mean(axis=1, keepdims=True).tolist() == [[1.5], [3.5]]
    with pytest.raises(ArgumentTypeError):
        x.sum(0, axis=0)


def test_arguments_of_a_wrong_type_are_refused() -> None:
    x = leaf_of([1, 2], [3, 4])
    wrong: list[Callable[[], object]] = [
        lambda: x.sum(1.0),  # type: ignore[arg-type]  # on purpose
        lambda: x.sum(0, 1),  # type: ignore[arg-type]  # on purpose
        lambda: x.prod((0, 1)),  # type: ignore[arg-type]  # on purpose
        lambda: x.max((0, 1)),  # type: ignore[call-overload]  # on purpose
        lambda: x.argmax((0, 1)),  # type: ignore[arg-type]  # on purpose
        lambda: x.softmax(None),  # type: ignore[call-overload]  # on purpose
        lambda: x.var(1, unbiased=True, correction=1),
        lambda: x.sort(1, 0),  # type: ignore[arg-type]  # on purpose
    ]
    for call in wrong:
        with pytest.raises(ArgumentTypeError):
            call()


def test_unbiased_is_the_older_name_of_the_correction() -> None:
    x = leaf_of(1, 3)
    assert x.var(False).item() == x.var(unbiased=False).item() == x.var(correction=0).item() == 1
    assert x.var(True).item() == x.var().item() == 2


def test_out_takes_the_result_only_unrecorded_and_in_the_right_dtype() -> None:
    x = vt.tensor([[1.0, 5.0], [3.0, 2.0]])
    values, indices = vt.zeros(2), vt.zeros(2, dtype=vt.int64)
    found = vt.max(x, 1, out=(values, indices))
    assert found.values is values
    assert values.tolist() == [5, 3]
    assert indices.tolist() == [1, 0]
    assert values._version == indices._version == 1
    with pytest.raises(ResultTypeError):
        vt.amax(x, 0, out=vt.zeros(2, dtype=vt.float64))
    with pytest.raises(OutGradError):
        vt.sum(x.requires_grad_(), 0, out=vt.zeros(2))


@pytest.mark.parametrize("name", ["max", "min", "median", "sort"])
def test_neither_of_two_results_is_stored_if_one_cannot_be(name: str) -> None:
    x = vt.tensor([[1.0, 5.0], [3.0, 2.0]])
    values = vt.zeros(2)
    with pytest.raises(ResultTypeError):
        getattr(vt, name)(x, dim=0, out=(values, vt.zeros(2)))
    assert values.tolist() == [0, 0]
    assert values._version == 0


def test_means_of_empty_tensors_are_nan_and_differentiable() -> None:
    x = vt.zeros((0, 2), requires_grad=True)
    y = x.mean(0)
    assert y.isnan().tolist() == [True, True]
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.shape == (0, 2)


@pytest.mark.parametrize("create_graph", [False, True])
def test_running_logarithms_of_complex_numbers_take_gradients_of_zero(create_graph: bool) -> None:
    x = leaf_of(0.3 + 0.8j, 1.1 - 0.6j, 0.4 - 1.3j)
    weights = vt.tensor([0, 2, 0], dtype=vt.complex128, requires_grad=create_graph)
    y = vt.logcumsumexp(x, 0)
    (found,) = vt.autograd.grad(y, x, weights, create_graph=create_graph)
    total = x[:2].detach().exp().sum()
    expected = 2 * (x.detach().exp() / total).conj()
    expected[2] = 0
    assert vt.allclose(found, expected)
    if create_graph:
        second = vt.autograd.grad(found.real.sum(), (x, weights))
        assert not any(g.isnan().any() for g in second)


def test_the_sum_of_two_logarithms_of_zero_is_one_whatever_their_imaginary_parts_are() -> None:
    inf = float("inf")
    zeros = vt.tensor([complex(-inf, 1), complex(-inf, 0)], dtype=vt.complex128)
    others = vt.tensor([complex(-inf, 2), complex(-inf, 0)], dtype=vt.complex128)
    assert vt.logaddexp(zeros, others).tolist() == [complex(-inf, 2), complex(-inf, 0)]
    assert vt.logaddexp(zeros, vt.ones_like(others)).tolist() == [1, 1]


EXTREMES: list[Callable[[vt.Tensor], vt.Tensor]] = [
    vt.max,
    vt.min,
    vt.median,
    lambda x: vt.amax(x, 0),
    lambda x: vt.amin(x, 0),
    lambda x: vt.aminmax(x).min,
    lambda x: vt.aminmax(x, dim=0).max,
    lambda x: x.norm(INF),
    lambda x: vt.dist(x, vt.zeros_like(x), INF),
    lambda x: vt.zeros_like(x[:1]).scatter_reduce(0, vt.tensor([0, 0, 0]), x, "amax"),
    lambda x: vt.ones_like(x[:1]).index_reduce(
        0, vt.tensor([0, 0, 0]), x, "amin", include_self=False
    ),
]


@pytest.mark.parametrize("of_value", [False, True])
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("function", EXTREMES)
def test_an_extreme_value_that_no_element_equals_any_more_shows_an_unseen_write(
    function: Callable[[vt.Tensor], vt.Tensor], create_graph: bool, of_value: bool
) -> None:
    x = leaf_of(1.0, 3.0, 2.0)
    elements = x * 1
    y = function(elements)
    written = y if of_value else elements
    before = written.detach().clone()
    written.data.fill_(5)
    with pytest.raises(UnseenWriteError, match="finds no element that is equal to it"):
        vt.autograd.grad(y.sum(), x, create_graph=create_graph, retain_graph=True)
    written.data.copy_(before)
    (g,) = vt.autograd.grad(y.sum(), x, create_graph=create_graph)
    assert g.sum().item() == 1


@pytest.mark.parametrize("dtype", [vt.complex64, vt.complex128])
def test_the_length_of_a_complex_number_may_be_rounded_otherwise(dtype: vt.dtype) -> None:
    x = vt.tensor([3 + 4j, 0, 1j], dtype=dtype, requires_grad=True)
    for order in (INF, -INF):
        y = x[:2].norm(order) if order > 0 else x[::2].norm(order)
        expected = vt.autograd.grad(y, x, retain_graph=True)[0]
        y.data.mul_(1 + 2 * vt.finfo(dtype).eps)
        found = vt.autograd.grad(y, x)[0]
        assert vt.equal(found, expected)
        assert found.any()


@pytest.mark.parametrize("dtype", [vt.complex64, vt.complex128])
def test_an_infinite_complex_norm_is_that_of_the_infinite_elements(dtype: vt.dtype) -> None:
    x = vt.tensor([complex(INF, 0), 1, 2j], dtype=dtype, requires_grad=True)
    for y in (x.norm(INF), vt.dist(x, vt.zeros_like(x), INF)):
        (g,) = vt.autograd.grad(y, x)
        assert g[1:].tolist() == [0, 0]


def test_an_extreme_value_that_is_no_number_has_the_gradients_it_had() -> None:
    def gradient(function: Callable[[vt.Tensor], vt.Tensor]) -> vt.Tensor:
        x = leaf_of(1.0, NAN, 2.0, NAN)
        return vt.autograd.grad(function(x).sum(), x)[0]

    for function in (vt.max, vt.min, vt.median):
        assert gradient(function).tolist() == [0, 0.5, 0, 0.5]
    assert gradient(vt.amax).isnan().all()
    assert gradient(vt.amin).isnan().all()
    assert gradient(lambda x: vt.aminmax(x).max).isnan().all()
    index = vt.tensor([0, 0, 1, 0])
    zeros = vt.zeros(2, dtype=vt.float64)
    found = gradient(lambda x: zeros.scatter_reduce(0, index, x, "amax"))
    assert found.isnan().tolist() == [True, True, False, True]
