"""Derivatives, batches, replays and arguments of linear maps, convolutions, pooling, sampling."""

import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.nn.functional as F
from tests.nn.spatial_calls import CALLS, COMPLEX, results_of, values
from tests.sweeping import sweep
from vtgrad.nn.functional.largest_by_passes import choose, places_of
from vtgrad.nn.functional.largest_in_windows import largest, places_of_windows
from vtgrad.nn.functional.pooling_geometry import pooling_geometry
from vtgrad.nn.functional.window_geometry import Geometry


def function_of(name: str) -> str:
    """The function that is called, which is the first word of a call's name."""
    return name.split()[0]


def operands_of(name: str) -> list[vt.Tensor]:
    """The tensors of a call."""
    return [values(shape, nr) for nr, shape in enumerate(CALLS[name][1])]


def differentiable(name: str) -> Callable[..., tuple[vt.Tensor, ...]]:
    call = CALLS[name][0]
    return lambda *tensors: tuple(results_of(call(*tensors)))


def test_every_function_is_called() -> None:
    others = {"pad"}
    layers = {
        name
        for name in F.__all__
        if getattr(F, name).__module__.rpartition(".")[2]
        in {
            "average_pooling",
            "convolutions",
            "fractional_pooling",
            "grid_sampling",
            "linear_maps",
            "max_pooling",
            "resizing",
            "shuffles",
            "windows",
        }
    }
    assert layers | others == {function_of(name) for name in CALLS}
    assert len(layers) >= 34


@sweep(CALLS, row=function_of)
def test_derivatives_are_those_of_differences(name: str) -> None:
    leaves = [x.requires_grad_() for x in operands_of(name)]
    call = differentiable(name)
    # Made of a hundred operators, whose batches are tested elsewhere.
    is_long = name.startswith("grid_sample") and name != "grid_sample by lines"
    assert vt.autograd.gradcheck(
        call,
        leaves,
        check_forward_ad=True,
        check_batched_grad=not is_long,
        check_batched_forward_grad=not is_long,
        fast_mode=True,
    )
    if not name.endswith("nearest"):
        assert vt.autograd.gradgradcheck(
            call, leaves, check_fwd_over_rev=not is_long, fast_mode=True
        )


@sweep(COMPLEX, row=function_of)
def test_derivatives_of_complex_values_are_those_of_differences(name: str) -> None:
    call, shapes = CALLS[name]
    leaves = [values(shape, nr, complex=True) for nr, shape in enumerate(shapes)]
    for x in leaves:
        x.requires_grad_()
    assert vt.autograd.gradcheck(call, leaves, check_forward_ad=True, fast_mode=True)
    assert vt.autograd.gradgradcheck(call, leaves, fast_mode=True)


