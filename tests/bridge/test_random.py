"""Random numbers: reproducible, distributed as promised, and without gradients."""

import contextlib
import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DTypeError,
    LeafWriteError,
    NotSupportedError,
    ResultTypeError,
    SelfOverlapError,
    ShapeError,
)
from vtgrad.storage.dtypes import DType

N = 40_000
Draw = Callable[[vt.Generator], vt.Tensor]

DRAWS: list[Draw] = [
    lambda g: vt.rand(5, generator=g),
    lambda g: vt.randn(5, generator=g),
    lambda g: vt.randint(1000, (5,), generator=g),
    lambda g: vt.randperm(50, generator=g),
    lambda g: vt.normal(0.0, 1.0, (5,), generator=g),
    lambda g: vt.rand_like(vt.zeros(5), generator=g),
    lambda g: vt.zeros(5).normal_(generator=g),
    lambda g: vt.zeros(5).uniform_(generator=g),
    lambda g: vt.zeros(5).exponential_(generator=g),
    lambda g: vt.zeros(5).cauchy_(generator=g),
    lambda g: vt.zeros(5).log_normal_(generator=g),
    lambda g: vt.zeros(5).geometric_(0.01, generator=g),
    lambda g: vt.zeros(5).random_(generator=g),
    lambda g: vt.zeros(100).bernoulli_(generator=g),
    lambda g: vt.bernoulli(vt.full((100,), 0.5), generator=g),
]


@pytest.fixture
def g() -> vt.Generator:
    return vt.Generator().manual_seed(11)


@pytest.mark.parametrize("draw", DRAWS)
def test_the_same_seed_gives_the_same_numbers(draw: Draw) -> None:
    g = vt.Generator()
    first = draw(g.manual_seed(3)).tolist()
    assert draw(g.manual_seed(3)).tolist() == first
    assert draw(g).tolist() != first
    assert draw(g.manual_seed(4)).tolist() != first


def test_the_default_generator_is_seeded_by_manual_seed() -> None:
    state = vt.get_rng_state()
    try:
        assert vt.manual_seed(5) is vt.default_generator
        first = vt.rand(3).tolist()
        assert vt.initial_seed() == 5
        vt.manual_seed(5)
        assert vt.rand(3).tolist() == first
        assert vt.seed() == vt.initial_seed()
    finally:
        vt.set_rng_state(state)


def test_generators_are_independent() -> None:
    a, b = vt.Generator().manual_seed(1), vt.Generator().manual_seed(1)
    vt.rand(10, generator=a)
    vt.rand(10)
    expected = vt.rand(2, generator=vt.Generator().manual_seed(1)).tolist()
    assert vt.rand(2, generator=b).tolist() == expected


def test_a_state_can_be_gone_back_to(g: vt.Generator) -> None:
    # Half of a 64-bit word may be left over from single-precision draws.
    vt.zeros(3, dtype=vt.int8).random_(generator=g)
    vt.randn(3, generator=g)
    state = g.get_state()
    assert state.dtype is vt.uint8
    twin = g.clone_state()
    first = vt.randn(7, generator=g).tolist()
    assert vt.randn(7, generator=twin).tolist() == first
    assert vt.randn(7, generator=g.set_state(state)).tolist() == first
    assert g.initial_seed() == 11
    with pytest.raises(ArgumentTypeError):
        g.set_state(vt.zeros(3))
    with pytest.raises(ShapeError):
        g.set_state(vt.zeros(3, dtype=vt.uint8))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_a_copied_generator_goes_its_own_way_from_the_same_state(
    g: vt.Generator, copied: Callable[[vt.Generator], vt.Generator]
) -> None:
    vt.rand(5, generator=g)
    twin = copied(g)
    first = vt.rand(4, generator=g).tolist()
    assert vt.rand(4, generator=twin).tolist() == first
    assert twin.initial_seed() == 11
    assert vt.rand(4, generator=twin.set_state(g.get_state())).tolist() != first


