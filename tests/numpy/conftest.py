"""What tests of one folder share: packages that a test writes."""

from __future__ import annotations

import importlib
import itertools
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

_numbers = itertools.count()


@pytest.fixture
def write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[dict[str, str]], str]]:
    """Writes the files of a package of a new name, which is returned; PKG stands for it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def made(files: dict[str, str]) -> str:
        name = f"adopted_example_{next(_numbers)}"
        for path, text in files.items():
            file = tmp_path / path.replace("PKG", name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text).replace("PKG", name))
        importlib.invalidate_caches()
        return name

    yield made
    for name in set(sys.modules) - before:
        if "adopted_" in name:
            del sys.modules[name]
