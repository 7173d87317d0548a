"""Two effects of the library on a program with views and in-place writes.

Both use the demo's own filter, so they occur on real buffers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import vtgrad as vt
from vtgrad.demo.local_level import FloatArray, gradient_of, kalman_filter, log_likelihood
from vtgrad.errors import StaleSavedError

__all__ = ["IllegalWrite", "StaleGradFn", "show_illegal_write", "show_stale_grad_fn"]

_SCALE = 0.25


@dataclass(frozen=True, slots=True)
class StaleGradFn:
    """A view whose base was written after the view was made.

    Attributes
    ----------
    name_before, name_after : str
        Name of the view's ``grad_fn`` before and after the write to the base.
    version_before, version_after : int
        The version that view and base share, before and after.
    gradient_before, gradient_after : ndarray
        Gradient of the view's sum with respect to the log-variances, before and after.
    scale : float
        The factor by which the base was multiplied in place.
    """

    name_before: str
    name_after: str
    version_before: int
    version_after: int
    gradient_before: FloatArray
    gradient_after: FloatArray
    scale: float

    @property
    def holds(self) -> bool:
        """Whether the view's gradient includes the write: it is scaled, exactly."""
        # The scale is a power of two, so no rounding can differ between the two passes.
        return (
            self.version_after > self.version_before
            and bool(np.any(self.gradient_before))
            and np.array_equal(self.gradient_after, self.scale * self.gradient_before)
        )


@dataclass(frozen=True, slots=True)
class IllegalWrite:
    """A write to values that backward needs, and the result of the backward pass.

    Attributes
    ----------
    error : StaleSavedError or None
        The error that backward raised; None if it raised none.
    gradients_untouched : bool
        Whether every ``.grad`` was still None afterwards.
    """

    error: StaleSavedError | None
    gradients_untouched: bool

    @property
    def holds(self) -> bool:
        """Whether backward was refused and no gradient had changed."""
        return self.error is not None and self.gradients_untouched


def show_stale_grad_fn(log_variances: FloatArray, flows: Sequence[float]) -> StaleGradFn:
    """Take a view of the filled workspace, write to the workspace, and read the view's producer.

    The write does not change the view object.  It moves the version that both share; the view's
    cached ``grad_fn`` is then stale, and is rebuilt from the base on the next read.
    """
    leaf = _leaf(log_variances)
    workspace = kalman_filter(leaf, flows).workspace
    states = workspace.select(0, 0)

    name_before, version_before = _grad_fn_name(states), states._version
    before = gradient_of(states.sum(), leaf, retain_graph=True)

    workspace.mul_(_SCALE)

    name_after, version_after = _grad_fn_name(states), states._version
    after = gradient_of(states.sum(), leaf)
    return StaleGradFn(
        name_before,
        name_after,
        version_before,
        version_after,
        np.array(before.numpy()),
        np.array(after.numpy()),
        _SCALE,
    )


def show_illegal_write(log_variances: FloatArray, flows: Sequence[float]) -> IllegalWrite:
    """Standardise the innovations in place between the likelihood and its backward pass.

    The likelihood squared the innovations and so saved them.  The weight makes a late check
    visible: its gradient is the unweighted likelihood, available at the start of the pass.  An
    engine that finds the stale value only during the pass has already filled ``weight.grad``.
    """
    leaf = _leaf(log_variances)
    weight = vt.tensor(1.0, dtype=vt.float64, requires_grad=True)
    buffers = kalman_filter(leaf, flows)
    weighted = log_likelihood(buffers) * weight

    buffers.innovations[1:] /= buffers.innovation_variances[1:].sqrt()

    caught: StaleSavedError | None = None
    try:
        weighted.backward()
    except StaleSavedError as error:
        # Without its traceback, which would keep this frame and the whole graph alive.
        caught = error.with_traceback(None)
    return IllegalWrite(caught, leaf.grad is None and weight.grad is None)


def _leaf(log_variances: FloatArray) -> vt.Tensor:
    return vt.tensor(log_variances, dtype=vt.float64, requires_grad=True)


def _grad_fn_name(tensor: vt.Tensor) -> str:
    node = tensor.grad_fn
    return "None" if node is None else node.name()
