# Compiled by mypyc.
"""What few tensors have beside memory, geometry, version and autograd metadata."""

from __future__ import annotations

from typing import Final, TypeAlias

from vtgrad.storage.device import Device
from vtgrad.storage.key_set import BATCHED, LANE, NAMED, TORCH_FUNCTION
from vtgrad.storage.version_counter import VersionCounter

__all__ = ["NOTHING", "AliasList", "ExtraMeta", "Names", "StandsFor", "extra_of_lane"]

# The name of each dimension; None for a dimension without one.
Names: TypeAlias = tuple[str | None, ...]


class StandsFor:
    """What a tensor without memory of its own stands for: a part of the values of another tensor.

    A base class, because this module is below that of tensors.
    """

    __slots__ = ()

    def counter(self) -> VersionCounter | None:
        """The version counter of the tensor that has the memory; None for version 0."""
        raise NotImplementedError

    def version(self) -> int:
        """The version of that tensor; raises for an inference tensor."""
        raise NotImplementedError


class AliasList:
    """Where `TensorImpl.alias` adds each new alias of a tensor. A base class, as above."""

    __slots__ = ()

    def add(self, impl: object) -> None:
        """Take note of the impl of an alias."""
        raise NotImplementedError


class ExtraMeta:
    """The rare properties of a tensor, which are never changed: a tensor gets others as a whole.

    Attributes
    ----------
    named_tensor_meta : tuple of (str or None) or None
        A name or None for each dimension; None if no dimension has a name.
    device : Device or None
        Where the memory is; None for the CPU.
    stands_for : StandsFor or None
        What the tensor stands for, if it has no memory; see Note [Batched tensors].
    aliases : AliasList or None
        Where new aliases are added, which have the same list.
    overrides : bool
        Whether the class of the tensor has a ``__torch_function__`` of its own; aliases, whose
        objects may be of another class, do not inherit it.
    key_set : int
        The keys that follow from these, see Note [Keys].
    """

    __slots__ = ("aliases", "device", "key_set", "named_tensor_meta", "overrides", "stands_for")

    named_tensor_meta: Names | None
    device: Device | None
    stands_for: StandsFor | None
    aliases: AliasList | None
    overrides: bool
    key_set: int

    def __init__(
        self,
        named_tensor_meta: Names | None = None,
        device: Device | None = None,
        stands_for: StandsFor | None = None,
        aliases: AliasList | None = None,
        overrides: bool = False,
    ) -> None:
        self.named_tensor_meta = named_tensor_meta
        self.device = device
        self.stands_for = stands_for
        self.aliases = aliases
        self.key_set = (0 if named_tensor_meta is None else NAMED) | (0 if device is None else LANE)
        if stands_for is not None:
            self.key_set |= BATCHED
        self.overrides = overrides
        if overrides:
            self.key_set |= TORCH_FUNCTION

    def with_names(self, names: Names | None) -> ExtraMeta:
        """The same with other names; None, or only None in them, for no names."""
        if names is not None and names.count(None) == len(names):
            names = None
        return ExtraMeta(names, self.device, self.stands_for, self.aliases, self.overrides)

    def with_device(self, device: Device) -> ExtraMeta:
        """The same on a lane."""
        return ExtraMeta(
            self.named_tensor_meta, device, self.stands_for, self.aliases, self.overrides
        )

    def with_aliases(self, aliases: AliasList) -> ExtraMeta:
        """The same, with a list to which new aliases are added."""
        return ExtraMeta(
            self.named_tensor_meta, self.device, self.stands_for, aliases, self.overrides
        )

    def with_overrides(self) -> ExtraMeta:
        """The same, of a tensor whose class has a ``__torch_function__``."""
        return ExtraMeta(
            self.named_tensor_meta, self.device, self.stands_for, self.aliases, overrides=True
        )


# What a tensor has that has nothing beside the rest.
NOTHING: Final = ExtraMeta()

_of_lanes: Final[dict[Device, ExtraMeta]] = {}


def extra_of_lane(lane: Device) -> ExtraMeta:
    """The properties of a tensor that is on a lane, and is like any other in all else."""
    found = _of_lanes.get(lane)
    return _of_lanes.setdefault(lane, ExtraMeta(None, lane)) if found is None else found
