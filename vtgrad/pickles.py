"""What pickles name: this module is a file format.

Note [Pickles name one module]

A pickle refers to functions and classes by module and name, and is read by later versions. So the
pickles of everything that vtgrad makes name functions of this module, exceptions of
`vtgrad.errors`, and nothing else of the package; where classes live may change. What is here keeps
its name and its arguments: a format that changes gets a function with another name, and the old one
stays.

`rebuild_tensor` is defined in `tensor/pickling.py`, because tensors themselves refer to it. The
class `Tensor` is None in a pickle; a subclass is named as its own module says. Classes of results,
as `max(x, dim=0)` returns one, are named after the operator and PyTorch's name of its overload.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from typing import Final, TypeVar, cast

import numpy as np

from vtgrad.errors import ArgumentTypeError
from vtgrad.generator import Generator
from vtgrad.graph.operators import operators
from vtgrad.graph.written_elements import WrittenElements
from vtgrad.ops.generated.result_classes import RESULT_CLASSES
from vtgrad.storage.arrays import Array
from vtgrad.storage.device import CPU, Device
from vtgrad.storage.dtypes import DType, dtype_named
from vtgrad.storage.inference_tensors import counter_of_new
from vtgrad.storage.memory_format import MemoryFormat, MemoryLayout
from vtgrad.storage.recent_writes import CallSite, Write, WrittenView
from vtgrad.storage.storage import Storage
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import INFERENCE, VersionCounter
from vtgrad.tensor.dtype_info import finfo, iinfo
from vtgrad.tensor.pickling import rebuild_tensor
from vtgrad.tensor.size import Size
from vtgrad.tensor.typed_storage import TypedStorage
from vtgrad.tensor.untyped_storage import UntypedStorage

__all__ = [
    "rebuild_call_site",
    "rebuild_counter",
    "rebuild_counter_of_inference",
    "rebuild_device",
    "rebuild_dtype",
    "rebuild_finfo",
    "rebuild_generator",
    "rebuild_iinfo",
    "rebuild_memory_format",
    "rebuild_memory_layout",
    "rebuild_results",
    "rebuild_size",
    "rebuild_storage",
    "rebuild_tensor",
    "rebuild_typed_storage",
    "rebuild_untyped_storage",
    "rebuild_write",
    "rebuild_written_elements",
    "rebuild_written_view",
]

T = TypeVar("T")
Reduced = tuple[Callable[..., T], tuple[object, ...]]


def rebuild_storage(content: bytes, lane: int | None = None) -> Storage:
    """A storage with these bytes, on the lane of this number; None for the CPU."""
    array: Array = np.frombuffer(_checked(content, bytes, "storage"), np.uint8).copy()
    storage = Storage(array)
    if lane is not None:
        storage.device = Device("lane", lane)
    return storage


def rebuild_counter() -> VersionCounter:
    """A counter of memory that has not been written yet."""
    return counter_of_new() or VersionCounter()


def rebuild_counter_of_inference() -> VersionCounter | None:
    """What stands for the counter of an inference tensor; see Note [Copies keep aliasing]."""
    return counter_of_new()


def rebuild_dtype(name: str) -> DType:
    """The dtype of a name such as ``float32``."""
    return dtype_named(_checked(name, str, "dtype"))


def rebuild_device(name: str) -> Device:
    """The device of a name such as ``lane:1``."""
    return Device(_checked(name, str, "device"))


def rebuild_memory_format(name: str) -> MemoryFormat:
    """The memory format of a name such as ``channels_last``."""
    return MemoryFormat(name)


def rebuild_memory_layout(name: str) -> MemoryLayout:
    """The layout of a name: ``strided``."""
    return MemoryLayout(name)


def rebuild_size(sizes: tuple[int, ...]) -> Size:
    """The sizes of a tensor."""
    return Size(sizes)


def rebuild_finfo(name: str) -> finfo:
    """The limits of the floating dtype of a name."""
    return finfo(rebuild_dtype(name))


def rebuild_iinfo(name: str) -> iinfo:
    """The limits of the integer dtype of a name."""
    return iinfo(rebuild_dtype(name))


def rebuild_generator(seed: int, state: bytes | None) -> Generator:
    """A generator that starts with a seed, or is at a state as `Generator.get_state` gives it."""
    generator = Generator().manual_seed(seed)
    if state is not None:
        array: Array = np.frombuffer(_checked(state, bytes, "generator"), np.uint8)
        generator.set_state(operators().wrap(TensorImpl(array)))
    return generator


def rebuild_untyped_storage(content: bytes) -> UntypedStorage:
    """A storage with these bytes, as users have it."""
    return UntypedStorage(list(_checked(content, bytes, "storage")))


def rebuild_typed_storage(content: bytes, dtype: DType) -> TypedStorage:
    """A storage with the elements that these bytes are in a dtype."""
    untyped = rebuild_untyped_storage(content)
    return TypedStorage(wrap_storage=untyped, dtype=_checked(dtype, DType, "storage"))


def rebuild_call_site(filename: str, lineno: int, function: str) -> CallSite:
    """A line of a program."""
    return CallSite(filename, lineno, function)


def rebuild_written_view(
    shape: tuple[int, ...], storage_offset: int, operator: str | None, made_at: CallSite | None
) -> WrittenView:
    """A view that a write went through."""
    return WrittenView(shape, storage_offset, operator, made_at)


def rebuild_write(
    version: int, operator: str, place: CallSite | None, view: WrittenView | None, thread: int
) -> Write:
    """One write to a buffer."""
    return Write(version, operator, place, view, thread)


def rebuild_written_elements(
    count: int, size: int, bounds: tuple[tuple[int, int], ...]
) -> WrittenElements:
    """The overwritten elements of a saved value, with the first index and the end per dimension."""
    return WrittenElements(count, size, tuple([slice(*pair) for pair in bounds]))


def rebuild_results(operator: str, values: tuple[object, ...]) -> tuple[object, ...]:
    """The results of an operator with several, such as ``max.dim``.

    Raises
    ------
    ArgumentTypeError
        If there is no such operator, or it has another number of results.
    """
    try:
        cls = cast("Callable[..., tuple[object, ...]]", RESULT_CLASSES[operator])
        return cls(*values)
    except (KeyError, TypeError):
        raise ArgumentTypeError("these are no pickled results of an operator") from None


def _checked(value: T, kind: type[T], what: str) -> T:
    """An argument, of which a pickle may have any."""
    if not isinstance(value, kind):
        raise ArgumentTypeError(f"this is not a pickled {what}")
    return value


# -- the other way -------------------------------------------------------------------------------


def _reduce_storage(storage: Storage) -> Reduced[Storage]:
    whole = storage.strided(np.dtype(np.uint8), (storage.nbytes(),), (1,), 0)
    if storage.device is CPU:
        return rebuild_storage, (whole.tobytes(),)
    return rebuild_storage, (whole.tobytes(), storage.device.index)


def _reduce_untyped_storage(storage: UntypedStorage) -> Reduced[UntypedStorage]:
    return rebuild_untyped_storage, (bytes(storage.tolist()),)


def _reduce_typed_storage(storage: TypedStorage) -> Reduced[TypedStorage]:
    return rebuild_typed_storage, (bytes(storage.untyped().tolist()), storage.dtype)


def _reduce_counter(counter: VersionCounter) -> Reduced[VersionCounter | None]:
    """The reduction of a counter: the copy's memory has not been written yet."""
    return (rebuild_counter_of_inference if counter is INFERENCE else rebuild_counter), ()


