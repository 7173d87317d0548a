"""What docs/vmap.md says of operators is what the tables say."""

import re

from tests.ops.calls import OPERATORS
from tests.project.tree import ROOT
from vtgrad.ops.generated.batching import BATCHING


def test_the_list_of_operators_that_loop_is_that_of_the_tables() -> None:
    page = (ROOT / "docs" / "vmap.md").read_text("utf-8")
    found = re.search(r"VmapLoopWarning.*?```text\n(.*?)\n```", page, re.DOTALL)
    assert found is not None
    loops = {
        operator.base
        for name, operator in OPERATORS.items()
        if BATCHING[name].rule == "loop" and not operator.is_helper
    }
    assert set(found[1].split()) == loops
