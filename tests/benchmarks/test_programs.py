"""The programs that are measured compute what they say, and their gradients are right."""

from functools import partial

import numpy as np
import pytest

from benchmarks import cliffs, convolution, factorisations, large_arrays, small_operators
from benchmarks.bench import Bench, Pass, prepared
from benchmarks.libraries import Library, NumpyToolkit, Real, load
from benchmarks.suite import SECTIONS
from tests.benchmarks.programs import CASES, Case

_NUMPY = NumpyToolkit("float64")


@pytest.fixture(scope="module")
def library() -> Library:
    return load("vtgrad", "float64")


def _central_differences(case: Case) -> list[Real]:
    """Every program runs on NumPy arrays as it stands."""
    program = partial(case.body, _NUMPY)
    found = []
    for at, array in enumerate(case.arrays):
        slopes = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            ends = []
            for step in (1e-6, -1e-6):
                arrays = [np.array(a) for a in case.arrays]
                arrays[at][index] += step
                ends.append(float(program(*arrays, *case.constants)))
            slopes[index] = (ends[0] - ends[1]) / 2e-6
        found.append(slopes)
    return found


@pytest.mark.parametrize("case", CASES, ids=[f"{c.section}: {c.name}" for c in CASES])
def test_the_gradients_of_a_program_are_right(case: Case, library: Library) -> None:
    for found, expected in zip(case.gradients(library), _central_differences(case), strict=True):
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_every_section_with_a_differentiated_program_has_a_case() -> None:
    # Imports and calls of operators have no program; the others have a test of their own.
    others = {"imports", "small_operators", "cliffs", "every_operator", "growth"}
    others |= {"checkpoints", "lanes", "shards", "forward_mode", "linear_algebra"}
    others |= {"convolution"}
    assert {case.section for case in CASES} == set(SECTIONS) - others


@pytest.mark.parametrize("case", CASES, ids=[f"{c.section}: {c.name}" for c in CASES])
def test_the_passes_can_be_run_apart(case: Case, library: Library) -> None:
    # Two of each are made before one is called, as for a measurement.
    parts: tuple[Pass, ...] = ("forward", "backward", "both")
    for part in parts:
        prepare = prepared(library, case.body, case.arrays, part, case.constants)
        for call in [prepare(), prepare()]:
            call()


def test_the_convolution_is_the_sum_over_its_windows(library: Library) -> None:
    images, kernels = (2, 3, 4, 5), (2, 3, 3, 3)
    arrays = convolution.inputs(images, kernels)
    weights = convolution.weights(images, kernels)
    leaves = [library.leaf(array) for array in arrays]
    operands = [*leaves, library.constant(weights[0])]
    convolution.convolved(library, *operands).backward()
    x, w, _ = arrays
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    np.testing.assert_allclose(leaves[1].grad, np.einsum("nchwij,nmhw->mcij", windows, weights[0]))
    np.testing.assert_allclose(leaves[2].grad, weights[0].sum((0, 2, 3)))
    around = np.pad(weights[0], ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(around, (3, 3), (2, 3))
    turned = w[:, :, ::-1, ::-1]
    np.testing.assert_allclose(leaves[0].grad, np.einsum("nmhwij,mcij->nchw", windows, turned))


def test_elimination_differentiates_the_determinant(library: Library) -> None:
    (matrix,) = factorisations.inputs(6)
    case = Case("factorisations", "", factorisations.elimination, [matrix])
    np.testing.assert_allclose(case.gradients(library)[0], np.linalg.inv(matrix).T, rtol=1e-9)
    value = factorisations.elimination(_NUMPY, matrix)
    np.testing.assert_allclose(value, np.linalg.slogdet(matrix)[1])


def test_cholesky_is_the_factor() -> None:
    (matrix,) = factorisations.inputs(6)
    expected = np.linalg.cholesky(matrix).sum()
    np.testing.assert_allclose(factorisations.cholesky(_NUMPY, matrix), expected)


@pytest.mark.parametrize("way", ["plain", "strict"])
@pytest.mark.parametrize("name", large_arrays.PAIRS)
def test_what_is_written_by_hand_is_the_same_program(name: str, way: str, library: Library) -> None:
    pair = large_arrays.PAIRS[name]
    x = np.linspace(-2.0, 2.0, 10)
    others = large_arrays.constants(pair, 10)
    before = [array.copy() for array in (x, *others)]
    by_hand = {"plain": pair.plain, "strict": pair.strict}[way]
    value, gradient = by_hand(x, *others)
    for array, kept in zip((x, *others), before, strict=True):
        np.testing.assert_array_equal(array, kept)
    np.testing.assert_allclose(np.asarray(value), pair.body(_NUMPY, x, *others))
    (expected,) = Case("large_arrays", name, pair.body, [x], others).gradients(library)
    np.testing.assert_allclose(gradient, expected, rtol=1e-12)


@pytest.mark.slow
def test_rows_are_measured_against_both_ways(library: Library) -> None:
    bench = Bench({"vtgrad": library}, 2, quick=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_arrays, "SIZES", (6,))
        found = list(large_arrays.rows(bench))
    assert [result.row for result in found] == [f"{name}, 6" for name in large_arrays.PAIRS]
    for result in found:
        assert {"numpy", "strict"} < set(result.rounds)
        # The bar is for the plain way alone.
        assert result.judged() == result.beside("numpy")


def test_small_operators_compute_what_numpy_does(library: Library) -> None:
    x = np.arange(1.0, 17.0).reshape(4, 4)
    for wrap in (library.leaf, library.constant):
        ours = small_operators.operations(wrap(x))
        for name, operation in small_operators.operations(x).items():
            result = ours[name]()
            assert result.requires_grad is (wrap == library.leaf)
            np.testing.assert_array_equal(np.asarray(result.detach()), operation())


def test_small_writes_write_what_numpy_does(library: Library) -> None:
    x, row = np.arange(1.0, 17.0).reshape(4, 4), np.full(4, 7.0)
    w = x.copy()
    tensor = library.constant(x)
    theirs = small_operators.writes(w, x, row)
    ours = small_operators.writes(tensor, library.constant(x), library.constant(row))
    for name, write in theirs.items():
        write()
        ours[name]()
        np.testing.assert_array_equal(np.asarray(tensor), w)
    assert not np.array_equal(w, x)


@pytest.mark.parametrize("name", cliffs.programs(load("vtgrad", "float64")))
def test_a_call_beside_the_commonest_runs_again_and_again(name: str, library: Library) -> None:
    call = cliffs.programs(library)[name]
    first, second = call(), call()
    # What writes into an array has no result, and adds on.
    assert first is None or "_" in name or (first == second).all()
