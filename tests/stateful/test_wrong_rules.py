"""A rule that cannot be right is refused before the first program, with the argument to mend."""

import numpy as np
import pytest
from hypothesis import strategies as st

import vtgrad as vt
from vtgrad.testing.checking import DivergenceError, Rule, RuleError, check, machine

Facts = dict[str, object]
Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def doubled(x: vt.Tensor) -> vt.Tensor:
    return x * 2


def scaled(x: vt.Tensor, *, by: float) -> vt.Tensor:
    return x * by


def rule_of(facts: Facts) -> Rule:
    plain: Facts = {"name": "f", "call": doubled, "reference": lambda x: x * 2}
    return Rule(**{**plain, **facts})  # type: ignore[arg-type]  # wrong on purpose


OF_TWO: Facts = {"call": lambda x, y: x, "reference": lambda x, y: x, "operands": 2}


@pytest.mark.parametrize(
    ("facts", "argument", "must"),
    [
        ({"name": "two words"}, "name", "must be a Python name"),
        ({"name": "lambda"}, "name", "must be a Python name"),
        ({"name": "vt"}, "name", "must not be that of something else"),
        ({"name": "t0"}, "name", "must not be that of something else"),
        ({"name": "np"}, "name", "must not be that of something else"),
        ({"name": "h12"}, "name", "must not be that of something else"),
        ({"name": "zip"}, "name", "must not be that of something else"),
        ({"operands": 0}, "operands", "at least one operand"),
        ({"result": "old"}, "result", "must be one of"),
        ({"result": "view", "views_of": ()}, "views_of", "must be a sequence"),
        ({"result": "view", "views_of": 0}, "views_of", "must be a sequence"),
        ({"result": "view", "views_of": (1,)}, "views_of", "from 0 to 0, not 1"),
        ({"result": "view", "views_of": (True,)}, "views_of", "from 0 to 0, not True"),
        ({"result": "view", "views_of": (0, 0)}, "views_of", "must name an operand once"),
        ({**OF_TWO, "views_of": (1,)}, "views_of", "is for views"),
        (
            {**OF_TWO, "result": "view", "views_of": (0, 1), "is_function": True},
            "views_of",
            "one operand of a custom Function",
        ),
        (
            {
                **OF_TWO,
                "result": "view",
                "views_of": (1,),
                "dtypes": [("float64", "int64")],
            },
            "dtypes",
            "that is viewed",
        ),
        ({"call": 3}, "call", "it is no function but int"),
        ({"call": lambda x, y: x}, "call", "must take 1 argument"),
        ({"reference": lambda x, y: x}, "reference", "must take 1 argument"),
        ({"gradient": lambda g: (g,)}, "gradient", "must take 2 arguments"),
        ({"accepts": lambda: True}, "accepts", "must take 1 argument"),
        ({"options": {"by": [1.0]}}, "call", "by keyword by"),
        ({"is_random": True}, "reference", "by keyword seed"),
        ({"raises": [IndexError]}, "raises", "must be pairs"),
        ({"raises": [(IndexError, lambda: True)]}, "raises", "must take 1 argument"),
        ({"dtypes": "float32"}, "dtypes", "must be a sequence"),
        ({"dtypes": ["float16"]}, "dtypes", "must be of"),
        ({"dtypes": ["int64"]}, "dtypes", "one floating or complex dtype"),
        ({"dtypes": [("float64", "int64")]}, "dtypes", "must name 1 dtypes"),
        ({"dtypes": ["float32"], "result": "view"}, "dtypes", "must be float64"),
    ],
)
def test_what_cannot_be_right_is_refused_when_the_rule_is_made(
    facts: Facts, argument: str, must: str
) -> None:
    with pytest.raises(RuleError, match=must) as found:
        rule_of(facts)
    assert found.value.argument == argument
    assert f"`{argument}`" in str(found.value)


def raises(x: object) -> object:
    raise ZeroDivisionError("by zero")


