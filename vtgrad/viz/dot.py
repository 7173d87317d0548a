"""A drawing as text of the DOT language, and as a picture where Graphviz is installed."""

from __future__ import annotations

import importlib
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, cast

from vtgrad.errors import NotSupportedError

__all__ = ["Dot", "escaped"]


class _Source(Protocol):
    """The part of ``graphviz.Source`` that is used."""

    def pipe(self, format: str) -> bytes: ...


class Dot:
    """A drawing of a graph in the DOT language of Graphviz.

    A notebook shows it as a picture, if the Python package ``graphviz`` and its program ``dot`` are
    installed (``pip install graphviz`` brings the package), and otherwise as its text.

    Attributes
    ----------
    source : str
        The text, for any program that reads DOT.

    Examples
    --------
    >>> from vtgrad.viz import make_dot
    >>> drawing = make_dot(vt.ones(2, requires_grad=True) * 2)
    >>> print(drawing.source.splitlines()[0])
    digraph {
    """

    __slots__ = ("source",)

    source: str

    def __init__(self, source: str) -> None:
        self.source = source

    def __str__(self) -> str:
        return self.source

    def save(self, path: str | Path) -> Path:
        """Write the text into a file.

        Parameters
        ----------
        path : str or Path
            The file, which is overwritten.

        Returns
        -------
        Path
            The file.

        Examples
        --------
        >>> import tempfile
        >>> from vtgrad.viz import make_dot
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     make_dot(vt.ones(2, requires_grad=True) * 2).save(f"{folder}/graph.dot").name
        'graph.dot'
        """
        path = Path(path)
        path.write_text(self.source, "utf-8")
        return path

    def render(self, path: str | Path) -> Path:
        """Draw a picture into a file.

        Parameters
        ----------
        path : str or Path
            The file; its suffix is the format: ``.svg``, ``.png``, ``.pdf``.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        NotSupportedError
            If Graphviz is not installed.
        """
        path = Path(path)
        path.write_bytes(self._pipe(path.suffix.removeprefix(".") or "svg"))
        return path

    def _repr_svg_(self) -> str | None:
        """The picture for notebooks; None without Graphviz, so that they show the text."""
        return self._pipe("svg").decode("utf-8") if _is_installed() else None

    def __repr__(self) -> str:
        return self.source

    def _pipe(self, kind: str) -> bytes:
        if not _is_installed():
            raise NotSupportedError(
                "pictures need Graphviz: the Python package (pip install graphviz) and its program "
                "dot; without them there is the text, see `source` and `save`"
            )
        source = cast("_Source", importlib.import_module("graphviz").Source(self.source))
        return source.pipe(format=kind)


def _is_installed() -> bool:
    return find_spec("graphviz") is not None and shutil.which("dot") is not None


def escaped(text: str) -> str:
    """A text inside of the quotes of a DOT attribute; newlines begin new lines of the label."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
