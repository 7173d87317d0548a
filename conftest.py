"""Examples in docstrings: where they are, and what they may use without importing it."""

from collections.abc import Generator
from pathlib import Path

import numpy as np
import pytest
from _pytest.doctest import DoctestModule

import vtgrad

Collectors = list[pytest.Collector | None]


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, Collectors, Collectors]:
    """Look for examples only in files that have some; a look imports the file."""
    found = yield
    if (
        any(isinstance(one, DoctestModule) for one in found)
        and b">>>" not in file_path.read_bytes()
    ):
        return [one for one in found if not isinstance(one, DoctestModule)]
    return found


@pytest.fixture(scope="session", autouse=True)
def _names_in_examples(doctest_namespace: dict[str, object]) -> None:
    doctest_namespace.update(vt=vtgrad, np=np)
