"""Dtypes of samples that broadcast are promoted as without a batch, and what is refused is refused.

A value has one dimension more than its sample, and beside tensors with dimensions a tensor without
any counts by its category only. So a rule that forgets the samples gives other dtypes here.
"""

import random
from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from tests.ops.calls import OPERATORS, function_named
from tests.ops.records import RECORDS

DTYPES = (vt.bool, vt.uint8, vt.int32, vt.int64, vt.float16, vt.float32, vt.float64, vt.complex64)
SHAPES: list[tuple[int, ...]] = [(), (), (2,), (1,), (3, 2)]
# So many calls of each operator are compared.
CALLS = 40
# Arguments behind the tensors.
MORE: dict[str, tuple[dict[int, object], dict[str, object]]] = {
    "div_Tensor_mode": ({}, {"rounding_mode": "floor"}),
    "lerp_Scalar": ({2: 0.5}, {}),
    "masked_fill_Scalar": ({2: 0.5}, {}),
    "share_of_two": ({2: 0.5}, {}),
}
# Helpers of formulas, and a power of two in a smaller dtype than the result.
LEFT_OUT = {"threshold_backward", "ldexp", "checked_counts", "linalg_cofactors_along"}


def operands_of(name: str) -> list[str]:
    """The arguments of an operator that are tensors."""
    return [a.name for a in OPERATORS[name].arguments if "Tensor" in a.type]


NAMES = [
    name
    for name in OPERATORS
    if RECORDS[name].batch in ("elementwise", "fill", "lerp", "masked_fill")
    and len(operands_of(name)) > 1
    and name not in LEFT_OUT
]


def operand(dtype: vt.dtype, shape: tuple[int, ...], nr: int, rng: random.Random) -> vt.Tensor:
    count = int(np.prod(shape))
    numbers = [rng.choice([0, 1, 2, 3]) + 0.5 * nr for _ in range(count)]
    return vt.tensor(numbers, dtype=vt.float64).reshape(shape).to(dtype)


def outcome(call: Callable[[], object]) -> object:
    """What a call returns, or the built-in class of its error."""
    try:
        return call()
    except Exception as error:
        return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")


def check(name: str, apply: Callable[..., vt.Tensor], *, writes: bool, rng: random.Random) -> bool:
    """Compare one call; whether it was not refused."""
    names = operands_of(name)
    batched = [rng.random() < 0.7 for _ in names]
    if writes or not any(batched):
        batched[0] = True
    # Some operators take operands of one dtype only.
    dtypes = [rng.choice(DTYPES) for _ in names]
    if rng.random() < 0.2:
        dtypes = [vt.float64] * len(names)
    if "condition" in names or "mask" in names:
        place = names.index("condition" if "condition" in names else "mask")
        dtypes[place] = rng.choice([vt.bool, vt.bool, vt.uint8])
    shapes = [rng.choice(SHAPES) for _ in names]
    given = [
        operand(dtype, (3, *shape) if has else shape, nr, rng)
        for nr, (dtype, shape, has) in enumerate(zip(dtypes, shapes, batched, strict=True))
    ]
    told = f"{name} {dtypes} {shapes} {batched}"

    def one_by_one() -> vt.Tensor:
        copies = [x.clone() for x in given]
        return vt.stack(
            [
                apply(*[x[nr] if has else x for x, has in zip(copies, batched, strict=True)])
                for nr in range(3)
            ]
        )

    def together() -> object:
        dims = tuple(0 if has else None for has in batched)
        return vt.vmap(apply, in_dims=dims)(*[x.clone() for x in given])

    expected, found = outcome(one_by_one), outcome(together)
    if not isinstance(expected, vt.Tensor) or not isinstance(found, vt.Tensor):
        assert found is expected, told
        return False
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), told
    np.testing.assert_array_equal(found.numpy(), expected.numpy(), told)
    return True


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_promotion(name: str) -> None:
    rng = random.Random(name)
    positional, options = MORE.get(name, ({}, {}))
    compared = 0
    for function in (name, OPERATORS[name].inplace):
        if function is None:
            continue
        operator = function_named(function)

        def apply(*tensors: vt.Tensor, operator: Callable[..., object] = operator) -> vt.Tensor:
            arguments: list[object] = list(tensors)
            for place, value in positional.items():
                arguments.insert(place, value)
            result = operator(*arguments, **options)
            assert isinstance(result, vt.Tensor)
            return result

        writes = function != name or OPERATORS[name].returns == "Self"
        for _ in range(CALLS):
            compared += check(name, apply, writes=writes, rng=rng)
    assert compared > 0
