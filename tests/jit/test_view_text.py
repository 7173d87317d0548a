"""Views are written as slices where they can be, and are the same view of the same elements."""

from typing import NamedTuple, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vtgrad.jit.columns import Tables
from vtgrad.jit.literals import Imports
from vtgrad.jit.view_text import Base, view_text
from vtgrad.storage.arrays import Array


def address(array: Array) -> int:
    start: int = array.__array_interface__["data"][0]
    return start


def text_of(base: Array, views: list[Array]) -> tuple[str, dict[str, object]]:
    """The text of a view that moves with a loop over `t`, and the names that it needs."""
    imports = Imports()
    tables = Tables(imports, lambda name: name)
    first = views[0]
    text = view_text(
        Base("base", base.dtype, base.shape),
        first.dtype,
        first.shape,
        first.strides,
        np.array([address(view) - address(base) for view in views]),
        lambda values: tables.index(values, ["t"]),
        imports,
    )
    names: dict[str, object] = {"base": base}
    exec("\n".join([*imports.lines(), *tables.lines]), names)
    return text, names


def check(base: Array, views: list[Array]) -> str:
    """Evaluate the text for each repetition and compare the views."""
    text, names = text_of(base, views)
    for t, view in enumerate(views):
        found = eval(text, {**names, "t": t})
        assert isinstance(found, np.ndarray), text
        assert found.shape == view.shape, text
        assert found.dtype == view.dtype, text
        assert address(found) == address(view), text
        for size, a, b in zip(view.shape, found.strides, view.strides, strict=True):
            assert size < 2 or a == b, text
    return text


LEVEL = np.zeros((6, 4, 3))


@pytest.mark.parametrize(
    ("views", "text"),
    [
        ([LEVEL], "base"),
        ([LEVEL[t] for t in range(6)], "base[t]"),
        ([LEVEL[5 - t, :, 1] for t in range(6)], "base[5 - t, :, 1]"),
        ([LEVEL[2 * t : 2 * t + 2] for t in range(3)], "base[2 * t:2 * t + 2]"),
        ([LEVEL[:, 1:, ::2]], "base[:, 1:, ::2]"),
        ([LEVEL[0, 3, 2, ...]], "base[0, 3, 2, ...]"),
        ([LEVEL[::-1]], "base[5::-1]"),
        ([LEVEL.T], "base.T"),
        ([LEVEL[2].T], "base[2].T"),
        ([LEVEL[1:3].transpose(0, 2, 1)], "base[1:3].transpose(0, 2, 1)"),
        ([LEVEL[:, None, 2]], "base[:, 2:3]"),
        ([LEVEL[:, :, None]], "base[:, :, None]"),
        ([LEVEL[1].reshape(2, 6)], "base[1].reshape((2, 6))"),
        ([LEVEL.reshape(-1)[5:17]], "base.reshape(-1)[5:17]"),
        (
            [LEVEL[3].reshape(2, 2, 3).transpose(1, 0, 2)],
            "base[3].reshape((2, 2, 3)).transpose(1, 0, 2)",
        ),
        ([LEVEL[n, 0] for n in (4, 0, 3)], "base[order[t], 0]"),
        (
            [LEVEL.view(np.complex128)] if LEVEL.shape[-1] % 2 == 0 else [LEVEL[:, 3:]],
            "base[:, 3:]",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_views_are_written_as_slices(views: list[Array], text: str) -> None:
    assert check(LEVEL, views) == text


def test_what_slices_cannot_say_is_a_constructor() -> None:
    base = np.zeros(12)
    windows = np.lib.stride_tricks.sliding_window_view(base, 4)
    text = check(base, [windows])
    assert text == "ndarray((9, 4), float64, base, 0, (8, 8))"


def test_a_slice_backwards_to_the_start_that_moves() -> None:
    """Its end is -1 in one repetition, which would mean the last element."""
    base = np.zeros(8)
    views = [base[t + 2 :: -1][:3] for t in range(3)]
    assert [view.shape for view in views] == [(3,)] * 3
    check(base, views)


DTYPES = [np.float64, np.float32, np.complex128, np.uint8]


class Part(NamedTuple):
    """What is taken of one axis: an element if the length is 0; `move` is added for each `t`."""

    start: int
    move: int
    length: int
    step: int


@st.composite
def moving_views(draw: st.DrawFn) -> tuple[Array, list[Array]]:
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=0, max_size=4)))
    base: Array = np.zeros(shape, draw(st.sampled_from(DTYPES)))
    count = draw(st.integers(1, 4))
    rng = draw(st.randoms(use_true_random=False))
    parts = []
    for size in shape:
        length = rng.choice((0, size, rng.randint(1, size)))
        step = rng.choice((1, 1, 2, -1, -2))
        start = 0 if length == size and step == 1 else rng.randrange(size)
        parts.append(Part(start, rng.choice((-1, 0, 1)), length, step))
    views: list[Array] = []
    rest = rng.getrandbits(32)
    for t in range(count):
        view = _taken(base, parts, t)
        if view is None:
            break
        views.append(_rearranged(view, rest))
    if not views or len({(x.shape, x.strides) for x in views}) > 1:
        views = [base]
    return base, views


def _taken(base: Array, parts: list[Part], t: int) -> Array | None:
    """The part of a base in one repetition; None if it does not fit."""
    index: list[object] = []
    for part, size in zip(parts, base.shape, strict=True):
        first = part.start + t * part.move
        last = first + part.step * max(part.length - 1, 0)
        if not (0 <= first < size and 0 <= last < size):
            return None
        stop = last + (1 if part.step > 0 else -1)
        index.append(slice(first, None if stop < 0 else stop, part.step) if part.length else first)
    found: Array = base[cast("tuple[slice, ...]", (*index, ...))]
    return found


def _rearranged(view: Array, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    for _ in range(int(rng.integers(0, 3))):
        kind = int(rng.integers(5))
        if kind == 0:
            view = view.transpose(rng.permutation(view.ndim))
        elif kind == 1:
            view = np.expand_dims(view, int(rng.integers(view.ndim + 1)))
        elif kind == 2:
            view = np.broadcast_to(view, (2, *view.shape))
        elif kind == 3 and view.flags.c_contiguous:
            view = view.reshape(-1)
        elif kind == 4 and view.ndim and view.flags.c_contiguous and view.itemsize > 4:
            view = view.view(np.float32)
    return view


@given(moving_views())
def test_random_views_that_move(case: tuple[Array, list[Array]]) -> None:
    check(*case)
