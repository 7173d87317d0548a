"""The functions that bring what users pass into the form that an overload takes."""

from pathlib import Path

import pytest

from vtgrad.codegen.emit_choice import emit_choice
from vtgrad.codegen.emit_functions import emit_function
from vtgrad.codegen.groups import Group, groups_of
from vtgrad.codegen.language import TableError
from vtgrad.codegen.tables import read_table


def group(tmp_path: Path, text: str) -> Group:
    """The only group of a table with this text."""
    path = tmp_path / "family.yaml"
    path.write_text(text, encoding="utf-8")
    (found,) = groups_of(read_table(path), ())
    return found


def head_and_body(text: str) -> tuple[str, list[str]]:
    """The last definition of a text: its signature, and its statements."""
    head, _, body = text[text.rindex("\ndef ") + 1 :].partition('    """')
    return head.strip(), [line[4:] for line in body.split('"""\n')[1].splitlines()]


ABSENT = """
- op: "f.default(self: Tensor) -> Tensor"
  when: dim is UNSET
- op: "f.dim(self: Tensor, dim: Dim, keepdim: Flag = False) -> Tensor"
  out: true
"""


def test_the_absence_of_an_argument_tells_overloads_and_what_one_lacks_it_refuses(
    tmp_path: Path,
) -> None:
    head, body = head_and_body("\n" + emit_choice(group(tmp_path, ABSENT)))
    assert head == (
        "def f(input: T, dim: int | Unset = UNSET, keepdim: bool = False, *, "
        "out: T | None = None) -> T:"
    )
    assert body == [
        "if dim is UNSET:",
        "    if keepdim is not False or out is not None:",
        '        raise ArgumentTypeError("f() takes keepdim and out only together with dim")',
        "    return f_default(input)",
        "return f_dim(input, dim, keepdim, out=out)",
    ]


def test_what_a_condition_speaks_of_is_not_refused(tmp_path: Path) -> None:
    text = ABSENT.replace("dim is UNSET", "dim is UNSET and not keepdim and out is None")
    text = text.replace("dim: Dim,", "dim: Dims,")
    _, body = head_and_body("\n" + emit_choice(group(tmp_path, text)))
    # Where the absence is not all that the condition asks, the overload gets None for it.
    assert body == [
        "if dim is UNSET and not keepdim and out is None:",
        "    return f_default(input)",
        "return f_dim(input, None if dim is UNSET else dim, keepdim, out=out)",
    ]


def test_overloads_of_different_results_have_a_signature_each(tmp_path: Path) -> None:
    text = ABSENT.replace("keepdim: Flag = False) -> Tensor", "*, up: Flag) -> tuple[a, b]")
    emitted = emit_choice(group(tmp_path, text))
    assert "@overload\ndef f(input: T) -> T: ...\n" in emitted
    assert (
        "@overload\ndef f(input: T, dim: int, *, up: bool, "
        "out: Sequence[T] | None = None) -> FResult[T]: ...\n"
    ) in emitted
    head, _ = head_and_body(emitted)
    assert head.endswith("out: Sequence[T] | None = None) -> T | FResult[T]:")


def test_a_parameter_has_a_second_name(tmp_path: Path) -> None:
    text = """
- op: "f.dim(self: Tensor, dim: Dims, keepdim: Flag = False) -> Tensor"
  also: { axis: dim, keepdims: keepdim }
"""
    head, body = head_and_body("\n" + emit_choice(group(tmp_path, text)))
    assert head == (
        "def f(input: T, dim: Dims | Unset = UNSET, keepdim: bool = False, *, "
        "axis: Dims | Unset = UNSET, keepdims: bool = False) -> T:"
    )
    assert body == [
        "if axis is not UNSET:",
        '    dim = either(dim, axis, "dim and axis")',
        "if keepdims is not False:",
        '    keepdim = check_flag(keepdim, "keepdim") or check_flag(keepdims, "keepdims")',
        "return f_dim(input, None if dim is UNSET else dim, keepdim)",
    ]


def test_a_parameter_with_a_second_name_keeps_its_default_or_stays_required(tmp_path: Path) -> None:
    text = """
- op: "f.dim(self: Tensor, size: Dim, dim: Dim = -1) -> Tensor"
  also: { axis: dim, count: size }
"""
    _, body = head_and_body("\n" + emit_choice(group(tmp_path, text)))
    assert body[-1] == 'return f_dim(input, given(size, "f", "size"), -1 if dim is UNSET else dim)'


def test_a_second_name_of_nothing_is_refused(tmp_path: Path) -> None:
    text = '- op: "f.a(self: Tensor) -> Tensor"\n  also: { axis: dim }\n'
    with pytest.raises(TableError, match="'also' of 'dim', which is no parameter"):
        emit_choice(group(tmp_path, text))


def test_what_an_overload_would_ignore_is_refused(tmp_path: Path) -> None:
    text = """
- op: "f.a(self: Tensor, dim: Dim, up: Flag = False) -> Tensor"
  when: dim is not UNSET
- op: "f.b(self: Tensor) -> Tensor"
"""
    with pytest.raises(TableError, match="dim and up would be passed in vain"):
        emit_choice(group(tmp_path, text))


