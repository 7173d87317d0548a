"""Derivatives of every operator for a batch are those of each sample."""

import warnings
from collections.abc import Callable, Sequence

import numpy as np
import pytest

import vtgrad as vt
from tests.ops.calls import Case, cases, function_of_inputs
from tests.ops.records import RECORDS, tangent_of
from tests.sweeping import by_table, sweep
from vtgrad.errors import BatchedWriteError
from vtgrad.storage.arrays import Array

CASES = [
    case
    for case in cases(lambda op: bool(op.formulas) and not op.undifferentiable)
    if not RECORDS[case.operator.name].batch.startswith("random")
    # What `as_strided` calls for values, and never for a tensor of one sample.
    and case.operator.name != "as_strided_beyond"
]
COUNT = 3


def writes(case: Case) -> bool:
    return case.operator.returns in {"Self", "Geometry"}


def writes_samples(case: Case) -> bool:
    """Whether it writes what differs by sample, if another argument does."""
    return case.operator.returns == "Self" and len(case.operator.tensors) > 1


def numbers(rng: np.random.Generator, like: Array, count: int = COUNT) -> vt.Tensor:
    values: Array = rng.standard_normal((count, *like.shape))
    if like.dtype.kind == "c":
        values = values + 1j * rng.standard_normal((count, *like.shape))
    return vt.tensor(values.astype(like.dtype))


def assert_close(found: vt.Tensor, expected: vt.Tensor) -> None:
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_allclose(
        found.numpy(force=True), expected.numpy(force=True), rtol=1e-10, atol=1e-12
    )


def leaves_of(arrays: Sequence[Array]) -> list[vt.Tensor]:
    return [vt.tensor(x).requires_grad_() if x.dtype.kind in "fc" else vt.tensor(x) for x in arrays]


@sweep(CASES, [False, True], row=by_table)
def test_batched_gradients(case: Case, create_graph: bool) -> None:
    apply, arrays = function_of_inputs(case, case.operator.name, inplace=writes(case))
    rng = np.random.default_rng(0)
    leaves = leaves_of(arrays)
    wanted = [x for x in leaves if x.requires_grad]
    results = [y for y in apply(*leaves) if y.requires_grad]
    if not results:
        return
    cotangents = [numbers(rng, y.numpy(force=True)) for y in results]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = vt.autograd.grad(
            results,
            wanted,
            cotangents,
            retain_graph=True,
            create_graph=create_graph,
            is_grads_batched=True,
            allow_unused=True,
        )
    for nr, gradient in enumerate(found):
        rows = [
            vt.autograd.grad(
                results, wanted, [c[k] for c in cotangents], retain_graph=True, allow_unused=True
            )[nr]
            for k in range(COUNT)
        ]
        if gradient is None:
            assert rows == [None] * COUNT
            continue
        expected = vt.stack([row for row in rows if row is not None])
        if gradient.shape != expected.shape:
            # The gradient does not depend on the cotangents.
            gradient = gradient.expand(expected.shape)
        assert_close(gradient, expected)


def samples(case: Case, arrays: Sequence[Array]) -> list[vt.Tensor]:
    found = []
    for x in arrays:
        rows = [np.roll(x.reshape(-1), nr).reshape(x.shape) for nr in range(COUNT)]
        found.append(vt.tensor(np.stack(rows)))
    return found


WITH_INPUTS = [
    c
    for c in CASES
    if any(x.dtype.kind in "fc" for x in function_of_inputs(c, c.operator.name, inplace=False)[1])
]


@pytest.mark.slow
@sweep(WITH_INPUTS, row=by_table)
def test_gradients_of_samples(case: Case) -> None:
    apply, arrays = function_of_inputs(case, case.operator.name, inplace=writes(case))
    batches = samples(case, arrays)
    inexact = [nr for nr, x in enumerate(arrays) if x.dtype.kind in "fc"]

    def pulled(*tensors: vt.Tensor) -> object:
        def of_inexact(*chosen: vt.Tensor) -> object:
            given = list(tensors)
            for nr, x in zip(inexact, chosen, strict=True):
                given[nr] = x
            return tuple(y for y in apply(*given) if y.is_floating_point() or y.is_complex())

        outputs, pull = vt.func.vjp(of_inexact, *[tensors[nr] for nr in inexact])
        assert isinstance(outputs, tuple)
        weights = [y.detach() * 0.5 + 1 for y in outputs]
        assert callable(pull)
        return pull(tuple(weights)) if outputs else ()

    check_against_loop(pulled, batches, written=writes_samples(case))


def check_against_loop(
    function: Callable[..., object], batches: Sequence[vt.Tensor], *, written: bool
) -> None:
    """One call for all samples gives what one call for each gives; also with one of them fixed."""
    count = len(batches)
    for fixed in [None, *(range(count) if count > 1 else [])]:
        dims = tuple(None if nr == fixed else 0 for nr in range(count))
        given = [b[0] if dim is None else b for b, dim in zip(batches, dims, strict=True)]
        rows = []
        for k in range(COUNT):
            row = function(
                *[
                    x.clone() if dim is None else x[k].clone()
                    for x, dim in zip(given, dims, strict=True)
                ]
            )
            assert isinstance(row, tuple)
            rows.append(row)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if fixed == 0 and written:
                with pytest.raises(BatchedWriteError):
                    vt.vmap(function, in_dims=dims)(*given)
                continue
            found = vt.vmap(function, in_dims=dims)(*given)
        assert isinstance(found, tuple)
        for one, parts in zip(found, zip(*rows, strict=True), strict=True):
            assert_close(one, vt.stack(list(parts)))


@pytest.mark.slow
@sweep([c for c in WITH_INPUTS if tangent_of(c.operator.name).kind != "refused"], row=by_table)
def test_tangents_of_samples(case: Case) -> None:
    apply, arrays = function_of_inputs(case, case.operator.name, inplace=writes(case))
    rng = np.random.default_rng(0)
    batches = samples(case, arrays)
    inexact = [nr for nr, x in enumerate(arrays) if x.dtype.kind in "fc"]
    tangents = [numbers(rng, arrays[nr]) for nr in inexact]

    def pushed(*given: vt.Tensor) -> object:
        tensors, vectors = list(given[: len(arrays)]), given[len(arrays) :]

        def of_inexact(*chosen: vt.Tensor) -> object:
            for nr, x in zip(inexact, chosen, strict=True):
                tensors[nr] = x
            return tuple(y for y in apply(*tensors) if y.is_floating_point() or y.is_complex())

        return vt.func.jvp(of_inexact, tuple(tensors[nr] for nr in inexact), tuple(vectors))[1]

    check_against_loop(pushed, [*batches, *tangents], written=writes_samples(case))
