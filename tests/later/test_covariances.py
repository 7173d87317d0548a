"""Covariances and correlations."""

import pytest

import vtgrad as vt
from vtgrad.errors import DTypeError, NamesError, OptionValueError, ShapeError


def test_covariances_are_sums_of_products_of_deviations() -> None:
    x = vt.tensor([[0.0, 2.0], [1.0, 0.0]])
    assert vt.cov(x).tolist() == [[2.0, -1.0], [-1.0, 0.5]]
    assert x.cov(correction=0).tolist() == [[1.0, -0.5], [-0.5, 0.25]]
    assert vt.corrcoef(x).tolist() == [[1.0, -1.0], [-1.0, 1.0]]


def test_weights_repeat_samples() -> None:
    x = vt.tensor([[0.0, 2.0], [1.0, 0.0]])
    twice = vt.tensor([[0.0, 2.0, 2.0], [1.0, 0.0, 0.0]])
    weights = vt.tensor([1, 2])
    assert vt.allclose(vt.cov(x, fweights=weights), vt.cov(twice))


def test_integers_are_computed_in_the_default_dtype() -> None:
    assert vt.cov(vt.tensor([[1, 2], [3, 5]])).dtype == vt.float32


def test_weights_and_values_that_have_no_meaning_are_refused() -> None:
    x = vt.ones(2, 3)
    with pytest.raises(ShapeError):
        vt.cov(vt.ones(1, 2, 3))
    with pytest.raises(ShapeError):
        vt.corrcoef(vt.ones(1, 2, 3))
    with pytest.raises(DTypeError):
        vt.cov(x > 0)
    for weights in (vt.tensor([1, 2]), vt.tensor([1, -2, 1]), vt.ones(3), vt.tensor([0, 0, 0])):
        with pytest.raises(OptionValueError):
            vt.cov(x, fweights=weights)
    with pytest.raises(OptionValueError):
        vt.cov(x, aweights=vt.tensor([1, 2, 3]))
    with pytest.raises(NamesError):
        x.rename("a", "b").cov()


def test_too_few_samples_warn() -> None:
    with pytest.warns(UserWarning, match="divides by zero"):
        assert vt.cov(vt.ones(2, 1)).isnan().all()
