"""How a view was made decides whether it may be written, and a view of a view inherits that."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import vtgrad
from vtgrad import Tensor
from vtgrad.errors import (
    CustomFunctionViewError,
    InferenceViewError,
    MultiOutputViewError,
    NoGradViewError,
    ViewInvalidError,
)
from vtgrad.views.creation_meta import (
    CreationMeta,
    made_unrecorded,
    propagate,
    refuse_if_restricted,
)
from vtgrad.views.differentiable_view_meta import view_meta_of


@pytest.mark.parametrize("modified", [False, True])
@pytest.mark.parametrize(
    ("creation", "error"),
    [
        (CreationMeta.IN_CUSTOM_FUNCTION, CustomFunctionViewError),
        (CreationMeta.MULTI_OUTPUT_NODE, MultiOutputViewError),
        (CreationMeta.NO_GRAD_MODE, NoGradViewError),
        (CreationMeta.MULTI_OUTPUT_SAFE, MultiOutputViewError),
        (CreationMeta.INFERENCE_MODE, InferenceViewError),
    ],
)
def test_a_restricted_view_is_refused_with_its_reason(
    creation: CreationMeta, error: type[ViewInvalidError], modified: bool
) -> None:
    with pytest.raises(error) as caught:
        refuse_if_restricted(creation, modified=modified, producer="result 1 of X")
    assert caught.value.facts["creation"] == creation.name
    assert caught.value.facts["modified"] is modified
    assert "result 1 of X" in str(caught.value)


def test_an_ordinary_view_is_not_refused() -> None:
    refuse_if_restricted(CreationMeta.DEFAULT, modified=False, producer="")
    refuse_if_restricted(CreationMeta.DEFAULT, modified=True, producer="")


@pytest.mark.parametrize("own", CreationMeta)
@pytest.mark.parametrize("parent", CreationMeta)
def test_a_view_of_a_view_has_one_reason(parent: CreationMeta, own: CreationMeta) -> None:
    custom, inference = CreationMeta.IN_CUSTOM_FUNCTION, CreationMeta.INFERENCE_MODE
    if own is CreationMeta.DEFAULT:
        expected = parent
    elif parent is inference and own is not custom:
        expected = inference
    else:
        expected = own
    assert propagate(parent, own) is expected


def test_what_nothing_records_is_marked_by_the_mode() -> None:
    with vtgrad.no_grad():
        assert made_unrecorded() is CreationMeta.NO_GRAD_MODE
    with vtgrad.inference_mode(), vtgrad.enable_grad():
        assert made_unrecorded() is CreationMeta.INFERENCE_MODE


def _restricted(creation: CreationMeta) -> tuple[Tensor, Tensor]:
    """A base that requires grad, and a view of it that carries the mark."""
    base = vtgrad.ones(2, requires_grad=True).clone()
    view = base[:1]
    meta = view_meta_of(view)
    assert meta is not None
    meta.creation_meta = creation
    return base, view


@pytest.mark.parametrize("creation", [c for c in CreationMeta if c is not CreationMeta.DEFAULT])
def test_every_mark_restricts_the_view_and_its_views_and_names_a_way_out(
    creation: CreationMeta,
) -> None:
    base, view = _restricted(creation)
    for written in (view, view[:], view[0]):
        with pytest.raises(
            ViewInvalidError, match=r"cannot be written .*: it .*\. [A-Z]"
        ) as caught:
            written.mul_(2)
        assert caught.value.facts["creation"] == creation.name
        assert caught.value.facts["modified"] is False
    assert (base.tolist(), base._version) == ([1, 1], 0)
    with vtgrad.no_grad():
        view.mul_(2)
    uses: list[Callable[[], object]] = [
        lambda: view.grad_fn,
        lambda: view.is_leaf,
        lambda: view * 2,
        lambda: view[:].grad_fn,
        lambda: view.retain_grad(),
        lambda: view.sum().backward(),
    ]
    for use in uses:
        with pytest.raises(ViewInvalidError, match="cannot be used any more") as caught:
            use()
        assert caught.value.facts["modified"] is True
    assert "grad_fn=<Invalid>" in repr(view)
    assert view.requires_grad
    assert view.tolist() == [2]
    base.sum().backward()
