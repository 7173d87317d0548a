# Compiled by mypyc.
"""Errors about overwritten saved values: they name the write and the ways to avoid it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from vtgrad.errors import StaleSavedError
from vtgrad.graph.anomaly import made_at, traceback_of
from vtgrad.graph.operators import operators
from vtgrad.graph.written_elements import written_elements
from vtgrad.storage.arrays import Array
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.recent_writes import (
    CallSite,
    Write,
    find_write,
    operator_of,
    quoted,
    recent_writes,
)
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.tensor_name import name_of, name_of_elements
from vtgrad.storage.version_counter import VersionCounter

if TYPE_CHECKING:
    from vtgrad.graph.node import Node

__all__ = ["leaf_moved_error", "stale_saved_error"]

# Writers whose result does not depend on the previous values.
_NO_NAMESAKE: Final = frozenset({"__setitem__", "copy_", "fill_", "zero_"})

_REWIND: Final = (
    "keep what is overwritten: run the program under "
    "`with vt.autograd.graph.allow_mutation_on_saved_tensors():`"
)

_TO_SEE_SAVER: Final = (
    "\nThe line that saved the value is named too if the program runs under "
    "`with vt.autograd.set_detect_anomaly(True):`"
)


def stale_saved_error(
    node: Node,
    array: Array,
    counter: VersionCounter,
    saved: int,
    producer: str,
    *,
    tensor: TensorBase | None,
    offset: int,
    is_output: bool,
    is_parameter: bool,
    rewinds: bool,
) -> StaleSavedError:
    """The error about a saved value that was overwritten; see Note [Which writes are named].

    Parameters
    ----------
    node : Node
        The node that saved the value.
    array : ndarray
        The present value.
    counter : VersionCounter
        The counter of the value.
    saved : int
        The last version at which the value was known to be intact.
    producer : str
        The operator that made the value, in words.
    tensor : TensorBase or None
        The tensor that was saved, if it lives and is known.
    offset : int
        Offset of its first element in the storage, in bytes.
    is_output : bool
        Whether it is a result of `node` itself.
    is_parameter : bool
        Whether it is a leaf that requires grad.
    rewinds : bool
        Whether it was saved under rewind, which could not keep the overwritten bytes.
    """
    name, dtype = node.name(), dtype_of(array.dtype).name
    label = (None if tensor is None else name_of(tensor)) or name_of_elements(array, counter)
    named = "" if label is None else f" with the name {label!r}"
    text = (
        f"{name} needs a value that was overwritten in place: a {dtype} tensor of shape "
        f"{list(array.shape)}{named}, {producer}, was intact at version {saved} and is now at "
        f"version {counter.value}"
    )
    saver = made_at(node)
    told = "" if saver is None else quoted(f"saved by {name} at {saver}", saver)
    found = written_elements(counter, array, offset, saved)
    if found is None:
        # The cause is the first write, or an earlier one that is forgotten.
        elements = None
        writes = recent_writes(counter, saved)
        told += _told(writes, counter.value - saved)
    else:
        elements, versions = found
        writes = _first_and_last(counter, versions)
        text += f"; {elements}"
        told += _named(writes)
    if rewinds:
        told += f"\n  ({_why_not_kept(writes)})"
    first = writes[0] if writes else None
    log = counter.log
    ways = _ways_out(
        operator_of(name),
        writes,
        saver,
        array,
        is_output=is_output,
        is_parameter=is_parameter,
        is_part=log is not None and array.nbytes < log.nbytes,
        is_kept=not rewinds and found is not None and bool(writes) and all(map(_is_kept, writes)),
    )
    text += told + "\nOne of these helps:" + "".join(f"\n  - {way}" for way in ways)
    if saver is None and traceback_of(node) is None:
        text += _TO_SEE_SAVER
    return StaleSavedError(
        text,
        elements=elements,
        expected_version=saved,
        found_version=counter.value,
        node=name,
        shape=array.shape,
        dtype=dtype,
        name=label,
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
        The leaf's node.
    counter : VersionCounter or None
        The leaf's counter, if the leaf is alive.
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


def _first_and_last(counter: VersionCounter, versions: Sequence[int]) -> tuple[Write, ...]:
    """The first and the last remembered write of some versions, or the only one."""
    found: list[Write] = []
    for order in (versions, versions[::-1]):
        for version in order:
            write = find_write(counter, version)
            if write is not None:
                found.append(write)
                break
    return tuple(found[:1] if len(set(found)) < 2 else found)


def _named(writes: Sequence[Write]) -> str:
    """The first and the last write in words, together if one program line made both."""
    if not writes:
        return "\n  (who wrote is not remembered)"
    first, last = writes[0], writes[-1]
    told = f"written by {first.described} (version {first.version}"
    if last is first:
        return quoted(f"{told})", first.place)
    if (first.operator, first.place, first.thread) != (last.operator, last.place, last.thread):
        return quoted(f"{told})", first.place) + quoted(
            f"last written by {last.described} (version {last.version})", last.place
        )
    if first.view == last.view or last.view is None:
        return quoted(f"{told}, last at version {last.version})", first.place)
    return quoted(f"{told}), last through {last.view} (version {last.version})", first.place)


def _is_kept(write: Write) -> bool:
    """Whether rewind can keep the bytes that a write overwrites."""
    return write.operator != "increment_version" and not write.operator.endswith(".apply")


def _why_not_kept(writes: Sequence[Write]) -> str:
    """Why rewind has not kept what was overwritten."""
    function = next((w.operator for w in writes if w.operator.endswith(".apply")), None)
    if function is not None:
        return (
            f"what {function} overwrote was not kept: a Function tells by ctx.mark_dirty what it "
            "has written, but not when, so rewind does not know the bytes from before"
        )
    return (
        "what that overwrote was not kept, as it was done outside of "
        "allow_mutation_on_saved_tensors, on another thread or by other means"
    )


def _told(writes: Sequence[Write], count: int) -> str:
    """All remembered writes of `count` in words, those of one program line together."""
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
        # Writes to different views by one line of a loop are joined.
        and (a.view is None) == (b.view is None)
    )


def _ways_out(
    user: str,
    writes: Sequence[Write],
    saver: CallSite | None,
    array: Array,
    *,
    is_output: bool,
    is_parameter: bool,
    is_part: bool,
    is_kept: bool,
) -> tuple[str, str, str]:
    """Three changes of the program, each of which avoids the error."""
    # What is written inside of a Function stays: its argument can be another tensor.
    functions = [w for w in writes if w.operator.endswith(".apply")]
    write = functions[0] if functions else writes[0] if writes else None
    site = None if write is None else write.place
    files = {w.filename for w in writes} | ({saver.filename} if saver is not None else set())

    def line(site: CallSite) -> str:
        return f"line {site.lineno}" if len(files) == 1 else site.short

    before = "the write" if site is None else line(site)
    use = user if saver is None else f"{user} at {line(saver)}"
    instead = _instead(write, "" if site is None else f"at {line(site)}, ", before, array)
    if is_output:
        copy = f"put y = y.clone() before {before} for the result y of {user}, and write to that"
    elif is_part:
        copy = f"pass a copy to {use}, such as x[i].clone(), of the x that {before} changes"
    else:
        copy = f"pass x.clone() to {use} for the x that {before} changes"
    if not is_kept:
        return instead, f"run backward before {before}, or write before {use}", copy
    if is_parameter:
        return f"run backward before {before}", copy, _REWIND
    others = f"{instead}, or run backward before it"
    return (copy, others, _REWIND) if is_part and not is_output else (others, copy, _REWIND)


def _instead(write: Write | None, there: str, before: str, array: Array) -> str:
    """The operation that replaces a write."""
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
