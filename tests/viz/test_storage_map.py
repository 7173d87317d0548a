"""Maps of memory: bars, what is said of tensors and saved values, writes; the picture."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

import vtgrad as vt
from tests.support import leaf, ramp
from vtgrad.viz import storage_map


def lines(*tensors: vt.Tensor, **named: vt.Tensor) -> list[str]:
    """Give the lines of a map, without indentation."""
    return [line.strip() for line in str(storage_map(*tensors, **named)).splitlines()]


def bars(**named: vt.Tensor) -> dict[str, str]:
    """Give the bar of each tensor."""
    found = {}
    for line in lines(**named):
        name, *rest = line.split()
        if name in named:
            found[name] = rest[0]
    return found


def test_bars_show_which_elements_a_view_has() -> None:
    t = ramp(3, 4)
    assert bars(
        t=t,
        row=t[1],
        column=t[:, 1],
        part=t.t()[1:3],
        back=t[0][::-2],
        none=t[:0],
        wide=t[0, 0].expand(5),
    ) == {
        "t": "############",
        "row": "....####....",
        "column": ".#...#...#..",
        "part": ".##..##..##.",
        "back": ".#.#........",
        "none": "............",
        "wide": "#...........",
    }


def test_long_bars_have_a_sign_for_parts() -> None:
    x = ramp(600)
    assert bars(x=x, half=x[:300], some=x[::5], one=x[-1:]) == {
        "x": "#" * 60,
        "half": "#" * 30 + "." * 30,
        "some": "+" * 60,
        "one": "." * 59 + "+",
    }


def test_elements_of_two_sizes_share_a_bar() -> None:
    x = vt.zeros(2, dtype=vt.int32)
    assert bars(x=x, low=x.view(vt.int16)[1:3]) == {"x": "####", "low": ".##."}


def test_a_stale_producer_is_said_and_not_rebuilt() -> None:
    b = leaf(4).clone()
    head, tail = b[:2], b[2:]
    head.mul_(2)
    found = "\n".join(lines(b=b, head=head, tail=tail))
    assert "view of b at offset 0; written, grad_fn is made on reading" in found
    assert "view of b at offset 2; grad_fn is stale, of version 0" in found
    assert "version 1: mul_ at" in found
    assert lines(b=b, head=head, tail=tail)[3].endswith("stale, of version 0")
    assert tail.grad_fn is not None
    assert "is stale" not in "\n".join(lines(b=b, tail=tail))


def test_saved_values_and_leaves_of_the_graph_are_shown() -> None:
    x = leaf(3)
    x.name = "x"
    z = x.clone()
    y = (z * z)[1:].sum()
    found = "\n".join(lines(y, z=z))
    assert "saved self   ###  saved by MulBackward0, is z, at version 0" in found
    assert "x  ###  float64 [3], leaf" in found.replace("view of its base at offset 0, ", "")
    z[0] = 5
    assert "is z, at version 0: overwritten" in "\n".join(lines(y, z=z))


def test_buffers_are_separate_and_numbered() -> None:
    a, b = ramp(2), ramp(3)
    found = lines(a, b, a[1:])
    assert found[0] == "storage 1: 16 bytes, version 0"
    assert "storage 2: 24 bytes, version 0" in found
    assert sum(line.startswith("storage") for line in found) == 2
    assert found[1].startswith("tensor 0  ##")


def test_inference_tensors_have_no_version() -> None:
    with vt.inference_mode():
        x = vt.zeros(2)
    assert lines(x)[0] == "storage 1: 8 bytes, writes are not counted"


def test_empty_tensors() -> None:
    assert lines(vt.zeros(0))[0].startswith("storage 1: 0 bytes")


def test_lazy_conjugates_are_drawn() -> None:
    z = vt.tensor([1 + 2j, 3 + 4j])
    assert bars(z=z, c=z.conj()[1:]) == {"z": "##", "c": ".#"}


def test_only_tensors_have_memory() -> None:
    with pytest.raises(vt.errors.ArgumentTypeError):
        storage_map(3)  # type: ignore[arg-type]  # what is refused


def test_the_picture_has_a_bar_for_each_part() -> None:
    b = leaf(4).clone()
    b.name = "<base>"
    head, tail = b[::2], b[3:]
    saved = b.sin()
    head.mul_(2)
    svg = storage_map(b, saved, head=head, tail=tail)._repr_svg_()
    root = ET.fromstring(svg)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "<base>" in texts
    fills = [element.get("fill") for element in root.iter("{http://www.w3.org/2000/svg}rect")]
    # The runs of `head` are two; `tail` is stale, and the saved value was overwritten.
    assert fills.count("#4c78a8") >= 3
    assert fills.count("#d9a441") == 1
    assert fills.count("#e45756") == 1


def test_no_text_of_the_picture_is_clipped() -> None:
    b = leaf(4).clone()
    b.name = "a name that is much longer than the column of names " * 2
    tail = b[2:]
    saved = b.sin()
    b[:2].mul_(2)
    root = ET.fromstring(storage_map(b, saved, tail=tail)._repr_svg_())
    width, height = int(root.attrib["width"]), int(root.attrib["height"])
    assert width <= 800  # what pages and notebooks show without scrolling
    texts = list(root.iter("{http://www.w3.org/2000/svg}text"))
    # The letters of monospaced fonts of 12 pixels are at most 7.3 pixels wide.
    assert all(int(t.attrib["x"]) + 7.3 * len(t.text or "") <= width for t in texts)
    assert all(int(t.attrib["y"]) < height for t in texts)
    assert b.name.strip() in " ".join([t.text or "" for t in texts])
    places = [(t.attrib["y"], int(t.attrib["x"]) // 100) for t in texts]
    assert len(set(places)) == len(places)


def test_tensors_are_tables_in_notebooks() -> None:
    x = leaf(2, 3)
    x.name = "x<1>"
    table = x._repr_html_()
    assert table is not None
    root = ET.fromstring(table.replace("&hellip;", "..."))
    assert root.findtext("caption") == "x<1>, float64 [2, 3], requires_grad=True"
    assert [cell.text for cell in root.iter("td")] == ["1.", "2.", "3.", "4.", "5.", "6."]
    y = ramp(3)
    y[0] = 5
    assert "version 1" in str(y._repr_html_())
    assert ramp(2, 2, 2)._repr_html_() is None
    assert vt.zeros(0)._repr_html_() is None
    large = ET.fromstring(str(vt.arange(100)._repr_html_()).replace("&hellip;", "..."))
    assert len(list(large.iter("td"))) == 21
    many = ET.fromstring(str(vt.zeros(50, 50)._repr_html_()).replace("&hellip;", "..."))
    assert len(list(many.iter("tr"))) == 22


def test_what_has_no_elements_belongs_to_the_buffer_of_its_tensor() -> None:
    z = vt.zeros(0, requires_grad=True)
    w = z.exp()
    u = w.square()
    w.name = "w"
    assert lines(z=z, w=w, u=u) == [
        "storage 1: 0 bytes, version 0",
        "z    float32 [0], leaf",
        "",
        "storage 2: 0 bytes, version 0",
        "w               float32 [0], of ExpBackward0",
        "saved result    saved by ExpBackward0, at version 0",
        "saved self      saved by PowBackward0, is w, at version 0",
        "",
        "storage 3: 0 bytes, version 0",
        "u    float32 [0], of PowBackward0",
    ]


def test_an_empty_view_that_is_gone_was_saved_in_the_buffer_of_its_base() -> None:
    b = leaf(4).clone()
    y = b[:0].square()
    found = lines(b=b, y=y)
    assert [line.split()[0] for line in found if line] == ["storage", "b", "saved", "storage", "y"]
    assert found[2] == "saved self  ....  saved by PowBackward0, at version 0"


def test_names_with_line_breaks_and_escapes_stay_on_their_line() -> None:
    x = vt.ones(2)
    x.name = "a\nb"
    shown = storage_map(x, **{"c\x1b[31m\t\u202e": x[:1]})
    assert str(shown).splitlines() == [
        "storage 1: 8 bytes, version 0",
        "  a\\nb               ##  float32 [2]",
        "  c\\x1b[31m\\t\\u202e  #.  float32 [1], view of a\\nb at offset 0",
    ]
    ET.fromstring(shown._repr_svg_())
