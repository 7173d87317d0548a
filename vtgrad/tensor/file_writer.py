"""Writing tensors to files.

Note [Files of tensors]

A file of `save` is an npz: a zip of arrays as NumPy writes them, none of them pickled, so that
reading one runs no code. Beside the arrays it has one entry of JSON, `CONTENT`:

    {"format": 1, "byteorder": "little", "value": ..., "tensors": [...], "storages": [...]}

``value`` is what was saved. None, bools, numbers and text stand for themselves, and so do lists;
all else is an object with one key, which says what it is: ``{"tuple": [...]}``,
``{"dict": [[key, value], ...]}``, ``{"complex": [1.0, 2.0]}``, ``{"tensor": 0}``,
``{"array": "entry"}``, ``{"scalar": "entry"}``.

A tensor is its storage and its geometry, as in a pickle (Note [Copies keep aliasing]). The storage
is one entry for all tensors on it: an array of the first tensor's shape if that tensor is all of
the storage, else a vector of its elements. If they are of several dtypes it is a vector of bytes,
which is the one entry that depends on the order of bytes of the machine. Entries are named after
the first place where they stand in the value.

A format that changes gets another number. Older numbers stay readable.
"""

from __future__ import annotations

import io
import json
import os
import re
import stat
import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Final, TypeAlias

import numpy as np

from vtgrad.errors import ArgumentTypeError, ArgumentValueError, ForwardModeError, NotSupportedError
from vtgrad.ops.calling.take_over import keys_of
from vtgrad.storage.arrays import Array
from vtgrad.storage.device import CPU
from vtgrad.storage.key_set import DUAL, keys
from vtgrad.storage.storage import Storage
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_name import name_of
from vtgrad.tensor.pickling import facts_of
from vtgrad.tensor.tensor import Tensor

__all__ = ["CONTENT", "FORMAT", "save"]

# What JSON is made of.
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

CONTENT: Final = "vtgrad.json"
FORMAT: Final = 1
# Names of entries that any program may take for names of files.
_FIT: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,99}")
_PLAIN: Final = (bool, int, float, str, type(None))


def save(obj: object, f: str | os.PathLike[str] | IO[bytes]) -> None:
    """Write tensors to a file, which `load` reads.

    The file is an npz of NumPy without pickles, so that nothing in it can run when it is read.
    ``np.load`` reads its arrays too. A file that is there already is replaced when the new one is
    complete; whatever happens before, the old one stays as it was.

    As in PyTorch, the whole memory of a tensor is written, once for all tensors that share it, and
    these share memory again when they are read: ``x[0].clone()`` is smaller than ``x[0]``. What
    requires grad is read as a leaf that requires grad, without ``.grad``, graph and hooks. The
    same tensor or array in two places is one again; lists, tuples and dicts are not.

    Parameters
    ----------
    obj : object
        A tensor, a NumPy array or scalar, a number, text or None; or lists, tuples and dicts of
        these, nested in any way. Keys of dicts are text, numbers, None or tuples of these.
    f : str, path or file
        Where to write: a path, taken as it is, or a file that is open for writing bytes.

    Raises
    ------
    ArgumentTypeError
        If something else is to be saved, or `f` is neither a path nor a file.
    NotSupportedError
        For a tensor of a subclass.
    BatchedTensorError, ForwardModeError
        For a tensor inside of `vtgrad.vmap`, and for one with a tangent.
    ArgumentValueError
        If a list or dict contains itself, or is nested too deeply.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import io
    >>> f = io.BytesIO()  # or a path
    >>> vt.save({"weight": vt.ones(2, requires_grad=True), "steps": 10}, f)
    >>> _ = f.seek(0)
    >>> vt.load(f)
    {'weight': tensor([1., 1.], requires_grad=True), 'steps': 10}
    >>> _ = f.seek(0)
    >>> np.load(f)["weight"]
    array([1., 1.], dtype=float32)
    """
    content = _Content()
    try:
        value = content.encoded(obj, ())
        text = json.dumps(content.described(value))
    except RecursionError:
        raise ArgumentValueError(
            "what is to be saved contains itself, or is nested too deeply"
        ) from None
    if isinstance(f, (str, os.PathLike)):
        _replace(os.path.realpath(os.fspath(f)), lambda stream: content.write(stream, text))
    elif hasattr(f, "write"):
        content.write(f, text)
    else:
        raise ArgumentTypeError(
            f"save writes to a path or a file, not to {type(f).__name__}", argument="f"
        )