def test_fork_rng_leaves_the_default_generator_as_it_was() -> None:
    with vt.random.fork_rng():
        vt.manual_seed(1)
        first = vt.rand(2).tolist()
        with contextlib.suppress(KeyError), vt.random.fork_rng():
            vt.rand(5)
            raise KeyError
        second = vt.rand(2).tolist()
        vt.manual_seed(1)
        assert [vt.rand(2).tolist(), vt.rand(2).tolist()] == [first, second]
        with vt.random.fork_rng(enabled=False):
            vt.manual_seed(9)
        assert vt.initial_seed() == 9


def test_seeds_have_64_bits(g: vt.Generator) -> None:
    assert g.manual_seed(-1).initial_seed() == 2**64 - 1
    assert g.manual_seed(2**64 - 1).initial_seed() == 2**64 - 1
    assert g.seed() == g.initial_seed()
    for wrong in [2**64, -(2**63) - 1]:
        with pytest.raises(ArgumentValueError):
            g.manual_seed(wrong)
    with pytest.raises(TypeError):
        g.manual_seed(1.5)  # type: ignore[arg-type]  # no integer


def test_the_default_generator_takes_the_seeds_that_a_generator_takes() -> None:
    with vt.random.fork_rng():
        right: list[Any] = [7, np.int64(7), np.uint8(7), np.array(7), vt.tensor(7)]
        for seed in right:
            assert vt.manual_seed(seed) is vt.default_generator
            assert vt.initial_seed() == 7
        wrong: list[Any] = [2.5, "7", "a", None, np.float64(3), [3]]
        for seed in wrong:
            with pytest.raises(ArgumentTypeError, match="a seed is an integer"):
                vt.manual_seed(seed)
        assert vt.initial_seed() == 7


def moments(x: vt.Tensor) -> tuple[float, float]:
    values = x.double()
    mean = float(values.mean())
    return mean, float((values * values).mean()) - mean * mean


@pytest.mark.parametrize("dtype", [vt.float16, vt.float32, vt.float64])
def test_uniform_numbers_fill_the_half_open_interval(g: vt.Generator, dtype: vt.dtype) -> None:
    x = vt.empty(N, dtype=dtype).uniform_(-2, 4, generator=g)
    assert float(x.min()) >= -2
    assert float(x.max()) < 4
    mean, variance = moments(x)
    assert mean == pytest.approx(1, abs=0.05)
    assert variance == pytest.approx(3, rel=0.05)
    unit = vt.rand(N, dtype=dtype, generator=g)
    assert float(unit.min()) >= 0
    assert float(unit.max()) < 1


@pytest.mark.parametrize("dtype", [vt.float16, vt.float32, vt.float64])
def test_normal_numbers_have_their_mean_and_deviation(g: vt.Generator, dtype: vt.dtype) -> None:
    mean, variance = moments(vt.empty(N, dtype=dtype).normal_(3, 2, generator=g))
    assert mean == pytest.approx(3, abs=0.05)
    assert variance == pytest.approx(4, rel=0.05)
    mean, variance = moments(vt.randn(N, dtype=dtype, generator=g))
    assert mean == pytest.approx(0, abs=0.03)
    assert variance == pytest.approx(1, rel=0.05)


def test_complex_normal_numbers_share_the_variance(g: vt.Generator) -> None:
    z = vt.randn(N, dtype=vt.complex64, generator=g)
    parts = z.numpy()
    assert float(parts.real.var()) == pytest.approx(0.5, rel=0.05)
    assert float(parts.imag.var()) == pytest.approx(0.5, rel=0.05)
    u = vt.rand(N, dtype=vt.complex64, generator=g).numpy()
    assert 0 <= float(u.imag.min()) <= float(u.imag.max()) < 1


def test_exponential_numbers_have_their_rate(g: vt.Generator) -> None:
    mean, variance = moments(vt.empty(N).exponential_(0.5, generator=g))
    assert mean == pytest.approx(2, rel=0.05)
    assert variance == pytest.approx(4, rel=0.1)


