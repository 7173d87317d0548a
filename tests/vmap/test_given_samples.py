"""Tensors that are made inside of `vmap` without samples, and then written with samples."""

import gc
import random
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as np_
import vtgrad.ops.rules.batches.given_samples as given_samples
from tests.behaviour.vmap.test_writes import INTO_ONE
from tests.support import ramp
from vtgrad.errors import BatchedTensorError, BatchedWriteError, VtgradError
from vtgrad.func.vmap import Randomness
from vtgrad.graph.thread_levels import thread

X = vt.tensor([1.0, 2.0, 3.0], dtype=vt.float64)


def rows(function: Callable[..., Any], *batches: vt.Tensor) -> list[Any]:
    """What the function gives sample by sample."""
    return [function(*parts) for parts in zip(*batches, strict=True)]


def test_a_recurrence_writes_its_levels_into_zeros() -> None:
    def levels(rate: vt.Tensor) -> vt.Tensor:
        found = vt.zeros(4, dtype=vt.float64)
        found[0] = 1.0
        for t in range(1, 4):
            found[t] = rate * found[t - 1] + 1.0
        return found

    assert vt.vmap(levels)(X).tolist() == [[1, 2, 3, 4], [1, 3, 7, 15], [1, 4, 13, 40]]
    slopes = vt.vmap(vt.func.grad(lambda rate: levels(rate)[3]))(X)
    # 1 + r + r**2 + r**3
    assert slopes.tolist() == [1 + 2 * r + 3 * r**2 for r in (1, 2, 3)]
    assert vt.vmap(vt.func.jacfwd(levels))(X).tolist() == [
        [0, 1, 1 + 2 * r, 1 + 2 * r + 3 * r**2] for r in (1, 2, 3)
    ]


def test_views_made_before_the_write_follow_it() -> None:
    def f(x: vt.Tensor) -> tuple[vt.Tensor, ...]:
        table = vt.zeros(2, 2)
        row, turned, detached = table[1], table.t(), table.detach()
        corner = detached[1, 1]
        part, _ = table.unbind()
        with vt.no_grad():
            quiet = table[0]
        table[1] = x
        detached[0] = 2.0 * x
        row[0] = 9.0
        return row, turned, corner, part, quiet

    row, turned, corner, part, quiet = vt.vmap(f)(X)
    assert row.tolist() == [[9, 1], [9, 2], [9, 3]]
    assert turned.tolist() == [[[2, 9], [2, 1]], [[4, 9], [4, 2]], [[6, 9], [6, 3]]]
    assert corner.tolist() == [1, 2, 3]
    assert part.tolist() == quiet.tolist() == [[2, 2], [4, 4], [6, 6]]


def test_a_write_through_a_view_gives_its_base_samples() -> None:
    def f(x: vt.Tensor) -> vt.Tensor:
        table = vt.ones(2, 2)
        table.t()[0].mul_(x)
        return table

    assert vt.vmap(f)(X).tolist() == [[[x, 1], [x, 1]] for x in (1, 2, 3)]


