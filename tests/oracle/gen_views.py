"""Steps that make views, in-place metadata operators, copies and joins."""

from tests.oracle.generator import MAX_NUMEL, Context, rule
from tests.oracle.side import TensorLike
from vtgrad.testing.steps import Line


def factor(c: Context, count: int) -> tuple[int, ...]:
    """A shape with this many elements."""
    sizes: list[int] = []
    while count > 1:
        divisors = [d for d in range(2, count + 1) if count % d == 0]
        d = c.rng.choice(divisors)
        sizes.append(d)
        count //= d
    if count == 0:
        sizes.append(0)
    while c.chance(0.2):
        sizes.insert(c.rng.randint(0, len(sizes)), 1)
    c.rng.shuffle(sizes)
    return tuple(sizes)


def new_shape(c: Context, t: TensorLike) -> str:
    """A shape for view or reshape, sometimes with -1, sometimes wrong."""
    sizes = list(factor(c, int(t.numel())))
    if c.chance(0.25) and sizes:
        sizes[c.rng.randrange(len(sizes))] = -1
    if c.blunder():
        sizes.append(c.rng.choice((2, 5, -1)))
    return str(tuple(sizes))


def geometry(c: Context, t: TensorLike) -> str:
    """Arguments of as_strided that stay inside the storage and, mostly, do not overlap."""
    item = max(int(t.element_size()), 1)
    room = int(t.untyped_storage().nbytes()) // item
    for _ in range(20):
        rank = c.rng.randint(0, 3)
        size = tuple(c.rng.randint(1, 3) for _ in range(rank))
        stride = tuple(c.rng.randint(0 if c.chance(0.1) else 1, 6) for _ in range(rank))
        offset = c.rng.randint(0, 4)
        reach = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) + 1
        if t.requires_grad and not inside(t, size, stride, offset):
            continue  # PyTorch's gradient misses what lies outside of a view
        if reach <= room or c.chance(0.05):
            if c.chance(0.8) or t.requires_grad:
                return f"{size}, {stride}, {offset}"
            return f"{size}, {stride}"
    return f"(), (), {int(t.storage_offset())}"


