"""Functions that read values: which path a pattern holds for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.func import ValueRead, sparse_jacobian, sparsity_pattern
from vtgrad.graph.tracer import thread

Function = Callable[[vt.Tensor], vt.Tensor]


def upwind(u: vt.Tensor) -> vt.Tensor:
    """Differences against the wind, whose direction is that of the first value."""
    if u[0] > 0:  # the line that reads
        return u[1:] - u[:-1]
    return u[1:] * u[1:]


LINE = upwind.__code__.co_firstlineno + 2


def test_read_is_remembered_with_its_line() -> None:
    pattern = sparsity_pattern(upwind, vt.tensor([1.0, 2.0, 3.0]))
    (read,) = pattern.reads
    assert read.place is not None
    assert read.place.filename == __file__
    assert read.place.lineno == LINE
    assert read.place.function == "upwind"
    assert read.value.tolist() is True
    assert str(read) == f"{__file__}:{LINE} read True"
    assert "1 values read" in repr(pattern)


def test_pattern_holds_on_the_same_path() -> None:
    pattern = sparsity_pattern(upwind, vt.tensor([1.0, 2.0, 3.0]))
    matrix = sparse_jacobian(upwind, vt.tensor([5.0, -2.0, 3.0]), pattern=pattern)
    assert matrix.toarray().tolist() == [[-1, 1, 0], [0, -1, 1]]


def test_another_path_is_refused_with_the_line() -> None:
    pattern = sparsity_pattern(upwind, vt.tensor([1.0, 2.0, 3.0]))
    with pytest.raises(vt.errors.ChangedPathError) as caught:
        sparse_jacobian(upwind, vt.tensor([-1.0, 2.0, 3.0]), pattern=pattern)
    assert f"{__file__}:{LINE} read False; the run that found the pattern had" in str(caught.value)
    expected, found = caught.value.facts["expected"], caught.value.facts["found"]
    assert isinstance(expected, ValueRead)
    assert isinstance(found, ValueRead)
    assert expected.value.item() is True
    assert found.value.item() is False


def test_error_that_the_function_catches_is_raised_again() -> None:
    def function(x: vt.Tensor) -> vt.Tensor:
        try:
            factor = 2 if x[0] > 0 else 3
        except vt.errors.VtgradError:
            factor = 4
        return x * factor

    pattern = sparsity_pattern(function, vt.tensor([1.0]))
    with pytest.raises(vt.errors.ChangedPathError):
        sparse_jacobian(function, vt.tensor([-1.0]), pattern=pattern)


def test_fewer_and_more_reads_are_another_path() -> None:
    def function(x: vt.Tensor) -> vt.Tensor:
        count = 0
        while bool(x.sum() > count):
            count += 1
        return x * count

    pattern = sparsity_pattern(function, vt.tensor([1.5]))
    assert [read.value.item() for read in pattern.reads] == [True, True, False]
    for value in (2.5, 0.5, -1.0):
        with pytest.raises(vt.errors.ChangedPathError):
            sparse_jacobian(function, vt.tensor([value]), pattern=pattern)


def reads_of(function: Function, x: vt.Tensor) -> list[object]:
    return [read.value.tolist() for read in sparsity_pattern(function, x).reads]


X = vt.tensor([0.0, 3.0, -1.0, 2.0], dtype=vt.float64)


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda x: x * x[1].item(), [3.0]),
        (lambda x: x * float(x[1]), [3.0]),
        (lambda x: x * int(x[1]), [3.0]),
        (lambda x: x * complex(x[1]).real, [3.0]),
        (lambda x: x * x[:2].tolist()[1], [[0.0, 3.0]]),
        (lambda x: x * vt.tensor([x[1], x[2]]).sum(), [3.0, -1.0]),
        (lambda x: x[x > 0], [[False, True, False, True]]),
        (lambda x: x[x.argsort()], [[2, 0, 3, 1]]),
        (lambda x: x[x.argmax()], [1]),
        (lambda x: x.masked_select(x > 0), [[False, True, False, True]]),
        (lambda x: x.index_fill(0, x.argmin(keepdim=True), 0), [[2]]),
        (lambda x: x.scatter_add(0, x.argsort(), x), [[2, 0, 3, 1]]),
        (lambda x: x * x.nonzero().numel(), [[0.0, 3.0, -1.0, 2.0]]),
        (lambda x: x * vt.allclose(x, x), [[True] * 4]),
        (lambda x: x * vt.equal(x, x.detach()), [[0.0, 3.0, -1.0, 2.0]] * 2),
        (lambda x: x * (2.0 in x), [True]),
        (lambda x: x * vt.is_nonzero(x[1]), [3.0]),
        (lambda x: x.repeat_interleave(x.argsort(), 0), [[2, 0, 3, 1]]),
        (lambda x: x.clamp(x[0].detach(), 1), [0.0]),
        (lambda x: x * vt.from_numpy(x.detach().numpy() * 1), [[0.0, 3.0, -1.0, 2.0]]),
        (lambda x: vt.add(x, x, alpha=x[1].detach()), []),
        (lambda x: vt.where(x > 0, x, x.flip(0)), []),
        (lambda x: x.sort().values, []),
        (lambda x: x * vt.tensor(2.0).item(), []),
        (lambda x: x.relu() * (x > 0), []),
    ],
)
def test_what_counts_as_a_read(function: Function, wanted: list[object]) -> None:
    assert reads_of(function, X) == wanted


def test_values_of_other_tensors_are_no_reads() -> None:
    steps = vt.tensor(3)

    def function(x: vt.Tensor) -> vt.Tensor:
        for _ in range(int(steps)):
            x = x * 2
        return x

    assert reads_of(function, X) == []


def test_one_value_that_is_read_again_counts_once() -> None:
    def function(x: vt.Tensor) -> vt.Tensor:
        y = x[1] * 2
        return x * (y.item() + y.item()) + (y.add_(1).item())

    assert reads_of(function, X) == [6.0, 7.0]


def test_only_elements_that_depend_count() -> None:
    def function(x: vt.Tensor) -> vt.Tensor:
        b = vt.zeros(4, dtype=vt.float64)
        b[1:] = x[1:]
        return x * 2 if b[0] == 0 and b[1] == 3 else x

    assert reads_of(function, X) == [True]


def test_same_as_compares_bits() -> None:
    nan, zero = np.array(np.nan), np.array(0.0)
    assert ValueRead(None, nan).same_as(ValueRead(None, nan.copy()))
    assert not ValueRead(None, zero).same_as(ValueRead(None, -zero))
    assert not ValueRead(None, zero).same_as(ValueRead(None, np.array(0)))


def test_blocks_that_take_other_paths_are_refused() -> None:
    calls = iter(range(100))

    def function(x: vt.Tensor) -> vt.Tensor:
        return x.cumsum(0)[: 20 + next(calls)]

    with pytest.raises(vt.errors.TransformError, match="did not do the same"):
        sparsity_pattern(function, vt.ones(40), max_bytes=1000)


def test_write_that_is_interrupted_has_no_pattern() -> None:
    """A signal handler raises between the store and the sets; the function catches it."""

    def function(x: vt.Tensor) -> vt.Tensor:
        y = vt.zeros(4, dtype=vt.float64)
        tracer = thread.tracer
        assert tracer is not None
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(tracer), "store_written", interrupt)
            with pytest.raises(KeyboardInterrupt):
                y.copy_(x)
        return y + x

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(vt.errors.InterruptedWriteError, match="copy_ was interrupted"):
        sparsity_pattern(function, X)
