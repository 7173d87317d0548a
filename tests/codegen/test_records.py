"""What the generator writes into the records of operators."""

import dataclasses
from pathlib import Path

import pytest

from vtgrad.codegen.emit_operators import emit_operators
from vtgrad.codegen.language import Composite, TableError
from vtgrad.codegen.library import Library
from vtgrad.codegen.tables import read_table

ROWS = """
- all: { names: unify }

- op: "quadruple(self: Tensor, *, times: int = 1) -> Tensor"
  node: QuadrupleBackward0
  kernel: mul
  inplace: true
  grad:
    self: grad * self

- op: "t(self: Tensor, dim: Dim) -> Tensor"
  kernel: mul
  names: refused
  batch: shift
"""


@pytest.fixture
def library(tmp_path: Path) -> Library:
    path = tmp_path / "family.yaml"
    path.write_text(ROWS, encoding="utf-8")
    return Library({"family": read_table(path)}, {}, {})


def test_a_record_says_where_the_operator_differs_from_the_commonest_kind(library: Library) -> None:
    with pytest.raises(TableError, match="states 'batch'"):
        emit_operators(library)  # an integer may be about dimensions
    table = [dataclasses.replace(op, batch=op.batch or "elementwise") for op in library.operators]
    library = dataclasses.replace(library, tables={"family": table})
    lines = emit_operators(library).splitlines()
    assert [line for line in lines if line.startswith(("QUADRUPLE", "T_"))] == [
        'QUADRUPLE: Final = Operator("quadruple", "input * times:int", "input", '
        'reads_first="input")',
        "QUADRUPLE_: Final = QUADRUPLE.in_place()",
        'T_OPERATOR: Final = Operator("t", "input dim:int", '
        'batch="shift", names=None, pattern="dense")',
    ]


def test_rules_that_there_are_not_and_rules_of_what_does_not_hand_over_are_refused() -> None:
    library = Library.read()

    def complaint(one: Composite) -> str:
        with pytest.raises(TableError) as found:
            emit_operators(dataclasses.replace(library, stated={one.name: one}))
        return str(found.value)

    zeros_like = library.stated["zeros_like"]
    batch = complaint(dataclasses.replace(zeros_like, batch="wholly"))
    assert batch == "zeros_like: no rule for batches is called wholly"
    names = complaint(dataclasses.replace(zeros_like, names="samely"))
    assert names == "zeros_like: no rule for names is called samely"
    # It only calls others, which are taken over.
    allclose = dataclasses.replace(zeros_like, name="allclose")
    assert complaint(allclose) == "allclose: no function of this name hands over its calls"


@pytest.mark.parametrize("key", ["kernel", "writer"])
def test_a_kernel_that_does_not_exist_is_refused(library: Library, key: str) -> None:
    """What is generated for it could not be imported, and the generator could not run again."""
    library.check_kernels()
    first, second = library.operators
    wrong = dataclasses.replace(first, kernel="mull") if key == "kernel" else None
    wrong = wrong or dataclasses.replace(first, writer="mull")
    library = dataclasses.replace(library, tables={"family": [wrong, second]})
    with pytest.raises(TableError, match=r"family\.yaml:4: quadruple: no kernel is called mull"):
        library.check_kernels()
