"""The counter by which a saved value learns that it was overwritten."""

from __future__ import annotations

from types import CodeType
from typing import TYPE_CHECKING, Final, TypeAlias

from .arrays import Shape
from .layout import Layout

if TYPE_CHECKING:
    from .write_log import WriteLog

__all__ = [
    "INFERENCE",
    "Record",
    "Site",
    "VersionCounter",
    "WrittenPart",
]

# A line of a program: its code, and which of its instructions; see Note [Who wrote].
Site: TypeAlias = tuple[CodeType, int]

# A view that was written through: its layout, or its shape and the size of its elements if it has
# none of its own; its offset in bytes; the class of the node that produced it; and the place where
# that was made, which is known in anomaly mode only.
WrittenPart: TypeAlias = tuple[Layout | tuple[Shape, int], int, type[object] | None, object]

# One write: the version that it made, the operator, where (if anybody called), on which thread, and
# through which view.
Record: TypeAlias = tuple[int, str, CodeType | None, int, int, WrittenPart | None]


class VersionCounter:
    """How often a buffer was written; one object for a tensor and all its aliases.

    Attributes
    ----------
    value : int
        Number of writes so far. Changed by the write funnel and by `count_write`, see
        Note [The write funnel]; a number is never used twice.
    writes : list of Record, optional
        The last writes, by version; made by the first write. See Note [Who wrote].
    log : WriteLog or None
        Which elements were written, once something was saved: see Note [Exact staleness].
    """

    __slots__ = ("log", "value", "writes")

    log: WriteLog | None
    value: int
    writes: list[Record | None] | None

    def __init__(self, value: int = 0) -> None:
        self.value = value
        self.writes = None
        self.log = None


# In the place of the counter of every inference tensor; see Note [Inference tensors].
INFERENCE: Final = VersionCounter()
