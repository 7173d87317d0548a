"""Arrays in files. What is saved are values: what is recorded of an array is not."""

from __future__ import annotations

import inspect
import os
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any, Self, TypeAlias

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.numpy.deliver import handed_over
from vtgrad.numpy.function import function
from vtgrad.numpy.on_values import arrays_in, values_in
from vtgrad.numpy.operands import ArrayLike
from vtgrad.numpy.public_ndarray import ndarray

__all__ = [
    "NpzFile",
    "fromfile",
    "fromregex",
    "genfromtxt",
    "load",
    "loadtxt",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
]

# A path or an open file.
File: TypeAlias = str | os.PathLike[str] | IO[Any]


class NpzFile(Mapping[str, ndarray]):
    """The arrays of a file of several, by name; read when they are asked for.

    Parameters
    ----------
    found : numpy.lib.npyio.NpzFile
        The file, opened by NumPy.
    """

    def __init__(self, found: Any) -> None:
        self._found = found

    @property
    def files(self) -> list[str]:
        """The names."""
        names: list[str] = self._found.files
        return names

    def __getitem__(self, name: str) -> ndarray:
        """An array of the file."""
        return handed_over(self._found[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._found.close()


@function
def load(file: File, mmap_mode: str | None = None, **options: object) -> Any:
    """The array in a file that `save` wrote, or the arrays in one of `savez`.

    Parameters
    ----------
    file : path or file
        The file.
    mmap_mode : {"r+", "r", "w+", "c"}, optional
        How to map it into memory; then it stays an array of NumPy.
    **options
        As of `numpy.load`.

    Returns
    -------
    ndarray or NpzFile
        The array; or the arrays by name.

    Examples
    --------
    >>> import io
    >>> import vtgrad.numpy as np
    >>> file = io.BytesIO()
    >>> np.save(file, np.array([1.0, 2.0]))
    >>> _ = file.seek(0)
    >>> np.load(file)
    array([1., 2.])
    """
    call: Any = np.load
    found = call(file, mmap_mode, **options)
    return NpzFile(found) if isinstance(found, np.lib.npyio.NpzFile) else arrays_in(found)


@function
def save(file: File, arr: ArrayLike, allow_pickle: bool = True) -> None:
    """Write the values of an array to a file.

    Parameters
    ----------
    file : path or file
        The file; a path gets the ending ``.npy``.
    arr : array_like
        The array.
    allow_pickle : bool
        Whether arrays of Python's objects are written.
    """
    np.save(file, typing.cast("Any", values_in(arr)), allow_pickle)


@function
def savez(file: File, *args: ArrayLike, allow_pickle: bool = True, **kwds: ArrayLike) -> None:
    """Write the values of several arrays to a file.

    Parameters
    ----------
    file : path or file
        The file; a path gets the ending ``.npz``.
    *args : array_like
        Arrays that get the names ``arr_0``, ``arr_1`` and so on.
    allow_pickle : bool
        Whether arrays of Python's objects are written.
    **kwds : array_like
        Arrays by their names.
    """
    call: Any = np.savez
    _save_several(call, file, args, kwds, allow_pickle)


@function
def savez_compressed(
    file: File, *args: ArrayLike, allow_pickle: bool = True, **kwds: ArrayLike
) -> None:
    """As `savez`, compressed.

    Parameters
    ----------
    file, *args, allow_pickle, **kwds
        As of `savez`.
    """
    call: Any = np.savez_compressed
    _save_several(call, file, args, kwds, allow_pickle)


def _save_several(
    call: Any, file: File, args: object, kwds: Mapping[str, object], allow_pickle: bool
) -> None:
    positional: Any = values_in(args)
    named: Any = values_in(dict(kwds))
    if not allow_pickle:
        if "allow_pickle" not in inspect.signature(call).parameters:
            raise NotSupportedError("NumPy 2.1 has no allow_pickle of several arrays")
        named["allow_pickle"] = False
    call(file, *positional, **named)


@function
def savetxt(fname: File, X: ArrayLike, *args: object, **options: object) -> None:
    """Write the values of an array to a file as text.

    Parameters
    ----------
    fname : path or file
        The file.
    X : array_like
        The array, of one or two axes.
    *args, **options
        As of `numpy.savetxt`: ``fmt``, ``delimiter``, ``header`` and others.
    """
    call: Any = np.savetxt
    call(fname, values_in(X), *args, **options)


@function
def loadtxt(fname: File | Iterable[str | bytes], *args: object, **options: object) -> ndarray:
    """The numbers in a file of text.

    Parameters
    ----------
    fname : path, file or iterable of str
        The file, or its lines.
    *args, **options
        As of `numpy.loadtxt`: ``dtype``, ``delimiter``, ``skiprows``, ``usecols`` and others.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.loadtxt(["1 2", "3 4"])
    array([[1., 2.],
           [3., 4.]])
    """
    call: Any = np.loadtxt
    return typing.cast("ndarray", arrays_in(call(fname, *args, **options)))


@function
def genfromtxt(fname: File | Iterable[str | bytes], *args: object, **options: object) -> ndarray:
    """The numbers in a file of text in which some are missing.

    Parameters
    ----------
    fname : path, file or iterable of str
        The file, or its lines.
    *args, **options
        As of `numpy.genfromtxt`: ``dtype``, ``delimiter``, ``filling_values`` and others.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.genfromtxt(["1,,3"], delimiter=",")
    array([ 1., nan,  3.])
    """
    call: Any = np.genfromtxt
    return typing.cast("ndarray", arrays_in(call(fname, *args, **options)))


@function
def fromfile(file: File, *args: object, **options: object) -> ndarray:
    """The numbers in a file, as they are in memory or as text.

    Parameters
    ----------
    file : path or file
        The file.
    *args, **options
        As of `numpy.fromfile`: ``dtype``, ``count``, ``sep``, ``offset``.

    Returns
    -------
    ndarray
        A new array of one axis.
    """
    call: Any = np.fromfile
    return typing.cast("ndarray", arrays_in(call(file, *args, **options)))


@function
def fromregex(file: File, *args: object, **options: object) -> ndarray:
    """The groups of a regular expression in a file.

    Parameters
    ----------
    file : path or file
        The file.
    *args, **options
        As of `numpy.fromregex`: ``regexp``, ``dtype``, ``encoding``.

    Returns
    -------
    ndarray
        An array of NumPy, with fields, if the dtype has fields.
    """
    call: Any = np.fromregex
    return typing.cast("ndarray", arrays_in(call(file, *args, **options)))
