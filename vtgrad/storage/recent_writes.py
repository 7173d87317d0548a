"""The public records of the last writes to a buffer; see Note [Who wrote]."""

from __future__ import annotations

import linecache
import re
import threading
from typing import NamedTuple

from vtgrad.storage.arrays import Shape
from vtgrad.storage.layout import Layout
from vtgrad.storage.record_write import KEPT
from vtgrad.storage.version_counter import Record, Site, VersionCounter, WrittenPart

__all__ = [
    "CallSite",
    "Write",
    "WrittenView",
    "find_write",
    "operator_of",
    "quoted",
    "recent_writes",
]


class CallSite(NamedTuple):
    """A line of a program.

    Attributes
    ----------
    filename : str
        The file, as tracebacks name it.
    lineno : int
        The line's number.
    function : str
        The function that the line is in.

    Examples
    --------
    >>> x = vt.zeros(2)
    >>> x += 1
    >>> place = x.writes()[0].place
    >>> place.lineno, place.function, place.source
    (1, '<module>', 'x += 1')
    """

    filename: str
    lineno: int
    function: str

    @staticmethod
    def of(site: Site | None) -> CallSite | None:
        """The line of an instruction."""
        if site is None:
            return None
        code, instruction = site
        for start, end, line in code.co_lines():
            if start <= instruction < end and line is not None:
                return CallSite(code.co_filename, line, code.co_qualname)
        return CallSite(code.co_filename, code.co_firstlineno, code.co_qualname)

    @property
    def source(self) -> str:
        """The line's text, without its indentation.

        Returns
        -------
        str
            Empty if the file cannot be read.
        """
        return linecache.getline(self.filename, self.lineno).strip()

    @property
    def short(self) -> str:
        """File and line, as editors understand them.

        Returns
        -------
        str
            Such as ``fit.py:12``.

        Examples
        --------
        >>> vt.CallSite("fit.py", 12, "step").short
        'fit.py:12'
        """
        return f"{self.filename}:{self.lineno}"

    def __str__(self) -> str:
        return f"{self.short} in {self.function}"


class WrittenView(NamedTuple):
    """A view that a write went through.

    Attributes
    ----------
    shape : tuple of int
        Length of each dimension.
    storage_offset : int
        Distance of the view's first element from the start of the storage, in elements.
    operator : str or None
        The operator that made the view, if it was recorded.
    made_at : CallSite or None
        The line that made the view; only in anomaly mode, see
        `vtgrad.autograd.set_detect_anomaly`.

    Examples
    --------
    >>> x = vt.zeros(2, 3)
    >>> x[1] += 1
    >>> print(x.writes()[0].view)
    a view of shape [3] at offset 3
    """

    shape: Shape
    storage_offset: int
    operator: str | None
    made_at: CallSite | None

    @staticmethod
    def of(part: WrittenPart) -> WrittenView:
        """The view of a record."""
        layout, offset, producer, made_at = part
        if isinstance(layout, Layout):
            shape, item = layout.shape, layout.dtype.itemsize
        else:
            shape, item = layout
        # A node made for a write does not name the operator that made the view.
        named = producer is not None and producer.__name__ != "CopySlices"
        return WrittenView(
            shape,
            offset // item,
            operator_of(producer.__name__) if producer is not None and named else None,
            made_at if isinstance(made_at, CallSite) else None,
        )

    def __str__(self) -> str:
        return f"a view of {self.described}"

    @property
    def described(self) -> str:
        """The view's shape and offset, and the operator and line that made it.

        Returns
        -------
        str
            Such as ``shape [3] at offset 3 made by select``.
        """
        made = "" if self.operator is None else f" made by {self.operator}"
        if self.made_at is not None:
            made = f"{made or ' made'} at {self.made_at.short}"
        return f"shape {list(self.shape)} at offset {self.storage_offset}{made}"


