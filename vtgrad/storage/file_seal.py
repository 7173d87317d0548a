# Compiled by mypyc.
"""Whether a file of saved values is still the one that was written.

Note [Seals of files]

Backward needs what the library has put into files: saved values, and states of loops. Such a file
may be removed, truncated or overwritten meanwhile. A pass must not find that out in its middle,
when other nodes are freed already; and it must not take other values for the saved ones.

So of each file are kept its size, the time of the last write and its number in the file system, and
a CRC-32 sum of its bytes. Before a pass the file is opened and its entry compared, which costs some
microseconds. Only if the entry has changed and the size has not, the bytes are read and summed: a
file that was copied and put back is accepted. When the bytes are needed, they are summed once more,
from the memory into which they are read anyway. That finds what leaves the entry as it is: a write
within the same tick of the clock, a failing disk, a file that is changed during the pass. The pass
then ends in the middle. To exclude that, all files would have to be read before the pass and kept
in memory, which they are there to save.
"""

from __future__ import annotations

import os
import zlib
from typing import Final, TypeAlias

__all__ = ["FileSeal"]

_CHUNK: Final = 1 << 20

# Size, number and time of the last write, in nanoseconds.
_Entry: TypeAlias = tuple[int, int, int]


class FileSeal:
    """How a file was when it was written; see Note [Seals of files].

    Attributes
    ----------
    path : str
        The file.
    size : int
        The number of its bytes.
    """

    __slots__ = ("_entry", "_total", "path", "size")

    path: str
    size: int
    _total: int
    _entry: _Entry

    def __init__(self, path: str, total: int) -> None:
        """Look at a file that was just written.

        Parameters
        ----------
        total : int
            The CRC-32 sum of its bytes.
        """
        self.path = path
        self._total = total
        self._entry = _entry_of(os.stat(path))
        self.size = self._entry[0]

    def fault(self) -> str | None:
        """What is wrong with the file, as far as its entry shows; None for nothing.

        Raises
        ------
        OSError
            If it cannot be opened.
        """
        with open(self.path, "rb") as stream:
            found = _entry_of(os.fstat(stream.fileno()))
            if found == self._entry:
                return None
            if found[0] != self.size:
                return self._other_size(found[0])
            total = 0
            while chunk := stream.read(_CHUNK):
                total = zlib.crc32(chunk, total)
        if total != self._total:
            return self._other_bytes()
        self._entry = found
        return None

    def fault_of(self, content: bytes | memoryview) -> str | None:
        """What is wrong with the bytes that were read; None for nothing."""
        if len(content) != self.size:
            return self._other_size(len(content))
        return self._other_bytes() if zlib.crc32(content) != self._total else None

    def _other_size(self, found: int) -> str:
        return f"{self.path} was changed: it has {found} bytes instead of {self.size}"

    def _other_bytes(self) -> str:
        return f"{self.path} was changed: its bytes have another checksum"


def _entry_of(found: os.stat_result) -> _Entry:
    return found.st_size, found.st_ino, found.st_mtime_ns
