"""The functions that choose among the overloads of a table."""

from pathlib import Path

import pytest

from vtgrad.codegen.emit_dispatch import emit_dispatch
from vtgrad.codegen.groups import Group, groups_of
from vtgrad.codegen.language import TableError
from vtgrad.codegen.tables import read_table

BY_TYPE = """
- op: "f.Tensor(self: Tensor, other: Tensor) -> Tensor"
  inplace: function
  aliases: [g]
- op: "f.Scalar(self: Tensor, other: Number) -> Tensor"
  inplace: true
"""
BY_CONDITION = """
- op: "f.default(self: Tensor) -> View"
  when: dim is None
  node: FBackward0
  grad: {self: grad}
- op: "f.dim(self: Tensor, dim: Dim) -> View"
  node: FBackward1
  grad: {self: grad}
"""


def groups(tmp_path: Path, text: str, composites: tuple[str, ...] = ()) -> list[Group]:
    """The groups of a table with this text."""
    path = tmp_path / "family.yaml"
    path.write_text(text, encoding="utf-8")
    return groups_of(read_table(path), composites)


def test_a_group_has_a_function_and_one_that_writes(tmp_path: Path) -> None:
    out_of_place, inplace = groups(tmp_path, BY_TYPE)
    assert (out_of_place.name, inplace.name) == ("f", "f_")
    assert (out_of_place.aliases, inplace.aliases) == (("g",), ("g_",))
    assert out_of_place.variants == inplace.variants == {"function", "method"}


def test_the_type_of_an_operand_tells_overloads(tmp_path: Path) -> None:
    assert emit_dispatch(groups(tmp_path, BY_TYPE)[0]).splitlines()[-5:] == [
        "    if isinstance(other, TensorBase):",
        "        return f_Tensor(input, other)",
        "    if is_array(other):",
        "        return f(input, constant(other, input))",
        "    return f_Scalar(input, other)",
    ]


def test_what_writes_names_the_operator_only(tmp_path: Path) -> None:
    text = emit_dispatch(groups(tmp_path, BY_TYPE)[1])
    assert '"""Write the result of `f` into the tensor itself, which is returned."""' in text
    assert "return f_Scalar_(input, other)" in text


def test_a_condition_tells_overloads(tmp_path: Path) -> None:
    (group,) = groups(tmp_path, BY_CONDITION)
    text = emit_dispatch(group)
    # What the condition leaves of `int` is an int, at which compiled code would look.
    assert text.startswith("def f(input: T, dim: SupportsIndex | None = None) -> T:")
    assert text.splitlines()[-7:] == [
        "    try:",
        "        if dim is None:",
        "            return f_default(input)",
        "        return f_dim(input, dim)",
        "    except Exception as error:",
        '        explain(error, "input dim:int|None", input, dim)',
        "        raise",
    ]


def test_a_composite_chooses_itself(tmp_path: Path) -> None:
    assert [group.name for group in groups(tmp_path, BY_TYPE, ("f",))] == ["f_"]


def test_overloads_that_nothing_tells_apart_are_refused(tmp_path: Path) -> None:
    (group,) = groups(tmp_path, BY_CONDITION.replace("  when: dim is None\n", ""))
    with pytest.raises(TableError, match="nothing tells overloads by 'dim'"):
        emit_dispatch(group)