def inside(t: TensorLike, size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> bool:
    """Whether a geometry shows elements of a tensor only, not others of its memory."""
    own, shown = {int(t.storage_offset())}, {offset}
    for offsets, sizes, strides in ((own, t.shape, t.stride()), (shown, size, stride)):
        for n, s in zip(sizes, strides, strict=True):
            offsets.update({offset + k * s for offset in offsets for k in range(n)})
    return shown <= own


def permutation(c: Context, t: TensorLike) -> tuple[int, ...]:
    """An order of all dimensions."""
    order = list(range(t.dim()))
    c.rng.shuffle(order)
    if order and c.blunder():
        order[0] = order[-1]
    return tuple(order)


def expanded(c: Context, t: TensorLike) -> str:
    """A shape to expand to."""
    sizes = [
        (c.rng.randint(2, 3) if n == 1 and c.chance(0.6) else -1 if c.chance(0.3) else n)
        for n in t.shape
    ]
    if c.chance(0.25):
        sizes.insert(0, c.rng.randint(1, 3))
    if c.blunder() and sizes:
        sizes[-1] = 7
    return str(tuple(sizes))


def view_text(c: Context, name: str) -> tuple[str, str]:
    """One view of a tensor: operator and expression."""
    t = c.get(name)
    r = c.rng
    d = c.dim(t)
    size = int(t.shape[d]) if -t.dim() <= d < t.dim() else 1
    start = r.randint(0, max(size - 1, 0))
    length = r.randint(0, max(size - start, 0)) + (9 if c.blunder() else 0)
    d2 = c.dim(t)
    forms = [
        ("view", f"{name}.view({new_shape(c, t)})"),
        ("view", f"{name}.view({new_shape(c, t)})"),
        ("reshape", c.call("reshape", name, new_shape(c, t))),
        ("select", c.call("select", name, str(d), str(start - (size if c.chance(0.3) else 0)))),
        ("narrow", c.call("narrow", name, str(d), str(start), str(length))),
        ("transpose", c.call("transpose", name, str(d), str(d2))),
        ("swapaxes", c.call("swapaxes", name, str(d), str(d2))),
        ("t", c.call("t", name)),
        ("permute", c.call("permute", name, str(permutation(c, t)))),
        ("movedim", c.call("movedim", name, str(d), str(d2))),
        ("unsqueeze", c.call("unsqueeze", name, str(r.randint(-t.dim() - 1, t.dim())))),
        ("squeeze", c.call("squeeze", name)),
        ("squeeze", c.call("squeeze", name, str(d))),
        ("squeeze", c.call("squeeze", name, c.dims(t))),
        ("expand", f"{name}.expand({expanded(c, t)})"),
        ("flatten", c.call("flatten", name)),
        ("flatten", c.call("flatten", name, *(str(x) for x in sorted((d % 3, d2 % 3))))),
        ("ravel", c.call("ravel", name)),
        ("unflatten", c.call("unflatten", name, str(d), str(factor(c, size) or (1,)))),
        ("diagonal", c.call("diagonal", name, *([str(r.randint(-2, 2))] if c.chance(0.5) else []))),
        ("diagonal", c.call("diagonal", name, "0", str(d), str(d2))),
        ("as_strided", c.call("as_strided", name, geometry(c, t))),
        ("detach", c.call("detach", name)),
        (".data", f"{name}.data"),
        ("contiguous", f"{name}.contiguous()"),
    ]
    if t.dim() == 2 or c.chance(0.1):
        forms += [("T", f"{name}.T"), ("mT", f"{name}.mT")]
    other = c.pick(lambda o: o.numel() == t.numel())
    if other is not None:
        forms.append(("view_as", f"{name}.view_as({other})"))
    wider = c.pick_like(name)
    if wider is not None:
        forms.append(("expand_as", f"{name}.expand_as({wider})"))
    if size >= 1:
        window = r.randint(1, size)
        # Mostly windows that do not overlap: what PyTorch does with overlapping ones is wrong.
        step = window if c.chance(0.8) else r.randint(1, 2)
        forms.append(("unfold", f"{name}.unfold({d}, {window}, {step})"))
    return r.choice(forms)


@rule(22, "view")
def view(c: Context) -> list[Line] | None:
    """A view, or what returns one when it can."""
    name = c.pick()
    if name is None:
        return None
    op, text = view_text(c, name)
    if not c.has(op):
        return None
    if op == ".data" and c.chance(0.6):
        return None
    return c.make(op, text)


@rule(7, "split")
def multi_view(c: Context) -> list[Line] | None:
    """Operators that give several views at once."""
    name = c.pick(lambda t: t.dim() > 0)
    if name is None:
        return None
    t = c.get(name)
    d = c.dim(t)
    size = int(t.shape[d]) if -t.dim() <= d < t.dim() else 1
    cut = c.rng.randint(0, size)
    forms = [
        ("split", c.call("split", name, str(c.rng.randint(1, 3)), f"dim={d}")),
        ("split", c.call("split", name, f"[{cut}, {size - cut + c.blunder()}]", f"dim={d}")),
        ("chunk", c.call("chunk", name, str(c.rng.randint(1, 3)), str(d))),
        ("unbind", c.call("unbind", name, str(d))),
        ("tensor_split", c.call("tensor_split", name, str(c.rng.randint(1, 3)), f"dim={d}")),
        ("tensor_split", c.call("tensor_split", name, f"({cut},)", f"dim={d}")),
        # Rows that a loop gives are other views here, with the same values.
        ("__iter__", f"[row.detach().clone() for row in {name}]"),
    ]
    op, text = c.rng.choice(forms)
    if not c.has(op):
        return None
    pieces = c.try_eval(text)
    if isinstance(pieces, tuple | list):
        if not 1 < len(pieces) <= 4:
            return None
        return c.make(op, text, len(pieces))
    return c.make(op, text)


@rule(5, "t_")
def metadata_inplace(c: Context) -> list[Line] | None:
    """In-place operators that write no element, only the geometry."""
    name = c.pick_target()
    if name is None:
        return None
    t = c.get(name)
    d, d2 = c.dim(t), c.dim(t)
    forms = [
        ("t_", f"{name}.t_()"),
        ("transpose_", f"{name}.transpose_({d}, {d2})"),
        ("swapaxes_", f"{name}.swapaxes_({d}, {d2})"),
        ("squeeze_", f"{name}.squeeze_()"),
        ("squeeze_", f"{name}.squeeze_({d})"),
        ("unsqueeze_", f"{name}.unsqueeze_({c.rng.randint(-t.dim() - 1, t.dim())})"),
        ("as_strided_", f"{name}.as_strided_({geometry(c, t)})"),
    ]
    op, text = c.rng.choice(forms)
    return c.make(op, text, 0) if c.has(op) else None


@rule(5, "clone")
def copy(c: Context) -> list[Line] | None:
    """Copies and casts."""
    name = c.pick()
    if name is None:
        return None
    t = c.get(name)
    dtype = c.dtype()
    d = c.dim(t)
    repeats = tuple(c.rng.randint(1, 2) for _ in range(t.dim() + c.chance(0.2)))
    roll_dims = str(d) if c.chance(0.7) else "None"
    forms = [
        ("clone", c.call("clone", name)),
        ("clone", f"{name}.clone()"),
        ("to", f"{name}.to(vt.{dtype})"),
        ("to", f"{name}.to(vt.{dtype}, copy=True)"),
        ("double", f"{name}.double()"),
        ("float", f"{name}.float()"),
        ("long", f"{name}.long()"),
        ("int", f"{name}.int()"),
        ("bool", f"{name}.bool()"),
        ("repeat", f"{name}.repeat({repeats})"),
        ("roll", c.call("roll", name, str(c.rng.randint(-2, 3)), roll_dims)),
        ("flip", c.call("flip", name, c.dims(t))),
        ("tril", c.call("tril", name, str(c.rng.randint(-1, 1)))),
        ("triu", c.call("triu", name)),
        ("tril_", f"{name}.tril_({c.rng.randint(-1, 1)})"),
        ("triu_", f"{name}.triu_()"),
    ]
    op, text = c.rng.choice(forms)
    if op.startswith("tri") and t.dim() < 2 and c.chance(0.9):
        return None
    return c.make(op, text) if c.has(op) else None


@rule(5, "cat")
def join(c: Context) -> list[Line] | None:
    """cat and stack."""
    name = c.pick()
    if name is None:
        return None
    t = c.get(name)
    stack = c.chance(0.45) or t.dim() == 0
    rank = int(t.dim()) + stack
    d = c.rng.randrange(rank) if not c.blunder() else rank
    shape = tuple(t.shape)

    def fits(o: TensorLike) -> bool:
        other = tuple(o.shape)
        if stack:
            return other == shape
        at = d % max(len(shape), 1)
        return len(other) == len(shape) and all(
            a == b for k, (a, b) in enumerate(zip(shape, other, strict=True)) if k != at
        )

    parts = [name]
    for _ in range(c.rng.randint(1, 2)):
        other = c.pick(fits)
        if other is not None:
            parts.append(other)
    if sum(int(c.get(p).numel()) for p in parts) > MAX_NUMEL:
        return None
    op = "stack" if stack else "cat"
    d = d - rank if c.chance(0.3) else d
    text = f"vt.{op}([{', '.join(parts)}], dim={d})"
    return c.make(op, text)
