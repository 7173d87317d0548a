"""Values that can be worked out by hand, of functions that are imported when first named."""

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import NoDerivativeError, ResultTypeError, ShapeError

NAN, INF = vt.nan, vt.inf


# -- places and order ------------------------------------------------------------------------


def test_a_value_goes_before_or_behind_equal_elements() -> None:
    x = vt.tensor([1, 3, 3, 5])
    assert vt.searchsorted(x, vt.tensor([0, 3, 9])).tolist() == [0, 1, 4]
    assert vt.searchsorted(x, vt.tensor([0, 3, 9]), right=True).tolist() == [0, 3, 4]
    assert vt.searchsorted(x, 3, side="right").item() == 3
    assert vt.bucketize(vt.tensor([[3], [4]]), x, out_int32=True).dtype == vt.int32


def test_each_row_is_searched_for_its_own_values() -> None:
    rows = vt.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert vt.searchsorted(rows, vt.tensor([[1.5, NAN], [0.0, 3.5]])).tolist() == [[1, 2], [0, 1]]


def test_a_sorter_stands_for_sorted_elements() -> None:
    x = vt.tensor([5, 1, 3])
    assert vt.searchsorted(x, vt.tensor([2, 6]), sorter=vt.argsort(x)).tolist() == [1, 3]


def test_searches_go_into_out_of_their_dtype() -> None:
    x, out = vt.tensor([1, 3]), vt.zeros(0, dtype=vt.int64)
    assert vt.searchsorted(x, vt.tensor([2]), out=out) is out
    assert out.tolist() == [1]
    with pytest.raises(ResultTypeError):
        vt.searchsorted(x, vt.tensor([2]), out=vt.zeros(1))


def test_equal_elements_are_found_once() -> None:
    x = vt.tensor([[3.0, 1.0], [3.0, NAN]], requires_grad=True)
    values, places, counts = vt.unique(x, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(values.detach().numpy(), [1, 3, np.nan])
    assert places.tolist() == [[1, 0], [1, 2]]
    assert counts.tolist() == [1, 2, 1]
    (gradient,) = vt.autograd.grad(values[:2].sum(), x)
    assert gradient.tolist() == [[1, 1], [0, 0]]


def test_slices_are_compared_as_wholes() -> None:
    x = vt.tensor([[1, 2], [0, 5], [1, 2]])
    values, places = vt.unique(x, dim=0, return_inverse=True)
    assert values.tolist() == [[0, 5], [1, 2]]
    assert places.tolist() == [1, 0, 1]
    assert vt.unique_consecutive(x[:, [0, 0, 1]], dim=1).tolist() == [[1, 2], [0, 5], [1, 2]]


def test_nan_is_among_no_elements() -> None:
    x = vt.tensor([1.0, NAN])
    assert vt.isin(x, vt.tensor([NAN, 1.0])).tolist() == [True, False]
    assert vt.isin(x, 1.0, invert=True).tolist() == [False, True]
    assert vt.isin(2, vt.tensor([2, 3])).item() is True


def test_flat_indices_of_many_dimensions() -> None:
    rows, columns = vt.unravel_index(vt.tensor([[0, 5], [7, 3]]), (4, 2))
    assert rows.tolist() == [[0, 2], [3, 1]]
    assert columns.tolist() == [[0, 1], [1, 1]]


def test_the_first_nonzero_elements() -> None:
    x = vt.tensor([[0, 1], [2, 0]])
    assert vt.nonzero_static(x, size=1).tolist() == [[0, 1]]
    assert x.nonzero_static(size=3, fill_value=9).tolist() == [[0, 1], [1, 0], [9, 9]]


def test_the_first_dimension_is_sorted() -> None:
    assert vt.msort(vt.tensor([[3.0, NAN], [1.0, 2.0]]))[0].tolist() == [1, 2]


# -- statistics ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("interpolation", "expected"),
    [("linear", 1.5), ("lower", 0.0), ("higher", 2.0), ("midpoint", 1.0), ("nearest", 2.0)],
)
def test_a_quantile_between_two_elements(interpolation: str, expected: float) -> None:
    x = vt.tensor([4.0, 0.0, 2.0])
    assert vt.quantile(x, 0.375, interpolation=interpolation).item() == expected


def test_nan_is_the_quantile_or_left_out() -> None:
    x = vt.tensor([[0.0, NAN, 2.0], [1.0, 3.0, 5.0]])
    assert vt.quantile(x, 0.5, 1).isnan().tolist() == [True, False]
    assert vt.nanquantile(x, 0.5, 1, keepdim=True).tolist() == [[1], [3]]
    assert vt.nanquantile(vt.tensor([NAN]), 0.5).isnan().item() is True


