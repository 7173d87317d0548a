"""Which results have a tangent, a zero one, or none."""

from collections.abc import Callable

import pytest

import vtgrad as vt
from tests.forward.support import dual, has_none, tangent, tensor
from vtgrad.autograd import forward_ad as fw

Operator = Callable[[vt.Tensor], vt.Tensor]

NONE: dict[str, Operator] = {
    "gt": lambda d: d > 1,
    "eq": lambda d: d == d,
    "isnan": lambda d: d.isnan(),
    "argmax": lambda d: d.argmax(),
    "argsort": lambda d: d.argsort(),
    "sort": lambda d: d.sort()[1],
    "long": lambda d: d.long(),
    "bool": lambda d: d.bool(),
    "zeros_like": vt.zeros_like,
    "ones_like": vt.ones_like,
    "empty_like": vt.empty_like,
    "new_zeros": lambda d: d.new_zeros(2),
    "count_nonzero": lambda d: d.count_nonzero(),
    "any": lambda d: d.any(),
}
ZERO: dict[str, Operator] = {
    "round": vt.round,
    "floor": vt.floor,
    "ceil": vt.ceil,
    "trunc": vt.trunc,
    "sign": vt.sign,
    "bernoulli": lambda d: vt.bernoulli(d / 10),
    "normal": lambda d: vt.normal(d, 1.0),
    "nextafter": lambda d: vt.nextafter(d, d),
    "div": lambda d: vt.div(d, 2, rounding_mode="floor"),
}


@pytest.mark.parametrize("name", NONE)
def test_results_without_a_tangent(name: str) -> None:
    with fw.dual_level():
        assert has_none(NONE[name](dual(1, 2)))


@pytest.mark.parametrize("name", ZERO)
def test_results_with_the_tangent_zero(name: str) -> None:
    with fw.dual_level():
        assert tangent(ZERO[name](dual(1, 2))).tolist() == [0, 0]


def test_joining_fills_zeros_for_plain_members() -> None:
    with fw.dual_level():
        d, c = dual(1, 2), tensor(5, 6)
        assert tangent(vt.cat([c, d])).tolist() == [0, 0, 1, 2]
        assert tangent(vt.stack([d, c])).tolist() == [[1, 2], [0, 0]]


def test_where_reads_its_branches_only() -> None:
    with fw.dual_level():
        d, c = dual(1, 2), tensor(5, 6)
        mask = vt.tensor([True, False])
        assert tangent(vt.where(mask, d, c)).tolist() == [1, 0]
        assert tangent(vt.where(mask, c, d)).tolist() == [0, 2]
        assert has_none(vt.where(d > 1, c, c))


def test_each_of_several_results_has_its_own() -> None:
    with fw.dual_level():
        d, c = dual(1, 2), tensor(5, 6)
        first, second = vt.broadcast_tensors(d, c)
        assert tangent(first).tolist() == [1, 2]
        assert has_none(second)
        rows, columns = vt.meshgrid(d, c, indexing="ij")
        assert tangent(rows).tolist() == [[1, 1], [2, 2]]
        assert has_none(columns)
        low, high = vt.aminmax(d)
        assert (tangent(low).item(), tangent(high).item()) == (1, 2)


def test_an_expanded_base_is_read_through_one_row() -> None:
    with fw.dual_level():
        wide = tensor(1, 2).expand(3, 2)
        tensor_of_rows = wide[1]
        base = wide._base
        assert base is not None
        base.copy_(dual(5, 6))
        assert tangent(tensor_of_rows).tolist() == [5, 6]
        assert tangent(wide).tolist() == [[5, 6]] * 3


@pytest.mark.parametrize(
    "call",
    [
        lambda d, out: vt.add(d, 1, out=out),
        lambda d, out: vt.add(tensor(1, 2), 1, out=d),
    ],
)
def test_out_is_refused_with_a_dual_among_inputs_or_as_the_target(call: Operator) -> None:
    with fw.dual_level(), vt.no_grad(), pytest.raises(NotImplementedError, match="out="):
        call(dual(1, 2), tensor(0, 0))  # type: ignore[call-arg]  # a function of two


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("heaviside", lambda d: vt.heaviside(d, d)),
        ("floor_divide", lambda d: d // 2),
        ("set_", lambda d: d.set_(tensor(1, 2))),
        ("resize_", lambda d: d.resize_(1)),
    ],
)
def test_an_operator_without_a_formula_says_its_name(name: str, call: Operator) -> None:
    with fw.dual_level():
        with pytest.raises(NotImplementedError, match=name):
            call(dual(1, 2))
        call(dual(1, 2).detach())
        with fw.set_fwd_grad_enabled(False):
            vt.heaviside(dual(1, 2), tensor(1, 1))


def test_products_by_scatter_reduce_have_a_tangent() -> None:
    with fw.dual_level():
        index = vt.tensor([0, 0])
        y = vt.scatter_reduce(tensor(2, 1), 0, index, dual(3, 5), "prod")
        assert y.tolist() == [30, 1]
        assert tangent(y).tolist() == [60, 0]