def test_cauchy_numbers_have_their_quartiles(g: vt.Generator) -> None:
    x = vt.empty(N).cauchy_(2, 3, generator=g).numpy()
    assert np.quantile(x, [0.25, 0.5, 0.75]) == pytest.approx([-1, 2, 5], abs=0.15)


def test_log_normal_numbers_have_normal_logarithms(g: vt.Generator) -> None:
    mean, variance = moments(vt.empty(N).log_normal_(0.5, 2, generator=g).log())
    assert mean == pytest.approx(0.5, abs=0.05)
    assert variance == pytest.approx(4, rel=0.05)


@pytest.mark.parametrize("dtype", [vt.float32, vt.int64])
def test_geometric_numbers_count_trials(g: vt.Generator, dtype: DType) -> None:
    x = vt.empty(N, dtype=dtype).geometric_(0.25, generator=g)
    mean, variance = moments(x.double())
    assert mean == pytest.approx(4, rel=0.05)
    assert variance == pytest.approx(12, rel=0.1)
    assert float(x.double().min()) == 1


def test_coins_have_their_probabilities(g: vt.Generator) -> None:
    p = vt.tensor([[0.1], [0.9]]).expand(2, N)
    for x in [vt.bernoulli(p, generator=g), vt.zeros(2, N).bernoulli_(p, generator=g)]:
        assert float(x[0].mean()) == pytest.approx(0.1, abs=0.01)
        assert float(x[1].mean()) == pytest.approx(0.9, abs=0.01)
        assert bool(((x == 0) | (x == 1)).all())
    assert vt.zeros(3, dtype=vt.bool).bernoulli_(1.0).tolist() == [True, True, True]
    assert vt.bernoulli(vt.zeros(3, dtype=vt.int64), 1.0).tolist() == [1, 1, 1]
    assert vt.ones(2).bernoulli(0.0).tolist() == [0.0, 0.0]


def test_integers_stay_in_their_range(g: vt.Generator) -> None:
    x = vt.randint(-2, 3, (N,), generator=g)
    assert x.dtype is vt.int64
    for k in range(-2, 3):
        assert int((x == k).sum()) == pytest.approx(N / 5, rel=0.1)
    assert int((x < -2).sum()) + int((x > 2).sum()) == 0
    assert vt.randint(3, 4, size=(2,)).tolist() == [3, 3]
    assert vt.randint(low=3, high=4, size=(2,)).tolist() == [3, 3]
    assert vt.randint(1, (2,)).tolist() == [0, 0]
    assert vt.randint(5, 6, (2,), dtype=vt.float32).tolist() == [5.0, 5.0]
    assert vt.randint_like(vt.zeros(2, dtype=vt.int8), 4, 5).tolist() == [4, 4]
    assert vt.randint_like(vt.zeros(2), 1).tolist() == [0.0, 0.0]
    assert vt.zeros(2).random_(7, 8).tolist() == [7.0, 7.0]
    assert vt.zeros(2).random_(1).tolist() == [0.0, 0.0]


def test_random_integers_without_bounds_go_up_to_what_the_dtype_holds(g: vt.Generator) -> None:
    assert int(vt.empty(N, dtype=vt.int8).random_(generator=g).max()) == 127
    assert int(vt.empty(N, dtype=vt.int8).random_(generator=g).min()) == 0
    assert int(vt.empty(N, dtype=vt.uint8).random_(generator=g).max()) == 255
    assert float(vt.empty(N, dtype=vt.float16).random_(generator=g).max()) == 2048.0
    assert 2**62 < int(vt.empty(N, dtype=vt.int64).random_(generator=g).max()) < 2**63


def test_a_permutation_has_each_integer_once(g: vt.Generator) -> None:
    p = vt.randperm(100, generator=g)
    assert p.dtype is vt.int64
    assert sorted(p.numpy().tolist()) == list(range(100))
    assert vt.randperm(0).shape == (0,)
    assert vt.randperm(3, dtype=vt.float32).dtype is vt.float32
    assert vt.randperm(3, out=vt.zeros(5, dtype=vt.int64)).shape == (3,)
    with pytest.raises(ShapeError):
        vt.randperm(-1)
    with pytest.raises(ResultTypeError):
        vt.randperm(300, dtype=vt.uint8)


