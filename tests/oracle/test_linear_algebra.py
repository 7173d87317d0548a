"""Linear algebra gives the values and the derivatives of PyTorch, in samples of its database."""

import pytest

from tests.oracle.linear_algebra import KNOWN, differences, names


@pytest.mark.filterwarnings("ignore")  # of functions that PyTorch is about to drop
@pytest.mark.parametrize("name", names())
def test_samples_agree_with_pytorch(name: str) -> None:
    found = list(differences(name))
    new = [
        f"{what}: {sample}"
        for what, sample in found
        if not KNOWN & {(name, what), (f"{name} {sample.split()[0]}", what)}
    ]
    assert not new, f"{len(new)} samples differ\n" + "\n".join(new[:5])


def test_the_database_has_most_functions() -> None:
    # A database of another form would silently give nothing to compare.
    assert len(names()) >= 50
