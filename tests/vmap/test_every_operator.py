"""Every operator for a batch is the operator for each sample."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from tests.ops.calls import Case, cases
from tests.ops.records import RECORDS
from tests.sweeping import by_table, sweep
from tests.vmap.batches import Place, batch_of, call_with, places_of, stacked_loop, value_at
from vtgrad.errors import BatchedTensorError

# Random operators are compared elsewhere.
CASES = [
    case
    for case in cases()
    if places_of(case) and not RECORDS[case.operator.name].batch.startswith("random")
]


def choices(case: Case, writes: bool) -> list[tuple[Place, ...]]:
    """Which arrays are batches: all of them, each alone, and all but each."""
    places = places_of(case)
    found = {tuple(places), *[(p,) for p in places]}
    found |= {tuple(p for p in places if p != left) for left in places} - {()}
    return [chosen for chosen in sorted(found, key=str) if not writes or places[0] in chosen]


def check(case: Case, name: str, chosen: Sequence[Place], dims: Sequence[int]) -> None:
    batches = [vt.tensor(batch_of(case, place)) for place in chosen]

    def apply(*tensors: vt.Tensor) -> tuple[vt.Tensor, ...]:
        return tuple(call_with(case, name, chosen, tensors))

    try:
        expected = stacked_loop(apply, batches)
    except (RuntimeError, IndexError, ValueError, TypeError) as error:
        with pytest.raises(type(error)):
            run(apply, batches, dims)
        return
    found = run(apply, batches, dims)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        np.testing.assert_allclose(
            one.numpy(force=True), other.numpy(force=True), rtol=1e-12, atol=1e-12
        )


def run(apply: Any, batches: Sequence[vt.Tensor], dims: Sequence[int]) -> tuple[vt.Tensor, ...]:
    moved = tuple(
        vt.movedim(batch, 0, dim).clone() for batch, dim in zip(batches, dims, strict=True)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: object = vt.vmap(apply, in_dims=tuple(dims))(*moved)
    assert isinstance(found, tuple)
    return found


def refused(case: Case, chosen: Sequence[Place] = ()) -> bool:
    """Whether results would differ in shape from sample to sample."""
    name = case.operator.name
    if name in {"masked_select", "index_at", "index_put_at", "index_spread"}:
        masks = [p for p in chosen if value_at(case, p).dtype in (np.bool_, np.uint8)]
        return any(case.operator.arguments[int(p[0])].name in {"mask", "indices"} for p in masks)
    return RECORDS[name].batch == "refused"


@sweep([c for c in CASES if not refused(c)], row=by_table)
def test_operator(case: Case) -> None:
    writes = case.operator.returns in {"Self", "Geometry"}
    for chosen in choices(case, writes):
        if refused(case, chosen):
            with pytest.raises(BatchedTensorError):
                check(case, case.operator.name, chosen, [0] * len(chosen))
            continue
        check(case, case.operator.name, chosen, [0] * len(chosen))
        ndims = [batch_of(case, place).ndim for place in chosen]
        if any(n > 1 for n in ndims):
            check(case, case.operator.name, chosen, [n - 1 for n in ndims])


def can_be_written(case: Case, place: Place) -> bool:
    first = case.sample.arguments[0]
    if case.operator.inplace is None or not isinstance(first, np.ndarray) or place != (0, None):
        return False
    result, *_ = call_with(case, case.operator.name, [], [])
    fits = result.shape == first.shape and vt.can_cast(result.dtype, vt.tensor(first).dtype)
    return fits and not (case.operator.name == "abs" and first.dtype.kind == "c")


@sweep([c for c in CASES if can_be_written(c, places_of(c)[0])], row=by_table)
def test_in_place(case: Case) -> None:
    assert case.operator.inplace is not None
    for chosen in choices(case, writes=True):
        if refused(case, chosen):
            continue
        for dim in (0, -1):
            batches = [vt.tensor(batch_of(case, place)) for place in chosen]

            def apply(*tensors: vt.Tensor, chosen: Sequence[Place] = chosen) -> vt.Tensor:
                assert case.operator.inplace is not None
                (result,) = call_with(case, case.operator.inplace, chosen, tensors)
                assert result is tensors[0]
                return tensors[0]

            expected = vt.stack(
                [apply(*[batch[nr].clone() for batch in batches]) for nr in range(3)]
            )
            moved = [vt.movedim(batch, 0, dim).clone() for batch in batches]
            version = moved[0]._version
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                if RECORDS[case.operator.name].batch == "loop":
                    warnings.simplefilter("ignore")
                found = vt.vmap(apply, in_dims=dim, out_dims=dim)(*moved)
            assert found is moved[0]
            if RECORDS[case.operator.name].batch != "loop":
                assert moved[0]._version == version + 1
            np.testing.assert_allclose(
                vt.movedim(moved[0], dim, 0).numpy(), expected.numpy(), rtol=1e-12, atol=1e-12
            )
