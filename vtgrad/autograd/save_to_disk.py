"""Keeping saved tensors in files instead of memory.

Note [Files of saved values]

Each packed value is one file, and goes with the object that the graph holds: when the node is freed
by a backward, when the graph dies, at the latest when the program ends. The object exists before
its file, so that an interrupt or a full disk leaves no file behind. When the object dies, the first
callback puts it on a list, in one call of a C function; the second one removes the files on the
list. If a signal handler raises in the second one, the next one goes on with the list. A child
process of a fork shares the files with its parent, and removes none.

To unpack, the file is mapped into memory, privately: what is written to the unpacked tensor does
not change the file. The mapping refers to the object too, because Windows cannot remove a file that
is mapped. `__del__` closes the mapping: else it would let the object go first, and be closed after
that. No array is on it then: the collector of cycles does not see arrays, and so frees nothing that
one refers to. Whether the file is the one that was written is checked before each pass, and when
it is mapped: see Note [Seals of files].
"""

from __future__ import annotations

import itertools
import mmap
import operator
import os
import weakref
import zlib
from contextlib import suppress
from typing import Final, Self, TypeAlias, cast

from vtgrad.autograd.saved_tensors_hooks import saved_tensors_hooks
from vtgrad.errors import ArgumentTypeError, HooksDisabledError, SavedHookError
from vtgrad.graph.operators import operators
from vtgrad.graph.packing import HookPair, packing
from vtgrad.graph.tracer import refuse_traced
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.file_seal import FileSeal
from vtgrad.storage.key_set import keys
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.remove_at_exit import remove_at_exit
from vtgrad.storage.storage import bytes_of
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.tensor.tensor import Tensor

__all__ = ["save_to_disk"]

_PROCESS: Final = os.urandom(8).hex()
_numbers: Final = itertools.count()


class _Ends(weakref.ref["_File"]):
    """Removes a file when its object dies.

    Attributes
    ----------
    path : str
        The file.
    process : int
        The process that made it.
    trigger : weakref.ref
        Calls `_sweep`. It is older than this reference, so that its callback comes later.
    """

    __slots__ = ("path", "process", "trigger")

    path: str
    process: int
    trigger: weakref.ref[_File]


# All files, and those whose objects are dead.
_all: Final[set[_Ends]] = set()
_dead: Final[set[_Ends]] = set()


def _sweep(_: object = None) -> None:
    """Remove the files of dead objects."""
    for end in tuple(_dead):
        _remove(end)


def _remove(end: _Ends) -> None:
    if os.getpid() == end.process:
        # The file may not exist yet, or the user has removed the folder.
        with suppress(OSError):
            os.remove(end.path)
    _dead.discard(end)
    _all.discard(end)


_remove_all: Final = remove_at_exit(_all, _remove)


class _Mapping(mmap.mmap):
    """A mapped file, which lives as long as an array on it.

    Attributes
    ----------
    file : _File
        The file, which must not be removed before.
    """

    file: _File

    # One call of a C function.
    __del__ = mmap.mmap.close