@sweep(CALLS, row=function_of)
def test_a_batch_is_the_calls_for_each_sample(name: str) -> None:
    call = differentiable(name)
    operands = operands_of(name)
    # Each operand alone has samples, and then all of them, in another dimension.
    ways = [[0 if n == nr else None for n in range(len(operands))] for nr in range(len(operands))]
    ways.append([-1] * len(operands))
    for in_dims in ways:
        samples = [
            x if dim is None else vt.stack([x, x.flip(-1), x * 0.5], dim)
            for x, dim in zip(operands, in_dims, strict=True)
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            batch = vt.vmap(call, in_dims=tuple(in_dims))(*samples)
        for k in range(3):
            given = [
                x if dim is None else x.select(dim, k)
                for x, dim in zip(samples, in_dims, strict=True)
            ]
            for one, expected in zip(batch, call(*given), strict=True):
                np.testing.assert_allclose(one[k].numpy(), expected.numpy(), rtol=1e-12, atol=1e-13)


@sweep(CALLS, row=function_of)
def test_operands_with_gaps_give_the_same(name: str) -> None:
    call = differentiable(name)
    leaves = [x.requires_grad_() for x in operands_of(name)]
    strided = [vt.stack([x.detach(), x.detach()], -1)[..., 1].requires_grad_() for x in leaves]
    turned = [x.detach().transpose(0, -1).contiguous().transpose(0, -1) for x in leaves]
    expected = call(*leaves)
    for others in (strided, [x.requires_grad_() for x in turned]):
        found = call(*others)
        for one, two in zip(expected, found, strict=True):
            np.testing.assert_allclose(
                one.detach().numpy(), two.detach().numpy(), rtol=1e-13, atol=1e-14
            )
        grads = [vt.ones_like(x) for x in found]
        wanted = vt.autograd.grad(expected, leaves, grads, retain_graph=True)
        given = vt.autograd.grad(found, others, grads)
        for one, two in zip(wanted, given, strict=True):
            np.testing.assert_allclose(one.numpy(), two.numpy(), rtol=1e-13, atol=1e-14)


@sweep(CALLS, row=function_of)
def test_a_cotangent_of_zeros_gives_zeros(name: str) -> None:
    leaves = [x.requires_grad_() for x in operands_of(name)]
    found = differentiable(name)(*leaves)
    for x in vt.autograd.grad(found, leaves, [vt.zeros_like(x) for x in found]):
        assert not x.any()


@sweep(CALLS, row=function_of)
def test_results_and_gradients_are_on_the_lane_of_the_operands(name: str) -> None:
    if "unpool" in name:
        pytest.skip("the call has places of its own, on the CPU")
    found = []
    for device in ("cpu", "lane:0"):
        leaves = [x.to(device).requires_grad_() for x in operands_of(name)]
        results = differentiable(name)(*leaves)
        assert {x.device for x in results} == {vt.device(device)}
        gradients = vt.autograd.grad(results, leaves, [vt.ones_like(x) for x in results])
        found.append([x.tolist() for x in (*results, *gradients)])
    assert found[0] == found[1]


@sweep(CALLS, row=function_of)
def test_patterns_have_every_entry_of_the_jacobian(name: str) -> None:
    call = differentiable(name)
    first, *others = operands_of(name)

    def one(x: vt.Tensor) -> vt.Tensor:
        return call(x, *others)[0].reshape(-1)

    entries = vt.func.sparsity_pattern(one, first).matrix().toarray() != 0
    jacobian = vt.func.jacrev(one)(first).reshape(-1, first.numel()).numpy()
    assert entries[jacobian != 0].all()


SPARSE: Final = [
    *(name for name in CALLS if name.startswith(("conv", "unfold", "fold", "avg_", "lp_"))),
    *(name for name in CALLS if name.startswith(("adaptive_avg", "interpolate"))),
]


@sweep(SPARSE, row=function_of)
def test_patterns_of_windows_have_no_other_entries(name: str) -> None:
    # Breaks when a Function hides which element a window has.
    call = differentiable(name)
    first, *others = operands_of(name)

    def one(x: vt.Tensor) -> vt.Tensor:
        return call(x, *others)[0].reshape(-1)

    entries = vt.func.sparsity_pattern(one, first).matrix().toarray() != 0
    jacobian = vt.func.jacrev(one)(first).reshape(-1, first.numel()).numpy()
    assert (entries == (jacobian != 0)).all()
    # Also of a gradient, whose products are those of derivatives.
    numbers = tuple(range(1 + len(others)))
    of_all: Callable[..., tuple[vt.Tensor, ...]] = vt.func.grad(
        lambda *leaves: (call(*leaves)[0] ** 2).sum(), numbers
    )

    def slopes(x: vt.Tensor) -> vt.Tensor:
        return vt.cat([one.reshape(-1) for one in of_all(x, *others)])

    entries = vt.func.sparsity_pattern(slopes, first).matrix().toarray() != 0
    jacobian = vt.func.jacrev(slopes)(first).reshape(-1, first.numel()).numpy()
    assert entries[abs(jacobian) > 1e-12].all()


def test_the_pattern_of_a_largest_element_has_its_whole_window_and_reads_nothing() -> None:
    # Breaks when the place of the largest element is read, which holds for these values alone.
    x = values((1, 1, 6))
    calls: list[tuple[Callable[[vt.Tensor], vt.Tensor], list[list[int]]]] = [
        (lambda x: F.max_pool1d(x, 2), [[0, 1], [2, 3], [4, 5]]),
        (lambda x: F.max_pool1d(x, 3, 2, 1), [[0, 1], [1, 2, 3], [3, 4, 5]]),
        (lambda x: F.adaptive_max_pool1d(x, 2), [[0, 1, 2], [3, 4, 5]]),
    ]
    for call, windows in calls:
        pattern = vt.func.sparsity_pattern(call, x)
        assert not pattern.reads
        rows = pattern.matrix().toarray()
        assert [np.flatnonzero(row).tolist() for row in rows] == windows


@sweep(CALLS, row=function_of)
def test_a_recorded_call_gives_the_values_and_gradients_of_new_elements(name: str) -> None:
    call = differentiable(name)
    count = len(CALLS[name][1])

    def program(*leaves: vt.Tensor) -> tuple[vt.Tensor, ...]:
        results = call(*leaves)
        weights = [vt.ones_like(x) for x in results]
        gradients = vt.autograd.grad(results, leaves, weights)
        return (*[x.detach() for x in results], *gradients)

    recorded = vt.jit.replay(program)
    for factor in (1.0, -0.7, 0.4):
        operands = [(x * factor).requires_grad_() for x in operands_of(name)]
        found: Any = recorded(*operands)
        expected = program(*[x.detach().requires_grad_() for x in operands])
        assert len(found) == len(expected) > count
        for one, two in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one.detach().numpy(), two.detach().numpy())


