"""What the examples in docstrings may use without importing it."""

import numpy as np
import pytest

import vtgrad


@pytest.fixture(scope="session", autouse=True)
def _names_in_examples(doctest_namespace: dict[str, object]) -> None:
    doctest_namespace.update(vt=vtgrad, np=np)
