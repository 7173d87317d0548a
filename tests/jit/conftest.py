"""What tests of many recordings have in common."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture
def few_objects() -> Iterator[None]:
    """A recording looks at all objects, of which pytest has a million."""
    if gc.get_freeze_count():
        # The suite has done it.
        yield
        return
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
