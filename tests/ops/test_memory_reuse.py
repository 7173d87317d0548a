"""Every operator's backward where memory is reused: no array that has another holder is written.

Each operator of the tables is differentiated on its samples with all gradients taken for large
ones, so that formulas store results in arrays which the engine owns. If one of these has
another holder (a saved value, a sibling's gradient, what the user passed), either the holder's
bytes change, or the gradients differ from those of a run in which only copies are overwritten.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

import vtgrad as vt
from tests.ops.calls import Case, Memory, cases, function_of_inputs, positions_of_inputs
from tests.ops.samples import DRAWN
from tests.sweeping import sweep
from vtgrad.engine.input_buffer import use_ownership
from vtgrad.graph.large import LARGE, large
from vtgrad.storage.arrays import Array

# Each is short, but there are thousands.
pytestmark = pytest.mark.slow

Arrival = Callable[[vt.Tensor, vt.Tensor], tuple[vt.Tensor, vt.Tensor]]


def _one(y: vt.Tensor) -> vt.Tensor:
    return vt.ones((), dtype=y.dtype)


# How the operator's gradient comes about: it is the user's, or owned, or one value expanded. The
# root of the backward, and the gradient that enters there.
ARRIVALS: dict[str, Arrival] = {
    "passed in": lambda y, passed: (y, passed),
    "owned": lambda y, passed: (y * 1.5, passed),
    "ones": lambda y, passed: (y.sum(), _one(y)),
    "one value": lambda y, passed: ((y * -0.75).sum(), _one(y)),
    "to two": lambda y, passed: (((y + y * 3) * passed).sum(), _one(y)),
}


@pytest.fixture(autouse=True)
def _usual_settings() -> Iterator[None]:
    yield
    large.elements = LARGE
    use_ownership(True)


def reusing(case: Case) -> bool:
    """Whether a gradient of the sample goes through a formula."""
    return bool(positions_of_inputs(case)) and case.operator.name not in DRAWN


class Run:
    """One backward through a sample, and what was seen of it."""

    def __init__(self, case: Case, arrive: Arrival) -> None:
        vt.manual_seed(3)
        inplace = case.operator.returns in {"Self", "Geometry"}
        apply, arrays = function_of_inputs(case, case.operator.name, inplace=inplace)
        self.leaves = [vt.tensor(x, requires_grad=True) for x in arrays]
        self.inputs = [x * 1 for x in self.leaves]
        self.results = [y for y in apply(*self.inputs) if y.requires_grad]
        self.passed = [_ramp(y) for y in self.results]
        self.held = Memory([*self.leaves, *self.inputs, *self.results, *self.passed])
        roots = [arrive(y, p) for y, p in zip(self.results, self.passed, strict=True)]
        vt.autograd.backward([root for root, _ in roots], [grad for _, grad in roots])

    @property
    def gradients(self) -> list[tuple[bytes, tuple[int, ...]] | None]:
        """Bytes and strides of the gradients of all inputs."""
        return [
            None if x.grad is None else (x.grad.numpy().tobytes(), x.grad.numpy().strides)
            for x in self.leaves
        ]


def _ramp(y: vt.Tensor) -> vt.Tensor:
    values = np.linspace(-1.3, 1.7, max(1, int(np.prod(y.shape)))).reshape(y.shape)
    return vt.tensor(values.astype(y.numpy(force=True).dtype))


def gradients_of(case: Case, arrival: str, *, owned: bool, size: int) -> Run:
    """Differentiate with all or no gradients of that size taken for large."""
    large.elements = size
    use_ownership(owned)
    run = Run(case, ARRIVALS[arrival])
    run.held.assert_untouched()
    return run


@sweep([c for c in cases() if reusing(c)], ARRIVALS)
def test_reuse_writes_nothing_that_is_held_and_changes_no_number(case: Case, arrival: str) -> None:
    reused = gradients_of(case, arrival, owned=True, size=0)
    copied = gradients_of(case, arrival, owned=False, size=0)
    assert reused.gradients == copied.gradients
    small = gradients_of(case, arrival, owned=True, size=LARGE)
    _assert_close(reused.leaves, small.leaves)


def _assert_close(found: Sequence[vt.Tensor], expected: Sequence[vt.Tensor]) -> None:
    for x, y in zip(found, expected, strict=True):
        a, b = _gradient(x), _gradient(y)
        assert (a is None) == (b is None)
        if a is not None and b is not None:
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)
            assert a.strides == b.strides


def _gradient(x: vt.Tensor) -> Array | None:
    return None if x.grad is None else x.grad.numpy()
