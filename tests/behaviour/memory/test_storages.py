"""Storages: their elements, their writes, which are counted, and what is refused."""

from __future__ import annotations

import copy
import pickle

import pytest

from tests.support import differs_from_torch, gradients, leaf, ramp, refused, vt

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")


def small() -> vt.Tensor:
    """Give four elements of two bytes each."""
    return vt.tensor([1, 256, -1, 0], dtype=vt.int16)


def test_a_storage_has_the_elements_of_memory_whatever_the_view_shows() -> None:
    x = ramp(2, 3)
    assert x.t()[1:].storage().tolist() == [1, 2, 3, 4, 5, 6]
    assert list(x[1].storage()) == [1, 2, 3, 4, 5, 6]
    assert (len(x.storage()), x.storage().size(), x.storage().nbytes()) == (6, 6, 48)
    assert (x.storage()[0], x.storage()[-1]) == (1, 6)
    assert (x.storage().dtype, str(x.storage().device)) == (vt.float64, "cpu")
    assert x.storage().data_ptr() == x.data_ptr()


def test_an_untyped_storage_has_bytes() -> None:
    storage = small().untyped_storage()
    assert storage.tolist() == [1, 0, 0, 1, 255, 255, 0, 0]
    assert (len(storage), storage.size(), storage.nbytes()) == (8, 8, 8)
    assert (storage[3], storage[-3]) == (1, 255)
    assert storage.element_size() == 1
    assert small().storage().untyped().tolist() == storage.tolist()


def test_a_slice_of_bytes_is_the_same_memory() -> None:
    x = small()
    part = x.untyped_storage()[2:4]
    assert part.tolist() == [0, 1]
    part.fill_(2)
    assert x.tolist() == [1, 514, -1, 0]
    assert part.data_ptr() == x.data_ptr() + 2


def test_storages_of_one_buffer_are_equal() -> None:
    x = ramp(4)
    assert x.untyped_storage() == x[1:].untyped_storage()
    assert x.untyped_storage() != x.clone().untyped_storage()
    assert x.untyped_storage() != 3
    assert (x.storage() == x.storage()) is False


def test_writes_reach_the_tensors() -> None:
    x = ramp(4)
    x.storage()[1] = 9
    assert x.tolist() == [1, 9, 3, 4]
    x.storage()[2:4] = 0
    assert x.tolist() == [1, 9, 0, 0]
    x.storage().copy_(ramp(4).storage())
    assert x.tolist() == [1, 2, 3, 4]
    x.storage().fill_(7)
    assert x.tolist() == [7, 7, 7, 7]
    y = small()
    y.untyped_storage()[0] = 7
    y.untyped_storage()[1] = 1
    assert y.tolist() == [263, 256, -1, 0]
    y.untyped_storage().copy_(small().untyped_storage())
    assert y.tolist() == small().tolist()


@differs_from_torch("writes through storages are not counted there")
def test_writes_are_counted_and_what_was_saved_is_stale() -> None:
    x = leaf(4)
    z = x.clone()
    y = (z * z).sum()
    z.storage()[0] = 5
    assert z._version == 1
    assert z.writes()[-1].operator == "__setitem__"
    with refused(RuntimeError, "stale-saved"):
        y.backward()
    w = x.clone()
    y = (w * w)[1:].sum()
    w[1:].detach()  # another alias
    w.untyped_storage()[0] = 5
    assert w._version == 1


@differs_from_torch("writes through storages are not counted there")
def test_rewind_goes_back_before_a_write_to_a_storage() -> None:
    x = leaf(2)
    z = x.clone()
    with vt.autograd.graph.allow_mutation_on_saved_tensors():
        y = (z * z).sum()
        z.storage().fill_(0)
        z.untyped_storage()[8:].fill_(1)
        assert gradients(y, x) == [[2, 4]]


def test_new_storages() -> None:
    assert vt.UntypedStorage([1, 2, 300]).tolist() == [1, 2, 44]
    assert vt.UntypedStorage(3).nbytes() == 3
    assert vt.UntypedStorage().tolist() == []
    typed = vt.TypedStorage([1, 2], dtype=vt.float32)
    assert (typed.tolist(), typed.nbytes()) == ([1.0, 2.0], 8)
    assert typed.clone().tolist() == [1.0, 2.0]
    wrapped = vt.TypedStorage(wrap_storage=vt.UntypedStorage(8), dtype=vt.int32)
    assert wrapped.size() == 2


def test_a_tensor_may_be_set_to_a_storage() -> None:
    storage = vt.TypedStorage([1, 2, 3, 4], dtype=vt.float64)
    x = vt.empty(0, dtype=vt.float64).set_(storage.untyped(), 0, (2, 2), (2, 1))
    assert x.tolist() == [[1, 2], [3, 4]]
    x[0, 0] = 9
    assert storage.tolist() == [9, 2, 3, 4]
    assert vt.empty(0, dtype=vt.float64).set_(storage).tolist() == [9, 2, 3, 4]


def test_a_storage_grows_for_all_tensors() -> None:
    x = ramp(2)
    view, storage = x[1:], x.untyped_storage()
    storage.resize_(24)
    assert (storage.nbytes(), x.untyped_storage().nbytes()) == (24, 24)
    view.fill_(9)
    assert x.tolist() == [1, 9]
    assert x.storage().tolist()[:2] == [1, 9]


