"""``x[i] = v`` is recorded without a view; see Note [A part that is written without a view]."""

import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import vtgrad as vt
from vtgrad import profiler
from vtgrad.errors import (
    InterruptedWriteError,
    OutOfRangeError,
    ShapeError,
    StaleSavedError,
    ViewOfLeafWriteError,
)
from vtgrad.ops.generated.copying_nodes import CopyBackwards
from vtgrad.ops.generated.views_nodes import SelectBackward0, SliceBackward0
from vtgrad.storage.mark_written import PartIndex
from vtgrad.views.write_recorded_part import write_recorded_part

READ_ONLY = np.zeros((4, 6), np.float32)
READ_ONLY.setflags(write=False)
MAKERS = SelectBackward0, SliceBackward0
INDICES: list[int | slice | tuple[int | slice, ...]] = [
    0,
    1,
    -1,
    slice(0, 2),
    slice(None),
    slice(1, None, 2),
    slice(-3, -1),
    (1, 2),
    (-1, slice(1, None)),
    (slice(1, 3), 0),
    (slice(None), -1),
    (slice(None), slice(None, None, 2)),
    (slice(2, 3), slice(None)),
    (slice(2, 1), 0),
]


def stored(x: vt.Tensor, index: PartIndex, value: vt.Tensor) -> bool:
    """Whether the short way has stored a value."""
    return write_recorded_part(x, (*index, ...), value, CopyBackwards.record, MAKERS)


def program(seed: int) -> list[object]:
    """Run a random program of parts that are assigned, read and kept; return what it shows."""
    r = random.Random(seed)
    seen: list[object] = []
    w = vt.tensor([2.0, -1.0, 3.0], dtype=vt.float64, requires_grad=True)
    plain = vt.ones(4, 3, dtype=vt.float64)
    base = plain * w if r.random() < 0.6 else plain
    tensors = [base, base[1:], base[:3, :], base.detach()[:3], base.t(), base.view(3, 4), base[2]]
    tensors += [base[:, 1:], base[1:, :2], base[:, ::2]]
    total = w.sum()

    def note(g: vt.Tensor) -> vt.Tensor:
        seen.append(g.tolist())
        return g * 2

    for _ in range(r.randint(2, 8)):
        t = r.choice(tensors)
        kind = r.choice(["assign"] * 5 + ["use", "save", "hook", "retain", "ask", "view"])
        if kind == "assign":
            index = r.choice(INDICES)
            try:
                shape = t.detach()[index].shape
                value = vt.full(shape, float(r.randint(1, 5)), dtype=vt.float64)
                if r.random() < 0.8:
                    value = value * r.choice([w[0], w[2], w.detach()[1]])
                t[index] = value
                if r.random() < 0.3:
                    total = total + (value * 3).sum()
            except (OutOfRangeError, ShapeError, IndexError) as error:
                seen.append(str(error))
            else:
                seen += [(x.operator, x.version, str(x.view)) for x in base.writes()]
        elif kind == "use":
            total = total + (t * 5).sum()
        elif kind == "save":
            total = total + (t[0] * t[0]).sum()
        elif kind == "view" and t.ndim == 2 and len(t) > 1:
            tensors.append(t[: len(t) - 1])
        elif t.requires_grad and kind == "hook":
            t.register_hook(note)
        elif t.requires_grad and kind == "retain":
            t.retain_grad()
        else:
            seen.append(t.requires_grad and t.grad_fn is not None and t.grad_fn.name())
    for nr, t in enumerate(tensors):
        total = total + (t * (nr + 1)).sum()
    wanted = [t for t in (w, *tensors) if t.requires_grad]
    try:
        found = vt.autograd.grad(total, wanted, retain_graph=True, allow_unused=True)
        seen += [None if g is None else g.tolist() for g in found]
        total.backward()
    except StaleSavedError as error:
        seen.append(str(error))
    for t in tensors:
        kept = t.grad if t.retains_grad else None
        seen += [t.tolist(), t._version, kept is not None and kept.tolist()]
    return seen


