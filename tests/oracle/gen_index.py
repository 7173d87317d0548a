"""Steps that read and write through indices of every kind."""

from tests.oracle.generator import Context, rule
from tests.oracle.side import TensorLike
from vtgrad.testing.steps import Line


def basic(c: Context, size: int) -> str:
    """An integer or slice for one dimension."""
    r = c.rng
    if c.chance(0.45):
        if c.blunder() or size == 0:
            return str(r.choice((size, -size - 1)))
        i = r.randrange(size)
        return str(i - size if c.chance(0.3) else i)
    if c.chance(0.25):
        return ":"
    start = r.choice(("", str(r.randint(0, size)), str(-r.randint(1, 3))))
    stop = r.choice(("", str(r.randint(0, size + 1)), "-1"))
    step = r.choice(("", "", ":1", ":2", ":3"))
    if c.chance(0.01):
        step = ":-1"
    return f"{start}:{stop}{step}"


def positions(c: Context, size: int, count: int, unique: bool) -> list[int]:
    """Indices into a dimension, some of them counted from the end."""
    if unique:
        found = c.rng.sample(range(size), min(count, size))
    else:
        found = [c.rng.randrange(size) for _ in range(count)] if size else []
    if found and c.blunder():
        found[0] = size + 1
    return [i - size if c.chance(0.2) and i < size else i for i in found]


def mask(c: Context, size: int) -> str:
    """Booleans for one dimension as a literal list."""
    flags = [c.chance(0.5) for _ in range(size + (1 if c.blunder() else 0))]
    return str(flags)


def advanced(c: Context, size: int, count: int, unique: bool) -> str:
    """An index array for one dimension: list, tensor, mask, or of two dimensions."""
    found = positions(c, size, count, unique)
    kind = c.rng.randrange(7)
    if kind <= 1:
        return str(found)
    if kind == 2:
        return f"vt.tensor({found}, dtype=vt.int64)"
    if kind == 3 and len(found) > 1:
        return f"vt.tensor([{found}])"
    if kind == 4 and size:
        return f"vt.tensor({mask(c, size)})"
    if kind == 5 and size:
        return mask(c, size)
    if kind == 6 and found:
        return f"vt.tensor({[[i] for i in found]})"
    return str(found)


def index(c: Context, t: TensorLike, unique: bool) -> str:
    """An index expression for a tensor."""
    r = c.rng
    special = r.random()
    if special < 0.03:
        return "..."
    if special < 0.05:
        return "()"
    if special < 0.07:
        return "None"
    if special < 0.08:
        return r.choice(("True", "False"))
    if special < 0.14:
        shape = tuple(t.shape)
        return f"vt.tensor({c.nested(shape, 'bool')}, dtype=vt.bool)" if 0 not in shape else "..."
    if special < 0.18:
        same = c.pick(lambda o: tuple(o.shape) == tuple(t.shape) and not o.is_complex())
        if same is not None:
            return f"{same} > {c.number()}"
    if special < 0.185 and t.dim() and not unique:
        return r.choice(("1.5", "'a'", "vt.tensor(1.5)"))
    sizes = list(t.shape)
    used = sizes[: r.randint(0 if c.chance(0.1) else 1, len(sizes))] if sizes else []
    if c.blunder():
        used.append(2)
    with_arrays = c.chance(0.35)
    count = r.randint(1, 3)
    items: list[str] = []
    while used:
        size = used.pop(0)
        if with_arrays and used and size and used[0] and c.chance(0.1):
            shape = (int(size), int(used.pop(0)))
            items.append(f"vt.tensor({c.nested(shape, 'bool')}, dtype=vt.bool)")
        elif with_arrays and c.chance(0.55):
            items.append(advanced(c, int(size), count, unique))
        elif c.chance(0.06) and size:
            items.append(f"vt.tensor({r.randrange(size)})")
        else:
            items.append(basic(c, int(size)))
    for _ in range(3):
        if c.chance(0.06):
            items.insert(r.randint(0, len(items)), "None")
    if c.chance(0.04):
        flag = r.choice(("True", "False", "vt.tensor(True)", "vt.tensor(False)"))
        items.insert(r.randint(0, len(items)), flag)
    if c.chance(0.1):
        items.insert(r.randint(0, len(items)), "...")
    if not items:
        return "..."
    if len(items) == 1:
        return items[0] if c.chance(0.8) else items[0] + ","
    return ", ".join(items)


@rule(14, "__getitem__")
def getitem(c: Context) -> list[Line] | None:
    """``x[...]``."""
    name = c.pick()
    if name is None:
        return None
    return c.make("getitem", f"{name}[{index(c, c.get(name), unique=False)}]")


@rule(16, "__setitem__")
def setitem(c: Context) -> list[Line] | None:
    """``x[...] = v``; index arrays name no element twice, for which PyTorch's gradient is wrong."""
    name = c.pick_target()
    if name is None:
        return None
    text = index(c, c.get(name), unique=True)
    region = c.try_eval(f"{name}[{text}]")
    value: str | None = c.scalar() if c.get(name).is_complex() else c.number()
    if region is not None and c.chance(0.6) and not c.blundered:
        shape = tuple(region.shape)
        dtype = str(c.get(name).dtype).rsplit(".", 1)[-1]
        if c.chance(0.5):
            value = c.pick(lambda o: fits(tuple(o.shape), shape) and o.dtype == c.get(name).dtype)
        elif c.chance(0.7):
            cut = shape[c.rng.randint(0, len(shape)) :]
            value = c.tensor(cut, dtype if c.chance(0.8) else c.dtype())
        else:
            value = c.pick(lambda o: fits(tuple(o.shape), shape))
    if value is None:
        return None
    return c.make("setitem", f"{name}[{text}] = {value}", 0)


