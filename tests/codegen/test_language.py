"""The generator refuses tables that it does not understand, and says where."""

from pathlib import Path

import pytest

from vtgrad.codegen.formula import ARRAYS, TENSORS, Names, emit, parse
from vtgrad.codegen.language import Operator, TableError
from vtgrad.codegen.memory_reuse import Reuse
from vtgrad.codegen.source_files import OPS
from vtgrad.codegen.tables import KEYS, read_composites, read_table

NAMES = Names(
    kernels=frozenset({"mul", "neg", "exp", "gt", "only_kernel"}),
    functions=frozenset({"mul", "neg", "exp", "gt"}),
    helpers=frozenset({"scaled"}),
    aliasing=frozenset(),
    owning=frozenset(),
    reuse=Reuse(frozenset(), frozenset()),
)


def table(tmp_path: Path, text: str) -> list[Operator]:
    """The operators of a table with this text."""
    path = tmp_path / "family.yaml"
    path.write_text(text, encoding="utf-8")
    return read_table(path)


def entry(tmp_path: Path, formula: str) -> Operator:
    """One operator whose first argument has this formula."""
    text = f"""
- op: "f(self: Tensor, other: Tensor | Number, *, p: int = 2) -> Tensor"
  node: FBackward0
  grad:
    self: {formula}
"""
    return table(tmp_path, text)[0]


def test_a_signature_is_read(tmp_path: Path) -> None:
    operator = entry(tmp_path, "grad")
    assert [(a.name, a.type, a.default, a.keyword_only) for a in operator.arguments] == [
        ("self", "Tensor", None, False),
        ("other", "Tensor | Number", None, False),
        ("p", "int", "2", True),
    ]
    assert operator.node == "FBackward0"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("- node: X\n", "without 'op'"),
        ('- op: "f(self: Tensor -> Tensor"\n', "bad signature"),
        ('- op: "f(self) -> Tensor"\n', "no type"),
        ('- op: "f(self: Tensor) -> Array"\n', "returns"),
        ('- op: "f(self: Tensor) -> Tensor"\n  colour: red\n', "unknown keys"),
        ('- op: "f(self: Tensor) -> Tensor"\n  aliases: g\n', "list of names"),
        ('- op: "f(self: Tensor) -> Tensor"\n  out: maybe\n', "'out' is true"),
        ('- op: "f(self: Tensor) -> Tensor"\n  variants: property\n', "'variants' is none, or"),
        ('- op: "f(self: Tensor) -> Tensor"\n  python: __f__\n', "'python' maps"),
        ('- op: "f.a.b(self: Tensor) -> Tensor"\n', "no name of an operator"),
        ('- op: "f(self: Tensor) -> Tensor"\n  node: FBackward0\n', "go together"),
        ('- op: "f(self: Tensor) -> Tensor"\n  inplace_node: F\n', "'inplace_node' needs"),
        (
            '- op: "f(self: Tensor, n: int) -> Tensor"\n  node: F\n  grad: {n: grad}\n',
            "no tensor argument",
        ),
        ("- f\n", "an entry is a mapping"),
        ('- op: "f(self: Tensor) -> Tensor"\n  grad:\n  node: [F\n', "expected"),
    ],
)
def test_a_wrong_entry_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(TableError, match=complaint):
        table(tmp_path, text)


def test_a_wrong_entry_of_a_composite_is_refused(tmp_path: Path) -> None:
    assert table(tmp_path, "- composite: g\n  colour: red\n") == []
    with pytest.raises(TableError, match=r"^family\.yaml:1: g: unknown keys"):
        read_composites(tmp_path / "family.yaml")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("- all: { names: unify, out: true }\n", r"^family\.yaml:2: 'all' states"),
        ("- op: 3\n", r"^family\.yaml:2: an entry without 'op'"),
        ('- op: "f(self) -> Tensor"\n', r"^family\.yaml:2: f: "),
        ('- op: "f(self: Tensor) -> Tensor"\n  x: 1\n  x: 1\n', r"^family\.yaml:4: 'x' is stated"),
        (
            '- op: "f(self: Tensor) -> Tensor"\n  grad:\n    self: grad\n    self: -grad\n',
            r"^family\.yaml:5: 'self' is stated twice",
        ),
        ("- composite: g\n  called: [\n", r"^family\.yaml:4: "),
    ],
)
def test_what_is_wrong_is_found_by_file_and_line(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(TableError, match=complaint):
        table(tmp_path, f"# A comment.\n{text}")


@pytest.mark.parametrize(
    ("formula", "complaint"),
    [
        ("grad *", "bad formula"),
        ("grad * missing", "unknown name 'missing'"),
        ("sine(grad)", "'sine'"),
        ("only_kernel(grad)", "has no function"),
        ("grad.shape", "for a helper"),
        ("self.size", "self.size"),
    ],
)
def test_a_wrong_formula_is_refused(tmp_path: Path, formula: str, complaint: str) -> None:
    operator = entry(tmp_path, formula)
    with pytest.raises(TableError, match=complaint):
        parse(operator, operator.formulas["self"], NAMES)


def test_one_formula_is_written_for_arrays_and_for_tensors(tmp_path: Path) -> None:
    operator = entry(tmp_path, "-grad * exp(other) * (p + 1)")
    formula = parse(operator, operator.formulas["self"], NAMES)
    assert formula.tensors == {"other"}
    assert formula.plain == {"p"}
    assert emit(operator, formula, NAMES, ARRAYS) == (
        "k.mul(k.mul(k.neg(grad), k.exp(other)), self.p + 1)"
    )
    assert emit(operator, formula, NAMES, TENSORS) == (
        "F.mul(F.mul(F.neg(grad), F.exp(other)), self.p + 1)"
    )


def test_helpers_are_found_in_their_own_modules(tmp_path: Path) -> None:
    operator = entry(tmp_path, "scaled(grad, p)")
    formula = parse(operator, operator.formulas["self"], NAMES)
    assert emit(operator, formula, NAMES, ARRAYS) == "array_formulas.scaled(grad, self.p)"
    assert emit(operator, formula, NAMES, TENSORS) == "tensor_formulas.scaled(grad, self.p)"


def test_a_shape_is_saved_without_its_tensor(tmp_path: Path) -> None:
    operator = entry(tmp_path, "mul(grad, self.shape[0])")
    formula = parse(operator, operator.formulas["self"], NAMES)
    assert formula.tensors == set()
    assert formula.metadata == {("self", "shape")}


def test_the_readme_explains_every_key() -> None:
    text = (OPS / "table" / "README.md").read_text("utf-8")
    assert [key for key in sorted(KEYS) if f"`{key}`" not in text] == []
