"""Calling the function under check with tangents."""

from __future__ import annotations

from collections.abc import Mapping

from vtgrad.autograd.differentiate import grad
from vtgrad.autograd.dual_tensors import at_shown_level, make_dual_at, tangent_at
from vtgrad.autograd.gradcheck.analytical import zeros_of
from vtgrad.autograd.gradcheck.subject import Subject, double_values, listed_outputs
from vtgrad.graph.batch import BatchLevel, batched
from vtgrad.graph.forward_grad import DualLevel
from vtgrad.ops.rules.batches.entering import expanded
from vtgrad.ops.rules.batches.run_in_batch import run_in_batch
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.from_data import from_numpy
from vtgrad.tensor.tensor import Tensor

__all__ = ["batched_tangents", "tangent_gradients", "tangents"]


def tangents(
    subject: Subject,
    given: Mapping[int, Array],
    *,
    over_reverse: bool = False,
    others_are_zero: bool = True,
) -> list[Array]:
    """The tangents of the outputs for those of some inputs; zeros where there is none.

    Parameters
    ----------
    given : mapping of int to ndarray
        By the number of the input.
    over_reverse : bool
        Whether the function computes gradients by its inputs: then they require grad.
    others_are_zero : bool
        Whether the other inputs have tangents of zeros, or none.
    """

    def body(level: DualLevel) -> list[Array]:
        duals = {}
        for number, x in enumerate(subject.inputs):
            value = x if over_reverse else x.detach()
            tangent = given.get(number)
            if tangent is None and others_are_zero:
                tangent = zeros_of(x)
            duals[number] = (
                value if tangent is None else make_dual_at(value, _like(x, tangent), level)
            )
        found = []
        for y in _outputs(subject, duals):
            one = tangent_at(y, level)
            found.append(making.zeros_like(double_values(y)) if one is None else double_values(one))
        return found

    return at_shown_level(body)


def tangent_gradients(subject: Subject, given: Mapping[int, Array]) -> list[Array] | None:
    """The gradients of tangents of inputs, for gradients of ones of the tangents of all outputs.

    Parameters
    ----------
    given : mapping of int to ndarray
        The tangents, by the number of the input.

    Returns
    -------
    list of ndarray or None
        None if no output has a tangent that depends on those of the inputs.
    """

    def body(level: DualLevel) -> list[Array] | None:
        leaves = {
            number: _like(subject.inputs[number], tangent).requires_grad_()
            for number, tangent in given.items()
        }
        duals = {
            number: (
                make_dual_at(x.detach(), leaves[number], level) if number in leaves else x.detach()
            )
            for number, x in enumerate(subject.inputs)
        }
        found = [tangent_at(y, level) for y in _outputs(subject, duals)]
        reached = [one for one in found if one is not None and one.requires_grad]
        if not reached:
            return None
        ones = [_like(one, making.ones(tuple(one.shape))) for one in reached]
        gradients = grad(reached, tuple(leaves.values()), ones, materialize_grads=True)
        return [double_values(one) for one in gradients]

    return at_shown_level(body)


def batched_tangents(subject: Subject, number: int, rows: Array) -> list[Array]:
    """The tangents of the outputs for several tangents of one input, in one call.

    Parameters
    ----------
    number : int
        Which input.
    rows : ndarray
        Its tangents, along the first dimension.

    Returns
    -------
    list of ndarray
        For each output its tangents, along the first dimension.
    """

    def body(batch: BatchLevel, level: DualLevel) -> list[Array]:
        duals = {}
        for nr, x in enumerate(subject.inputs):
            # Zeros for each sample too: the function may write a tangent into another input's.
            own = rows if nr == number else making.zeros((len(rows), *x.shape))
            duals[nr] = make_dual_at(x.detach(), batched(_like(x, own), batch), level)
        found = []
        for y in _outputs(subject, duals):
            one = tangent_at(y, level)
            if one is None:
                found.append(making.zeros((len(rows), *y.shape)))
            else:
                found.append(double_values(expanded(one, batch)))
        return found

    # The values are not a batch: what is drawn for them is drawn once.
    return run_in_batch(
        lambda batch: at_shown_level(lambda level: body(batch, level)), len(rows), "same"
    )


def _like(x: Tensor, values: Array) -> Tensor:
    """Values as a tensor of the dtype and on the device of an input."""
    return from_numpy(making.asarray(values, x._impl.dtype)).to(x.device)


def _outputs(subject: Subject, duals: Mapping[int, Tensor]) -> list[Tensor]:
    """The outputs for some other inputs."""
    by_input = {id(subject.inputs[number]): dual for number, dual in duals.items()}
    arguments = [by_input.get(id(argument), argument) for argument in subject.arguments]
    return listed_outputs(subject.function(*arguments))
