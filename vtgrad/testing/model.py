"""What the model knows of one tensor, its memory and its version; and how refusals are told."""

import enum
from dataclasses import dataclass, field

from vtgrad.testing.geometry import Geometry, IntArray
from vtgrad.testing.jets import Along, FloatArray, Jet, Paths, SaveCheck, Variable

__all__ = [
    "BeforeRead",
    "Buffer",
    "Counter",
    "Creation",
    "History",
    "Level",
    "Manners",
    "ModelTensor",
    "RefusedError",
    "Saved",
    "SkippedError",
    "Tangent",
    "UncertainError",
]


class RefusedError(Exception):
    """The step raises; `kinds` are the identifiers of the errors that it may raise."""

    def __init__(self, *kinds: str) -> None:
        super().__init__(*kinds)
        self.kinds = kinds


class UncertainError(Exception):
    """The step raises one of `kinds` and changes nothing, or it succeeds: the library decides."""

    def __init__(self, *kinds: str) -> None:
        super().__init__(*kinds)
        self.kinds = kinds


class SkippedError(Exception):
    """The model makes no prediction: the step is not run at all."""


@dataclass(frozen=True)
class Manners:
    """Where libraries of the same semantics differ.

    Parameters
    ----------
    all_or_nothing : bool
        Whether an error of backward is found before any node has run.
    fills_repeated : bool
        Whether a constant may be written, unrecorded, where elements share cells.
    rearranges_hooked : bool
        Whether hooks stay where they are in an in-place change of geometry.
    keeps_retained : bool
        Whether a retained gradient of a view also counts uses from before a write to the rest of
        its base.
    unread_views_are_leaves : bool
        Whether a view that was made before anything required grad, and whose grad_fn was
        not read since its base began to, is refused writes as a leaf.
    unused_is_found_late : bool
        Whether an input of ``grad`` that is not reached is an error only after the pass has run.
    refuses_before_writing : bool
        Whether a write to an inference tensor outside of inference mode is refused before it has
        happened.
    builds_in_steps : bool
        Whether what is computed from inference tensors alone may be a view, or count as written.
    exact : bool
        Whether a saved value is stale by a write to one of its elements; else by any write to its
        buffer.
    rewinds : bool
        Whether saved values may be overwritten: backward restores them.
    exact_tangents : bool
        Whether tangents are right everywhere, and what is refused has changed nothing. If not,
        steps are passed over: writes that read what they overwrite, such as ``d.mul_(d)``, or that
        go to the memory of a tangent; ``abs`` and, at zeros, the gradient of ``prod``; changes of
        geometry with forward mode off; writes to a view whose tangent requires grad.
    """

    all_or_nothing: bool = True
    fills_repeated: bool = True
    rearranges_hooked: bool = True
    keeps_retained: bool = True
    unread_views_are_leaves: bool = False
    unused_is_found_late: bool = False
    refuses_before_writing: bool = True
    builds_in_steps: bool = False
    exact: bool = True
    rewinds: bool = False
    exact_tangents: bool = True


class Creation(enum.Enum):
    """How a view came about, as far as writes are concerned."""

    DEFAULT = "default"
    MULTIPLE = "multi-output-view"
    NO_GRAD = "no-grad-view"
    CUSTOM = "custom-function-view"
    INFERENCE = "inference-view"


@dataclass(eq=False)
class Buffer:
    """The memory of one storage."""

    index: int
    values: FloatArray


@dataclass(eq=False)
class Counter:
    """One version counter; that of an inference tensor does not count.

    Attributes
    ----------
    written : dict of int to int
        By cell: the version of its last write.
    touched : dict of int to int
        The same for what a user's operator may have written; the cells are not known.
    is_counted : bool
        Whether rewind may restore no more, because a write was counted that it has not seen.
    """

    index: int
    counts: bool = True
    version: int = 0
    written: dict[int, int] = field(default_factory=dict)
    touched: dict[int, int] = field(default_factory=dict)
    is_counted: bool = False


