"""Fixtures for every behaviour test."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

from tests.support import ON_TORCH, vt


@pytest.fixture(autouse=True)
def _rule(request: pytest.FixtureRequest) -> Iterator[None]:
    """The rule for saved values is PyTorch's in tests that say so."""
    if ON_TORCH or request.node.get_closest_marker("storage_rule") is None:
        yield
        return
    with vt.autograd.graph.set_overwrite_check("storage"):
        yield


@pytest.fixture(autouse=True)
def _recording_stays_on() -> Iterator[None]:
    """A test that leaves recording off fails itself, and not all those after it."""
    yield
    was_on = vt.is_grad_enabled()
    vt.set_grad_enabled(True)
    assert was_on, "this test left gradient recording switched off"


@pytest.fixture(autouse=True)
def _without_warnings_of_torch() -> Iterator[None]:
    """Of operators without a batching rule, and of what PyTorch's own code calls."""
    with warnings.catch_warnings():
        if ON_TORCH:
            warnings.filterwarnings("ignore", ".*performance drop")
            warnings.filterwarnings("ignore", ".*torch.jit.script", DeprecationWarning)
        yield
