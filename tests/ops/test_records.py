"""The records of operators agree with the functions that hand them over."""

import inspect

from tests.ops.calls import OPERATORS
from tests.ops.records import RECORDS
from vtgrad.codegen.language import record_name
from vtgrad.ops.generated import forward_formulas, functional, operators, patterns
from vtgrad.ops.operator import Operator
from vtgrad.ops.rules.patterns.targets_of import targets_of
from vtgrad.ops.rules.tangents.functions_of import functions_of
from vtgrad.storage.key_set import BATCHED, DUAL

TWINS = [op for op in OPERATORS.values() if op.inplace is not None]


def test_the_records_are_those_of_the_rows_and_of_what_hands_over_by_hand() -> None:
    rows = {*OPERATORS, *[str(op.inplace) for op in TWINS]}
    assert rows <= set(RECORDS)
    by_hand = [RECORDS[name] for name in set(RECORDS) - rows]
    assert len(by_hand) > 20
    assert all(one.tangent is None and one.pattern is None for one in by_hand)


def test_a_record_has_the_name_and_the_parameters_of_its_function() -> None:
    for name, record in RECORDS.items():
        assert getattr(operators, record_name(name)) is record
        kinds = {
            # Helpers that users do not see have the name of the table.
            "input" if one.name == "self" else one.name: one.kind
            for one in inspect.signature(getattr(functional, name)).parameters.values()
            if one.name != "out"
        }
        by_position, by_keyword = (
            [one for one, kind in kinds.items() if kind is wanted]
            for wanted in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        )
        assert list(record.positional) == by_position, name
        rest = record.parameters[len(record.positional) :]
        assert [one for one in rest if one != "out"] == by_keyword, name


def test_what_is_in_place_shares_the_rules_of_its_operator() -> None:
    for op in TWINS:
        record, twin = RECORDS[op.name], RECORDS[str(op.inplace)]
        assert (twin.row, twin.spoken) == (op.name, op.spoken_inplace)
        assert (twin.writes, twin.overwrites, record.writes) == (True, False, False)
        for shared in ("parameters", "integers", "tangent", "pattern", "batch", "names", "lacks"):
            assert getattr(twin, shared) is getattr(record, shared), shared


def test_every_function_of_a_row_is_found_by_a_record() -> None:
    found: set[object] = set()
    for record in RECORDS.values():
        found.update(functions_of(record))
        if record.pattern is not None:
            found.update(targets_of(record, one) for one in record.pattern.targets)
    made: set[object] = {
        function
        for function in vars(patterns).values()
        if inspect.isfunction(function) and function.__module__ == patterns.__name__
    }
    formulas = forward_formulas
    for table in (formulas.TANGENTS, formulas.OVER_ARRAYS, formulas.ONTO):
        made.update(table.values())
    assert len(made) > 300
    assert made - found == set()


def test_a_record_without_a_rule_leaves_the_call_to_the_next_key() -> None:
    by_hand = Operator.by_hand("name_", "input * dim:int")
    assert by_hand.lacks == DUAL | BATCHED
    assert by_hand.writes
    assert (by_hand.positional, by_hand.integers) == (("input",), ("dim",))
    assert Operator.by_hand("name", "input", batch="whole").lacks == DUAL
    assert Operator("name", "input").lacks == 0
