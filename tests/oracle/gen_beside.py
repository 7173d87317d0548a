"""Steps about what is saved: parts of a tensor, and writes beside them or just there."""

from collections.abc import Sequence

from vtgrad.testing.menu.chooser import Chooser
from vtgrad.testing.menu.kinds import kind
from vtgrad.testing.menu.state import TensorState
from vtgrad.testing.steps import Line, Step


@kind(0)
def saved_and_beside(c: Chooser) -> Sequence[Step] | None:
    """Save a part of a tensor, then write beside it, or just there; a few times, then a pass."""
    t = c.pick_target()
    if t is None or t.is_protected:
        return None
    if not len(t.shape) or 0 in t.shape or t.dtype != "float64":
        return None
    steps: list[Step] = [step for _ in range(c.rng.randint(1, 3)) for step in _save_and_write(c, t)]
    leaves = [leaf for leaf in c.tensors() if leaf.is_leaf]
    if t.requires_grad and leaves and c.chance(0.5):
        wanted = f"[{c.one(leaves)}], retain_graph=True, allow_unused=True"
        text = f"[dense(g) for g in vt.autograd.grad(({t} * {t}).sum(), {wanted})][0]"
        steps.append(Line(text, (f"t{c.fresh()}",), "", "grad", backward=True))
    return steps


def _save_and_write(c: Chooser, t: TensorState) -> Sequence[Step]:
    first = c.chance(0.6)
    dim = 0 if first else len(t.shape) - 1
    size = t.shape[dim]
    i = j = c.rng.randrange(size)
    if size > 1 and c.chance(0.9):
        i, j = c.rng.sample(range(size), 2)
    old, new = (f"{t}[{k}]" if first else f"{t}[..., {k}]" for k in (i, j))
    value = c.one((f"{old} * {old}", f"{old}.sin()", f"{old}.exp() * {old}", f"{old} ** 2"))
    part = f"t{c.fresh()}"
    # Slices for the writes that want a dimension more.
    slices, at = f"{part}.unsqueeze({dim})", f"vt.tensor([{j}])"
    text = c.one(
        (
            *[f"{new} = {part}"] * 3,
            f"{new} = {new} + {part}",
            f"{new}.mul_(2)",
            # Not with `+=`, of which the two libraries have other graphs: see test_writing_back.py.
            f"{new}.add_({part})",
            f"{t}.index_fill_({dim}, {at}, 1.5)",
            f"{t}.index_add_({dim}, {at}, {slices})",
            f"{t}.index_copy_({dim}, {at}, {slices})",
            f"{t}.select({dim}, {j}).sin_()",
            f"{t}.narrow({dim}, {j}, {size - j}).neg_()",
            c.one((f"{t}[{t} > 1] = 0.5", f"{t}.masked_fill_({t} < -1, 0.25)")),
        )
    )
    saved = Line(f"({value}).clamp(-9, 9)", (part,), "", "beside")
    return [saved, c.in_mode(Line(text, (), "", "beside"))]
