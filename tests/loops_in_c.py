"""The module in C that is tested: the installed one, or the one that `make sanitize` has built."""

from __future__ import annotations

import importlib
import importlib.util
import os
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from vtgrad.storage.loops import NATIVE

__all__ = ["IN_C", "in_c"]

# A folder with a module to test in place of the installed one.
SANITIZED: Final = os.environ.get("VTGRAD_SANITIZED_LOOPS")


def _in_c() -> ModuleType | None:
    if SANITIZED is not None:
        (file,) = Path(SANITIZED).rglob("_loops*.so")
        loader = ExtensionFileLoader("vtgrad._loops", str(file))
        spec = importlib.util.spec_from_loader("vtgrad._loops", loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module
    return importlib.import_module("vtgrad._loops") if NATIVE else None


IN_C: Final = _in_c()
in_c: Final = pytest.mark.skipif(IN_C is None, reason="the C module is not installed, or is off")