def test_storages_print_their_elements() -> None:
    text = repr(vt.tensor([1.5, 2.0]).storage())
    assert text.splitlines()[:2] == [" 1.5", " 2.0"]
    assert text.endswith("of size 2]")
    assert repr(vt.UntypedStorage([7])).splitlines()[0] == " 7"


@differs_from_torch("all elements are printed there")
def test_a_large_storage_prints_its_ends() -> None:
    lines = repr(vt.arange(5000).storage()).splitlines()
    assert len(lines) == 1002
    assert lines[499:502] == [" 499", " ... 4000 more ...", " 4500"]
    assert repr(vt.arange(1000).storage()).splitlines()[999] == " 999"


@pytest.mark.parametrize(
    "through", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))]
)
@differs_from_torch("a shallow copy is the same memory there")
def test_copies_and_pickles_have_memory_of_their_own(through: object) -> None:
    assert callable(through)
    for storage in (small().storage(), small().untyped_storage()):
        other = through(storage)
        assert type(other) is type(storage)
        assert other.tolist() == storage.tolist()
        other.fill_(0)
        assert storage.tolist()[0] == 1


def test_elements_that_do_not_exist() -> None:
    for storage in (ramp(2).storage(), ramp(2).untyped_storage()):
        for position in (99, -99):
            with pytest.raises(IndexError):
                storage[position]
            with pytest.raises((IndexError, RuntimeError)):
                storage[position] = 0


@differs_from_torch("the kinds of errors are vtgrad's")
def test_what_is_refused() -> None:
    x = ramp(2)
    with refused(RuntimeError, "argument-value", (x,)):
        x.untyped_storage()[::2]
    with refused(TypeError, "argument-type", (x,)):
        x.storage()[0:1]  # type: ignore[index]  # what is refused
    with refused(RuntimeError, "shape", (x,)):
        x.storage().copy_(ramp(3).storage())
    with refused(TypeError, "argument-type", (x,)):
        x.storage().copy_(x.untyped_storage())  # type: ignore[arg-type]  # the same
    with refused(NotImplementedError, "not-supported", (x,)):
        x.untyped_storage().resize_(2)
    with refused(NotImplementedError, "not-supported", (x,)):
        ramp(1).set_(x.untyped_storage()[0:8])
    with refused(TypeError, "argument-type"):
        vt.UntypedStorage("ab")  # type: ignore[arg-type]  # the same
    with refused(RuntimeError, "shape"):
        vt.UntypedStorage(-1)


@pytest.mark.parametrize(
    ("name", "dtype", "elements"),
    [
        ("bool", vt.bool, [True, True, False]),
        ("byte", vt.uint8, [1, 2, 0]),
        ("char", vt.int8, [1, 2, 0]),
        ("short", vt.int16, [1, 2, 0]),
        ("int", vt.int32, [1, 2, 0]),
        ("long", vt.int64, [1, 2, 0]),
        ("half", vt.float16, [1.5, 2.25, 0]),
        ("float", vt.float32, [1.5, 2.25, 0]),
        ("double", vt.float64, [1.5, 2.25, 0]),
        ("complex_float", vt.complex64, [1.5, 2.25, 0]),
        ("complex_double", vt.complex128, [1.5, 2.25, 0]),
    ],
)
@pytest.mark.parametrize("source", [vt.float32, vt.float64])
def test_typed_storages_are_cast_onto_new_memory(
    name: str, dtype: vt.dtype, elements: list[complex], source: vt.dtype
) -> None:
    storage = vt.tensor([1.5, 2.25, 0], dtype=source).storage()
    cast = getattr(storage, name)()
    assert (type(cast), cast.dtype, cast.tolist()) == (type(storage), dtype, elements)
    cast.fill_(0)
    assert storage.tolist() == [1.5, 2.25, 0]


def test_typed_storages_are_on_the_cpu_and_not_shared() -> None:
    storage = vt.zeros(2).storage()
    storage.cpu().fill_(1)
    assert storage.tolist() == [1, 1]
    assert not storage.is_pinned()
    assert not storage.is_shared()


@differs_from_torch("there these are a RuntimeError")
@pytest.mark.parametrize("size", ["a", None, 1.5])
def test_a_size_that_is_no_integer_is_refused(size: object) -> None:
    x = vt.zeros(2)
    for storage in (x.untyped_storage(), x.storage()):
        with pytest.raises(TypeError, match="takes an integer"):
            storage.resize_(size)  # type: ignore[arg-type]  # what is tested
    assert x.untyped_storage().nbytes() == 8


@differs_from_torch("PyTorch takes its own dtypes only")
def test_a_storage_takes_the_dtypes_that_tensors_take() -> None:
    assert vt.TypedStorage(2, dtype=float).dtype is vt.float64
    storage = vt.ones(2, dtype=vt.float64).storage()
    assert storage.type(float) is storage
    assert storage.type(int).tolist() == [1, 1]
    for wrong in ("float33", 3):
        with pytest.raises(vt.errors.ArgumentTypeError, match="dtype must be"):
            vt.TypedStorage(2, dtype=wrong)  # type: ignore[arg-type]
        with pytest.raises(vt.errors.ArgumentTypeError, match="dtype must be"):
            storage.type(wrong)  # type: ignore[arg-type]
