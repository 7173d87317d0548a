"""What an operator writes lies in what it marks as written, and is stored after it was marked.

See Note [Exact staleness] and Note [Prepare, then store]. What breaks it: a kernel that tells other
elements than it writes, which lets a stale value pass; one that tells more than its indices
address, which refuses what is intact; one that writes while it prepares.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
import pytest

import vtgrad as vt
from tests.ops.calls import Case, arguments_of, cases, function_named
from tests.sweeping import by_table, sweep
from vtgrad.errors import DTypeError, ResultTypeError, ShapeError
from vtgrad.storage.arrays import Array
from vtgrad.storage.version_counter import VersionCounter
from vtgrad.storage.write_log import Region, WriteLog

# Of these only what their indices or masks address counts as written.
AT_INDICES: Final = frozenset(
    (
        *("scatter_src", "scatter_value", "scatter_add", "index_add", "index_copy", "put"),
        *(
            "index_fill_int_Scalar",
            "index_fill_int_Tensor",
            "masked_fill_Scalar",
            "masked_fill_Tensor",
        ),
        *("index_put_at", "masked_scatter", "scatter_reduce", "index_reduce"),
    )
)


def marked(log: WriteLog, target: vt.Tensor, before: int) -> Array:
    """Which elements of a tensor the log says were written since a version."""
    return np.array(
        [
            log.is_written((start, start + target.itemsize, None), before)
            for start in starts(target).ravel().tolist()
        ],
        np.bool_,
    ).reshape(tuple(target.shape))


def starts(target: vt.Tensor) -> Array:
    """The offset of each element in its storage, in bytes."""
    offsets = np.array(target.storage_offset())
    for size, stride in zip(target.shape, target.stride(), strict=True):
        offsets = offsets[..., None] + np.arange(size) * stride
    return offsets * target.itemsize


STRIDES: Final[dict[str, Callable[[vt.Tensor], vt.Tensor]]] = {
    "row-major": lambda x: x.clone(),
    "with gaps": lambda x: vt.stack([x, x], -1)[..., 1],
    "transposed": lambda x: (
        x.mT.clone(memory_format=vt.contiguous_format).mT if x.ndim > 1 else x.clone()
    ),
}


def with_log(target: vt.Tensor) -> WriteLog:
    """Let a tensor have a log, as if something had been saved from it."""
    return target._impl.own_log(target._impl.counter)


def can_be_written(case: Case) -> bool:
    """Whether the sample may be called in place: its result may have another shape or dtype."""
    values, options = arguments_of(case)
    try:
        function_named(case.operator.inplace or "")(*values, **options)
    except (DTypeError, ShapeError, ResultTypeError):
        return False
    return True


def written_and_marked(case: Case, strides: str, shift: float = 0.0) -> tuple[Array, Array] | None:
    """Write in place: which elements have changed, and which were marked."""
    values, options = arguments_of(case)
    first = values[0]
    assert isinstance(first, vt.Tensor)
    target = values[0] = STRIDES[strides](first + shift if shift else first)
    log, before = with_log(target), target._version
    old = target.numpy(force=True).copy()
    name = case.operator.inplace
    assert name is not None
    function_named(name)(*values, **options)
    if tuple(target.shape) != old.shape:
        return None
    new = target.numpy(force=True)
    changed = np.frombuffer(old.tobytes(), np.uint8) != np.frombuffer(new.tobytes(), np.uint8)
    return changed.reshape(*old.shape, -1).any(-1), marked(log, target, before)


INPLACE: Final = [
    case for case in cases(lambda operator: operator.inplace is not None) if can_be_written(case)
]


@pytest.mark.filterwarnings("ignore:.*drops the imaginary part")
@sweep(INPLACE, STRIDES, row=by_table)
def test_what_changes_was_marked(case: Case, strides: str) -> None:
    found = written_and_marked(case, strides)
    if found is None:
        pytest.skip("changes the geometry")
    changed, marks = found
    assert not (changed & ~marks).any()
    if case.operator.name in AT_INDICES:
        # What is addressed changes, if not from these values, then from smaller or larger ones.
        for shift in (-1000.0, 1000.0):
            more = written_and_marked(case, strides, shift)
            assert more is not None
            changed |= more[0]
        assert marks.tolist() == changed.tolist()


def test_most_index_operators_are_looked_at() -> None:
    assert len({case.operator.name for case in INPLACE} & AT_INDICES) > 9


INDEX_WRITES: Final[dict[str, Callable[[vt.Tensor], object]]] = {
    "x[1]": lambda x: x.__setitem__(1, 50.0),
    "x[-1]": lambda x: x.__setitem__(-1, 50.0),
    "x[1:, ::2]": lambda x: x.__setitem__((slice(1, None), slice(None, None, 2)), 50.0),
    "x[..., 0]": lambda x: x.__setitem__((..., 0), 50.0),
    "x[::-1]": lambda x: x.__setitem__((slice(None, None, -2)), 50.0),
    "x[[2, 0]]": lambda x: x.__setitem__([2, 0], 50.0),
    "x[[2, 0], [1, 1]]": lambda x: x.__setitem__(([2, 0], [1, 1]), 50.0),
    "x[:, [3]]": lambda x: x.__setitem__((slice(None), [3]), 50.0),
    "x[:, None, [3]]": lambda x: x.__setitem__((slice(None), None, [3]), 50.0),
    "x[1, [0, 3]]": lambda x: x.__setitem__((1, [0, 3]), 50.0),
    "x[x > 7]": lambda x: x.__setitem__(x > 7, 50.0),
    "x[rows]": lambda x: x.__setitem__(vt.tensor([True, False, True]), 50.0),
    "x[rows, 1:]": lambda x: x.__setitem__((vt.tensor([True, False, True]), slice(1, None)), 50.0),
    "x[:, columns]": lambda x: x.__setitem__((slice(None), [True, False, False, True]), 50.0),
    "x[x > 99]": lambda x: x.__setitem__(x > 99, 50.0),
    "x[[]]": lambda x: x.__setitem__(vt.tensor([], dtype=vt.int64), 50.0),
    "index_put_": lambda x: x.index_put_((vt.tensor([0, 2]), vt.tensor([3, 3])), vt.tensor(50.0)),
    "accumulate": lambda x: x.index_put_((vt.tensor([0, 0]),), vt.tensor(50.0), accumulate=True),
    "put_": lambda x: x.put_(vt.tensor([5, -1]), vt.tensor([50.0, 51.0])),
    "put_, added": lambda x: x.put_(vt.tensor([5, 5]), vt.tensor([50.0, 51.0]), accumulate=True),
    "select": lambda x: x.select(1, 2).fill_(50.0),
    "diagonal": lambda x: x.diagonal().zero_(),
    "narrow": lambda x: x.narrow(1, 1, 2).mul_(2),
    "unfold": lambda x: x[0].unfold(0, 2, 2).neg_(),
    "masked_scatter_": lambda x: x.masked_scatter_(x > 7, vt.full((9,), 50.0)),
    "masked_fill_": lambda x: x.masked_fill_(vt.tensor([True, False, False, True]), 50.0),
    "scatter_reduce_": lambda x: x.scatter_reduce_(
        1, vt.tensor([[0, 0]]), vt.tensor([[50.0, 60.0]]), "sum"
    ),
    "index_reduce_": lambda x: x.index_reduce_(0, vt.tensor([1]), vt.full((1, 4), 50.0), "amax"),
    "fill_diagonal_": lambda x: x.fill_diagonal_(50.0),
}


@pytest.mark.parametrize("strides", STRIDES)
@pytest.mark.parametrize("name", INDEX_WRITES)
def test_a_part_that_is_written_is_what_is_marked(name: str, strides: str) -> None:
    x = STRIDES[strides](vt.arange(1.0, 13.0).reshape(3, 4))
    log, before, old = with_log(x), x._version, x.tolist()
    INDEX_WRITES[name](x)
    changed = np.array(x.tolist()) != np.array(old)
    marks = marked(log, x, before)
    if name == "fill_diagonal_":
        # Its kernel does not tell which elements it writes.
        assert not (changed & ~marks).any()
    else:
        assert marks.tolist() == changed.tolist()


@pytest.mark.skipif(vt.__compiled__, reason="native calls go past the seam")
@pytest.mark.filterwarnings("ignore:.*drops the imaginary part")
@sweep(INPLACE, row=by_table)
def test_a_writer_leaves_memory_untouched_until_it_is_marked(case: Case) -> None:
    values, options = arguments_of(case)
    target = values[0]
    assert isinstance(target, vt.Tensor)
    with_log(target)
    before = target.numpy(force=True).tobytes()
    seen: list[bytes] = []
    note = WriteLog.note

    def noted(self: WriteLog, counter: VersionCounter, region: Region) -> int:
        seen.append(target.numpy(force=True).tobytes())
        return note(self, counter, region)

    name = case.operator.inplace
    assert name is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WriteLog, "note", noted)
        function_named(name)(*values, **options)
    if target.numpy(force=True).tobytes() != before:
        assert seen
        assert seen[0] == before