@sweep(CALLS, row=function_of)
def test_half_precision_is_close_to_double(name: str) -> None:
    call = differentiable(name)
    operands = operands_of(name)
    halves = [x.half() for x in operands]
    for one, two in zip(call(*halves), call(*[x.double() for x in halves]), strict=True):
        assert one.dtype == vt.float16
        np.testing.assert_allclose(one.numpy(), two.numpy(), rtol=0.02, atol=0.02)


@sweep(CALLS, row=function_of)
def test_names_of_dimensions_are_refused_or_kept(name: str) -> None:
    first, *others = operands_of(name)
    named = first.rename(*[f"d{nr}" for nr in range(first.ndim)])
    with pytest.raises(vt.errors.NamesNotSupportedError, match=function_of(name)):
        CALLS[name][0](named, *others)


def test_an_overwritten_operand_is_refused_before_anything_ran() -> None:
    x, w = values((1, 1, 4)).requires_grad_(), values((1, 1, 2)).requires_grad_()
    y = F.conv1d(x, w)
    with vt.no_grad():
        w[0, 0, 0] = 3
    with pytest.raises(vt.errors.StaleSavedError, match="overwritten"):
        y.sum().backward()
    assert x.grad is None
    # What is not needed may be overwritten.
    y = F.conv1d(x.detach(), w)
    with vt.no_grad():
        w[0, 0, 0] = 4
    y.sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == [[[x[..., :3].sum().item(), x[..., 1:].sum().item()]]]


@pytest.mark.parametrize("name", [n for n in F.__all__ if "max_pool" in n and "fract" not in n])
def test_places_are_returned_by_a_name_of_its_own(name: str) -> None:
    ndim = int(name[name.index("pool") + 4])
    x = values((2, 2, 4, 4, 6)[: ndim + 2])
    given: Any = getattr(F, name.removesuffix("_with_indices"))(x, 2, return_indices=True)
    for flag in (False, True):
        found: Any = getattr(F, f"{name.removesuffix('_with_indices')}_with_indices")(
            x, 2, return_indices=flag
        )
        assert [one.tolist() for one in found] == [one.tolist() for one in given]


def test_older_names_of_resizing_warn() -> None:
    x = values((1, 2, 2, 3))
    corners = F.interpolate(x, (3, 4), mode="bilinear", align_corners=True)
    cubic = F.interpolate(x, None, 2, "bicubic")
    calls: list[tuple[Callable[[], vt.Tensor], vt.Tensor]] = [
        (lambda: F.upsample(x, scale_factor=2, mode="bicubic"), cubic),
        (lambda: F.upsample_nearest(x, 5), F.interpolate(x, 5)),
        (lambda: F.upsample_bilinear(x, (3, 4)), corners),
    ]
    for call, expected in calls:
        with pytest.warns(UserWarning, match="interpolate"):
            assert vt.equal(call(), expected)


def test_windows_at_random_distances_cover_both_ends_and_follow_the_seed() -> None:
    x = values((2, 3, 9, 11))
    vt.manual_seed(3)
    found, places = F.fractional_max_pool2d(x, (3, 2), (4, 5), return_indices=True)
    assert found.shape == (2, 3, 4, 5)
    assert vt.equal(found.flatten(2), x.flatten(2).gather(-1, places.flatten(2)))
    rows = places // 11
    assert (rows[:, :, 0] < 3).all()
    assert (rows[:, :, -1] >= 6).all()
    assert (places % 11)[..., -1].min().item() >= 9
    again = F.fractional_max_pool2d(x, (3, 2), (4, 5))
    assert not vt.equal(found, again)
    vt.manual_seed(3)
    assert vt.equal(found, F.fractional_max_pool2d(x, (3, 2), (4, 5)))
    # Each sample of a batch has windows of its own.
    batch = vt.vmap(lambda x: F.fractional_max_pool2d(x, 2, 3), randomness="different")
    equal = batch(x[:1].expand(40, 3, 9, 11))
    assert len({tuple(one.flatten().tolist()) for one in equal}) > 1


