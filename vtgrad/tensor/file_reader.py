"""Reading tensors from files; see Note [Files of tensors]."""

from __future__ import annotations

import io
import json
import os
import sys
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import IO, Final, TypeVar, cast

import numpy as np

from vtgrad.errors import ArgumentTypeError, FileFormatError, VtgradError
from vtgrad.storage.arrays import Array
from vtgrad.storage.device import Device
from vtgrad.storage.dtypes import dtype_named, names_dtype
from vtgrad.storage.inference_tensors import counter_of_new
from vtgrad.storage.storage import Storage
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_name import set_name
from vtgrad.storage.version_counter import VersionCounter
from vtgrad.tensor.file_writer import CONTENT, FORMAT
from vtgrad.tensor.from_data import from_numpy
from vtgrad.tensor.pickling import rebuild_tensor

__all__ = ["load"]

T = TypeVar("T")

_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_NPY: Final = b"\x93NUMPY"
# What `zipfile` raises for a file with wrong bytes, or with a password.
_DAMAGED: Final = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError)
# What unfit JSON makes the functions raise that read it.
_UNFIT: Final = (
    VtgradError,
    AttributeError,
    KeyError,
    IndexError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
)


def load(f: str | os.PathLike[str] | IO[bytes]) -> object:
    """Read what `save` has written, or arrays that NumPy has.

    Nothing in the file is run, also if another program wrote it: pickles are refused. Tensors that
    shared memory share it again, and one version counter; none of them is a view. In
    `vtgrad.inference_mode` they are inference tensors.

    Parameters
    ----------
    f : str, path or file
        A path, or a file that is open for reading bytes and stands at its beginning. It is the
        result of `save`, of ``np.savez`` and its like, or of ``np.save``.

    Returns
    -------
    object
        What was saved; a dict of tensors for a file of ``np.savez``, and one tensor for a file of
        ``np.save``.

    Raises
    ------
    FileFormatError
        If the file is of another kind, damaged, or of a later version of vtgrad; or if it has
        an array with a dtype that vtgrad does not have, such as one of objects, which is a pickle.
    ArgumentTypeError
        If `f` is neither a path nor a file.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import io
    >>> f = io.BytesIO()
    >>> x = vt.zeros(2, 2)
    >>> vt.save([x, x[0]], f)
    >>> _ = f.seek(0)
    >>> table, row = vt.load(f)
    >>> row += 1  # both are on the same memory, as they were
    >>> table
    tensor([[1., 1.],
            [0., 0.]])
    >>> f = io.BytesIO()
    >>> np.savez(f, a=np.arange(3))
    >>> _ = f.seek(0)
    >>> vt.load(f)
    {'a': tensor([0, 1, 2])}
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as stream:
            return _read(stream)
    if not hasattr(f, "read"):
        raise ArgumentTypeError(
            f"load reads a path or a file, not {type(f).__name__}", argument="f"
        )
    return _read(f if hasattr(f, "seek") and f.seekable() else io.BytesIO(f.read()))


def _read(stream: IO[bytes]) -> object:
    """Read a file that can be read in any order, from where it stands."""
    start = stream.tell()
    head = stream.read(len(_NPY))
    stream.seek(start)
    if head == _NPY:
        return _tensor_of("the file", _array(stream, "the file"))
    if not head.startswith(_ZIP):
        raise FileFormatError("this is no file of save(), np.savez() or np.save()")
    try:
        with zipfile.ZipFile(stream) as archive:
            if CONTENT in archive.namelist():
                return _Reader(archive).value()
            return {
                name.removesuffix(".npy"): _tensor_of(name, _entry(archive, name))
                for name in archive.namelist()
            }
    except FileFormatError:
        raise
    except _DAMAGED as error:
        raise FileFormatError(f"the file is damaged: {error}") from error


def _entry(archive: zipfile.ZipFile, name: str) -> Array:
    """The array of an entry, whose checksum is right."""
    with archive.open(name) as stream:
        array = _array(stream, name)
        # The checksum is compared at the end of the entry.
        rest = stream.read(1)
    if rest:
        raise FileFormatError(f"{name} is longer than its array", entry=name)
    return array


def _array(stream: IO[bytes], name: str) -> Array:
    try:
        array: Array = np.lib.format.read_array(stream, allow_pickle=False)
    except ValueError as error:
        raise FileFormatError(f"{name} cannot be read: {error}", entry=name) from error
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array


def _tensor_of(name: str, array: Array) -> TensorBase:
    """A tensor on the memory of an array that NumPy has saved."""
    if not names_dtype(array.dtype.name):
        raise FileFormatError(
            f"{name} is an array of {array.dtype}, which no tensor has; np.load reads it",
            entry=name,
        )
    return from_numpy(array)


class _Reader:
    """What one file of `save` has."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._tensors: list[TensorBase] = []
        self._arrays: dict[str, Array] = {}

    def value(self) -> object:
        """What was saved."""
        text = self._archive.read(CONTENT)
        try:
            content = _of(dict, json.loads(text))
            found = _of(int, content["format"])
            if found != FORMAT:
                raise FileFormatError(
                    f"the file has format {found}, and this version of vtgrad reads {FORMAT}"
                )
            is_native = content["byteorder"] == sys.byteorder
            storages = [self._storage(_of(dict, s)) for s in _of(list, content["storages"])]
            for facts in _of(list, content["tensors"]):
                self._tensors.append(_rebuilt(_of(dict, facts), storages, is_native))
            return self._decoded(content["value"])
        except FileFormatError:
            raise
        except _UNFIT as error:
            raise FileFormatError(
                f"{CONTENT} of the file is not as save() writes it: {error}", entry=CONTENT
            ) from error

    def _storage(self, facts: Mapping[str, object]) -> tuple[Storage, VersionCounter, Array]:
        array = _entry(self._archive, _of(str, facts["entry"]) + ".npy")
        storage = Storage(array.reshape(-1).view(np.uint8))
        if facts["lane"] is not None:
            storage.device = Device("lane", _of(int, facts["lane"]))
        return storage, counter_of_new() or VersionCounter(), array

    def _decoded(self, value: object) -> object:
        """What stands for itself, or is described by an object with one key."""
        if isinstance(value, list):
            return [self._decoded(x) for x in value]
        if not isinstance(value, dict):
            return value
        ((kind, what),) = value.items()
        if kind == "tuple":
            return tuple([self._decoded(x) for x in _of(list, what)])
        if kind == "dict":
            return {self._decoded(key): self._decoded(x) for key, x in _of(list, what)}
        if kind == "complex":
            return complex(*_of(list, what))
        if kind == "tensor":
            return self._tensors[_of(int, what)]
        if kind == "array":
            return self._array(_of(str, what))
        if kind == "scalar":
            return self._array(_of(str, what))[()]
        raise TypeError(f"there is no {kind!r}")

    def _array(self, name: str) -> Array:
        """The array of an entry, the same one each time."""
        if name not in self._arrays:
            self._arrays[name] = _entry(self._archive, f"{name}.npy")
        return self._arrays[name]


def _rebuilt(
    facts: Mapping[str, object],
    storages: Sequence[tuple[Storage, VersionCounter, Array]],
    is_native: bool,
) -> TensorBase:
    """The tensor of these facts; `rebuild_tensor` checks them."""
    storage, counter, array = storages[_of(int, facts["storage"])]
    dtype = dtype_named(_of(str, facts["dtype"]))
    if not is_native and array.dtype != dtype.numpy:
        raise ValueError(f"the bytes of a tensor of {dtype.name} are in another machine's order")
    names = facts["names"]
    tensor = rebuild_tensor(
        None,
        storage,
        counter,
        dtype,
        tuple(_of(list, facts["sizes"])),
        tuple(_of(list, facts["strides"])),
        facts["offset"],
        facts["requires_grad"],
        facts["conj"],
        facts["neg"],
        None if names is None else tuple(_of(list, names)),
    )
    set_name(tensor, cast("str | None", facts["name"]))
    return tensor


def _of(kind: type[T], value: object) -> T:
    """A part of the JSON, which must be of a kind."""
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} stands where there must be a {kind.__name__}")
    return value
