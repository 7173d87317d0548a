"""The text of tensors, beside PyTorch's."""

import numpy as np
import pytest
import torch

import vtgrad as vt

DTYPES = ("float32", "int64", "bool", "complex64")


def _values(dtype: str, rng: np.random.Generator) -> np.ndarray:
    """An array of some shape, with values of some size, whole or not, finite or not."""
    ndim = int(rng.integers(0, 5))
    lengths = [0, 1, 2, 7, 12, 40, 150] if ndim < 3 else [1, 2, 7, 8]
    shape = tuple(int(n) for n in rng.choice(lengths, ndim))
    values = rng.standard_normal(shape) * 10.0 ** rng.integers(-9, 10)
    kind = rng.integers(4)
    if kind == 0:
        values = values * 10.0 ** rng.uniform(-6, 6, shape)
    elif kind == 1:
        values = np.round(values)
    elif kind == 2 and dtype in ("float32", "complex64"):
        values = np.where(rng.random(shape) < 0.2, rng.choice([np.nan, np.inf, -np.inf]), values)
    if dtype == "complex64":
        values = values + 1j * rng.standard_normal(shape)
    if dtype == "bool":
        return np.asarray(values > 0)
    return np.asarray(np.clip(values, -1e15, 1e15) if dtype == "int64" else values).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_texts_are_pytorchs(dtype: str) -> None:
    for seed in range(300):
        rng = np.random.default_rng(seed)
        values = _values(dtype, rng)
        theirs, ours = torch.tensor(values), vt.tensor(values)
        if dtype in ("float32", "complex64") and rng.random() < 0.5:
            theirs.requires_grad_()
            ours.requires_grad_()
            if rng.random() < 0.5:
                theirs, ours = theirs.clone(), ours.clone()
        assert repr(ours) == repr(theirs).replace("torch.", "vtgrad."), f"seed {seed}"
