"""What a story says of writes, and of gradients that are stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from vtgrad.storage.lazy_array import physical
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.version_counter import INFERENCE
from vtgrad.storage.write_log import SAVED
from vtgrad.viz.story_elements import Elements, elements_of_array, elements_of_region
from vtgrad.viz.story_records import StoryRecords, StoryWrite
from vtgrad.viz.story_words import consequences, elements, grads, named
from vtgrad.viz.story_world import World, impl_of

__all__ = ["Written", "expect_write", "gradients_stored", "version_of", "write_of", "without_call"]

R = TypeVar("R")


class Written(NamedTuple):
    """What a step says of a write.

    Attributes
    ----------
    text : str
        The sentence, or its end.
    writes : list of StoryWrite
        The elements.
    """

    text: str
    writes: list[StoryWrite]


def expect_write(tensor: TensorBase) -> None:
    """Have the next write state its elements; see Note [Steps of a story]."""
    counter = impl_of(tensor).counter
    if counter is not INFERENCE and counter.log is None:
        counter.log = SAVED


def version_of(tensor: TensorBase) -> int:
    """The number of writes to the memory of a tensor."""
    counter = impl_of(tensor).version_counter
    return 0 if counter is None else counter.value


def write_of(
    written: Sequence[tuple[TensorBase, int]],
    keys: Mapping[int, str],
    before: StoryRecords,
    after: StoryRecords,
    world: World,
) -> Written:
    """What an operator wrote.

    Parameters
    ----------
    written : sequence of tuple
        The tensors, and their versions before the call.
    keys : mapping of int to str
        Their keys, by their `id`.
    before, after : StoryRecords
        The states before and after the call.
    world : World
        What was seen.
    """
    found: dict[str, StoryWrite] = {}
    parts: list[str] = []
    for tensor, version in written:
        key = keys[id(tensor)]
        record = after["tensors"].get(key)
        if record is None or record["storage"] in found:
            continue
        place = record["storage"]
        storage = after["storages"][place]
        part = _elements_written(tensor, version, *world.place_of(place))
        found[place] = {"storage": place, "runs": part.runs}
        through = "" if record["base"] is None else f" through {named(key)}"
        # The forward of a custom Function has told of its own writes.
        told = before["storages"].get(place)
        former = version if told is None else told["version"]
        # Those of inference mode have no version.
        versions = f" (version {former} to {storage['version']})" if storage["version"] else ""
        parts.append(f"{elements(part.number)} of {storage['name']}{through}{versions}")
    text = f"writes {' and '.join(parts) or 'memory that is not shown'}"
    return Written(text + consequences(before, after), list(found.values()))


def _elements_written(tensor: TensorBase, version: int, start: int, item: int) -> Elements:
    """The elements that a write marked, or else all that its tensor shows.

    Parameters
    ----------
    tensor : TensorBase
        The written tensor.
    version : int
        The version before the write.
    start, item : int
        The address of the buffer, and the size of its elements.
    """
    impl = impl_of(tensor)
    array, counter = physical(impl.array), impl.version_counter
    log = None if counter is None else counter.log
    if log is SAVED or (log is not None and log.marked <= version):
        # Nothing was marked: by an index that is nowhere true, or a change of geometry.
        return Elements([], 0)
    if counter is not None and log is not None:
        marked = [entry for entry in log.recent if entry is not None and entry[0] > version]
        if len(marked) == 1 and counter.value == version + 1:
            return elements_of_region(marked[0][1:], item)
    return elements_of_array(array, start, item)


def gradients_stored(before: StoryRecords, after: StoryRecords) -> Written:
    """The gradients that a pass has stored; without a text if there are none."""
    stored, added = [], []
    writes: list[StoryWrite] = []
    for key, record in after["tensors"].items():
        old, grad = before["tensors"].get(key), record["grad"]
        if grad is None or grad not in after["tensors"]:
            continue
        part = after["tensors"][grad]
        if old is None or old["grad"] != grad:
            stored.append(key)
        elif grad in before["tensors"] and before["tensors"][grad] != part:
            added.append(key)
            writes.append({"storage": part["storage"], "runs": part["runs"]})
    parts = [_are_stored(stored)] if stored else []
    parts += [f"the gradients are added to {grads(added)}"] if added else []
    return Written("; ".join(parts), writes)


def without_call(before: StoryRecords, after: StoryRecords, between: str) -> tuple[str, str] | None:
    """The kind and the sentence of a step of what no operator has done.

    Parameters
    ----------
    before, after : StoryRecords
        The states.
    between : str
        The lines between which it happened, as the end of a sentence.

    Returns
    -------
    tuple of str, or None
        None if memory and gradients are as before.
    """
    tensors, storages = before["tensors"], before["storages"]
    alive = list(_both(tensors, after["tensors"]))
    moved = [key for key, old, new in alive if new["storage"] != old["storage"]]
    if moved:
        return "view", f"{', '.join(map(named, moved))} shows other memory{between}"
    filled = [key for key, old, new in alive if new["grad"] not in (None, old["grad"])]
    if filled:
        return "grad", f"{_are_stored(filled)}{between}"
    pairs = list(_both(storages, after["storages"]))
    # It is less when a tensor with a counter of its own has died, as that of `x.data`.
    counted = [new["name"] for _, old, new in pairs if new["version"] > old["version"]]
    changed = counted or [new["name"] for _, old, new in pairs if new["values"] != old["values"]]
    if not changed:
        return None
    how = "without an operator" if counted else "without a version: no counter sees it"
    what = f"the memory of {', '.join(changed)} changes {how}{between}"
    return "write", what + consequences(before, after)


def _both(before: Mapping[str, R], after: Mapping[str, R]) -> Iterator[tuple[str, R, R]]:
    """The key, and the records before and after, of what is in both."""
    for key, record in after.items():
        if key in before:
            yield key, before[key], record


def _are_stored(keys: Sequence[str]) -> str:
    return f"{grads(keys)} {'is' if len(keys) == 1 else 'are'} stored"
