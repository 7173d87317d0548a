"""What a call must have in common with the one that was recorded, before anything runs.

Note [Guards on entry]

A recording is right for calls that begin as the recorded one did. A guard on entry compares what
the program could have looked at without asking NumPy: types, shapes, strides, dtypes, whether a
tensor requires grad and has a ``.grad``, Python values by type and bits, the grad mode, the default
dtype. The guards read and change nothing. A guard that fails names the argument.

What a recording never has is no guard: an inference tensor, names, a tensor with a history or with
hooks, an object whose state is not known. These are refused by name, while recording and in a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import BuiltinFunctionType, EllipsisType, FunctionType, NoneType
from typing import Final, NamedTuple

import numpy as np

from vtgrad.generator import Generator
from vtgrad.graph.anomaly import anomaly
from vtgrad.graph.audit import audit
from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.function_modes import in_function_mode
from vtgrad.graph.hooks import GradCell
from vtgrad.graph.packing import packing
from vtgrad.graph.tracer import thread
from vtgrad.jit.interpret import same_value
from vtgrad.jit.steps import Line
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.device import Device
from vtgrad.storage.dtypes import DType
from vtgrad.storage.key_set import keys
from vtgrad.storage.layout import PECULIAR, Layout
from vtgrad.storage.memory_format import MemoryFormat, MemoryLayout
from vtgrad.storage.rewind import rewinding, saves_observed
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import INFERENCE

__all__ = [
    "Leaf",
    "Mismatch",
    "cell_of",
    "first_mismatch",
    "guard_of",
    "leaf_of",
    "obstacle",
    "own_cell",
    "refusal",
]

# Values that cannot change, and functions, which are what they are bound to.
_COMPARED: Final = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    NoneType,
    EllipsisType,
    slice,
    range,
    np.generic,
    np.dtype,
)
_IDENTICAL: Final = (
    DType,
    Device,
    MemoryFormat,
    MemoryLayout,
    Generator,
    FunctionType,
    BuiltinFunctionType,
    np.ufunc,
    type,
)


class Mismatch(NamedTuple):
    """Why a call is not the recorded one.

    Attributes
    ----------
    reason : str
        In words.
    line : Line or None
        The user's line at which a value left the recording.
    """

    reason: str
    line: Line | None = None

    def __str__(self) -> str:
        if self.line is None:
            return self.reason
        return f"{self.reason} (at {self.line[0]}:{self.line[1]})"


def obstacle() -> str | None:
    """Why this thread can neither record nor replay at this moment; None if it can."""
    if thread.mode.inference:
        return "inference mode is on"
    if thread.tracer is not None:
        return "operators are followed to find the pattern of a Jacobian"
    if thread.batch_levels:
        return "vmap runs the call"
    if keys.modes and in_function_mode():
        return "a TorchFunctionMode sees each function"
    if anomaly.enabled:
        return "anomaly mode is on, which checks each node"
    if saves_observed.reasons:
        # On any thread; these are on this one.
        if packing.pair is not None or packing.disabled is not None:
            return "hooks of saved tensors are on, or forbidden"
        if rewinding.keeps:
            return "writes keep what they overwrite, by allow_mutation_on_saved_tensors"
        if audit.enabled:
            return "audit is on"
    return None


def refusal(leaf: object) -> str | None:
    """Why an argument can be part of no recording; None if it can."""
    if isinstance(leaf, TensorBase):
        return _refusal_of_tensor(leaf._impl)
    if type(leaf) is np.ndarray:
        return None if leaf.dtype.kind in "biufc" else f"is an array of dtype {leaf.dtype}"
    if isinstance(leaf, (*_COMPARED, *_IDENTICAL)):
        return None
    return (
        f"is of type {type(leaf).__name__}, whose state is not known: pass its tensors, arrays and "
        "numbers, or let the function close over it"
    )


def _refusal_of_tensor(impl: TensorImpl) -> str | None:
    if impl.version_counter is INFERENCE:
        return "is an inference tensor"
    extra = impl.extra_meta
    if extra is not None:
        if extra.overrides:
            return "is of a class with __torch_function__, which a replay does not call"
        return "has names or a device of its own, or is a sample of a batch"
    if type(impl.array) is not np.ndarray:
        return "is a conjugate that is not computed yet; pass it through resolve_conj()"
    meta = impl.autograd_meta
    if meta is None:
        return None
    if keys.modes and meta.fw_level(thread.forward_limit):
        return "has a tangent, and a replay carries none: put the transform inside of the function"
    if not isinstance(meta, AutogradMeta):
        return _HISTORY if meta.needs_gradient() else None
    if meta.was_produced():
        return _HISTORY
    cell, edge = meta.cell, meta.grad_accumulator
    if cell is not None and cell.post_accumulate is not None:
        return "has hooks; register them inside of the function"
    if edge is not None and edge.function.hooks is not None:
        return "has hooks; register them inside of the function"
    return None


_HISTORY: Final = (
    "is the result of recorded operators, and a replay takes no part in a graph: pass it detached, "
    "or put the whole program and its gradient inside of the function"
)


def cell_of(impl: TensorImpl) -> GradCell | None:
    """The cell of the ``.grad`` of a tensor, if there is one."""
    meta = impl.autograd_meta
    return meta.cell if isinstance(meta, AutogradMeta) else None


def own_cell(impl: TensorImpl) -> GradCell:
    """The cell of the ``.grad`` of a leaf, made on first use."""
    meta = impl.autograd_meta
    if isinstance(meta, AutogradMeta):
        return meta.own_cell()
    assert meta is None
    fresh = AutogradMeta()
    if impl.autograd_meta is None:
        impl.autograd_meta = fresh
    return own_cell(impl)


class Leaf:
    """What is guarded of one argument.

    Attributes
    ----------
    kind : type
        Its class.
    layout : Layout or None
        That of a tensor; `PECULIAR` says nothing, see `geometry`.
    geometry : tuple
        Shape, strides in bytes and dtype.
    needs : bool
        Whether it is a leaf that requires grad.
    has_grad : bool
        Whether there is a ``.grad``.
    value : object
        Of an argument that is no tensor and no array.
    """

    __slots__ = ("geometry", "has_grad", "kind", "layout", "needs", "value")

    kind: type
    layout: Layout | None
    geometry: tuple[Shape, Shape, NumpyDType] | None
    needs: bool
    has_grad: bool
    value: object

    def __init__(self, kind: type) -> None:
        self.kind = kind
        self.layout = None
        self.geometry = None
        self.needs = False
        self.has_grad = False
        self.value = None

    def fits(self, leaf: object) -> bool:
        """Whether an argument is as the recorded one."""
        if type(leaf) is not self.kind:
            return False
        if isinstance(leaf, TensorBase):
            return self.fits_tensor(leaf._impl)
        if self.geometry is not None:
            assert isinstance(leaf, np.ndarray)
            return (leaf.shape, leaf.strides, leaf.dtype) == self.geometry
        if isinstance(leaf, _COMPARED):
            return same_value(leaf, self.value)
        return leaf is self.value

    def take_tensor(self, impl: TensorImpl) -> None:
        """Guard a tensor as it is."""
        array = impl.array
        self.layout = impl.layout or impl.find_layout()
        self.geometry = array.shape, array.strides, array.dtype
        self.needs, self.has_grad = _grad_state(impl)

    def fits_tensor(self, impl: TensorImpl) -> bool:
        """As `fits`, of a tensor."""
        layout = impl.layout
        if layout is not self.layout or layout is PECULIAR:
            array = impl.array
            if (array.shape, array.strides, array.dtype) != self.geometry:
                return False
        meta = impl.autograd_meta
        if impl.extra_meta is not None or impl.version_counter is INFERENCE:
            return False
        if meta is None:
            return not self.needs and not self.has_grad
        if type(meta) is not AutogradMeta or type(impl.array) is not np.ndarray or keys.modes:
            return _refusal_of_tensor(impl) is None and _grad_state(impl) == (
                self.needs,
                self.has_grad,
            )
        if meta.grad_fn_ is not None or meta.requires_grad_ is not self.needs:
            return False
        cell, edge = meta.cell, meta.grad_accumulator
        if edge is not None and edge.function.hooks is not None:
            return False
        if cell is None:
            return not self.has_grad
        return cell.post_accumulate is None and (cell.grad is not None) is self.has_grad

    def difference(self, leaf: object) -> str:
        """What differs, in words; see `fits`."""
        if type(leaf) is not self.kind:
            return f"is of type {type(leaf).__name__}, and was {self.kind.__name__}"
        if isinstance(leaf, TensorBase):
            return self.difference_of_tensor(leaf._impl)
        if isinstance(leaf, np.ndarray):
            return self._difference_of_array(leaf)
        return f"is {leaf!r}, and was {self.value!r}: Python values are part of the recording"

    def difference_of_tensor(self, impl: TensorImpl) -> str:
        """As `difference`, of a tensor."""
        refused = _refusal_of_tensor(impl)
        if refused is not None:
            return refused
        needs, has_grad = _grad_state(impl)
        if needs != self.needs:
            return (
                f"{_does(needs)} require grad, and {_did(self.needs)}; a gradient is recorded if "
                "backward or grad is called inside of the function"
            )
        if has_grad != self.has_grad:
            return f"{_has(has_grad)} a .grad, and {_had(self.has_grad)}"
        return self._difference_of_array(impl.array)

    def _difference_of_array(self, array: Array) -> str:
        assert self.geometry is not None
        shape, strides, dtype = self.geometry
        if array.shape != shape:
            return f"has shape {list(array.shape)}, and had {list(shape)}"
        if array.dtype != dtype:
            return f"is {array.dtype}, and was {dtype}"
        return f"has strides of {list(array.strides)} bytes, and had {list(strides)}"


def _does(yes: bool) -> str:
    return "does" if yes else "does not"


def _did(yes: bool) -> str:
    return "did" if yes else "did not"


def _has(yes: bool) -> str:
    return "has" if yes else "has not"


def _had(yes: bool) -> str:
    return "had one" if yes else "had none"


def _grad_state(impl: TensorImpl) -> tuple[bool, bool]:
    """Whether a tensor is a leaf that requires grad, and whether there is a ``.grad``."""
    meta = impl.autograd_meta
    cell = cell_of(impl)
    return meta is not None and meta.needs_gradient(), cell is not None and cell.grad is not None


def guard_of(impl: TensorImpl) -> Leaf:
    """The guard of a tensor that is met outside of the arguments."""
    guard = Leaf(TensorBase)
    guard.take_tensor(impl)
    return guard


def leaf_of(leaf: object) -> Leaf:
    """The guard of an argument that is recorded now; see `refusal`."""
    guard = Leaf(type(leaf))
    if isinstance(leaf, TensorBase):
        guard.take_tensor(leaf._impl)
    elif isinstance(leaf, np.ndarray):
        guard.geometry = leaf.shape, leaf.strides, leaf.dtype
    else:
        guard.value = leaf
    return guard


def first_mismatch(guards: Sequence[Leaf], leaves: Sequence[object]) -> Mismatch | None:
    """The first argument that is not as it was, by its number from 1 on."""
    for number, (guard, leaf) in enumerate(zip(guards, leaves, strict=False), 1):
        if not guard.fits(leaf):
            return Mismatch(f"argument {number} {guard.difference(leaf)}")
    if len(guards) != len(leaves):
        return Mismatch(f"there are {len(leaves)} arguments, and were {len(guards)}")
    return None
