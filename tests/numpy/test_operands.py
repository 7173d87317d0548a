"""Operands that are not the first: initial values, indices of samples, memory of others."""

from __future__ import annotations

import array as python_arrays
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import array
from vtgrad.errors import BatchedTensorError, StaleSavedError
from vtgrad.numpy.operands import fresh

BEGINNINGS: Final[dict[str, Callable[[Any], Any]]] = {
    "sum": lambda s: vnp.sum(vnp.array([1.0, 2.0]), initial=s),
    "method sum": lambda s: vnp.array([1.0, 2.0]).sum(initial=s),
    "prod": lambda s: vnp.prod(vnp.array([1.0, 2.0]), initial=s),
    "max": lambda s: vnp.max(vnp.array([1.0, 2.0]), initial=s),
    "min": lambda s: vnp.min(vnp.array([7.0, 8.0]), initial=s),
    "nansum": lambda s: vnp.nansum(vnp.array([1.0, np.nan]), initial=s),
    "nanmax": lambda s: vnp.nanmax(vnp.array([1.0, np.nan]), initial=s),
    "add.reduce": lambda s: vnp.add.reduce(vnp.array([1.0, 2.0]), initial=s),
    "logaddexp.reduce": lambda s: vnp.logaddexp.reduce(vnp.array([1.0, 2.0]), initial=s),
}


@pytest.mark.parametrize("name", BEGINNINGS)
def test_what_a_reduction_begins_with_is_differentiated(name: str) -> None:
    x = array([3.0, 5.0], grad=True)
    assert vt.autograd.gradcheck(lambda x: BEGINNINGS[name](x[1]), (x,))


# Of `v`, which all samples share, or of `z`, by the indices `i` of a sample.
BY_SAMPLES: Final[dict[str, Callable[[Any, Any, Any], Any]]] = {
    "take": lambda np, v, i: np.take(v, i),
    "take along an axis": lambda np, v, i: np.take(v, i, axis=0),
    "take, mode": lambda np, v, i: np.take(v, i, mode="wrap"),
    "take a list": lambda np, v, i: np.take(v, [i[0], i[1]]),
    "repeat": lambda np, v, i: np.repeat(v, i),
    "choose": lambda np, v, i: np.choose(i, [v, v * 2, v * 3]),
    "pad": lambda np, v, i: np.pad(v, i[:2]),
    "an index": lambda np, v, i: v[i],
    "take_along_axis": lambda np, v, i: np.take_along_axis(v, i, 0),
    "sorted": lambda np, v, i: np.take(v, np.argsort(v * i)),
}

#: What NumPy finds the places for, so that it would have to read them.
READ_PLACES: Final = frozenset(BY_SAMPLES) - {"an index", "take_along_axis"}


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("name", BY_SAMPLES)
def test_indices_of_samples_are_those_of_each_or_are_refused(name: str, plain: bool) -> None:
    call, namespace = BY_SAMPLES[name], np if plain else vnp
    make: Any = vt.tensor if plain else vnp.array
    v, i = make([5.0, 6.0, 7.0]), make([[2, 1, 0], [1, 1, 1]])
    if name in READ_PLACES:
        with pytest.raises(BatchedTensorError):
            vt.vmap(lambda i: call(namespace, v, i))(i)
        return
    found = vt.vmap(lambda i: call(namespace, v, i))(i)
    wanted = [call(namespace, v, row).tolist() for row in i]
    assert found.tolist() == wanted


class Exporter:
    """What hands NumPy its own array."""

    def __init__(self) -> None:
        self.own = np.ones(2)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.own


def exporters(folder: Path) -> list[tuple[Any, Any]]:
    """Objects that share their memory, and an array on it."""
    mapped = np.memmap(folder / "numbers", float, "w+", shape=(2,))
    mapped[:] = 1
    numbers = python_arrays.array("d", [1, 1])
    exporter = Exporter()
    return [
        (mapped, mapped),
        (numbers, np.asarray(numbers)),
        (memoryview(numbers), np.asarray(numbers)),
        (exporter, exporter.own),
    ]


def test_what_a_node_saves_is_no_memory_of_others(tmp_path: Path) -> None:
    for shared, own in exporters(tmp_path):
        calls: list[Callable[[Any], Any]] = [
            partial(vnp.multiply, shared),
            partial(vnp.einsum, "i,i->i", shared),
        ]
        for call in calls:
            w = array([3.0, 4.0], grad=True)
            y = call(w)
            own[:] = 7
            y.sum().backward()
            assert w.grad is not None
            assert w.grad.tolist() == [1, 1], type(shared)
            own[:] = 1
        made = vnp.asarray(shared)
        made[0] = 5
        assert own.tolist() == [1, 1]


def test_the_conjugates_of_real_numbers_are_a_new_array() -> None:
    for make, conjugate in ((vnp.array, vnp.conj), (vt.tensor, np.conj)):
        x: Any = make([1.0, 2.0])
        conjugate(x)[0] = 9
        assert x.tolist() == [1, 2]


def test_running_results_without_recording() -> None:
    leaf = array([3.0, 1.0, 4.0], grad=True)
    for switch in (vt.no_grad, vt.inference_mode):
        with switch():
            assert vnp.maximum.accumulate(leaf).tolist() == [3, 3, 4]
            assert vnp.subtract.accumulate(leaf).tolist() == [3, 2, -2]
            assert float(vnp.divide.reduce(leaf)) == 0.75
            assert vnp.add.reduceat(leaf, [0, 2, 1]).tolist() == [4, 4, 5]


@pytest.mark.parametrize("name", ["logaddexp", "maximum"])
def test_writes_after_a_reduction_are_told_as_writes(name: str) -> None:
    x = array([3.0, 1.0, 4.0], grad=True) * 1
    y = getattr(vnp, name).accumulate(x).sum()
    x[0] = 9.0
    with pytest.raises(StaleSavedError):
        y.backward()


def test_a_scalar_of_numpy_becomes_an_array() -> None:
    """The place of one element is one."""
    found = fresh(np.asarray(3)[()])
    assert type(found._impl.array) is np.ndarray
    assert vnp.resize(array([[1.0, 2.0], [3.0, 4.0]]), ()).tolist() == 1.0
