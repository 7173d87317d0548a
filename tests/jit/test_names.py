"""Names of buffers come from the user's variables."""

import sys
from collections.abc import Callable
from types import FrameType

import numpy as np

import vtgrad as vt
from vtgrad.jit.names import identifier, remember_names
from vtgrad.storage.arrays import Array


def address_of(tensor: vt.Tensor) -> int:
    address: int = tensor.numpy().__array_interface__["data"][0]
    return address


def buffers(*tensors: vt.Tensor) -> Callable[[int, int], int | None]:
    """A map from memory to numbers, in the order of some tensors."""
    known = {(address_of(x.detach()), x.nbytes): number for number, x in enumerate(tensors)}
    return lambda address, nbytes: known.get((address, nbytes))


def here() -> FrameType:
    return sys._getframe(1)


def test_variables_that_hold_whole_buffers_give_their_names() -> None:
    level, other = vt.zeros(3, 4), vt.ones(5)
    part = level[0]
    turned = other.view(5)
    names: dict[int, str] = {}
    remember_names(here(), buffers(level, other), names)
    assert names == {0: "level", 1: "other"}
    del part, turned


def test_a_buffer_keeps_its_first_name() -> None:
    first = vt.zeros(3)
    names = {0: "before"}
    remember_names(here(), buffers(first), names)
    assert names == {0: "before"}


def test_gradients_and_parts_of_lists() -> None:
    weight = vt.ones(3, requires_grad=True)
    (weight * 2).sum().backward()
    assert weight.grad is not None
    pair = [vt.zeros(1), vt.zeros(2)]
    table = {"bias": vt.zeros(4), (1, 2): vt.zeros(5)}
    plain = np.zeros(6)
    names: dict[int, str] = {}
    found = buffers(weight, weight.grad, *pair, *table.values(), vt.from_numpy(plain))
    remember_names(here(), found, names)
    expected = {0: "weight", 1: "grad_weight", 2: "pair_0", 3: "pair_1", 4: "table_bias"}
    assert names == {**expected, 6: "plain"}


def test_a_look_makes_no_metadata() -> None:
    x = vt.zeros(3)
    before = x._impl.autograd_meta
    remember_names(here(), buffers(x), {})
    assert x._impl.autograd_meta is before is None


def test_arrays_with_gaps_are_not_asked_about() -> None:
    wide: Array = np.zeros((4, 4))
    gaps, turned = vt.from_numpy(wide)[:, 0], vt.from_numpy(wide).T
    asked: list[int] = []
    remember_names(here(), lambda address, nbytes: asked.append(nbytes), {})
    assert asked == [128, 128]
    del gaps, turned


def test_identifiers() -> None:
    taken = {"x", "x2"}
    assert identifier("x", taken) == "x3"
    assert identifier("class", ()) == "class_"
    assert identifier("match", ()) == "match_"
    assert identifier("sum", ()) == "sum_"
    assert identifier("3d", ()) == "x3d"
    assert identifier("größe", ()) == "gr_e"
    assert identifier("\n", ()) == "x"
    assert identifier("w1", {"w1"}) == "w1_2"
    assert identifier("a" * 100, ()) == "a" * 40
