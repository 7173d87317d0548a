"""What a process of the own pool does."""

from __future__ import annotations

import pickle
import signal
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Final, NamedTuple

from vtgrad.distributed.answers import failure
from vtgrad.distributed.program import Program, Step, evaluate
from vtgrad.distributed.sent import Held

__all__ = ["CANCEL", "Give", "Idle", "Run", "serve"]


class Give(NamedTuple):
    """A shard that stays with the worker."""

    number: int
    shard: Held[object]


class Run(NamedTuple):
    """Compute some shards, or all for None; an answer for each of them follows, then `Idle`."""

    step: Step
    shards: Sequence[int] | None


class Idle(NamedTuple):
    """The worker has answered a `Run`, or was told to stop."""


# Stop after the shard that is computed now.
CANCEL: Final = b""


def serve(
    connection: Connection,
    inherited: Sequence[Connection],
    program: Program | None,
    shards: dict[int, Held[object]],
) -> None:
    """Answer the other end of a connection until it is closed.

    Ctrl-C reaches all processes of a terminal; the parent decides what it means.

    Parameters
    ----------
    connection : Connection
        To the parent.
    inherited : sequence of Connection
        Ends that belong to the parent, of which a fork has copies. As long as a copy is open, the
        worker at the other end does not see that the parent has ended.
    program : Program or None
        What a fork has already; None where it is the first message.
    shards : dict of int to Held
        What a fork has already.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in inherited:
        other.close()
    try:
        if program is None:
            read = _read(connection, connection.recv_bytes())
            program = read if isinstance(read, Program) else None
        while program is not None:
            received = connection.recv_bytes()
            if received == CANCEL:
                continue
            message = _read(connection, received)
            if isinstance(message, Give):
                shards[message.number] = message.shard
            elif isinstance(message, Run):
                _run(connection, program, message, shards)
            else:
                break
    except (EOFError, ConnectionError):  # the parent has closed the connection, or has ended
        pass


def _read(connection: Connection, received: bytes) -> object:
    """A message; None if it cannot be read here, of which the parent gets an answer."""
    try:
        return pickle.loads(received)
    except Exception as error:  # noqa: BLE001  # raised again by the parent
        connection.send_bytes(_bytes(failure(-1, error)))
        return None


def _run(
    connection: Connection, program: Program, run: Run, shards: dict[int, Held[object]]
) -> None:
    for number in shards if run.shards is None else run.shards:
        if connection.poll():  # only a `CANCEL` comes before the answers are complete
            break
        answer = evaluate(program, run.step, shards[number], number, alone=True)
        connection.send_bytes(_bytes(answer))
    connection.send_bytes(_bytes(Idle()))


def _bytes(message: object) -> bytes:
    return pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
