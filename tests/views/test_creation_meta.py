"""How a view was made decides whether it may be written, and a view of a view inherits that."""

import pytest

from vtgrad.errors import (
    CustomFunctionViewError,
    InferenceViewError,
    MultiOutputViewError,
    NoGradViewError,
    ViewInvalidError,
)
from vtgrad.views.creation_meta import CreationMeta, propagate, refuse_if_restricted


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


def test_a_view_of_a_view_has_its_own_reason_or_its_parents() -> None:
    no_grad, several = CreationMeta.NO_GRAD_MODE, CreationMeta.MULTI_OUTPUT_NODE
    assert propagate(CreationMeta.DEFAULT, CreationMeta.DEFAULT) is CreationMeta.DEFAULT
    assert propagate(no_grad, CreationMeta.DEFAULT) is no_grad
    assert propagate(CreationMeta.DEFAULT, several) is several
    assert propagate(no_grad, several) is several
