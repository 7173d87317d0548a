"""The names that the page on other libraries says PyTorch has."""

from tests.project.beside import is_there, rows


def test_pytorch_has_the_names() -> None:
    names = [row["torch"] for row in rows() if "torch" in row]
    assert len(names) > 100
    assert [name for name in names if not is_there("torch", name)] == []
