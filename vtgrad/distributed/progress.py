"""Reports of how many shards are finished, to a function or a bar of tqdm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TypeAlias

from vtgrad.errors import MissingPackageError

__all__ = ["Progress", "bar_exists", "reporting"]

# Called with the number of shards that are finished, and the number of all.
Progress: TypeAlias = Callable[[int, int], object]


def bar_exists() -> None:
    """Raise unless tqdm is installed.

    Raises
    ------
    MissingPackageError
        If it is not.
    """
    try:
        import_module("tqdm")
    except ImportError:
        raise MissingPackageError(
            "progress=True shows a bar of tqdm: pip install tqdm, or pass a function",
            package="tqdm",
        ) from None


@contextmanager
def reporting(progress: Progress | bool | None, total: int) -> Iterator[Progress]:
    """What is called for each shard of one call."""
    if callable(progress):
        yield progress
    elif progress:
        with import_module("tqdm").tqdm(total=total, unit="shard", leave=False) as bar:
            yield lambda done, _: bar.update(done - bar.n)
    else:
        yield lambda done, total: None