def test_overloads_of_different_results_take_what_they_are_given(tmp_path: Path) -> None:
    text = ABSENT.replace('-> Tensor"\n  out: true', '-> tuple[a, b]"\n  also: { axis: dim }')
    with pytest.raises(TableError, match="overloads of different results"):
        emit_choice(group(tmp_path, text))


def test_a_default_that_is_a_number_is_compared(tmp_path: Path) -> None:
    text = ABSENT.replace("keepdim: Flag = False", "top: Integer = -1")
    _, body = head_and_body("\n" + emit_choice(group(tmp_path, text)))
    assert body[1] == "    if top != -1 or out is not None:"


def test_a_correction_comes_in_three_ways(tmp_path: Path) -> None:
    text = '- op: "f.a(self: Tensor, dim: Dims, less: Correction, up: Flag = False) -> Tensor"\n'
    head, body = head_and_body("\n" + emit_choice(group(tmp_path, text)))
    assert head == (
        "def f(input: T, dim: Dims | Unset = UNSET, unbiased: bool | Unset = UNSET, "
        "up: bool = False, *, less: float | Unset | None = UNSET) -> T:"
    )
    assert body == [
        "dim, less = dims_and_correction(dim, unbiased, less)",
        "return f_a(input, dim, less, up)",
    ]


def test_a_sequence_of_sizes_comes_one_by_one_or_by_keyword(tmp_path: Path) -> None:
    text = '- op: "f.a(self: Tensor, size: Sizes[sizes], *, up: bool = False) -> Tensor"\n'
    head, body = head_and_body("\n" + emit_choice(group(tmp_path, text)))
    assert head == (
        "def f(input: T, *sizes: int | Sequence[int], size: Sequence[int] | None = None, "
        "up: bool = False) -> T:"
    )
    assert body == ['return f_a(input, given_integers(sizes, size, "f"), up=up)']


def test_a_row_says_whether_one_integer_may_come_by_keyword(tmp_path: Path) -> None:
    text = '- op: "f.a(self: Tensor, size: int | Sizes[sizes]) -> Tensor"\n'
    _, body = head_and_body("\n" + emit_choice(group(tmp_path, text)))
    assert body == ['return f_a(input, given_integers(sizes, size, "f", single=True))']


def test_dimensions_may_come_by_name(tmp_path: Path) -> None:
    text = '- op: "f.a(self: Tensor, dims: Sizes[axes]) -> Tensor"\n'
    _, body = head_and_body("\n" + emit_choice(group(tmp_path, text)))
    assert body == ['return f_a(input, given_integers(axes, dims, "f", named=True))']


def test_the_tensor_is_cast_first(tmp_path: Path) -> None:
    text = '- op: "f.a(self: Tensor, dim: Dim) -> Tensor"\n  cast: dtype\n  out: exact\n'
    head, body = head_and_body("\n" + emit_choice(group(tmp_path, text)))
    assert head == (
        "def f(input: T, dim: int, dtype: DType | None = None, *, out: T | None = None) -> T:"
    )
    assert body == [
        "if dtype is not None:",
        "    input = in_dtype(input, dtype)",
        "return f_a(input, dim, out=out)",
    ]


def test_users_call_a_parameter_by_another_name(tmp_path: Path) -> None:
    text = '- op: "f.a(self: Tensor, count: Dim) -> Tensor"\n  called: { count: k }\n'
    head, body = head_and_body("\n" + emit_choice(group(tmp_path, text)))
    assert head == "def f(input: T, k: int) -> T:"
    assert body == ["return f_a(input, k)"]


def test_another_name_is_that_of_a_positional_parameter(tmp_path: Path) -> None:
    text = '- op: "f.a(self: Tensor, *, count: Dim) -> Tensor"\n  called: { count: k }\n'
    with pytest.raises(TableError, match="'k' is called so by keyword"):
        group(tmp_path, text)


def test_overloads_that_nothing_tells_apart_are_refused(tmp_path: Path) -> None:
    text = ABSENT.replace("  when: dim is UNSET\n", "").replace("keepdim", "up") + (
        "  called: { up: down }\n"
    )
    with pytest.raises(TableError, match="all overloads but one need 'when'"):
        emit_choice(group(tmp_path, text))


@pytest.mark.parametrize(
    ("out", "statement"),
    [
        ("in its dtype", "dtype = dtype_with_out(dtype, out)"),
        ("of its dtype", "dtype_with_out(dtype, out)"),
    ],
)
def test_out_has_to_do_with_the_dtype(tmp_path: Path, out: str, statement: str) -> None:
    path = tmp_path / "family.yaml"
    path.write_text(
        f'- op: "f(self: Tensor, *, dtype: DType | None = None) -> Tensor"\n  out: {out}\n',
        encoding="utf-8",
    )
    (operator,) = read_table(path)
    lines = [line.strip() for line in emit_function(operator).splitlines()]
    assert lines[lines.index(statement) + 1].startswith("check_out(out, input")
    path.write_text(f'- op: "f(self: Tensor) -> Tensor"\n  out: {out}\n', encoding="utf-8")
    with pytest.raises(TableError, match="needs an argument 'dtype'"):
        read_table(path)
