"""What `explain` lists: lines at which values with a derivative left the record."""

from __future__ import annotations

import gc
import sys
import threading
import types
import typing
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import vtgrad as vt
import vtgrad.numpy as np
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from vtgrad.errors import NotSupportedError
from vtgrad.func import grad, jacfwd


def _recorded(*values: float) -> np.ndarray:
    return np.array(values).requires_grad_()


def _listed(found: np.explain) -> list[tuple[str, str, int]]:
    return [(x.kind, x.what, x.count) for x in found]


def test_a_branch() -> None:
    x = _recorded(1.0, -2.0)
    with np.explain() as found:
        y = x[0] if x[0] > 0 else -x[0]
        if not x[1] <= 0:
            y = -y
    assert _listed(found) == [("branch", ">", 1), ("branch", "<=", 1)]
    first = found[0]
    code = sys._getframe().f_code
    assert (first.file, first.line) == (code.co_filename, code.co_firstlineno + 3)
    assert first.function == "test_a_branch"
    assert (first.true, first.false) == (1, 0)
    assert "constant" in first.meaning


def test_truth_of_a_value_in_a_branch() -> None:
    x = _recorded(1.0)
    with np.explain() as found:
        if x:
            pass
        if x[0] and x[0]:
            pass
        truth = bool(x)
    assert truth
    assert _listed(found) == [
        ("branch", "bool", 1),
        ("branch", "bool", 2),
        ("comparison", "bool", 1),
    ]


def test_masks_are_comparisons() -> None:
    x = _recorded(1.0, -2.0)
    with np.explain() as found:
        np.where(x > 0, x, -x)
        np.less(x, 0.0)
        facts = [numpy.float64(0.5) < x[0], 1.0 in x]
    assert all(facts)
    assert _listed(found) == [("comparison", what, 1) for what in (">", "less", "less", "in")]


def test_a_loop_until_convergence() -> None:
    a = _recorded(2.0)[0]
    with np.explain() as found:
        x = a
        while abs(x * x - a) > 1e-12:
            x = (x + a / x) / 2
    (loop,) = found
    assert (loop.kind, loop.what) == ("branch in a loop", ">")
    assert loop.false == 1
    assert loop.true == loop.count - 1 > 2


def _bisection(f: Callable[[Any], Any]) -> float:
    low, high = 0.0, 2.0
    for _ in range(50):
        middle = (low + high) / 2
        if f(middle) > 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def test_a_bisection() -> None:
    a = _recorded(2.0)[0]
    with np.explain() as found:
        x = _bisection(lambda x: x * x - a)
    assert abs(x - 2**0.5) < 1e-12
    assert isinstance(x, float)
    (search,) = found
    assert (search.kind, search.what, search.count) == ("search", ">", 50)
    assert search.true + search.false == 50
    assert search.function == "_bisection"
    assert "Newton" in str(found)


def test_under_forward_mode() -> None:
    def f(x: np.ndarray) -> np.ndarray:
        return x**2 if x > 0 else x

    with np.explain() as found:
        assert float(jacfwd(f)(np.array(3.0))) == 6.0
        assert float(grad(f)(np.array(3.0))) == 6.0
        f(np.array(3.0))
    assert _listed(found) == [("branch", ">", 2)]


@pytest.mark.filterwarnings("ignore::vtgrad.errors.GradientLostWarning")
def test_numbers_integers_and_text() -> None:
    x = _recorded(1.5, 2.0)
    with np.explain() as found:
        float(x[0])
        complex(x[0])
        int(x[0])
        round(typing.cast("Any", x[0]))
        f"{x[0]:.3f}"
        str(x)
        repr(x[0])
        x.astype(int)
        np.array(x, dtype="i4")
        x.astype("U5")
    assert _listed(found) == [
        ("number", "float", 1),
        ("number", "complex", 1),
        ("integer", "int", 1),
        ("integer", "round", 1),
        ("text", "format", 1),
        ("text", "str", 1),
        ("text", "repr", 1),
        ("integer", "astype", 1),
        ("function", "array", 1),
        ("text", "astype", 1),
    ]


