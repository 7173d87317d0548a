"""Every formula takes gradients that did not arrive: of all its results, or of some of them.

Such a gradient is not the same as zeros: what depends on missing ones only is missing itself.
"""

import numpy as np

import vtgrad as vt
from tests.ops.calls import Case, cases, function_of_inputs, positions_of_inputs
from tests.ops.samples import DRAWN
from tests.sweeping import by_table, sweep
from vtgrad.graph.node import Node

#: Operators with results of `bool`, which have a node only where those are stored as numbers.
TRUTH = {f"{name}_{kind}" for name in "eq ne lt le gt ge".split() for kind in ("Scalar", "Tensor")}
TRUTH |= {"logical_and", "logical_or", "logical_xor", "logical_not"}

DIFFERENTIABLE = [
    case
    for case in cases(lambda operator: operator.name not in DRAWN)
    if positions_of_inputs(case) and case.operator.node is not None
]


def recorded(case: Case) -> tuple[Node, tuple[vt.Tensor, ...]]:
    """The node of the sample, and the results that it was recorded for."""
    name, inplace = case.operator.name, case.operator.returns in {"Self", "Geometry"}
    if name in TRUTH:
        assert case.operator.inplace is not None
        name, inplace = case.operator.inplace, True
    apply, arrays = function_of_inputs(case, name, inplace=inplace)
    results = apply(*[vt.tensor(array, requires_grad=True) for array in arrays])
    node = results[0].grad_fn
    assert node is not None
    return node, tuple(results)


def answers(node: Node, *grads: vt.Tensor | None) -> tuple[vt.Tensor | None, ...]:
    """What the node answers, as a tuple."""
    answer = node(*grads)
    return answer if isinstance(answer, tuple) else (answer,)


@sweep(DIFFERENTIABLE, row=by_table)
def test_without_any_gradient_there_is_none(case: Case) -> None:
    node, _ = recorded(case)
    missing = [None] * len(node.input_metadata)
    assert {type(found) for found in answers(node, *missing)} == {type(None)}
    assert set(node.apply_arrays(missing, -1)) == {None}


SEVERAL = [case for case in DIFFERENTIABLE if case.operator.returns in {"tuple", "Views"}]


def test_there_are_operators_with_several_results() -> None:
    assert {"unbind", "split_Tensor", "max_dim"} <= {case.operator.name for case in SEVERAL}


@sweep(SEVERAL, row=by_table)
def test_a_missing_gradient_among_others_counts_as_zeros(case: Case) -> None:
    node, returned = recorded(case)
    # Indices are no results of the node.
    results = [y for y in returned if y.grad_fn is not None]
    for position, result in enumerate(results):
        zeros = [vt.zeros_like(y) for y in results]
        zeros[position] = vt.ones_like(result)
        alone = [one if nr == position else None for nr, one in enumerate(zeros)]
        for found, expected in zip(answers(node, *alone), answers(node, *zeros), strict=True):
            assert (found is None) == (expected is None)
            if found is not None and expected is not None:
                np.testing.assert_array_equal(found.detach().numpy(), expected.detach().numpy())
