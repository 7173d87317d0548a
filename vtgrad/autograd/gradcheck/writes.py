"""Checking functions that may write to their arguments.

Note [Functions that write]

A leaf that requires grad cannot be written, so the function gets copies. One call is watched for
each arrangement: memory and versions before and after it tell which arguments it writes. Then
the function from the arguments, *and from what lies beside them in memory*, to its results, *and to
the whole memory that was written*, is checked like any other. So a gradient of an element that the
function must leave alone is checked to arrive unchanged.

A version that moved although no byte differs is no mistake where the same bytes were stored again.
To tell, the function is called once more with memory that NumPy does not let be written: a store
raises there, a version that moves without one does not.
"""

from __future__ import annotations

from typing import NamedTuple

from vtgrad.autograd.gradcheck.arrangements import ALONE, IN_LARGER_MEMORY, Arrangement
from vtgrad.autograd.gradcheck.check import check
from vtgrad.autograd.gradcheck.overlapping import check_overlapping
from vtgrad.autograd.gradcheck.placement import Placed, Placement, Snapshot, outputs_of
from vtgrad.autograd.gradcheck.settings import Settings
from vtgrad.autograd.gradcheck.subject import Subject
from vtgrad.errors import GradcheckError
from vtgrad.tensor.tensor import Tensor

__all__ = ["check_with_writes"]


class _Seen(NamedTuple):
    """What a call of the function did.

    Attributes
    ----------
    returned : int
        How many tensors it returned.
    written : tuple of int
        The arguments whose memory it wrote.
    """

    returned: int
    written: tuple[int, ...]


def check_with_writes(subject: Subject, settings: Settings) -> None:
    """Check a function that may write to its arguments. See Note [Functions that write].

    Raises
    ------
    GradcheckError
        If something is wrong.
    """
    alone = Placement.of(subject, ALONE)
    seen = _watched(alone)
    check(_placed_subject(alone, seen), settings)
    once = settings._replace(check_undefined_grad=False)
    for arrangement in IN_LARGER_MEMORY:
        if _applies(arrangement, subject):
            placement = Placement.of(subject, arrangement)
            check(_placed_subject(placement, _watched(placement)), once)
            # How backward looks at a gradient is the same for all views.
            once = once._replace(check_linear=False)
    for nr in seen.written:
        check_overlapping(subject, nr, once._replace(check_linear=False))


def _applies(arrangement: Arrangement, subject: Subject) -> bool:
    """Whether an arrangement differs from that of plain copies."""
    shapes = [tuple(x.shape) for x in subject.arguments if isinstance(x, Tensor)]
    return any(arrangement.shape(s) != s or len(s) > 1 for s in shapes)


def _placed_subject(placement: Placement, seen: _Seen) -> Subject:
    """The function on placed copies; see Note [Functions that write]."""
    subject, count = placement.subject, len(placement.subject.arguments)
    varied = placement.varied

    def function(*arguments: object) -> list[Tensor]:
        given, around = arguments[:count], dict(placement.surroundings)
        for nr, x in zip(varied, arguments[count:], strict=True):
            assert isinstance(x, Tensor)
            around[nr] = x
        placed = placement.place(given, around)
        outputs = outputs_of(subject.function(*placed.arguments))
        return [*outputs, *(placed.memories[nr] for nr in seen.written)]

    where = _described(placement.arrangement)
    return Subject(
        function,
        (*subject.arguments, *varied.values()),
        (*subject.inputs, *varied.values()),
        (
            *(f"{name}{where}" for name in subject.input_names),
            *(f"what lies beside input {nr}{where}" for nr in varied),
        ),
        (
            *(f"output {nr}" for nr in range(seen.returned)),
            *(f"the memory of input {nr}" for nr in seen.written),
        ),
    )


def _described(arrangement: Arrangement) -> str:
    """The arrangement, behind the name of an argument."""
    return "" if arrangement.is_alone else f" ({arrangement.name})"


def _watched(placement: Placement) -> _Seen:
    """Call the function once, and compare what it did to memory with what versions say.

    Raises
    ------
    GradcheckError
        If memory was written and its version did not move, or the reverse, or if memory beside an
        argument was written.
    """
    placed = placement.place(placement.subject.arguments)
    before = Snapshot(placed)
    returned = outputs_of(placement.subject.function(*placed.arguments))
    after = Snapshot(placed)
    written = []
    for nr in placed.memories:
        name = f"argument {nr}{_described(placement.arrangement)}"
        moved = after.versions[nr] != before.versions[nr]
        if after.bytes[nr] != before.bytes[nr]:
            _check_written(placement, nr, name, (before.bytes[nr], after.bytes[nr]), moved=moved)
            written.append(nr)
        elif moved and before.geometries[nr] == after.geometries[nr]:
            _check_stores(placement, nr, name)
            written.append(nr)
    return _Seen(len(returned), tuple(written))


def _check_written(
    placement: Placement, nr: int, name: str, contents: tuple[bytes, bytes], *, moved: bool
) -> None:
    """Check that a write was counted, and stayed within the argument."""
    if not moved:
        raise GradcheckError(
            f"the function has changed the memory of {name} but not its version, so that saved "
            "values which are overwritten go unnoticed: write through operators, or call "
            "vtgrad.autograd.graph.increment_version",
            check="unseen-write",
            argument=nr,
        )
    before, after = contents
    if placement.arrangement.is_alone or len(before) != len(after):
        # Nothing lies beside it, or the memory has grown.
        return
    if placement.beside(nr, before) != placement.beside(nr, after):
        raise GradcheckError(
            f"the function has written beside {name}, to memory that is not the argument's",
            check="write-beside",
            argument=nr,
        )


def _check_stores(placement: Placement, nr: int, name: str) -> None:
    """Check that a version which moved, although no byte differs, tells of a store.

    See Note [Functions that write].
    """
    placed = _locked(placement, nr)
    memory = placed.memories[nr]
    version = memory._version
    try:
        placement.subject.function(*placed.arguments)
    except (ValueError, RuntimeError):
        return
    x = placement.subject.arguments[nr]
    if memory._version != version and isinstance(x, Tensor) and x.numel():
        raise GradcheckError(
            f"the function has moved the version of {name}, but has not written to it, so that "
            "saved values are refused without a reason",
            check="version-without-write",
            argument=nr,
        )


def _locked(placement: Placement, nr: int) -> Placed:
    """Placed arguments, one of which cannot be written."""
    arguments = placement.subject.arguments
    placed = placement.place(arguments)
    memory, x = placed.memories[nr], arguments[nr]
    assert isinstance(x, Tensor)
    # Views are made of the one or of the other.
    memory._impl.array.flags.writeable = False
    memory._impl.storage.flat.flags.writeable = False
    # A view that was made before could still be written.
    fresh = placement.arrangement.part(memory, tuple(x.shape))
    old = placed.arguments[nr]
    return Placed(tuple(fresh if y is old else y for y in placed.arguments), placed.memories)
