"""Steps that write: in-place operators, fills, assignments to an index, changes of geometry."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vtgrad.testing.geometry import IntArray, contiguous
from vtgrad.testing.jets import Jet, Linear
from vtgrad.testing.made_views import view
from vtgrad.testing.model import ModelTensor, RefusedError, SkippedError
from vtgrad.testing.rules import OPERATORS, Computed, MisfitError, Operator, Saving
from vtgrad.testing.steps.base import (
    NOTHING,
    Expected,
    Extras,
    Number,
    Step,
    Value,
    extra_source,
    mask_source,
    named,
    operand,
    under,
    value_source,
)
from vtgrad.testing.views import Argument, ViewCall
from vtgrad.testing.world import World
from vtgrad.testing.writes import check_counted, count, rearrange, resize, write

__all__ = ["AugmentItem", "Count", "Fill", "Rearrange", "Resize", "SetItem", "Write"]

_COPY = Operator("copy", "torch::autograd::CopyBackwards", 2, lambda *_: _never())
_FILL = Operator("fill", "FillBackward2", 1, lambda *_: _never())
_PUT = Operator(
    "index_put",
    "IndexPutBackward0",
    2,
    lambda *_: _never(),
    (Saving("constant", (0, 1)),),
)


def _never() -> Computed:
    raise AssertionError("the rule of a write is made with the write")


def _assigned(jets: Sequence[Jet]) -> Computed:
    """Copy, as an assignment to an index does: leading dimensions of size one do not count."""
    target, source = jets
    shape = _without_leading_ones(source.shape, len(target.shape))
    return _copied([target, replace(source, shape=shape)])


def _is_same_part(region: ModelTensor, other: ModelTensor) -> bool:
    """Whether a value is a view of the very elements to which it is assigned."""
    return (
        other.base is not None and other.root is region.root and other.geometry == region.geometry
    )


def _without_leading_ones(shape: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """A shape of at most `ndim` dimensions, if it is leading ones that are too many."""
    while len(shape) > ndim and shape[0] == 1:
        shape = shape[1:]
    return shape


def _copied(jets: Sequence[Jet]) -> Computed:
    """Take the other's values, broadcast to the target."""
    target, source = jets
    shape = source.shape
    numbers = np.arange(source.values.size, dtype=np.intp).reshape(shape)
    try:
        reads = np.broadcast_to(numbers, target.shape).ravel()
    except ValueError:
        raise MisfitError from None
    rows = np.arange(reads.size, dtype=np.intp)
    term = Linear(1, rows, reads, np.ones(reads.size))
    return Computed(contiguous(target.shape), source.values[reads], (term,))


def _same_shape(name: str, extra: Extras, jets: Sequence[Jet]) -> Computed:
    shapes = [contiguous(jet.shape) for jet in jets]
    parts = tuple(part for part in extra if not isinstance(part, str))
    computed = OPERATORS[name].rule(jets, shapes, parts)
    if computed.geometry.shape != jets[0].shape:
        raise MisfitError
    return computed


@dataclass(frozen=True)
class Write(Step):
    """Run an in-place operator that has an out-of-place twin, or ``copy_``."""

    target: int
    name: str
    others: tuple[str, ...] = ()
    extra: Extras = ()
    shape: tuple[int, ...] = ()
    grad: bool = True

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        method = self.name.removesuffix("_number")
        arguments = [*self.others, *extra_source(self.name, self.extra, self.shape)]
        return under(self.grad, f"{named(self.target)}.{method}_({', '.join(arguments)})")

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        target = world.tensors[self.target]
        others = [operand(world, other) for other in self.others]
        if self.name == "copy":
            write(world, target, _copied, _COPY, others, self.grad, _COPY.node)
            return NOTHING
        operator = OPERATORS[self.name]
        write(
            world,
            target,
            lambda jets: _same_shape(self.name, self.extra, jets),
            operator,
            others,
            self.grad,
            operator.node,
            is_partial=self.name == "masked_fill",
            marks=self._marks(),
        )
        return NOTHING

    def _marks(self) -> IntArray | None:
        """Which elements count as written, if not all."""
        return np.flatnonzero(self.extra[0]) if self.name == "masked_fill" else None


