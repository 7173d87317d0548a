"""Type names of older programs, `Tensor.new`, names of tensors, grad modes as classes."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable

import pytest

from tests.support import collector_off, differs_from_torch, leaf, ramp, refused, vt

TYPES = {
    "BoolTensor": vt.bool,
    "ByteTensor": vt.uint8,
    "CharTensor": vt.int8,
    "ShortTensor": vt.int16,
    "IntTensor": vt.int32,
    "LongTensor": vt.int64,
    "HalfTensor": vt.float16,
    "FloatTensor": vt.float32,
    "DoubleTensor": vt.float64,
}


@pytest.mark.parametrize("name", TYPES)
def test_a_type_name_makes_and_recognises_tensors_of_its_dtype(name: str) -> None:
    kind = getattr(vt, name)
    x = kind([0, 1])
    assert type(x) is vt.Tensor
    assert x.dtype is TYPES[name] is kind.dtype
    assert [other for other in TYPES if isinstance(x, getattr(vt, other))] == [name]
    assert kind(2, 3).shape == (2, 3)
    assert kind(vt.Size([2])).shape == (2,)
    assert kind().numel() == 0
    assert vt.zeros(2).type(kind).dtype is TYPES[name]
    assert x.type().split(".")[-1] == name


def test_the_class_makes_tensors_of_the_default_dtype() -> None:
    x = vt.Tensor([1, 2])
    assert (type(x), x.dtype, x.tolist()) == (vt.Tensor, vt.float32, [1.0, 2.0])
    assert vt.Tensor(2, 3).shape == vt.Tensor(vt.Size([2, 3])).shape == (2, 3)
    assert vt.Tensor(size=(4,)).shape == (4,)
    assert vt.Tensor().numel() == 0
    assert vt.Tensor((2, 3)).tolist() == [2.0, 3.0]
    vt.set_default_dtype(vt.float64)
    try:
        assert vt.Tensor([1.0]).dtype is vt.float64
    finally:
        vt.set_default_dtype(vt.float32)
    for wrong in (2.5, True, None):
        with pytest.raises(TypeError):
            vt.Tensor(wrong)  # type: ignore[arg-type]  # what is refused
    with pytest.raises(TypeError):
        vt.Tensor([1], [2])


def test_the_class_gives_a_recorded_view_of_a_tensor_of_any_dtype() -> None:
    for x in (leaf(2), leaf(2).detach().double().requires_grad_(), vt.arange(2)):
        y = vt.Tensor(x)
        assert y is not x
        assert (y.dtype, y.data_ptr()) == (x.dtype, x.data_ptr())
        assert y.requires_grad == x.requires_grad
    x = leaf(2)
    (vt.Tensor(x) * 3).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3.0, 3.0]


def test_a_subclass_makes_tensors_of_its_own() -> None:
    class Tagged(vt.Tensor):
        pass

    x = Tagged([1.0, 2.0])
    assert type(x) is Tagged
    assert type(x * 2) is Tagged
    assert type(Tagged(vt.ones(2))) is Tagged


@differs_from_torch("there `__new__` makes the tensor")
def test_a_subclass_with_its_own_arguments_calls_the_init_of_tensor() -> None:
    class Tagged(vt.Tensor):
        def __init__(self, data: list[float], tag: str) -> None:
            super().__init__(data)
            self.tag = tag

    x = Tagged([1.0, 2.0], "weight")
    assert (x.tag, x.tolist()) == ("weight", [1.0, 2.0])
    with refused(TypeError, "argument-type"):
        x.__init__([3.0], "again")  # type: ignore[misc]  # what is refused
    assert x.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("other", [vt.zeros(2), 1, [], vt.finfo(vt.float32)])
def test_what_only_has_a_dtype_is_no_type(other: object) -> None:
    with pytest.raises(TypeError):
        vt.zeros(2).type(other)  # type: ignore[call-overload,unused-ignore]


def test_a_type_name_of_a_tensor_gives_a_recorded_view() -> None:
    x = leaf(2)
    y = vt.DoubleTensor(x)
    assert y.data_ptr() == x.data_ptr()
    assert y.requires_grad
    y.sum().backward()
    assert x.grad is not None
    assert not isinstance(3, vt.LongTensor)


def test_a_type_name_takes_memory() -> None:
    x = vt.arange(3)
    y = vt.LongTensor(x.untyped_storage())
    y[0] = 7
    assert x.tolist() == [7, 1, 2]


def test_new_makes_a_tensor_of_the_same_dtype() -> None:
    x = vt.zeros(2, dtype=vt.int64)
    assert x.new([1.5, 2.5]).tolist() == [1, 2]
    assert x.new(2, 3).shape == (2, 3)
    assert x.new().shape == (0,)
    assert x.new(vt.Size([4])).dtype == vt.int64
    assert x.new(x).data_ptr() == x.data_ptr()


def test_what_type_names_refuse() -> None:
    for bad in (2.5, True):
        with pytest.raises(TypeError):
            vt.LongTensor(bad)  # type: ignore[arg-type]  # what is refused
        with pytest.raises(TypeError):
            vt.zeros(2).new(bad)  # type: ignore[arg-type]  # the same
    with pytest.raises(RuntimeError):
        vt.LongTensor(-1)
    with pytest.raises(TypeError):
        vt.LongTensor([1], [2])


@differs_from_torch("it is a TypeError there")
def test_a_tensor_of_another_dtype_is_not_cast_silently() -> None:
    with refused(RuntimeError, "dtype"):
        vt.LongTensor(ramp(2))
    with refused(RuntimeError, "dtype"):
        ramp(2).new(vt.arange(2))


def through_pickle(x: vt.Tensor) -> vt.Tensor:
    """Give what comes back from a pickle."""
    found = pickle.loads(pickle.dumps(x))
    assert isinstance(found, vt.Tensor)
    return found


@differs_from_torch("names cannot be set there")
def test_a_name_belongs_to_the_tensor_object() -> None:
    w = ramp(2)
    assert w.name is None
    w.name = "weight"
    w.mul_(2)
    w[0] = 1
    assert w.name == "weight"
    assert [x.name for x in (w * 2, w[0], w.detach(), w.clone())] == [None] * 4
    w.name = None
    assert w.name is None
    with refused(TypeError, "argument-type"):
        w.name = 3  # type: ignore[assignment]  # what is refused


@differs_from_torch("names cannot be set there")
@pytest.mark.parametrize("through", [copy.copy, copy.deepcopy, through_pickle])
def test_a_name_goes_along_with_copies(through: Callable[[vt.Tensor], vt.Tensor]) -> None:
    w = ramp(2)
    w.name = "weight"
    assert through(w).name == "weight"


@differs_from_torch("names cannot be set there")
def test_a_name_dies_with_its_tensor() -> None:
    with collector_off():
        for _ in range(100):
            # Objects take the places of those before them.
            x = ramp(1)
            assert x.name is None
            x.name = "old"
        del x
        gc.collect()
        assert ramp(1).name is None


def test_grad_modes_are_classes() -> None:
    assert isinstance(vt.no_grad(), vt.no_grad)
    assert isinstance(vt.enable_grad(), vt.enable_grad)
    assert isinstance(vt.inference_mode(mode=False), vt.inference_mode)
    assert not isinstance(vt.no_grad(), vt.enable_grad)
    assert vt.autograd.grad_mode.no_grad is vt.no_grad

    @vt.no_grad
    def mode() -> bool:
        return vt.is_grad_enabled()

    assert mode() is False


def test_nodes_print_their_names_without_a_namespace() -> None:
    x = leaf(3)
    node = vt.autograd.graph.get_gradient_edge(x).node
    assert repr(node).startswith("<AccumulateGrad object at 0x")
    z = x.clone()
    z[0] = 1
    assert repr(z.grad_fn).startswith("<CopySlices object at 0x")