def test_values_that_are_taken_out() -> None:
    x = _recorded(1.5, 2.0)
    with np.explain() as found:
        x[0].item()
        x.tolist()
        x.detach()
        x.numpy(force=True)
    assert _listed(found) == [
        ("value", "item", 1),
        ("value", "tolist", 1),
        ("value", "detach", 1),
        ("value", "numpy", 1),
    ]


@pytest.mark.filterwarnings("ignore::vtgrad.errors.GradientLostWarning")
def test_an_array_of_numpy_that_is_written() -> None:
    x = _recorded(1.5, 2.0)
    table = numpy.zeros(2)
    with np.explain() as found:
        for i in range(2):
            table[i] = x[i]
    assert table.tolist() == [1.5, 2.0]
    assert _listed(found) == [("array of NumPy", "float", 2)]


def test_functions_that_run_on_values() -> None:
    x = _recorded(3.0, 1.0, 2.0)
    with np.explain() as found:
        np.argsort(x)
        x.argmin()
        numpy.isnan(x)
        np.floor(x)
        numpy.round(x, 1)
        x // 2.0
        y = np.floor_divide(x, x)
        y //= 0.5
        np.allclose(x, x)
        np.linalg.matrix_rank(np.outer(x, x))
    assert _listed(found) == [
        ("function", "argsort", 1),
        ("function", "argmin", 1),
        ("function", "isnan", 1),
        ("step", "floor", 1),
        ("step", "round", 1),
        *[("step", "floor_divide", 1)] * 3,
        ("function", "allclose", 1),
        ("function", "matrix_rank", 1),
    ]


def test_what_is_recorded_is_not_listed() -> None:
    x = _recorded(3.0, 1.0, 2.0)
    order = np.argsort(x)
    y = np.zeros(3)
    with np.explain() as found:
        np.median(x) + np.max(x)
        np.sort(x)[order]
        np.quantile(x, 0.3)
        np.interp(x, [0.0, 4.0], [1.0, 2.0])
        np.linalg.norm(x)
        y[order] = x
        x.shape, x.dtype, len(x), np.zeros_like(x)
        isinstance(x, np.ndarray)
        np.maximum(x, 2.0).sum().backward()
    assert list(found) == []
    assert str(found) == "nothing left the record"


def test_what_has_no_derivative_is_not_listed() -> None:
    x = np.array([1.0, -2.0])
    y = _recorded(1.0, -2.0)
    with np.explain() as found:
        if x[0] > 0:
            x.tolist(), np.argsort(x)
        with vt.no_grad():
            if y[0] > 0:
                y.tolist(), float(y[0])
    assert len(found) == 0


def test_masked_copies_in_loops() -> None:
    x = _recorded(1.0, -2.0)
    with np.explain() as found:
        y = x * 2
        once = numpy.array([True, False])
        y[once] = 0.0
        for _ in range(3):
            y[once] = x[once]
            np.copyto(y, x, where=once)
            y[0] = 1.0
            np.copyto(y, x)
    assert _listed(found) == [
        ("masked copy in a loop", "x[mask] = y", 3),
        ("masked copy in a loop", "copyto", 3),
    ]


ADOPTED = """
import math
import numpy as np

def f(x):
    whole = int(x)
    return float(x) * math.floor(x) + whole + math.sqrt(x)

def g(x):
    return list(map(int, x))
"""


def test_adopted_code(write: Callable[[dict[str, str]], str]) -> None:
    name = write({"PKG/__init__.py": ADOPTED})
    module: types.ModuleType = np.adopt(name)
    x = _recorded(2.5, 3.5)
    with np.explain() as found:
        module.f(x[0])
        module.g(x)
    assert _listed(found) == [
        ("integer", "int", 1),
        ("function", "floor", 1),
        ("integer", "int", 2),
    ]
    assert [x.line for x in found] == [6, 7, 10]
    assert all(x.file.endswith("__init__.py") for x in found)


