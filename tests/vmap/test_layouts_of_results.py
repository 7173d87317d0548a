"""A sample of a result lies in memory as the result of one sample would.

What breaks it: results whose samples are interleaved as those of the arguments are, of which
`reshape` makes a copy where it would make a view for one sample; and a copy that is a view.
"""

import warnings
from collections.abc import Sequence
from typing import Final

import numpy as np
import pytest

import vtgrad as vt
from tests.ops.calls import Case
from tests.sweeping import by_table, sweep
from tests.vmap.batches import batch_of, call_with
from tests.vmap.test_every_operator import CASES, choices, refused

# Called by formulas only, with samples by themselves, or with strides that are given.
OTHERWISE: Final = {
    "repeated_index",
    "unsafe_view",
    "as_strided_part",
    "as_strided_copy",
    "linalg_cofactors_along",
}


def geometry(x: vt.Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes and strides; a stride along a single element says nothing."""
    steps = tuple(
        [s if n > 1 and x.numel() else 0 for n, s in zip(x.shape, x.stride(), strict=True)]
    )
    return tuple(x.shape), steps


@sweep(
    [c for c in CASES if not refused(c) and c.operator.name.strip("_") not in OTHERWISE],
    row=by_table,
)
def test_operator(case: Case) -> None:
    writes = case.operator.returns in {"Self", "Geometry"}
    name = case.operator.name
    for chosen in choices(case, writes):
        batches = [vt.tensor(batch_of(case, place)) for place in chosen]
        if refused(case, chosen) or any(batch.ndim < 2 for batch in batches):
            continue
        for dim in (1, -1):
            moved = [vt.movedim(batch, 0, dim).contiguous() for batch in batches]
            try:
                expected = call_with(case, name, chosen, [x.select(dim, 0) for x in moved])
            except (RuntimeError, IndexError, ValueError, TypeError):
                continue  # which is compared elsewhere
            found: list[vt.Tensor] = []

            def apply(
                *tensors: vt.Tensor,
                chosen: Sequence[object] = chosen,
                found: list[vt.Tensor] = found,
            ) -> tuple[vt.Tensor, ...]:
                found.extend(call_with(case, name, chosen, tensors))  # type: ignore[arg-type]  # places
                return tuple(found)

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                vt.vmap(apply, in_dims=dim)(*moved)
            for one, other in zip(found, expected, strict=True):
                assert geometry(one) == geometry(other), (chosen, dim)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_a_reshaped_clone_is_a_view_of_it(dim: int) -> None:
    x = vt.arange(24.0).reshape(2, 3, 4)

    def f(sample: vt.Tensor) -> vt.Tensor:
        fresh = sample.clone()
        fresh.reshape(-1).mul_(2.0)
        assert fresh.contiguous() is fresh
        return fresh.view(-1)

    expected = [f(x.select(dim, nr)).tolist() for nr in range(x.shape[dim])]
    assert vt.vmap(f, in_dims=dim)(x).tolist() == expected


@pytest.mark.parametrize("name", [n for n in dir(vt) if n.endswith("_copy") and n != "index_copy"])
def test_copies_share_no_memory(name: str) -> None:
    arguments: dict[str, tuple[object, ...]] = {
        "as_strided_copy": ((2,), (1,)),
        "expand_copy": ((2, 2, 3),),
        "narrow_copy": (1, 0, 2),
        "permute_copy": ((1, 0),),
        "select_copy": (0, 1),
        "split_copy": (1,),
        "split_with_sizes_copy": ([1, 1],),
        "transpose_copy": (0, 1),
        "unfold_copy": (1, 2, 1),
        "unsqueeze_copy": (1,),
        "view_copy": ((3, 2),),
    }
    x = vt.ones(4, 2, 3)

    def f(sample: vt.Tensor) -> vt.Tensor:
        found = getattr(vt, name)(sample, *arguments.get(name, ()))
        for part in found if isinstance(found, tuple) else (found,):
            part.zero_()
        return sample

    vt.vmap(f)(x)
    assert np.all(x.numpy() == 1), name
