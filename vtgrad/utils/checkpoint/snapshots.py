"""Snapshots of the state of a loop, in memory or in files."""

from __future__ import annotations

import os
import weakref
import zlib
from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Final, NamedTuple

from vtgrad.errors import ArgumentValueError, CheckpointError
from vtgrad.storage.file_seal import FileSeal
from vtgrad.storage.remove_at_exit import remove_at_exit
from vtgrad.utils.checkpoint.rng import RandomState
from vtgrad.utils.checkpoint.state import Build, KeptTensor, State

__all__ = ["Snapshot", "Snapshots"]


class _TemporaryFolder(weakref.ref["Snapshots"]):
    """Removes a folder when its object dies.

    Note [Folders of snapshots]

    A finalizer that is a Python function may be interrupted before it has done anything. So the
    callback of this reference is a method of a set, which is never interrupted: it notes that the
    folder is not needed. The callback of `trigger`, which comes later because `trigger` is older,
    removes all such folders; if it is interrupted, the next one does, or the end of the program.

    Attributes
    ----------
    path : Path
        The folder.
    owner : int
        The process that made it: a fork of it must not remove the folder.
    trigger : weakref.ref
        Calls `_sweep`.
    """

    __slots__ = ("owner", "path", "trigger")

    path: Path
    owner: int
    trigger: weakref.ref[Snapshots]

    @staticmethod
    def make(snapshots: Snapshots, within: Path) -> Path:
        """Make the folder of an object."""
        _sweep()
        path = within / f"vtgrad-{os.urandom(8).hex()}"
        trigger = weakref.ref(snapshots, _sweep)
        end = _TemporaryFolder(snapshots, _dead.add)
        end.path, end.owner, end.trigger = path, os.getpid(), trigger
        _all.add(end)
        path.mkdir(mode=0o700)
        return path


# All folders, and those whose objects are dead.
_all: Final[set[_TemporaryFolder]] = set()
_dead: Final[set[weakref.ref[Snapshots]]] = set()


def _sweep(_: object = None) -> None:
    """Remove the folders of dead objects."""
    for end in tuple(_all & _dead):
        _remove(end)


def _remove(end: _TemporaryFolder) -> None:
    if os.getpid() == end.owner:
        # If a program has put files of its own there, or taken some away, the rest stays.
        with suppress(OSError):
            for file in end.path.glob("*.state"):
                file.unlink()
            end.path.rmdir()
    _dead.discard(end)
    _all.discard(end)


_remove_all: Final = remove_at_exit(_all, _remove)


class Snapshot(NamedTuple):
    """A copy of the state before a step.

    Attributes
    ----------
    tensors : sequence of KeptTensor
        The tensors of the state.
    build : callable
        Puts them together.
    random : RandomState
        The position of the default generator.
    """

    tensors: Sequence[KeptTensor]
    build: Build
    random: RandomState

    @staticmethod
    def of(state: State) -> Snapshot:
        """A copy of a state, now."""
        return Snapshot(
            tuple([KeptTensor.of(x) for x in state.tensors]), state.build, RandomState.now()
        )

    def restored(self, random: bool) -> State:
        """A new state with the same values.

        Parameters
        ----------
        random : bool
            Whether to restore the default generator too.
        """
        if random:
            self.random.enter()
        return State(tuple([x.restored() for x in self.tensors]), self.build)


class Snapshots:
    """The snapshots of one run of a schedule, by step and kind of memory.

    Snapshots on disk are files in a folder of their own, which is removed with this object.
    """

    __slots__ = ("__weakref__", "_folder", "_in_files", "_in_memory", "_seals", "_within")

    _in_memory: dict[int, Snapshot]
    # Without values, which are in the file.
    _in_files: dict[int, Snapshot]
    _seals: dict[int, FileSeal]
    _folder: Path | None
    _within: Path | None

    def __init__(self, within: Path | None) -> None:
        """Start without snapshots.

        Parameters
        ----------
        within : Path or None
            Where the folder for files is made, on first use; None if there must be no files.
        """
        self._in_memory = {}
        self._in_files = {}
        self._seals = {}
        self._folder = None
        self._within = within

    def write(self, step: int, snapshot: Snapshot, on_disk: bool) -> None:
        """Keep a snapshot."""
        if not on_disk:
            self._in_memory[step] = snapshot
            return
        path, total = self._path(step), 0
        with path.open("wb") as file:
            for tensor in snapshot.tensors:
                total = zlib.crc32(tensor.array.save(file), total)
        self._seals[step] = FileSeal(str(path), total)
        self._in_files[step] = snapshot._replace(
            tensors=tuple([x.without_values() for x in snapshot.tensors])
        )

    def read(self, step: int, on_disk: bool) -> Snapshot | None:
        """The snapshot of a step; None if there is none."""
        if not on_disk:
            return self._in_memory.get(step)
        kept = self._in_files.get(step)
        if kept is None:
            return None
        content = self._path(step).read_bytes()
        _refuse(step, self._seals[step].fault_of(content))
        file = BytesIO(content)
        return kept._replace(tensors=tuple([x.loaded(file) for x in kept.tensors]))

    def check(self) -> None:
        """Raise if a file cannot be read or was changed, as far as its entry shows.

        Raises
        ------
        OSError
            If one cannot be read.
        CheckpointError
            If one was changed.
        """
        for step in self._in_files:
            _refuse(step, self._seals[step].fault())

    def drop(self, step: int, on_disk: bool) -> None:
        """Remove a snapshot, if there is one."""
        if not on_disk:
            self._in_memory.pop(step, None)
        elif self._in_files.pop(step, None) is not None:
            self._path(step).unlink()

    def _path(self, step: int) -> Path:
        if self._folder is None:
            if self._within is None:
                raise ArgumentValueError(
                    "the schedule of checkpoint_loop keeps states on disk; pass folder=, a folder "
                    "for them",
                    argument="folder",
                )
            self._folder = _TemporaryFolder.make(self, self._within)
        return self._folder / f"{step}.state"


def _refuse(step: int, fault: str | None) -> None:
    if fault is not None:
        raise CheckpointError(
            f"checkpoint_loop kept the state before step {step} in a file, and cannot read it: "
            f"{fault}",
            step=step,
        )
