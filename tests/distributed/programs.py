"""What the workers of these tests run: functions that processes find by their names."""

import os
import signal
import time
from pathlib import Path

import numpy as np

import vtgrad as vt
from vtgrad import Tensor

Weights = dict[str, Tensor]
Pair = tuple[Tensor, Tensor]

COUNT = 7


def pairs(count: int = COUNT, rows: int = 5) -> list[Pair]:
    """Shards whose sums depend on the order of addition in the last bits."""
    random = np.random.default_rng(7)
    scales = 10.0 ** random.integers(-3, 3, size=count)
    return [
        (
            vt.from_numpy(scale * random.normal(size=(rows, 3))),
            vt.from_numpy(random.normal(size=rows)),
        )
        for scale in scales
    ]


def weights() -> Weights:
    return {
        "w": vt.tensor([1.0, -0.5, 0.25], dtype=vt.float64),
        "b": vt.tensor(0.1, dtype=vt.float64),
    }


def squares(p: Weights, shard: Pair) -> Tensor:
    """A program with a view and a write."""
    x, y = shard
    r = x @ p["w"] - y
    r[1:].add_(p["b"])
    return (r * r).sum()


@vt.jit.replay
def replayed_squares(p: Weights, shard: Pair) -> Tensor:
    return squares(p, shard)


def by_default_dtype(p: Tensor, shard: Tensor) -> Tensor:
    return (p * shard * vt.full((), 1.0)).sum() + vt.zeros(())


def command(p: Tensor, shard: tuple[str, str]) -> Tensor:
    """Does what the shard says; the second string is the name of a file."""
    what, path = shard
    if what == "raise":
        raise ValueError("this shard is bad")
    if what == "exit" and not Path(path).exists():
        Path(path).touch()
        os._exit(3)
    if what == "always exit":
        os._exit(4)
    if what == "kill" and not Path(path).exists():
        Path(path).touch()
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    if what == "sleep":
        Path(path).touch()
        time.sleep(60)
    if what == "append":
        with open(path, "a", encoding="utf-8") as file:
            file.write("x")
    return (p * p).sum()


def writes_shard(p: Tensor, shard: Tensor) -> Tensor:
    shard[0] = 0.0
    return (p * shard).sum()


def writes_array(p: Tensor, shard: dict[str, np.ndarray]) -> Tensor:
    shard["a"][0] = 0.0
    return (p * vt.from_numpy(shard["a"])).sum()


def writes_parameter(p: Tensor, shard: Tensor) -> Tensor:
    with vt.no_grad():
        p[0] = 0.0
    return (p * shard).sum()


_OUTSIDE = vt.ones(1, requires_grad=True)


def uses_outside(p: Tensor, shard: int) -> Tensor:
    return (p * shard * _OUTSIDE).sum()


class Marked(Tensor):
    """A class of tensors."""


class Counted:
    """A shard that counts how often it is pickled here."""

    pickled = 0

    def __reduce__(self) -> tuple[type["Counted"], tuple[()]]:
        Counted.pickled += 1
        return Counted, ()


def constant(p: Tensor, shard: object) -> Tensor:
    return (p * 2.0).sum()


class Unreadable:
    """It is written, and cannot be read."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return _no, ("there is no such file",)


def _no(text: str) -> None:
    raise FileNotFoundError(text)


class OddError(Exception):
    """Its class cannot be called with its arguments, so it cannot be read in another process."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} {two}")


def raises_odd_error(p: Tensor, shard: object) -> Tensor:
    raise OddError(1, 2)
