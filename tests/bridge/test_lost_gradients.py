"""Ways in which NumPy and Python take the value of a tensor: recorded, refused, or with a warning.

None loses the gradient silently, but for those that say plainly that a number is meant.
"""

from __future__ import annotations

import array
import datetime
import decimal
import fractions
import logging
import math
import operator
import random
import statistics
import struct
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.autograd.forward_ad as fw
from vtgrad.errors import ArgumentTypeError, GradientLostWarning, NumpyConversionError
from vtgrad.storage.arrays import Array

# Most are refused by type checkers too, so that the tensor has no type here.
Way = Callable[[Any], object]


def table() -> Array:
    return np.zeros(3)


def set_item(x: vt.Tensor) -> None:
    table()[0] = x


def add_to_item(x: vt.Tensor) -> None:
    table()[0] += x


def set_zero_dim(x: vt.Tensor) -> None:
    np.zeros(())[()] = x


def set_flat(x: vt.Tensor) -> None:
    table().flat[0] = x


def set_slice(x: vt.Tensor) -> None:
    table()[:2] = x


def set_list(x: vt.Tensor) -> None:
    table()[:2] = [x, x]


def set_masked(x: vt.Tensor) -> None:
    numbers = table()
    numbers[numbers > 5] = x


def set_fancy(x: vt.Tensor) -> None:
    table()[[0, 1]] = x


def set_all(x: vt.Tensor) -> None:
    table()[...] = x


def add_in_place(x: vt.Tensor) -> None:
    numbers = table()
    numbers += x


def loop_of_the_first_page(x: vt.Tensor) -> None:
    level = np.zeros(4)
    for t in range(1, 4):
        level[t] = x * level[t - 1] + 1.0


def log(x: vt.Tensor) -> None:
    logging.getLogger("vtgrad.test").critical("%f", x)


# Each takes the number, so that no gradient passes, and warns.
WARNS: dict[str, Way] = {
    "a[0] = x": set_item,
    "a[0] += x": add_to_item,
    "a[()] = x": set_zero_dim,
    "a.flat[0] = x": set_flat,
    "a.fill(x)": lambda x: table().fill(x),
    "the first page": loop_of_the_first_page,
    "np.float64": lambda x: np.float64(x),
    "np.fromiter": lambda x: np.fromiter((x for _ in range(2)), float),
    "float": float,
    "int": int,
    "complex": complex,
    "math.exp": math.exp,
    "math.hypot": lambda x: math.hypot(x, x),
    "math.pow": lambda x: math.pow(x, 2),
    "math.fsum": lambda x: math.fsum([x, x]),
    "math.floor": math.floor,
    "math.ceil": math.ceil,
    "math.isnan": math.isnan,
    "math.isfinite": math.isfinite,
    "statistics.fmean": lambda x: statistics.fmean([x, x]),
    "struct.pack": lambda x: struct.pack("d", x),
    "array.array": lambda x: array.array("d", [x]),
    "vt.tensor": lambda x: vt.tensor([[x, 1.0], [0.0, x]]),
    "vt.as_tensor": lambda x: vt.as_tensor([x, x]),
    "vt.FloatTensor": lambda x: vt.FloatTensor([x, x]),
    "new_tensor": lambda x: x.new_tensor([1.0, x]),
}


def augmented_format(x: vt.Tensor) -> str:
    text = "%.3f"
    text %= x
    return text


# Each is refused; NumPy's own functions convert by `__array__`, which refuses.
REFUSED: dict[str, Way] = {
    "a[:2] = x": set_slice,
    "a[:2] = [x, x]": set_list,
    "a[mask] = x": set_masked,
    "a[[0, 1]] = x": set_fancy,
    "a[...] = x": set_all,
    "a += x": add_in_place,
    "a.put": lambda x: table().put(0, x),
    "np.array": lambda x: np.array([x, x]),
    "np.array, float": lambda x: np.array([[x, 1.0]], float),
    "np.array, object": lambda x: np.array([x, x], object),
    "np.asarray": np.asarray,
    "np.full": lambda x: np.full(3, x),
    "np.full_like": lambda x: np.full_like(table(), x),
    "np.copyto": lambda x: np.copyto(table(), x),
    "np.place": lambda x: np.place(table(), [True, True, True], [x]),
    "np.putmask": lambda x: np.putmask(table(), [True, True, True], x),
    "np.arange": lambda x: np.arange(0, x, 0.5),
    "np.pad": lambda x: np.pad(table(), 1, constant_values=x),
    "np.nan_to_num": lambda x: np.nan_to_num(table(), nan=x),
    "np.polyval": lambda x: np.polyval([x, 2], 1.0),
    "np.sum of a list": lambda x: np.sum([x, x]),
    "np.average": lambda x: np.average([1, 2], weights=[x, x]),
    "np.float32": lambda x: np.float32(x),
    "np.complex128": lambda x: np.complex128(x),
    "np.int64": lambda x: np.int64(x),
    "np.testing": lambda x: np.testing.assert_allclose(x, 1.5),
    "a generator of NumPy": lambda x: np.random.default_rng(0).normal(x),
    "memoryview": lambda x: memoryview(x),
    "round": lambda x: round(x),
    "divmod": lambda x: divmod(x, 2),
    "math.trunc": lambda x: math.trunc(x),
    "range": range,
    "operator.index": operator.index,
    "statistics.mean": lambda x: statistics.mean([x, x]),
    "Decimal": lambda x: decimal.Decimal(x),
    "Fraction": lambda x: fractions.Fraction(x),
    "timedelta": lambda x: datetime.timedelta(x),
    "time.sleep": time.sleep,
    "random.seed": random.seed,
    "vt.full": lambda x: vt.full((2,), x),
    "vt.linspace": lambda x: vt.linspace(x, 2, 3),
    "alpha": lambda x: vt.add(vt.zeros(1), 1, alpha=x),
    "the order of a norm": lambda x: vt.norm(vt.ones(2), x),
    "an index": lambda x: vt.zeros(3)[x],
}

