"""Activations, losses and normalisations: writes, chance, what is kept, numbers at the edges."""

import functools
import itertools
import math
import tracemalloc
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt
from tests.later.calls import values
from tests.nn.loss_calls import CALLS, f
from vtgrad.func.vmap import Randomness

LN: Final = math.log


def leaf(data: Any) -> vt.Tensor:
    return vt.tensor(data, dtype=vt.float64, requires_grad=True)


# -- in place -----------------------------------------------------------------------------------

IN_PLACE: Final[dict[str, tuple[Any, ...]]] = {
    "celu": (0.7,),
    "elu": (1.5,),
    "hardsigmoid": (),
    "hardswish": (),
    "hardtanh": (),
    "leaky_relu": (0.3,),
    "mish": (),
    "relu": (),
    "relu6": (),
    "rrelu": (),
    "selu": (),
    "silu": (),
    "threshold": (0.1, 5.0),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_is_one_write_with_the_values_and_derivatives_of_the_function(name: str) -> None:
    function, options = getattr(f, name), IN_PLACE[name]

    def written(x: vt.Tensor) -> vt.Tensor:
        base = x * 1
        part = base[1]
        assert function(part, *options, inplace=True) is part
        return base

    x = values((3, 4)).requires_grad_()
    expected = vt.stack([x[0], function(x[1], *options), x[2]])
    np.testing.assert_array_equal(written(x).detach().numpy(), expected.detach().numpy())
    weights = values((3, 4), 1)
    (one,) = vt.autograd.grad(written(x), x, weights)
    (two,) = vt.autograd.grad(expected, x, weights)
    np.testing.assert_allclose(one.numpy(), two.numpy(), rtol=1e-14)
    assert vt.autograd.gradgradcheck(written, x, check_fwd_over_rev=True, fast_mode=True)
    plain = values((4,))
    before = plain._version
    function(plain, *options, inplace=True)
    assert plain._version > before
    if hasattr(f, f"{name}_"):
        again = values((4,))
        assert getattr(f, f"{name}_")(again, *options) is again
        np.testing.assert_array_equal(again.numpy(), plain.numpy())


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_leaf_is_not_written_and_stays_as_it_was(name: str) -> None:
    x = values((4,)).requires_grad_()
    with pytest.raises(vt.errors.LeafWriteError):
        getattr(f, name)(x, *IN_PLACE[name], inplace=True)
    np.testing.assert_array_equal(x.detach().numpy(), values((4,)).numpy())


# -- dropout ------------------------------------------------------------------------------------

DROPOUTS: Final = ("dropout", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d")


@pytest.mark.parametrize("name", [*DROPOUTS, "feature_alpha_dropout"])
def test_dropout_keeps_mean_and_variance_and_is_the_same_in_backward(name: str) -> None:
    vt.manual_seed(3)
    function: Callable[..., vt.Tensor] = getattr(f, name)
    places = {"dropout1d": 1, "dropout2d": 2, "dropout3d": 3, "feature_alpha_dropout": 1}
    trail = (2,) * places.get(name, 0)
    alpha = "alpha" in name
    x = vt.randn(100, 200, *trail, dtype=vt.float64) if alpha else vt.ones(100, 200, *trail)
    x.requires_grad_()
    y = function(x, 0.25, True)
    assert abs(y.mean().item() - x.mean().item()) < 0.03
    (slope,) = vt.autograd.grad(y.sum(), x)
    kept = slope != 0
    assert abs(kept.double().mean().item() - 0.75) < 0.02
    if trail:
        assert (kept == kept.flatten(2)[:, :, :1].reshape(100, 200, *[1] * len(trail))).all()
    if alpha:
        assert abs(y.var().item() - 1) < 0.05
        # What is dropped is one number, and the others lie on a line.
        assert y[~kept].std().item() < 1e-12
        np.testing.assert_allclose((y - x * slope)[kept].std().item(), 0, atol=1e-12)
    else:
        np.testing.assert_allclose(slope[kept].numpy(), 4 / 3, rtol=1e-6)
        assert not y[~kept].any()
    assert function(x, 0.25, False) is x
    assert function(x, 0.0, True) is x
    assert not function(x, 1.0, True).any()
    with pytest.raises(ValueError, match="between 0 and 1"):
        function(x, 1.5)
    written = x.detach().clone()
    assert function(written, 0.25, True, inplace=True) is written
    assert not written.equal(x)


def test_dropout_differs_or_agrees_among_samples_as_vmap_is_told() -> None:
    x = vt.ones(4, 50)
    different = vt.vmap(f.dropout, randomness="different")(x)
    assert not different[0].equal(different[1])
    same = vt.vmap(f.dropout, randomness="same")(x)
    assert same[0].equal(same[1])


@pytest.mark.parametrize(
    "draw",
    [
        lambda w: f.dropout(w),
        lambda w: f.dropout2d(w),
        lambda w: f.alpha_dropout(w, training=True),
        lambda w: f.feature_alpha_dropout(w, training=True),
        lambda w: f.rrelu(-w, training=True),
        lambda w: f.gumbel_softmax(w),
        lambda w: f.fractional_max_pool2d(w.cumsum(-1), 2, 3),
    ],
)
def test_of_a_tensor_without_samples_each_sample_draws_its_own(
    draw: Callable[[vt.Tensor], vt.Tensor],
) -> None:
    w = vt.ones(2, 9, 7, 7, dtype=vt.float64)
    x = vt.tensor([1.0, 2.0, 3.0], dtype=vt.float64)
    choices: list[tuple[Randomness, int]] = [("same", 1), ("different", 3)]
    for randomness, draws in choices:
        vt.manual_seed(0)
        found = vt.vmap(lambda a: draw(w) * a, randomness=randomness)(x)
        own = found / x.reshape(3, 1, 1, 1, 1)
        assert len({str(own[nr].round(decimals=9).tolist()) for nr in range(3)}) == draws


def test_gumbel_softmax_draws_classes_by_their_weights() -> None:
    vt.manual_seed(0)
    logits = vt.tensor([0.2, 0.3, 0.5]).log().expand(20000, 3).requires_grad_()
    drawn = f.gumbel_softmax(logits, hard=True)
    assert ((drawn == 0) | (drawn - 1).abs().lt(1e-6)).all()
    np.testing.assert_allclose(drawn.mean(0).tolist(), [0.2, 0.3, 0.5], atol=0.02)
    (slope,) = vt.autograd.grad(drawn[:, 0].sum(), logits)
    assert slope.any()
    np.testing.assert_allclose(f.gumbel_softmax(logits).sum(1).tolist(), 1, atol=1e-5)


# -- losses -------------------------------------------------------------------------------------


def test_losses_of_huge_logits_are_finite_and_have_finite_gradients() -> None:
    huge = leaf([[1e4, -1e4], [-1e300, 1e300]])
    target = vt.tensor([1, 0])
    for loss, expected in (
        (f.cross_entropy(huge, target, reduction="none"), [2e4, 2e300]),
        (
            f.binary_cross_entropy_with_logits(huge[0], leaf([0.0, 1.0]), reduction="none"),
            [1e4] * 2,
        ),
        (f.soft_margin_loss(huge[0], vt.tensor([-1, 1]), reduction="none"), [1e4] * 2),
    ):
        np.testing.assert_allclose(loss.tolist(), expected)
        (slope,) = vt.autograd.grad(loss.sum(), huge, retain_graph=True)
        assert slope.isfinite().all()


def test_cross_entropy_by_hand() -> None:
    x = leaf([[0.0, LN(3)], [0.0, 0.0]])
    np.testing.assert_allclose(
        f.cross_entropy(x, vt.tensor([1, 0]), reduction="none").tolist(), [LN(4 / 3), LN(2)]
    )
    weighted = f.cross_entropy(x, vt.tensor([1, 0]), vt.tensor([3.0, 1.0]).double())
    np.testing.assert_allclose(weighted.item(), (LN(4 / 3) + 3 * LN(2)) / 4)
    assert math.isnan(f.cross_entropy(x, vt.tensor([-100, -100])).item())
    assert f.cross_entropy(x, vt.tensor([-100, -100]), reduction="sum").item() == 0
    with pytest.raises(IndexError, match="no class 2"):
        f.cross_entropy(x, vt.tensor([1, 2]))
    with pytest.raises(RuntimeError, match="are floats"):
        f.cross_entropy(x, vt.ones(2, 2, dtype=vt.int64))


def test_what_is_not_counted_has_no_gradient_although_it_is_infinite() -> None:
    x = leaf([[-math.inf, 0.0], [0.0, -1.0]])
    (slope,) = vt.autograd.grad(f.nll_loss(x, vt.tensor([5, 1]), ignore_index=5), x)
    assert slope.tolist() == [[0, 0], [0, -1]]


def test_a_class_that_there_is_not_has_the_same_error_in_a_replay() -> None:
    replayed = vt.jit.replay(lambda x, y: f.nll_loss(x, y))
    x = values((2, 3))
    replayed(x, vt.tensor([0, 1]))
    for wrong in (-1, 3):
        with pytest.raises(IndexError, match=f"no class {wrong}"):
            replayed(x, vt.tensor([0, wrong]))


def test_pairs_of_classes_take_memory_for_those_that_a_sample_has() -> None:
    classes = 2000
    x, y = vt.zeros(2, classes), vt.full((2, classes), -1)
    assert f.multilabel_margin_loss(x, y).item() == 0
    y[0, 0] = 7
    tracemalloc.start()
    try:
        loss = f.multilabel_margin_loss(x, y)
        (_, peak) = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    np.testing.assert_allclose(loss.item(), (classes - 1) / classes / 2)
    assert peak < 200 * classes


def test_vectors_along_several_dimensions() -> None:
    x = values((2, 3, 4))
    found = f.normalize(x, dim=(0, -1))
    expected = x / (x * x).sum((0, 2), keepdim=True).sqrt()
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-14)
    with pytest.raises(IndexError):
        f.normalize(x, dim=(0, 3))


@pytest.mark.parametrize("norm", [f.batch_norm, f.instance_norm])
def test_statistics_that_are_missing(norm: Callable[..., vt.Tensor]) -> None:
    options = {} if norm is f.batch_norm else {"use_input_stats": False}
    for mean, var in ((None, None), (vt.zeros(3), None), (None, vt.ones(3))):
        with pytest.raises(RuntimeError, match="one is missing"):
            norm(vt.ones(2, 3, 4), mean, var, **options)


def test_losses_are_finite_as_far_as_they_are() -> None:
    x = vt.tensor([0.0, 1.0])
    spread = vt.tensor([math.inf, 1.0], requires_grad=True)
    loss = f.gaussian_nll_loss(x, x, spread, reduction="none")
    assert loss.tolist() == [math.inf, 0]
    (slope,) = vt.autograd.grad(loss.sum(), spread)
    assert slope.tolist() == [0, 0.5]
    # Numbers that float16 has, with products that it has not.
    half = vt.tensor([60000.0, -300.0, 400.0], dtype=vt.float16)
    far = f.smooth_l1_loss(half, vt.zeros_like(half), reduction="none", beta=3.0)
    assert far.tolist() == [60000, 298.5, 398.5]
    even = f.rms_norm(half[1:].abs() * 0 + 300, (2,))
    assert even.tolist() == [1, 1]


def test_binary_cross_entropy_is_finite_at_both_ends() -> None:
    x, y = leaf([0.0, 1.0, 0.0, 1.0]), vt.tensor([1.0, 0.0, 0.0, 1.0]).double()
    loss = f.binary_cross_entropy(x, y, reduction="none")
    assert loss.tolist() == [100, 100, 0, 0]
    (slope,) = vt.autograd.grad(loss.sum(), x)
    np.testing.assert_allclose(slope.tolist(), [-1e12, 1e12, 0, 0])
    with pytest.raises(RuntimeError, match="probabilities"):
        f.binary_cross_entropy(leaf([1.5]), vt.ones(1).double())


def test_the_older_flags_of_a_reduction_warn() -> None:
    x = vt.tensor([1.0, 3.0])
    for flags, expected in (
        ({"reduce": False}, [1, 9]),
        ({"size_average": False}, 10),
        ({"size_average": True}, 5),
    ):
        with pytest.warns(UserWarning, match="older flags"):
            assert f.mse_loss(x, vt.zeros(2), **flags).tolist() == expected  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="reduction must be"):
        f.mse_loss(x, x, reduction="median")
    with pytest.warns(UserWarning, match="broadcast"):
        f.mse_loss(x, vt.zeros(1))


