"""Dtypes by their names, their limits, and what several of them become."""

import itertools
import pickle
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import ArgumentTypeError, NotSupportedError


def test_other_names_are_the_same_dtypes() -> None:
    assert vt.float is vt.float32
    assert vt.double is vt.float64
    assert vt.half is vt.float16
    assert vt.int is vt.int32
    assert vt.long is vt.int64
    assert vt.short is vt.int16
    assert vt.cfloat is vt.complex64
    assert vt.cdouble is vt.complex128
    assert pickle.loads(pickle.dumps(vt.bool)) is vt.bool
    assert isinstance(vt.bool, vt.dtype)


NAMES = "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("name", NAMES)
def test_numpys_dtypes_and_names_stand_for_dtypes(name: str) -> None:
    x: Any = vt.ones(2)
    numpys = np.dtype(name)
    forms: list[Any] = [name, numpys, numpys.type]
    for alike in forms:
        made = [vt.zeros(2, dtype=alike), vt.tensor([1], dtype=alike), vt.as_tensor(1, dtype=alike)]
        made += [vt.zeros_like(x, dtype=alike), x.new_zeros(2, dtype=alike)]
        made += [x.to(alike), x.to("cpu", alike), x.to(dtype=alike), x.sum(dtype=alike)]
        assert [t.dtype for t in made] == [getattr(vt, name)] * len(made)
        assert vt.promote_types(alike, vt.bool) is getattr(vt, name)


@pytest.mark.parametrize("alike", [bool, int, float, complex])
def test_pythons_classes_of_numbers_stand_for_dtypes(alike: Any) -> None:
    assert vt.zeros(1, dtype=alike).dtype.numpy == np.dtype(alike)


@pytest.mark.parametrize(
    "wrong",
    ["f8", "float", "float128", "torch.float32", ">f8", np.dtype(">f8"), np.dtype("u2"), np.uint16]
    + [np.floating, np.str_, np.array(1.0), np.float64(1), str, object, 1, True, [], ["float64"]],
    ids=repr,
)
def test_what_stands_for_no_dtype(wrong: Any) -> None:
    with pytest.raises(ArgumentTypeError):
        vt.zeros(2, dtype=wrong)
    with pytest.raises(ArgumentTypeError):
        vt.ones(2).sum(dtype=wrong)
    with pytest.raises((ArgumentTypeError, NotSupportedError)):
        vt.ones(2).to(wrong)


def test_the_default_dtype_must_be_floating() -> None:
    assert vt.get_default_dtype() is vt.float32
    with pytest.raises(ArgumentTypeError):
        vt.set_default_dtype(vt.int64)


def test_limits_of_floating_dtypes() -> None:
    info = vt.finfo(vt.float32)
    assert (info.bits, info.dtype) == (32, "float32")
    assert info.eps == 2.0**-23
    assert info.tiny == info.smallest_normal == 2.0**-126
    assert info.max == -info.min == (2 - 2.0**-23) * 2.0**127
    assert vt.finfo().dtype == "float32"
    assert vt.finfo(vt.complex128).dtype == "float64"
    assert vt.finfo(vt.float16).max == 65504.0
    for wrong in [vt.int64, vt.bool]:
        with pytest.raises(ArgumentTypeError):
            vt.finfo(wrong)


def test_limits_of_integer_dtypes() -> None:
    info = vt.iinfo(vt.int16)
    assert (info.bits, info.min, info.max, info.dtype) == (16, -32768, 32767, "int16")
    assert vt.iinfo(vt.uint8).min == 0
    for wrong in [vt.float32, vt.bool]:
        with pytest.raises(ArgumentTypeError):
            vt.iinfo(wrong)


def test_promotion_follows_categories_and_standing() -> None:
    assert vt.promote_types(vt.uint8, vt.int8) is vt.int16
    assert vt.promote_types(vt.int64, vt.float16) is vt.float16
    assert vt.promote_types(vt.complex64, vt.float64) is vt.complex128
    one = vt.ones(1, dtype=vt.int8)
    assert vt.result_type(one, 1000) is vt.int8
    assert vt.result_type(one, 1.5) is vt.float32
    assert vt.result_type(one, vt.tensor(1, dtype=vt.int64)) is vt.int8
    assert vt.result_type(vt.tensor(1, dtype=vt.int64), 2) is vt.int64
    assert vt.result_type(1, True) is vt.int64


@pytest.mark.parametrize(
    ("source", "target"),
    list(itertools.product([vt.bool, vt.uint8, vt.int64, vt.float32, vt.complex64], repeat=2)),
)
def test_casts_never_lead_to_a_lower_category(source: vt.dtype, target: vt.dtype) -> None:
    ranks = {vt.bool: 0, vt.uint8: 1, vt.int64: 1, vt.float32: 2, vt.complex64: 3}
    assert vt.can_cast(source, target) is (ranks[source] <= ranks[target])
