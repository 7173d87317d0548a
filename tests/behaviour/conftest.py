"""Fixtures for every behaviour test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .support import vt


@pytest.fixture(autouse=True)
def _recording_stays_on() -> Iterator[None]:
    """A test that leaves recording off fails itself, and not all those after it."""
    yield
    was_on = vt.is_grad_enabled()
    vt.set_grad_enabled(True)
    assert was_on, "this test left gradient recording switched off"
