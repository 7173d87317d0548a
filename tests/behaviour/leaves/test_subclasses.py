"""Tensors of a class of the user's."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import differs_from_torch, fn_name, grad_list, leaf, ramp, vt


class Own(vt.Tensor):
    """A class with an attribute, and an ``__init__`` that is not called."""

    unit = "m"

    def __init__(self, *arguments: Any) -> None:
        raise AssertionError

    def doubled(self) -> Own:
        return self * 2


def test_the_result_is_a_view_of_the_whole_tensor() -> None:
    x = ramp(2, 3)
    own = x.as_subclass(Own)
    assert type(own) is Own
    assert own._base is x
    assert own.data_ptr() == x.data_ptr()
    own[0] = 7
    assert x.tolist() == [[7, 7, 7], [4, 5, 6]]
    assert own._version == x._version == 1


def test_gradients_pass_and_are_plain_tensors() -> None:
    x = leaf(3)
    own = x.as_subclass(Own)
    assert fn_name(own) == "AliasBackward0"
    own.doubled().sum().backward()
    assert grad_list(x) == [2, 2, 2]
    weight = ramp(2).as_subclass(Own).requires_grad_()
    (weight * 3).sum().backward()
    assert weight.is_leaf
    assert grad_list(weight) == [3, 3]
    assert type(weight.grad) is vt.Tensor


def test_a_write_to_a_subclass_is_recorded_in_its_base() -> None:
    x = leaf(3).clone()
    own = x.as_subclass(Own)
    own *= 2
    assert type(own) is Own
    assert fn_name(x) == "CopySlices"
    x.sum().backward()
    assert x.tolist() == [2, 4, 6]


def test_operators_keep_the_class() -> None:
    own = ramp(2, 2).as_subclass(Own)
    results: list[Any] = [own + 1, 1 + own, own[0], own.sum(), own.t(), vt.cat([own, own])]
    results += [vt.sort(own).values, *own.unbind(), own.detach(), own.clone(), own.to(vt.float32)]
    assert {type(result) for result in results} == {Own}
    assert type(own.as_subclass(vt.Tensor)) is vt.Tensor


@differs_from_torch("there a subclass wins wherever it stands")
def test_the_first_tensor_decides_the_class() -> None:
    own = ramp(2).as_subclass(Own)
    assert type(own + ramp(2)) is Own
    assert type(ramp(2) + own) is vt.Tensor


def test_without_grad_the_view_is_not_recorded() -> None:
    x = leaf(2)
    with vt.no_grad():
        own = x.as_subclass(Own)
    assert own.grad_fn is None
    assert own._base is x


@pytest.mark.parametrize("wrong", [int, object, "Own", None, ramp(1)], ids=str)
def test_another_class_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError):
        ramp(2).as_subclass(wrong)
