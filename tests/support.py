"""What tests of all folders share: the library under test, small builders and observers.

The library under test is vtgrad. With ``VTGRAD_BEHAVIOUR_BACKEND=torch`` `vt` is PyTorch, and
tests/behaviour runs on it, which shows that the expected numbers are PyTorch's own. Behaviours in
which the two deliberately differ carry `differs_from_torch` and are left out of that run; the
``kind`` of an error, which only vtgrad's errors have, is found by its message there, where that
says it.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.oracle.kinds import kind_of

BACKEND = os.environ.get("VTGRAD_BEHAVIOUR_BACKEND", "vtgrad")
ON_TORCH = BACKEND == "torch"

if TYPE_CHECKING:
    import vtgrad as vt
elif BACKEND == "torch":
    import torch as vt

    vt.set_warn_always(True)  # or some warnings come once per process
elif BACKEND == "vtgrad":
    import vtgrad as vt
else:
    raise RuntimeError(f"VTGRAD_BEHAVIOUR_BACKEND is {BACKEND!r}: use 'vtgrad' or 'torch'")

__all__ = [
    "HAS_GLOBAL_LOCK",
    "ON_TORCH",
    "Unchanged",
    "collector_off",
    "differs_from_torch",
    "fn_name",
    "grad_list",
    "gradients",
    "leaf",
    "leaf_of",
    "needs_global_lock",
    "node_of",
    "ones_leaf",
    "parent_name",
    "parent_of",
    "ramp",
    "recorded",
    "refused",
    "unreached",
    "vt",
    "weighted_gradients",
]

#: The library is imported, whose module in C switches the lock on.
HAS_GLOBAL_LOCK: Final[bool] = getattr(sys, "_is_gil_enabled", lambda: True)()

# Without it a second thread of a program is refused, see Note [Without the global lock].
needs_global_lock = pytest.mark.skipif(
    not HAS_GLOBAL_LOCK,
    reason="several threads use the library, and there is no global lock",
)


def differs_from_torch(reason: str) -> pytest.MarkDecorator:
    """Mark a behaviour that is meant to differ from PyTorch's, and say why."""
    return pytest.mark.skipif(ON_TORCH, reason=f"differs from torch: {reason}")


def ramp(*shape: int) -> vt.Tensor:
    """Give the float64 constant 1, 2, 3, ... of the given shape, in storage of its own."""
    count = 1
    for size in shape:
        count *= size
    return vt.arange(1.0, 1.0 + count, dtype=vt.float64).reshape(shape).clone()


def leaf(*shape: int) -> vt.Tensor:
    """Give the leaf 1, 2, 3, ... of the given shape that requires grad."""
    return ramp(*shape).requires_grad_()


def leaf_of(*values: Any) -> vt.Tensor:
    """Give a leaf of these numbers, or rows of numbers; complex128 if a number is complex."""
    is_complex = any(isinstance(value, complex) for value in values)
    dtype = vt.complex128 if is_complex else vt.float64
    return vt.tensor(list(values), dtype=dtype, requires_grad=True)


def ones_leaf(*shape: int) -> vt.Tensor:
    """Give the float64 leaf of ones of the given shape."""
    return vt.ones(*shape, dtype=vt.float64).requires_grad_()


def fn_name(x: vt.Tensor) -> str | None:
    """Give the name of ``x.grad_fn``, without PyTorch's namespace prefix; None for a leaf."""
    return None if x.grad_fn is None else x.grad_fn.name().split("::")[-1]


def node_of(x: vt.Tensor) -> vt.autograd.graph.Node:
    """Give ``x.grad_fn``, which must exist."""
    node = x.grad_fn
    assert node is not None
    return node


def parent_of(node: vt.autograd.graph.Node, which: int = 0) -> vt.autograd.graph.Node:
    """Give the node on the ``which``-th outgoing edge, which must exist."""
    parent = node.next_functions[which][0]
    assert parent is not None
    return parent


def parent_name(x: vt.Tensor, which: int = 0) -> str:
    """Give the name of the node before ``x.grad_fn``, without PyTorch's namespace prefix."""
    return parent_of(node_of(x), which).name().split("::")[-1]


