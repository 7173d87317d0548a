"""Steps that reduce along dimensions, and matrix products."""

from collections.abc import Sequence

from vtgrad.testing.menu.chooser import Chooser, is_complex, is_floating
from vtgrad.testing.menu.kinds import kind
from vtgrad.testing.menu.operators import with_out
from vtgrad.testing.steps import Step

OVER_DIMS = "sum mean amax amin any all var std logsumexp norm".split()
OVER_ONE = "prod argmax argmin".split()
ALONG = "cumsum cumprod softmax log_softmax logcumsumexp diff".split()


@kind(5, "matmul")
def product(c: Chooser) -> Sequence[Step] | None:
    """Products of vectors, matrices and batches; the second factor is often made to fit."""
    t = c.pick(lambda t: len(t.shape) > 0 and (is_floating(t) or is_complex(t)))
    if t is None:
        return None
    a = t
    if len(a.shape) == 0:
        return None
    dtype = a.dtype
    inner = a.shape[-1]

    def fits(rank: int, axis: int) -> object:
        other = c.pick(
            lambda o: len(o.shape) == rank and o.shape[axis] == inner and o.dtype == a.dtype
        )
        if other is not None:
            return other
        sizes = [c.rng.randint(1, 3) for _ in range(rank)]
        sizes[axis] = inner
        return c.tensor(tuple(sizes), dtype, grad=c.chance(0.3))

    vector, matrix = fits(1, 0), fits(2, 0)
    forms = [("matmul", f"{t} @ {vector}"), ("matmul", c.call("matmul", t, matrix))]
    if len(a.shape) == 1:
        forms += [
            ("dot", c.call("dot", t, vector)),
            ("outer", c.call("outer", t, fits(1, 0))),
            ("matmul", f"{matrix}.t() @ {t}"),
            ("einsum", f"vt.einsum('i,i->', {t}, {vector})"),
            ("einsum", f"vt.einsum('i,j->ij', {t}, {vector})"),
        ]
    if len(a.shape) == 2:
        forms += [
            ("mm", c.call("mm", t, matrix)),
            ("mv", c.call("mv", t, vector)),
            ("addmm", f"vt.addmm({vector}.sum(), {t}, {matrix}, beta=0.5)"),
            ("addmv", f"vt.addmv({vector}.sum(), {t}, {vector}, alpha=2)"),
            ("addr", f"vt.addr({t}, {t}[:, 0], {t}[0], beta=2, alpha=0.5)"),
            ("addr_", f"{t}.addr_({t}[:, 0], {t}[0])"),
            ("trace", f"{t}.trace()"),
            ("inner", f"{t}.inner({vector})"),
            ("einsum", f"vt.einsum('ij,jk->ik', {t}, {matrix})"),
            ("einsum", f"vt.einsum('ij->ji', {t})"),
            ("einsum", f"vt.einsum('ij,j->i', {t}, {vector})"),
            ("mm out=", ""),
        ]
    if len(a.shape) == 3:
        cube = f"{t}.transpose(1, 2)"
        forms += [
            ("bmm", f"vt.bmm({t}, {cube})"),
            ("baddbmm", f"vt.baddbmm({t}[0, 0, 0], {t}, {cube}, alpha=0.5)"),
            ("addbmm", f"vt.addbmm({t}[0, 0, 0], {t}, {cube}, beta=2)"),
            ("matmul", f"{t} @ {cube}"),
            ("einsum", f"vt.einsum('bij,bkj->bik', {t}, {t})"),
        ]
    op, text = c.one(forms)
    if op == "mm out=":
        return with_out(c, "mm", f"vt.mm({t}, {matrix}")
    result = c.state.look(text)
    if result is not None and not c.abilities.fits(result[0]):
        return None
    return c.make(op, text)
