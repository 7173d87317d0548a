"""Strategies for users: what they draw fits, and a tensor and an array are treated alike.

What breaks it: an index or a view that NumPy takes otherwise, a layout that shares memory, a step
whose text is not what it does.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import vtgrad as vt
from vtgrad.testing import strategies
from vtgrad.testing.strategies import Write

quick = settings(
    max_examples=60, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


@quick
@given(st.data())
def test_views_of_views_show_the_same_elements(data: st.DataObject) -> None:
    x = data.draw(strategies.tensors())
    array, text = x.detach().numpy().copy(), "x"
    own = x
    for _ in range(3):
        view = data.draw(strategies.views(own.shape))
        own, array, text = view.of(own), view.of_array(array), f"{text}{view!r}"
        assert own.tolist() == array.tolist()
        assert own._is_view()
        assert eval(text, {"x": x}).tolist() == own.tolist()
    step = data.draw(strategies.writes(own.shape))
    step.to(own)
    step.to_array(array)
    assert own.tolist() == array.tolist()


@quick
@given(st.data())
def test_an_index_reads_and_writes_the_same_elements(data: st.DataObject) -> None:
    x = data.draw(strategies.tensors(strategies.shapes(max_side=3)))
    index = data.draw(strategies.indices(x.shape))
    array = x.numpy().copy()
    assert index.of(x).tolist() == index.of_array(array).tolist()
    assert index.of(x).shape == index.of_array(array).shape
    assert not index.is_basic or index.of(x)._is_view()
    assert eval(f"x{index!r}", {"x": x}).tolist() == index.of(x).tolist()
    step = Write("setitem", (index, 7.0))
    step.to(x)
    step.to_array(array)
    assert x.tolist() == array.tolist()


@quick
@given(st.data())
def test_a_slope_is_the_derivative(data: st.DataObject) -> None:
    x = data.draw(strategies.tensors((2, 3), requires_grad=True))
    step = data.draw(strategies.writes((2, 3), linear=True))
    y = x * 1
    step.to(y)
    assert step.slope is not None
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.eq(step.slope).all()


@quick
@given(
    strategies.tensors(requires_grad=True),
    strategies.tensors(dtype=strategies.dtypes(complex=True, whole=True)),
    strategies.tensors(layouts=False),
)
def test_tensors_are_leaves_with_memory_of_their_own(
    x: vt.Tensor, y: vt.Tensor, z: vt.Tensor
) -> None:
    assert x.is_leaf
    assert x.requires_grad
    assert not x._is_view()
    assert z.is_contiguous()
    if x.numel() and y.numel():
        assert not np.shares_memory(x.detach().numpy(), y.numpy())
    with vt.no_grad():
        x.fill_(3)
    assert x.detach().eq(3).all()


def test_every_layout_is_drawn() -> None:
    met: set[str] = set()

    @quick
    @given(strategies.tensors((2, 3)))
    def run(x: vt.Tensor) -> None:
        met.add("contiguous" if x.is_contiguous() else "not contiguous")
        met.add("transposed" if x.stride(0) < x.stride(1) else "in order")
        met.add("gaps" if min(x.stride()) > 1 else "dense")
        met.add("offset" if x.storage_offset() else "at the start")

    run()
    assert len(met) == 8


def test_dtypes() -> None:
    met: set[vt.dtype] = set()

    @quick
    @given(strategies.dtypes(floating=False, whole=True))
    def run(dtype: vt.dtype) -> None:
        met.add(dtype)

    run()
    assert met == {vt.int64, vt.int32, vt.int16, vt.int8, vt.uint8, vt.bool}


@pytest.mark.parametrize("shape", [(), (0,), (1, 0, 2)])
def test_shapes_without_dimensions_and_without_elements(shape: tuple[int, ...]) -> None:
    @quick
    @given(st.data())
    def run(data: st.DataObject) -> None:
        x = vt.zeros(shape, dtype=vt.float64)
        array = x.numpy().copy()
        view = data.draw(strategies.views(shape))
        assert view.of(x).shape == view.of_array(array).shape
        step = data.draw(strategies.writes(shape))
        step.to(x)
        step.to_array(array)
        assert x.tolist() == array.tolist()

    run()
