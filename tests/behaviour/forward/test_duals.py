"""Dual tensors: what they are views of, which memory their tangents have, who may write them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.support import differs_from_torch, refused, vt

fw: Any = vt.autograd.forward_ad


def tensor(*values: float) -> vt.Tensor:
    return vt.tensor(values, dtype=vt.float64)


def dual(*values: float) -> Any:
    """A dual whose tangent has the same numbers."""
    return fw.make_dual(tensor(*values), tensor(*values))


def tangent(x: vt.Tensor) -> Any:
    return fw.unpack_dual(x).tangent


def numbers(x: vt.Tensor) -> Any:
    found = tangent(x)
    return None if found is None else found.tolist()


# -- levels and pairs ---------------------------------------------------------------------------


def test_outside_of_a_level_a_tensor_is_unpacked_into_itself() -> None:
    x = tensor(1)
    assert fw.unpack_dual(x) == (x, None)
    with fw.dual_level():
        primal, found = fw.unpack_dual(x)
        assert primal is not x
        assert primal._base is x
        assert found is None


def test_levels_are_closed_in_their_order() -> None:
    with pytest.raises(RuntimeError):
        fw.exit_dual_level()
    level = fw.enter_dual_level()
    with pytest.raises(RuntimeError):
        fw.exit_dual_level(level=level + 1)
    with pytest.raises(RuntimeError):
        fw.unpack_dual(dual(1), level=level + 1)
    fw.exit_dual_level(level=level)


def test_the_number_of_the_open_level_can_be_read() -> None:
    assert fw._current_level == -1
    with fw.dual_level():
        assert fw._current_level == 0
    fw.enter_dual_level()
    # As the teardown of PyTorch's tests has it.
    while fw._current_level >= 0:
        fw.exit_dual_level()
    assert fw._current_level == -1
    with pytest.raises(AttributeError, match="_level_of_the_past"):
        fw._level_of_the_past  # noqa: B018


def test_a_dual_of_a_view_is_a_view_of_the_same_base() -> None:
    b = tensor(1, 2, 3)
    part = b[1:]
    with fw.dual_level():
        d = fw.make_dual(part, tensor(5, 6))
        assert d._base is b
        assert d[1:]._base is b
        assert numbers(d[1:]) == [6]
        assert numbers(part) is None


@pytest.mark.parametrize("primal", [vt.ones(2, dtype=vt.int64), vt.ones(2, dtype=vt.bool)])
def test_integers_have_no_tangent(primal: vt.Tensor) -> None:
    with fw.dual_level():
        for pair in ((primal, vt.ones(2)), (vt.ones(2), primal)):
            with pytest.raises(ValueError):  # noqa: PT011  (the texts are not the same)
                fw.make_dual(*pair)


def test_shapes_must_be_equal_without_broadcasting() -> None:
    with fw.dual_level():
        for t in (vt.ones(1), vt.ones(1, 2), vt.ones(())):
            with pytest.raises(RuntimeError):
                fw.make_dual(vt.ones(2), t)


# -- the memory of a tangent --------------------------------------------------------------------


def test_strides_of_single_elements_are_free() -> None:
    t = vt.ones(3, 1, dtype=vt.float64).t()
    with fw.dual_level():
        assert tangent(fw.make_dual(vt.ones(1, 3, dtype=vt.float64), t)) is t


@pytest.mark.parametrize(
    "given",
    [
        lambda: vt.tensor([1j, 2j], dtype=vt.complex128).conj(),
        lambda: vt.tensor([1j, 0, 2j, 0], dtype=vt.complex128)[::2].conj(),
        lambda: vt.tensor([0, -1j, -2j], dtype=vt.complex128)[1:],
        lambda: vt.tensor([-1j, 0, -2j], dtype=vt.complex128)[::2],
        lambda: vt.tensor([-1j, -2j, 0], dtype=vt.complex128)[:2],
    ],
)
def test_a_tangent_in_other_memory_is_copied(given: Any) -> None:
    t = given()
    with fw.dual_level():
        d = fw.make_dual(vt.ones(2, dtype=vt.complex128), t)
        assert tangent(d) is not t
        assert not tangent(d).is_conj()
        assert numbers(d) == [-1j, -2j]
        d.mul_(3)
        assert t.tolist() == [-1j, -2j]


def test_the_tangent_of_a_part_has_room_for_the_whole() -> None:
    b = vt.arange(6, dtype=vt.float64)
    with fw.dual_level():
        d = fw.make_dual(b[2:4], tensor(7, 8))
        assert tangent(d).storage_offset() == 2
        assert tangent(d).untyped_storage().nbytes() == b.untyped_storage().nbytes()
        assert numbers(d.as_strided((6,), (1,), 0)) == [0, 0, 7, 8, 0, 0]


# -- who is written with whom -------------------------------------------------------------------


def test_the_unpacked_value_gets_a_tangent_of_its_own() -> None:
    x = tensor(1, 2)
    with fw.dual_level():
        d = fw.make_dual(x, tensor(3, 4))
        primal = fw.unpack_dual(d).primal
        primal.mul_(dual(2, 2))
        assert d.tolist() == x.tolist() == [2, 4]
        assert numbers(primal) == [2, 4]
        assert numbers(d) == [3, 4]
        assert numbers(x) is None


@pytest.mark.parametrize(
    "pieces",
    [lambda b: b.split(1), lambda b: b.chunk(2), lambda b: b.unbind(), lambda b: list(b)],
)
def test_pieces_pass_a_tangent_to_the_base_and_to_each_other(pieces: Any) -> None:
    with fw.dual_level():
        b = vt.zeros(2, dtype=vt.float64)
        first, second = pieces(b)
        second.copy_(dual(5).reshape(second.shape))
        assert numbers(b) == [0, 5]
        assert tangent(first).item() == 0


def test_a_view_of_a_tangent_that_is_a_leaf_is_not_written() -> None:
    t = tensor(1, 2).requires_grad_()
    with fw.dual_level():
        d = fw.make_dual(tensor(3, 4), t)
        with refused(RuntimeError, "view-of-leaf-write"):
            d[1:].mul_(2)
        # In PyTorch the value is written by then.
        assert t.tolist() == [1, 2]
        with vt.no_grad():
            d[1:].mul_(2)
        assert t.tolist() == [1, 4]


def test_other_values_keep_the_tangent() -> None:
    with fw.dual_level():
        d = dual(1, 2)
        d.data = dual(7, 8)
        assert d.tolist() == [7, 8]
        assert numbers(d) == [1, 2]


def test_a_failed_write_leaves_value_and_tangent() -> None:
    with fw.dual_level():
        d = dual(1, 2)
        for wrong in (vt.ones(3), vt.ones(2, dtype=vt.complex128)):
            with pytest.raises(RuntimeError):
                d.mul_(wrong)
        with pytest.raises(RuntimeError):
            d.resize_(2)
        assert numbers(d) == [1, 2]
        assert tangent(d)._version == 0


def test_a_part_that_is_assigned_keeps_the_dtype_of_the_whole() -> None:
    with fw.dual_level():
        f = vt.zeros(3)
        f[1:] = dual(1, 2)
        assert numbers(f) == [0, 1, 2]
        assert tangent(f).dtype == vt.float32
        assert tangent(vt.ones(2) * dual(1, 2)).dtype == vt.float64


@differs_from_torch("a write across dtypes leaves the dtype of the source")
@pytest.mark.filterwarnings("ignore:a copy from complex128")
def test_a_write_across_dtypes_casts_the_tangent() -> None:
    with fw.dual_level():
        z = vt.tensor([1j, 2], dtype=vt.complex128)
        for source in (dual(1, 2), fw.make_dual(z, z)):
            f = vt.zeros(2)
            f.copy_(source)
            assert tangent(f).dtype == vt.float32
            assert numbers(f) == [x.real for x in numbers(source)]


# -- what shows a tangent -----------------------------------------------------------------------


def test_texts() -> None:
    with fw.dual_level():
        one = fw.make_dual(vt.ones(2), vt.tensor([1.0, 2.0]))
        assert repr(one) == "tensor([1., 1.], tangent=tensor([1., 2.]))"
        number = fw.make_dual(vt.tensor(1.5), vt.tensor(2.5))
        assert repr(number) == "tensor(1.5000, tangent=2.5)"
        assert f"{number}" == "1.5"
        assert f"{number:.2f}" == "1.50"


def test_copies_that_keep_a_tangent_and_copies_that_drop_it() -> None:
    with fw.dual_level():
        d = dual(1, 2)
        for kept in (d.clone(), vt.as_tensor(d), d.to(vt.float64, copy=True), d.float()):
            assert numbers(kept) == [1, 2]
        for dropped in (copy.copy(d), copy.deepcopy(d), d.detach(), d.data, d.view(vt.int64)):
            assert numbers(dropped) is None


def test_zeros_stay_tangents() -> None:
    with fw.dual_level():
        d = fw.make_dual(tensor(1, 2), tensor(0, 0))
        for y in (d + 1, d.exp(), d[1:], d.cumsum(0), d.floor(), d.clone().zero_(), d.sum()):
            assert set(tangent(y).reshape(-1).tolist()) == {0}
        # No element changes the number of those that are not zero.
        e = dual(1, 2)
        for number in (e.norm(0), vt.dist(e, tensor(1, 1), 0), vt.dist(tensor(1, 1), e, 0)):
            assert numbers(number) == 0


def test_a_graph_saves_tangents() -> None:
    seen: list[object] = []

    def pack(x: vt.Tensor) -> vt.Tensor:
        seen.append(numbers(x))
        return x

    def pack_twice(x: vt.Tensor) -> vt.Tensor:
        seen.append(numbers(x * 2))
        return x

    def unpack(x: vt.Tensor) -> vt.Tensor:
        seen.append((numbers(x), vt.is_grad_enabled()))
        return x

    x = tensor(1, 2).requires_grad_()
    with fw.dual_level():
        d = fw.make_dual(x, tensor(3, 4)).clone()
        assert numbers((d * d).grad_fn._saved_self) == [3, 4]
        with vt.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = d * d
        (g,) = vt.autograd.grad(y.sum(), x)
        assert numbers(g) == [6, 8]
        assert seen[:2] == [[3, 4], [3, 4]]
        assert seen[-2:] == [([3, 4], False)] * 2
        seen.clear()
        with vt.autograd.graph.saved_tensors_hooks(pack_twice, unpack):
            d.sin()
        assert seen[0] == [6, 8]