@pytest.mark.parametrize("function", [F.fractional_max_pool2d, F.max_pool2d])
def test_of_several_nan_in_a_window_the_last_is_chosen_and_of_equal_elements_the_first(
    function: Callable[..., tuple[vt.Tensor, vt.Tensor]],
) -> None:
    x = vt.ones(1, 2, 2, 2)
    x[0, 1, 0, 1] = x[0, 1, 1, 0] = vt.nan
    size = (2, 1) if function is F.fractional_max_pool2d else (2, 2)
    _, places = function(x, *size, return_indices=True)
    assert places.flatten().tolist() == [0, 2]


def test_nan_and_infinity_stay_in_their_windows() -> None:
    x = vt.ones(1, 1, 5)
    x[0, 0, 0] = vt.inf
    x[0, 0, 4] = vt.nan
    nan, inf = vt.nan, vt.inf
    np.testing.assert_array_equal(F.conv1d(x, vt.ones(1, 1, 2))[0, 0], [inf, 2, 2, nan])
    np.testing.assert_array_equal(F.avg_pool1d(x, 2, 1)[0, 0], [inf, 1, 1, nan])
    np.testing.assert_array_equal(F.max_pool1d(x, 2, 1)[0, 0], [inf, 1, 1, nan])
    np.testing.assert_array_equal(F.adaptive_avg_pool1d(x, 3)[0, 0], [inf, 1, nan])
    found = F.interpolate(x, 9, mode="linear", align_corners=True)[0, 0]
    np.testing.assert_array_equal(found, [inf, inf, 1, 1, 1, 1, 1, nan, nan])


def test_no_samples_and_no_channels() -> None:
    x, w = vt.zeros(0, 2, 4, requires_grad=True), vt.ones(3, 2, 2, requires_grad=True)
    F.conv1d(x, w).sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == vt.zeros(3, 2, 2).tolist()
    assert F.conv1d(vt.zeros(1, 0, 4), vt.zeros(2, 0, 3), vt.ones(2)).tolist() == [[[1, 1], [1, 1]]]
    assert F.max_pool1d(vt.zeros(0, 2, 4), 2).shape == (0, 2, 2)
    assert F.interpolate(vt.zeros(0, 2, 4), 2, mode="linear").shape == (0, 2, 2)
    assert F.grid_sample(vt.zeros(0, 2, 4, 4), vt.zeros(0, 3, 3, 2)).shape == (0, 2, 3, 3)
    assert F.linear(vt.zeros(0, 2), vt.zeros(3, 2), vt.zeros(3)).shape == (0, 3)


def test_the_largest_of_equal_elements_is_the_first() -> None:
    x = vt.tensor([[[2.0, 2.0, 2.0, 2.0]]], requires_grad=True)
    found, indices = F.max_pool1d(x, 3, 1, return_indices=True)
    assert indices.tolist() == [[[0, 1]]]
    found.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[[1, 1, 0, 0]]]
    assert not indices.requires_grad


@pytest.mark.parametrize("kind", ["equal", "nan", "infinite", "turned"])
def test_the_largest_by_passes_are_the_largest_by_masks(kind: str) -> None:
    # One is taken for a value and its gradient, the other one if nan or borders ask for it.
    generator = np.random.default_rng(5)
    for size, kernel, stride, dilation, padding in (
        ((7, 9), (2, 3), (2, 3), (1, 1), (0, 0)),
        ((9, 8), (3, 3), (2, 1), (1, 2), (1, 1)),
        ((8,), (3,), (1,), (2,), (1,)),
        ((4, 5, 6), (2, 1, 3), (1, 2, 2), (1, 1, 1), (1, 0, 1)),
    ):
        x = generator.integers(-2, 3, (2, 3, *size)).astype(float)
        if kind == "nan":
            x[generator.random(x.shape) < 0.1] = np.nan
        if kind == "infinite":
            x[generator.random(x.shape) < 0.7] = -np.inf
        if kind == "turned":
            x = np.asfortranarray(x)
        name = f"max_pool{len(size)}d"
        geometry = pooling_geometry(name, size, kernel, stride, padding, dilation, False)
        by_masks = largest(x, places_of_windows(name, geometry))
        chosen = choose(x, geometry)
        if kind in ("equal", "turned"):
            assert chosen is not None
        if chosen is not None:
            assert (places_of(chosen.at, geometry) == by_masks).all()
        leaf = vt.tensor(x, requires_grad=True)
        found = getattr(F, name)(leaf, kernel, stride, padding, dilation)
        expected = np.take_along_axis(x.reshape(2, 3, -1), by_masks.reshape(2, 3, -1), 2).reshape(
            by_masks.shape
        )
        np.testing.assert_array_equal(found.detach().numpy(), expected)
        weights = generator.integers(1, 9, expected.shape).astype(float)
        weights.flat[3] = np.inf
        (slope,) = vt.autograd.grad(found, leaf, vt.tensor(weights))
        sums = np.zeros((6, int(np.prod(size))))
        np.add.at(sums, (np.arange(6)[:, None], by_masks.reshape(6, -1)), weights.reshape(6, -1))
        np.testing.assert_array_equal(slope.numpy().reshape(6, -1), sums)