def test_an_index_of_each_sample_gives_samples_too() -> None:
    def f(j: vt.Tensor, x: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        table = vt.zeros(3)
        table[j] = 7.0
        other = vt.zeros(3)
        row = other[j]
        row += x
        other[j] *= 2.0
        return table, other

    table, other = vt.vmap(f)(vt.tensor([0, 2]), vt.tensor([1.0, 5.0]))
    assert table.tolist() == [[7, 0, 0], [0, 0, 7]]
    assert other.tolist() == [[2, 0, 0], [0, 0, 10]]


def test_what_an_inner_call_made_gets_samples_of_both_calls() -> None:
    def outer(a: vt.Tensor) -> Any:
        def inner(b: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
            first, second = vt.zeros(2), vt.zeros(2)
            first[0] = a
            first[1] = b
            second[0] = b
            second[1] = a
            return first, second

        return vt.vmap(inner)(vt.tensor([10.0, 20.0]))

    first, second = vt.vmap(outer)(X)
    assert first.tolist() == [[[a, 10], [a, 20]] for a in (1, 2, 3)]
    assert second.tolist() == [[[10, a], [20, a]] for a in (1, 2, 3)]


def test_what_was_saved_before_the_write_keeps_its_values() -> None:
    w = vt.tensor(2.0, requires_grad=True, dtype=vt.float64)

    def f(x: vt.Tensor) -> vt.Tensor:
        table = vt.zeros(2, dtype=vt.float64)
        table[0] = w
        early = (table * w).sum()
        table += x
        return early * table[0]

    found = vt.vmap(f)(X)
    assert found.tolist() == [12, 16, 20]
    # w**2 * (w + x) for each of the samples.
    assert vt.autograd.grad(found.sum(), w)[0].item() == sum(3 * 4 + 4 * x for x in (1, 2, 3))


def test_gradients_inside_do_not_add_up_over_the_samples() -> None:
    w = vt.tensor(2.0, dtype=vt.float64)

    def loss(w: vt.Tensor, x: vt.Tensor) -> vt.Tensor:
        table = vt.zeros(2, dtype=vt.float64)
        table[0] = w
        table[1] = w * w
        table *= x
        return table.sum()

    found = vt.vmap(vt.func.grad(loss), in_dims=(None, 0))(w, X)
    assert found.tolist() == [5, 10, 15]


def test_arrays_of_the_namespace_get_samples_too() -> None:
    def f(x: np_.ndarray) -> np_.ndarray:
        table, identity, steps = np_.zeros((2, 2)), np_.eye(2), np_.arange(2.0)
        table[0] = x
        identity[1, 0] += x
        steps *= x
        return table @ identity + steps

    found = vt.vmap(f)(np_.array([1.0, 2.0]))
    # [[x, x], [0, 0]] @ [[1, 0], [x, 1]] + [0, x]
    assert found.tolist() == [[[2, 2], [0, 1]], [[6, 4], [0, 2]]]


def test_ranges_of_the_namespace_get_samples_too() -> None:
    def f(x: np_.ndarray) -> tuple[np_.ndarray, ...]:
        made = np_.linspace(0, 1, 3), np_.logspace(0, 2, 3), np_.geomspace(1, 4, 3)
        for array in made:
            array[1] = x
        return made

    equal, powers, factors = vt.vmap(f)(np_.array([5.0, 6.0]))
    assert equal.tolist() == [[0, 5, 1], [0, 6, 1]]
    assert powers.tolist() == [[1, 5, 100], [1, 6, 100]]
    assert factors.tolist() == [[1, 5, 4], [1, 6, 4]]


def test_copies_of_the_namespace_get_samples_too() -> None:
    start = np_.array([1.0, 2.0])
    numpys = np.array([5.0, 6.0])

    def f(x: np_.ndarray) -> tuple[np_.ndarray, ...]:
        made = (
            start.copy(),
            np_.copy(start),
            np_.array(start),
            start.astype(int).astype(float),
            np_.array(numpys),
            np_.array(0.0).reshape(1),
        )
        for array in made:
            array[0] += x
        return made

    found = vt.vmap(f)(np_.array([10.0, 20.0]))
    assert [part.tolist() for part in found[:4]] == [[[11, 2], [21, 2]]] * 4
    assert [part.tolist() for part in found[4:]] == [[[15, 6], [25, 6]], [[10], [20]]]
    assert (start.tolist(), numpys.tolist()) == ([1, 2], [5, 6])


def test_gradients_pass_through_a_copy_that_got_samples() -> None:
    def loss(w: np_.ndarray, x: np_.ndarray) -> np_.ndarray:
        own = w.copy()
        own[0] *= x
        return np_.sum(own * own)

    w = np_.array([3.0, 2.0])
    found = vt.vmap(vt.func.grad(loss), in_dims=(None, 0))(w, np_.array([1.0, 2.0]))
    assert found.tolist() == [[6, 4], [24, 4]]


def test_real_parts_follow_the_write_and_lead_it() -> None:
    def f(x: vt.Tensor) -> tuple[vt.Tensor, ...]:
        z = vt.zeros(3, dtype=vt.complex128)
        pairs, imaginary, last = vt.view_as_real(z), z.imag[1:], z.real[2]
        z.real = x
        imaginary[0] = 2 * x
        turned = np_.zeros((2, 2), dtype=complex)
        below = turned.T[::-1].imag
        turned[0, 1] = x * 1j
        return z, pairs, last, np_.real(below)

    z, pairs, last, below = vt.vmap(f)(X)
    assert z.tolist() == [[x, x + 2j * x, x] for x in (1, 2, 3)]
    assert pairs.tolist() == [[[x, 0], [x, 2 * x], [x, 0]] for x in (1, 2, 3)]
    assert last.tolist() == [1, 2, 3]
    assert below.tolist() == [[[x, 0], [0, 0]] for x in (1, 2, 3)]
    slopes = vt.vmap(vt.func.grad(lambda x: f(x)[1].square().sum()))(X)
    assert slopes.tolist() == [14 * x for x in (1, 2, 3)]


def test_views_that_run_backwards_follow_the_write() -> None:
    def f(x: vt.Tensor) -> tuple[vt.Tensor, ...]:
        table = np_.zeros((2, 3))
        turned, part = table[::-1, ::-1], table.T[:0:-1]
        table[1] = [x, 2 * x, 3 * x]
        turned[1, 2] = 7.0
        part[0, 0] *= x
        part[1, 0] = 5.0
        return turned, part

    turned, part = vt.vmap(f)(X)
    assert turned.tolist() == [[[3 * x, 2 * x, x], [0, 5, 7]] for x in (1, 2, 3)]
    assert part.tolist() == [[[0, 3 * x], [5, 2 * x]] for x in (1, 2, 3)]


def test_arrays_like_that_of_a_sample_get_samples_too() -> None:
    def f(x: vt.Tensor) -> tuple[vt.Tensor, ...]:
        made = np_.zeros_like(x), np_.ones_like(x), np_.full_like(x, 4), np_.full_like(x, x[0])
        for array in made:
            array[1] = x[0]
        return made

    x = np_.array([[1.0, 2.0], [3.0, 4.0]])
    zeros, ones, fours, own = vt.vmap(f)(x)
    assert zeros.tolist() == [[0, 1], [0, 3]]
    assert ones.tolist() == [[1, 1], [1, 3]]
    assert fours.tolist() == [[4, 1], [4, 3]]
    assert own.tolist() == [[1, 1], [3, 3]]
    turned = vt.vmap(lambda m: np_.empty_like(m) * 0 + m, in_dims=2)(np_.ones((2, 3, 4)))
    assert turned.shape == (4, 2, 3)


def test_a_draw_of_its_own_gives_each_sample_memory_of_its_own() -> None:
    def f(x: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        noise = vt.empty(3)
        view = noise[0]
        noise.normal_()
        return noise * x, view

    vt.manual_seed(0)
    noise, first = vt.vmap(f, randomness="different")(vt.ones(4))
    assert len(set(noise.reshape(-1).tolist())) == 12
    assert first.tolist() == noise[:, 0].tolist()


@pytest.mark.parametrize("write", INTO_ONE)
def test_what_was_made_inside_gets_samples(write: Any) -> None:
    def made(a: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        whole = vt.ones(2, 3, dtype=vt.float64)
        write(whole[1], a)
        return whole, whole[:, 0] * 2

    found = vt.vmap(made)(ramp(2, 3))
    for nr, sample in enumerate(ramp(2, 3)):
        assert [part[nr].tolist() for part in found] == [part.tolist() for part in made(sample)]


def test_a_draw_once_for_all_is_one_for_what_was_made_inside() -> None:
    found = vt.vmap(lambda x: vt.zeros(3).normal_() + x * 0, randomness="same")(X)
    assert found[0].tolist() == found[2].tolist()


def refused(function: Callable[[vt.Tensor], object]) -> None:
    with pytest.raises(BatchedWriteError):
        vt.vmap(function)(X)


@pytest.mark.parametrize("outer", ["same", "different"])
@pytest.mark.parametrize("inner", ["same", "different"])
def test_a_draw_in_an_inner_call_follows_both_calls(outer: Randomness, inner: Randomness) -> None:
    def inside(x: vt.Tensor) -> vt.Tensor:
        table = vt.zeros(2, 3)
        table[1].normal_()
        return table

    over_rows = vt.vmap(inside, randomness=inner)
    found = vt.vmap(over_rows, randomness=outer)(vt.zeros(2, 2))
    assert found.shape == (2, 2, 2, 3)
    assert found[:, :, 0].tolist() == vt.zeros(2, 2, 3).tolist()
    drawn = found[:, :, 1]
    assert bool((drawn != 0).all())
    assert vt.equal(drawn[0], drawn[1]) == (outer == "same")
    assert vt.equal(drawn[:, 0], drawn[:, 1]) == (inner == "same")


def test_what_others_may_share_is_refused_and_stays() -> None:
    def shared_with_numpy(x: vt.Tensor) -> None:
        table = vt.zeros(3, dtype=vt.float64)
        array = table.numpy()
        try:
            table.add_(x)
        finally:
            assert array.tolist() == [0, 0, 0]

    def of_another_dtype(x: vt.Tensor) -> None:
        table = vt.zeros(3, dtype=vt.float64)
        bits = table.view(vt.int64)
        try:
            table.add_(x)
        finally:
            assert bits.tolist() == [0, 0, 0]

    def leaf(x: vt.Tensor) -> None:
        table = vt.zeros(3, dtype=vt.float64)
        alias = table.detach().requires_grad_()
        try:
            table.add_(x)
        finally:
            assert alias.tolist() == [0, 0, 0]

    def result(x: vt.Tensor) -> None:
        (vt.zeros(3) + 1.0).add_(x)

    for function in (shared_with_numpy, of_another_dtype, leaf, result):
        refused(function)
    captured: list[vt.Tensor] = []

    def made_in_another_call(x: vt.Tensor) -> vt.Tensor:
        captured.append(vt.zeros(3))
        return x

    vt.vmap(made_in_another_call)(X)
    refused(lambda x: captured[0].add_(x))


def test_a_leaf_is_refused_as_outside() -> None:
    def f(x: vt.Tensor) -> None:
        vt.zeros(3, requires_grad=True).add_(x)

    with pytest.raises(VtgradError):
        vt.vmap(f)(X)


def test_a_tensor_that_got_samples_ends_with_its_vmap() -> None:
    kept: list[vt.Tensor] = []

    def f(x: vt.Tensor) -> vt.Tensor:
        table = vt.zeros(2)
        kept.append(table[0])
        table[0] = x
        return table

    vt.vmap(f)(X)
    with pytest.raises(BatchedTensorError):
        kept[0] + 1


def test_nothing_of_it_is_left_behind() -> None:
    gone: list[weakref.ref[vt.Tensor]] = []

    def f(x: vt.Tensor) -> vt.Tensor:
        table = vt.zeros(2)
        view = table[0]
        unused = vt.zeros(2)[0]
        gone.extend(map(weakref.ref, (table, view, unused)))
        table[1] = x
        return table.sum()

    gc.disable()
    try:
        vt.vmap(f)(X)
        assert [ref() for ref in gone] == [None] * 3
    finally:
        gc.enable()


def test_views_that_are_dropped_are_not_kept_meanwhile() -> None:
    def f(x: vt.Tensor) -> vt.Tensor:
        table = vt.zeros(4)
        total = x
        for nr in range(60):
            total = total + table[nr % 4]
        (level,) = thread.batch_levels
        assert len(level.aliases) < 200
        return total

    assert vt.vmap(f)(X).tolist() == [1, 2, 3]


def test_what_is_broken_off_has_changed_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupt(BaseException):
        pass

    def interrupted(*_: object) -> vt.Tensor:
        raise Interrupt

    def f(x: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        table = vt.zeros(2)
        row = table[0]
        with monkeypatch.context() as patch:
            patch.setattr(given_samples, "_find", interrupted)
            with pytest.raises(Interrupt):
                table[1] = x
        assert row.item() == table.sum().item() == 0
        table[0] = x
        return table, row

    table, row = vt.vmap(f)(X)
    assert table.tolist() == [[1, 0], [2, 0], [3, 0]]
    assert row.tolist() == [1, 2, 3]


def test_views_that_are_made_while_another_thread_drops_some_are_kept() -> None:
    def f(x: vt.Tensor) -> vt.Tensor:
        table = vt.zeros(4)
        (level,) = thread.batch_levels
        stop = threading.Event()

        def drop() -> None:
            while not stop.is_set():
                level.drop_aliases()

        others = [threading.Thread(target=drop) for _ in range(2)]
        for other in others:
            other.start()
        views = []
        try:
            for nr in range(3000):
                views.append(table[nr % 4])
                del views[: nr % 2]
        finally:
            stop.set()
            for other in others:
                other.join()
        table += x
        return vt.stack(views)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        found = vt.vmap(f)(X)
    finally:
        sys.setswitchinterval(before)
    assert (found == X.unsqueeze(1)).all()


# -- random programs ---------------------------------------------------------------------------


class Program:
    """Tensors made inside, views of them, and writes of what has samples and what has none."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.detaches = False

    def __call__(self, x: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
        rng = random.Random(self.seed)
        tensors = [vt.zeros(2, 3, dtype=vt.float64), vt.ones(3, dtype=vt.float64)]
        values = [x, w, x * w, vt.tensor(0.5, dtype=vt.float64)]
        for _ in range(10):
            target = rng.choice(tensors)
            step = rng.randrange(8)
            if step == 0 and target.dim():
                tensors.append(target[rng.randrange(target.shape[0])])
            elif step == 1 and target.dim():
                tensors.append(target.transpose(0, -1))
            elif step == 2:
                detached = rng.random() < 0.3
                self.detaches |= detached
                tensors.append(target.detach() if detached else target[...])
            elif step == 3:
                tensors.append(vt.full((2, 3), 2.0, dtype=vt.float64))
            elif step == 4:
                values.append(target.clone().sum() * 0.3)
            elif step == 5:
                target.mul_(rng.choice(values))
            elif step == 6 and target.dim():
                target[rng.randrange(target.shape[0])] = rng.choice(values)
            else:
                target += rng.choice(values)
        total = sum((t.sin().sum() * (nr + 1) for nr, t in enumerate(tensors)), values[-1])
        assert isinstance(total, vt.Tensor)
        return total


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_give_what_a_loop_gives(seed: int) -> None:
    program = Program(seed)
    x = vt.tensor([0.3, -0.7, 1.2], dtype=vt.float64)
    w = vt.tensor([0.9, 0.4, -0.2], dtype=vt.float64)
    ways: list[Callable[..., Any]] = [
        program,
        vt.func.grad(program, argnums=(0, 1)),
        vt.func.jacfwd(program, argnums=1),
    ]
    for way in ways:
        try:
            expected = [np.asarray(part) for part in _parts(rows(way, x, w))]
        except VtgradError:
            # What was saved may be written; with samples it may be another tensor by then.
            continue
        found = vt.vmap(way)(x, w)
        together = found if isinstance(found, tuple) else (found,)
        for one, other in zip(together, expected, strict=True):
            np.testing.assert_allclose(np.asarray(one), other, 1e-10, 1e-12)
    # One of the arguments has no samples; the gradient outside is the sum over them.
    for in_dims in ((0, None), (None, 0)):
        both = [
            vt.tensor([0.3, -0.7, 1.2], dtype=vt.float64, requires_grad=True)
            if dim == 0
            else vt.tensor(0.8, dtype=vt.float64, requires_grad=True)
            for dim in in_dims
        ]
        parts = [
            [one[nr] if dim == 0 else one for one, dim in zip(both, in_dims, strict=True)]
            for nr in range(3)
        ]
        try:
            wanted = vt.autograd.grad(vt.stack([program(*part) for part in parts]).sum(), both)
        except VtgradError:
            continue
        try:
            got = vt.autograd.grad(vt.vmap(program, in_dims=in_dims)(*both).sum(), both)
        except BatchedWriteError:
            # A detached alias was written, and has a history of its own.
            assert program.detaches
            continue
        for gradient, true in zip(got, wanted, strict=True):
            np.testing.assert_allclose(np.asarray(gradient), np.asarray(true), 1e-10, 1e-12)


def _parts(found: list[Any]) -> list[vt.Tensor]:
    """What the samples have given, stacked, for each of the results."""
    if isinstance(found[0], tuple):
        return [vt.stack(list(parts)) for parts in zip(*found, strict=True)]
    return [vt.stack(found)]