def grad_list(x: vt.Tensor) -> object:
    """Give ``x.grad`` as nested lists; it must have been filled."""
    gradient = x.grad
    assert gradient is not None
    return gradient.tolist()


def gradients(
    y: vt.Tensor, *inputs: vt.Tensor, create_graph: bool = False, retain_graph: bool | None = None
) -> list[object]:
    """Give d(y)/d(input) for every input as nested lists; every input must be reached."""
    found = vt.autograd.grad(y, inputs, create_graph=create_graph, retain_graph=retain_graph)
    return [g.tolist() for g in found]


def weighted_gradients(y: vt.Tensor, *inputs: vt.Tensor) -> list[object]:
    """Give the gradients of ``1*y[0] + 2*y[1] + ...`` as nested lists; None where there is none."""
    weights = vt.arange(1.0, 1.0 + y.numel(), dtype=vt.float64).reshape(y.shape)
    found = vt.autograd.grad((y * weights).sum(), inputs, allow_unused=True)
    return [None if g is None else g.tolist() for g in found]


def unreached(y: vt.Tensor, *inputs: vt.Tensor) -> bool:
    """Whether no gradient flows from ``y`` to any of the inputs; the graph is kept."""
    found = vt.autograd.grad(y, inputs, allow_unused=True, retain_graph=True)
    return all(g is None for g in found)


def _observed(x: vt.Tensor) -> dict[str, object]:
    """Collect all that a user can see of ``x``; the `grad_fn` by identity, errors by class."""
    try:
        graph: object = x.grad_fn
        is_leaf: object = x.is_leaf
    except RuntimeError as error:
        graph, is_leaf = type(error), type(error)
    return {
        "values": x.detach().tolist(),
        "version": x._version,
        "shape": tuple(x.shape),
        "stride": tuple(x.stride()),
        "offset": x.storage_offset(),
        "dtype": x.dtype,
        "pointer": x.data_ptr(),
        "requires_grad": x.requires_grad,
        "grad_fn": graph,
        "is_leaf": is_leaf,
        "output_nr": x.output_nr if not isinstance(graph, type) else None,
        "is_view": x._is_view(),
        "base": x._base,
    }


class Unchanged:
    """Remember tensors as they are now; `check` fails when anything observable has moved."""

    def __init__(self, *tensors: vt.Tensor) -> None:
        self._tensors = tensors
        self._before = [_observed(x) for x in tensors]

    def check(self) -> None:
        """Compare every remembered tensor with what it was."""
        for number, (x, before) in enumerate(zip(self._tensors, self._before, strict=True)):
            after = _observed(x)
            for what in before:
                same = before[what] is after[what] or (
                    what not in ("grad_fn", "base") and before[what] == after[what]
                )
                assert same, f"tensor {number}: {what} was {before[what]}, is {after[what]}"


@contextmanager
def refused(
    error: type[Exception], kind: str, unchanged: Sequence[vt.Tensor] = ()
) -> Iterator[None]:
    """Expect the block to raise `error` of that `kind` and to leave `unchanged` as they were."""
    watched = Unchanged(*unchanged)
    with pytest.raises(error) as caught:
        yield
    found = kind_of(caught.value)
    # Of what is not there PyTorch says no more than that.
    untold = found is None or error is NotImplementedError
    assert found == kind or (ON_TORCH and untold), found
    watched.check()


@contextmanager
def collector_off() -> Iterator[None]:
    """Run the block without the cyclic garbage collector.

    A ``gc.collect()`` in the block searches what the block has made, and not the objects of
    pytest, see `tests.collecting`.
    """
    was_on = gc.isenabled()
    gc.disable()
    gc.collect()  # what earlier tests have left
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def recorded(log: list[object], mark: object) -> Callable[[vt.Tensor], None]:
    """Give a hook that appends ``(mark, gradient as lists)`` to the log and changes nothing."""

    def hook(gradient: vt.Tensor) -> None:
        log.append((mark, gradient.tolist()))

    return hook
