"""How much memory a backward needs at most: what was saved, and little more than one gradient.

`tracemalloc` counts the bytes of arrays exactly, so these figures do not depend on the machine.
"""

import itertools
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.graph.large import LARGE

LAYERS = 50
ELEMENTS = 2 * LARGE
BAR = 1.15

Layer = Callable[[vt.Tensor, vt.Tensor, vt.Tensor], vt.Tensor]

# A layer, how many arrays it has to save, and whether its parameters get gradients.
NETS: dict[str, tuple[Layer, int, bool]] = {
    "sin": (lambda a, w, b: a.sin(), 1, False),
    "tanh": (lambda a, w, b: a.tanh(), 1, False),
    "scaled tanh": (lambda a, w, b: (a * w + b).tanh(), 1, False),
    "trained": (lambda a, w, b: (a * w + b).tanh(), 1, True),
    "square and exp": (lambda a, w, b: (-(a * a)).exp(), 1, False),
    "in place": (lambda a, w, b: (a * w).add_(b).tanh_(), 1, False),
    "quotient": (lambda a, w, b: a / (a + b), 2, False),
}


def peak_of_net(layer: Layer, trained: bool) -> float:
    """The most memory during forward and backward, counted in arrays of one activation."""
    values = np.linspace(0.1, 1, ELEMENTS)
    x = vt.from_numpy(values).requires_grad_()
    w, b = vt.from_numpy(values + 0.5), vt.from_numpy(values * 2)
    if trained:
        w.requires_grad_()
        b.requires_grad_()
    tracemalloc.start()
    try:
        a = x
        for _ in range(LAYERS):
            a = layer(a, w, b)
        total = a.sum()
        del a
        total.backward()
        return tracemalloc.get_traced_memory()[1] / values.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("layer", "saved", "trained"), NETS.values(), ids=NETS)
def test_peak_is_what_was_saved_and_the_gradients(layer: Layer, saved: int, trained: bool) -> None:
    peak_of_net(layer, trained)  # imports and caches
    results = 3 if trained else 1
    least = LAYERS * saved + results
    peak = peak_of_net(layer, trained)
    assert peak <= BAR * least
    # The gradient in flight needs no room of its own: values are freed as it passes them. Half an
    # array is for the Python objects of the graph.
    assert peak <= least + 0.5


def test_values_are_freed_while_backward_goes_on() -> None:
    sizes: list[float] = []
    x = vt.from_numpy(np.linspace(0.1, 1, ELEMENTS)).requires_grad_()

    def look(_: vt.Tensor) -> None:
        sizes.append(tracemalloc.get_traced_memory()[0] / (8 * ELEMENTS))

    tracemalloc.start()
    try:
        a = x
        for _ in range(10):
            a = a.sin()
            a.register_hook(look)
        total = a.sum()
        del a
        total.backward()
    finally:
        tracemalloc.stop()
    assert all(after <= before - 0.9 for before, after in itertools.pairwise(sizes[1:]))


def _peak_of_backward(root: vt.Tensor) -> float:
    """The most memory that a backward takes on top of what is there, in arrays."""
    tracemalloc.start()
    try:
        root.backward()
        return tracemalloc.get_traced_memory()[1] / (8 * ELEMENTS)
    finally:
        tracemalloc.stop()


def _of_square(x: vt.Tensor) -> vt.Tensor:
    return (x * x).sin().sum()


def _of_write(x: vt.Tensor) -> vt.Tensor:
    y = x * 1
    y[: ELEMENTS // 2].mul_(2.0)
    y[ELEMENTS // 2 :].add_(1.0)
    return y.sin().sum()


# What is needed: the cosine, which every product then overwrites. Two factors would need a product
# each, and a part that is written through a view a copy.
@pytest.mark.parametrize("program", [_of_square, _of_write], ids=["square", "write"])
def test_a_gradient_is_not_copied_on_its_way(program: Callable[[vt.Tensor], vt.Tensor]) -> None:
    x = vt.from_numpy(np.linspace(0.1, 1, ELEMENTS)).requires_grad_()
    _peak_of_backward(program(x))  # imports and caches
    x.grad = None
    assert _peak_of_backward(program(x)) <= 1.1
