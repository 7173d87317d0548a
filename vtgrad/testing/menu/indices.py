"""Indices of every kind, and steps that read and write through them."""

import math
from collections.abc import Sequence

import numpy as np

from vtgrad.testing import steps
from vtgrad.testing.menu.chooser import Chooser, broadcasts
from vtgrad.testing.menu.kinds import kind
from vtgrad.testing.menu.state import TensorState
from vtgrad.testing.steps import Step, Value
from vtgrad.testing.steps.writing import SIGNS
from vtgrad.testing.views import Argument, ViewCall

__all__ = ["basic", "index", "positions"]


def _part(c: Chooser, size: int) -> Argument:
    """An integer or slice for one dimension."""
    r = c.rng
    if c.chance(0.45):
        if size == 0 or c.blunder():
            return c.one((size, -size - 1))
        i = r.randrange(size)
        return i - size if c.chance(0.3) else i
    if c.chance(0.25):
        return slice(None)
    start = c.one((None, r.randint(0, size), -r.randint(1, 3)))
    stop = c.one((None, r.randint(0, size + 1), -1))
    return slice(start, stop, c.one((None, None, 1, 2, 3)))


def basic(c: Chooser, shape: tuple[int, ...]) -> tuple[Argument, ...]:
    """A basic index."""
    used = shape[: c.rng.randint(1, len(shape))] if shape else ()
    parts = [_part(c, size) for size in used]
    if c.blunder():
        parts.append(2)
    while not parts or c.chance(0.06):
        parts.insert(c.rng.randint(0, len(parts)), None)
    return tuple(parts)


def positions(c: Chooser, size: int, count: int, unique: bool) -> list[int]:
    """Indices into a dimension, some of them counted from the end."""
    if unique:
        found = c.rng.sample(range(size), min(count, size))
    else:
        found = [c.rng.randrange(size) for _ in range(count)] if size else []
    if found and c.blunder():
        found[0] = size + 1
    return [i - size if c.chance(0.2) and i < size else i for i in found]


def _array(c: Chooser, size: int, count: int, unique: bool) -> str:
    """An index array for one dimension: list, tensor, mask, or of two dimensions."""
    found = positions(c, size, count, unique)
    mask = [c.chance(0.5) for _ in range(size + c.blunder())]
    kind = c.rng.randrange(7)
    if kind == 2:
        return f"vt.tensor({found}, dtype=vt.int64)"
    if kind == 3 and len(found) > 1:
        return f"vt.tensor([{found}])"
    if kind == 4 and size:
        return f"vt.tensor({mask})"
    if kind == 5 and size:
        return str(mask)
    if kind == 6 and found:
        return f"vt.tensor({[[i] for i in found]})"
    return str(found)


def _whole(c: Chooser, t: TensorState, unique: bool) -> str | None:
    """Now and then: one index for all dimensions."""
    special = c.rng.random()
    if special < 0.08:
        return c.one(("...", "...", "()", "()", "None", "None", "True", "False"))
    if special < 0.14:
        return c.tensor(t.shape, "bool") if 0 not in t.shape else "..."
    if special < 0.18:
        same = c.pick(lambda o: o.shape == t.shape and not o.dtype.startswith("complex"))
        if same is not None:
            return f"{same} > {c.number()}"
    if special < 0.185 and t.shape and not unique:
        return c.one(("1.5", "'a'", "vt.tensor(1.5)"))
    return None


def index(c: Chooser, t: TensorState, unique: bool) -> tuple[Argument, ...]:
    """An index of any kind; parts that are no basic index are text."""
    if not c.free:
        return basic(c, t.shape)
    whole = _whole(c, t, unique)
    if whole is not None:
        return (whole,)
    r = c.rng
    if not c.chance(0.35):
        parts = list(basic(c, t.shape)) if t.shape else []
        if c.chance(0.02):
            parts.append("::-1" if len(parts) < len(t.shape) else "...")
    else:
        parts, used, count = [], list(t.shape[: r.randint(0, len(t.shape))]), r.randint(1, 3)
        while used:
            size = used.pop(0)
            if used and size and used[0] and c.chance(0.1):
                parts.append(c.tensor((size, used.pop(0)), "bool"))
            elif c.chance(0.55):
                parts.append(_array(c, size, count, unique))
            elif c.chance(0.06) and size:
                parts.append(f"vt.tensor({r.randrange(size)})")
            else:
                parts.append(_part(c, size))
        if c.chance(0.1):
            parts.insert(r.randint(0, len(parts)), None)
    if c.chance(0.04):
        flag = c.one(("True", "False", "vt.tensor(True)", "vt.tensor(False)"))
        parts.insert(r.randint(0, len(parts)), flag)
    if c.chance(0.1):
        parts.insert(r.randint(0, len(parts)), "...")
    return tuple(parts) or ("...",)