def paths(symbols: tuple[int, ...]) -> tuple[int, ...]:
    """The labels that an alignment stands for: without repetitions, then without blanks."""
    return tuple(s for s, _ in itertools.groupby(symbols) if s != 0)


@pytest.mark.parametrize("wanted", [(), (1,), (1, 1), (1, 2), (2, 1, 2), (1, 1, 1)])
@pytest.mark.parametrize("time", [1, 3, 4])
def test_ctc_loss_is_the_sum_over_all_alignments(wanted: tuple[int, ...], time: int) -> None:
    x = values((6, 1, 3)).log_softmax(-1).requires_grad_()
    p = x.detach().exp().numpy()[:, 0]
    total = sum(
        math.prod(p[t, s] for t, s in enumerate(one))
        for one in itertools.product(range(3), repeat=time)
        if paths(one) == wanted
    )
    targets = vt.tensor([[*wanted, 1, 1, 1]], dtype=vt.int64)
    loss = f.ctc_loss(x, targets, [time], [len(wanted)], reduction="sum")
    (slope,) = vt.autograd.grad(loss, x)
    assert not slope[time:].any()
    if total:
        np.testing.assert_allclose(loss.item(), -math.log(total), rtol=1e-12)
        # In each step one label is emitted.
        np.testing.assert_allclose(slope[:time].sum(-1).flatten().tolist(), -1, rtol=1e-12)
    else:
        assert loss.item() == math.inf
        assert f.ctc_loss(x, targets, [time], [len(wanted)], zero_infinity=True).item() == 0


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("batched", ["labels", "times", "counts", "labels times", "times counts"])
def test_ctc_loss_takes_labels_and_lengths_of_each_sample_of_a_vmap(
    batched: str, reduction: str
) -> None:
    x = values((2, 4, 2, 3)).log_softmax(-1)
    given = {
        "labels": vt.tensor([[[1, 1], [2, 1]], [[2, 2], [1, 1]]]),
        "times": vt.tensor([[4, 0], [1, 4]]),
        "counts": vt.tensor([[2, 1], [1, 0]]),
    }
    dims = {name: 0 if name in batched.split() else None for name in given}
    operands = [one if dims[name] == 0 else one[0] for name, one in given.items()]

    def losses(x: vt.Tensor, labels: vt.Tensor, times: vt.Tensor, counts: vt.Tensor) -> vt.Tensor:
        return f.ctc_loss(x, labels, times, counts, reduction=reduction, zero_infinity=True)

    for in_dims, lead in (((0, *dims.values()), x), ((None, *dims.values()), x[0])):
        leaf = lead.clone().requires_grad_()
        found = vt.vmap(losses, in_dims)(leaf, *operands)
        rows = [
            losses(
                leaf[n] if in_dims[0] == 0 else leaf,
                *[one[n] if dims[name] == 0 else one[0] for name, one in given.items()],
            )
            for n in range(2)
        ]
        assert vt.allclose(found, vt.stack(rows), rtol=1e-12)
        one, other = [vt.autograd.grad(out.sum(), leaf)[0] for out in (found, vt.stack(rows))]
        assert vt.allclose(one, other, rtol=1e-12)