@dataclass(eq=False)
class History:
    """Derivatives of the values of a base, by cell of its buffer; replaced by each write."""

    jac: FloatArray
    hes: FloatArray
    paths: Paths
    along: Along | None = None


@dataclass(eq=False)
class Tangent:
    """The tangent of a tensor, and of those that follow it; see Note [Tangents of the model].

    Attributes
    ----------
    buffer : Buffer
        Of as many cells as that of the tensor.
    level : int
        It is none at any other level.
    is_settled : bool
        Whether `counter` has the library's version. Of a tangent that was just made, or written by
        an operator of the user's, the first version that is seen counts.
    may_require : bool
        Whether it was computed from something that requires grad, so that it may require grad.
    """

    buffer: Buffer
    counter: Counter
    level: int
    is_settled: bool = False
    may_require: bool = False


@dataclass
class Level:
    """An open level of forward mode.

    Attributes
    ----------
    number : int
        Later levels have larger numbers.
    buffers : set of int
        The buffers that hold tangents.
    tells_gradients : bool
        Whether the tangents of gradients are known. They are not once a tangent was written
        otherwise than with its value, or a node was recorded with forward mode off.
    """

    number: int
    buffers: set[int] = field(default_factory=set)
    tells_gradients: bool = True


@dataclass(eq=False)
class ModelTensor(SaveCheck):
    """What the model knows of one tensor.

    Attributes
    ----------
    cells : ndarray of int
        Which cell of the buffer each element is: the tensor itself, as far as values go.
    root : ModelTensor
        The base, or the tensor itself where it is no view.
    history : History
        Of a base only.
    leaf, node : Variable or None
        At most one: a leaf that requires grad, or the variable of the present grad_fn.
    seen_version : int
        Of a view: the version at which its grad_fn was made.
    local : Jet or None
        Of a view with a grad_fn: what an operator reads through it.
    writes : list
        Of a base: the cells of every recorded write to a view of it; None for one to itself.
    kept : list of Variable
        Of a view that retains its gradient: former grad_fns that still produce its value.
    leader : ModelTensor or None
        Of a view: the tensor whose tangent it shows a part of; None for one with a tangent of its
        own.
    tangent : Tangent or None
        Of a tensor without a leader.
    """

    index: int
    buffer: Buffer
    counter: Counter
    geometry: Geometry
    cells: IntArray
    history: History
    base: "ModelTensor | None" = None
    creation: Creation = Creation.DEFAULT
    leaf: Variable | None = None
    node: Variable | None = None
    seen_version: int = 0
    local: Jet | None = None
    retains: bool = False
    grad: FloatArray | None = None
    writes: list[frozenset[int] | None] = field(default_factory=list)
    writes_seen: int = 0
    kept: list[Variable] = field(default_factory=list)
    leader: "ModelTensor | None" = None
    tangent: Tangent | None = None

    def retain(self) -> None:
        """Keep gradients from now on."""
        if not self.retains:
            self.retains, self.writes_seen = True, len(self.root.writes)
            if self.node is not None:
                self.node.marked = True

    def keeps_value(self) -> bool:
        """Whether recorded writes to the base, since last asked, were all to other cells."""
        keeps = self.would_keep_value()
        self.writes_seen = len(self.root.writes)
        return keeps

    def would_keep_value(self) -> bool:
        """What `keeps_value` would answer."""
        news = self.root.writes[self.writes_seen :]
        mine = set(self.cells.ravel().tolist())
        return all(cells is not None and not mine & cells for cells in news)

    @property
    def root(self) -> "ModelTensor":
        """The tensor whose history holds the values."""
        return self if self.base is None else self.base

    @property
    def tangent_root(self) -> "ModelTensor":
        """The tensor that has the tangent of this one."""
        return self if self.leader is None else self.leader

    @property
    def is_inference(self) -> bool:
        """Whether it is an inference tensor."""
        return not self.counter.counts

    @property
    def requires_grad(self) -> bool:
        """What the attribute of that name says."""
        own = self.leaf is not None or self.node is not None
        return own or (self.base is not None and self.base.requires_grad)

    @property
    def values(self) -> FloatArray:
        """The elements, flat."""
        return self.buffer.values[self.cells.ravel()]

    @property
    def variable(self) -> Variable | None:
        """The variable that a gradient with respect to this tensor is taken of."""
        return self.node if self.node is not None else self.leaf

    def unreadable(self) -> str | None:
        """Return the kind of error that reading grad_fn would raise, or None."""
        if self.base is None or (self.node is None and not self.base.requires_grad):
            return None
        if self.seen_version == self.counter.version or self.creation is Creation.DEFAULT:
            return None
        return str(self.creation.value)

    def problems(self) -> tuple[str, ...]:
        """See :class:`SaveCheck`; overridden per save by :class:`Saved`."""
        unreadable = self.unreadable()
        return () if unreadable is None else (unreadable,)


