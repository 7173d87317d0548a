# Compiled by mypyc.
"""What a batched tensor stands for: all samples of one `vmap`.

Note [Batched tensors]

Inside of `vmap` a function computes with tensors that stand for one sample each. Such a tensor has
the key `BATCHED`, and its `Batch` has the *value*: an ordinary tensor with all samples along its
first dimension. An operator that is called with it computes on values, once for all samples
(Note [Batching rules]). So the graph, versions, tangents and the memory are those of the values,
and gradients and tangents need no rules of their own:

    x = ones(5, 3)
    vmap(f)(x)        f gets a tensor of shape (3,), whose value is x
    inside of f:
    y = x * 2         the value of y is the value of x times 2: one node MulBackward0
    y[0] = 9          writes column 0 of the value of y, and bumps its version once

The tensor itself has no storage, no version and no gradient metadata. Its array is a `SampleArray`,
with sizes and strides of one sample, which refuses to be read.

Each running `vmap` is a `BatchLevel`. The value of a tensor may be batched at an outer level again.
An operator treats the highest level among its operands, and its calls with the values treat the
others. Numbers of levels are those of Note [Levels], and a tensor may only be used while its level
is open.
"""

from __future__ import annotations

import weakref
from typing import Final, cast

from vtgrad.errors import BatchedTensorError
from vtgrad.graph.sample_array import sample_array
from vtgrad.storage.extra_meta import ExtraMeta, StandsFor
from vtgrad.storage.layout import PECULIAR
from vtgrad.storage.record_write import OUTERMOST, caller
from vtgrad.storage.storage import Storage
from vtgrad.storage.tensor_base import T, TensorBase, handle_like
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import Site, VersionCounter

__all__ = [
    "Batch",
    "BatchLevel",
    "batch_of",
    "batched",
    "is_batched",
    "note_made",
    "show_value",
    "value_of",
    "with_entries",
]


class BatchLevel:
    """One running `vmap`; see Note [Batched tensors].

    Attributes
    ----------
    number : int
        Later levels have larger numbers.
    size : int
        The number of samples.
    randomness : str
        ``error``, ``same`` or ``different``.
    is_open : bool
        Whether the function is still running.
    called_at : Site or None
        The line that called `vmap`.
    made : dict of int to (weak reference, Site)
        The lines that made tensors without samples meanwhile, by the identity of the tensor.
    copies : mapping of Storage to object
        The copies that stand for views; see Note [Copies that stand for views].
    writes : mapping of Storage to int
        How often memory was written since there are such copies.
    """

    __slots__ = (
        "called_at",
        "copies",
        "is_open",
        "made",
        "number",
        "randomness",
        "size",
        "writes",
    )

    number: int
    size: int
    randomness: str
    is_open: bool
    called_at: Site | None
    made: dict[int, tuple[weakref.ref[TensorBase], Site]]
    copies: dict[Storage, object]
    writes: dict[Storage, int]

    def __init__(self, number: int, size: int, randomness: str) -> None:
        self.number = number
        self.size = size
        self.randomness = randomness
        self.is_open = True
        self.called_at = None
        self.made = {}
        self.copies = {}
        self.writes = {}

    def check_entered(self, entered: tuple[BatchLevel, ...]) -> None:
        """Raise if the function, which has returned, does not run again on this thread.

        Parameters
        ----------
        entered : tuple of BatchLevel
            ``thread.batch_levels``.

        Raises
        ------
        BatchedTensorError
            If it does not.
        """
        if self not in entered:
            raise BatchedTensorError(
                "a tensor of one sample was used after its vmap had returned; return it from the "
                "function, then vmap stacks all samples"
            )


# The open levels, of all threads, into which a value without samples was entered for a transform;
# see Note [Entering a batch].
with_entries: Final[set[BatchLevel]] = set()


class Batch(StandsFor):
    """What a batched tensor stands for; see Note [Batched tensors].

    Attributes
    ----------
    level : BatchLevel
        The `vmap`.
    value : TensorBase
        All samples, along the first dimension.
    """

    __slots__ = ("level", "value")

    level: BatchLevel
    value: TensorBase

    def __init__(self, level: BatchLevel, value: TensorBase) -> None:
        self.level = level
        self.value = value

    def counter(self) -> VersionCounter | None:
        """See `StandsFor`."""
        return value_of(self.value)._impl.version_counter

    def version(self) -> int:
        """See `StandsFor`."""
        return self.value._version


def batch_of(tensor: TensorBase) -> Batch | None:
    """What a tensor stands for, if it is batched."""
    extra = tensor._impl.extra_meta
    if extra is None:
        return None
    found = extra.stands_for
    assert found is None or isinstance(found, Batch)
    return found


def is_batched(tensor: object) -> bool:
    """Whether an object is a batched tensor."""
    return isinstance(tensor, TensorBase) and batch_of(tensor) is not None


def value_of(tensor: T) -> T:
    """The tensor itself, or the one with the samples of all levels if it is batched."""
    while (batch := batch_of(tensor)) is not None:
        # A value has the class of its tensor.
        tensor = cast("T", batch.value)
    return tensor


def batched(value: T, level: BatchLevel) -> T:
    """The tensor that stands for one sample of a value."""
    whole = value._impl
    array = sample_array(whole.array)
    impl = TensorImpl(array)
    extra = whole.extra_meta
    impl.extra_meta = ExtraMeta(None, None if extra is None else extra.device, Batch(level, value))
    _show(impl, whole)
    return handle_like(value, impl)


def show_value(tensor: TensorBase, value: TensorBase) -> None:
    """Give a batched tensor the geometry of its value, which may have changed."""
    impl, whole = tensor._impl, value._impl
    impl.array = sample_array(whole.array)
    _show(impl, whole)


def _show(impl: TensorImpl, whole: TensorImpl) -> None:
    """All of the geometry but the array."""
    # Of arrays without elements NumPy forgets the strides.
    impl._strides = None if impl.array.size else whole.strides[1:]
    impl.byte_offset = whole.byte_offset
    impl._storage = None
    impl.layout = PECULIAR


def note_made(tensor: TensorBase, level: BatchLevel) -> None:
    """Record the line that makes a tensor inside of `vmap`, for `BatchedWriteError`."""
    site = caller(OUTERMOST)
    if site is not None:
        level.made[id(tensor)] = weakref.ref(tensor), site