def test_pooling_keeps_a_byte_for_each_window_and_lets_both_ends_be_overwritten() -> None:
    # Breaks when backward reads the elements or the result.
    x = values((2, 8, 8)).requires_grad_()
    given = x.clone()
    found = F.max_pool2d(given, 2)
    expected = F.max_pool2d(x, 2, return_indices=True)[0]
    (by_indices,) = vt.autograd.grad((3 * expected).sum(), x)
    given.zero_()
    found.mul_(3)
    (slope,) = vt.autograd.grad(found.sum(), x)
    assert slope.tolist() == by_indices.tolist()


def test_a_long_signal_costs_what_its_windows_have() -> None:
    # One sample has more columns than the part of them that is made at a time.
    x = values((1, 2, 30_000)).requires_grad_()
    w = values((2, 2, 9), 1).requires_grad_()
    y = F.conv1d(x, w, padding=4)
    by_hand = np.stack(
        [
            sum(np.convolve(x.detach()[0, c], w.detach()[m, c].flip(0), "same") for c in range(2))
            for m in range(2)
        ]
    )
    np.testing.assert_allclose(y.detach()[0], by_hand, atol=1e-12)
    batch = F.conv1d(x.detach().reshape(10, 2, 3000), w)
    assert vt.equal(batch[7:8], F.conv1d(x.detach().reshape(10, 2, 3000)[7:8], w))


def padded_sums(
    x: np.ndarray, w: np.ndarray, before: tuple[int, ...], dilation: tuple[int, ...]
) -> np.ndarray:
    """A convolution of one group to the size of `x`, as a sum over the places of the kernel."""
    kernel, size = w.shape[2:], x.shape[2:]
    far = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    around = [(p, n - p) for p, n in zip(before, far, strict=True)]
    padded = np.pad(x, [(0, 0), (0, 0), *around])
    found = np.zeros((x.shape[0], w.shape[0], *size))
    for k in np.ndindex(*kernel):
        parts = [slice(at * d, at * d + n) for at, d, n in zip(k, dilation, size, strict=True)]
        found += np.einsum("mc,nc...->nm...", w[:, :, *k], padded[:, :, *parts])
    return found


