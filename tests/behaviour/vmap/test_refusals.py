"""What has no meaning for a tensor of one sample."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from tests.support import differs_from_torch, ramp, vt

vmap: Any = vt.vmap

READING: dict[str, Any] = {
    "item": lambda a: a[0].item(),
    "float": lambda a: float(a[0]),
    "int": lambda a: int(a[0]),
    "complex": lambda a: complex(a[0]),
    "bool": lambda a: bool(a[0]),
    "if": lambda a: a if a[0] > 1 else -a,
    "tolist": lambda a: a.tolist(),
    "numpy": lambda a: a.numpy(),
    "asarray": lambda a: np.asarray(a),
    "data_ptr": lambda a: a.data_ptr(),
    "arange": lambda a: vt.arange(a[0]),
    "equal": lambda a: vt.equal(a, a),
    "allclose": lambda a: vt.allclose(a, a),
    "out": lambda a: vt.add(a, a, out=vt.zeros(3, dtype=vt.float64)),
    "out of a sample": lambda a: vt.add(a, a, out=a),
    "a list of samples": lambda a: vt.tensor([a[0], a[1]]),
    "in": lambda a: 1.0 in a,
    "an index of a list": lambda a: [1, 2, 3][a[0].long()],
    "a bound of a slice": lambda a: a[a[0].long() :],
    "storage": lambda a: a.untyped_storage(),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
}


@pytest.mark.parametrize("what", READING)
def test_reading_values_is_refused(what: str) -> None:
    with pytest.raises(RuntimeError):  # NotImplementedError too
        vmap(lambda a: vt.tensor(READING[what](a)))(ramp(2, 3))


@pytest.mark.parametrize("what", sorted(set(READING) - {"out", "out of a sample"}))
def test_all_is_possible_with_what_has_no_samples(what: str) -> None:
    c = ramp(3)

    def function(a: vt.Tensor) -> vt.Tensor:
        READING[what](c)
        return a

    assert vmap(function)(ramp(2, 3)).tolist() == [[1, 2, 3], [4, 5, 6]]


SHAPED_BY_VALUES: dict[str, Any] = {
    "a mask": lambda a: a[a > 1],
    "a mask of another": lambda a: ramp(3)[a > 1],
    "a mask and a dimension": lambda a: vt.outer(a, a)[a > 1, 0],
    "nonzero": lambda a: a.nonzero(),
    "masked_select": lambda a: vt.masked_select(a, a > 1),
    "where": lambda a: vt.where(a > 1)[0],
    "repeat_interleave": lambda a: a.repeat_interleave(a.long()),
}


@pytest.mark.parametrize("what", SHAPED_BY_VALUES)
def test_a_shape_that_depends_on_values_is_refused(what: str) -> None:
    with pytest.raises(RuntimeError):
        vmap(SHAPED_BY_VALUES[what])(ramp(2, 3))


def test_an_assignment_of_several_values_by_a_mask_of_samples_is_refused() -> None:
    def function(a: vt.Tensor) -> vt.Tensor:
        a[a > 1] = vt.ones(2)
        return a

    x = ramp(2, 3)
    with pytest.raises(RuntimeError):
        vmap(function)(x)
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert x._version == 0


def test_a_mask_without_samples_works() -> None:
    mask = vt.tensor([True, False, True])
    assert vmap(lambda a: a[mask])(ramp(2, 3)).tolist() == [[1, 3], [4, 6]]
    assert vmap(lambda a: a.masked_select(mask))(ramp(2, 3)).tolist() == [[1, 3], [4, 6]]


def test_where_and_masked_fill_keep_shapes() -> None:
    x = ramp(2, 3)
    assert vmap(lambda a: vt.where(a > 2, a, 0.0))(x).tolist() == [[0, 0, 3], [4, 5, 6]]
    assert vmap(lambda a: a.masked_fill(a > 2, 0.0))(x).tolist() == [[1, 2, 0], [0, 0, 0]]


@differs_from_torch("it sets the storage of the batch")
def test_memory_of_another_tensor_or_size_is_refused() -> None:
    for function in (lambda a: a.set_(vt.ones(3)), lambda a: a.resize_(2)):
        with pytest.raises(RuntimeError):
            vmap(function)(ramp(2, 3))


def test_the_error_speaks_of_the_sample() -> None:
    if vt.__name__ == "torch":
        pytest.skip("texts are our own")
    with pytest.raises(IndexError, match="index 5 is outside dimension 0 of size 3"):
        vmap(lambda a, i: a.index_select(0, i))(ramp(2, 3), vt.tensor([[0], [5]]))
    with pytest.raises(RuntimeError, match=r"shapes \(2, 3\) and \(2, 3\)"):
        vmap(lambda a: vt.mm(a, a))(ramp(4, 2, 3))
    with pytest.raises(IndexError, match="between -2 and 1"):
        vmap(lambda a: a.sum(2))(ramp(4, 2, 3))
