"""Steps that cut, join, turn, and merge at indices."""

from tests.oracle.gen_index import permuted, positions
from tests.oracle.generator import MAX_NUMEL, Context, rule
from vtgrad.testing.steps import Line


@rule(5, "diag_embed")
def around(c: Context) -> list[Line] | None:
    """New tensors around old ones, and views under other names."""
    name = c.pick()
    if name is None:
        return None
    t = c.get(name)
    if t.numel() > 9:
        return None
    d, k = c.dim(t), c.rng.randint(-1, 2)
    rank = int(t.dim())
    forms = [
        ("diag_embed", c.call("diag_embed", name, str(k))),
        ("diagflat", c.call("diagflat", name, str(k))),
        ("repeat_interleave", c.call("repeat_interleave", name, "2")),
        ("repeat_interleave", c.call("repeat_interleave", name, "2", str(d))),
        ("narrow_copy", c.call("narrow_copy", name, str(c.rng.randrange(rank or 1)), "0", "1")),
        ("atleast_1d", f"vt.atleast_1d({name})"),
        ("atleast_2d", f"vt.atleast_2d({name})"),
        ("atleast_3d", f"vt.atleast_3d({name})"),
        ("hstack", f"vt.hstack([{name}, {name}])"),
        ("vstack", f"vt.vstack([{name}, {name}])"),
        ("dstack", f"vt.dstack([{name}, {name}])"),
        ("column_stack", f"vt.column_stack([{name}, {name}])"),
        ("broadcast_to", c.call("broadcast_to", name, str((2, *t.shape)))),
        ("alias_copy", f"vt.alias_copy({name})"),
        ("unsqueeze_copy", f"vt.unsqueeze_copy({name}, {c.rng.randint(-rank - 1, rank)})"),
    ]
    if rank in (1, 2):
        forms += [("diag", c.call("diag", name, str(k)))] * 2
    if rank >= 2:
        forms += [
            ("rot90", c.call("rot90", name, str(k), "(0, 1)")),
            ("swapdims", c.call("swapdims", name, "0", "1")),
            ("moveaxis", c.call("moveaxis", name, "0", "-1")),
            ("transpose_copy", f"vt.transpose_copy({name}, 0, 1)"),
            ("diagonal_copy", f"vt.diagonal_copy({name}, {k})"),
            ("vsplit", f"vt.vsplit({name}, (1,))[0]"),
            ("hsplit", f"vt.hsplit({name}, (1,))[1]"),
        ]
    op, text = c.rng.choice(forms)
    return c.make(op, text)


@rule(3, "put_")
def stored(c: Context) -> list[Line] | None:
    """Values stored or merged at indices; no two are stored at one, see `setitem`."""
    name = c.pick_target()
    if name is None:
        return None
    t = c.get(name)
    if t.numel() == 0 or t.numel() > MAX_NUMEL:
        return None
    dtype = str(t.dtype).rsplit(".", 1)[-1]
    flat = positions(c, int(t.numel()), 2, unique=True)
    value = c.tensor((len(flat),), dtype)
    indices = f"vt.tensor({flat}, dtype=vt.int64)"
    enough = c.tensor((int(t.numel()),), dtype)
    mask = c.tensor(tuple(t.shape), "bool")
    accumulate = c.rng.choice(("", ", True"))
    forms = [
        ("put", c.call("put", name, indices, value + accumulate)),
        ("put_", f"{name}.put_({indices}, {value}{accumulate})"),
        ("masked_scatter", c.call("masked_scatter", name, mask, enough)),
        ("masked_scatter_", f"{name}.masked_scatter_({mask}, {enough})"),
    ]
    if t.dim() >= 2 and not c.one_dtype:
        forms.append(("fill_diagonal_", f"{name}.fill_diagonal_({c.number(dtype)})"))
    if t.dim() and t.is_floating_point():
        at = c.rng.randrange(t.dim())
        size = int(t.shape[at])
        shape = tuple(c.rng.randint(1, n) for n in t.shape)
        index = permuted(c, shape, at, size)
        src = c.tensor(shape, dtype, grad=dtype == "float64" and c.chance(0.5))
        how = c.rng.choice(("'sum'", "'prod'", "'mean'", "'amax'", "'amin'"))
        rows = positions(c, size, c.rng.randint(1, size), unique=True)
        region = (*t.shape[:at], len(rows), *t.shape[at + 1 :])
        source = c.tensor(region, dtype)
        other = how if how != "'sum'" else "'mean'"
        forms += [
            ("scatter_reduce", c.call("scatter_reduce", name, str(at), index, src, how)),
            ("scatter_reduce_", f"{name}.scatter_reduce_({at}, {index}, {src}, {how})"),
            ("index_reduce", f"{name}.index_reduce({at}, vt.tensor({rows}), {source}, {other})"),
            ("index_reduce_", f"{name}.index_reduce_({at}, vt.tensor({rows}), {source}, {other})"),
        ]
    op, text = c.rng.choice(forms)
    return c.make(op, text)


@rule(1, "unsafe_split")
def unsafe(c: Context) -> list[Line] | None:
    """A piece that is no view, of a copy that has no other use."""
    name = c.pick(lambda t: t.dim() > 0 and bool(t.numel() > 1))
    if name is None or c.get(name).dim() == 0:
        return None
    op = c.rng.choice(("unsafe_split", "unsafe_chunk"))
    return c.make(op, f"{name}.clone().{op}(1, {c.dim(c.get(name))})[0]")