@pytest.mark.parametrize(
    ("name", "arguments", "node"),
    [
        ("normal_", (), "NormalBackward0"),
        ("uniform_", (), "UniformBackward0"),
        ("exponential_", (), "ExponentialBackward0"),
        ("cauchy_", (), "CauchyBackward0"),
        ("log_normal_", (), "LogNormalBackward0"),
        ("geometric_", (0.5,), "GeometricBackward0"),
        ("random_", (), "RandomBackward2"),
        ("random_", (5,), "RandomBackward1"),
        ("random_", (2, 5), "RandomBackward0"),
        ("bernoulli_", (), "BernoulliBackward2"),
        ("bernoulli_", (vt.full((3,), 0.5),), "BernoulliBackward1"),
    ],
)
def test_drawing_into_a_result_cuts_the_gradient_off(
    name: str, arguments: tuple[object, ...], node: str
) -> None:
    x = vt.ones(3, requires_grad=True)
    y = x * 2
    assert getattr(y, name)(*arguments) is y
    assert type(y.grad_fn).__name__ == node
    assert y._version == 1
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


def test_drawing_into_a_view_reaches_only_its_part_of_the_gradient() -> None:
    x = vt.ones(3, requires_grad=True)
    y = x * 2
    y[1:].normal_()
    (y * y).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [8.0, 0.0, 0.0]


def test_functions_that_draw_have_zero_gradients() -> None:
    p = vt.full((3,), 0.5, requires_grad=True)
    s = vt.ones(2, 1, requires_grad=True)
    for y, node in [
        (vt.bernoulli(p), "BernoulliBackward0"),
        (vt.normal(p), "NormalBackward1"),
        (vt.normal(0.0, s), "NormalBackward2"),
        (vt.normal(p, s), "NormalBackward3"),
        (vt.ones(2, 3).bernoulli_(p), "BernoulliBackward1"),
    ]:
        assert type(y.grad_fn).__name__ == node
        y.sum().backward()
    assert p.grad is not None
    assert p.grad.tolist() == [0.0, 0.0, 0.0]
    assert s.grad is not None
    assert s.grad.tolist() == [[0.0], [0.0]]


def test_normal_takes_numbers_and_tensors(g: vt.Generator) -> None:
    assert vt.normal(vt.tensor([1.0, 2.0]), 0.0).tolist() == [1.0, 2.0]
    assert vt.normal(5.0, vt.zeros(2)).tolist() == [5.0, 5.0]
    mixed = vt.normal(vt.zeros(2, 1), vt.ones(3), generator=g)
    assert mixed.shape == (2, 3)
    wide = vt.normal(vt.zeros(1, dtype=vt.float64), vt.ones(1))
    assert wide.dtype is vt.float64
    assert vt.normal(3.0, 0.0, (2,), dtype=vt.float64, requires_grad=True).tolist() == [3.0, 3.0]
    with pytest.raises(ArgumentTypeError):
        vt.normal(0.0, 1.0)  # type: ignore[call-overload]  # a size is missing
    with pytest.raises(ShapeError):
        vt.normal(vt.zeros(3), vt.ones(4))
    with pytest.raises(ShapeError):
        vt.normal(vt.zeros(3), -vt.ones(3))
    with pytest.raises(NotSupportedError):
        vt.normal(vt.zeros(3, dtype=vt.int64), 1.0)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: vt.ones(3).uniform_(1, 0),
        lambda: vt.ones(3).uniform_(0, float("inf")),
        lambda: vt.ones(3).uniform_(float("nan"), 1),
        lambda: vt.ones(3, dtype=vt.float16).uniform_(-65000, 65000),
        lambda: vt.ones(3).normal_(0, -1),
        lambda: vt.ones(3).normal_(0, float("nan")),
        lambda: vt.ones(3).exponential_(0),
        lambda: vt.ones(3).cauchy_(0, 0),
        lambda: vt.ones(3).log_normal_(0, 0),
        lambda: vt.ones(3).geometric_(0),
        lambda: vt.ones(3).geometric_(1),
        lambda: vt.ones(3).random_(0),
        lambda: vt.ones(3).random_(5, 2),
        lambda: vt.ones(3, dtype=vt.uint8).random_(300),
        lambda: vt.ones(3, dtype=vt.uint8).random_(-5, 5),
        lambda: vt.ones(3, dtype=vt.bool).random_(3),
        lambda: vt.ones(3).bernoulli_(2),
        lambda: vt.ones(3).bernoulli_(vt.full((3,), 2.0)),
        lambda: vt.ones(3).bernoulli_(vt.full((4,), 0.5)),
        lambda: vt.bernoulli(vt.full((2,), float("nan"))),
        lambda: vt.randint(3, 3, (2,)),
        lambda: vt.randint(300, (2,), dtype=vt.uint8),
    ],
)
def test_wrong_parameters_are_runtime_errors(wrong: Callable[[], vt.Tensor]) -> None:
    with pytest.raises(ShapeError):
        wrong()


