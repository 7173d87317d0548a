"""Casts of typed storages.

Here and not in `TypedStorage`, because in the body of a class the names `bool`, `int` and `float`
are those of its methods.
"""

from __future__ import annotations

from typing import Self

from vtgrad.storage.dtypes import (
    DType,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from vtgrad.storage.storage_base import StorageBase

__all__ = ["StorageCasts"]


class StorageCasts(StorageBase):
    """Casts to each dtype; other than `TypedStorage.type`, all return new memory, as in PyTorch."""

    __slots__ = ()

    def _cast(self, dtype: DType) -> Self:
        """The elements in another dtype, or a copy of them, on new memory."""
        raise NotImplementedError

    def bool(self) -> Self:
        """The elements as bools.

        Returns
        -------
        TypedStorage
            On new memory, of dtype `bool`.

        Examples
        --------
        >>> vt.tensor([1.5, 0.0]).storage().bool().tolist()
        [True, False]
        """
        return self._cast(bool_)

    def byte(self) -> Self:
        """The elements as 8-bit integers without sign.

        Returns
        -------
        TypedStorage
            On new memory, of dtype `uint8`.

        Examples
        --------
        >>> vt.tensor([1.5, 0.0]).storage().byte().tolist()
        [1, 0]
        """
        return self._cast(uint8)

    def char(self) -> Self:
        """The elements as 8-bit integers.

        Returns
        -------
        TypedStorage
            On new memory, of dtype `int8`.

        Examples
        --------
        >>> vt.tensor([-1.5, 0.0]).storage().char().tolist()
        [-1, 0]
        """
        return self._cast(int8)

    def short(self) -> Self:
        """The elements as 16-bit integers.

        Returns
        -------
        TypedStorage
            On new memory, of dtype `int16`.

        Examples
        --------
        >>> vt.tensor([-1.5, 0.0]).storage().short().tolist()
        [-1, 0]
        """
        return self._cast(int16)

    def int(self) -> Self:
        """The elements as 32-bit integers.

        Returns
        -------
        TypedStorage
            On new memory, of dtype `int32`.

        Examples
        --------
        >>> vt.tensor([-1.5, 0.0]).storage().int().tolist()
        [-1, 0]
        """
        return self._cast(int32)

    def long(self) -> Self:
        """The elements as 64-bit integers.

        Returns
        -------
        TypedStorage
            On new memory, of dtype `int64`.

        Examples
        --------
        >>> vt.tensor([-1.5, 0.0]).storage().long().tolist()
        [-1, 0]
        """
        return self._cast(int64)

    def half(self) -> Self:
        """The elements as half precision.

        Returns
        -------
        TypedStorage
            On new memory, of dtype `float16`.

        Examples
        --------
        >>> vt.tensor([1, 2]).storage().half().tolist()
        [1.0, 2.0]
        """
        return self._cast(float16)

    def float(self) -> Self:
        """The elements as single precision.

        Returns
        -------
        TypedStorage
            On new memory, of dtype `float32`.

        Examples
        --------
        >>> vt.tensor([1, 2]).storage().float().tolist()
        [1.0, 2.0]
        """
        return self._cast(float32)

    def double(self) -> Self:
        """The elements as double precision.

        Returns
        -------
        TypedStorage
            On new memory, of dtype `float64`.

        Examples
        --------
        >>> vt.tensor([1, 2]).storage().double().tolist()
        [1.0, 2.0]
        """
        return self._cast(float64)

    def complex_float(self) -> Self:
        """The elements as complex numbers of single precision.

        Returns
        -------
        TypedStorage
            On new memory, of dtype `complex64`.

        Examples
        --------
        >>> vt.tensor([1, 2]).storage().complex_float().tolist()
        [(1+0j), (2+0j)]
        """
        return self._cast(complex64)

    def complex_double(self) -> Self:
        """The elements as complex numbers of double precision.

        Returns
        -------
        TypedStorage
            On new memory, of dtype `complex128`.

        Examples
        --------
        >>> vt.tensor([1, 2]).storage().complex_double().tolist()
        [(1+0j), (2+0j)]
        """
        return self._cast(complex128)
