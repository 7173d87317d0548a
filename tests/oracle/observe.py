"""Everything that a program can see of its tensors, in a form that compares across libraries.

Identity, aliasing and graph nodes are written as labels: the first place where the same object
was met. Equal labels on both sides mean equal relations, whatever the addresses are.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from tests.oracle.kinds import kind_of
from tests.oracle.side import TensorLike, opaque_of
from vtgrad.testing.interpreter import Interpreter

Array = npt.NDArray[Any]
DEPTH = 3


@dataclass
class Snapshot:
    """The observables of every tensor of a program at one moment.

    Attributes
    ----------
    fields : dict
        Observables by name of tensor.
    tensors : dict
        The tensors, and the gradients they hold, by name.
    values : dict
        Copies of their values at the moment. (Copies by the library: an array on the tensor's
        own memory would pin PyTorch's storage, which then refuses to be resized.)
    keep : list
        Whatever was labelled by its address, so that no address is used twice.
    """

    fields: dict[str, dict[str, object]] = field(default_factory=dict)
    tensors: dict[str, TensorLike] = field(default_factory=dict)
    values: dict[str, Array] = field(default_factory=dict)
    keep: list[Any] = field(default_factory=list)

    def add_values(self, name: str, tensor: TensorLike) -> None:
        """Take down a tensor's values."""
        self.tensors[name] = tensor
        self.values[name] = tensor.detach().clone().numpy()


class Labels:
    """Names objects by the place where they were first met."""

    known: dict[int, str]

    def __init__(self) -> None:
        self.known = {}

    def label(self, key: int, here: str) -> str:
        """The label of this key, which is ``here`` when it was not met before."""
        return self.known.setdefault(key, here)


def dtype_name(dtype: object) -> str:
    """``float64`` for a library's float64."""
    return str(dtype).rsplit(".", 1)[-1]


def graph(node: Any, path: str, depth: int, nodes: Labels, snap: Snapshot, opaque: set[int]) -> Any:
    """A node with its producers down to ``depth``, each node spelled out once."""
    if node is None:
        return None
    if id(node) in opaque:
        return "<made by differentiation>"
    snap.keep.append(node)
    label = nodes.label(id(node), path)
    if label != path:
        return f"= {label}"
    if depth == 0:
        return names_of(node)
    producers = node.next_functions
    snap.keep.append(producers)
    # PyTorch repeats each of several views by a node; a replay here keeps one geometry for them.
    while "AsStridedBackward0" in names_of(node) and len(producers) == 1:
        inner = producers[0][0]
        if inner is None or id(inner) in opaque or names_of(inner) != names_of(node):
            break
        producers = inner.next_functions
        snap.keep.append(producers)
    return (
        *names_of(node),
        tuple(
            (graph(child, f"{path}.{k}", depth - 1, nodes, snap, opaque), number)
            for k, (child, number) in enumerate(producers)
        ),
    )


def names_of(node: Any) -> tuple[str, str]:
    """A node's name and class, one for all that show the whole tensor again.

    A dual tensor has another one of these in PyTorch than in vtgrad, and an unpacked value too.
    """
    name = node.name()
    if name in ("AliasBackward0", "ViewBackward0", "torch::autograd::Identity"):
        return "ViewBackward0", "ViewBackward0"
    return name, type(node).__name__


def plain(value: Any) -> object:
    """A result that is no tensor, in words that do not name the library."""
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, int | float | complex | str):
        return value
    return type(value).__name__


def storage_label(tensor: TensorLike, here: str, storages: Labels) -> tuple[str, int, int]:
    """Which tensors share this one's buffer, the buffer's size, and where the data starts."""
    storage = tensor.untyped_storage()
    size = int(storage.nbytes())
    if size == 0 or tensor.numel() == 0:
        return ("", size, 0)
    start = storage.data_ptr()
    return (storages.label(start, here), size, tensor.data_ptr() - start)


def reading(tensor: TensorLike, attribute: str) -> Any:
    """An attribute, or the kind of error that reading it raises."""
    try:
        return getattr(tensor, attribute)
    except RuntimeError as error:
        return (
            "internal assertion" if "INTERNAL ASSERT" in str(error) else f"raises {kind_of(error)}"
        )


