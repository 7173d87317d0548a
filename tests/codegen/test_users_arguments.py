"""What the tables say that users may pass, and no body meets."""

import ast
from functools import cache

import pytest

from tests.project.tree import PACKAGE
from vtgrad.codegen.library import Library
from vtgrad.codegen.stubs.users_arguments import UsersArguments


@cache
def users() -> UsersArguments:
    return UsersArguments.of(Library.read())


@cache
def shown() -> dict[str, list[ast.arguments]]:
    """The parameters of each function in the stub of the package, once for each signature."""
    found: dict[str, list[ast.arguments]] = {}
    for one in ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8")).body:
        if isinstance(one, ast.FunctionDef):
            found.setdefault(one.name, []).append(one.args)
    return found


def test_a_number_comes_first_where_the_rows_say_so() -> None:
    assert {"add", "mul", "div", "bitwise_and"} <= users().number_first
    assert not {"mul_", "tanh", "sum"} & users().number_first


def test_numbers_stand_for_the_tensors_of_operators_that_compute_element_by_element() -> None:
    operands = users().operands
    assert operands["maximum"] == operands["eq"] == ("input", "other")
    assert operands["lerp"] == ("input", "end", "weight")
    # What is written is a tensor.
    assert operands["hypot_"] == ("other",)
    # These have a source that says so, take no numbers, or one tensor.
    assert not {"add", "pow", "dot", "masked_fill", "index_add", "clamp", "tanh"} & operands.keys()


def test_a_stub_has_a_signature_for_each_first_tensor_behind_numbers() -> None:
    types = [
        [ast.unparse(p.annotation) for p in one.args[:3] if p.annotation is not None]
        for one in shown()["addcmul"]
    ]
    either = "Tensor | Number"
    assert types == [
        ["_TensorT", either, either],
        ["Number", "_TensorT", either],
        ["Number", "Number", "_TensorT"],
    ]


def test_dimensions_have_names_where_a_rule_for_names_is() -> None:
    assert {"sum", "select", "sort", "cat", "squeeze", "narrow"} <= users().by_name
    # Nothing has the name of a dimension that is made.
    assert not {"stack", "unsqueeze", "mul"} & users().by_name


@pytest.mark.parametrize(
    "name", ["add", "mul", "floor_divide", "bitwise_left_shift", "maximum", "eq", "logical_and"]
)
def test_a_stub_has_both_orders_of_a_number_and_a_tensor(name: str) -> None:
    first = [ast.unparse(parameters.args[0]) for parameters in shown()[name]]
    assert first == ["input: _TensorT", "input: Number"]


def test_every_dimension_of_such_a_function_has_a_name_in_the_stub() -> None:
    dimensions = ("dim", "dim0", "dim1", "dim2", "dims", "axis", "axis0", "axis1")
    seen = 0
    for name in sorted(users().by_name & set(shown())):
        for given in shown()[name]:
            for parameter in [*given.args, *given.kwonlyargs]:
                if parameter.arg in dimensions:
                    seen += 1
                    text = ast.unparse(parameter)
                    assert "Dim" in text or "Sequence[str]" in text, f"{name}: {text}"
    assert seen > 60
