"""What PyTorch warns of, where these tests run on it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

from tests.support import ON_TORCH


@pytest.fixture(autouse=True)
def _without_warnings_of_torch() -> Iterator[None]:
    """Of operators without a batching rule, and of what its own code calls."""
    with warnings.catch_warnings():
        if ON_TORCH:
            warnings.filterwarnings("ignore", ".*performance drop")
            warnings.filterwarnings("ignore", ".*torch.jit.script", DeprecationWarning)
        yield