def test_what_raises_is_not_listed() -> None:
    x = _recorded(1.0, 2.0)
    with np.explain() as found, pytest.raises(ValueError, match="ambiguous"):
        bool(x)
    with np.explain() as other, pytest.raises(TypeError):
        float(x)
    assert len(found) == len(other) == 0
    assert sys.getprofile() is None


def _fail_if(truth: object) -> None:
    if truth:
        raise KeyError


def test_the_end_after_an_exception() -> None:
    x = _recorded(1.0)[0]
    found = np.explain()
    with pytest.raises(KeyError), found:
        _fail_if(x > 0)
    if x > 0:
        pass
    assert _listed(found) == [("comparison", ">", 1)]
    assert sys.getprofile() is None


def test_nested_blocks() -> None:
    x = _recorded(1.0)[0]
    with np.explain() as outer:
        if x > 0:
            pass
        inner = np.explain()
        with pytest.raises(KeyError), inner:
            _fail_if((x < 0, x >= 0))
        if x != 0:
            pass
    assert [y.what for y in inner] == ["<", ">="]
    assert [y.what for y in outer] == [">", "<", ">=", "!="]
    assert sys.getprofile() is None


def test_a_block_is_entered_once() -> None:
    with np.explain() as found, pytest.raises(NotSupportedError, match="open already"):
        with found:
            pass
    assert sys.getprofile() is None


def test_other_threads_are_not_listed() -> None:
    x = _recorded(1.0)[0]
    answers: list[bool] = []
    with np.explain() as found:
        thread = threading.Thread(target=lambda: answers.append(bool(x > 0)))
        thread.start()
        thread.join()
    assert answers == [True]
    assert len(found) == 0


def test_another_profiler() -> None:
    def other(*_: object) -> None:
        pass

    x = _recorded(1.0)[0]
    sys.setprofile(other)
    try:
        with pytest.raises(NotSupportedError, match="end that one first"):
            with np.explain():
                pass
        assert sys.getprofile() is other
    finally:
        sys.setprofile(None)
    with np.explain() as found:
        sys.setprofile(other)
        try:
            if x > 0:
                pass
        finally:
            # The other profiler is still there as the block ends.
            pass
    assert sys.getprofile() is other
    sys.setprofile(None)
    assert len(found) == 0
    assert "another profiler" in str(found)


def test_values_and_classes_are_the_same_inside() -> None:
    def program() -> list[object]:
        x = _recorded(3.0, 1.0, 2.0)
        y = x * 2
        for i in range(3):
            if y[i] > 3:
                y[i] = x[i] ** 2
        y[y > 8] *= 0.5
        (g,) = vt.autograd.grad(y.sum(), x)
        return [type(y.sum()), type(np.ones(3).sum()), y.detach().tolist(), g.tolist()]

    outside = program()
    with np.explain() as found:
        inside = program()
    assert inside == outside
    assert len(found) > 2


def test_what_is_printed() -> None:
    x = _recorded(1.0)[0]
    with np.explain() as found:
        for _ in range(12):
            if x > 0:
                pass
        x.item()
    head, first, second, *meanings = str(found).splitlines()
    assert head.split() == ["count", "kind", "what", "where"]
    assert first.split()[:6] == ["12", "branch", "in", "a", "loop", ">"]
    assert first.endswith(f"{found[0].where}, test_what_is_printed")
    assert second.split()[:3] == ["1", "value", "item"]
    assert [line.partition(":")[0] for line in meanings] == ["branch in a loop", "value"]
    assert repr(found) == "<explain: 2 lines>"
    assert found[:1] == [found[0]]
    assert str(found[1]).endswith("test_what_is_printed: value (item), 1 times")


@NEEDS_TRACE
def test_an_interrupt_anywhere_leaves_no_block_open() -> None:
    x = np.array([1.5, 2.5]).requires_grad_()

    def run() -> None:
        with np.explain(), np.explain():
            np.floor(x)

    def check(finished: bool) -> None:
        gc.collect()
        assert sys.getprofile() is None
        with np.explain() as found:
            np.floor(x)
        assert [line.what for line in found] == ["floor"]
        assert sys.getprofile() is None

    assert interrupted_everywhere(lambda: run, check, step=3) > 30
