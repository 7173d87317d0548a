"""Overwriting what was saved, inside of ``allow_mutation_on_saved_tensors``.

The expected gradients are those of the same program with a ``clone()`` before every save. What
breaks it: a write that keeps nothing, or the bytes of another moment or place; a value that is
restored from memory that went on; a log that outlives what was saved.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from tests.functions import Square
from tests.support import collector_off, leaf_of, needs_global_lock
from vtgrad.autograd.graph import (
    allow_mutation_on_saved_tensors,
    increment_version,
    set_audit,
)
from vtgrad.errors import StaleSavedError

Write = Callable[[vt.Tensor], object]


WRITES: dict[str, Write] = {
    "mul_": lambda x: x.mul_(10),
    "zero_": lambda x: x.zero_(),
    "part": lambda x: x[1:3].fill_(7),
    "row of a view": lambda x: x.view(2, 2)[1].mul_(-1),
    "every second": lambda x: x.as_strided((2,), (2,), 1).neg_(),
    "strided": lambda x: x[::2].exp_(),
    "index": lambda x: x.__setitem__(vt.tensor([3, 0, 3]), 5.0),
    "mask": lambda x: x.masked_fill_(x.detach() > 2, 0.5),
    "scatter_add_": lambda x: x.scatter_add_(0, vt.tensor([1, 1]), vt.ones(2, dtype=vt.float64)),
    "index_copy_": lambda x: x.index_copy_(0, vt.tensor([2]), vt.ones(1, dtype=vt.float64)),
    "put_": lambda x: x.put_(vt.tensor([-1]), vt.ones(1, dtype=vt.float64)),
    "setitem": lambda x: x.__setitem__(slice(0, 2), 9.0),
    "other dtype": lambda x: x.detach().view(vt.int64)[1:].zero_(),
    "detached": lambda x: x.detach().mul_(3),
    "out=": lambda x: vt.add(vt.ones(4, dtype=vt.float64), 1, out=x.detach()),
    "twice": lambda x: (x[:2].mul_(2), x[1:].add_(1)),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_what_was_saved_before_a_write_is_found_again(write: Write) -> None:
    a = leaf_of(1, 2, 3, 4)
    with allow_mutation_on_saved_tensors():
        x = a.clone()
        y = (x * x).sum() + x[1:].sin().sum()
        write(x)
    grads = [vt.autograd.grad(y, a, retain_graph=True)[0] for _ in range(2)]
    for grad in grads:
        expected = 2 * np.arange(1.0, 5.0)
        expected[1:] += np.cos(np.arange(2.0, 5.0))
        np.testing.assert_allclose(grad.numpy(), expected, rtol=1e-14)


def test_a_write_through_another_view_than_the_saved_one() -> None:
    a = leaf_of(1, 2, 3, 4)
    with allow_mutation_on_saved_tensors():
        x = a.clone()
        v = x[2:]
        y = (v * v).sum()
        x.mul_(3)
    (grad,) = vt.autograd.grad(y, a)
    assert grad.tolist() == [0, 0, 6, 8]


def test_a_chain_of_writes_and_its_second_derivative() -> None:
    a = leaf_of(0.5)
    with allow_mutation_on_saved_tensors():
        x = a.clone()
        for _ in range(3):
            x.mul_(x)
    # x = a ** 8
    (first,) = vt.autograd.grad(x.sum(), a, create_graph=True)
    (second,) = vt.autograd.grad(first.sum(), a, create_graph=True)
    (third,) = vt.autograd.grad(second.sum(), a)
    assert first.item() == 8 * 0.5**7
    assert second.item() == 56 * 0.5**6
    assert third.item() == 336 * 0.5**5


def test_a_result_that_was_saved_and_overwritten() -> None:
    a = leaf_of(0.5, 1.0)
    with allow_mutation_on_saved_tensors():
        x = a.clone()
        x.tanh_()
        kept = x.exp()
        kept.add_(1)
        x.zero_()
        y = x + kept
    (grad,) = vt.autograd.grad(y.sum(), a)
    t = np.tanh([0.5, 1.0])
    np.testing.assert_allclose(grad.numpy(), np.exp(t) * (1 - t * t), rtol=1e-14)


@pytest.mark.parametrize("audited", [False, True])
def test_a_result_that_its_derivative_has_saved_again(audited: bool) -> None:
    # The storage of x is made by the first save: it must be one for both that are saved.
    a = leaf_of(0.0)
    with set_audit(audited), allow_mutation_on_saved_tensors():
        x = a.exp()
        (first,) = vt.autograd.grad(x.sum(), a, create_graph=True)
        x.mul_(2)
        (second,) = vt.autograd.grad(first.sum(), a, retain_graph=True)
        (again,) = vt.autograd.grad(x.sum(), a)
    assert (first.tolist(), second.tolist(), again.tolist()) == ([1.0], [1.0], [2.0])


def test_complex_parts_and_lazy_conjugates() -> None:
    a = vt.tensor([1 + 2j, 3 - 1j], requires_grad=True)

    def program(rewinds: bool) -> vt.Tensor:
        z = a.clone()
        c = z.conj() if rewinds else z.conj().clone()
        w = c * c
        z.real.mul_(5)
        return (w * w.conj()).real.sum()

    with allow_mutation_on_saved_tensors():
        y = program(True)
    (found,) = vt.autograd.grad(y, a)
    (expected,) = vt.autograd.grad(program(False), a)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)


def test_a_custom_function_whose_saved_input_is_overwritten() -> None:
    a = leaf_of(1, 2)
    with allow_mutation_on_saved_tensors():
        x = a.clone()
        y = Square.apply(x)
        x.zero_()
    y.sum().backward()
    assert a.grad is not None
    assert a.grad.tolist() == [2, 4]


def test_a_hook_that_writes_during_backward() -> None:
    a = leaf_of(1, 2)
    x = vt.ones(2, dtype=vt.float64) * 3
    with allow_mutation_on_saved_tensors():
        y = a * x
        z = y * 2

        def hook(grad: vt.Tensor) -> None:
            x.zero_()

        z.register_hook(hook)
        z.sum().backward()
    assert a.grad is not None
    assert a.grad.tolist() == [6, 6]


@needs_global_lock
def test_two_passes_at_once_on_two_threads() -> None:
    a = leaf_of(1, 2, 3)
    with allow_mutation_on_saved_tensors():
        x = a.clone()
        for _ in range(30):
            x.mul_(x.sin())
    seen: list[object] = []

    def run() -> None:
        seen.append(vt.autograd.grad(x.sum(), a, retain_graph=True)[0].tolist())

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4
    assert all(each == seen[0] for each in seen)


# -- what stays refused ---------------------------------------------------------------------------


def test_a_write_outside_of_the_block_is_refused_where_it_matters() -> None:
    a = leaf_of(1, 2, 3, 4)
    with allow_mutation_on_saved_tensors():
        x = a.clone()
        y, z = (x[:2] * x[:2]).sum(), (x[2:] * x[2:]).sum()
        x.mul_(2)
    with vt.no_grad():
        x[0] = 5.0
    (grad,) = vt.autograd.grad(z, a)
    assert grad.tolist() == [0, 0, 6, 8]
    with pytest.raises(StaleSavedError, match="was not kept") as caught:
        y.backward()
    assert "keep what is overwritten" not in str(caught.value)
    assert a.grad is None


def test_what_was_saved_before_the_block_has_the_exact_rule() -> None:
    a = leaf_of(1, 2)
    x = a.clone()
    y = (x * x).sum()
    with allow_mutation_on_saved_tensors():
        x.mul_(2)
    with pytest.raises(StaleSavedError):
        y.backward()


def test_a_write_by_other_means_is_refused() -> None:
    a = leaf_of(1, 2)
    with allow_mutation_on_saved_tensors():
        x = a.clone()
        y = (x * x).sum()
        increment_version(x)
    with pytest.raises(StaleSavedError):
        y.backward()


@needs_global_lock
def test_another_thread_does_not_keep() -> None:
    a = leaf_of(1, 2)
    with allow_mutation_on_saved_tensors():
        x = a.clone()
        y = (x * x).sum()

        def write() -> None:
            with vt.no_grad():
                x.zero_()

        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
    with pytest.raises(StaleSavedError):
        y.backward()


def test_other_memory_in_between_cuts_the_chain() -> None:
    a = leaf_of(1, 2)
    with allow_mutation_on_saved_tensors():
        x = vt.tensor([3.0, 4.0], dtype=vt.float64)
        alias = x.view(2)
        y = (a * x).sum()
        x.set_(vt.tensor([8.0, 9.0], dtype=vt.float64))
        z = (a * x).sum()
        alias.zero_()
        x.fill_(1.0)
    for root, expected in ((y, [3, 4]), (z, [8, 9])):
        try:
            (grad,) = vt.autograd.grad(root, a, retain_graph=True)
        except StaleSavedError:
            continue
        assert grad.tolist() == expected


def test_blocks_nest_and_leave_the_mode_as_it_was() -> None:
    a = leaf_of(1, 2)
    with allow_mutation_on_saved_tensors():
        with allow_mutation_on_saved_tensors():
            x = a.clone()
            y = (x * x).sum()
        x.zero_()
    y.backward()
    assert a.grad is not None
    assert a.grad.tolist() == [2, 4]
    with pytest.raises(KeyError), allow_mutation_on_saved_tensors():
        raise KeyError
    x = a.detach().clone()
    y = (a * x).sum()
    x.zero_()
    with pytest.raises(StaleSavedError):
        y.backward()


# -- memory ---------------------------------------------------------------------------------------


def test_nothing_is_kept_when_nothing_is_saved_any_more() -> None:
    with collector_off():
        a = leaf_of(*range(100))
        with allow_mutation_on_saved_tensors():
            x = a.clone()
            y = x * x
            log = x._impl.counter.log
            assert log is not None
            assert log.token is not None
            token = weakref.ref(log.token())
            for _ in range(50):
                x.add_(1)
            assert token() is not None
            del y
            assert token() is None
            x.add_(1)
            assert log.token is None


@pytest.mark.slow
def test_a_long_chain_is_freed_without_recursion() -> None:
    a = leaf_of(1, 2)
    x = vt.ones(2, dtype=vt.float64)
    with allow_mutation_on_saved_tensors():
        y = a * x
        for _ in range(200_000):
            x.add_(1)
    y.sum().backward()
    assert a.grad is not None
    assert a.grad.tolist() == [1, 1]
    del y
