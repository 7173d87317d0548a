"""The pictures in the documentation are those that the programs above them draw.

What breaks it: a picture that was not drawn again after its program, or the library, changed; a
file that no page shows; a picture that is wider than a page, or has no text for those who cannot
see it.
"""

import json
import re
import xml.etree.ElementTree as ET
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import docs.pictures_of_programs as maker
from docs.pictures_of_programs import FOLDER, Picture, about, content_of, pictures, written_about
from tests.project.tree import ROOT
from vtgrad.viz import Dot, StorageMap

_SVG = "{http://www.w3.org/2000/svg}"
_PAGES = {
    "README.md",
    "drawing.md",
    "examples.md",
    "fourier-and-filters.md",
    "linear-algebra.md",
    "one-recorded-operator.md",
    "walks.md",
    "writing-in-place.md",
}


def _same(told: str, now: str) -> bool:
    """Whether two pictures are of the same: texts to the letter, numbers up to rounding."""
    if not told.startswith("["):
        return told == now
    before = [np.array(numbers) for numbers in json.loads(told)]
    after = [np.array(numbers) for numbers in json.loads(now)]
    return [x.shape for x in before] == [x.shape for x in after] and all(
        np.allclose(x, y, rtol=0.01, atol=0.01 * np.abs(x).max(initial=0))
        for x, y in zip(before, after, strict=True)
    )


def test_pages_have_pictures() -> None:
    gallery = {page.name for page in (ROOT / "docs" / "gallery").glob("*.md")} - {"README.md"}
    assert {picture.page.name for picture in pictures()} == _PAGES | gallery
    assert len(gallery) == 12


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "gallery").glob("[a-z]*.md")), ids=str)
def test_a_program_of_the_gallery_is_short(page: Path) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.DOTALL)
    assert len(program.splitlines()) < 80
    assert all(picture.text for picture in pictures())


def test_every_picture_is_shown_once() -> None:
    shown = [picture.path for picture in pictures()]
    assert sorted(shown) == sorted(FOLDER.glob("*.svg"))


@pytest.mark.parametrize(
    "picture",
    [
        pytest.param(p, id=p.name, marks=[pytest.mark.slow] if "figure" in p.expression else [])
        for p in pictures()
    ],
)
def test_a_picture_is_what_its_program_draws(picture: Picture) -> None:
    if "matplotlib" in picture.program and find_spec("matplotlib") is None:
        pytest.skip("matplotlib is not installed")
    content = content_of(picture)
    assert _same(written_about(picture), about(content)), "make the pictures again: make pictures"
    if isinstance(content, StorageMap):
        assert picture.path.read_text("utf-8") == maker.drawn(content)


@pytest.mark.parametrize("picture", pictures(), ids=lambda picture: picture.name)
def test_a_picture_fits_a_page(picture: Picture) -> None:
    root = ET.fromstring(picture.path.read_text("utf-8"))
    width = root.attrib["width"]
    # A point is 4/3 pixels.
    pixels = float(width.removesuffix("pt")) * (4 / 3 if width.endswith("pt") else 1)
    assert pixels <= 800
    assert len(list(root.iter(f"{_SVG}text"))) >= 2


def test_pictures_that_differ_are_found() -> None:
    graph, memory = Dot("digraph {}"), StorageMap([])
    assert not _same(about(graph), about(memory))
    assert _same("[[1.0, 2.0]]", "[[1.0, 2.01]]")
    assert not _same("[[1.0, 2.0]]", "[[1.0, 2.1]]")
    assert not _same("[[1.0, 2.0]]", "[[1.0]]")


def test_the_expression_is_evaluated_after_the_program_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "README.md"
    page.write_text(
        "```python\nimport vtgrad as vt\nx = vt.zeros(2)\n```\n\n```python\nimport vtgrad as vt\n"
        'x = vt.ones(3)\n```\n\n![a map](docs/pictures/a-b.svg "storage_map(x=x)")\n',
        encoding="utf-8",
    )
    monkeypatch.setattr(maker, "ROOT", tmp_path)
    (picture,) = pictures()
    assert (picture.name, picture.text) == ("a-b", "a map")
    assert str(content_of(picture)) == "storage 1: 12 bytes, version 0\n  x  ###  float32 [3]"
