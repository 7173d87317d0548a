"""Steps that reduce along dimensions, and matrix products."""

from tests.oracle.gen_pointwise import with_out
from tests.oracle.generator import MAX_NUMEL, Context, rule
from vtgrad.testing.steps import Line

OVER_DIMS = "sum mean amax amin any all var std logsumexp norm".split()
OVER_ONE = "prod argmax argmin".split()
ALONG = "cumsum cumprod softmax log_softmax logcumsumexp diff".split()


@rule(9, "sum")
def reduction(c: Context) -> list[Line] | None:
    """Reductions over everything, one dimension or several."""
    name = c.pick_tame()
    if name is None:
        return None
    t = c.get(name)
    keep = c.rng.choice(("", "", ", keepdim=True", ", keepdim=False"))
    d = c.dim(t)
    kind = c.rng.random()
    if kind < 0.25:
        op = c.rng.choice(("sum", "sum", "mean"))
        text = c.call(op, name)
    elif kind < 0.35:
        op = c.rng.choice(("max", "min", "prod", "any", "all", "argmax", "argmin", "norm"))
        text = c.call(op, name)
    elif kind < 0.5:
        op = c.rng.choice(("max", "min"))
        text = f"{name}.{op}({d}{keep})"
        return c.make(op, text, 2) if c.has(op) else None
    elif kind < 0.75:
        op = c.rng.choice(OVER_DIMS)
        dims = c.dims(t) if c.chance(0.5) else str(d)
        text = f"{name}.{op}(dim={dims}{keep})"
    elif kind < 0.85:
        op = c.rng.choice(OVER_ONE)
        text = f"{name}.{op}({d}{keep})"
    else:
        op = c.rng.choice(ALONG)
        text = f"{name}.diff(dim={d})" if op == "diff" else c.call(op, name, str(d))
        if op.startswith("cum") and c.chance(0.3):
            op, text = op + "_", f"{name}.{op}_({d})"
    if not c.has(op):
        return None
    if op == "sum" and c.chance(0.06):
        return with_out(c, op, f"vt.sum({name}, dim={d}")
    return c.make(op, text)


@rule(5, "matmul")
def product(c: Context) -> list[Line] | None:
    """Products of vectors, matrices and batches; the second factor is often made to fit."""
    name = c.pick(lambda t: t.dim() > 0 and (t.is_floating_point() or t.is_complex()))
    if name is None:
        return None
    a = c.get(name)
    if a.dim() == 0:
        return None
    dtype = str(a.dtype).rsplit(".", 1)[-1]
    inner = int(a.shape[-1])

    def fits(rank: int, axis: int) -> str:
        other = c.pick(
            lambda o: o.dim() == rank and int(o.shape[axis]) == inner and o.dtype == a.dtype
        )
        if other is not None:
            return other
        sizes = [c.rng.randint(1, 3) for _ in range(rank)]
        sizes[axis] = inner
        return c.tensor(tuple(sizes), dtype, grad=c.chance(0.3))

    vector, matrix = fits(1, 0), fits(2, 0)
    forms = [("matmul", f"{name} @ {vector}"), ("matmul", c.call("matmul", name, matrix))]
    if a.dim() == 1:
        forms += [
            ("dot", c.call("dot", name, vector)),
            ("outer", c.call("outer", name, fits(1, 0))),
            ("matmul", f"{matrix}.t() @ {name}"),
            ("einsum", f"vt.einsum('i,i->', {name}, {vector})"),
            ("einsum", f"vt.einsum('i,j->ij', {name}, {vector})"),
        ]
    if a.dim() == 2:
        forms += [
            ("mm", c.call("mm", name, matrix)),
            ("mv", c.call("mv", name, vector)),
            ("addmm", f"vt.addmm({vector}.sum(), {name}, {matrix}, beta=0.5)"),
            ("addmv", f"vt.addmv({vector}.sum(), {name}, {vector}, alpha=2)"),
            ("addr", f"vt.addr({name}, {name}[:, 0], {name}[0], beta=2, alpha=0.5)"),
            ("addr_", f"{name}.addr_({name}[:, 0], {name}[0])"),
            ("trace", f"{name}.trace()"),
            ("inner", f"{name}.inner({vector})"),
            ("einsum", f"vt.einsum('ij,jk->ik', {name}, {matrix})"),
            ("einsum", f"vt.einsum('ij->ji', {name})"),
            ("einsum", f"vt.einsum('ij,j->i', {name}, {vector})"),
            ("mm out=", ""),
        ]
    if a.dim() == 3:
        cube = f"{name}.transpose(1, 2)"
        forms += [
            ("bmm", f"vt.bmm({name}, {cube})"),
            ("baddbmm", f"vt.baddbmm({name}[0, 0, 0], {name}, {cube}, alpha=0.5)"),
            ("addbmm", f"vt.addbmm({name}[0, 0, 0], {name}, {cube}, beta=2)"),
            ("matmul", f"{name} @ {cube}"),
            ("einsum", f"vt.einsum('bij,bkj->bik', {name}, {name})"),
        ]
    op, text = c.rng.choice(forms)
    if op == "mm out=":
        return with_out(c, "mm", f"vt.mm({name}, {matrix}")
    if not c.has(op):
        return None
    result = c.try_eval(text)
    if result is not None and int(getattr(result, "numel", int)()) > MAX_NUMEL:
        return None
    return c.make(op, text)
