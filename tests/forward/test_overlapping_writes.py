"""Writes to a tensor that overlaps itself: forward mode accepts what plain programs may write.

The tangent is compared with differences of the values, since it is the memory that counts: an
element that two indices name has one value, and one tangent.

What breaks it: a tangent of the view's shape, which is copied to the memory afterwards; a refusal
of that copy after the value was written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

import vtgrad as vt
from tests.forward.support import dual, has_none, tangent, tensor
from tests.ops.calls import Case, arguments_of, cases, function_named
from tests.ops.records import tangent_of
from tests.ops.samples import DRAWN
from tests.sweeping import by_table, sweep
from vtgrad.autograd import forward_ad as fw
from vtgrad.errors import SelfOverlapError, VtgradError
from vtgrad.func import jacfwd, jvp, vmap
from vtgrad.storage.arrays import Array


def writes_overlapping(case: Case) -> bool:
    """Whether the sample has an operator that writes to what can be a view of fewer elements."""
    operator, values = case.operator, case.sample.arguments
    first = values[0] if values else None
    return (
        (operator.inplace is not None or operator.returns == "Self")
        and operator.name not in DRAWN
        and tangent_of(operator.inplace or operator.name).kind != "refused"
        and isinstance(first, np.ndarray)
        and first.dtype == np.float64
        and first.ndim > 0
        and first.shape[0] > 1
    )


@sweep([case for case in cases(lambda _: True) if writes_overlapping(case)], row=by_table)
def test_every_write_that_is_made_without_tangents_is_made_with_them(case: Case) -> None:
    name = case.operator.inplace or case.operator.name
    first = case.sample.arguments[0]
    assert isinstance(first, np.ndarray)
    row, sizes = first[:1], first.shape
    operands = {
        argument.name: value
        for argument, value in zip(
            case.operator.arguments[1:], case.sample.arguments[1:], strict=False
        )
        if isinstance(value, np.ndarray) and value.dtype == np.float64
    }

    def write(base: vt.Tensor, others: Mapping[str, object]) -> vt.Tensor:
        given = {case.operator.arguments[0].name: base.expand(sizes), **others}
        values, options = arguments_of(case, given)
        function_named(name)(*values, **options)
        return base

    def at(step: float) -> Array:
        """The values along the direction that all tangents have: the values themselves."""
        moved = {key: vt.tensor(value * (1 + step)) for key, value in operands.items()}
        return write(vt.tensor(row * (1 + step)), moved).numpy()

    refused: type[VtgradError] | None = None
    try:
        at(0.0)
    except VtgradError as error:
        refused = type(error)
    with fw.dual_level():
        base = fw.make_dual(vt.tensor(row), vt.tensor(row))
        others = {
            key: fw.make_dual(vt.tensor(x), vt.tensor(x.copy())) for key, x in operands.items()
        }
        if refused is not None:
            with pytest.raises(refused):
                write(base, others)
            np.testing.assert_array_equal(base.numpy(force=True), row)
            np.testing.assert_array_equal(tangent(base).numpy(), row)
            return
        assert case.operator.overlap != "refused"
        found = tangent(write(base, others))
    # The writers that are accepted are linear in the target and in the value.
    np.testing.assert_allclose(found.numpy(), (at(0.5) - at(-0.5)), rtol=1e-12, atol=1e-12)


MASK = vt.tensor([True, False, True])
PLACES = vt.tensor([0, 2])

WRITES: dict[str, Callable[[vt.Tensor, vt.Tensor], object]] = {
    "masked fill": lambda x, v: x.masked_fill_(MASK, v),
    "masked fill by a number": lambda x, v: x.masked_fill_(MASK, 9.0),
    "mask of the values": lambda x, v: x.masked_fill_(x.detach() > 0, v),
    "index fill": lambda x, v: x.index_fill_(1, PLACES, v),
    "index fill by a number": lambda x, v: x.index_fill_(1, PLACES, 9.0),
    "assigned at a list": lambda x, v: x.__setitem__((slice(None), [0, 2]), v),
    "assigned at a mask": lambda x, v: x.__setitem__(x.detach() > 0, v),
    "accumulated": lambda x, v: x.index_put_((PLACES[:1], PLACES[1:]), v, accumulate=True),
    "windows": lambda x, v: (
        x[0].as_strided((2, 2), (1, 1)).masked_fill_(vt.tensor([True, False]), v)
    ),
}


@pytest.mark.filterwarnings("ignore::vtgrad.ops.rules.batches.by_family.loop.VmapLoopWarning")
@pytest.mark.parametrize("has_tangent", [True, False], ids=["of both", "of the value alone"])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_transforms_of_writes_to_an_expanded_tensor(
    write: Callable[[vt.Tensor, vt.Tensor], object], has_tangent: bool
) -> None:
    def apply(x: vt.Tensor, written: vt.Tensor | None = None) -> vt.Tensor:
        if not has_tangent:
            y = (x if written is None else written).detach() * 2
        else:
            y = x * 2
        write(y.expand(2, 3), x[1])
        return y

    x, unit = tensor(0.5, -1.5, 2.5), vt.eye(3, dtype=vt.float64)
    columns = [(apply(x + u / 8, x) - apply(x - u / 8, x)) * 4 for u in unit]
    expected = vt.stack(columns, 1)
    for nr, u in enumerate(unit):
        np.testing.assert_allclose(jvp(apply, (x,), (u,))[1].numpy(), expected[:, nr].numpy())
    np.testing.assert_allclose(jacfwd(apply)(x).numpy(), expected.numpy())
    batch = vt.stack([x, x + 0.25])
    of_samples = [jvp(apply, (one,), (2 * one,)) for one in batch]
    for found in (
        jvp(vmap(apply), (batch,), (2 * batch,)),
        vmap(lambda one: jvp(apply, (one,), (2 * one,)))(batch),
    ):
        for part, parts in zip(found, zip(*of_samples, strict=True), strict=True):
            np.testing.assert_allclose(part.numpy(), vt.stack(parts).numpy())


def test_the_value_alone_gives_the_base_a_tangent() -> None:
    with fw.dual_level():
        base = tensor(1, 2, 3)
        base.expand(2, 3).masked_fill_(MASK, dual(7)[0])
        assert base.tolist() == [7, 2, 7]
        assert tangent(base).tolist() == [7, 0, 7]
        base = tensor(1, 2, 3)
        base.expand(2, 3).masked_fill_(MASK, 7.0)
        assert has_none(base)


def test_a_location_that_is_filled_through_one_of_its_indices_is_filled() -> None:
    with fw.dual_level():
        base = dual(1, 2, 3)
        base.expand(2, 3).masked_fill_(vt.tensor([[True, False, False], [False, False, True]]), 9.0)
        assert base.tolist() == [9, 2, 9]
        assert tangent(base).tolist() == [0, 2, 0]


@pytest.mark.parametrize("of", ["target", "value"])
def test_tangents_that_are_recorded_refuse_before_the_value_is_written(of: str) -> None:
    seed = tensor(1, 2, 3).requires_grad_()
    with fw.dual_level():
        base, value = tensor(1, 2, 3), tensor(7)[0]
        if of == "target":
            base = fw.make_dual(base, seed * 1)
        else:
            value = fw.make_dual(value, seed[0])
        with pytest.raises(SelfOverlapError):
            base.expand(2, 3).masked_fill_(MASK, value)
        assert fw.unpack_dual(base).primal.tolist() == [1, 2, 3]
        assert has_none(base) is (of == "value")
        with vt.no_grad():
            base.expand(2, 3).masked_fill_(MASK, value)
        assert tangent(base).tolist() == ([0, 2, 0] if of == "target" else [1, 0, 1])
