"""Second derivatives of every call of the oracle's menu, in three ways.

For a weighted sum of the results, and two directions `t` and `u`, the second derivative is the same
by reverse over reverse, by forward over reverse (the tangent of the gradient) and by reverse over
forward (the gradient of the tangent).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pytest

import vtgrad as vt
from tests.forward.menu import GROUPS, Called, drawn, inner, tangent_of_leaf, weights_of
from vtgrad.autograd import forward_ad as fw
from vtgrad.errors import (
    DetachViewError,
    NotALeafError,
    NotSupportedError,
    RequiresGradError,
    StaleSavedError,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
]

# What duals may not do: see test_menu.py. A dual is a view, and no leaf.
REFUSED: Final = (DetachViewError, NotALeafError, NotSupportedError, RequiresGradError)


def other_direction(nr: int, leaf: vt.Tensor) -> vt.Tensor:
    return vt.tensor(drawn(500 + nr, leaf))


def gradients(called: Called, *, create_graph: bool) -> list[vt.Tensor | None]:
    """Those of the weighted sum of the results."""
    roots = [(nr, y) for nr, y in enumerate(called.results) if y.requires_grad]
    if not roots:
        return [None] * len(called.leaves)
    weights = [vt.tensor(weights_of(nr, y)) for nr, y in roots]
    return list(
        vt.autograd.grad(
            [y for _, y in roots],
            called.leaves,
            weights,
            allow_unused=True,
            create_graph=create_graph,
        )
    )


def derivative(
    values: list[tuple[vt.Tensor, vt.Tensor]],
    called: Called,
    direction: Callable[[int, vt.Tensor], vt.Tensor],
) -> float:
    """That of a weighted sum of values by the leaves, in one direction; the graph is kept."""
    live = [(value, weight) for value, weight in values if value.requires_grad]
    if not live:
        return 0.0
    found = vt.autograd.grad(
        [value for value, _ in live],
        called.leaves,
        [weight for _, weight in live],
        retain_graph=True,
        allow_unused=True,
    )
    return sum(
        inner(direction(nr, leaf).numpy(), one)
        for nr, (leaf, one) in enumerate(zip(called.leaves, found, strict=True))
        if one is not None
    )


def reverse_over_reverse(called: Called) -> float:
    found = gradients(called, create_graph=True)
    pairs = [
        (g, other_direction(nr, leaf))
        for nr, (leaf, g) in enumerate(zip(called.leaves, found, strict=True))
        if g is not None
    ]
    return derivative(pairs, called, lambda nr, leaf: vt.tensor(tangent_of_leaf(nr, leaf)))


def reverse_over_forward(called: Called) -> float:
    pairs = []
    for nr, y in enumerate(called.results):
        tangent = fw.unpack_dual(y).tangent
        if tangent is not None:
            pairs.append((tangent, vt.tensor(weights_of(nr, y))))
    return derivative(pairs, called, other_direction)


def forward_over_reverse(called: Called) -> float:
    total = 0.0
    for nr, g in enumerate(gradients(called, create_graph=False)):
        tangent = None if g is None else fw.unpack_dual(g).tangent
        if tangent is not None:
            total += inner(other_direction(nr, called.leaves[nr]).numpy(), tangent)
    return total


def wrong_with(call: str) -> str:
    """What differs; empty if nothing does, or there is no second derivative to compare with."""
    with np.errstate(all="ignore"):
        recorded = Called(call, dual=False, recorded=True)
        if recorded.error is not None:
            return ""
        try:
            expected = reverse_over_reverse(recorded)
        except Exception:  # whatever the derivative raises; test_menu.py compares that
            return ""
        if not np.isfinite(expected):
            return ""
        tolerance = 3e-2 if recorded.low else 1e-7
        with fw.dual_level():
            called = Called(call, dual=True, recorded=True)
            if isinstance(called.error, REFUSED):
                return ""
            if called.error is not None:
                raise called.error
            for compute in (reverse_over_forward, forward_over_reverse):
                try:
                    found = compute(called)
                except REFUSED:
                    continue
                except StaleSavedError as error:
                    return f"{compute.__name__}: {error}"
                if not np.isclose(found, expected, tolerance, tolerance):
                    return f"{found} by {compute.__name__}, {expected} by reverse_over_reverse"
    return ""


@pytest.mark.parametrize("group", [name for name in GROUPS if name != "random"])
def test_second_derivatives_agree(group: str) -> None:
    assert {call: text for call in GROUPS[group] if (text := wrong_with(call))} == {}
