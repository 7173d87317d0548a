"""Names of results, and refusals, as in a PyTorch that had names on dimensions.

`programs.txt` has the programs, a line each: for every operator of the tables with names on each of
its operands, alike and unlike, and for all that users do with names. `recorded.json` has what
PyTorch says; `record.py` writes it. Where PyTorch has no rule, the library may have one.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

import pytest

import vtgrad as vt
from tests.names.prelude import prelude, said
from tests.sweeping import sweep
from vtgrad.errors import VtgradError

RECORDED: Final[Mapping[str, object]] = json.loads(
    (Path(__file__).parent / "recorded.json").read_text("utf-8")
)
PROGRAMS: Final = [program for program in RECORDED if program != "torch"]

# Where the library says something else than PyTorch, on purpose.
EXCUSED: Final[Mapping[str, str]] = {
    r".*index_fill_?\(.*'int64', 'a'\).*": "an index has no names here; PyTorch forgets them",
    r".*bernoulli_\(.+\)": "probabilities are an operand like others; PyTorch forgets their names",
    r"z\(5, 2, 3, names=\('X', 'A', 'B'\)\) @ z\(3, 4, names=\('C', 'X'\)\)": (
        "PyTorch gives a result with one name twice"
    ),
}


def answer_of(program: str) -> Mapping[str, object]:
    """What the library says to a program, in the form of the record."""
    try:
        return {"names": said(eval(program, prelude(vt)), vt.Tensor)}  # our own programs
    except VtgradError as error:
        return {"refused": type(error).__name__}
    except (TypeError, AttributeError) as error:
        return {"absent": type(error).__name__}


def letter_of(program: str) -> str:
    """The first letter of what a program calls first; nothing for Python's operators."""
    found = re.search(r"(?:torch|x|\))\.(\w)", program)
    return found[1] if found else ""


@pytest.mark.filterwarnings("ignore")
@sweep(PROGRAMS, row=letter_of)
def test_names_are_those_of_pytorch(program: str) -> None:
    theirs = cast("Mapping[str, object]", RECORDED[program])
    ours = answer_of(program)
    if "unsupported" in theirs or "absent" in theirs:
        # Nothing to compare with; that no name is lost, the tests of operators show.
        assert ours
    elif "refused" in theirs:
        assert "names" not in ours
    else:
        assert ours == theirs or any(re.fullmatch(pattern, program) for pattern in EXCUSED)


@pytest.mark.parametrize("pattern", EXCUSED)
@pytest.mark.filterwarnings("ignore")
def test_every_excuse_is_needed(pattern: str) -> None:
    excused = [program for program in PROGRAMS if re.fullmatch(pattern, program)]
    assert any(answer_of(program) != RECORDED[program] for program in excused)