@pytest.mark.skipif(vt.__compiled__, reason="native calls go past the seam")
@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_the_short_way_shows_nowhere(monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    """What breaks it: a value, gradient, message, version or hook that depends on the way."""
    served: list[bool] = []

    def counted(*arguments: object) -> bool:
        served.append(write_recorded_part(*arguments))  # type: ignore[arg-type]  # passed on
        return served[-1]

    ways: list[Callable[..., bool]] = [counted, lambda *arguments: False]
    for seed in range(first, first + 100):
        shown = []
        for way in ways:
            name = "vtgrad.ops.composites.indexing.getitem.write_recorded_part"
            monkeypatch.setattr(name, way)
            shown.append(program(seed))
        assert shown[0] == shown[1], seed
    assert served.count(True) > 60
    assert served.count(False) > 30


def test_the_graph_is_that_of_a_copy_into_a_view() -> None:
    w = vt.ones(3, requires_grad=True)
    x, y = vt.zeros(2, 3) * w, vt.zeros(2, 3) * w
    before = x.grad_fn
    x[1] = w
    y[1].copy_(w)
    node, other = x.grad_fn, y.grad_fn
    assert node is not None
    assert other is not None
    assert node.name() == other.name() == "torch::autograd::CopySlices"
    assert node.next_functions[0][0] is before
    assert [n and n.name() for n, _ in node.next_functions] == [
        n and n.name() for n, _ in other.next_functions
    ]
    (x * vt.tensor([[1.0, 2, 3], [4, 5, 6]])).sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == [4, 5, 6]


@pytest.mark.parametrize("index", [1, (slice(None), 1)], ids=str)
def test_what_was_overwritten_has_gradient_zero_and_the_value_its_own(
    index: int | tuple[slice, int],
) -> None:
    """The incoming gradient, which is the caller's, does not change."""
    leaf = vt.ones(3, 3, requires_grad=True)
    w = vt.ones(3, requires_grad=True)
    x = leaf * 1
    x[index] = w
    given = vt.full((3, 3), -2.0)
    x.backward(given)
    assert leaf.grad is not None
    assert w.grad is not None
    assert leaf.grad[index].tolist() == [0, 0, 0]
    assert not leaf.grad[index].signbit().any()
    assert leaf.grad.sum().item() == -12
    w.grad.zero_()
    assert leaf.grad.sum().item() == -12
    assert given.tolist() == [[-2, -2, -2]] * 3


def test_the_usual_case_is_served() -> None:
    w = vt.ones(3, requires_grad=True)
    x = vt.zeros(4, 3)
    assert stored(x, (0,), w)
    assert stored(x, (-1,), w.detach())
    assert stored(x, (slice(1, 3), 0), w[:2])
    assert stored(x[1:], (2, 1), w[0])
    assert stored(x[:, 1:], (2,), w[:2])
    assert stored(x.t(), (slice(None), 1), w)
    assert x._version == 6
    assert {write.operator for write in x.writes()} == {"__setitem__"}


def unusual() -> Iterator[tuple[str, vt.Tensor, PartIndex, vt.Tensor]]:
    """Writes that the long way makes or refuses."""
    w = vt.ones(3, requires_grad=True)
    leaf = vt.ones(4, 3, requires_grad=True)
    retaining = (leaf * 1)[1:]
    retaining.retain_grad()
    yield "nothing is recorded", vt.zeros(4, 3), (0,), w.detach()
    yield "a leaf", leaf, (0,), w
    yield "a view of a leaf", leaf[1:], (0,), w
    yield "one of several views", (leaf * 1).split(2)[0], (0,), w
    yield "a view that retains its gradient", retaining, (0,), w
    yield "gaps", vt.zeros(4, 6)[:, ::2], (0,), w
    yield (
        "a part with gaps of a view with gaps",
        vt.zeros(4, 6)[:, 1:4],
        (slice(None), 0),
        vt.ones(4) * w[0],
    )
    yield (
        "a base with gaps",
        vt.zeros(4, 3).t().contiguous().t().detach(),
        (slice(None), 0),
        vt.ones(4) * w[0],
    )
    yield "read-only", vt.from_numpy(READ_ONLY)[:, :3], (0,), w
    yield "a broadcast", vt.zeros(4, 3), (slice(0, 2),), w
    yield "a cast", vt.zeros(4, 3, dtype=vt.float64), (0,), w
    yield "integers", vt.zeros(4, 3, dtype=vt.int64), (0,), w
    yield "no row", vt.zeros(4, 3), (4,), w
    yield "too many indices", vt.zeros(4, 3), (0, 0, 0), w[0]
    yield "no element", vt.zeros(4, 3), (slice(2, 2),), w[:0].view(0, 1).expand(0, 3)
    yield "the whole", vt.zeros(1, 3), (slice(None),), w.view(1, 3)
    yield "a complex base", vt.view_as_real(vt.zeros(3, dtype=vt.complex64)), (0,), w[:2]


@pytest.mark.parametrize(
    ("tensor", "index", "value"), [pytest.param(*rest, id=name) for name, *rest in unusual()]
)
def test_all_else_is_left_to_the_long_way(
    tensor: vt.Tensor, index: PartIndex, value: vt.Tensor
) -> None:
    before = tensor.tolist(), tensor._version, tensor.grad_fn
    assert not stored(tensor, index, value)
    assert (tensor.tolist(), tensor._version, tensor.grad_fn) == before


@pytest.mark.filterwarnings("ignore:anomaly mode")
def test_anomaly_mode_and_profiles_see_the_view() -> None:
    w = vt.ones(3, requires_grad=True)
    x = vt.zeros(2, 3) * w
    with vt.autograd.detect_anomaly():
        x[0] = w
    view = x.writes()[0].view
    assert view is not None
    assert view.made_at is not None
    with profiler.profile() as profile:
        x[1] = w
    # A profile does not see what native functions call.
    if not vt.__compiled__:
        assert [e.name for e in profile.events()[1:]] == ["aten::select", "aten::copy_"]


def test_errors_are_those_of_the_long_way() -> None:
    leaf = vt.ones(4, 3, requires_grad=True)
    with pytest.raises(ViewOfLeafWriteError):
        leaf[0] = vt.ones(3)
    x = leaf * 1
    with pytest.raises(ShapeError):
        x[0] = vt.ones(2)
    with pytest.raises(OutOfRangeError):
        x[4] = vt.ones(3)
    assert x._version == 0


def test_only_values_that_were_overwritten_are_stale() -> None:
    w = vt.ones(3, requires_grad=True)
    x = vt.zeros(4, 3) * w
    kept = x[0] * x[0]
    x[1:, 0] = w
    kept.sum().backward(retain_graph=True)
    x[0] = w
    with pytest.raises(StaleSavedError, match="__setitem__"):
        kept.sum().backward()


@pytest.mark.skipif(vt.__compiled__, reason="native calls go past the seam")
@pytest.mark.parametrize("step", ["mark_array", "record_write"])
def test_an_interrupted_write_has_no_gradient(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    w = vt.ones(3, requires_grad=True)
    x = vt.zeros(4, 3) * w
    _ = x[0] * x[0]

    def interrupted(*arguments: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"vtgrad.views.write_recorded_part.{step}", interrupted)
        with pytest.raises(KeyboardInterrupt):
            x[1] = w
    with pytest.raises(InterruptedWriteError):
        x.sum().backward()
    assert w.grad is None
