"""What a worker answers for a shard."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from vtgrad.storage.arrays import Array

__all__ = ["Answer", "Done", "Failed", "failure"]


class Done(NamedTuple):
    """The value of the function for one shard, and its gradients.

    They are arrays, which are read and written in a third of the time of tensors.

    Attributes
    ----------
    shard : int
        The number of the shard.
    value : ndarray
        0-d.
    gradients : sequence of ndarray
        One for each tensor of the parameters.
    """

    shard: int
    value: Array
    gradients: Sequence[Array]


class Failed(NamedTuple):
    """The function raised an error.

    Attributes
    ----------
    shard : int
        The number of the shard; -1 if a message could not be read at all.
    error : BaseException or None
        The error; None if it cannot be pickled.
    summary, text : str
        The error in one line, and with its traceback.
    """

    shard: int
    error: BaseException | None
    summary: str
    text: str


Answer: TypeAlias = Done | Failed


def failure(shard: int, error: BaseException) -> Failed:
    """The answer for an error, which another process can read."""
    text = "".join(traceback.format_exception(error))
    summary = traceback.format_exception_only(error)[-1].strip()
    sent: BaseException | None = error
    try:
        # An exception may be written and not read: its class is called with `args` alone.
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001  # what the class of an error may raise
        sent = None
    return Failed(shard, sent, summary, text)