def _reduce_generator(generator: Generator) -> Reduced[Generator]:
    if generator._source is None:
        return rebuild_generator, (generator.initial_seed(), None)
    state = generator.get_state()._impl.array.tobytes()
    return rebuild_generator, (generator.initial_seed(), state)


def _reduce_written_elements(elements: WrittenElements) -> Reduced[WrittenElements]:
    bounds = tuple([(s.start, s.stop) for s in elements.slices])
    return rebuild_written_elements, (elements.count, elements.size, bounds)


_RESULT_NAMES: Final = {cls: name for name, cls in RESULT_CLASSES.items()}


def _reduce_results(results: tuple[object, ...]) -> Reduced[tuple[object, ...]]:
    return rebuild_results, (_RESULT_NAMES[type(results)], tuple(results))


copyreg.pickle(Storage, _reduce_storage)
copyreg.pickle(UntypedStorage, _reduce_untyped_storage)
copyreg.pickle(TypedStorage, _reduce_typed_storage)
copyreg.pickle(VersionCounter, _reduce_counter)  # type: ignore[arg-type]  # None means no counter here
copyreg.pickle(DType, lambda dtype: (rebuild_dtype, (dtype.name,)))
copyreg.pickle(Device, lambda device: (rebuild_device, (str(device),)))
copyreg.pickle(MemoryFormat, lambda chosen: (rebuild_memory_format, (chosen.value,)))
copyreg.pickle(MemoryLayout, lambda layout: (rebuild_memory_layout, (layout.value,)))
copyreg.pickle(Size, lambda size: (rebuild_size, (tuple(size),)))
copyreg.pickle(finfo, lambda info: (rebuild_finfo, (info.dtype,)))
copyreg.pickle(iinfo, lambda info: (rebuild_iinfo, (info.dtype,)))
copyreg.pickle(Generator, _reduce_generator)
copyreg.pickle(CallSite, lambda site: (rebuild_call_site, tuple(site)))
copyreg.pickle(WrittenView, lambda view: (rebuild_written_view, tuple(view)))
copyreg.pickle(Write, lambda write: (rebuild_write, tuple(write)))
copyreg.pickle(WrittenElements, _reduce_written_elements)
for _cls in _RESULT_NAMES:
    copyreg.pickle(_cls, _reduce_results)