def test_the_gradient_of_a_quantile_goes_to_both_elements_and_the_part() -> None:
    x = vt.tensor([4.0, 0.0, 2.0], requires_grad=True)
    q = vt.tensor([0.375], requires_grad=True)
    vt.quantile(x, q).sum().backward()
    assert x.grad is not None
    assert q.grad is not None
    assert x.grad.tolist() == [0, 0.25, 0.75]
    assert q.grad.tolist() == [4]


def test_weights_are_summed_by_number() -> None:
    x = vt.tensor([1, 1, 3])
    assert vt.bincount(x, minlength=5).tolist() == [0, 2, 0, 1, 0]
    assert vt.bincount(x, vt.tensor([1, 2, 4])).dtype == vt.float64
    weights = vt.tensor([0.5, 1.0, 2.0], requires_grad=True)
    (gradient,) = vt.autograd.grad(vt.bincount(x, weights)[1], weights)
    assert gradient.tolist() == [1, 1, 0]


def test_the_last_bin_has_its_upper_edge() -> None:
    x = vt.tensor([0.0, 1.0, 2.0, 2.0, NAN, 9.0])
    assert vt.histc(x, bins=2, min=0, max=2).tolist() == [1, 3]
    hist, edges = vt.histogram(x, bins=2, range=(0.0, 2.0))
    assert hist.tolist() == [1, 3]
    assert edges.tolist() == [0, 1, 2]
    hist, edges = vt.histogram(vt.tensor([3.0, 3.0]), bins=2)
    assert hist.tolist() == [0, 2]
    assert edges.tolist() == [2.5, 3, 3.5]


def test_a_density_has_the_integral_one() -> None:
    x, weight = vt.tensor([0.5, 2.0]), vt.tensor([1.0, 3.0])
    hist, _ = vt.histogram(x, vt.tensor([0.0, 1.0, 3.0]), weight=weight, density=True)
    assert hist.tolist() == [0.25, 0.375]


def test_backward_through_edges_that_were_found_raises() -> None:
    x = vt.tensor([1.0, 2.0], requires_grad=True)
    hist, edges = vt.histogram(x, 2)
    assert not hist.requires_grad
    with pytest.raises(NoDerivativeError):
        edges.sum().backward()


def test_boxes_of_several_coordinates() -> None:
    points = vt.tensor([[0.5, 0.0], [0.5, 3.0], [1.5, 3.0], [9.0, 0.0]])
    hist, edges = vt.histogramdd(points, bins=[2, 2], range=[0.0, 2.0, 0.0, 4.0])
    assert hist.tolist() == [[1, 1], [0, 1]]
    assert [e.tolist() for e in edges] == [[0, 1, 2], [0, 2, 4]]


def test_the_range_of_a_histogram_has_no_gradient() -> None:
    end = vt.tensor(2.0, requires_grad=True)
    x = vt.tensor([0.5, 1.5])
    with pytest.raises(vt.errors.ArgumentTypeError, match="does not require grad"):
        vt.histogram(x, 2, range=(0.0, end))  # type: ignore[arg-type]
    assert vt.histogram(x, 2, range=(0.0, end.item())).hist.tolist() == [1, 1]


def test_what_has_no_weight_is_never_drawn() -> None:
    weights = vt.tensor([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0]])
    assert vt.multinomial(weights, 3, replacement=True).tolist() == [[1, 1, 1], [0, 0, 0]]
    assert sorted(vt.multinomial(vt.ones(4), 4).tolist()) == [0, 1, 2, 3]
    generator = vt.Generator().manual_seed(0)
    draws = vt.multinomial(vt.tensor([1.0, 2.0, 1.0]).expand(2000, 3), 1, generator=generator)
    assert 0.46 < (draws == 1).double().mean().item() < 0.54


def test_draws_without_replacement_take_the_heavy_ones_first() -> None:
    # The first of two draws is 1 with probability 3/4, whatever comes second.
    weights = vt.tensor([1.0, 3.0]).expand(4000, 2)
    draws = vt.multinomial(weights, 2, generator=vt.Generator().manual_seed(1))
    assert 0.72 < draws[:, 0].double().mean().item() < 0.78


# -- sampled functions -----------------------------------------------------------------------


def test_integrals_of_samples() -> None:
    y = vt.tensor([1, 2, 4])
    assert vt.trapezoid(y).item() == 4.5
    assert vt.trapezoid(y, vt.tensor([0, 2, 3])).item() == 6
    assert vt.trapz(y, dx=0.5).item() == 2.25
    assert vt.cumulative_trapezoid(y).tolist() == [1.5, 4.5]
    assert vt.trapezoid(vt.zeros(2, 0)).tolist() == [0, 0]


