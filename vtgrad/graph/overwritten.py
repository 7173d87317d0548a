"""What to say when a saved value was overwritten: by whom, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ..errors import StaleSavedError
from ..storage.arrays import Array
from ..storage.dtypes import dtype_of
from ..storage.recent_writes import CallSite, Write, operator_of, quoted, recent_writes
from ..storage.tensor_impl import TensorImpl
from ..storage.version_counter import VersionCounter
from .anomaly import made_at
from .operators import operators

if TYPE_CHECKING:
    from .node import Node

__all__ = ["leaf_moved_error", "stale_saved_error"]

# Writers that store what has nothing to do with the values before.
_NO_NAMESAKE: Final = frozenset({"__setitem__", "copy_", "fill_", "zero_"})


def stale_saved_error(
    node: Node,
    array: Array,
    counter: VersionCounter,
    saved: int,
    producer: str,
    *,
    is_output: bool,
) -> StaleSavedError:
    """The error about a saved value that was overwritten.

    Parameters
    ----------
    node : Node
        What saved it.
    array : ndarray
        The value that is there now.
    counter : VersionCounter
        Its versions.
    saved : int
        The version when it was saved.
    producer : str
        What made the value, in words.
    is_output : bool
        Whether it is a result of `node` itself.
    """
    name, dtype = node.name(), dtype_of(array.dtype).name
    writes = recent_writes(counter, saved)
    # What did it is the first write, or one before if that is forgotten.
    first = writes[0] if writes else None
    saver = made_at(node)
    ways = _ways_out(operator_of(name), writes, saver, array, is_output=is_output)
    text = (
        f"{name} needs a value that was overwritten in place: a {dtype} tensor of shape "
        f"{list(array.shape)}, {producer}, was saved at version {saved} and is now at version "
        f"{counter.value}"
    )
    if saver is not None:
        text += quoted(f"saved by {name} at {saver}", saver)
    text += _told(writes, counter.value - saved)
    text += "\nOne of these helps:" + "".join(f"\n  - {way}" for way in ways)
    return StaleSavedError(
        text,
        expected_version=saved,
        found_version=counter.value,
        node=name,
        shape=array.shape,
        dtype=dtype,
        producer=producer,
        operator=None if first is None else first.operator,
        filename=None if first is None else first.filename,
        lineno=None if first is None else first.lineno,
        writes=writes,
        saved_at=saver,
        ways_out=ways,
    )


def leaf_moved_error(node: Node, counter: VersionCounter | None) -> StaleSavedError:
    """The error about a leaf that became a result after a graph was recorded from it.

    Parameters
    ----------
    node : Node
        The leaf's.
    counter : VersionCounter or None
        The leaf's versions, if it is still there.
    """
    writes = recent_writes(counter)
    last = writes[-1] if writes else None
    text = (
        "a leaf was written in place with something that is recorded, so it is a result now, but "
        "a graph that was recorded before wants to fill its .grad as a leaf"
    )
    if last is not None:
        text += quoted(f"last written by {last.described}", last.place)
    return StaleSavedError(
        text,
        node=node.name(),
        operator=None if last is None else last.operator,
        filename=None if last is None else last.filename,
        lineno=None if last is None else last.lineno,
        writes=writes,
    )


def _told(writes: Sequence[Write], count: int) -> str:
    """Every write that is remembered, those of one line together, of `count` that there were."""
    if not writes:
        return "\n  (who wrote is not remembered)"
    text = ""
    if len(writes) < count:
        text += f"\n  (only the last {len(writes)} of {count} writes are remembered)"
    start = 0
    while start < len(writes):
        first = writes[start]
        end = start + 1
        while end < len(writes) and _on_one_line(first, writes[end]):
            end += 1
        views = {write.view for write in writes[start:end]}
        described = first.described
        if len(views) > 1 and first.view is not None:
            through = f", through {len(views)} views, the first of {first.view.described}"
            described = first.called + through + first.elsewhere
        versions = f"version {first.version}"
        if end - start > 1:
            versions = f"versions {first.version} to {writes[end - 1].version}"
        text += quoted(f"written by {described} ({versions})", first.place)
        start = end
    return text


def _on_one_line(a: Write, b: Write) -> bool:
    return (
        (a.operator, a.place, a.thread) == (b.operator, b.place, b.thread)
        # Views of a loop are told together.
        and (a.view is None) == (b.view is None)
    )


def _ways_out(
    user: str,
    writes: Sequence[Write],
    saver: CallSite | None,
    array: Array,
    *,
    is_output: bool,
) -> tuple[str, str, str]:
    """Three things to do, each of which would have avoided the error."""
    write = writes[0] if writes else None
    place = None if write is None else write.place
    files = {w.filename for w in writes} | ({saver.filename} if saver is not None else set())

    def line(place: CallSite) -> str:
        return f"line {place.lineno}" if len(files) == 1 else place.short

    before = "the write" if place is None else line(place)
    use = user if saver is None else f"{user} at {line(saver)}"
    if is_output:
        copy = f"put y = y.clone() before {before} for the result y of {user}, and write to that"
    else:
        copy = f"pass x.clone() to {use} for the x that {before} changes"
    return (
        _instead(write, "" if place is None else f"at {line(place)}, ", before, array),
        f"run backward before {before}, or write before {use}",
        copy,
    )


def _instead(write: Write | None, there: str, before: str, array: Array) -> str:
    """What to do in the place of a write."""
    if write is None:
        return "use out-of-place operators, which make new tensors"
    operator = write.operator
    if operator == "backward":
        return f"set .grad to None before {before}, so that backward makes a new one"
    if operator == "increment_version":
        return f"{there}let what writes by other means write to a copy"
    if operator.endswith(".apply"):
        return f"{there}pass x.clone() to {operator} for the x that it writes"
    if operator in _NO_NAMESAKE:
        return f"{there}make a new tensor instead, for example with where() or cat()"
    if not operator.endswith("_"):
        return f"{there}call {operator} without out=, which makes a new tensor"
    namesake = operator.rstrip("_")
    if not hasattr(operators().wrap(TensorImpl(array)), namesake):
        return f"{there}make a new tensor instead, for example with where() or cat()"
    rest = "" if write.view is None else ", and make the whole tensor anew from its result"
    return f"{there}use the out-of-place {namesake} instead of {operator}{rest}"