@kind(14, "[]")
def getitem(c: Chooser) -> Sequence[Step] | None:
    """``x[...]``."""
    t = c.pick()
    if t is None:
        return None
    call = ViewCall("[]", index(c, t, unique=False))
    return c.under(steps.View((c.fresh(),), t.index, call))


@kind(16, "setitem")
def set_item(c: Chooser) -> Sequence[Step] | None:
    """``x[...] = v``; index arrays name no element twice, for which PyTorch's gradient is wrong."""
    t = c.pick_target()
    if t is None:
        return None
    if c.chance(0.3) and t.shape and 0 not in t.shape:
        return _put(c, t)
    parts = index(c, t, unique=True)
    shape = _region(c, t, parts)
    return c.under(steps.SetItem(t.index, value_for(c, t, shape), parts))


# In mixtures only: PyTorch's graph has a second write for it, by which a comparison node by node
# would stop.
@kind(0, "setitem", "add")
def augment_item(c: Chooser) -> Sequence[Step] | None:
    """``x[...] op= v``, with a basic index."""
    t = c.pick_target()
    names = [name for name in SIGNS if c.can(f"{name}_")]
    if t is None or not t.shape or not names:
        return None
    name, parts = c.one(names), basic(c, t.shape)
    value: Value | None = None
    shape = _region(c, t, parts)
    if shape is not None and c.chance(0.7):
        found = c.pick_fitting(shape, into=not c.blunder())
        value = None if found is None else str(found)
    if value is None:
        if not c.can(f"{name}_number"):
            name = "add"
        value = c.scalar() if t.dtype.startswith("complex") else c.number()
    return c.under(steps.AugmentItem(t.index, name, value, parts))


def _put(c: Chooser, t: TensorState) -> Sequence[Step]:
    """Assign to a mask, or to some rows."""
    if c.chance(0.5):
        mask = tuple(c.chance(0.5) for _ in range(math.prod(t.shape)))
        return c.under(steps.SetItem(t.index, c.number(), mask=mask, shape=t.shape))
    picks = c.some(range(t.shape[0]), 3)
    value = value_for(c, t, (len(picks), *t.shape[1:]))
    return c.under(steps.SetItem(t.index, value, picks=picks))


def _region(c: Chooser, t: TensorState, parts: tuple[Argument, ...]) -> tuple[int, ...] | None:
    """The shape of what an index shows; None if it is refused."""
    if any(isinstance(part, str) for part in parts):
        found = c.state.look(ViewCall("[]", parts).source(str(t)))
        return None if found is None else found[0]
    try:
        plain = tuple(part for part in parts if part is None or isinstance(part, int | slice))
        return np.empty(t.shape, np.bool_)[plain].shape
    except IndexError:
        return None


def value_for(c: Chooser, t: TensorState, shape: tuple[int, ...] | None) -> Value:
    """Draw what to assign to a part of a tensor that has this shape."""
    plain = c.scalar() if t.dtype.startswith("complex") else c.number()
    if c.blundered or c.chance(0.4):
        return plain
    if shape is None:
        return plain
    if c.chance(0.3):
        cut = shape[c.rng.randint(0, len(shape)) :]
        return c.literal(cut, t.dtype if c.chance(0.8) else c.dtype())
    alike = c.chance(0.7)
    found = c.pick(
        lambda o: (o.dtype == t.dtype or not alike) and broadcasts(_trimmed(o.shape, shape), shape)
    )
    return plain if found is None else str(found)


def _trimmed(shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    """Leading ones do not count in an assignment."""
    while len(shape) > len(target) and shape[0] == 1:
        shape = shape[1:]
    return shape
