"""Steps about what is saved: parts of a tensor, and writes beside them or just there."""

from tests.oracle.generator import Context
from vtgrad.testing.steps import Line

__all__ = ["beside"]


def beside(c: Context) -> list[Line] | None:
    """Save a part of a tensor, then write beside it, or just there; a few times, then a pass."""
    name = c.pick_target()
    if name is None or c.protected(name):
        return None
    t = c.get(name)
    if not t.dim() or 0 in t.shape or t.dtype != c.torch.float64:
        return None
    steps = [step for _ in range(c.rng.randint(1, 3)) for step in _save_and_write(c, name)]
    leaves = sorted(leaf for leaf in c.leaves & set(c.names()) if c.get(leaf).requires_grad)
    if t.requires_grad and leaves and c.chance(0.5):
        wanted = f"[{c.rng.choice(leaves)}], retain_graph=True, allow_unused=True"
        text = f"[dense(g) for g in vt.autograd.grad(({name} * {name}).sum(), {wanted})][0]"
        steps.append(Line(text, (c.fresh(),), "", "grad", backward=True))
    return steps


def _save_and_write(c: Context, name: str) -> list[Line]:
    t = c.get(name)
    first = c.chance(0.6)
    dim = 0 if first else t.dim() - 1
    size = int(t.shape[dim])
    i = j = c.rng.randrange(size)
    if size > 1 and c.chance(0.9):
        i, j = c.rng.sample(range(size), 2)
    old, new = (f"{name}[{k}]" if first else f"{name}[..., {k}]" for k in (i, j))
    value = c.rng.choice((f"{old} * {old}", f"{old}.sin()", f"{old}.exp() * {old}", f"{old} ** 2"))
    part = c.fresh()
    # Slices for the writes that want a dimension more.
    slices, at = f"{part}.unsqueeze({dim})", f"vt.tensor([{j}])"
    text = c.rng.choice(
        (
            *[f"{new} = {part}"] * 3,
            f"{new} = {new} + {part}",
            f"{new}.mul_(2)",
            f"{new} += {part}",
            f"{name}.index_fill_({dim}, {at}, 1.5)",
            f"{name}.index_add_({dim}, {at}, {slices})",
            f"{name}.index_copy_({dim}, {at}, {slices})",
            f"{name}.select({dim}, {j}).sin_()",
            f"{name}.narrow({dim}, {j}, {size - j}).neg_()",
            c.rng.choice((f"{name}[{name} > 1] = 0.5", f"{name}.masked_fill_({name} < -1, 0.25)")),
        )
    )
    saved = Line(f"({value}).clamp(-9, 9)", (part,), "", "beside")
    return [saved, Line(text, (), c.mode(), "beside")]