def _replace(path: str, write: Callable[[IO[bytes]], None]) -> None:
    """Write a file beside the one at a path, and put it in its place when it is complete."""
    mode = None
    if os.path.exists(path):
        found = os.stat(path).st_mode
        if not stat.S_ISREG(found):
            # A device or a pipe has no content to keep, nor a position, which archives need.
            # A folder is refused here.
            whole = io.BytesIO()
            write(whole)
            with open(path, "wb") as stream:
                stream.write(whole.getbuffer())
            return
        mode = stat.S_IMODE(found)
    beside = f"{path}.{os.urandom(8).hex()}.tmp"
    try:
        with open(beside, "xb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            os.chmod(beside, mode)
        os.replace(beside, path)
    finally:
        with suppress(OSError):
            os.remove(beside)


class _Content:
    """What one file has; see Note [Files of tensors]."""

    def __init__(self) -> None:
        self._entries: dict[str, Array] = {}
        self._tensors: list[Json] = []
        # By identity: where something stands that was met before. It is kept alive by the caller.
        self._known: dict[int, Json] = {}
        # The number of each storage, with the first tensor on it, the name after that, and whether
        # all tensors on it have one dtype.
        self._storages: dict[Storage, int] = {}
        self._firsts: list[tuple[TensorBase, str, bool]] = []

    def encoded(self, value: object, place: tuple[object, ...]) -> Json:
        """A value in JSON.

        Parameters
        ----------
        value : object
            What is saved.
        place : tuple
            The keys and indices that lead to it.
        """
        if isinstance(value, _PLAIN) and type(value) in _PLAIN:
            return value
        if type(value) is list:
            return [self.encoded(x, (*place, i)) for i, x in enumerate(value)]
        if type(value) is tuple:
            return {"tuple": [self.encoded(x, (*place, i)) for i, x in enumerate(value)]}
        if type(value) is dict:
            return {
                "dict": [[_key(k, place), self.encoded(x, (*place, k))] for k, x in value.items()]
            }
        if type(value) is complex:
            return {"complex": [value.real, value.imag]}
        if isinstance(value, np.generic):
            return {"scalar": self._entry(np.asarray(value), place)}
        if isinstance(value, (TensorBase, np.ndarray)):
            known = self._known.get(id(value))
            if known is None:
                known = self._known[id(value)] = (
                    {"array": self._entry(value, place)}
                    if isinstance(value, np.ndarray)
                    else {"tensor": self._tensor(value, place)}
                )
            return known
        raise ArgumentTypeError(
            f"save writes tensors, arrays, numbers, text, None, and lists, tuples and dicts of "
            f"these, not {type(value).__name__}{_shown(place)}",
            value=value,
        )

    def _entry(self, array: Array, place: tuple[object, ...]) -> str:
        if array.dtype.hasobject or type(array) is not np.ndarray:
            raise ArgumentTypeError(
                f"save writes plain arrays without objects, not a {type(array).__name__} of "
                f"{array.dtype}{_shown(place)}",
                value=array,
            )
        name = self._name(place)
        self._entries[name] = array
        return name

    def _name(self, place: tuple[object, ...]) -> str:
        """The name of a new entry, after its place."""
        wanted = ".".join(map(str, place)) or "value"
        if not _FIT.fullmatch(wanted):
            wanted = "entry"
        name, number = wanted, 1
        while name in self._entries or name == CONTENT:
            number += 1
            name = f"{wanted}-{number}"
        return name

    def _tensor(self, tensor: TensorBase, place: tuple[object, ...]) -> int:
        """The number of a tensor that was not met before."""
        if type(tensor) is not Tensor:
            raise NotSupportedError(
                f"save keeps no classes, and there is a {type(tensor).__name__}{_shown(place)}; "
                "use x.as_subclass(vt.Tensor)"
            )
        if keys.modes and keys_of(tensor) & DUAL:
            raise ForwardModeError(
                f"a tensor with a tangent{_shown(place)} cannot be saved; use x.detach()"
            )
        _, storage, _, dtype, sizes, strides, offset, grad, conjugated, negated, names = facts_of(
            tensor, "save()"
        )
        number = self._storages.setdefault(storage, len(self._firsts))
        if number == len(self._firsts):
            name = self._name(place)
            self._entries[name] = np.empty(0)  # a place in the order of the file
            self._firsts.append((tensor, name, True))
        first, entry, one_dtype = self._firsts[number]
        self._firsts[number] = first, entry, one_dtype and first.dtype is dtype
        self._tensors.append(
            {
                "storage": number,
                "dtype": dtype.name,
                "sizes": list(sizes),
                "strides": list(strides),
                "offset": offset,
                "requires_grad": grad,
                "conj": conjugated,
                "neg": negated,
                "names": None if names is None else list(names),
                "name": name_of(tensor),
            }
        )
        return len(self._tensors) - 1

    def described(self, value: Json) -> Json:
        """The JSON of the whole file; now the arrays of storages are made."""
        storages: list[Json] = []
        for storage, (first, name, one_dtype) in zip(self._storages, self._firsts, strict=True):
            self._entries[name] = _elements(storage, first if one_dtype else None)
            device = None if storage.device is CPU else storage.device.index
            storages.append({"entry": name, "lane": device})
        return {
            "format": FORMAT,
            "byteorder": sys.byteorder,
            "value": value,
            "tensors": self._tensors,
            "storages": storages,
        }

    def write(self, stream: IO[bytes], text: str) -> None:
        """Write the file."""
        archive = zipfile.ZipFile(stream, "w")
        try:
            # The time of a ZipInfo is fixed: equal values make equal files.
            archive.writestr(zipfile.ZipInfo(CONTENT), text)
            for name, array in self._entries.items():
                with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, array, allow_pickle=False)
            archive.close()
        finally:
            # An archive that an exception stopped would still write its end when it is collected,
            # or raise at the end of a `with` in place of the exception.
            archive.fp = None