@pytest.mark.parametrize(
    ("facts", "argument", "must"),
    [
        ({"reference": raises}, "reference", "raised ZeroDivisionError: by zero"),
        ({"reference": lambda x: x[:, 0]}, "reference", "`accepts` must say so"),
        ({"reference": lambda x: (x * 2).astype(np.float32)}, "reference", "returned float32"),
        ({"reference": lambda x: None}, "reference", "returned object"),
        ({"reference": lambda x: x > 0}, "reference", "not bool of shape"),
        ({"reference": lambda x: x[None]}, "reference", r"of shape \(1, 2, 3\)"),
        ({"reference": lambda x: (x, x)}, "reference", "one tensor"),
        ({"reference": lambda x: x * 2, "result": "view"}, "reference", "must pick elements"),
        ({"reference": lambda x: (x,), "result": "written"}, "reference", "returned several"),
        ({"gradient": lambda g, x: raises(x)}, "gradient", "raised ZeroDivisionError"),
        ({"gradient": lambda g, x: g * 2}, "gradient", "a tuple of 1 arrays"),
        ({"gradient": lambda g, x: (g, g)}, "gradient", "returned 2"),
        ({"gradient": lambda g, x: (g[..., None] * [1, 2],)}, "gradient", "returned shape"),
        ({"accepts": lambda x: x.shape[0] > 0}, "accepts", "it raised IndexError"),
        ({"accepts": lambda x: x > 0}, "accepts", "it returned array"),
        ({"raises": [(IndexError, lambda x: x[0])]}, "raises", "it returned array"),
        ({"shapes": [4]}, "shapes", "must be shapes"),
        ({"shapes": (3, 3)}, "shapes", "must be shapes"),
        ({"shapes": []}, "shapes", "strategies or sequences"),
        ({"shapes": [(9, 9)]}, "shapes", "81 elements, of at most 64"),
        ({"shapes": st.floats()}, "shapes", "must be shapes"),
    ],
)
def test_what_functions_of_a_rule_return_is_checked_before_the_first_program(
    facts: Facts, argument: str, must: str
) -> None:
    rule = rule_of(facts)
    for entry in check, machine:
        with pytest.raises(RuleError, match=must) as found:
            entry(rule)
        assert found.value.argument == argument


@pytest.mark.parametrize("values", [[np.float64(1)], [float("inf")], "no", st.just(vt.float64)])
def test_options_must_be_values_that_a_program_can_be_written_with(values: object) -> None:
    facts: Facts = {"call": scaled, "options": {"by": values}}
    with pytest.raises(RuleError, match="`options` must"):
        machine(rule_of({**facts, "reference": lambda x, by: x * by}))


def test_an_operator_that_is_wrong_in_some_places_only_is_not_taken_for_a_wrong_rule() -> None:
    def loses_empty(x: vt.Tensor) -> vt.Tensor:
        return x * 2 if x.numel() else vt.zeros(7, dtype=vt.float64)

    with pytest.raises(DivergenceError, match=r"returned shape \(7,\)"):
        check(rule_of({"call": loses_empty}))


@pytest.mark.slow
def test_a_reference_that_fails_only_in_programs_is_not_taken_for_a_divergence() -> None:
    def sometimes(x: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> object:
        return {}[0] if (x == -3).any() else x * 2  # type: ignore[index]

    with pytest.raises(RuleError, match="raised KeyError"):
        check(rule_of({"reference": sometimes}))


def adds_to_the_second(x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
    return y.add_(x)


def turns_the_second(x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
    return y.t()


def doubles_and_returns_the_square(x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
    square = x * x
    x.add_(y)
    return square


@pytest.mark.parametrize(
    ("call", "result", "argument", "must"),
    [
        (adds_to_the_second, "written", "result", "put that one first"),
        (turns_the_second, "view", "views_of", "must name all operands"),
        (doubles_and_returns_the_square, "written", "result", "cannot be both"),
    ],
)
def test_what_a_rule_cannot_say_is_refused_before_the_first_program(
    call: object, result: str, argument: str, must: str
) -> None:
    def reference(x: Array, y: Array) -> object:
        return x.T if result == "view" else x + y

    facts = {"call": call, "operands": 2, "result": result, "shapes": [((2, 2), (2, 2))]}
    with pytest.raises(RuleError, match=must) as found:
        check(rule_of({**facts, "reference": reference}))
    assert found.value.argument == argument


def test_what_is_so_for_some_operands_only_is_no_wrong_rule() -> None:
    def sometimes_a_copy(x: vt.Tensor) -> vt.Tensor:
        x.mul_(2)
        return x if x.dim() == 2 else x.clone()

    check(rule_of({"call": sometimes_a_copy, "result": "written"}), programs=5)


def test_a_result_that_is_too_large_for_the_model_is_refused() -> None:
    rule = rule_of(
        {"call": vt.outer, "reference": np.outer, "operands": 2, "shapes": [((32,), (32,))]}
    )
    with pytest.raises(RuleError, match="1024 elements, of at most 256") as found:
        check(rule)
    assert found.value.argument == "shapes"


def test_check_needs_rules_and_programs() -> None:
    rule = rule_of({})
    with pytest.raises(ValueError, match="at least one rule"):
        check()
    with pytest.raises(ValueError, match="one program"):
        check(rule, programs=0)
    with pytest.raises(TypeError, match="not by function"):
        check(doubled)  # type: ignore[arg-type]  # wrong on purpose
