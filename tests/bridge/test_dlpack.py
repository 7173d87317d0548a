"""Memory shared with other libraries by DLPack; NumPy stands for them."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    BatchedTensorError,
    DLPackError,
    NotSupportedError,
    ReadOnlyError,
    ResizeError,
    StaleSavedError,
    UnseenWriteError,
)
from vtgrad.storage.arrays import Array

DTYPES = "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()


class Producer:
    """An array of another library, which has an age: what its `__dlpack__` takes."""

    def __init__(self, array: Array, versioned: bool = True) -> None:
        self.array = array
        self.versioned = versioned
        self.asked: list[dict[str, object]] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **options: Any) -> object:
        if not self.versioned and options:
            raise TypeError("this library knows no options")
        self.asked.append(options)
        return self.array.__dlpack__(**options)


def seen(x: vt.Tensor) -> Array:
    """The memory of a tensor as another library sees it, and may write it."""
    array: Array = np.from_dlpack(x)
    # NumPy before 2.2.1 does not write to what it gets by DLPack.
    return array if array.flags.writeable else vt.from_dlpack(x).numpy()


# Makes of two dimensions what is shared.
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "dense": lambda x: x,
    "transposed": lambda x: x.T,
    "part": lambda x: x[1:, ::2],
    "backwards": lambda x: x[::-1, ::-2],
    "row": lambda x: x[1],
    "element": lambda x: x[1, 2:3].reshape(()),
    "no rows": lambda x: x[:0],
    "no columns": lambda x: x[:, 4:],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_both_ways_share_memory(layout: str, dtype: str) -> None:
    a = np.arange(12).reshape(3, 4).astype(dtype)
    part = LAYOUTS[layout](a)
    x = vt.from_dlpack(part)
    assert x.dtype.name == dtype
    assert x.shape == part.shape
    assert x.numpy().tobytes() == part.tobytes()
    assert not x.requires_grad
    assert x.is_leaf
    y = vt.from_numpy(a)
    back = seen(LAYOUTS[layout](y))
    assert back.dtype == dtype
    assert back.shape == part.shape
    assert back.tobytes() == part.tobytes()
    if part.size:
        assert x.data_ptr() == back.ctypes.data == part.ctypes.data
        assert back.strides == part.strides
        x.fill_(1)
        assert (part == 1).all()
        back[...] = 0
        assert not x.any()


def test_a_tensor_comes_back_on_the_same_memory() -> None:
    x = vt.arange(6.0).reshape(2, 3)
    y = vt.from_dlpack(x[:, ::2])
    assert y.stride() == (3, 2)
    y += 1
    assert x.tolist() == [[1, 1, 3], [4, 4, 6]]
    assert not y._is_view()


def test_memory_lives_as_long_as_one_of_both() -> None:
    x = vt.ones(3)
    a = np.from_dlpack(x)
    storage = weakref.ref(x._impl.storage.owner)
    del x
    gc.collect()
    assert a.tolist() == [1, 1, 1]
    assert storage() is not None
    del a
    gc.collect()
    assert storage() is None
    b = np.ones(3)
    y = vt.from_dlpack(b)
    del b
    gc.collect()
    assert y.tolist() == [1, 1, 1]


def test_what_requires_grad_is_refused() -> None:
    x = vt.ones(2, requires_grad=True)
    for tensor in (x, x * 2, x[:1]):
        with pytest.raises(BufferError, match="detach"):
            np.from_dlpack(tensor)
        # As in PyTorch also where nothing is recorded, unlike `numpy`.
        with vt.no_grad(), pytest.raises(DLPackError):
            vt.from_dlpack(tensor)
    assert np.from_dlpack(x.detach()).tolist() == [1, 1]


def test_lazy_conjugates_and_negatives_are_refused() -> None:
    z = vt.tensor([1 + 2j])
    with pytest.raises(DLPackError, match="resolve_conj"):
        np.from_dlpack(z.conj())
    with pytest.raises(DLPackError, match="resolve_neg"):
        np.from_dlpack(z.conj().imag)
    assert np.from_dlpack(z.conj().resolve_conj()).tolist() == [1 - 2j]
    assert np.from_dlpack(z.conj().imag.resolve_neg()).tolist() == [-2]


def test_samples_tangents_and_traced_tensors_are_refused() -> None:
    x = vt.ones(2, 3)

    def function(t: vt.Tensor) -> vt.Tensor:
        return t * vt.from_dlpack(t).sum()

    with pytest.raises(BatchedTensorError):
        vt.vmap(function)(x)
    with pytest.raises(DLPackError):
        vt.func.grad(lambda t: function(t).sum())(x)
    with pytest.raises(DLPackError, match="tangent"):
        vt.func.jvp(function, (x,), (x,))
    with pytest.raises(NotSupportedError, match="__dlpack__"):
        vt.func.sparsity_pattern(function, x)
    # What they do not depend on is handed over.
    assert vt.vmap(lambda t: t * vt.from_dlpack(x).sum())(x).tolist() == [[6.0] * 3] * 2


def test_the_arguments_of_the_protocol() -> None:
    x = vt.arange(3.0)
    assert x.__dlpack_device__() == (1, 0)
    assert '"dltensor"' in repr(x.__dlpack__())
    assert '"dltensor_versioned"' in repr(x.__dlpack__(max_version=(1, 0)))
    assert '"dltensor_versioned"' in repr(x.__dlpack__(max_version=(7, 3), dl_device=(1, 0)))
    stream: Any = 1
    with pytest.raises(DLPackError, match="stream"):
        x.__dlpack__(stream=stream)
    with pytest.raises(BufferError, match="device"):
        x.__dlpack__(dl_device=(2, 0))
    copied = np.from_dlpack(x, copy=True)
    assert copied.ctypes.data != x.data_ptr()
    x.fill_(9)
    assert copied.tolist() == [0, 1, 2]
    for copy in (None, False):
        assert np.from_dlpack(x, device="cpu", copy=copy).ctypes.data == x.data_ptr()


def test_a_copy_is_made_where_it_is_asked_for() -> None:
    a = np.arange(6.0).reshape(2, 3)
    x = vt.from_dlpack(a, copy=True)
    x.zero_()
    assert a.sum() == 15
    for copy in (None, False):
        assert vt.from_dlpack(a, copy=copy, device="cpu").data_ptr() == a.ctypes.data


def test_libraries_of_any_age_are_asked_in_their_way() -> None:
    a = np.arange(3.0)
    new = Producer(a)
    vt.from_dlpack(new).mul_(2)
    assert new.asked[0]["max_version"][0] >= 1  # type: ignore[index]
    assert a.tolist() == [0, 2, 4]
    vt.from_dlpack(new, device="cpu", copy=False)
    assert new.asked[1]["dl_device"] == (1, 0)
    assert new.asked[1]["copy"] is False
    # An old one has no mark for memory that is read-only.
    old = Producer(a, versioned=False)
    with pytest.raises(ReadOnlyError):
        vt.from_dlpack(old).mul_(2)
    x = vt.from_dlpack(old, copy=True)
    x += 1
    assert x.tolist() == [1, 3, 5]
    assert a.tolist() == [0, 2, 4]


def test_read_only_memory_makes_a_read_only_tensor() -> None:
    a = np.arange(3.0)
    a.flags.writeable = False
    y = vt.from_dlpack(a)
    with pytest.raises(ReadOnlyError):
        y += 1
    assert y._version == 0
    assert np.shares_memory(y.numpy(), a)
    x = vt.from_dlpack(a, copy=True)
    x += 1
    assert a.tolist() == [0, 1, 2]


def test_an_old_numpy_does_not_make_memory_read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = np.from_dlpack

    def old(obj: Any, **options: Any) -> Array:
        array: Array = ours(obj, **options)
        array.flags.writeable = False
        return array

    monkeypatch.setattr(np, "from_dlpack", old)
    a = np.arange(6.0).reshape(2, 3)
    for layout in ("dense", "backwards", "element", "no rows"):
        part = LAYOUTS[layout](a)
        x = vt.from_dlpack(part)
        gc.collect()
        x += 1
        assert x.tolist() == part.tolist()
    assert a.sum() == 15 + 6 + 4 + 1
    a.flags.writeable = False
    for x in (vt.from_dlpack(a), vt.from_dlpack(Producer(np.ones(2), versioned=False))):
        with pytest.raises(ReadOnlyError):
            x.zero_()


def test_lanes_have_memory_of_their_own() -> None:
    a = np.ones(2)
    x = vt.from_dlpack(a, device="lane:1")
    assert str(x.device) == "lane:1"
    x += 1
    assert a.tolist() == [1, 1]
    assert x.__dlpack_device__() == (1, 0)
    assert np.from_dlpack(x).tolist() == [2, 2]
    with pytest.raises(ArgumentValueError, match="lane"):
        vt.from_dlpack(a, device="lane:1", copy=False)
    with pytest.raises(NotSupportedError):
        vt.from_dlpack(a, device="cuda")


def test_what_is_no_array_of_a_known_dtype_is_refused() -> None:
    wrong: list[object] = [3, [1.0], None, "x", np.zeros(2, "u4"), vt.Tensor, object()]
    for value in wrong:
        with pytest.raises(TypeError):
            vt.from_dlpack(value)
    with pytest.raises(ArgumentTypeError, match="__dlpack__"):
        vt.from_dlpack([1.0])


def test_writes_of_the_other_library_are_seen_if_they_are_declared() -> None:
    w = vt.ones(2, requires_grad=True)
    x = vt.ones(2)
    a = seen(x)
    y = w * x
    a[0] = 5
    vt.autograd.graph.increment_version(x)
    with pytest.raises(StaleSavedError):
        y.sum().backward()


def test_the_audit_sees_writes_through_both_ways() -> None:
    w = vt.ones(2, dtype=vt.float64, requires_grad=True)
    source = np.ones(2)
    x = vt.from_dlpack(source)
    with vt.autograd.graph.auditing(True):
        y = w * x
        source[0] = 5
        with pytest.raises(UnseenWriteError):
            y.sum().backward()
    with vt.autograd.graph.auditing("lock"):
        x = vt.from_dlpack(source)
        y = w * x
        seen = x.numpy()
        assert not seen.flags.writeable
        assert not np.from_dlpack(x).flags.writeable
        with pytest.raises(BufferError, match="readonly"):
            x.__dlpack__()  # an old version of DLPack, which cannot say it
        y.sum().backward()
        del y
    gc.collect()
    # All is writable again, though a capsule is the base.
    seen[0] = 2
    x += 1
    assert source.tolist() == [3, 2]


def test_memory_that_is_shared_does_not_move() -> None:
    x = vt.ones(2)
    a = np.from_dlpack(x)
    with pytest.raises(ResizeError):
        x.resize_(100)
    y = vt.from_dlpack(np.ones(2))
    with pytest.raises(ResizeError):
        y.resize_(100)
    assert a.tolist() == [1, 1]