@dataclass(eq=False)
class Saved(SaveCheck):
    """A tensor as it was when a node saved it.

    Attributes
    ----------
    cells : frozenset of int
        Where its elements were: the tensor may have another geometry by now.
    node : Variable or None
        Its grad_fn.
    exact : bool
        As in `Manners`.
    vouched : bool
        Whether it was found intact after a write beside it. From then on it may be a value that
        has nothing to do with the tensor any more.
    """

    tensor: ModelTensor
    version: int
    node: Variable | None
    is_result: bool
    exact: bool
    cells: frozenset[int] = field(init=False)
    vouched: bool = False

    def __post_init__(self) -> None:
        """Note where the elements are."""
        self.cells = frozenset(self.tensor.cells.ravel().tolist())

    @property
    def is_moved(self) -> bool:
        """Whether anything was written to the buffer since, or a geometry changed."""
        return self.tensor.counter.version != self.version

    def problems(self) -> tuple[str, ...]:
        """See :class:`SaveCheck`: the grad_fn is looked at first, then the version.

        A tensor that was written and detached, in either order, may be reported as either. An
        intact value was detached if the tensor was; whether its grad_fn can be read does not
        matter.
        """
        detached = self.node is not None and self.node.detached
        if self.exact and not self._was_written(self.tensor.counter.written):
            self.vouched = self.vouched or self.is_moved
            return ("saved-detached",) if detached and not self.is_result else ()
        stale = ("stale-saved",) if self.is_moved else ()
        if not self.is_result:
            unreadable = self.tensor.unreadable()
            if unreadable is not None:
                return (unreadable, *(stale if self.vouched else ()))
            if detached or (self.node is not None and self.tensor.node is None):
                return ("saved-detached", *stale)
        return stale

    def may_be_read(self) -> bool:
        """Whether a refused pass may rebuild a grad_fn, on which the retained gradient depends.

        The tensor's grad_fn is read before its version is compared, unless another value of the
        pass is refused first.
        """
        tensor = self.tensor
        is_behind = tensor.base is not None and tensor.seen_version != tensor.counter.version
        return is_behind and tensor.retains and not self.is_result

    def possible(self) -> tuple[str, ...]:
        """See :class:`SaveCheck`: what a user's operator has touched may be stale."""
        if not self.exact or not self._was_written(self.tensor.counter.touched):
            return ()
        unreadable = None if self.is_result else self.tensor.unreadable()
        return ("stale-saved", *([unreadable] if unreadable else []))

    def _was_written(self, writes: dict[int, int]) -> bool:
        return self.is_moved and any(writes.get(cell, 0) > self.version for cell in self.cells)


class BeforeRead:
    """A view as it was before its grad_fn was read, with all that reading changes."""

    view: ModelTensor
    node: Variable | None
    seen_version: int
    local: Jet | None
    kept: list[Variable]
    writes_seen: int

    def __init__(self, view: ModelTensor) -> None:
        self.view = view
        self.node, self.seen_version, self.local = view.node, view.seen_version, view.local
        self.kept, self.writes_seen = list(view.kept), view.writes_seen

    def restore(self) -> None:
        """Make the view what it was."""
        view = self.view
        view.node, view.seen_version, view.local = self.node, self.seen_version, self.local
        view.kept, view.writes_seen = self.kept, self.writes_seen
