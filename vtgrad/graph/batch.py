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
from _thread import LockType, allocate_lock
from sys import getrefcount
from typing import Final, cast

from vtgrad.errors import BatchedTensorError
from vtgrad.graph.sample_array import sample_array
from vtgrad.storage.extra_meta import NOTHING, AliasList, ExtraMeta, StandsFor
from vtgrad.storage.lasting_arrays import constant
from vtgrad.storage.layout import PECULIAR
from vtgrad.storage.record_write import OUTERMOST, caller
from vtgrad.storage.storage import Storage
from vtgrad.storage.tensor_base import T, TensorBase, handle_like
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import Site, VersionCounter

__all__ = [
    "Batch",
    "BatchLevel",
    "MadeInBatch",
    "batch_of",
    "batched",
    "is_batched",
    "made_of",
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
    aliases : list of TensorImpl
        The aliases of tensors that were made meanwhile without samples; see `MadeInBatch`.
    copies : mapping of Storage to object
        The copies that stand for views; see Note [Copies that stand for views].
    writes : mapping of Storage to int
        How often memory was written since there are such copies.
    """

    __slots__ = (
        "_dropping",
        "_look_at",
        "aliases",
        "called_at",
        "copies",
        "is_open",
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
    aliases: list[TensorImpl]
    copies: dict[Storage, object]
    writes: dict[Storage, int]
    # How many aliases there are when those without another holder are looked for.
    _look_at: int
    _dropping: LockType

    def __init__(self, number: int, size: int, randomness: str) -> None:
        self.number = number
        self.size = size
        self.randomness = randomness
        self.is_open = True
        self.called_at = None
        self.aliases = []
        self.copies = {}
        self.writes = {}
        self._look_at = 64
        self._dropping = allocate_lock()

    def add_alias(self, impl: TensorImpl) -> None:
        """Keep an alias of a tensor that was made without samples, as long as others have it."""
        if self.is_open:
            self.aliases.append(impl)
            if len(self.aliases) > self._look_at:
                self.drop_aliases()

    def drop_aliases(self) -> None:
        """Drop those that nothing else holds."""
        # What another thread or a signal handler does meanwhile: it appends, behind `end`, and it
        # drops nothing. A lock that an interrupt leaves costs memory only, until the level closes.
        if not self._dropping.acquire(False):
            return
        try:
            aliases = self.aliases
            end = len(aliases)
            # The last one that is counted has no holder but this function.
            counts = [getrefcount(one) for one in (*aliases[:end], TensorImpl(_NO_ELEMENTS))]
            # The others are in one more list.
            listed = zip(aliases[:end], counts, strict=False)
            aliases[:end] = [one for one, n in listed if n > counts[-1] + 1]
            self._look_at = 2 * len(aliases) + 64
        finally:
            self._dropping.release()

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


_NO_ELEMENTS: Final = constant([])

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


class MadeInBatch(AliasList):
    """That a tensor was made inside of `vmap` without samples; see Note [Tensors that get samples].

    Attributes
    ----------
    levels : tuple of BatchLevel
        The levels that were open on the thread, the highest last.
    site : Site or None
        The line that made the tensor.
    tensor : weak reference
        The tensor.
    """

    __slots__ = ("levels", "site", "tensor")

    levels: tuple[BatchLevel, ...]
    site: Site | None
    tensor: weakref.ref[TensorBase]

    def __init__(
        self, tensor: TensorBase, levels: tuple[BatchLevel, ...], site: Site | None
    ) -> None:
        self.tensor = weakref.ref(tensor)
        self.levels = levels
        self.site = site

    def add(self, impl: object) -> None:
        """See `AliasList`."""
        assert isinstance(impl, TensorImpl)
        self.levels[-1].add_alias(impl)


def note_made(tensor: TensorBase, levels: tuple[BatchLevel, ...], site: Site | None = None) -> None:
    """Take note of a new tensor without samples, which `levels` may give it.

    Parameters
    ----------
    site : Site, optional
        The line that made it, if not the one that is running.
    """
    made = MadeInBatch(tensor, levels, caller(OUTERMOST) if site is None else site)
    impl = tensor._impl
    layout = impl.layout
    impl.set_extra_meta((impl.extra_meta or NOTHING).with_aliases(made))
    impl.layout = layout


def made_of(tensor: TensorBase) -> MadeInBatch | None:
    """What was noted of a tensor, or of the tensor whose memory it shares."""
    extra = tensor._impl.extra_meta
    found = None if extra is None else extra.aliases
    return found if isinstance(found, MadeInBatch) else None
