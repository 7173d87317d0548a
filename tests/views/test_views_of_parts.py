"""``x[i, j:k]`` makes one view with the graph of a view after another."""

from collections.abc import Callable

import pytest

import vtgrad as vt
from vtgrad import profiler
from vtgrad.autograd.graph import Node
from vtgrad.errors import NoGradViewError, OutOfRangeError, VtgradError
from vtgrad.ops.composites.indexing import getitem

INDICES: list[tuple[object, ...]] = [
    (1, 2),
    (-1, slice(1, 3)),
    (slice(1, None), 0),
    (slice(0, 2), slice(1, None, 2), 1),
    (slice(None), 1, slice(None)),
    (1, slice(None), -1),
    (slice(2, 1), 0),
    (slice(None), slice(None)),
    (slice(0, 2), slice(2, None, -1)),
    (slice(None, None, 0), 1),
    (3, 0),
    (0, 4),
    (0, 0, 0, 0),
    (0, None, 1),
    (0, ..., 1),
    (..., 1),
    (1, ...),
    (..., slice(1, None), 0),
    (0, 0, 0, ..., 0),
    (..., None, 0),
    (0, True),
    (),
]


def chain(node: Node | None) -> list[tuple[str, object]]:
    """The nodes from a view down to its base, with what each knows."""
    found: list[tuple[str, object]] = []
    while node is not None:
        found.append((node.name(), getattr(node, "self_shape", None)))
        node = node.next_functions[0][0] if node.next_functions else None
    return found


def shown(make: Callable[[], vt.Tensor], index: tuple[object, ...]) -> list[object]:
    """All that reading and writing a part shows."""
    seen: list[object] = []
    leaf = make()
    x = leaf * 1
    try:
        v = x[index]  # type: ignore[index]  # wrong ones are tried too
        seen += [v.tolist(), v.stride(), v.storage_offset(), chain(v.grad_fn), v._base is x]
        v *= 2
        seen += [str(write.view) for write in x.writes()]
        x[index] = 3.0  # type: ignore[index]  # as above
        seen += [x.tolist(), x._version]
        (x * x).sum().backward()
        assert leaf.grad is not None
        seen += [leaf.grad.tolist(), chain(v.grad_fn), v._version]
    except (VtgradError, IndexError) as error:
        seen += [type(error), str(error)]
    return seen


MAKERS: list[Callable[[], vt.Tensor]] = [
    lambda: vt.arange(24.0).reshape(3, 4, 2).requires_grad_(),
    lambda: vt.arange(24.0).reshape(2, 4, 3).permute(2, 1, 0).requires_grad_(),
    lambda: vt.arange(12.0).reshape(3, 4, 1).expand(3, 4, 2).requires_grad_(),
]


@pytest.mark.skipif(vt.__compiled__, reason="native calls go past the seam")
@pytest.mark.parametrize("index", INDICES, ids=str)
def test_it_shows_what_one_view_after_another_shows(
    monkeypatch: pytest.MonkeyPatch, index: tuple[object, ...]
) -> None:
    for make in MAKERS:
        at_once = shown(make, index)
        with monkeypatch.context() as patch:
            patch.setattr(getitem, "_view_of_parts", getitem._view_by_operators)
            assert shown(make, index) == at_once


@pytest.mark.skipif(vt.__compiled__, reason="native calls go past the seam")
@pytest.mark.parametrize(
    "index", [(0, vt.tensor([1, 0])), (0, None), (0, [1]), (0, 1, True), (0, slice(None), ..., [0])]
)
def test_no_view_is_made_for_what_it_does_not_serve(
    monkeypatch: pytest.MonkeyPatch, index: tuple[object, ...]
) -> None:
    """It would be made in vain."""
    x = vt.arange(24.0).reshape(3, 4, 2)
    expected = x[index]  # type: ignore[index]  # of other kinds too
    monkeypatch.setattr(getitem, "view_impls", None)
    assert x[index].tolist() == expected.tolist()  # type: ignore[index]  # as above


def test_the_nodes_in_between_are_made() -> None:
    x = vt.ones(3, 4, requires_grad=True)
    assert chain(x[1, 1:3].grad_fn) == [
        ("SliceBackward0", (4,)),
        ("SelectBackward0", (3, 4)),
        ("torch::autograd::AccumulateGrad", None),
    ]


def test_what_may_not_be_written_still_may_not() -> None:
    x = vt.ones(3, 4, requires_grad=True) * 1
    with vt.no_grad():
        v = x[1, 1:3]
    with pytest.raises(NoGradViewError, match="test_views_of_parts"):
        v.mul_(2)
    with pytest.raises(OutOfRangeError):
        x[3, 0]


@pytest.mark.skipif(vt.__compiled__, reason="a profile does not see native functions")
def test_a_profile_sees_each_operator() -> None:
    x = vt.ones(3, 4)
    with profiler.profile() as profile:
        x[1, 1:3]
    assert [e.name for e in profile.events() if e.name.startswith("aten")] == [
        "aten::select",
        "aten::slice",
    ]
