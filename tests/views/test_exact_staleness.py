"""A saved value is stale if one of its elements was written since, and only then.

What breaks it: a write that marks too little, so that a gradient of old values is wrong; one that
marks too much, so that a right program is refused.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from tests.support import ramp
from vtgrad.errors import StaleSavedError

Write = Callable[[vt.Tensor], object]
F64 = vt.float64


#: Writes to a 4 x 4 tensor, and which elements they write.
WRITES: dict[str, tuple[Write, list[tuple[int, int]]]] = {
    "row": (lambda x: x[1].zero_(), [(1, j) for j in range(4)]),
    "column": (lambda x: x[:, 2].zero_(), [(i, 2) for i in range(4)]),
    "element": (lambda x: x.__setitem__((3, 0), 5.0), [(3, 0)]),
    "row assigned": (lambda x: x.__setitem__(2, 5.0), [(2, j) for j in range(4)]),
    "row from the end": (
        lambda x: x.__setitem__(-1, vt.ones(4, dtype=F64)),
        [(3, j) for j in range(4)],
    ),
    "block": (lambda x: x[1:3, ::2].mul_(2), [(i, j) for i in (1, 2) for j in (0, 2)]),
    "slices": (lambda x: x.__setitem__((slice(0, 2), 3), 1.0), [(0, 3), (1, 3)]),
    "transposed": (lambda x: x.t()[0].zero_(), [(i, 0) for i in range(4)]),
    "diagonal": (lambda x: x.diagonal().zero_(), [(i, i) for i in range(4)]),
    "index": (
        lambda x: x.__setitem__(vt.tensor([0, 2]), 1.0),
        [(i, j) for i in (0, 2) for j in range(4)],
    ),
    "two indices": (
        lambda x: x.__setitem__((vt.tensor([0, 3]), vt.tensor([1, 1])), 1.0),
        [(0, 1), (3, 1)],
    ),
    "index of columns": (
        lambda x: x.index_fill_(1, vt.tensor([3]), 0.0),
        [(i, 3) for i in range(4)],
    ),
    "index_add_": (
        lambda x: x.index_add_(0, vt.tensor([1]), vt.ones(1, 4, dtype=F64)),
        [(1, j) for j in range(4)],
    ),
    "index_copy_ of columns": (
        lambda x: x.index_copy_(1, vt.tensor([0]), vt.ones(4, 1, dtype=F64)),
        [(i, 0) for i in range(4)],
    ),
    "scatter_": (lambda x: x.scatter_(1, vt.tensor([[2], [0]]), 1.0), [(0, 2), (1, 0)]),
    "scatter_ in a transposed view": (
        lambda x: x.t().scatter_(1, vt.tensor([[2], [0]]), 1.0),
        [(2, 0), (0, 1)],
    ),
    "scatter_add_": (
        lambda x: x.scatter_add_(0, vt.tensor([[3, 3]]), vt.ones(1, 2, dtype=F64)),
        [(3, 0), (3, 1)],
    ),
    "scatter_reduce_": (
        lambda x: x.scatter_reduce_(0, vt.tensor([[1]]), vt.ones(1, 1, dtype=F64), "amax"),
        [(1, 0)],
    ),
    "mask": (lambda x: x.masked_fill_(vt.eye(4) > 0, 0.0), [(i, i) for i in range(4)]),
    "mask of a row": (
        lambda x: x.masked_fill_(vt.tensor([True, False, False, False]), 0.0),
        [(i, 0) for i in range(4)],
    ),
    "mask assigned": (lambda x: x.__setitem__(vt.eye(4) > 0, 0.0), [(i, i) for i in range(4)]),
    "masked_scatter_": (
        lambda x: x.masked_scatter_(vt.eye(4) > 0, vt.ones(4, dtype=F64)),
        [(i, i) for i in range(4)],
    ),
    "put_": (lambda x: x.put_(vt.tensor([5, -1]), vt.ones(2, dtype=F64)), [(1, 1), (3, 3)]),
    "other dtype": (lambda x: x.view(vt.int32)[0, 2:4].zero_(), [(0, 1)]),
    "nothing": (lambda x: x[4:].zero_(), []),
    "no index": (lambda x: x.__setitem__(vt.zeros(0, dtype=vt.int64), 1.0), []),
    "geometry": (lambda x: x.t_(), []),
    "more geometry": (lambda x: x.unsqueeze_(0), []),
    "all": (lambda x: x.mul_(1), [(i, j) for i in range(4) for j in range(4)]),
    "out=": (lambda x: vt.mul(ramp(4), 2.0, out=x[3]), [(3, j) for j in range(4)]),
}


@pytest.mark.parametrize(("write", "written"), WRITES.values(), ids=WRITES)
def test_each_element_is_stale_if_and_only_if_it_was_written(
    write: Write, written: list[tuple[int, int]]
) -> None:
    x, w = ramp(4, 4), vt.tensor(2.0, dtype=F64, requires_grad=True)
    saves = {(i, j): w * x[i, j] for i in range(4) for j in range(4)}
    rows, columns = [w * x[i] for i in range(4)], [w * x[:, j] for j in range(4)]
    before = x.numpy().copy()
    write(x)

    def is_stale(y: vt.Tensor) -> bool:
        try:
            (grad,) = vt.autograd.grad(y.sum(), w)
        except StaleSavedError:
            return True
        index = [index for index, save in saves.items() if save is y]
        if index:
            assert grad.item() == before[index[0]]
        return False

    assert [index for index, y in saves.items() if is_stale(y)] == sorted(written)
    assert [i for i in range(4) if is_stale(rows[i])] == sorted({i for i, _ in written})
    assert [j for j in range(4) if is_stale(columns[j])] == sorted({j for _, j in written})


@pytest.mark.parametrize("dtype", [vt.float16, vt.float32, vt.complex64, vt.complex128])
@pytest.mark.parametrize("step", [1, 2, 3, -1, -2])
def test_strided_writes_beside_strided_saves(dtype: vt.dtype, step: int) -> None:
    x, w = vt.ones(24, dtype=dtype), vt.ones((), dtype=dtype, requires_grad=True)
    base = x.numpy()
    view = x.as_strided((12,), (2,), 1)
    y = w * view
    positions = set(np.arange(24)[1::2])
    for start in range(24):
        part = list(range(24))[start::step][:3]
        touched = bool(positions & set(part))
        if touched:
            continue
        x[vt.tensor(part)] = 2.0
    vt.autograd.grad(y.abs().sum(), w, retain_graph=True)
    assert base is not None
    x[5] = 3.0
    with pytest.raises(StaleSavedError):
        vt.autograd.grad(y.abs().sum(), w)


def test_many_writes_are_folded_and_found() -> None:
    x, w = vt.ones(1000, 4), vt.tensor(2.0, requires_grad=True)
    saves = [w * x[i] for i in range(0, 1000, 10)]
    for i in range(1000):
        if i % 20:
            x[i] = float(i)
    for nr, y in enumerate(saves):
        if nr % 2:
            with pytest.raises(StaleSavedError):
                y.sum().backward()
        else:
            y.sum().backward()


def test_a_value_that_was_vouched_for_is_looked_at_again() -> None:
    x, w = ramp(4), vt.tensor(2.0, dtype=F64, requires_grad=True)
    y = (w * x[:2]).sum()
    x[3] = 0.0
    y.backward(retain_graph=True)
    x[1] = 0.0
    with pytest.raises(StaleSavedError):
        y.backward()


def test_a_saved_tensor_that_was_transposed_keeps_its_own_geometry() -> None:
    a = ramp(2, 3).requires_grad_()
    x = a.clone()
    y = x * x
    x.t_()
    x_again = y.grad_fn._saved_self  # type: ignore[union-attr]  # read by its name
    assert x_again.shape == (2, 3)
    (grad,) = vt.autograd.grad(y.sum(), a, create_graph=True)
    (second,) = vt.autograd.grad(grad.sum(), a)
    assert grad.tolist() == (2 * a).tolist()
    assert second.tolist() == [[2.0] * 3] * 2


def test_a_read_only_part_of_a_recurrence_is_no_reason_to_refuse() -> None:
    a, drive = vt.tensor(0.5, requires_grad=True), vt.tensor(1.0, requires_grad=True)
    level = vt.zeros(4)
    for t in range(1, 4):
        level[t] = a * level[t - 1] + drive
    level.sum().backward()
    assert a.grad is not None
    assert drive.grad is not None
    # 1 + (1 + a) + (1 + a + a^2)
    assert (a.grad.item(), drive.grad.item()) == (3.0, 4.25)


def test_the_rule_of_pytorch_is_a_switch() -> None:
    x, w = ramp(4), vt.tensor(2.0, dtype=F64, requires_grad=True)
    y = (w * x[:2]).sum()
    x[3] = 0.0
    with (
        vt.autograd.graph.set_overwrite_check("storage"),
        pytest.raises(StaleSavedError, match="was intact at version 0 and is now at version 1"),
    ):
        y.backward()
    y.backward()
    with pytest.raises(ValueError, match="elements"):
        vt.autograd.graph.set_overwrite_check("bytes")  # type: ignore[arg-type]  # on purpose
