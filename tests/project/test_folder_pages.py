"""The page of a folder of the package has a map, which names each file of the folder once."""

import re
from typing import Final

import pytest

from tests.project.tree import PACKAGE

_MAP: Final = "\n## The files\n"


@pytest.mark.parametrize("folder", ["engine", "graph", "lanes", "storage"])
def test_the_map_of_a_folder_names_each_file_once(folder: str) -> None:
    _, head, files = (PACKAGE / folder / "README.md").read_text("utf-8").partition(_MAP)
    there = [path.name for path in (PACKAGE / folder).glob("*.py") if path.stem != "__init__"]
    assert head == _MAP
    assert sorted(re.findall(r"`(\w+\.py)`", files)) == sorted(there)
