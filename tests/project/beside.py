"""The tables of the page that says which names other libraries have."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

__all__ = ["LIBRARIES", "is_there", "rows"]

_PAGE: Final = Path(__file__).parents[2] / "docs" / "beside-other-libraries.md"

LIBRARIES: Final = ("vtgrad", "torch", "numpy", "scipy", "jax", "autograd")


def rows() -> Iterator[dict[str, str]]:
    """Each row: by library, the name there, without those that are missing."""
    for line in _PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and not cells[0].endswith(".`"):
            found = zip(LIBRARIES, cells, strict=True)
            yield {library: cell.strip("`") for library, cell in found if cell != "-"}


def is_there(library: str, name: str) -> bool:
    """Whether a library has a function of a dotted name."""
    found: object = import_module(library)
    path = library
    for part in name.split("."):
        path += f".{part}"
        if not hasattr(found, part):
            try:
                import_module(path)
            except ImportError:
                return False
        found = getattr(found, part, None)
    return callable(found)
