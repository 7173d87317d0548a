"""What the workers of these tests import."""

import sys
from collections.abc import Iterator

import pytest

from tests.project.tree import ROOT


@pytest.fixture(autouse=True, scope="module")
def tests_can_be_imported_by_workers() -> Iterator[None]:
    """Workers get the path of this process, on which the tests are not where vtgrad is installed.

    At its end, so that an installed vtgrad comes before the sources beside the tests.
    """
    sys.path.append(str(ROOT))
    yield
    sys.path.remove(str(ROOT))
