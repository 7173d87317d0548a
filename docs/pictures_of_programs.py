"""The pictures of the pages, drawn by the programs that stand above them.

A page shows a picture by ``![what it shows](pictures/name.svg "make_dot(y)")``. The title is an
expression: it is evaluated after the program above, and gives a graph, a map of memory, or a figure
of matplotlib. ``make pictures`` draws all of them again, which needs the program ``dot`` of
Graphviz. The files are kept with the pages, so that their readers do not need it, and a test
compares what they were drawn from with what the programs give now.
"""

import contextlib
import importlib
import io
import json
import re
import subprocess
import xml.etree.ElementTree as ET
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vtgrad.viz import Dot, StorageMap, make_dot, storage_map

__all__ = ["FOLDER", "Picture", "about", "content_of", "drawn", "pictures", "written_about"]

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"

_PART = re.compile(
    r"^```python\n(?P<program>.*?)^```$"
    r"|^!\[(?P<text>[^\]]*)\]\((?:docs/|\.\./)*pictures/(?P<name>[\w-]+)\.svg "
    r'"(?P<expression>[^"]+)"\)$',
    re.MULTILINE | re.DOTALL,
)
# What Graphviz writes about itself and about its nodes.
_COMMENTS = re.compile(
    r"<!--.*?-->\n?|<\?xml.*?\?>\n?|<!DOCTYPE.*?>\n?|<title>.*?</title>\n?", re.S
)


class Picture(NamedTuple):
    """A picture in a page."""

    name: str
    page: Path
    text: str
    program: str
    expression: str

    @property
    def path(self) -> Path:
        """The file."""
        return FOLDER / f"{self.name}.svg"


def pictures() -> list[Picture]:
    """All pictures of all pages, in the order of the pages."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [picture for page in pages if "_build" not in page.parts for picture in _of(page)]


def _of(page: Path) -> list[Picture]:
    found, program = [], ""
    for part in _PART.finditer(page.read_text("utf-8")):
        if part["program"] is not None:
            program = part["program"]
        else:
            found.append(Picture(part["name"], page, part["text"], program, part["expression"]))
    return found


def content_of(picture: Picture) -> object:
    """Run the program above a picture, and evaluate the expression of the picture."""
    namespace: dict[str, object] = {"make_dot": make_dot, "storage_map": storage_map}
    # A name without a folder, as in what the pages say that programs print.
    program = compile(picture.program, "program.py", "exec", dont_inherit=True)
    with contextlib.redirect_stdout(io.StringIO()):
        exec(program, namespace)
    return eval(picture.expression, namespace)


def about(content: object) -> str:
    """What a picture is drawn from, as text, apart from how it is drawn."""
    if isinstance(content, (Dot, StorageMap)):
        return str(content)
    return json.dumps(_numbers(content))


def drawn(content: object) -> str:
    """The text of a picture's file."""
    if isinstance(content, StorageMap):
        svg = content._repr_svg_()
    elif isinstance(content, Dot):
        run = subprocess.run(
            ["dot", "-Tsvg"], input=content.source, capture_output=True, text=True, check=True
        )
        svg = _COMMENTS.sub("", run.stdout)
    else:
        svg = _COMMENTS.sub("", _figure(content))
    head, bracket, rest = svg.partition(">")
    return f"{head}{bracket}\n<desc>{escape(about(content), quote=False)}</desc>{rest.rstrip()}\n"


def _figure(figure: object) -> str:
    matplotlib = importlib.import_module("matplotlib")
    file = io.StringIO()
    # Text stays text, and identifiers do not change from run to run.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "vtgrad"}):
        getattr(figure, "savefig")(  # noqa: B009  # mypy knows no figures
            file, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None}
        )
    return file.getvalue()


def _numbers(figure: object) -> list[list[float]]:
    """The data of all lines and images of a figure, to three digits."""
    found: list[np.ndarray] = []
    for axes in getattr(figure, "axes"):  # noqa: B009
        found += [np.asarray(line.get_ydata(), np.float64).ravel() for line in axes.lines]
        found += [np.asarray(image.get_array(), np.float64).ravel() for image in axes.images]
    return [[float(f"{value:.3g}") for value in values] for values in found]


def written_about(picture: Picture) -> str:
    """What the file of a picture was drawn from."""
    root = ET.fromstring(picture.path.read_text("utf-8"))
    return root.findtext("{http://www.w3.org/2000/svg}desc") or ""


def main() -> None:
    """Draw every picture again, and remove the files of those that no page shows any more."""
    FOLDER.mkdir(exist_ok=True)
    names = {picture.path for picture in pictures()}
    for old in FOLDER.glob("*.svg"):
        if old not in names:
            old.unlink()
    for picture in pictures():
        picture.path.write_text(drawn(content_of(picture)), "utf-8")


if __name__ == "__main__":
    main()
