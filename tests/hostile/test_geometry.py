"""Geometry with hostile sizes, strides, offsets and dimensions, at every door to it.

What breaks it: a crash; a tensor that reaches outside of its buffer, or whose geometry is not
made of plain integers; an error that the library does not document; a call that fails and leaves
something changed.
"""

from __future__ import annotations

import math
import mmap
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vtgrad as vt
from tests.hostile.state import Guarded, Snapshot, assert_inside, guarded, tensors_in
from tests.hostile.values import ANYTHING, INDICES, NUMBERS, SEQUENCES
from vtgrad.errors import VtgradError

resource = pytest.importorskip("resource", reason="no limit of memory on this platform")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as on Linux")

N, S, A = NUMBERS, SEQUENCES, ANYTHING

#: Methods that give their tensor another geometry, and what stands where.
VIEWS: dict[str, tuple[st.SearchStrategy[object], ...]] = {
    "as_strided": (S, S, N),
    "view": (S,),
    "reshape": (S,),
    "unflatten": (N, S),
    "flatten": (N, N),
    "unfold": (N, N, N),
    "expand": (S,),
    "broadcast_to": (S,),
    "narrow": (N, N, N),
    "select": (N, N),
    "select_scatter": (A, N, N),
    "slice_scatter": (A, N, N, N, N),
    "diagonal_scatter": (A, N, N, N),
    "as_strided_scatter": (A, S, S, N),
    "diagonal": (N, N, N),
    "split": (A, N),
    "chunk": (N, N),
    "tensor_split": (A, N),
    "hsplit": (A,),
    "vsplit": (A,),
    "dsplit": (A,),
    "unbind": (N,),
    "permute": (S,),
    "movedim": (A, A),
    "moveaxis": (A, A),
    "transpose": (N, N),
    "swapaxes": (N, N),
    "swapdims": (N, N),
    "squeeze": (A,),
    "unsqueeze": (N,),
    "__getitem__": (INDICES,),
    "__iter__": (),
}

#: Methods that copy into a geometry of their own.
COPIES: dict[str, tuple[st.SearchStrategy[object], ...]] = {
    "repeat": (S,),
    "tile": (S,),
    "flip": (S,),
    "roll": (A, A),
    "new_empty": (S,),
    "new_zeros": (S,),
    "new_ones": (S,),
    "new_full": (S, N),
    "new_empty_strided": (S, S),
    "repeat_interleave": (A, N),
    "sum": (A,),
    "cumsum": (N,),
    "index_select": (N, A),
    "gather": (N, A),
    "take": (A,),
    "rot90": (N, S),
    "diag": (N,),
    "tril": (N,),
    "diag_embed": (N, N, N),
    "size": (N,),
    "stride": (N,),
}

#: Methods that change the geometry of the tensor itself, or write where they are told.
IN_PLACE: dict[str, tuple[st.SearchStrategy[object], ...]] = {
    "as_strided_": (S, S, N),
    "transpose_": (N, N),
    "swapaxes_": (N, N),
    "swapdims_": (N, N),
    "squeeze_": (A,),
    "unsqueeze_": (N,),
    "t_": (),
    "resize_": (S,),
    "set_": (A, N, S, S),
    "__setitem__": (INDICES, A),
    "tril_": (N,),
    "index_fill_": (N, A, N),
    "index_add_": (N, A, A),
    "scatter_": (N, A, A),
    "fill_diagonal_": (A,),
    "cumsum_": (N,),
    "put_": (A, A),
}

#: Functions that make tensors of a geometry that they are told.
MAKERS: dict[str, tuple[st.SearchStrategy[object], ...]] = {
    "empty": (S,),
    "zeros": (S,),
    "ones": (S,),
    "full": (S, N),
    "empty_strided": (S, S),
    "eye": (N, N),
    "arange": (N, N, N),
    "linspace": (N, N, N),
    "rand": (S,),
    "randn": (S,),
    "randperm": (N,),
    "randint": (N, N, S),
    "tensor": (A,),
    "as_tensor": (A,),
    "from_numpy": (A,),
    "meshgrid": (A, A),
}

EVERY = VIEWS | COPIES | IN_PLACE | MAKERS

#: Those that also take several integers instead of a sequence of them.
ONE_BY_ONE = {
    "view", "reshape", "expand", "permute", "flip", "repeat", "tile", "new_empty", "new_zeros",
    "new_ones", "empty", "zeros", "ones", "rand", "randn", "resize_",
}  # fmt: skip

