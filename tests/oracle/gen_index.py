"""Steps that read and write through indices of every kind."""

import math
from collections.abc import Sequence

from vtgrad.testing.menu.chooser import Chooser
from vtgrad.testing.menu.indices import positions
from vtgrad.testing.menu.kinds import kind
from vtgrad.testing.steps import Step


def permuted(c: Chooser, shape: tuple[int, ...], at: int, size: int) -> str:
    """An index tensor for gather and scatter that names no position twice along ``at``."""
    order = c.rng.sample(range(size), min(size, shape[at]))

    def build(prefix: tuple[int, ...]) -> object:
        if len(prefix) == len(shape):
            return order[prefix[at]]
        return [build((*prefix, k)) for k in range(shape[len(prefix)])]

    return f"vt.tensor({build(())}, dtype=vt.int64)"


@kind(6, "gather")
def gather_scatter(c: Chooser) -> Sequence[Step] | None:
    """gather, scatter, and the index_* family along one dimension."""
    t = c.pick_target()
    if t is None:
        return None
    if len(t.shape) == 0 or math.prod(t.shape) == 0:
        return None
    at = c.rng.randrange(len(t.shape))
    size = t.shape[at]
    d = at - len(t.shape) if c.chance(0.3) else at
    shape = tuple(c.rng.randint(1, n) for n in t.shape)
    index_text = permuted(c, shape, at, size)
    rows = positions(c, size, c.rng.randint(1, size), unique=True)
    row_text = f"vt.tensor({rows})"
    region = (*t.shape[:at], len(rows), *t.shape[at + 1 :])
    source: object = c.pick(lambda o: o.shape == region and o.dtype == t.dtype)
    if source is None or not c.chance(0.6) or c.blundered:
        source = c.tensor(region, t.dtype)
    src: object = c.tensor(shape, t.dtype)
    bigger = c.pick(
        lambda o: (
            o.dtype == t.dtype
            and len(o.shape) == len(shape)
            and all(a >= b for a, b in zip(o.shape, shape, strict=True))
        )
    )
    if bigger is not None and c.chance(0.6) and not c.blundered:
        src = bigger
    forms = [
        ("gather", c.call("gather", t, str(d), index_text)),
        ("scatter", c.call("scatter", t, str(d), index_text, src)),
        ("scatter", c.call("scatter", t, str(d), index_text, c.scalar())),
        ("scatter_", f"{t}.scatter_({d}, {index_text}, {src})"),
        ("scatter_add", c.call("scatter_add", t, str(d), index_text, src)),
        ("scatter_add_", f"{t}.scatter_add_({d}, {index_text}, {src})"),
        ("index_select", c.call("index_select", t, str(d), row_text)),
        ("index_fill", c.call("index_fill", t, str(d), row_text, c.scalar())),
        ("index_fill_", f"{t}.index_fill_({d}, {row_text}, {c.scalar()})"),
        ("index_add", c.call("index_add", t, str(d), row_text, source)),
        ("index_add_", f"{t}.index_add_({d}, {row_text}, {source})"),
        ("index_copy", c.call("index_copy", t, str(d), row_text, source)),
        ("index_copy_", f"{t}.index_copy_({d}, {row_text}, {source})"),
    ]
    op, text = c.one(forms)
    return c.make(op, text)


@kind(5, "masked_fill")
def masks(c: Chooser) -> Sequence[Step] | None:
    """Masks, index_put, take, nonzero and sorting."""
    t = c.pick_target()
    if t is None:
        return None
    other = c.pick_like(t, into=True)
    if other is None:
        return None
    chosen = f"{other} > {c.number()}"
    size = t.shape[0] if len(t.shape) else 1
    rows = positions(c, size, c.rng.randint(1, 3), unique=True)
    row_text = f"(vt.tensor({rows}, dtype=vt.int64),)"
    value = c.tensor(t.shape[1:], t.dtype)
    flat = positions(c, math.prod(t.shape), 3, unique=False)
    d = c.dim(t)
    accumulate = ", accumulate=True" if c.chance(0.3) else ""
    forms = [
        ("masked_fill", c.call("masked_fill", t, chosen, c.scalar())),
        ("masked_fill_", f"{t}.masked_fill_({chosen}, {c.scalar()})"),
        ("masked_fill_", f"{t}.masked_fill_({chosen}, vt.tensor({c.number()}))"),
        ("masked_select", c.call("masked_select", t, chosen)),
        ("index_put", c.call("index_put", t, row_text, value + accumulate)),
        ("index_put_", f"{t}.index_put_({row_text}, {value}{accumulate})"),
        ("take", c.call("take", t, f"vt.tensor({flat}, dtype=vt.int64)")),
        ("nonzero", c.call("nonzero", t)),
        ("sort", f"{t}.sort(dim={d}, stable=True)"),
        ("argsort", f"{t}.argsort(dim={d}, stable=True)"),
    ]
    op, text = c.one(forms)
    return c.make(op, text, 2 if op == "sort" else 1)
