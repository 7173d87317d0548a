"""What docs/vmap.md says of operators is what the tables say."""

from tests.ops.calls import OPERATORS
from tests.project.tree import ROOT
from vtgrad.ops.generated.batching import BATCHING


def test_every_operator_of_users_has_a_rule_for_all_samples_at_once() -> None:
    loops = {
        operator.base
        for name, operator in OPERATORS.items()
        if BATCHING[name].rule == "loop" and not operator.is_helper
    }
    assert loops == set()
    assert "Every operator has a rule" in (ROOT / "docs" / "vmap.md").read_text("utf-8")
