"""Which steps to keep, and when to compute them again: schedules of `checkpoint_schedules`."""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Iterator
from typing import Protocol, SupportsIndex, cast

from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    MissingPackageError,
    NotSupportedError,
)

__all__ = ["Action", "Schedule", "count_of", "maker_of", "storage_name"]

_PACKAGE = "checkpoint_schedules"


class Action(Protocol):
    """One action of a schedule; its class says which."""

    args: tuple[object, ...]


class Schedule(Protocol):
    """A schedule of the package."""

    @property
    def max_n(self) -> int | None:
        """The number of steps; None as long as the schedule does not know it."""

    def finalize(self, n: int) -> None:
        """Tell the schedule the number of steps."""

    def __iter__(self) -> Iterator[Action]: ...

    def __next__(self) -> Action: ...


class _Package(Protocol):
    """The part of the package that is used by name."""

    def MultistageCheckpointSchedule(  # the package's name
        self, max_n: int, snapshots_in_ram: int, snapshots_on_disk: int
    ) -> Schedule: ...


def _package() -> _Package:
    try:
        return cast("_Package", importlib.import_module(_PACKAGE))
    except ImportError as error:
        raise MissingPackageError(
            "checkpoint_loop takes its schedules from the package checkpoint-schedules: "
            "pip install checkpoint-schedules",
            package="checkpoint-schedules",
        ) from error


def count_of(value: SupportsIndex, name: str, least: int) -> int:
    """A count as a Python integer.

    Raises
    ------
    ArgumentTypeError
        If it is no integer.
    ArgumentValueError
        If it is less than `least`.
    """
    try:
        count = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(
            f"argument {name!r} must be an integer, not {type(value).__name__}", argument=name
        ) from None
    if count < least:
        raise ArgumentValueError(f"argument {name!r} must be at least {least}, not {count}")
    return count


def maker_of(
    snapshots: SupportsIndex | None, schedule: Callable[[int], Schedule] | None
) -> Callable[[int], Schedule]:
    """A function that makes the schedule of a number of steps.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If not exactly one of the two is given, or is not of its type.
    MissingPackageError
        If the package is needed and not installed.
    """
    if (snapshots is None) == (schedule is None):
        raise ArgumentValueError("checkpoint_loop takes either snapshots or schedule")
    if schedule is not None:
        if not callable(schedule):
            raise ArgumentTypeError(
                "argument 'schedule' must be a function of the number of steps that makes a "
                f"schedule, not a {type(schedule).__name__}: a schedule serves one backward only",
                argument="schedule",
            )
        return schedule
    assert snapshots is not None
    count = count_of(snapshots, "snapshots", 1)
    package = _package()
    return lambda steps: package.MultistageCheckpointSchedule(steps, count, 0)


def storage_name(storage: object) -> str:
    """The name of a kind of storage: RAM, DISK, WORK or NONE.

    Raises
    ------
    NotSupportedError
        If it is another one.
    """
    name = str(getattr(storage, "name", storage))
    if name not in ("RAM", "DISK", "WORK", "NONE"):
        raise NotSupportedError(f"checkpoint_loop knows no storage {name!r}", storage=storage)
    return name