def _elements(storage: Storage, first: TensorBase | None) -> Array:
    """The content of a storage as an array, of which a tensor may be the first one on it."""
    flat = storage.flat
    if first is None:
        return flat
    dtype = first._impl.dtype
    if flat.size % dtype.itemsize:
        return flat
    shape = first._impl.sizes if _is_whole(first, storage) else (-1,)
    return flat.view(dtype).reshape(shape)


def _is_whole(tensor: TensorBase, storage: Storage) -> bool:
    """Whether a tensor has all elements of its storage, in the order of memory."""
    impl = tensor._impl
    is_dense = impl.array.flags.c_contiguous and not impl.storage_offset
    return is_dense and impl.array.nbytes == storage.nbytes()


def _key(key: object, place: tuple[object, ...]) -> Json:
    """The key of a dict in JSON."""
    if isinstance(key, _PLAIN) and type(key) in _PLAIN:
        return key
    if type(key) is tuple:
        return {"tuple": [_key(part, place) for part in key]}
    raise ArgumentTypeError(
        f"keys are text, numbers, None or tuples of these, not {type(key).__name__}{_shown(place)}",
        value=key,
    )


def _shown(place: tuple[object, ...]) -> str:
    """Where something stands, for errors."""
    return " at " + "".join(f"[{key!r}]" for key in place) if place else ""