@dataclass(frozen=True)
class Fill(Step):
    """Overwrite everything with one number: ``zero_`` or ``fill_``."""

    target: int
    number: Number | str
    grad: bool = True

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        call = "zero_()" if self.number == 0 else f"fill_({self.number})"
        return under(self.grad, f"{named(self.target)}.{call}")

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        if not isinstance(self.number, int):
            raise SkippedError
        name = "FillBackward2" if self.number else "ZeroBackward0"
        _fill(world, world.tensors[self.target], self.number, self.grad, name)
        return NOTHING


def _fill(world: World, target: ModelTensor, number: int, grad: bool, name: str) -> None:
    def rule(jets: Sequence[Jet]) -> Computed:
        numbers = np.full(jets[0].values.size, float(number))
        return Computed(contiguous(jets[0].shape), numbers, ())

    write(world, target, rule, _FILL, [], grad, name, is_fill=True)


def _covers(index: tuple[Argument, ...], shape: tuple[int, ...]) -> bool:
    """Whether an index takes everything as it is: the tensor is then written, not a view of it."""
    return len(index) <= len(shape) and all(
        isinstance(part, slice)
        and part.step in (None, 1)
        and part.start in (None, 0)
        and (part.stop is None or part.stop >= size)
        for part, size in zip(index, shape, strict=False)
    )


def _stretch_errors(region: ModelTensor, value: ModelTensor) -> list[str]:
    """Return the errors of making a value the shape of a region."""
    kinds = [value.unreadable() or ""]
    shape = _without_leading_ones(value.cells.shape, region.cells.ndim)
    try:
        np.broadcast_to(np.empty(shape), region.cells.shape)
    except ValueError:
        kinds.append("shape")
    return [kind for kind in kinds if kind]


#: A basic index, as it stands in ``x[index] = value``.
Index = tuple[Argument, ...]


@dataclass(frozen=True)
class SetItem(Step):
    """``target[index] = value``.

    `mask` and `picks` are advanced indices, alone; `index` is a basic one.
    """

    target: int
    value: Value
    index: Index = ()
    mask: tuple[bool, ...] | None = None
    picks: tuple[int, ...] | None = None
    shape: tuple[int, ...] = ()
    grad: bool = True

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        if self.mask is not None:
            receiver = f"{named(self.target)}[{mask_source(self.mask, self.shape)}]"
        elif self.picks is not None:
            receiver = f"{named(self.target)}[{list(self.picks)}]"
        else:
            receiver = ViewCall("[]", self.index).source(named(self.target))
        return under(self.grad, f"{receiver} = {value_source(self.value)}")

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        target = world.tensors[self.target]
        also = ["index", "dimension", "shape"]
        if isinstance(self.value, str):
            also.append(operand(world, self.value).unreadable() or "shape")
        check_counted(world, target, *also)
        if self.mask is not None or self.picks is not None:
            self._put(world, target)
            return NOTHING
        region = target
        if not _covers(self.index, target.cells.shape):
            (region,) = view(world, target, ViewCall("[]", self.index), self.grad)
        if isinstance(self.value, int):
            if region.geometry.repeats_cells:
                raise SkippedError  # whether it may be recorded differs
            _fill(world, region, self.value, self.grad, "FillBackward3")
        else:
            other = operand(world, self.value)
            is_number = not other.cells.ndim
            if other.cells.size == 1 and other.buffer is region.buffer and not is_number:
                raise SkippedError  # a single number may be read before anything is written
            if is_number and region.geometry.repeats_cells:
                raise SkippedError  # as for a number above
            # What a number without dimensions is written by has a node of its own.
            name = "" if is_number else _COPY.node
            try:
                write(
                    world,
                    region,
                    _assigned,
                    _COPY,
                    [other],
                    self.grad,
                    name,
                    stretches=True,
                    # What is written back onto itself does not change, and may count as intact.
                    is_unknown=_is_same_part(region, other),
                    reads_first=is_number,
                )
            except RefusedError as refused:
                # The value is stretched first: which of two errors is met is not specified.
                raise RefusedError(*refused.kinds, *_stretch_errors(region, other)) from None
        return NOTHING

    def _put(self, world: World, target: ModelTensor) -> None:
        numbers = np.arange(target.geometry.numel, dtype=np.intp).reshape(target.cells.shape)
        if self.mask is not None:
            picked = numbers[np.array(self.mask, dtype=np.bool_).reshape(self.shape)]
        else:
            picked = numbers[list(self.picks or ())]
        other = operand(world, self.value)
        if other.buffer is target.buffer:
            raise SkippedError

        def rule(jets: Sequence[Jet]) -> Computed:
            old, new = jets
            shape = _without_leading_ones(new.shape, picked.ndim)
            source = np.arange(new.values.size, dtype=np.intp).reshape(shape)
            try:
                reads = np.broadcast_to(source, picked.shape).ravel()
            except ValueError:
                raise MisfitError from None
            values = old.values.copy()
            values[picked.ravel()] = new.values[reads]
            kept = np.setdiff1d(numbers.ravel(), picked.ravel())
            return Computed(
                contiguous(old.shape),
                values,
                (
                    Linear(0, kept, kept, np.ones(kept.size)),
                    Linear(1, picked.ravel(), reads, np.ones(reads.size)),
                ),
            )

        write(
            world,
            target,
            rule,
            _PUT,
            [other],
            self.grad,
            _PUT.node,
            is_partial=True,
            marks=picked,
        )


