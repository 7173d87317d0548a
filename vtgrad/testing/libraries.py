"""The library under test, and how its exceptions are named.

The same programs run on vtgrad and on PyTorch: a :class:`Library` is a module that offers the
names of PyTorch, how it tells kinds of error apart, and the manners in which it may differ.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Protocol

from .custom import Rule
from .model import Manners

__all__ = ["Library", "TensorLike", "torch_library", "vtgrad_library"]


class StorageLike(Protocol):
    """What the suite asks of a storage."""

    def data_ptr(self) -> int:
        """Address of the buffer."""


class TensorLike(Protocol):
    """What the suite observes of a tensor."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes."""

    @property
    def dtype(self) -> object:
        """Element type."""

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are recorded."""

    @property
    def is_leaf(self) -> bool:
        """Whether there is no grad_fn."""

    @property
    def grad_fn(self) -> object:
        """The node that made it."""

    @property
    def grad(self) -> "TensorLike | None":
        """The accumulated gradient."""

    @property
    def _version(self) -> int: ...

    @property
    def _base(self) -> object: ...

    def _is_view(self) -> bool: ...

    def is_inference(self) -> bool:
        """Whether it was made in inference mode."""

    def stride(self) -> tuple[int, ...]:
        """Strides in elements."""

    def storage_offset(self) -> int:
        """Offset in elements."""

    def untyped_storage(self) -> StorageLike:
        """The storage."""

    def tolist(self) -> object:
        """Values as nested lists."""


@dataclass(frozen=True)
class Library:
    """A library to run programs on.

    Attributes
    ----------
    kind : callable
        Maps an exception to the identifier of its kind, or to None if it is no error that a
        program may meet.
    careful : bool
        Whether programs are written around known faults; see `Step.source`.
    frees_promptly : bool
        Whether everything must be gone, without the garbage collector, once a program has ended.
    rules : mapping
        Operators of the user's, by name. Where there are any, numbers are compared to rounding.
    names : callable
        Makes what the text of steps calls beside ``vt`` and the operators of the user's.
    prelude : tuple of str
        Definitions of these names, which are printed above a program that uses them.
    around : callable or None
        Makes the context that every step is run in; None for the rule for saved values that
        `manners` say.
    """

    name: str
    module: ModuleType
    kind: Callable[[Exception], str | None]
    manners: Manners
    careful: bool = False
    frees_promptly: bool = True
    rules: Mapping[str, Rule] = field(default_factory=dict)
    names: Callable[[], Mapping[str, object]] = dict
    prelude: tuple[str, ...] = ()
    around: Callable[[], AbstractContextManager[object]] | None = None


def vtgrad_library(module: ModuleType, *, exact: bool = True) -> Library:
    """Describe vtgrad (`module` is the imported package) under one of its rules for saved values.

    Parameters
    ----------
    exact : bool
        Whether elements count, or, as in PyTorch, any write to the storage.
    """
    return Library("vtgrad", module, _declared_kind, Manners(exact=exact))


def _declared_kind(error: Exception) -> str | None:
    kind = getattr(error, "kind", None)
    return kind if isinstance(kind, str) else None


def torch_library(module: ModuleType) -> Library:
    """Describe PyTorch (`module` is the imported ``torch``)."""
    manners = Manners(
        all_or_nothing=False,
        fills_repeated=False,
        rearranges_hooked=False,
        keeps_retained=False,
        unread_views_are_leaves=True,
        unused_is_found_late=True,
        refuses_before_writing=False,
        builds_in_steps=True,
        exact=False,
    )
    return Library("torch", module, _torch_kind, manners, careful=True, frees_promptly=False)


#: Distinguishing words of PyTorch's messages, the more special ones first.
_TORCH_WORDS: tuple[tuple[str, str], ...] = (
    ("function that returns multiple views", "multi-output-view"),
    ("created inside a custom Function", "custom-function-view"),
    ("view was created in no_grad mode", "no-grad-view"),
    ("which was created in no_grad mode", "no-grad-view"),
    ("Inference tensors cannot be saved", "inference-saved"),
    ("created in inference mode", "inference-view"),
    ("Inplace update to inference tensor", "inference-write"),
    ("inference tensor outside InferenceMode", "inference"),
    ("a view of a leaf Variable", "view-of-leaf-write"),
    ("a leaf Variable that requires grad", "leaf-write"),
    ("modified by an inplace operation", "stale-saved"),
    ("backward through the graph a second time", "graph-freed"),
    ("has been detached in-place", "saved-detached"),
    ("Can't detach views in-place", "detach-view"),
    ("more than one element of the written-to tensor", "self-overlap"),
    ("some elements of the input tensor", "input-overlap"),
    ("does not require grad and does not have a grad_fn", "root"),
    ("appears to not have been used", "unused-input"),
    ("does not require grad", "grad-required"),
    ("can't retain_grad on Tensor that has requires_grad=False", "grad-required"),
    ("cannot register a hook on a tensor", "grad-required"),
    ("you can only change requires_grad flags of leaf", "requires-grad"),
    ("cannot resize variables that require grad", "resize"),
    ("out of bounds for storage", "out-of-bounds"),
    ("Dimension out of range", "dimension"),
    ("cannot resize variables", "resize"),
    ("shape mismatch", "shape"),
    ("out of range", "index"),
    ("out of bounds", "index"),
    ("too many indices", "index"),
    ("must match", "shape"),
    ("is not valid for input of size", "shape"),
    ("shape", "shape"),
    ("size", "shape"),
)


def _torch_kind(error: Exception) -> str | None:
    text = str(error)
    return next((kind for words, kind in _TORCH_WORDS if words in text), None)