class Observer:
    """Takes down the state of one side again and again.

    Parameters
    ----------
    side : Interpreter
        The side.
    """

    def __init__(self, side: Interpreter) -> None:
        self.side = side
        self._previous_grads: dict[str, TensorLike] = {}

    def observe(self, deep: bool) -> Snapshot:
        """Take down the state of all tensors; ``deep`` reads the graph, which rebuilds views."""
        return _observe(self.side, self._previous_grads, deep)


def observe_grad(
    previous_grads: dict[str, TensorLike],
    name: str,
    tensor: TensorLike,
    storages: Labels,
    snap: Snapshot,
) -> object:
    """``.grad`` without its layout when it is not a leaf's."""
    grad = reading(tensor, "grad")
    if isinstance(grad, str):
        return grad
    before = previous_grads.get(name)
    if grad is None:
        previous_grads.pop(name, None)
        return None
    snap.keep.append(grad)
    previous_grads[name] = grad
    snap.add_values(f"{name}.grad", grad)
    return (
        dtype_name(grad.dtype),
        tuple(grad.shape),
        bool(grad.requires_grad),
        "same object" if before is grad else "new object",
        storage_label(grad, f"{name}.grad", storages)[0],
        grad._is_view(),
    )


def observe_tangent(
    side: Interpreter, name: str, tensor: TensorLike, storages: Labels, snap: Snapshot
) -> object:
    """The tangent, and what else is on its memory.

    Its layout there is each library's own, and so is whether it is recorded: PyTorch's may require
    grad where it depends on nothing that does.
    """
    tangent: TensorLike = side.library.tangent(tensor)
    if tangent is None:
        return None
    snap.keep.append(tangent)
    snap.add_values(f"{name}.tangent", tangent)
    return (
        dtype_name(tangent.dtype),
        tuple(tangent.shape),
        storage_label(tangent, f"{name}.tangent", storages)[0],
    )


def _observe(side: Interpreter, previous_grads: dict[str, TensorLike], deep: bool) -> Snapshot:
    snap = Snapshot()
    objects, storages, bases, nodes = Labels(), Labels(), Labels(), Labels()
    opaque = {id(node) for node in opaque_of(side) if node is not None}
    tensors = side.tensors()
    has_level = side.has_level()
    for name, value in side.variables().items():
        if name not in tensors:
            snap.fields[name] = {"value": plain(value)}
    for name, tensor in tensors.items():
        objects.label(id(tensor), name)
    for name, tensor in tensors.items():
        seen: dict[str, object] = {}
        snap.fields[name] = seen
        same = objects.known[id(tensor)]
        seen["object"] = same
        if same != name:
            continue
        base = tensor._base
        snap.keep.append(base)
        seen["shape"] = tuple(tensor.shape)
        seen["dtype"] = dtype_name(tensor.dtype)
        seen["stride"] = tensor.stride()
        seen["storage_offset"] = tensor.storage_offset()
        inference = seen["is_inference"] = tensor.is_inference()
        # PyTorch gives some inference tensors a version, see the list of intended differences.
        seen["_version"] = None if inference else reading(tensor, "_version")
        seen["requires_grad"] = tensor.requires_grad
        seen["_is_view"] = tensor._is_view()
        seen["is_conj"], seen["is_neg"] = tensor.is_conj(), tensor.is_neg()
        if base is None:
            seen["_base"] = None
        else:
            seen["_base"] = objects.known.get(id(base)) or bases.label(id(base), f"root of {name}")
        seen["storage"] = storage_label(tensor, name, storages)
        seen["retains_grad"] = tensor.retains_grad
        snap.add_values(name, tensor)
        if deep:
            fn = reading(tensor, "grad_fn")
            seen["grad_fn"] = (
                fn if isinstance(fn, str) else graph(fn, name, DEPTH, nodes, snap, opaque)
            )
            seen["is_leaf"] = reading(tensor, "is_leaf")
            seen["output_nr"] = tensor.output_nr
    for name, tensor in tensors.items():
        seen = snap.fields[name]
        # Reading ``.grad`` asks whether the tensor is a leaf, which rebuilds a stale view.
        if seen["object"] == name and (deep or not seen["_is_view"]):
            seen["grad"] = observe_grad(previous_grads, name, tensor, storages, snap)
            if has_level:
                # Reading that of a view may make it.
                seen["tangent"] = observe_tangent(side, name, tensor, storages, snap)
    return snap
