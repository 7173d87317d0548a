"""Steps that cut, join, turn, and merge at indices."""

import math
from collections.abc import Sequence

from tests.oracle.gen_index import permuted
from vtgrad.testing.menu.chooser import Chooser, is_floating
from vtgrad.testing.menu.indices import positions
from vtgrad.testing.menu.kinds import kind
from vtgrad.testing.steps import Step


@kind(5, "diag_embed")
def around(c: Chooser) -> Sequence[Step] | None:
    """New tensors around old ones, and views under other names."""
    t = c.pick()
    if t is None:
        return None
    if math.prod(t.shape) > 9:
        return None
    d, k = c.dim(t), c.rng.randint(-1, 2)
    rank = len(t.shape)
    forms = [
        ("diag_embed", c.call("diag_embed", t, str(k))),
        ("diagflat", c.call("diagflat", t, str(k))),
        ("repeat_interleave", c.call("repeat_interleave", t, "2")),
        ("repeat_interleave", c.call("repeat_interleave", t, "2", str(d))),
        ("narrow_copy", c.call("narrow_copy", t, str(c.rng.randrange(rank or 1)), "0", "1")),
        ("atleast_1d", f"vt.atleast_1d({t})"),
        ("atleast_2d", f"vt.atleast_2d({t})"),
        ("atleast_3d", f"vt.atleast_3d({t})"),
        ("hstack", f"vt.hstack([{t}, {t}])"),
        ("vstack", f"vt.vstack([{t}, {t}])"),
        ("dstack", f"vt.dstack([{t}, {t}])"),
        ("column_stack", f"vt.column_stack([{t}, {t}])"),
        ("broadcast_to", c.call("broadcast_to", t, str((2, *t.shape)))),
        ("alias_copy", f"vt.alias_copy({t})"),
        ("unsqueeze_copy", f"vt.unsqueeze_copy({t}, {c.rng.randint(-rank - 1, rank)})"),
    ]
    if rank in (1, 2):
        forms += [("diag", c.call("diag", t, str(k)))] * 2
    if rank >= 2:
        forms += [
            ("rot90", c.call("rot90", t, str(k), "(0, 1)")),
            ("swapdims", c.call("swapdims", t, "0", "1")),
            ("moveaxis", c.call("moveaxis", t, "0", "-1")),
            ("transpose_copy", f"vt.transpose_copy({t}, 0, 1)"),
            ("diagonal_copy", f"vt.diagonal_copy({t}, {k})"),
            ("vsplit", f"vt.vsplit({t}, (1,))[0]"),
            ("hsplit", f"vt.hsplit({t}, (1,))[1]"),
        ]
    op, text = c.one(forms)
    return c.make(op, text)


@kind(3, "put_")
def stored(c: Chooser) -> Sequence[Step] | None:
    """Values stored or merged at indices; no two are stored at one, see `setitem`."""
    t = c.pick_target()
    if t is None:
        return None
    if math.prod(t.shape) == 0 or math.prod(t.shape) > c.abilities.most_elements:
        return None
    flat = positions(c, math.prod(t.shape), 2, unique=True)
    value = c.tensor((len(flat),), t.dtype)
    indices = f"vt.tensor({flat}, dtype=vt.int64)"
    enough = c.tensor((math.prod(t.shape),), t.dtype)
    mask = c.tensor(t.shape, "bool")
    accumulate = c.one(("", ", True"))
    forms = [
        ("put", c.call("put", t, indices, value + accumulate)),
        ("put_", f"{t}.put_({indices}, {value}{accumulate})"),
        ("masked_scatter", c.call("masked_scatter", t, mask, enough)),
        ("masked_scatter_", f"{t}.masked_scatter_({mask}, {enough})"),
    ]
    if len(t.shape) >= 2 and not c.one_dtype:
        forms.append(("fill_diagonal_", f"{t}.fill_diagonal_({c.number(t.dtype)})"))
    if len(t.shape) and is_floating(t):
        at = c.rng.randrange(len(t.shape))
        size = t.shape[at]
        shape = tuple(c.rng.randint(1, n) for n in t.shape)
        index = permuted(c, shape, at, size)
        src = c.tensor(shape, t.dtype, grad=t.dtype == "float64" and c.chance(0.5))
        how = c.one(("'sum'", "'prod'", "'mean'", "'amax'", "'amin'"))
        rows = positions(c, size, c.rng.randint(1, size), unique=True)
        region = (*t.shape[:at], len(rows), *t.shape[at + 1 :])
        source = c.tensor(region, t.dtype)
        other = how if how != "'sum'" else "'mean'"
        forms += [
            ("scatter_reduce", c.call("scatter_reduce", t, str(at), index, src, how)),
            ("scatter_reduce_", f"{t}.scatter_reduce_({at}, {index}, {src}, {how})"),
            ("index_reduce", f"{t}.index_reduce({at}, vt.tensor({rows}), {source}, {other})"),
            ("index_reduce_", f"{t}.index_reduce_({at}, vt.tensor({rows}), {source}, {other})"),
        ]
    op, text = c.one(forms)
    return c.make(op, text)


@kind(1, "unsafe_split")
def unsafe(c: Chooser) -> Sequence[Step] | None:
    """A piece that is no view, of a copy that has no other use."""
    t = c.pick(lambda t: len(t.shape) > 0 and (math.prod(t.shape) > 1))
    if t is None or len(t.shape) == 0:
        return None
    op = c.one(("unsafe_split", "unsafe_chunk"))
    return c.make(op, f"{t}.clone().{op}(1, {c.dim(t)})[0]")