RECORDED: dict[str, Way] = {
    "sum": lambda x: sum([x, x]),
    "max": lambda x: max([x, x]),
    "min": lambda x: min(x, 2.0),
    "abs": abs,
    "pow": lambda x: pow(x, 2),
    "math.prod": lambda x: math.prod([x, x]),
    "statistics.median": lambda x: statistics.median([x, x]),
    "random.gauss": lambda x: random.gauss(x, 1),
    "random.uniform": lambda x: random.uniform(0, x),
    "np.round": np.round,
    "np.sum": np.sum,
    "np.add": lambda x: np.add(table(), x),
    "np.exp": lambda x: np.exp(x),
    "a + x": lambda x: operator.add(table(), x),
    "x + a": lambda x: operator.add(x, table()),
    "a @ x": lambda x: operator.matmul(table(), x * vt.ones(3)),
    "np.dot": lambda x: np.dot(table(), x),
    "np.clip of an array": lambda x: np.clip(table(), 0, x),
    "2.0 % x": lambda x: 2.0 % x,
    "vt.stack": lambda x: vt.stack([x, x]),
    "vt.where": lambda x: vt.where(vt.tensor(True), x, 1.0),
    "fill_": lambda x: vt.zeros(2).fill_(x),
    "np.select": lambda x: np.select([table() >= 0], [x]),
    "np.insert": lambda x: np.insert(table(), 0, x),
    "np.append": lambda x: np.append(table(), x),
    "np.interp": lambda x: np.interp(x, table(), table()),
    "np.linspace": lambda x: np.linspace(x, 2, 3),
    "np.where": lambda x: np.where(table() > 0, x, table()),
    "np.stack": lambda x: np.stack([x, x]),
}

# Each says that a number, a text or a truth value is meant.
PLAIN: dict[str, Way] = {
    "item": lambda x: x.item(),
    "tolist": lambda x: x.tolist(),
    "detach": lambda x: x.detach(),
    "float of detach": lambda x: float(x.detach()),
    "bool": bool,
    "comparison": lambda x: x > 1,
    "np.isnan": lambda x: np.isnan(x),
    "if": lambda x: 1 if x > 1 else 2,
    "sorted": lambda x: len(sorted([x, x])),
    "repr": repr,
    "str": str,
    "f-string": lambda x: f"{x:.3f} {x} {x!r}",
    "format": lambda x: format(x, ".3f"),
    "%f": lambda x: "%.3f" % x,  # noqa: UP031
    "%d": lambda x: "%d of %s" % (x, x),  # noqa: UP031
    "%=": augmented_format,
    "logging": log,
    "hash": hash,
    "np.allclose": lambda x: np.allclose(x, 1.5),
}