def test_slopes_of_samples() -> None:
    x = vt.tensor([0.0, 1.0, 4.0, 9.0])
    assert vt.gradient(x)[0].tolist() == [1, 2, 4, 5]
    assert vt.gradient(x, edge_order=2)[0].tolist() == [0, 2, 4, 6]
    places = vt.tensor([0.0, 1.0, 2.0, 4.0])
    (slopes,) = vt.gradient(places * places, spacing=(places,), edge_order=2)
    assert slopes.tolist() == pytest.approx([0, 2, 4, 8])
    rows, columns = vt.gradient(vt.tensor([[0.0, 1.0], [2.0, 3.0]]), spacing=[1.0, 0.5])
    assert rows.tolist() == [[2, 2], [2, 2]]
    assert columns.tolist() == [[2, 2], [2, 2]]


def test_values_between_points() -> None:
    xp, fp = vt.tensor([0.0, 1.0, 3.0]), vt.tensor([1.0, 2.0, 6.0])
    x = vt.tensor([-1.0, 0.5, 1.0, 2.0, 4.0], requires_grad=True)
    y = vt.interp(x, xp, fp)
    assert y.tolist() == [1, 1.5, 2, 4, 6]
    (slopes,) = vt.autograd.grad(y.sum(), x)
    assert slopes.tolist() == [0, 1, 2, 2, 0]
    assert vt.interp(x, xp, fp, left=-5.0, right=9.0)[[0, 4]].tolist() == [-5, 9]
    assert vt.interp(vt.tensor([3.5]), xp, fp, period=4.0).tolist() == [3.5]
    assert vt.interp(vt.tensor([1]), xp.double(), fp.double()).dtype == vt.float64


def test_convolutions_in_each_mode() -> None:
    a, v = vt.tensor([1.0, 2.0, 3.0]), vt.tensor([0.0, 1.0, 0.5])
    assert vt.convolve(a, v).tolist() == [0, 1, 2.5, 4, 1.5]
    assert vt.convolve(a, v, "same").tolist() == [1, 2.5, 4]
    assert vt.convolve(a, v, "valid").tolist() == [2.5]
    assert vt.correlate(a, v).tolist() == [3.5]
    i = vt.tensor([1j])
    assert vt.convolve(i, i).item() == -1
    assert vt.correlate(i, i).item() == 1


# -- distances and margins -------------------------------------------------------------------


def test_counts_of_differences_have_the_gradient_zero() -> None:
    # As in PyTorch, and not none at all; also where a difference is infinite.
    x = vt.tensor([[1.0, 2.0], [3.0, vt.inf]], requires_grad=True)
    y = vt.tensor([[1.0, 2.0], [3.0, 2.0]])
    for found, expected in ((vt.cdist(x, y, 0), [[0, 1], [2, 1]]), (vt.pdist(x, 0), [2])):
        assert found.tolist() == expected
        (grad,) = vt.autograd.grad(found.sum(), x)
        assert grad.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(("p", "expected"), [(0.0, 2), (1.0, 7), (2.0, 5), (INF, 4)])
def test_distances_by_the_order_of_the_norm(p: float, expected: float) -> None:
    x = vt.tensor([[0.0, 0.0], [3.0, 4.0]])
    assert vt.cdist(x, x, p).tolist() == [[0, expected], [expected, 0]]
    assert vt.pdist(x, p).tolist() == [expected]


def test_points_at_one_place_have_zero_derivatives() -> None:
    x = vt.tensor([[1.0, 2.0]], requires_grad=True)
    for p in (1.5, 2.0, INF):
        (first,) = vt.autograd.grad(vt.cdist(x, x.detach(), p).sum(), x, create_graph=True)
        assert first.tolist() == [[0, 0]]
        (second,) = vt.autograd.grad(first.sum(), x)
        assert second.tolist() == [[0, 0]]


def test_points_without_coordinates_are_at_one_place() -> None:
    x = vt.ones(2, 0, requires_grad=True)
    for p in (0.0, 2.0, INF):
        assert vt.cdist(x, vt.ones(3, 0), p).tolist() == [[0, 0, 0], [0, 0, 0]]
        distances = vt.pdist(x, p)
        assert distances.tolist() == [0]
        assert vt.autograd.grad(distances.sum(), x)[0].shape == (2, 0)
    assert vt.pdist(vt.ones(0, 2)).shape == vt.pdist(vt.ones(1, 2)).shape == (0,)
    assert vt.cosine_similarity(vt.ones(2, 0), vt.ones(2, 0)).tolist() == [0, 0]


