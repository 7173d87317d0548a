"""Random programs do the same with the short way of Note [Writing back] and without it.

What breaks it: a value, gradient, ``.grad``, version or call of a hook that depends on the way.
"""

import random
from collections.abc import Callable

import pytest

import vtgrad as vt
from vtgrad.storage.mark_written import PartIndex
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.write_back import write_back

PARTS: list[int | slice] = [0, 1, -1, slice(None), slice(0, 2), slice(1, None)]


def program(seed: int) -> list[object]:
    """Run a random program of views, augmented assignments, uses, hooks; return what it shows."""
    r = random.Random(seed)
    seen: list[object] = []
    w = vt.tensor([2.0, -1.0, 3.0], dtype=vt.float64, requires_grad=True)
    ones = vt.ones(4, 3, dtype=vt.float64)
    base = ones * w if r.random() < 0.8 else ones
    tensors = [base, base[:3], base.detach()[:3]]
    total = w.sum()

    def note(g: vt.Tensor) -> vt.Tensor:
        seen.append(g.tolist())
        return g * 2

    for _ in range(r.randint(2, 7)):
        t = r.choice(tensors)
        kind = r.choice(["assign", "assign", "assign", "use", "hook", "retain", "ask"])
        if kind == "assign":
            index = r.choice(PARTS)
            part = t[index]
            part += r.choice([w, w.detach(), t[0].clone()])
            if r.random() < 0.4:
                total = total + (r.choice([*tensors, part]) * 3).sum()
            t[index] = part
            tensors += [part] if part.ndim == 2 and len(part) > 1 else []
        elif kind == "use":
            total = total + (t * 5).sum()
        elif t.requires_grad and kind == "hook":
            t.register_hook(note)
        elif t.requires_grad and kind == "retain":
            t.retain_grad()
        else:
            seen.append(t.requires_grad and t.grad_fn is not None)
    for nr, t in enumerate(tensors):
        total = total + (t * (nr + 1)).sum()
    wanted = [t for t in (w, *tensors) if t.requires_grad]
    found = vt.autograd.grad(total, wanted, retain_graph=True, allow_unused=True)
    seen += [None if g is None else g.tolist() for g in found]
    total.backward()
    for t in tensors:
        kept = t.grad if t.retains_grad else None
        seen += [t.tolist(), t._version, kept is not None and kept.tolist()]
    return seen


@pytest.mark.skipif(vt.__compiled__, reason="native calls go past the seam")
@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_the_short_way_shows_nowhere(monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    served: list[bool] = []

    def counted(tensor: TensorBase, index: PartIndex, value: TensorBase) -> bool:
        served.append(write_back(tensor, index, value))
        return served[-1]

    ways: list[Callable[[TensorBase, PartIndex, TensorBase], bool]] = [
        counted,
        lambda tensor, index, value: False,
    ]
    for seed in range(first, first + 100):
        shown = []
        for way in ways:
            monkeypatch.setattr("vtgrad.ops.composites.indexing.getitem.write_back", way)
            shown.append(program(seed))
        assert shown[0] == shown[1], seed
    assert sum(served) > 20
