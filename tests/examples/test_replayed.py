"""Three examples are recorded with their gradients, replayed, and exported as NumPy.

What breaks it: a replay or an exported module with another bit than the example; a recording that
is true for the recorded values only; an exported module that needs vtgrad.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray

import vtgrad as vt
from tests.project.tree import ROOT
from vtgrad.jit import Traced

Floats = NDArray[np.float64]
Gradient = Callable[..., tuple[vt.Tensor, ...]]


# The function of the example, and points that it is called at.
EXAMPLES: Final[dict[str, tuple[str, Callable[[np.random.Generator], list[Floats]]]]] = {
    "ar2": ("energy", lambda rng: [rng.uniform(-0.5, 0.5, 2)]),
    "chebyshev": ("last_row", lambda rng: [rng.uniform(-1.0, 1.0, 4)]),
    "heat": (
        "final_energy",
        lambda rng: [rng.uniform(0.0, 1.0, (7, 7)), rng.uniform(0.05, 0.2, (5, 5))],
    ),
}

# Run with `python -I`, so that nothing of this project is found, and with vtgrad barred, which may
# be installed.
ALONE: Final = """\
import importlib.util
import sys

sys.modules["vtgrad"] = None
import numpy as np

path, given, found = sys.argv[1:]
spec = importlib.util.spec_from_file_location("exported", path)
exported = importlib.util.module_from_spec(spec)
spec.loader.exec_module(exported)
with np.load(given) as arrays:
    points = [arrays[name] for name in arrays.files]
np.savez(found, *exported.replay(*points))
assert not [name for name in sys.modules if name.startswith("vtgrad.")]
"""


def _gradient(name: str) -> Gradient:
    """The value and the gradient of an example."""
    program: Callable[..., vt.Tensor] = getattr(importlib.import_module(name), EXAMPLES[name][0])

    def value_and_gradient(*points: vt.Tensor) -> tuple[vt.Tensor, ...]:
        leaves = [point.detach().requires_grad_() for point in points]
        value = program(*leaves)
        return (value.detach(), *vt.autograd.grad(value, leaves))

    return value_and_gradient


def _points(name: str, seed: int) -> list[Floats]:
    return EXAMPLES[name][1](np.random.default_rng(seed))


@pytest.fixture(params=EXAMPLES)
def name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.syspath_prepend(ROOT / "examples")
    name = str(request.param)
    # The examples are imported as programs that run alone, and not left behind.
    for module in (name, "_check"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    return name


def _recorded(name: str, gradient: Gradient) -> Traced[..., tuple[vt.Tensor, ...]]:
    return vt.jit.trace(gradient, *map(vt.tensor, _points(name, 0)))


def _bits(results: tuple[vt.Tensor, ...]) -> list[bytes]:
    return [x.numpy().tobytes() for x in results]


def test_a_replay_has_the_bits_of_the_example(name: str) -> None:
    gradient = _gradient(name)
    fast = _recorded(name, gradient)
    seen = set()
    for seed in range(1, 6):
        points = [vt.tensor(point) for point in _points(name, seed)]
        expected = _bits(gradient(*points))
        assert _bits(fast(*points)) == expected
        seen.add(expected[0])
    assert len(seen) == 5


def test_an_exported_example_needs_numpy_alone(name: str, tmp_path: Path) -> None:
    gradient = _gradient(name)
    path = _recorded(name, gradient).export(tmp_path / "exported.py")
    points = _points(name, 7)
    given, found = tmp_path / "given.npz", tmp_path / "found.npz"
    np.savez(given, *points)
    run = subprocess.run(
        [sys.executable, "-I", "-W", "error", "-c", ALONE, str(path), str(given), str(found)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    with np.load(found) as arrays:
        results = [arrays[name] for name in arrays.files]
    expected = gradient(*map(vt.tensor, points))
    assert [x.tobytes() for x in results] == _bits(expected)
    assert [(x.shape, x.dtype) for x in results] == [
        (tuple(x.shape), np.dtype(np.float64)) for x in expected
    ]


def test_vtgrad_is_barred(tmp_path: Path) -> None:
    # Else the test above would not tell whether an exported module needs it.
    path = tmp_path / "needs_it.py"
    path.write_text("import vtgrad\n", "utf-8")
    run = subprocess.run(
        [sys.executable, "-I", "-c", ALONE, str(path), "given", "found"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode != 0
    assert "import of vtgrad halted" in run.stderr
