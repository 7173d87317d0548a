"""What the generator writes for one operator of each kind; CONTRIBUTING.md says how to renew it."""

import pytest

from tests.codegen.golden import FOLDER, PINNED, emitted


# One process generates the code for all of them.
@pytest.mark.slow
@pytest.mark.xdist_group("golden")
@pytest.mark.parametrize("operator", PINNED)
def test_the_generator_writes_what_is_kept(operator: str) -> None:
    kept = (FOLDER / f"{operator}.txt").read_text(encoding="utf-8")
    assert emitted(operator) == kept


def test_every_kept_file_is_compared() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(PINNED)