def test_ctc_loss_takes_rows_of_labels_that_are_samples_of_two_vmaps() -> None:
    x, labels = values((3, 4, 3)).log_softmax(-1), vt.tensor([[1, 2], [2, 2]])

    def loss(x: vt.Tensor, labels: vt.Tensor) -> vt.Tensor:
        return f.ctc_loss(x, labels, [4], [2], reduction="sum")

    whole = vt.vmap(lambda one: vt.vmap(loss, (0, None))(x, one))(labels)
    assert whole.tolist() == [[pytest.approx(loss(a, b).item()) for a in x] for b in labels]


def test_ctc_loss_takes_a_vmap_of_no_samples() -> None:
    x = vt.zeros(5, 2, 3).log_softmax(-1)
    labels = vt.ones(0, 2, 2, dtype=vt.int64)
    for reduction, shape in (("none", (0, 2)), ("mean", (0,))):
        call = functools.partial(f.ctc_loss, reduction=reduction)
        found = vt.vmap(lambda one, call=call: call(x, one, [5, 5], [2, 1]))(labels)
        assert found.shape == shape


def test_ctc_loss_names_lengths_that_do_not_fit_in_a_sample_of_a_vmap() -> None:
    x, labels = values((4, 1, 3)), vt.ones(2, 1, 2, dtype=vt.int64)
    with pytest.raises(vt.errors.OptionValueError, match="from 0 to 4"):
        vt.vmap(lambda times: f.ctc_loss(x, labels[0], times, [1]))(vt.tensor([[4], [5]]))