def fits(source: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether a value of one shape may be written into a region of the other."""
    while len(source) > len(target) and source[0] == 1:
        source = source[1:]
    pairs = zip(reversed(source), reversed(target), strict=False)
    return len(source) <= len(target) and all(a in (1, b) for a, b in pairs)


def permuted(c: Context, shape: tuple[int, ...], at: int, size: int) -> str:
    """An index tensor for gather and scatter that names no position twice along ``at``."""
    order = c.rng.sample(range(size), min(size, shape[at]))

    def build(prefix: tuple[int, ...]) -> object:
        if len(prefix) == len(shape):
            return order[prefix[at]]
        return [build((*prefix, k)) for k in range(shape[len(prefix)])]

    return f"vt.tensor({build(())}, dtype=vt.int64)"


@rule(6, "gather")
def gather_scatter(c: Context) -> list[Line] | None:
    """gather, scatter, and the index_* family along one dimension."""
    name = c.pick_target()
    if name is None:
        return None
    t = c.get(name)
    if t.dim() == 0 or t.numel() == 0:
        return None
    at = c.rng.randrange(t.dim())
    size = int(t.shape[at])
    d = at - t.dim() if c.chance(0.3) else at
    shape = tuple(c.rng.randint(1, n) for n in t.shape)
    index_text = permuted(c, shape, at, size)
    rows = positions(c, size, c.rng.randint(1, size), unique=True)
    row_text = f"vt.tensor({rows})"
    dtype = str(t.dtype).rsplit(".", 1)[-1]
    region = (*t.shape[:at], len(rows), *t.shape[at + 1 :])
    source = c.pick(lambda o: tuple(o.shape) == region and o.dtype == t.dtype)
    if source is None or not c.chance(0.6) or c.blundered:
        source = c.tensor(region, dtype)
    src = c.tensor(shape, dtype)
    bigger = c.pick(
        lambda o: (
            o.dtype == t.dtype
            and o.dim() == len(shape)
            and all(a >= b for a, b in zip(o.shape, shape, strict=True))
        )
    )
    if bigger is not None and c.chance(0.6) and not c.blundered:
        src = bigger
    forms = [
        ("gather", c.call("gather", name, str(d), index_text)),
        ("scatter", c.call("scatter", name, str(d), index_text, src)),
        ("scatter", c.call("scatter", name, str(d), index_text, c.scalar())),
        ("scatter_", f"{name}.scatter_({d}, {index_text}, {src})"),
        ("scatter_add", c.call("scatter_add", name, str(d), index_text, src)),
        ("scatter_add_", f"{name}.scatter_add_({d}, {index_text}, {src})"),
        ("index_select", c.call("index_select", name, str(d), row_text)),
        ("index_fill", c.call("index_fill", name, str(d), row_text, c.scalar())),
        ("index_fill_", f"{name}.index_fill_({d}, {row_text}, {c.scalar()})"),
        ("index_add", c.call("index_add", name, str(d), row_text, source)),
        ("index_add_", f"{name}.index_add_({d}, {row_text}, {source})"),
        ("index_copy", c.call("index_copy", name, str(d), row_text, source)),
        ("index_copy_", f"{name}.index_copy_({d}, {row_text}, {source})"),
    ]
    op, text = c.rng.choice(forms)
    return c.make(op, text) if c.has(op) else None


@rule(5, "masked_fill")
def masks(c: Context) -> list[Line] | None:
    """Masks, index_put, take, nonzero and sorting."""
    name = c.pick_target()
    if name is None:
        return None
    t = c.get(name)
    other = c.pick_like(name, into=True)
    if other is None:
        return None
    chosen = f"{other} > {c.number()}"
    size = int(t.shape[0]) if t.dim() else 1
    rows = positions(c, size, c.rng.randint(1, 3), unique=True)
    row_text = f"(vt.tensor({rows}, dtype=vt.int64),)"
    dtype = str(t.dtype).rsplit(".", 1)[-1]
    value = c.tensor(tuple(t.shape[1:]), dtype)
    flat = positions(c, int(t.numel()), 3, unique=False)
    d = c.dim(t)
    accumulate = ", accumulate=True" if c.chance(0.3) else ""
    forms = [
        ("masked_fill", c.call("masked_fill", name, chosen, c.scalar())),
        ("masked_fill_", f"{name}.masked_fill_({chosen}, {c.scalar()})"),
        ("masked_fill_", f"{name}.masked_fill_({chosen}, vt.tensor({c.number()}))"),
        ("masked_select", c.call("masked_select", name, chosen)),
        ("index_put", c.call("index_put", name, row_text, value + accumulate)),
        ("index_put_", f"{name}.index_put_({row_text}, {value}{accumulate})"),
        ("take", c.call("take", name, f"vt.tensor({flat}, dtype=vt.int64)")),
        ("nonzero", c.call("nonzero", name)),
        ("sort", f"{name}.sort(dim={d}, stable=True)"),
        ("argsort", f"{name}.argsort(dim={d}, stable=True)"),
    ]
    op, text = c.rng.choice(forms)
    if not c.has(op):
        return None
    return c.make(op, text, 2 if op == "sort" else 1)