@contextmanager
def warned() -> Iterator[list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield found


def leaf() -> vt.Tensor:
    return vt.tensor(1.5, requires_grad=True)


@pytest.mark.parametrize("name", WARNS)
def test_what_takes_the_number_warns_and_names_the_line(name: str) -> None:
    with warned() as found:
        WARNS[name](leaf())
    assert {w.category for w in found} == {GradientLostWarning}
    # The lambda and the functions above, in whatever library the number was asked for.
    assert {w.filename for w in found} == {__file__}
    assert all("requires grad" in str(w.message) and "x.item()" in str(w.message) for w in found)


@pytest.mark.parametrize("name", WARNS)
def test_a_tangent_warns_too(name: str) -> None:
    with fw.dual_level():
        x = fw.make_dual(vt.tensor(1.5), vt.tensor(1.0))
        with warned() as found:
            WARNS[name](x)
        with warned() as found_under_no_grad, vt.no_grad():
            WARNS[name](x)
    # Under `no_grad` tangents go on.
    for each in (found, found_under_no_grad):
        assert {w.category for w in each} == {GradientLostWarning}
        assert all("with a tangent" in str(w.message) for w in each)


@pytest.mark.parametrize("name", WARNS)
def test_without_a_gradient_or_without_recording_nothing_warns(name: str) -> None:
    with warned() as found:
        WARNS[name](vt.tensor(1.5))
        WARNS[name](leaf().detach())
        with vt.no_grad():
            WARNS[name](leaf())
        with vt.inference_mode():
            WARNS[name](leaf())
    assert found == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_keep_the_gradient_is_refused(name: str) -> None:
    with warned() as found, pytest.raises((TypeError, NumpyConversionError, IndexError)):
        REFUSED[name](leaf())
    assert found == []


@pytest.mark.parametrize("name", RECORDED)
def test_what_computes_with_tensors_is_recorded(name: str) -> None:
    x = leaf()
    with warned() as found:
        result = RECORDED[name](x)
    assert isinstance(result, vt.Tensor)
    assert result.requires_grad
    assert found == []


@pytest.mark.parametrize("name", PLAIN)
def test_what_means_a_number_or_a_text_does_not_warn(name: str) -> None:
    x = leaf()
    with warned() as found:
        PLAIN[name](x)
    assert found == []


# -- tangents where a gradient is refused ---------------------------------------------------------


ARGUMENTS: dict[str, Way] = {
    "vt.full": lambda x: vt.full((2,), x),
    "full_like": lambda x: vt.full_like(vt.zeros(2), x),
    "new_full": lambda x: vt.zeros(2).new_full((2,), x),
    "vt.linspace": lambda x: vt.linspace(x, 2, 3),
    "vt.arange": vt.arange,
    "clamp": lambda x: vt.clamp(vt.zeros(2), x, 3.0),
    "alpha": lambda x: vt.add(vt.zeros(1), 1, alpha=x),
    "renorm": lambda x: vt.renorm(vt.ones(2, 2), 2, 0, x),
    "the order of a norm": lambda x: vt.norm(vt.ones(2), x),
    "normal_": lambda x: vt.zeros(2).normal_(x),
    "np.asarray": np.asarray,
    "np.full": lambda x: np.full(3, x),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_number_that_is_a_tensor_with_a_tangent_warns(name: str) -> None:
    with fw.dual_level():
        x = fw.make_dual(vt.tensor(1.5), vt.tensor(1.0))
        with warned() as found:
            ARGUMENTS[name](x)
    assert [w.category for w in found] == [GradientLostWarning]
    assert found[0].filename == __file__
    with warned() as found, fw.dual_level():
        ARGUMENTS[name](vt.tensor(1.5))
    assert found == []


def test_numpy_is_plain_for_a_tensor_with_a_tangent() -> None:
    with fw.dual_level():
        x = fw.make_dual(vt.tensor(1.5), vt.tensor(1.0))
        assert x.numpy() == 1.5


def test_transforms_of_functions_warn() -> None:
    x = vt.tensor(2.0)
    with pytest.warns(GradientLostWarning):
        assert vt.func.grad(lambda a: a * float(a))(x).item() == 2.0
    with pytest.warns(GradientLostWarning):
        assert vt.func.jvp(lambda a: a * float(a), (x,), (x,))[1].item() == 4.0


def test_a_refused_order_of_a_norm_says_why() -> None:
    with pytest.raises(ArgumentTypeError, match=r"'p'.*does not require grad"):
        vt.norm(vt.ones(2), leaf())


# -- once for each line ---------------------------------------------------------------------------


def test_each_line_warns_once_with_the_filters_of_python(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""\
            import math, statistics
            import numpy as np
            import vtgrad as vt
            x = vt.tensor(1.5, requires_grad=True)
            level = np.zeros(100)
            for nr in range(100):
                level[nr] = x * nr
                statistics.fmean([x, x])
                vt.tensor([[x, 1.0], [0.0, x]])
                x.item(), x.tolist(), bool(x), f"{x:.3f}", "%f" % x
            def twice():
                return math.exp(x), math.exp(x)
            twice(), twice()
            assert len(__warningregistry__) <= 8, __warningregistry__
        """),
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=100, check=True
    )
    lines = [line for line in done.stderr.splitlines() if "GradientLostWarning" in line]
    numbers = [int(line.removeprefix(f"{program}:").split(":")[0]) for line in lines]
    assert numbers == [7, 8, 9, 12]


def test_a_filter_that_makes_it_an_error_stops_before_anything_is_stored() -> None:
    level = np.zeros(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", GradientLostWarning)
        with pytest.raises((ValueError, GradientLostWarning)) as caught:
            level[0] = leaf()
        with pytest.raises(GradientLostWarning, match=r"vt\.zeros"):
            float(leaf())
    # Of what it takes for a sequence, as interpreted tensors, NumPy says that it could not store
    # the element, and why.
    error = caught.value
    if isinstance(error, ValueError):
        assert "array element" in str(error)
        assert isinstance(error.__cause__, GradientLostWarning)
    assert level.tolist() == [0.0, 0.0]