@pytest.mark.parametrize("name", ["gelu", "silu", "mish", "glu"])
def test_gradients_of_huge_half_precision_elements_are_finite(name: str) -> None:
    # Breaks when an element is multiplied by its gradient in half precision, and then by 0.
    x = vt.tensor([-65504.0, -3e4, 3e4, 65504.0], dtype=vt.float16)
    x = vt.stack([x, -x]) if name == "glu" else x
    calls: list[Callable[[vt.Tensor], vt.Tensor]] = [
        functools.partial(getattr(f, name), **({"dim": 0} if name == "glu" else {}))
    ]
    if name == "gelu":
        calls.append(lambda x: f.gelu(x, "tanh"))
    if name in ("silu", "mish"):
        calls.append(lambda x: getattr(f, name)(x.clone(), inplace=True))
    for call in calls:
        for scale in (3.0, -3.0):
            leaf = x.clone().requires_grad_()
            found = call(leaf)
            assert found.dtype is vt.float16
            (slope,) = vt.autograd.grad(found, leaf, vt.full_like(found, scale))
            if name == "glu":
                assert slope.tolist() == [[scale, scale, 0, 0], [0, 0, 0, 0]]
            else:
                assert slope.tolist() == [0, 0, scale, scale]


INTEGERS: Final[dict[str, tuple[Callable[..., vt.Tensor], vt.Tensor]]] = {
    "cross_entropy": (
        lambda x, n: f.cross_entropy(x, n, label_smoothing=0.1, ignore_index=1),
        vt.tensor([[2, 0, 1], [1, 2, 2]]),
    ),
    "multi_margin_loss": (f.multi_margin_loss, vt.tensor([[2, 0, 1], [1, 2, 2]])),
    "multilabel_margin_loss": (
        f.multilabel_margin_loss,
        vt.tensor([[[2, -1, 0]] * 3, [[0, 1, -1]] * 3]),
    ),
    "embedding": (
        lambda x, n: f.embedding(n, x, padding_idx=1, scale_grad_by_freq=True),
        vt.tensor([[2, 0, 1], [1, 2, 2]]),
    ),
    "embedding_bag": (
        lambda x, n: f.embedding_bag(n, x, vt.tensor([0, 1]), mode="max", padding_idx=0),
        vt.tensor([[2, 0, 1], [1, 2, 2]]),
    ),
    "embedding_bag of offsets": (
        lambda x, n: f.embedding_bag(vt.tensor([0, 2, 2]), x, n),
        vt.tensor([[0, 1], [0, 3]]),
    ),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_classes_and_numbers_of_each_sample(name: str) -> None:
    call, integers = INTEGERS[name]
    x = values((2, 3, 3))

    def slope(x: vt.Tensor, n: vt.Tensor) -> vt.Tensor:
        gradient: vt.Tensor = vt.func.grad(lambda x: call(x, n).square().sum())(x)
        return gradient

    for function in (call, slope):
        found = vt.vmap(function)(x, integers)
        replayed = vt.jit.replay(function)
        for k in range(2):
            expected = function(x[k], integers[k])
            np.testing.assert_allclose(found[k].numpy(), expected.numpy(), rtol=1e-12)
            for _ in range(2):
                np.testing.assert_array_equal(replayed(x[k], integers[k]).numpy(), expected.numpy())


# -- statistics that are kept -------------------------------------------------------------------


def test_batch_norm_keeps_statistics_in_two_writes_after_all_checks() -> None:
    x = vt.tensor([[1.0, 10.0], [3.0, 10.0]], requires_grad=True)
    mean, var = vt.zeros(2), vt.ones(2)
    f.batch_norm(x, mean, var, training=True, momentum=0.5)
    assert (mean.tolist(), var.tolist()) == ([1, 5], [1.5, 0.5])
    assert (mean._version, var._version, mean.requires_grad) == (1, 1, False)
    with pytest.raises(RuntimeError, match="weight"):
        f.batch_norm(x, mean, var, vt.ones(3), training=True)
    with pytest.raises(ValueError, match="one value"):
        f.batch_norm(x[:1], mean, var, training=True)
    assert (mean._version, var._version) == (1, 1)
    f.batch_norm(x, mean, var)
    assert (mean._version, var._version) == (1, 1)


@pytest.mark.parametrize("norm", [f.batch_norm, f.instance_norm])
def test_statistics_are_those_of_the_values_and_computed_once(
    norm: Callable[..., vt.Tensor],
) -> None:
    x, mean, var = values((5, 2, 3)), vt.zeros(2).double(), vt.zeros(2).double()
    with vt.profiler.profile() as profile:
        norm(x, mean, var, None, None, True, momentum=1.0)
    axes = (0, 2) if norm is f.batch_norm else 2
    assert vt.allclose(mean, x.mean((0, 2)))
    expected = x.var(axes) if norm is f.batch_norm else x.var(axes).mean(0)
    assert vt.allclose(var, expected)
    names = [event.name for event in profile.events()]
    # The means of elements and of squares; of an instance those over the samples too.
    assert sum("mean" in name or "var" in name for name in names) == (
        2 if norm is f.batch_norm else 4
    )


def test_samples_of_a_batch_cannot_be_kept_in_statistics_without_samples() -> None:
    mean, var = vt.zeros(2), vt.ones(2)
    with pytest.raises(vt.errors.BatchedWriteError):
        vt.vmap(lambda x: f.batch_norm(x, mean, var, training=True))(vt.rand(3, 4, 2))
    assert mean.tolist() == [0, 0]


# -- embeddings ---------------------------------------------------------------------------------


def test_rows_whose_norm_is_too_large_are_scaled_in_the_table() -> None:
    table = vt.tensor([[3.0, 4.0], [0.3, 0.4], [30.0, 40.0]], requires_grad=True)
    found = f.embedding(vt.tensor([0, 1, 0]), table, max_norm=1.0)
    np.testing.assert_allclose(table.detach()[0].tolist(), [0.6, 0.8], rtol=1e-5)
    assert table.detach()[1:].tolist() == vt.tensor([[0.3, 0.4], [30.0, 40.0]]).tolist()
    np.testing.assert_array_equal(found.detach()[0].numpy(), table.detach()[0].numpy())
    found.sum().backward()
    assert table.grad is not None
    assert table.grad.tolist() == [[2, 2], [1, 1], [0, 0]]


def test_gradients_of_rows_divided_by_how_often_they_are_read() -> None:
    table = leaf([[1.0], [2.0], [3.0]])
    numbers = vt.tensor([0, 1, 1, 2, 1])
    weights = vt.tensor([[1.0], [2.0], [3.0], [5.0], [4.0]]).double()
    found = f.embedding(numbers, table, padding_idx=2, scale_grad_by_freq=True)
    assert vt.autograd.grad(found, table, weights)[0].flatten().tolist() == [1, 3, 0]
    bags = f.embedding_bag(numbers, table, vt.tensor([0, 3]), mode="sum", scale_grad_by_freq=True)
    assert vt.autograd.grad(bags.sum(), table)[0].flatten().tolist() == [1, 1, 1]


def test_padding_is_left_out_of_bags() -> None:
    table = leaf([[-5.0], [-2.0], [-3.0]])
    numbers = vt.tensor([[0, 1, 2], [1, 1, 1]])
    for mode, expected in (("sum", [-8, 0]), ("mean", [-4, 0]), ("max", [-3, 0])):
        found = f.embedding_bag(numbers, table, mode=mode, padding_idx=1)
        assert found.flatten().tolist() == expected
    with pytest.raises(AssertionError, match="padding_idx"):
        f.embedding(numbers, table, padding_idx=3)
    with pytest.raises(IndexError, match="is not"):
        f.embedding(numbers + 1, table)
    with pytest.raises(NotImplementedError, match="sparse"):
        f.embedding(numbers, table, sparse=True)


def test_one_hot_inside_of_vmap_and_of_wrong_indices() -> None:
    rows = vt.vmap(lambda n: f.one_hot(n, 3))(vt.tensor([2, 0]))
    assert rows.tolist() == [[0, 0, 1], [1, 0, 0]]
    for numbers, count in (([-1], -1), ([3], 3), ([0], 0)):
        with pytest.raises(RuntimeError):
            f.one_hot(vt.tensor(numbers), count)
    with pytest.raises(RuntimeError):
        f.one_hot(vt.tensor([1.0]))


# -- attention ----------------------------------------------------------------------------------


def test_a_query_that_may_look_at_no_key_gives_zeros_and_no_gradient() -> None:
    q, k, v = (values((3, 2), nr).requires_grad_() for nr in range(3))
    nothing = vt.tensor([[True, True, False], [False, False, False], [True, True, True]])
    infinite = vt.zeros(3, 3).double().masked_fill(~nothing, -math.inf)
    for mask in (nothing, infinite):
        found = f.scaled_dot_product_attention(q, k, v, mask)
        assert not found[1].any()
        slopes = vt.autograd.grad(found.sum(), [q, k, v])
        assert all(x.isfinite().all() for x in slopes)
        assert not slopes[0][1].any()
    with pytest.raises(RuntimeError, match="not both"):
        f.scaled_dot_product_attention(q, k, v, nothing, is_causal=True)


def test_weights_of_attention_are_dropped() -> None:
    vt.manual_seed(0)
    q = vt.zeros(1, 2)
    found = f.scaled_dot_product_attention(q, vt.zeros(5000, 2), vt.ones(5000, 1), dropout_p=0.5)
    assert 0.9 < found.item() < 1.1
    assert found.item() != 1


# -- replays of what is written and drawn -------------------------------------------------------


def test_statistics_are_kept_by_a_replay_too() -> None:
    def step(x: vt.Tensor, mean: vt.Tensor, var: vt.Tensor) -> list[vt.Tensor]:
        x = x.detach().requires_grad_()
        y = f.batch_norm(x, mean, var, training=True)
        (slope,) = vt.autograd.grad(y.pow(3).sum(), x)
        return [y.detach(), slope]

    replayed = vt.jit.replay(step)
    one, two = ([vt.zeros(3).double(), vt.ones(3).double()] for _ in range(2))
    for k in range(5):
        x = values((4, 3), k)
        for found, expected in zip(replayed(x, *one), step(x, *two), strict=True):
            np.testing.assert_array_equal(found.numpy(), expected.numpy())
        np.testing.assert_array_equal(vt.stack(one).numpy(), vt.stack(two).numpy())


@pytest.mark.parametrize("name", ["dropout", "rrelu", "alpha_dropout", "gumbel_softmax"])
def test_replays_draw_what_the_function_draws(name: str) -> None:
    options: dict[str, Any] = {"dim": 0} if name == "gumbel_softmax" else {"training": True}

    def call(x: vt.Tensor) -> vt.Tensor:
        found: vt.Tensor = getattr(f, name)(x, **options)
        return found

    drawn = []
    for function in (call, vt.jit.replay(call)):
        vt.manual_seed(1)
        drawn.append([function(values((5, 4), k)).numpy() for k in range(5)])
    np.testing.assert_array_equal(drawn[0], drawn[1])


# -- everything else ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gelu", "hardswish", "elu", "prelu", "mse_loss", "bce"])
def test_patterns_of_elementwise_functions_are_diagonal(name: str) -> None:
    more: dict[str, Any] = {
        "mse_loss": {"target": vt.zeros(5).double(), "reduction": "none"},
        "bce": {"target": vt.ones(5).double(), "reduction": "none"},
        "prelu": {"weight": vt.ones(1).double()},
    }
    function = f.binary_cross_entropy if name == "bce" else getattr(f, name)
    pattern = vt.func.sparsity_pattern(
        lambda x: function(x, **more.get(name, {})), values((5,)).sigmoid()
    )
    assert (pattern.indptr.tolist(), pattern.indices.tolist()) == (
        [0, 1, 2, 3, 4, 5],
        [0, 1, 2, 3, 4],
    )


def test_names_of_dimensions_are_kept_by_activations_and_refused_by_losses() -> None:
    x = values((2, 3)).rename("n", "c")
    for name in ("relu", "gelu", "silu", "elu", "hardtanh", "softplus", "leaky_relu"):
        assert getattr(f, name)(x).names == ("n", "c"), name
    assert f.softmax(x, "c").names == ("n", "c")  # type: ignore[arg-type]
    assert f.dropout(x).names == ("n", "c")
    with pytest.raises(vt.errors.NamesNotSupportedError):
        f.mse_loss(x, x)


def test_results_are_on_the_lane_of_the_operands() -> None:
    for name in ("gelu", "layer_norm", "mish", "binary_cross_entropy", "ctc_loss"):
        call, shapes = CALLS[name]
        found = []
        for device in ("cpu", "lane:0"):
            leaves = [values(s, nr).to(device).requires_grad_() for nr, s in enumerate(shapes)]
            result = call(*leaves)
            assert result.device == vt.device(device)
            found.append([x.cpu().numpy() for x in vt.autograd.grad(result.sum(), leaves)])
        for one, two in zip(*found, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-11, atol=1e-15)


def test_arrays_stand_for_tensors_and_wrong_types_are_named() -> None:
    x = np.array([-1.0, 2.0])
    assert f.gelu(x).dtype == vt.float64  # type: ignore[arg-type]
    assert f.mse_loss(x, np.zeros(2)).item() == 2.5  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'input'"):
        f.gelu("text")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'beta'"):
        f.softplus(vt.ones(1), "text")  # type: ignore[arg-type]
