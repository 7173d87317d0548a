"""What a story says of storages, tensors, saved values and nodes, and what a step changes of it.

Note [What a story keeps]

A story holds no object of the program: no tensor, no array, no node. It holds records, which
consist of texts and numbers, and a step has only the records that it changed. So a program frees
its memory as it does without a story, and a long story is small.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, TypeAlias, TypedDict, TypeVar

__all__ = [
    "Changes",
    "StoryKeys",
    "StoryRecords",
    "NodeRecord",
    "Runs",
    "SavedRecord",
    "StorageRecord",
    "TensorRecord",
    "StoryWrite",
    "changes_between",
    "keys_of",
    "merged",
    "no_records",
    "with_former",
    "without_unknown",
]

# Elements of a storage: the first, the end, and the distance of each run.
Runs: TypeAlias = list[list[int]]


class StorageRecord(TypedDict):
    """A buffer.

    Attributes
    ----------
    name : str
        The name of the tensor that has it.
    dtype : str
        The dtype of its elements.
    elements : int
        Their number.
    values : list of str
        The first of them.
    version : int
        The number of writes.
    marked : Runs
        The elements that were written since a value that still lives was saved.
    """

    name: str
    dtype: str
    elements: int
    values: list[str]
    version: int
    marked: Runs


class TensorRecord(TypedDict):
    """A tensor that lives.

    Attributes
    ----------
    name : str
        The user's name of it, or one that says what made it.
    storage : str
        The buffer.
    shape : list of int
        Length of each dimension.
    runs : Runs
        The elements of the buffer that it shows.
    count : int
        Their number, also of those that the runs leave out.
    base : str or None
        The tensor that it is a view of.
    requires_grad, leaf : bool
        As the attributes of `Tensor`.
    grad_fn : str or None
        Its node, as it is stored.
    stale : bool
        Whether that node will be rebuilt when it is read, because the base was written.
    grad : str or None
        The tensor that is its ``.grad``.
    version : int
        As `Tensor._version`.
    """

    name: str
    storage: str
    shape: list[int]
    runs: Runs
    count: int
    base: str | None
    requires_grad: bool
    leaf: bool
    grad_fn: str | None
    stale: bool
    grad: str | None
    version: int


class SavedRecord(TypedDict):
    """A value that a node has saved.

    Attributes
    ----------
    node : str
        The node.
    label : str
        The name of the node's field.
    tensor : str or None
        The tensor that was saved, if it lives.
    storage : str or None
        The buffer; None if hooks have packed the value.
    runs : Runs
        The elements that were saved.
    count : int
        Their number, also of those that the runs leave out.
    version : int
        The version of the buffer when they were saved.
    state : str
        "intact", "overwritten", or "kept": overwritten, and rewind has kept the bytes.
    write : int or None
        The number of the step that overwrote it.
    """

    node: str
    label: str
    tensor: str | None
    storage: str | None
    runs: Runs
    count: int
    version: int
    state: str
    write: int | None


class NodeRecord(TypedDict):
    """A node of the graph.

    Attributes
    ----------
    name : str
        Its name.
    next : list
        For each input of the operator, the node that gets its gradient, and the number there.
    tensor : str or None
        Of a leaf's node, the leaf.
    state : str
        "recorded", "running" or "ran".
    inner : str or None
        Of the node of a write through a view, the node of the operator that wrote.
    """

    name: str
    next: list[tuple[str, int] | None]
    tensor: str | None
    state: str
    inner: str | None


class StoryRecords(TypedDict):
    """StoryRecords by key, as a whole state or as what a step has changed."""

    storages: dict[str, StorageRecord]
    tensors: dict[str, TensorRecord]
    saved: dict[str, SavedRecord]
    nodes: dict[str, NodeRecord]


class StoryKeys(TypedDict):
    """The keys of what is there no longer."""

    storages: list[str]
    tensors: list[str]
    saved: list[str]
    nodes: list[str]


class Changes(NamedTuple):
    """What is different after a step.

    Attributes
    ----------
    set : StoryRecords
        New and changed records.
    gone : StoryKeys
        What is there no longer.
    """

    set: StoryRecords
    gone: StoryKeys

    def __bool__(self) -> bool:
        return any(self.set.values()) or any(self.gone.values())


class StoryWrite(TypedDict):
    """Elements that a step writes.

    Attributes
    ----------
    storage : str
        The buffer.
    runs : Runs
        The elements.
    """

    storage: str
    runs: Runs


R = TypeVar("R")


def no_records() -> StoryRecords:
    """The state of which nothing was seen."""
    return {"storages": {}, "tensors": {}, "saved": {}, "nodes": {}}


def with_former(former: StoryRecords, present: StoryRecords) -> StoryRecords:
    """The present records, and those of what is there no longer."""
    return {
        "storages": {**former["storages"], **present["storages"]},
        "tensors": {**former["tensors"], **present["tensors"]},
        "saved": {**former["saved"], **present["saved"]},
        "nodes": {**former["nodes"], **present["nodes"]},
    }


def changes_between(before: StoryRecords, after: StoryRecords) -> Changes:
    """What one state has that another one has not."""
    return Changes(
        {
            "storages": _new(before["storages"], after["storages"]),
            "tensors": _new(before["tensors"], after["tensors"]),
            "saved": _new(before["saved"], after["saved"]),
            "nodes": _new(before["nodes"], after["nodes"]),
        },
        {
            "storages": _missing(before["storages"], after["storages"]),
            "tensors": _missing(before["tensors"], after["tensors"]),
            "saved": _missing(before["saved"], after["saved"]),
            "nodes": _missing(before["nodes"], after["nodes"]),
        },
    )


def merged(first: Changes, second: Changes) -> Changes:
    """The changes of two steps, one after the other, as those of one."""
    a, b, gone, later = first.set, second.set, first.gone, second.gone
    return Changes(
        {
            "storages": _over(a["storages"], b["storages"], later["storages"]),
            "tensors": _over(a["tensors"], b["tensors"], later["tensors"]),
            "saved": _over(a["saved"], b["saved"], later["saved"]),
            "nodes": _over(a["nodes"], b["nodes"], later["nodes"]),
        },
        {
            "storages": _lost(gone["storages"], later["storages"], b["storages"]),
            "tensors": _lost(gone["tensors"], later["tensors"], b["tensors"]),
            "saved": _lost(gone["saved"], later["saved"], b["saved"]),
            "nodes": _lost(gone["nodes"], later["nodes"], b["nodes"]),
        },
    )


def keys_of(records: StoryRecords) -> list[str]:
    """The keys of all kinds."""
    return [
        *records["storages"],
        *records["tensors"],
        *records["saved"],
        *records["nodes"],
    ]


def without_unknown(changes: Changes, known: Collection[str]) -> Changes:
    """Changes in which what is gone was known before: what came and went is left out."""
    gone = changes.gone
    return Changes(
        changes.set,
        {
            "storages": [key for key in gone["storages"] if key in known],
            "tensors": [key for key in gone["tensors"] if key in known],
            "saved": [key for key in gone["saved"] if key in known],
            "nodes": [key for key in gone["nodes"] if key in known],
        },
    )


def _new(before: Mapping[str, R], after: Mapping[str, R]) -> dict[str, R]:
    return {key: record for key, record in after.items() if before.get(key) != record}


def _missing(before: Mapping[str, R], after: Mapping[str, R]) -> list[str]:
    return [key for key in before if key not in after]


def _over(first: Mapping[str, R], second: Mapping[str, R], gone: Iterable[str]) -> dict[str, R]:
    lost = set(gone)
    return {**{key: record for key, record in first.items() if key not in lost}, **second}


def _lost(first: Iterable[str], second: Iterable[str], present: Mapping[str, R]) -> list[str]:
    return [key for key in dict.fromkeys([*first, *second]) if key not in present]
