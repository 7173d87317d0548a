"""Every in-place variant of the tables, with a dual target, dual operands, or both.

The tangent of what is written is that of the out-of-place operator, wherever the target is: a
tensor of its own, a view of a base that has a tangent already or gets it by this write, transposed
memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
import pytest

import vtgrad as vt
from tests.forward.test_formulas import can_be_written, drawn
from tests.ops.calls import Case, cases, function_named, positions_of_inputs
from tests.ops.records import RECORDS, tangent_of
from tests.sweeping import by_table, sweep
from vtgrad.autograd import forward_ad as fw
from vtgrad.errors import NotSupportedError
from vtgrad.storage.arrays import Array

Target = Callable[[vt.Tensor, bool], vt.Tensor]


def whole(x: vt.Tensor, dual: bool) -> vt.Tensor:
    return x.clone()


def part(x: vt.Tensor, dual: bool) -> vt.Tensor:
    """A view of a base that gets its tangent with the values, or by the write."""
    base = vt.zeros(3, *x.shape, dtype=x.dtype)
    if dual:
        base[1] = x
        return base[1]
    base[1] = x.detach()
    return base[1]


def old_part(x: vt.Tensor, dual: bool) -> vt.Tensor:
    """A view that was taken before the base had a tangent, though another part has one."""
    base = vt.zeros(3, *x.shape, dtype=x.dtype)
    old = base[1]
    base[0] = fw.make_dual(vt.ones_like(x), vt.ones_like(x))
    old.copy_(x if dual else x.detach())
    return old


def turned(x: vt.Tensor, dual: bool) -> vt.Tensor:
    """Columns of a larger matrix, in reverse order of dimensions."""
    order = tuple(reversed(range(x.ndim)))
    base = vt.zeros(*[x.shape[d] for d in order], 2, dtype=x.dtype)
    view = base[..., 1].permute(order)
    view.copy_(x)
    return view


TARGETS: Final[dict[str, Target]] = {
    "whole": whole,
    "part": part,
    "old part": old_part,
    "turned": turned,
}


def called(
    case: Case, name: str, inputs: Sequence[vt.Tensor], target: vt.Tensor | None = None
) -> vt.Tensor:
    """Call the operator, or its in-place variant, with other tensors for its floating inputs."""
    values: list[object] = [_tensors(value) for value in case.sample.arguments]
    options = {key: _tensors(value) for key, value in case.sample.options.items()}
    for (position, nr), x in zip(positions_of_inputs(case), inputs, strict=True):
        if isinstance(position, str):
            options[position] = x
        elif nr is None:
            values[position] = x
        else:
            listed = values[position]
            assert isinstance(listed, list)
            listed[nr] = x
    if target is not None:
        values[0] = target
    vt.manual_seed(3)
    result = function_named(name)(*values, **options)
    assert isinstance(result, vt.Tensor)
    return result


def _tensors(value: object) -> object:
    if isinstance(value, np.ndarray):
        return vt.tensor(value)
    if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
        return [vt.tensor(x) for x in value]
    return value


def arrays_of(case: Case) -> list[Array]:
    found = []
    for position, nr in positions_of_inputs(case):
        value = (
            case.sample.options[position]
            if isinstance(position, str)
            else case.sample.arguments[position]
        )
        found.append(np.asarray(value if nr is None else value[nr]))  # type: ignore[index]  # a list
    return found


def subsets(count: int) -> Iterator[tuple[int, ...]]:
    """All choices of one or more inputs; of many inputs only single ones and all of them."""
    if count > 3:
        yield from ((nr,) for nr in range(count))
        yield tuple(range(count))
        return
    for size in range(1, count + 1):
        yield from itertools.combinations(range(count), size)


def written(case: Case) -> bool:
    name = case.operator.inplace
    return (
        name is not None and tangent_of(name).kind in {"formula", "zero"} and can_be_written(case)
    )


CASES: Final = [case for case in cases() if written(case)]


@pytest.mark.slow
@sweep(CASES, row=by_table)
def test_a_write_has_the_tangent_of_the_operator(case: Case) -> None:
    inplace = case.operator.inplace
    assert inplace is not None
    arrays = arrays_of(case)
    rng = np.random.default_rng(4)
    tangents = [drawn(rng, x) for x in arrays]
    # Not if the operator has no derivative by its first argument.
    first = positions_of_inputs(case)[0] == (0, None)
    for dual in subsets(len(arrays)):
        for place, make in TARGETS.items():
            with fw.dual_level():
                inputs = [
                    fw.make_dual(vt.tensor(x), vt.tensor(t)) if nr in dual else vt.tensor(x)
                    for nr, (x, t) in enumerate(zip(arrays, tangents, strict=True))
                ]
                expected = called(case, case.operator.name, inputs)
                wanted = fw.unpack_dual(expected).tangent
                plain = vt.tensor(np.asarray(case.sample.arguments[0]))
                target = make(inputs[0] if first else plain, first and 0 in dual)
                before = fw.unpack_dual(target).tangent
                result = called(case, inplace, inputs, target)
                assert result is target
                found = fw.unpack_dual(target).tangent
                told = f"{place}, with tangents for {dual}"
                if wanted is None:
                    # An operator that ignores the operand: what was there stays.
                    assert found is None or not vt.count_nonzero(found), told
                    continue
                assert found is not None, told
                assert (found.dtype, found.shape) == (target.dtype, target.shape), told
                assert before is None or found is before, told
                np.testing.assert_allclose(
                    found.numpy(force=True),
                    np.asarray(wanted.numpy(force=True), found.dtype.numpy),
                    rtol=1e-9,
                    atol=1e-12,
                    err_msg=told,
                )
                base = target._base
                if base is not None:
                    whole_tangent = fw.unpack_dual(base).tangent
                    assert whole_tangent is not None, told


def test_every_inplace_variant_is_tried() -> None:
    tried = {case.operator.inplace for case in CASES}
    rules = {
        name
        for name, one in RECORDS.items()
        if one.writes and one.tangent is not None and one.tangent.kind in {"formula", "zero"}
    }
    listed = {case.operator.inplace for case in cases() if case.operator.inplace}
    # Their samples have integers for the order.
    assert (rules & listed) - tried == {"igamma_", "igammac_"}


def test_igamma_has_a_tangent_by_its_second_argument() -> None:
    order, x = vt.tensor([1.0, 2.0], dtype=vt.float64), vt.tensor([0.4, 1.7], dtype=vt.float64)
    for name in ("igamma", "igammac"):
        with fw.dual_level():
            dual = fw.make_dual(x, vt.ones_like(x))
            wanted = fw.unpack_dual(function_named(name)(order, dual)).tangent  # type: ignore[arg-type]  # a tensor
            target = order.clone()
            function_named(f"{name}_")(target, dual)
            found = fw.unpack_dual(target).tangent
            assert wanted is not None
            assert found is not None
            assert found.tolist() == wanted.tolist()


def test_a_refused_variant_writes_nothing() -> None:
    refused = {case.operator.name: case for case in cases() if _is_refused(case)}
    assert refused.keys() == {"floor_divide", "heaviside"}
    for case in refused.values():
        assert case.operator.inplace is not None
        with fw.dual_level():
            x = vt.tensor(np.asarray(case.sample.arguments[0]))
            target = fw.make_dual(x, vt.ones_like(x))
            with pytest.raises(NotSupportedError, match="no forward formula"):
                called(case, case.operator.inplace, [], target)
            assert target.tolist() == np.asarray(case.sample.arguments[0]).tolist()


def _is_refused(case: Case) -> bool:
    name, x = case.operator.inplace, case.sample.arguments[0]
    return (
        name is not None
        and tangent_of(name).kind == "refused"
        and isinstance(x, np.ndarray)
        and x.dtype.kind == "f"
    )
