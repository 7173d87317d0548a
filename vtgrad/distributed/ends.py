"""The errors for workers that end, and for shards that fail."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.distributed.answers import Failed
from vtgrad.errors import MainGuardError, NotPicklableError, ShardError, WorkerDiedError

__all__ = ["UNGUARDED", "died", "failed", "listed"]

# The exit code of a process that starts the program again while it imports it.
UNGUARDED = 118


def listed(shards: Sequence[int]) -> str:
    """Numbers of shards in a message."""
    first = ", ".join(map(str, shards[:20]))
    rest = f" and {len(shards) - 20} more" if len(shards) > 20 else ""
    return f"shard{'s' if len(shards) != 1 else ''} {first}{rest}"


def failed(answer: Failed) -> Exception:
    """The error for an answer of a function that raised one; its cause is the function's error."""
    error: Exception
    if answer.shard < 0:
        error = NotPicklableError(
            f"a worker cannot read the function or a shard: {answer.summary}", reason=answer.summary
        )
    else:
        error = ShardError(
            f"shard {answer.shard} failed: {answer.summary}",
            shard=answer.shard,
            shards=(answer.shard,),
            traceback=answer.text,
        )
    error.add_note(f"In the worker:\n{answer.text}")
    error.__cause__ = answer.error
    return error


def died(shards: Sequence[int], how: str, exit_code: int | None = None) -> Exception:
    """The error for a worker that has ended.

    Parameters
    ----------
    shards : sequence of int
        What it had not finished, the one that it computed first.
    how : str
        What is known of its end.
    exit_code : int, optional
        That of the process.
    """
    if exit_code == UNGUARDED:
        return MainGuardError(
            "a worker imports the main module, which starts the workers again: put what the "
            "program does below `if __name__ == '__main__':`"
        )
    return WorkerDiedError(
        how,
        shard=shards[0] if shards else None,
        shards=tuple(shards),
        traceback="",
        exit_code=exit_code,
    )
