"""Drawings of graphs: what is in the text, and that Graphviz reads it."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import vtgrad as vt
from tests.support import leaf
from vtgrad.viz import make_dot


def labels(source: str) -> list[str]:
    """Give the labels of all boxes, in order."""
    return re.findall(r'^ +[nt]\d+ \[label="(.*?)"[,\]]', source, re.MULTILINE)


def arrows(source: str) -> set[tuple[str, str]]:
    """Give each arrow as the first lines of the labels at its ends."""
    names = dict(re.findall(r'^ +([nt]\d+) \[label="(.*?)(?:\\n.*)?"[,\]]', source, re.MULTILINE))
    return {(names[a], names[b]) for a, b in re.findall(r"([nt]\d+) -> ([nt]\d+)", source)}


def test_arrows_go_from_leaves_to_results() -> None:
    w, x = leaf(2), leaf(2)
    w.name = "w"
    source = make_dot({"loss": (w * x).sum()}, params={"x": x}).source
    assert arrows(source) == {
        ("w", "AccumulateGrad"),
        ("x", "AccumulateGrad"),
        ("AccumulateGrad", "MulBackward0"),
        ("MulBackward0", "SumBackward0"),
        ("SumBackward0", "loss"),
    }


def test_a_write_through_a_view_has_a_dashed_line_to_its_operator() -> None:
    x = leaf(2)
    b = x.clone()
    b[0].mul_(x[1])
    source = make_dot(b).source
    assert ("MulBackward0", "CopySlices") in arrows(source)
    assert source.count("style=dashed") == 1
    # The edges of the inner node are those of the outer one, and are drawn once.
    assert ("SelectBackward0", "MulBackward0") not in arrows(source)
    assert "version 1" in source


def test_results_of_a_node_with_several_are_numbered() -> None:
    first, second = leaf(4).split(2)
    source = make_dot(first * second).source
    assert '[label="0"]' in source
    assert '[label="1"]' in source


def test_saved_values_and_their_state() -> None:
    x = leaf(2)
    z = x.clone()
    y = z.sin()
    assert "saved" not in make_dot(y).source
    (saved,) = [text for text in labels(make_dot(y, show_saved=True).source) if "saved" in text]
    assert saved == r"saved self\nfloat64 [2]\nversion 0"
    z.mul_(2)
    assert r"overwritten\"" not in make_dot(y, show_saved=True).source
    assert 'overwritten", fillcolor=salmon' in make_dot(y, show_saved=True).source
    w = x.exp()
    w.sum().backward()
    assert 'freed", fillcolor=salmon' in make_dot(w, show_saved=True).source


def test_looking_at_a_graph_changes_nothing() -> None:
    x = leaf(2)
    y = (x * x).exp()
    before = y.grad_fn
    make_dot(y, show_saved=True, show_attrs=True)
    assert y.grad_fn is before
    y.sum().backward()
    assert x.grad is not None


def test_attributes_are_cut() -> None:
    y = leaf(2, 3).sum(1)
    source = make_dot(y, show_attrs=True).source
    assert r"SumBackward1\n" in source
    assert r"\ndim: " in source
    assert "self_sym_sizes: (2, 3)" in source
    assert "self_sym_sizes: (2..." in make_dot(y, show_attrs=True, max_attr_chars=2).source


def test_hooks_are_counted() -> None:
    y = leaf(2) * 2
    y.register_hook(lambda grad: None)
    assert r"MulBackward0\n1 hook" in make_dot(y).source
    assert y.grad_fn is not None
    y.grad_fn.register_prehook(lambda grads: None)
    assert r"MulBackward0\n2 hooks" in make_dot(y).source


def test_custom_functions_are_drawn() -> None:
    class Square(vt.autograd.Function):
        @staticmethod
        def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor) -> vt.Tensor:
            ctx.save_for_backward(x)
            return x * x

    y = Square.apply(leaf(2))
    source = make_dot(y, show_saved=True).source
    assert ("AccumulateGrad", "SquareBackward") in arrows(source)
    assert "saved tensors[0]" in source


def test_constants_and_leaves_may_be_drawn() -> None:
    assert labels(make_dot([vt.zeros(2), leaf(1)]).source) == [
        "AccumulateGrad",
        "float32 [2]",
        "float64 [1]",
    ]
    with pytest.raises(vt.errors.ArgumentTypeError):
        make_dot([3])  # type: ignore[list-item]  # what is refused


def test_a_leaf_that_is_gone_has_a_box() -> None:
    y = leaf(2) * 2
    assert r"(gone)\nfloat64 [2]" in labels(make_dot(y).source)


def test_a_long_chain_is_drawn_without_recursion() -> None:
    y = x = leaf(1)
    for _ in range(20_000):
        y = y + x
    assert make_dot(y).source.count("AddBackward0") == 20_000


def test_names_are_quoted() -> None:
    x = leaf(1)
    x.name = 'a "quoted" \\ name\nof two lines'
    assert r"a \"quoted\" \\ name\nof two lines" in make_dot(x * 1).source


def test_the_text_may_be_saved(tmp_path: Path) -> None:
    drawing = make_dot(leaf(1) * 1)
    assert drawing.save(tmp_path / "g.dot").read_text("utf-8") == drawing.source == str(drawing)


def test_pictures_need_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    drawing = make_dot(leaf(1) * 1)
    assert drawing._repr_svg_() is None
    with pytest.raises(vt.errors.NotSupportedError, match="Graphviz"):
        drawing.render(tmp_path / "g.svg")


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs the program dot")
def test_graphviz_reads_the_text() -> None:
    x = leaf(2)
    x.name = 'odd "name" <b>'
    b = x.clone()
    b[0] = 2
    source = make_dot(b, show_saved=True, show_attrs=True).source
    found = subprocess.run(["dot", "-Tsvg"], input=source, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout.count("<polygon") > 4


@pytest.mark.skipif(
    shutil.which("dot") is None or importlib.util.find_spec("graphviz") is None,
    reason="needs Graphviz and its package",
)
def test_a_picture_is_drawn(tmp_path: Path) -> None:
    drawing = make_dot(leaf(1) * 1)
    svg = drawing._repr_svg_()
    assert svg is not None
    assert "MulBackward0" in svg
    assert drawing.render(tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")
