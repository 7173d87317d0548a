"""The model of a running program: buffers, versions, tensors, views, and what they read.

One class, :class:`World`, holds all tensors of a program and predicts what each step does to
them. See Note [An oracle without a graph] for gradients; this module is about everything else
that a user can observe, except writes, which are in :mod:`~vtgrad.testing.writes`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from vtgrad.testing.custom import Rule
from vtgrad.testing.geometry import Geometry, IntArray
from vtgrad.testing.jets import (
    Along,
    Derivatives,
    FloatArray,
    Jet,
    Paths,
    Save,
    Variable,
    Variables,
    Void,
    along_of_rows,
    carried,
    combine,
    merge_paths,
)
from vtgrad.testing.model import (
    BeforeRead,
    Buffer,
    Counter,
    History,
    Level,
    Manners,
    ModelTensor,
    RefusedError,
    Saved,
    SkippedError,
    Tangent,
)
from vtgrad.testing.rules import Computed, MisfitError, Operator

__all__ = ["World", "check_size", "rows_at"]

#: Numbers beyond this are left out of programs, so that float64 stays exact.
LIMIT = 2.0**24


@dataclass
class World:
    """All tensors of a program.

    Attributes
    ----------
    rules : mapping
        Operators of the user's, by name.
    most_curved : int
        Of a user's operator whose gradient is not stated, second derivatives are known for so many
        elements of operands.
    decided : bool
        Whether the library has run the step already, and did not refuse it.
    passes : int
        How many passes were accepted that needed a saved tensor.
    beside : int
        How many of these needed a value beside which something was written since: the rule of the
        whole storage refuses them.
    """

    manners: Manners = field(default_factory=Manners)
    tensors: dict[int, ModelTensor] = field(default_factory=dict)
    variables: Variables = field(default_factory=Variables)
    saves: list[Save] = field(default_factory=list)
    heard: list[tuple[str, list[float]]] = field(default_factory=list)
    journal: list[BeforeRead] = field(default_factory=list)
    rules: Mapping[str, Rule] = field(default_factory=dict)
    most_curved: int = 24
    decided: bool = False
    passes: int = 0
    beside: int = 0
    buffers: int = 0
    counters: int = 0
    made: int = 0
    levels: int = 0
    #: Whether the step that is predicted is taken in inference mode, or with forward mode off.
    inference: bool = False
    without_forward: bool = False
    #: The open level of forward mode.
    level: Level | None = None
    #: By variable of a view: the views that it was made of, and the variables that they were then.
    above: dict[int, list[tuple[ModelTensor, Variable]]] = field(default_factory=dict)
    #: By variable of a view that was rebuilt: the views that retain their gradients and of which it
    #: is a part, the variables that they are, and the positions of its elements among theirs.
    parts: dict[int, list[tuple[ModelTensor, Variable, IntArray]]] = field(default_factory=dict)

    @property
    def carries(self) -> bool:
        """Whether the step that is predicted carries tangents."""
        return self.level is not None and not self.inference and not self.without_forward

    def undo_reads(self) -> None:
        """Forget that views were read since the journal was last cleared: a step was skipped."""
        while self.journal:
            self.journal.pop().restore()

    # -- making tensors ----------------------------------------------------------------------

    def fresh(self, geometry: Geometry, values: FloatArray) -> ModelTensor:
        """Make a tensor without history on a buffer of its own, not yet in the program."""
        cells = geometry.cells()
        memory = np.zeros(values.size)
        memory[cells.ravel()] = values
        counter = self.new_counter(counts=not self.inference)
        return self.on(self.new_buffer(memory), counter, geometry, cells)

    def new_buffer(self, values: FloatArray) -> Buffer:
        """Make memory that holds some values."""
        self.buffers += 1
        return Buffer(self.buffers, values)

    def on(
        self, buffer: Buffer, counter: Counter, geometry: Geometry, cells: IntArray
    ) -> ModelTensor:
        """Make a tensor without history on given memory, not yet in the program."""
        jac, hes = self.variables.constants(buffer.values.size)
        return ModelTensor(-1, buffer, counter, geometry, cells, History(jac, hes, {}))

    def new_counter(self, *, counts: bool) -> Counter:
        """Make a version counter."""
        self.counters += 1
        return Counter(self.counters, counts)

    def put(self, index: int, tensor: ModelTensor) -> None:
        """Name a tensor."""
        tensor.index = index
        self.tensors[index] = tensor
        self.made = max(self.made, index + 1)

    def require(self, tensor: ModelTensor) -> None:
        """Make a base without history a leaf that requires grad."""
        numel = tensor.geometry.numel
        jac, _ = self.variables.constants(numel)
        tensor.leaf = self.variables.new(numel, "", is_leaf=True, jac=jac, below=())
        rows = tensor.cells.ravel()
        full, hes = self.variables.constants(tensor.buffer.values.size)
        full[rows, tensor.leaf.columns] = np.eye(numel)
        tensor.history = History(full, hes, {tensor.leaf.index: frozenset()})

    def detached(self, tensor: ModelTensor, *, shares_version: bool) -> ModelTensor:
        """Make what ``detach()`` (shared version) or ``.data`` (one of its own) returns."""
        counter = tensor.counter
        if not shares_version:
            counter = self.new_counter(counts=counter.counts)
        return self.on(tensor.buffer, counter, tensor.geometry, tensor.cells)

    # -- reading -----------------------------------------------------------------------------

    def refresh(self, tensor: ModelTensor, *, written: bool = False) -> None:
        """Do what reading ``grad_fn`` does: rebuild that of a view whose version moved.

        After a write to the view itself (`written`), even one to no element, a retained gradient
        is that of the new value only.
        """
        kind = tensor.unreadable()
        if kind is not None:
            raise RefusedError(kind)
        if tensor.base is None or (tensor.node is None and not tensor.base.requires_grad):
            return
        if tensor.seen_version != tensor.counter.version:
            self.journal.append(BeforeRead(tensor))
            if tensor.retains and tensor.node is not None and self.manners.keeps_retained:
                if tensor.keeps_value() and not written:
                    tensor.kept.append(tensor.node)
                else:
                    tensor.kept.clear()
            above = [] if written else self._retaining_above(tensor)
            self.name_view(tensor, self.rows_of(tensor.base, tensor.cells), "AsStridedBackward0")
            assert tensor.node is not None
            tensor.node.marked = tensor.retains
            self._link(tensor, tensor.node, above)

    def _retaining_above(self, view: ModelTensor) -> list[tuple[ModelTensor, Variable]]:
        """Views that retain their gradients and that a stale view was made of."""
        if view.node is None or not self.manners.keeps_retained:
            return []
        mine = set(view.cells.ravel().tolist())
        found: list[tuple[ModelTensor, Variable]] = []
        for other, at in self.above.get(view.node.index, ()):
            cells = other.cells.ravel().tolist()
            distinct = set(cells)
            if (
                other.retains
                and at.marked
                and other.unreadable() is None
                and len(distinct) == len(cells)
                and mine <= distinct
            ):
                current = other.seen_version == other.counter.version
                if at not in (other.node, *other.kept):
                    continue
                if current or other.would_keep_value():
                    found.append((other, at))
                else:
                    at.marked = False
        return found

    def _link(
        self, view: ModelTensor, node: Variable, above: list[tuple[ModelTensor, Variable]]
    ) -> None:
        """Let what arrives at a view's new variable be a part of what views above retain."""
        for other, at in above:
            rows = {cell: row for row, cell in enumerate(other.cells.ravel().tolist())}
            positions = np.array([rows[c] for c in view.cells.ravel().tolist()], dtype=np.intp)
            self.parts.setdefault(node.index, []).append((other, at, positions))
            self.above.setdefault(node.index, []).append((other, at))

    def rows_of(self, root: ModelTensor, cells: IntArray) -> Jet:
        """Return some cells of a base, with the derivatives that its history gives them."""
        rows, history = cells.ravel(), root.history
        tracked = root.leaf is not None or root.node is not None
        return Jet(
            cells.shape,
            root.buffer.values[rows],
            self.variables.wide(history.jac)[rows],
            self.variables.deep(history.hes)[rows],
            history.paths,
            tracked,
            tracked,
            along_of_rows(history.along, rows),
        )

    def name_view(self, view: ModelTensor, below: Jet, name: str) -> None:
        """Give a view a new grad_fn over what it read."""
        node = self.variables.new(
            view.geometry.numel, name, is_leaf=False, jac=below.jac, below=below.paths
        )
        node.along = below.along
        jac = self.variables.wide(below.jac).copy()
        jac[:, node.columns] = np.eye(node.numel)
        paths = {**below.paths, node.index: frozenset()}
        view.node, view.seen_version = node, view.counter.version
        view.local = replace(
            below, shape=view.cells.shape, jac=jac, paths=paths, requires=True, edge=True
        )

    def name_root(self, root: ModelTensor, name: str, saves: frozenset[Save] = frozenset()) -> None:
        """Give a base a new grad_fn over its history."""
        history, rows = root.history, root.cells.ravel()
        node = self.variables.new(
            rows.size, name, is_leaf=False, jac=history.jac[rows], below=history.paths
        )
        node.saves = saves
        node.along = along_of_rows(history.along, rows)
        jac = self.variables.wide(history.jac).copy()
        jac[rows, node.columns] = np.eye(node.numel)
        paths = {**history.paths, node.index: frozenset()}
        root.history = History(jac, history.hes, paths, history.along)
        root.node = node

    def constant(self, shape: tuple[int, ...], values: FloatArray) -> Jet:
        """Return something without derivatives to compute with."""
        return Jet(shape, values, *self.variables.constants(values.size), {})

    def read(self, tensor: ModelTensor) -> Jet:
        """Return what an operator that records reads; may refuse, as reading grad_fn may."""
        self.refresh(tensor)
        if tensor.base is None:
            return self.rows_of(tensor, tensor.cells)
        if tensor.local is not None:
            return replace(tensor.local, values=tensor.values)
        plain = self.constant(tensor.cells.shape, tensor.values)
        if not tensor.requires_grad:
            return plain
        return Jet(
            plain.shape, plain.values, plain.jac, plain.hes, {Void: frozenset()}, True, False
        )

    def read_all(self, tensors: Sequence[ModelTensor], grad: bool) -> list[Jet]:
        """Read operands; nothing is refused where nothing will be recorded."""
        if grad and any(t.requires_grad for t in tensors):
            return [self.read(t) for t in tensors]
        return [self.constant(t.cells.shape, t.values) for t in tensors]

    # -- tangents ----------------------------------------------------------------------------

    def tangent_of(self, tensor: ModelTensor) -> Tangent | None:
        """Return the tangent that a tensor shows a part of, at the open level."""
        tangent = tensor.tangent_root.tangent
        if tangent is None or self.level is None or tangent.level != self.level.number:
            return None
        return tangent

    def check_tangent(self, tensor: ModelTensor) -> None:
        """Skip a step that uses a view's tangent, where a library may refuse that."""
        tangent = self.tangent_of(tensor)
        if tangent is not None and tensor.leader is not None and not self.manners.exact_tangents:
            if tangent.may_require:
                raise SkippedError

    def tangents_of(self, tensors: Sequence[ModelTensor]) -> list[FloatArray | None]:
        """Return the tangents of tensors, flat; None where there is none."""
        for tensor in tensors:
            self.check_tangent(tensor)
        return [
            None if tangent is None else tangent.buffer.values[tensor.cells.ravel()]
            for tensor, tangent in ((tensor, self.tangent_of(tensor)) for tensor in tensors)
        ]

    def give_tangent(self, tensor: ModelTensor, values: FloatArray) -> Tangent:
        """Write the tangent of a tensor; a root without one gets zeros first."""
        tangent = self.tangent_of(tensor)
        if tangent is None:
            root = tensor.tangent_root
            memory = self.new_buffer(np.zeros_like(root.buffer.values))
            tangent = root.tangent = self.fresh_tangent(memory, self.new_counter(counts=True))
        tangent.buffer.values[tensor.cells.ravel()] = values
        return tangent

    def records_tangent(self, operands: Sequence[ModelTensor], grad: bool) -> bool:
        """Whether a tangent may be recorded that is computed from some operands."""
        tangents = [self.tangent_of(tensor) for tensor in operands]
        return grad and (
            any(tensor.requires_grad for tensor in operands)
            or any(tangent is not None and tangent.may_require for tangent in tangents)
        )

    def fresh_tangent(self, buffer: Buffer, counter: Counter) -> Tangent:
        """Make a tangent of given memory, at the open level."""
        assert self.level is not None
        self.level.buffers.add(buffer.index)
        return Tangent(buffer, counter, self.level.number)

    # -- operators ---------------------------------------------------------------------------

    def apply(
        self,
        operator: Operator,
        tensors: Sequence[ModelTensor],
        extra: tuple[object, ...],
        grad: bool,
    ) -> ModelTensor:
        """Run an out-of-place operator."""
        grad = grad and not self.inference
        uncounted = [t for t in tensors if t.is_inference]
        if self.manners.builds_in_steps and len(uncounted) == len(tensors):
            raise SkippedError
        problems = {t.unreadable() or "" for t in tensors} - {""}
        if grad and problems and any(t.requires_grad for t in tensors):
            try:
                plain = [self.constant(t.cells.shape, t.values) for t in tensors]
                self.compute(operator, plain, tensors, extra)
            except RefusedError as refused:  # which of two errors is met is not specified
                problems.update(refused.kinds)
            problems.update(["inference-saved"] if uncounted else [])
            raise RefusedError(*sorted(problems))
        jets = self.read_all(tensors, grad)
        try:
            computed = self.compute(operator, jets, tensors, extra)
        except RefusedError as refused:
            also = uncounted and any(jet.requires for jet in jets)
            raise RefusedError(*refused.kinds, *(["inference-saved"] if also else [])) from None
        result = self.fresh(computed.geometry, computed.values)
        tangents = self.tangents_of(tensors)
        tangent = carried(computed.first, computed.values.size, tangents) if self.carries else None
        if tangent is not None:
            check_size(tangent)
            given = self.give_tangent(result, tangent)
            given.may_require = self.records_tangent(tensors, grad)
        if any(jet.requires for jet in jets):
            found = self.chain(operator, jets, computed, tangents)
            paths, saved = self.paths(operator, jets, tensors, result, in_place=False)
            result.history = self.rewritten(result.history, result.cells.ravel(), found, paths)
            self.name_root(result, _node_name(operator, extra), saved)
        return result

    def compute(
        self,
        operator: Operator,
        jets: Sequence[Jet],
        tensors: Sequence[ModelTensor],
        extra: tuple[object, ...],
    ) -> Computed:
        """Apply a rule; refuse shapes that do not fit, skip numbers that grow too large."""
        parts = tuple(p for p in extra if isinstance(p, int | tuple))
        try:
            computed = operator.rule(jets, [t.geometry for t in tensors], parts)
        except MisfitError:
            raise RefusedError("shape") from None
        check_size(computed.values)
        return computed

    def chain(
        self,
        operator: Operator,
        jets: Sequence[Jet],
        computed: Computed,
        tangents: Sequence[FloatArray | None],
    ) -> Derivatives:
        """Derivatives of a result; skips numbers that grow too large."""
        if self.level is not None and not self.manners.exact_tangents:
            if operator.name == "abs":
                raise SkippedError  # a pass may fail
            if operator.name == "prod":
                self.level.tells_gradients &= bool(jets[0].values.all())
        numel = computed.values.size
        found = combine(self.variables, jets, numel, computed.first, computed.second, tangents)
        for numbers in (found.jac, found.hes, *(() if found.along is None else (found.along.jac,))):
            check_size(numbers)
        if self.level is not None and not self.carries and any(t is not None for t in tangents):
            self.level.tells_gradients = False
        return found

    def rewritten(
        self, history: History, rows: IntArray, found: Derivatives, paths: Paths
    ) -> History:
        """Return a history in which some rows are replaced."""
        jac, hes = self.variables.wide(history.jac).copy(), self.variables.deep(history.hes).copy()
        jac[rows], hes[rows] = found.jac, found.hes
        if found.along is None:
            return History(jac, hes, paths)
        before = self.variables.along(history.along)
        change = np.zeros_like(jac) if before is None else before.copy()
        change[rows] = found.along.jac
        return History(jac, hes, paths, Along(found.along.level, change))

    def paths(
        self,
        operator: Operator,
        jets: Sequence[Jet],
        tensors: Sequence[ModelTensor | None],
        result: ModelTensor,
        *,
        in_place: bool,
    ) -> tuple[Paths, frozenset[Save]]:
        """Add what the operator saves to the paths of each of its operands."""
        kept: set[Save] = set()
        for saving in operator.saves:
            # A node with one input saves it even if no gradient flows there; a product looks.
            anyway = len(saving.when) == len(jets) and saving.what != "number"
            if not anyway and not any(jets[i].edge for i in saving.when):
                continue
            # Only `self` is copied before it is written; it may be the other operand as well.
            if saving.what in ("number", "constant") or (in_place and saving.what == 0):
                save = self.save(None)
            elif saving.what == "result":
                save = self.save(result, is_result=True, ahead=int(in_place))
            else:
                save = self.save(tensors[int(saving.what)])
            save.uncertain = saving.uncertain
            kept.add(save)
        saves = frozenset(kept)
        merged = merge_paths(
            {variable: path | saves for variable, path in jet.paths.items()}
            for jet in jets
            if jet.requires
        )
        return merged, saves

    def save(self, tensor: ModelTensor | None, *, is_result: bool = False, ahead: int = 0) -> Save:
        """Note that a node keeps a tensor, or a constant, `ahead` versions from now."""
        if tensor is None:
            save = Save()
        else:
            if tensor.is_inference:
                raise RefusedError("inference-saved")
            version = tensor.counter.version + ahead
            check = Saved(tensor, version, tensor.node, is_result, self.manners.exact)
            save = Save(check, tensor.buffer.index, tensor.counter.index)
        self.saves.append(save)
        return save


def rows_at(jet: Jet, positions: IntArray) -> Jet:
    """Return some elements of what was read."""
    rows = positions.ravel()
    return replace(
        jet,
        shape=positions.shape,
        values=jet.values[rows],
        jac=jet.jac[rows],
        hes=jet.hes[rows],
        along=along_of_rows(jet.along, rows),
    )


def _node_name(operator: Operator, extra: tuple[object, ...]) -> str:
    if operator.node.endswith("Backward"):  # one node for all elements, another for a dimension
        return operator.node + ("1" if extra else "0")
    return operator.node


def check_size(numbers: FloatArray) -> None:
    """Skip a step whose numbers might not stay exact."""
    if numbers.size and float(np.abs(numbers).max()) > LIMIT:
        raise SkippedError