class Write(NamedTuple):
    """One write to a buffer, as `Tensor.writes` and `StaleSavedError` report it.

    Attributes
    ----------
    version : int
        The version of the buffer that it made: 1 for the first write.
    operator : str
        The operator that wrote: a name such as ``mul_``, or the operator that was given the
        ``out=``; ``__setitem__`` for ``x[...] = v``; ``increment_version``; ``backward`` for
        what was added to a ``.grad``.
    place : CallSite or None
        The line of the program that called the operator; None if no Python code did.
    view : WrittenView or None
        The view through which the write went, if the written tensor is a view.
    thread : int
        The thread, as ``threading.get_ident`` numbers it.

    Examples
    --------
    >>> x = vt.zeros(2, 3)
    >>> row = x[1].add_(5)
    >>> (write,) = x.writes()
    >>> write.version, write.operator, write.view.shape
    (1, 'add_', (3,))
    >>> print(write)
    version 1: add_ at ...:1 in <module>, through a view of shape [3] at offset 3
    """

    version: int
    operator: str
    place: CallSite | None
    view: WrittenView | None
    thread: int

    @property
    def filename(self) -> str | None:
        """The file of `place`, or None."""
        return None if self.place is None else self.place.filename

    @property
    def lineno(self) -> int | None:
        """The line number of `place`, or None."""
        return None if self.place is None else self.place.lineno

    @property
    def function(self) -> str | None:
        """The function of `place`, or None."""
        return None if self.place is None else self.place.function

    def __str__(self) -> str:
        return f"version {self.version}: {self.described}"

    @property
    def described(self) -> str:
        """The write in words, without its version.

        Returns
        -------
        str
            Operator, line, view, and the thread unless it is the main one.

        Examples
        --------
        >>> x = vt.zeros(2)
        >>> x += 1
        >>> x.writes()[0].described
        'add_ at ...:1 in <module>'
        """
        through = "" if self.view is None else f", through {self.view}"
        return self.called + through + self.elsewhere

    @property
    def called(self) -> str:
        """The operator and its line, such as ``mul_ at fit.py:12 in step``."""
        return self.operator if self.place is None else f"{self.operator} at {self.place}"

    @property
    def elsewhere(self) -> str:
        """The thread in words; empty for the main one."""
        is_main = self.thread == threading.main_thread().ident
        return "" if is_main else f", on thread {self.thread}"


def recent_writes(counter: VersionCounter | None, after: int = 0) -> tuple[Write, ...]:
    """The writes that are remembered, newest last.

    Parameters
    ----------
    counter : VersionCounter or None
        The counter of the buffer.
    after : int
        Leave out writes up to this version.
    """
    if counter is None or counter.writes is None:
        return ()
    records, last = counter.writes, counter.value
    found: list[Write] = []
    for version in range(max(after, last - KEPT) + 1, last + 1):
        record = records[version % KEPT]
        if record is not None and record[0] == version:
            found.append(_write_of(record))
    return tuple(found)


def find_write(counter: VersionCounter, version: int) -> Write | None:
    """The write that made a version, if it is remembered; an old write has no view.

    Parameters
    ----------
    counter : VersionCounter
        The counter of the buffer.
    version : int
        The version after the write.
    """
    record = None if counter.writes is None else counter.writes[version % KEPT]
    if record is None or record[0] != version:
        record = None if counter.log is None else counter.log.record_of(version)
    return None if record is None else _write_of(record)


def quoted(text: str, call_site: CallSite | None) -> str:
    """A line of a message that names a line of the program, and the text of that line."""
    source = "" if call_site is None else call_site.source
    return f"\n  {text}" + (f"\n      {source}" if source else "")


def _write_of(record: Record) -> Write:
    version, operator, code, instruction, thread, part = record
    site = None if code is None else (code, instruction)
    view = None if part is None else WrittenView.of(part)
    return Write(version, operator, CallSite.of(site), view, thread)


def operator_of(node: str) -> str:
    """The operator that made a node of this name.

    ``as_strided`` for ``AsStridedBackward0``; ``Name.apply`` for ``NameBackward``: without a number
    it is the node of a custom Function.
    """
    if node.endswith("Backward"):
        return f"{node.removesuffix('Backward')}.apply"
    name = re.sub(r"Backwards?\d*$", "", node.rpartition("::")[2])
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