def test_the_angle_with_a_zero_vector() -> None:
    x = vt.tensor([[3.0, 4.0], [0.0, 0.0]])
    y = vt.tensor([[4.0, 3.0], [1.0, 0.0]])
    assert vt.cosine_similarity(x, y).tolist() == pytest.approx([0.96, 0])
    assert vt.pairwise_distance(x, y, p=1, eps=0.0, keepdim=True).tolist() == [[2], [1]]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("constant", [0, 0, 1, 2, 3, 0]),
        ("replicate", [1, 1, 1, 2, 3, 3]),
        ("reflect", [3, 2, 1, 2, 3, 2]),
        ("circular", [2, 3, 1, 2, 3, 1]),
    ],
)
def test_margins_in_each_mode(mode: str, expected: list[int]) -> None:
    x = vt.tensor([1, 2, 3])
    assert vt.pad(x, (2, 1), mode).tolist() == expected
    assert vt.pad(x, (-1, -1), mode).tolist() == [2]


def test_margins_of_the_last_dimension_come_first() -> None:
    x = vt.tensor([[1, 2]])
    assert vt.pad(x, (1, 0, 0, 1), value=7).tolist() == [[7, 1, 2], [7, 7, 7]]
    assert vt.pad(x, (1, 0, 0, 0)).grad_fn is None
    y = vt.ones(2, requires_grad=True)
    assert type(vt.pad(y, (1, 1)).grad_fn).__name__ == "ConstantPadNdBackward0"


def test_a_margin_larger_than_the_elements_allow_is_refused() -> None:
    x = vt.tensor([1, 2, 3])
    with pytest.raises(ShapeError):
        vt.pad(x, (3, 0), "reflect")
    with pytest.raises(ShapeError):
        vt.pad(x, (0, 4), "circular")
    with pytest.raises(ShapeError):
        vt.pad(x, (-2, -2))
    with pytest.raises(ShapeError):
        vt.pad(x, (1,))


def test_a_padded_copy_is_no_view() -> None:
    x = vt.tensor([1, 2, 3])
    for mode in ("constant", "reflect"):
        y = vt.pad(x, (0, 0), mode)
        y[0] = 9
    assert x.tolist() == [1, 2, 3]


# -- tensors of numbers ----------------------------------------------------------------------


def test_powers_and_indices_of_triangles() -> None:
    assert vt.logspace(0, 3, 4, base=2).tolist() == [1, 2, 4, 8]
    assert vt.logspace(0, 2, 3, dtype=vt.int64).tolist() == [1, 10, 100]
    assert vt.logspace(2, 0, 1).tolist() == [100]
    assert vt.tril_indices(2, 2).tolist() == [[0, 1, 1], [0, 0, 1]]
    assert vt.triu_indices(2, 2, 1).tolist() == [[0], [1]]
    assert vt.tril_indices(2, 3, -9).shape == (2, 0)


def test_interp_is_the_same_where_nothing_stands_out_and_where_something_does() -> None:
    # A place outside sends all of them on the longer way.
    xp = vt.tensor([-1.0, 0.5, 1.0, 3.0], dtype=vt.float64, requires_grad=True)
    for turn in (1, 1 - 0.5j):
        fp = (vt.tensor([2.0, 0.0, -1.0, 4.0], dtype=vt.float64) * turn).requires_grad_()
        x = vt.tensor([-1.0, 0.1, 0.5, 0.9, 2.5, 3.0], dtype=vt.float64, requires_grad=True)
        longer = vt.cat([x, vt.tensor([7.0], dtype=vt.float64)])
        found, expected = vt.interp(x, xp, fp), vt.interp(longer, xp, fp)[:6]
        assert found.tolist() == expected.tolist()
        weights = vt.arange(6.0, dtype=vt.float64)
        ours = vt.autograd.grad((found * weights).abs().sum(), (x, xp, fp))
        theirs = vt.autograd.grad((expected * weights).abs().sum(), (x, xp, fp))
        for one, other in zip(ours, theirs, strict=True):
            assert vt.allclose(one, other, rtol=1e-12, atol=1e-12)
    # A tensor outside gets a gradient in either case.
    left = vt.tensor(1.0, dtype=vt.float64, requires_grad=True)
    (grad,) = vt.autograd.grad(vt.interp(x, xp, fp.detach().real, left=left).sum(), left)
    assert grad.item() == 0