def test_wrong_dtypes_are_refused() -> None:
    whole = vt.ones(3, dtype=vt.int64)
    wrong: list[Callable[[], vt.Tensor]] = [
        whole.normal_,
        whole.uniform_,
        whole.bernoulli,
        whole.log_normal_,
        lambda: vt.ones(3, dtype=vt.bool).geometric_(0.5),
        vt.ones(3, dtype=vt.complex64).random_,
        lambda: vt.rand(2, dtype=vt.int64),
        lambda: vt.randn(2, dtype=vt.int64),
        lambda: vt.randn_like(whole),
    ]
    for draw in wrong:
        with pytest.raises(NotSupportedError):
            draw()
    with pytest.raises(DTypeError):
        whole.exponential_()
    with pytest.raises(DTypeError):
        whole.cauchy_()


def test_numpy_numbers_are_parameters_too(g: vt.Generator) -> None:
    # Not `int` and `float` to type checkers.
    low: Any = np.int64(7)
    mean: Any = np.float32(3)
    assert vt.zeros(2).random_(low, low + 1, generator=g).tolist() == [7.0, 7.0]
    assert vt.zeros(2).normal_(mean, np.float64(0), generator=g).tolist() == [3.0, 3.0]
    assert vt.randint(low, low + 1, (2,), generator=g).tolist() == [7, 7]


def test_what_is_no_generator_or_integer_is_a_type_error() -> None:
    with pytest.raises(ArgumentTypeError):
        vt.rand(2, generator=3)  # type: ignore[arg-type]  # no generator
    with pytest.raises(ArgumentTypeError):
        vt.ones(3).random_(2.5)  # type: ignore[arg-type]  # no integer
    with pytest.raises(ArgumentTypeError):
        vt.randint(3, 2)  # type: ignore[call-overload]  # the size must be a sequence


def test_a_refused_draw_changes_neither_the_tensor_nor_the_generator(g: vt.Generator) -> None:
    before = vt.randn(3, generator=g.clone_state()).tolist()
    x = vt.ones(2)
    overlapping = vt.ones(1, 2).expand(3, 2)
    leaf = vt.ones(2, requires_grad=True)
    for target, error in [(overlapping, SelfOverlapError), (leaf, LeafWriteError)]:
        with pytest.raises(error):
            target.normal_(generator=g)
        assert target._version == 0
    with pytest.raises(ShapeError):
        x.normal_(0, -1, generator=g)
    with pytest.raises(ShapeError):
        x.bernoulli_(vt.full((5,), 0.5), generator=g)
    assert x.tolist() == [1.0, 1.0]
    assert x._version == 0
    assert vt.randn(3, generator=g).tolist() == before