class _File:
    """A value in a file; see Note [Files of saved values]."""

    __slots__ = ("__weakref__", "_dtype", "_seal", "_shape", "_strides")

    _seal: FileSeal
    _shape: Shape
    _strides: Shape
    _dtype: NumpyDType

    def __init__(self, folder: str, values: Array) -> None:
        process = os.getpid()
        # The process is a part of the name because the child of a fork has the same numbers.
        name = f"vtgrad-{_PROCESS}-{process}-{next(_numbers)}.bin"
        path = os.path.join(folder, name)
        self._shape, self._strides, self._dtype = values.shape, values.strides, values.dtype
        _sweep()
        trigger: weakref.ref[_File] = weakref.ref(self, _sweep)
        end = _Ends(self, _dead.add)
        end.path, end.process, end.trigger = path, process, trigger
        _all.add(end)
        content = bytes_of(values).data
        with open(path, "xb") as stream:
            stream.write(content)
        self._seal = FileSeal(path, zlib.crc32(content))

    def check(self) -> None:
        """Raise if the file cannot be read or was changed, as far as its entry shows.

        Raises
        ------
        OSError, SavedHookError
            As `read` does.
        """
        fault = self._seal.fault()
        if fault is not None:
            raise self._changed(fault)

    def read(self) -> Array:
        """The value, in memory that is backed by the file.

        Raises
        ------
        OSError
            If the file cannot be read.
        SavedHookError
            If it has other bytes than before.
        """
        if not self._seal.size:
            return making.empty(self._shape, self._dtype)
        with open(self._seal.path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            mapping = _Mapping(stream.fileno(), size, access=mmap.ACCESS_COPY) if size else b""
        with memoryview(mapping) as content:
            fault = self._seal.fault_of(content)
        if fault is not None:
            raise self._changed(fault)
        assert isinstance(mapping, _Mapping)
        mapping.file = self
        return making.ndarray(self._shape, self._dtype, mapping, 0, self._strides)

    def _changed(self, fault: str) -> SavedHookError:
        return SavedHookError(
            f"a saved value was in a file, and cannot be read: {fault}", path=self._seal.path
        )


_Held: TypeAlias = _File | Tensor


class save_to_disk(saved_tensors_hooks[_Held]):
    """Keep saved tensors in files, in a block.

    Each tensor that is saved for backward inside the block is written to a file of its own in a
    folder. Its memory is free as soon as the program does not use the tensor. Backward maps the
    file into memory while one node needs it. A file is removed when a backward frees its node, when
    the graph dies, or when the program ends.

    A file holds a copy, so the saved tensor may be overwritten afterwards.

    Parameters
    ----------
    folder : str or path
        The folder; it is made if it does not exist, and not removed.
    min_bytes : int, default 0
        Smaller tensors are copied in memory: a file of a few bytes takes more time than it saves
        memory.

    Raises
    ------
    ArgumentTypeError
        If `folder` is not a path, or `min_bytes` not an integer.
    OSError
        If the folder cannot be made; in an operator, if a file cannot be written; in backward, if
        one cannot be read.
    HooksDisabledError
        When a block is entered inside `disable_saved_tensors_hooks`.
    SavedHookError
        In backward, if a file has other bytes than those that were written.

    Notes
    -----
    Before backward runs any node, it opens every file that it needs, and compares its size and the
    time of its last write; if that has changed, also a checksum of its bytes. So a file that was
    removed, truncated or overwritten changes no gradient and frees nothing. The checksum is
    compared again when the file is read: if it differs only then, as with a failing disk, backward
    ends in the middle.

    Examples
    --------
    >>> import tempfile, os
    >>> x = vt.tensor([1.0, 2.0], requires_grad=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with vt.autograd.graph.save_to_disk(folder):
    ...         y = x.exp()
    ...     print(len(os.listdir(folder)), "file")
    ...     y.sum().backward()
    ...     print(len(os.listdir(folder)), "files")
    1 file
    0 files
    >>> x.grad
    tensor([2.7183, 7.3891])
    """

    __slots__ = ()

    def __init__(self, folder: str | os.PathLike[str], *, min_bytes: int = 0) -> None:
        given: object = folder
        if not isinstance(given, (str, os.PathLike)):
            raise ArgumentTypeError(
                f"folder must be a path, not {type(given).__name__}", argument="folder"
            )
        try:
            least = operator.index(min_bytes)
        except TypeError:
            raise ArgumentTypeError(
                f"min_bytes must be an integer, not {type(min_bytes).__name__}",
                argument="min_bytes",
            ) from None
        # Absolute, so that the program may change its folder.
        path = os.path.abspath(os.fspath(folder))
        os.makedirs(path, exist_ok=True)
        super().__init__(_Writer(path, least), _read)

    def __enter__(self) -> Self:
        if packing.disabled is not None:
            raise HooksDisabledError(packing.disabled)
        self.enter(HookPair(self.pack_hook, self.unpack_hook, None, _check), None)
        return self


class _Writer:
    """Packs values. Not a method of the block, which would then refer to itself."""

    __slots__ = ("_folder", "_min_bytes")

    _folder: str
    _min_bytes: int

    def __init__(self, folder: str, min_bytes: int) -> None:
        self._folder = folder
        self._min_bytes = min_bytes

    def __call__(self, tensor: Tensor) -> _Held:
        if keys.modes:
            refuse_traced(tensor._impl, "saving to disk")
        values = resolved(tensor._impl.array)
        if values.nbytes < self._min_bytes:
            return _tensor(values.copy(order="K"))
        dense = values.flags.c_contiguous or values.flags.f_contiguous
        return _File(self._folder, values if dense else values.copy(order="K"))


def _check(held: object) -> None:
    if isinstance(held, _File):
        held.check()


def _read(held: _Held) -> Tensor:
    return held if isinstance(held, Tensor) else _tensor(held.read())


def _tensor(array: Array) -> Tensor:
    return cast("Tensor", operators().wrap(TensorImpl(array)))
