"""What a call may have in another way than the recorded one, and what a replay then does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import RecordingError, ReplayGuardError
from vtgrad.jit import api


def leaf(*values: float) -> vt.Tensor:
    return vt.tensor(values, dtype=vt.float64, requires_grad=True)


def plain(*values: float) -> vt.Tensor:
    return vt.tensor(values, dtype=vt.float64)


# -- objects that are the same --------------------------------------------------------------------


def test_a_leaf_that_is_passed_twice_has_one_gradient() -> None:
    def slopes(a: vt.Tensor, b: vt.Tensor) -> tuple[vt.Tensor | None, ...]:
        return vt.autograd.grad((a * b * b).sum(), (a, b))

    fast = api.trace(slopes, leaf(1.0, 2.0), leaf(3.0, 4.0))
    both = leaf(5.0, 6.0)
    with pytest.raises(ReplayGuardError, match="argument 2 is the same object as argument 1"):
        fast(both, both)
    twice = api.trace(slopes, both, both)
    found = twice(both, both)[0]
    assert found is not None
    assert found.tolist() == [75.0, 108.0]
    with pytest.raises(ReplayGuardError, match="argument 2 is another object than argument 1"):
        twice(leaf(1.0, 2.0), leaf(3.0, 4.0))


def test_a_leaf_of_the_closure_that_is_passed_has_one_gradient() -> None:
    w = leaf(1.0, 2.0)

    def step(a: vt.Tensor) -> None:
        (a * w * w).sum().backward()

    fast = api.trace(step, leaf(3.0, 4.0))
    with pytest.raises(ReplayGuardError, match="is the same object as a tensor from outside"):
        fast(w)
    assert w.grad is None


@pytest.mark.parametrize("whole", [True, False])
def test_the_gradient_of_a_leaf_that_shares_memory_is_guarded(whole: bool) -> None:
    base = vt.ones(3 if whole else 9, dtype=vt.float64)
    w = base[:3].detach().requires_grad_()

    def step(x: vt.Tensor) -> None:
        (w * x).sum().backward()

    x = plain(1.0, 2.0, 3.0)
    fast = api.trace(step, x)
    fast(x)
    with pytest.raises(ReplayGuardError, match=r"has a \.grad, and had none"):
        fast(x)
    w.grad = None
    w.requires_grad_(False)
    with pytest.raises(ReplayGuardError, match="does not require grad"):
        fast(x)


def test_an_array_that_is_written_must_not_overlap() -> None:
    def program(a: np.ndarray, b: vt.Tensor) -> vt.Tensor:
        a += 1
        return b.sum()

    fast = api.trace(program, np.zeros(2), plain(1.0, 2.0))
    y = np.array([3.0, 4.0])
    with pytest.raises(ReplayGuardError, match="argument 1 shares memory with argument 2"):
        fast(y, vt.from_numpy(y))
    assert y.tolist() == [3.0, 4.0]
    fast(y, plain(1.0, 2.0))
    assert y.tolist() == [4.0, 5.0]


def test_a_closure_that_writes_to_memory_of_an_argument_is_refused() -> None:
    base = plain(1.0, 2.0, 3.0)

    def program(x: vt.Tensor) -> vt.Tensor:
        # What is written is there already, in the recorded run.
        base[1] = x[0]
        return x * 2

    with pytest.raises(RecordingError, match="writes to memory of an argument") as caught:
        api.trace(program, base[1:])
    assert caught.value.line == (__file__, program.__code__.co_firstlineno)


def test_one_gradient_of_two_tensors_is_refused() -> None:
    a, b = leaf(1.0), leaf(2.0)

    def program(x: vt.Tensor) -> None:
        (a * x).sum().backward()
        b.grad = a.grad

    with pytest.raises(RecordingError, match=r"two tensors get one \.grad") as caught:
        api.trace(program, plain(3.0))
    assert caught.value.line == (__file__, program.__code__.co_firstlineno)


# -- containers -----------------------------------------------------------------------------------


def test_keys_of_dicts_have_one_type() -> None:
    def scaled(by: dict[float, vt.Tensor]) -> list[vt.Tensor]:
        return [value * key for key, value in by.items()]

    fast = api.trace(scaled, {1: vt.tensor([1, 2])})
    with pytest.raises(ReplayGuardError, match="nested otherwise"):
        fast({1.0: vt.tensor([1, 2])})
    assert fast({1: vt.tensor([3, 4])})[0].tolist() == [3, 4]


@dataclass
class Fit:
    w: vt.Tensor

    def __post_init__(self) -> None:
        self.scale = 2.0


class Row(tuple[vt.Tensor, ...]):
    scale: float


@pytest.mark.parametrize("made", [Fit, lambda w: Row([w])])
def test_what_is_more_than_its_parts_is_no_container(
    made: Callable[[vt.Tensor], Fit | Row],
) -> None:
    value = made(plain(1.0))
    value.scale = 2.0
    with pytest.raises(RecordingError, match=f"of type {type(value).__name__}, whose state"):
        api.trace(lambda fit: fit.scale, value)


def test_a_program_that_changes_its_containers_is_refused() -> None:
    def update(state: dict[str, vt.Tensor]) -> None:
        state["w"] = state["w"] * 2

    state = {"w": plain(1.0)}
    with pytest.raises(RecordingError, match="changes a list, dict or dataclass") as caught:
        api.trace(update, state)
    assert caught.value.line == (__file__, update.__code__.co_firstlineno)
    assert state["w"].tolist() == [1.0]


# -- what is left behind --------------------------------------------------------------------------


@contextmanager
def settings_kept() -> Iterator[None]:
    try:
        yield
    finally:
        vt.set_grad_enabled(True)
        vt.set_default_dtype(vt.float32)


@pytest.mark.parametrize(
    "change", [lambda: vt.set_grad_enabled(False), lambda: vt.set_default_dtype(vt.float64)]
)
def test_settings_that_are_left_behind_are_refused(change: Callable[[], object]) -> None:
    def program(x: vt.Tensor) -> vt.Tensor:
        change()
        return x * 2

    with settings_kept():
        with pytest.raises(RecordingError, match="leaves another grad mode"):
            api.trace(program, plain(1.0))
        assert vt.is_grad_enabled()
        assert vt.get_default_dtype() is vt.float32


def test_hooks_that_are_left_behind_are_refused() -> None:
    def program(x: vt.Tensor) -> vt.Tensor:
        x.register_hook(lambda grad: grad * 2)
        return x.detach() * 2

    x = leaf(1.0)
    with pytest.raises(RecordingError, match="a hook"):
        api.trace(program, x)
    x.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1.0]


def test_writes_to_no_elements_move_versions() -> None:
    fast = api.trace(lambda x: x.zero_(), vt.zeros(0))
    x = vt.zeros(0)
    fast(x)
    assert x._version == 1


# -- shapes that values decide --------------------------------------------------------------------

VALUES = ([-1.0, -2.0, -3.0], [1.0, -2.0, 3.0], [-1.0, 2.0, -3.0], [-1.0, 2.0, 3.0])


def masked(x: vt.Tensor) -> vt.Tensor:
    y = x * 1.0
    y[y > 0] = -5
    return y


def counted(x: vt.Tensor) -> vt.Tensor:
    return vt.ones((x > 0).nonzero().shape[0])


def chosen(x: vt.Tensor) -> vt.Tensor:
    return x[vt.from_numpy(np.flatnonzero(x.numpy() > 0))].sum()


@pytest.mark.parametrize("program", [masked, counted, chosen])
@pytest.mark.parametrize("recorded", VALUES)
def test_shapes_that_values_decide_are_guarded(
    program: Callable[[vt.Tensor], vt.Tensor], recorded: list[float]
) -> None:
    fast = api.trace(program, plain(*recorded))
    for values in VALUES:
        x = plain(*values)
        if sum(v > 0 for v in values) == sum(v > 0 for v in recorded):
            assert fast(x).tolist() == program(x).tolist()
        else:
            with pytest.raises(ReplayGuardError, match="another shape") as caught:
                fast(x)
            assert caught.value.line is not None
            assert caught.value.line[0] == __file__


# -- arrays that NumPy makes of tensors -----------------------------------------------------------


def _assigned(x: vt.Tensor, at: vt.Tensor, rows: vt.Tensor) -> vt.Tensor:
    x = x.clone()
    x[at] = rows
    return x


@pytest.mark.parametrize(
    "write",
    [
        _assigned,
        lambda x, at, rows: x.index_put((at,), rows),
        lambda x, at, rows: x.index_put((at, at), rows[:, 0]),
        lambda x, at, rows: x.index_copy(0, at, rows),
        lambda x, at, rows: x.put(at, rows[:, 0]),
        lambda x, at, rows: x.scatter(0, at[:, None].expand(4, 9), rows),
        lambda x, at, rows: x.scatter_add(0, at[:, None].expand(4, 9), rows),
        lambda x, at, rows: x.gather(0, at[:, None].expand(4, 9)) * rows,
    ],
)
def test_indices_may_be_other_ones(
    write: Callable[[vt.Tensor, vt.Tensor, vt.Tensor], vt.Tensor],
) -> None:
    rng = np.random.default_rng(0)
    x, rows = vt.tensor(rng.normal(size=(9, 9))), vt.tensor(rng.normal(size=(4, 9)))
    fast = api.trace(write, x, vt.tensor([0, 2, 1, 8]), rows)
    for at in ([8, 0, 3, 5], [7, 6, 5, 4]):
        found = fast(x, vt.tensor(at), rows)
        assert vt.equal(found, write(x, vt.tensor(at), rows))


def test_writes_to_the_array_of_a_tensor_are_recorded() -> None:
    def program(x: vt.Tensor) -> vt.Tensor:
        np.asarray(x)[...] = True
        return x.clone()

    # The value that is written is there already: no comparison of memory would show it.
    fast = api.trace(program, vt.tensor(True))
    x = vt.tensor(False)
    assert fast(x)
    assert x


@pytest.mark.parametrize(
    "program",
    [
        lambda x: vt.from_numpy(np.nan_to_num(x.numpy(), copy=False)).clone(),
        lambda x: np.median(x.numpy(), overwrite_input=True),
        lambda x: vt.from_numpy(np.trim_zeros(x.numpy())).clone(),
    ],
)
def test_functions_that_write_or_choose_unseen_are_refused(
    program: Callable[[vt.Tensor], object],
) -> None:
    with pytest.raises(RecordingError, match="cannot be recorded"):
        api.trace(program, plain(1.0, 2.0))


def test_writes_by_a_contiguous_array_are_recorded() -> None:
    def program(x: vt.Tensor) -> vt.Tensor:
        np.ascontiguousarray(x.numpy())[...] = True
        return x.clone()

    fast = api.trace(program, vt.tensor(True))
    assert fast(vt.tensor(False))


def test_warnings_as_errors_are_refused() -> None:
    def program(x: vt.Tensor) -> vt.Tensor:
        with np.errstate(all="raise"):
            return vt.from_numpy(1 / x.numpy())

    with pytest.raises(RecordingError, match="warnings are errors here"):
        api.trace(program, plain(1.0))


def test_a_recording_that_is_not_accepted_names_the_program() -> None:
    seen = []

    def program(x: vt.Tensor) -> vt.Tensor:
        seen.append(x)
        return x * len(seen)

    with pytest.raises(RecordingError, match="pass and return it as a tensor") as caught:
        api.trace(program, plain(1.0))
    assert caught.value.line == (__file__, program.__code__.co_firstlineno)