#: Each of 86 functions has arguments of its own: a fault of a helper is found in many of them.
FEWER = settings(max_examples=max(10, settings().max_examples // 2))

SHAPES = ((2, 3), (3, 2), (6,), (1, 6), (2, 1, 3), (), (1,), (0,), (0, 3), (1, 1), (2, 3, 1))


@contextmanager
def _limited_memory() -> Iterator[None]:
    """A request for an absurd amount of memory is refused, instead of taking all there is."""
    with open("/proc/self/statm", encoding="utf-8") as statm:
        used = int(statm.read().split()[0]) * mmap.PAGESIZE
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@st.composite
def subjects(draw: st.DrawFn) -> tuple[Guarded, vt.Tensor]:
    """A tensor between fences, often a view, often with history."""
    shape = draw(st.sampled_from(SHAPES))
    count = 1
    for size in shape:
        count *= size
    dtype = draw(st.sampled_from(("float32", "float64", "int64", "complex64", "bool", "uint8")))
    made = guarded(range(count), shape, dtype)
    x = made.tensor
    if dtype[0] in "fc" and draw(st.booleans()):
        x = x.requires_grad_()
        if draw(st.booleans()):
            x = x.view(x.shape)
    if x.ndim and draw(st.booleans()):
        x = x[1:] if draw(st.booleans()) else x.transpose(0, -1)
    return made, x


def _attempt(call: Callable[[], object], before: Snapshot, *, writes: bool) -> object:
    """Call; whatever it raises must be an error of the library, and nothing may have changed."""
    try:
        with _limited_memory(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = call()
    except (VtgradError, MemoryError) as error:
        assert str(error), "an error without a text"  # noqa: PT017
        before.assert_unchanged()
        return None
    if not writes:
        before.assert_unchanged()
    return result


def _listed(result: object) -> object:
    """What an iterator would give."""
    return list(result) if isinstance(result, Iterator) else result


def _use(tensors: list[vt.Tensor]) -> None:
    """Read and write through what was made; both may be refused."""
    for x in tensors[:3]:
        if math.prod(max(size, 1) for size in x.shape) > 10_000:
            continue
        x.tolist()
        repr(x)
        try:
            with vt.no_grad():
                x.zero_()
        except VtgradError:
            pass


def _arguments(data: st.DataObject, name: str) -> tuple[object, ...]:
    arguments = tuple(data.draw(strategy) for strategy in EVERY[name])
    if name in ONE_BY_ONE and isinstance(arguments[0], tuple) and data.draw(st.booleans()):
        return arguments[0]
    return arguments


@pytest.mark.parametrize("name", VIEWS | COPIES)
@FEWER
@given(subject=subjects(), data=st.data())
def test_a_method_refuses_or_stays_inside(
    name: str, subject: tuple[Guarded, vt.Tensor], data: st.DataObject
) -> None:
    memory, x = subject
    arguments = _arguments(data, name)
    before = Snapshot(memory.tensor, x)
    result = _attempt(lambda: _listed(getattr(x, name)(*arguments)), before, writes=False)
    made = list(tensors_in(result))
    assert_inside(made)
    _use(made)
    memory.assert_fence_whole()


@pytest.mark.parametrize("name", IN_PLACE)
@FEWER
@given(subject=subjects(), data=st.data())
def test_a_change_in_place_refuses_or_stays_inside(
    name: str, subject: tuple[Guarded, vt.Tensor], data: st.DataObject
) -> None:
    memory, x = subject
    arguments = _arguments(data, name)
    before = Snapshot(memory.tensor, x)
    with vt.set_grad_enabled(data.draw(st.booleans())):
        result = _attempt(lambda: getattr(x, name)(*arguments), before, writes=True)
    assert_inside([x, memory.tensor, *tensors_in(result)])
    _use([x])
    memory.assert_fence_whole()


@pytest.mark.parametrize("name", MAKERS)
@FEWER
@given(data=st.data())
def test_a_maker_refuses_or_stays_inside(name: str, data: st.DataObject) -> None:
    arguments = _arguments(data, name)
    result = _attempt(lambda: getattr(vt, name)(*arguments), Snapshot(), writes=False)
    made = list(tensors_in(result))
    assert_inside(made)
    _use(made)
