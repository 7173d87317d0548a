"""What docs/vmap.md says of operators is what the tables say."""

from tests.ops.calls import OPERATORS
from tests.ops.records import RECORDS
from tests.project.tree import ROOT


def test_every_operator_of_users_has_a_rule_for_all_samples_at_once() -> None:
    loops = {
        operator.base
        for name, operator in OPERATORS.items()
        if RECORDS[name].batch == "loop" and not operator.is_helper
    }
    assert loops == set()
    assert "Every operator has a rule" in (ROOT / "docs" / "vmap.md").read_text("utf-8")