#: Python's signs of the operators that an augmented assignment may have.
SIGNS = {"add": "+", "sub": "-", "mul": "*"}


@dataclass(frozen=True)
class AugmentItem(Step):
    """``target[index] op= value``: read the part, write it in place, assign it to itself."""

    target: int
    name: str
    value: Value
    index: Index
    grad: bool = True

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        part = ViewCall("[]", self.index).source(named(self.target))
        return under(self.grad, f"{part} {SIGNS[self.name]}= {value_source(self.value)}")

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        target = world.tensors[self.target]
        (part,) = view(world, target, ViewCall("[]", self.index), self.grad)
        if part.geometry.repeats_cells:
            raise SkippedError  # as in `SetItem`
        if world.carries and not world.manners.exact_tangents:
            raise SkippedError  # the third step reads what it writes
        is_number = isinstance(self.value, int)
        name = f"{self.name}_number" if is_number else self.name
        extra = (self.value,) if isinstance(self.value, int) else ()
        others = [] if is_number else [operand(world, self.value)]
        operator = OPERATORS[name]
        write(
            world,
            part,
            lambda jets: _same_shape(name, extra, jets),
            operator,
            others,
            self.grad,
            operator.node,
        )
        region = target
        if not _covers(self.index, target.cells.shape):
            (region,) = view(world, target, ViewCall("[]", self.index), self.grad)
        # The same elements: there is nothing to check, and no value changes.
        write(
            world,
            region,
            _assigned,
            _COPY,
            [part],
            self.grad,
            _COPY.node if part.cells.ndim else "",
            is_unknown=True,
            reads_first=True,
        )
        return NOTHING


@dataclass(frozen=True)
class Rearrange(Step):
    """Change a tensor's geometry in place: ``transpose_``, ``unsqueeze_`` and the like."""

    target: int
    call: ViewCall
    grad: bool = True

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        call = ViewCall(self.call.method + "_", self.call.args)
        return under(self.grad, call.source(named(self.target)))

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        names = {
            "t": "TBackward1",
            "transpose": "TransposeBackward1",
            "unsqueeze": "UnsqueezeBackward1",
            "squeeze": "SqueezeBackward3" if not self.call.args else "SqueezeBackward4",
        }
        name = names.get(self.call.method, "")
        rearrange(world, world.tensors[self.target], self.call, self.grad, name)
        return NOTHING


@dataclass(frozen=True)
class Resize(Step):
    """Give a view another shape from its first element on: ``resize_``."""

    target: int
    shape: tuple[int, ...]
    grad: bool = True

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        return under(self.grad, f"{named(self.target)}.resize_({self.shape})")

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        resize(world, world.tensors[self.target], self.shape)
        return NOTHING


@dataclass(frozen=True)
class Count(Step):
    """Say that a tensor was written by other means: ``increment_version``."""

    target: int

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        return [f"vt.autograd.graph.increment_version({named(self.target)})"]

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        target = world.tensors[self.target]
        if target.is_inference:
            raise SkippedError
        count(world, target)
        return NOTHING
