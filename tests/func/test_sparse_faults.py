"""Planted faults: a wrong local pattern, or sets that get lost, are found by the tests beside."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from tests.func.test_sparse_operators import check
from tests.func.test_sparse_programs import missing_of
from tests.ops.calls import cases
from tests.ops.records import RECORDS
from vtgrad.ops.operator import Pattern
from vtgrad.ops.rules.patterns.index_sets import VALUE, IndexSets, IntArray
from vtgrad.ops.rules.patterns.sparsity_tracer import SparsityTracer
from vtgrad.ops.rules.patterns.storage_sets import StorageSets
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

Plant = Callable[[pytest.MonkeyPatch], None]


@pytest.mark.parametrize(
    ("operator", "wrong"),
    [
        ("roll", Pattern("elementwise", ("input",))),
        ("flip_dims", Pattern("along dim", ())),
        ("cumsum_dim", Pattern("elementwise", ("input",))),
        ("softmax_dim", Pattern("cumulative", ("input",))),
        ("sum_dim_IntList", Pattern("reduction", ())),
        ("mm", Pattern("ki, jk -> ij", ("input", "mat2"))),
        ("mul", Pattern("elementwise", ("input",))),
        ("scatter_add", Pattern("elementwise", ("input",))),
        ("where_self", Pattern("elementwise", ("input",))),
        ("renorm", Pattern("along dim", ("input",))),
    ],
)
def test_wrong_local_pattern_is_found(
    operator: str, wrong: Pattern, monkeypatch: pytest.MonkeyPatch
) -> None:
    stated = (wrong.rule, " ".join(wrong.derivatives), "", "")
    monkeypatch.setattr(RECORDS[operator], "_pattern", stated)
    found = 0
    for case in cases(lambda op: op.name == operator):
        try:
            check(case, operator, inplace=False)
        except (AssertionError, ValueError):
            found += 1
    assert found


def dependent_gradients_lose_copies(patch: pytest.MonkeyPatch) -> None:
    """Values that are saved as copies have no sets."""
    patch.setattr(SparsityTracer, "copied", lambda *_: None)


def writes_go_to_the_first_elements(patch: pytest.MonkeyPatch) -> None:
    write = StorageSets.write

    def wrong(self: StorageSets, impl: TensorImpl, ids: IntArray) -> None:
        moved = TensorImpl(impl.array)
        moved._storage, moved._strides = impl.storage, impl.strides
        write(self, moved, ids)

    patch.setattr(StorageSets, "write", wrong)


def detached_writes_replace(patch: pytest.MonkeyPatch) -> None:
    def wrong(self: SparsityTracer, tensor: TensorBase, ids: IntArray) -> None:
        self.store(tensor, ids)

    patch.setattr(SparsityTracer, "store_written", wrong)


def unions_keep_the_larger_number(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(IndexSets, "unite", lambda self, a, b: np.maximum(a, b))


def dependence_ends_at_views(patch: pytest.MonkeyPatch) -> None:
    read = StorageSets.read

    def wrong(self: StorageSets, impl: TensorImpl) -> IntArray | None:
        ids = read(self, impl)
        return ids if ids is None or not impl.byte_offset else np.minimum(ids, VALUE)

    patch.setattr(StorageSets, "read", wrong)


@pytest.mark.slow
@pytest.mark.parametrize(
    "plant",
    [
        writes_go_to_the_first_elements,
        detached_writes_replace,
        unions_keep_the_larger_number,
        dependence_ends_at_views,
    ],
)
def test_lost_sets_are_found_by_random_programs(
    plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert missing_of(range(60))


def product_that_is_overwritten(x: vt.Tensor) -> vt.Tensor:
    """The old value of `b`, which the gradient needs, is saved as a copy."""

    def energy(y: vt.Tensor) -> vt.Tensor:
        b = y * 1
        b.pow_(3)
        return b.sum()

    found = vt.func.grad(energy)(x)
    assert isinstance(found, vt.Tensor)
    return found


def test_lost_copies_are_found_by_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    x = vt.tensor([1.0, 2.0, 3.0], dtype=vt.float64)
    matrix = vt.func.sparse_jacobian(product_that_is_overwritten, x, check=True)
    np.testing.assert_allclose(matrix.toarray(), np.diag([6.0, 12.0, 18.0]))
    dependent_gradients_lose_copies(monkeypatch)
    with pytest.raises(vt.errors.TransformError, match="misses an entry"):
        vt.func.sparse_jacobian(product_that_is_overwritten, x, check=True)
