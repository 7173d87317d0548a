"""The library under test, and how its exceptions are named.

The same programs run on vtgrad and on PyTorch: a :class:`Library` is a module that offers the
names of PyTorch, how it tells kinds of error apart, and the manners in which it may differ.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from types import ModuleType
from typing import Protocol

from vtgrad.graph.audit import set_audit
from vtgrad.storage.rewind import allow_mutation_on_saved_tensors
from vtgrad.testing.custom import Rule
from vtgrad.testing.model import Manners
from vtgrad.testing.torch_errors import likely_kind

__all__ = [
    "Library",
    "TensorLike",
    "torch_library",
    "vtgrad_library",
    "with_audit",
    "with_rewind",
]


class StorageLike(Protocol):
    """What the suite asks of a storage."""

    def data_ptr(self) -> int:
        """Address of the buffer."""
        ...


class TensorLike(Protocol):
    """What the suite observes of a tensor."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes."""
        ...

    @property
    def dtype(self) -> object:
        """Element type."""
        ...

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are recorded."""
        ...

    @property
    def is_leaf(self) -> bool:
        """Whether there is no grad_fn."""
        ...

    @property
    def grad_fn(self) -> object:
        """The node that made it."""
        ...

    @property
    def grad(self) -> "TensorLike | None":
        """The accumulated gradient."""
        ...

    @property
    def _version(self) -> int: ...

    @property
    def _base(self) -> object: ...

    def _is_view(self) -> bool: ...

    def is_inference(self) -> bool:
        """Whether it was made in inference mode."""
        ...

    def stride(self) -> tuple[int, ...]:
        """Strides in elements."""
        ...

    def storage_offset(self) -> int:
        """Offset in elements."""
        ...

    def untyped_storage(self) -> StorageLike:
        """The storage."""
        ...

    def tolist(self) -> object:
        """Values as nested lists."""
        ...


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
    block : str
        The ``with`` statement that says the same, which is printed around a program; empty if none
        is needed.
    twin_block : str
        That around the program's twin, on the other library.
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
    block: str = ""
    twin_block: str = ""

    def tangent(self, tensor: TensorLike) -> TensorLike | None:
        """Return the tangent of a tensor; nothing is recorded."""
        with self.module.no_grad():
            try:
                unpacked = self.module.autograd.forward_ad.unpack_dual(tensor)
            except RuntimeError:
                if not self.careful:
                    raise
                return None  # PyTorch takes it for an inference tensor, and for none
        found: TensorLike | None = unpacked.tangent
        return found

    def has_level(self) -> bool:
        """Whether the level of forward mode is open, of which a process has one."""
        forward = self.module.autograd.forward_ad
        probe = self.module.zeros(())
        return forward.unpack_dual(probe).primal is not probe

    def close_level(self) -> None:
        """Close the level of forward mode, of which a process has one, if it is open."""
        forward = self.module.autograd.forward_ad
        with suppress(RuntimeError):
            forward.exit_dual_level()


def vtgrad_library(module: ModuleType, *, exact: bool = True) -> Library:
    """Describe vtgrad (`module` is the imported package) under one of its rules for saved values.

    Parameters
    ----------
    exact : bool
        Whether elements count, or, as in PyTorch, any write to the storage.
    """
    return Library("vtgrad", module, _declared_kind, Manners(exact=exact))


def with_rewind(library: Library) -> Library:
    """Return vtgrad, with bytes kept that are overwritten: no saved value becomes stale."""
    manners = replace(library.manners, exact=True, rewinds=True)
    block = "with vt.autograd.graph.allow_mutation_on_saved_tensors():"
    around = allow_mutation_on_saved_tensors
    return replace(library, manners=manners, around=around, block=block)


def with_audit(library: Library) -> Library:
    """Return vtgrad, with saved values compared when they are used."""
    manners, block = replace(library.manners, exact=True), "with vt.autograd.graph.set_audit(True):"
    return replace(library, manners=manners, around=partial(set_audit, True), block=block)


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
        exact_tangents=False,
    )
    return Library("torch", module, likely_kind, manners, careful=True, frees_promptly=False)
