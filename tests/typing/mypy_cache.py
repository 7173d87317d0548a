"""A cache of mypy that the tests of types share: the first run reads the library for all."""

import atexit
import shutil
import tempfile
from functools import cache

import pytest

__all__ = ["mypy_cache", "one_process"]

#: mypy stops with an internal error when another run writes to the same cache.
one_process = pytest.mark.xdist_group("mypy")


@cache
def mypy_cache() -> str:
    """Give the argument for a cache that only the runs of this process use."""
    folder = tempfile.mkdtemp(prefix="mypy-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return f"--cache-dir={folder}"