@pytest.mark.parametrize(
    ("size", "kernel", "dilation", "samples", "channels"),
    [
        ((150,), (4,), (3,), 3, 2),
        ((12, 13), (3, 3), (1, 1), 5, 2),
        ((12, 13), (2, 5), (2, 4), 2, 3),
        ((64, 2), (3, 7), (1, 2), 1, 1),
        ((128, 1), (1, 3), (1, 1), 2, 2),
        ((4, 5, 7), (3, 2, 3), (2, 1, 1), 2, 2),
        # Columns of more than a million bytes, so that each sample is taken alone.
        ((48, 64), (5, 3), (1, 1), 3, 4),
    ],
)
def test_a_convolution_of_the_same_size_is_the_sum_over_its_kernel(
    size: tuple[int, ...],
    kernel: tuple[int, ...],
    dilation: tuple[int, ...],
    samples: int,
    channels: int,
) -> None:
    ndim = len(size)
    convolve = (F.conv1d, F.conv2d, F.conv3d)[ndim - 1]
    x = values((samples, channels, *size), 0).requires_grad_()
    w = values((3, channels, *kernel), 1).requires_grad_()
    v = values((samples, 3, *size), 2)
    y = convolve(x, w, padding="same", dilation=dilation)
    far = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    before = tuple(n // 2 for n in far)
    expected = padded_sums(x.detach().numpy(), w.detach().numpy(), before, dilation)
    np.testing.assert_allclose(y.detach().numpy(), expected, rtol=1e-12, atol=1e-12)
    of_x, of_w = vt.autograd.grad(y, (x, w), v)
    # The gradient by the input is the convolution with the kernel turned around.
    space = tuple(range(2, 2 + ndim))
    turned = np.flip(w.detach().numpy(), space).swapaxes(0, 1)
    behind = tuple(n - p for n, p in zip(far, before, strict=True))
    expected = padded_sums(v.numpy(), turned, behind, dilation)
    np.testing.assert_allclose(of_x.numpy(), expected, rtol=1e-12, atol=1e-12)
    # The convolution is linear in the weight, so this number has its gradient as factors.
    np.testing.assert_allclose((of_w * w).sum().item(), (y * v).sum().item(), rtol=1e-10)
    assert all(found.is_contiguous() for found in (y, of_x, of_w))


def test_what_lies_outside_of_an_image_is_multiplied_by_no_weight_and_no_gradient() -> None:
    w = vt.ones(1, 1, 3, 3)
    w[0, 0, 0, 0] = float("inf")
    y = F.conv_transpose2d(vt.ones(1, 1, 12, 12), w, padding=1)[0, 0]
    # The first place of the kernel is never over the last row or column.
    assert y[:-1, :-1].isinf().all()
    assert y[-1].tolist() == y[:, -1].tolist() == [4.0, *[6.0] * 10, 4.0]
    x = vt.ones(1, 1, 12, 12)
    x[0, 0, 5, 11] = float("inf")
    w = vt.ones(1, 1, 3, 3, requires_grad=True)
    (of_w,) = vt.autograd.grad(F.conv2d(x, w, padding=1), w, vt.ones(1, 1, 12, 12))
    # The first column of the kernel is never over the last column, which comes before it in memory.
    assert of_w[0, 0].isinf().tolist() == [[False, True, True]] * 3


# Calls that are refused, with the class of the error and a word of its text.
REFUSED: list[tuple[str, Callable[[], object], type[Exception], str]] = [
    (
        "conv stride",
        lambda: F.conv1d(vt.ones(1, 1, 4), vt.ones(1, 1, 2), stride=0),
        vt.errors.ShapeError,
        "stride",
    ),
    (
        "conv padding",
        lambda: F.conv1d(vt.ones(1, 1, 4), vt.ones(1, 1, 2), padding=-1),
        vt.errors.ShapeError,
        "padding",
    ),
    (
        "conv groups",
        lambda: F.conv1d(vt.ones(1, 4, 4), vt.ones(3, 2, 2), groups=2),
        vt.errors.ShapeError,
        "multiple of 2",
    ),
    (
        "conv channels",
        lambda: F.conv1d(vt.ones(1, 3, 4), vt.ones(3, 2, 2)),
        vt.errors.ShapeError,
        "2 channels",
    ),
    (
        "conv kernel",
        lambda: F.conv1d(vt.ones(1, 1, 2), vt.ones(1, 1, 3)),
        vt.errors.ShapeError,
        "covers",
    ),
    (
        "conv bias",
        lambda: F.conv1d(vt.ones(1, 1, 4), vt.ones(2, 1, 3), vt.ones(1)),
        vt.errors.ShapeError,
        "bias",
    ),
    (
        "conv dtype",
        lambda: F.conv1d(vt.ones(1, 1, 4), vt.ones(2, 1, 3).double()),
        vt.errors.DTypeError,
        "one dtype",
    ),
    (
        "conv bools",
        lambda: F.conv1d(vt.ones(1, 1, 4) > 0, vt.ones(2, 1, 3) > 0),
        vt.errors.NotSupportedError,
        "bool",
    ),
    (
        "conv same",
        lambda: F.conv1d(vt.ones(1, 1, 4), vt.ones(2, 1, 3), padding="same", stride=2),
        vt.errors.OptionValueError,
        "stride",
    ),
    (
        "conv word",
        lambda: F.conv1d(vt.ones(1, 1, 4), vt.ones(2, 1, 3), padding="full"),
        vt.errors.OptionValueError,
        "full",
    ),
    (
        "conv dimensions",
        lambda: F.conv2d(vt.ones(1, 4), vt.ones(2, 1, 3, 3)),
        vt.errors.ShapeError,
        "3 or 4 dim",
    ),
    (
        "transpose output_padding",
        lambda: F.conv_transpose1d(vt.ones(1, 1, 4), vt.ones(1, 1, 3), output_padding=1),
        vt.errors.ShapeError,
        "less than the stride",
    ),
    (
        "transpose size",
        lambda: F.conv_transpose1d(vt.ones(1, 1, 1), vt.ones(1, 1, 2), padding=1),
        vt.errors.ShapeError,
        "no result",
    ),
    (
        "transpose int32",
        lambda: F.conv_transpose1d(
            vt.ones(1, 1, 1, dtype=vt.int32), vt.ones(1, 1, 2, dtype=vt.int32)
        ),
        vt.errors.NotSupportedError,
        "int32",
    ),
    (
        "conv device",
        lambda: F.conv1d(vt.ones(1, 1, 4), vt.ones(1, 1, 2).to("lane:0")),
        vt.errors.DeviceError,
        "one device",
    ),
    (
        "interpolate text",
        lambda: F.interpolate(vt.ones(1, 1, 2), scale_factor="2"),  # type: ignore[arg-type]  # meant
        vt.errors.ArgumentTypeError,
        "scale_factor",
    ),
    (
        "linear",
        lambda: F.linear(vt.ones(2, 3), vt.ones(4, 2)),
        vt.errors.ShapeError,
        "weight of shape",
    ),
    (
        "bilinear",
        lambda: F.bilinear(vt.ones(2, 3), vt.ones(3, 2), vt.ones(1, 3, 2)),
        vt.errors.ShapeError,
        "bilinear",
    ),
    ("unfold", lambda: F.unfold(vt.ones(1, 2, 2), 3), vt.errors.ShapeError, "no window"),
    ("fold", lambda: F.fold(vt.ones(4, 3), 3, 2), vt.errors.ShapeError, "columns of shape"),
    (
        "pool padding",
        lambda: F.max_pool1d(vt.ones(1, 4), 2, padding=2),
        vt.errors.ShapeError,
        "half",
    ),
    ("pool size", lambda: F.avg_pool1d(vt.ones(1, 4), 5), vt.errors.ShapeError, "no window"),
    (
        "pool without elements",
        lambda: F.max_pool1d(vt.ones(1, 1), 3, 3, 1, 2, True),
        vt.errors.ShapeError,
        "without an element",
    ),
    (
        "pool divisor",
        lambda: F.avg_pool2d(vt.ones(1, 4, 4), 2, divisor_override=0),
        vt.errors.OptionValueError,
        "divide by 0",
    ),
    (
        "pool sizes",
        lambda: F.avg_pool2d(vt.ones(1, 4, 4), (2, 2, 2)),
        vt.errors.ShapeError,
        "kernel_size",
    ),
    (
        "adaptive",
        lambda: F.adaptive_avg_pool2d(vt.ones(1, 4, 4), -1),
        vt.errors.ShapeError,
        "output_size",
    ),
    (
        "adaptive length",
        lambda: F.adaptive_max_pool2d(vt.ones(1, 4, 4), (1, 2, 3)),
        vt.errors.ShapeError,
        "2 numbers",
    ),
    (
        "adaptive integers",
        lambda: F.adaptive_max_pool1d(vt.ones(1, 4, dtype=vt.int64), 2),
        vt.errors.NotSupportedError,
        "int64",
    ),
    (
        "unpool places",
        lambda: F.max_unpool1d(vt.ones(1, 2), vt.tensor([[0, 9]]), 2),
        RuntimeError,
        "9",
    ),
    (
        "unpool dtype",
        lambda: F.max_unpool1d(vt.ones(1, 2), vt.ones(1, 2), 2),
        vt.errors.DTypeError,
        "int64",
    ),
    (
        "unpool size",
        lambda: F.max_unpool1d(vt.ones(1, 2), vt.tensor([[0, 2]]), 2, output_size=(9,)),
        vt.errors.ArgumentValueError,
        "output_size",
    ),
    (
        "interpolate",
        lambda: F.interpolate(vt.ones(1, 1, 2)),
        vt.errors.ArgumentValueError,
        "either",
    ),
    (
        "interpolate mode",
        lambda: F.interpolate(vt.ones(1, 1, 2), 2, mode="bilinear"),
        vt.errors.NotSupportedError,
        "bilinear",
    ),
    (
        "interpolate corners",
        lambda: F.interpolate(vt.ones(1, 1, 2), 2, align_corners=True),
        vt.errors.ArgumentValueError,
        "align_corners",
    ),
    (
        "interpolate nothing",
        lambda: F.interpolate(vt.ones(1, 1, 2), 0),
        vt.errors.ShapeError,
        "elements",
    ),
    (
        "interpolate factor",
        lambda: F.interpolate(vt.ones(1, 1, 2), scale_factor=vt.nan),
        vt.errors.ArgumentTypeError,
        "scale_factor",
    ),
    (
        "grid_sample mode",
        lambda: F.grid_sample(vt.ones(1, 1, 2, 2), vt.ones(1, 1, 1, 2), "linear"),
        vt.errors.ArgumentValueError,
        "bilinear",
    ),
    (
        "grid_sample volumes",
        lambda: F.grid_sample(vt.ones(1, 1, 2, 2, 2), vt.ones(1, 1, 1, 1, 3), "bicubic"),
        vt.errors.OptionValueError,
        "bicubic",
    ),
    (
        "grid_sample shapes",
        lambda: F.grid_sample(vt.ones(1, 1, 2, 2), vt.ones(1, 1, 1, 3)),
        vt.errors.ShapeError,
        "grid_sample",
    ),
    (
        "affine_grid",
        lambda: F.affine_grid(vt.ones(1, 2, 3), (1, 1, 2)),
        vt.errors.NotSupportedError,
        "4 or 5",
    ),
    (
        "affine_grid maps",
        lambda: F.affine_grid(vt.ones(1, 3, 3), (1, 1, 2, 2)),
        vt.errors.ArgumentValueError,
        "maps of shape",
    ),
    (
        "pixel_shuffle",
        lambda: F.pixel_shuffle(vt.ones(3, 2, 2), 2),
        vt.errors.ShapeError,
        "multiple of 4",
    ),
    (
        "pixel_unshuffle",
        lambda: F.pixel_unshuffle(vt.ones(3, 3, 2), 2),
        vt.errors.ShapeError,
        "multiples",
    ),
    (
        "channel_shuffle",
        lambda: F.channel_shuffle(vt.ones(1, 3, 2), 2),
        vt.errors.ShapeError,
        "2 groups",
    ),
]


@pytest.mark.parametrize(
    ("call", "error", "text"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_bad_arguments(call: Callable[[], object], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_integers() -> None:
    x, w = vt.tensor([[[1, 2, 3]]]), vt.tensor([[[1, -1]]])
    assert F.conv1d(x, w).tolist() == [[[-1, -1]]]
    assert F.conv_transpose1d(x, w).tolist() == [[[1, 1, 1, -3]]]
    assert F.max_pool1d(x, 2, 1).tolist() == [[[2, 3]]]
    assert F.avg_pool1d(-x, 2, 1).tolist() == [[[-1, -2]]]


def test_resizing_by_a_large_factor_is_the_sum_of_its_weights() -> None:
    x = vt.tensor([[[1.0, 2.0, 4.0]]], dtype=vt.float64, requires_grad=True)
    found = F.interpolate(x, 300, mode="linear")
    found.sum().backward()
    assert x.grad is not None
    # The hundred places of each element, and half of those between two elements each.
    np.testing.assert_allclose(x.grad, [[[100.0, 100.0, 100.0]]], rtol=1e-12)
    assert found[0, 0, 149].item() == pytest.approx(1.995)
    y = vt.arange(60.0).reshape(1, 1, 60).requires_grad_()
    F.adaptive_avg_pool1d(y, 3).sum().backward()
    assert y.grad is not None
    np.testing.assert_allclose(y.grad, np.full((1, 1, 60), 0.05), rtol=1e-6)
    assert F.adaptive_avg_pool1d(y, 3).tolist() == [[[9.5, 29.5, 49.5]]]


def test_windows_of_a_long_signal_are_not_listed_one_by_one() -> None:
    whole = Geometry(1, (10**6,), (3,), (499_999,), (2,), (1,), (0,))
    assert places_of_windows("max_pool1d", whole) == (
        (range(0, 999_997, 2), range(1, 999_998, 2), range(2, 999_999, 2)),
    )
    # Of padded windows only the first and the last lie differently.
    rows = places_of_windows("max_pool1d", Geometry(1, (9,), (3,), (5,), (2,), (1,), (1,)))[0]
    assert rows == ((0, 1, 3, 5, 7), range(0, 9, 2), (1, 3, 5, 7, 8))
