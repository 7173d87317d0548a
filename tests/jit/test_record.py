"""What a recording knows, refuses, and leaves as it was."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from tests.jit.replaying import outcome, replayed
from tests.support import needs_global_lock
from vtgrad.errors import RecordingError, ReplayGuardError
from vtgrad.jit.interpret import interpret
from vtgrad.jit.program_call import Call
from vtgrad.jit.record import record
from vtgrad.jit.recording import Result, Same, Source
from vtgrad.jit.recording_array import RecordingArray
from vtgrad.jit.steps import Kind
from vtgrad.storage.arrays import Array


def normal(*shape: int, seed: int = 0, grad: bool = False) -> vt.Tensor:
    found = vt.tensor(np.random.default_rng(seed).normal(size=shape))
    return found.requires_grad_() if grad else found


# -- programs ----------------------------------------------------------------------------------


def recurrence(a: vt.Tensor, drive: vt.Tensor) -> object:
    level = vt.zeros(10, 4, dtype=vt.float64)
    for t in range(9):
        level[t + 1] = a * level[t] + drive
    y = level.sum()
    return y.detach(), vt.autograd.grad(y, [a, drive])


def heat(u: vt.Tensor) -> object:
    v = u.clone()
    for _ in range(4):
        v[1:-1, 1:-1] += 0.1 * (v[2:, 1:-1] + v[:-2, 1:-1] - 2 * v[1:-1, 1:-1])
    return vt.autograd.grad((v**2).sum(), u)


def kalman(q: vt.Tensor, r: vt.Tensor, ys: vt.Tensor) -> object:
    m = vt.tensor(0.0, dtype=vt.float64)
    p = vt.tensor(1e3, dtype=vt.float64)
    total = vt.tensor(0.0, dtype=vt.float64)
    for i in range(6):
        p = p + q
        s = p + r
        v = ys[i] - m
        k = p / s
        total = total - 0.5 * (vt.log(s) + v * v / s)
        m = m + k * v
        p = p * (1 - k)
    return total.detach(), vt.autograd.grad(total, [q, r])


def lstm(*args: vt.Tensor) -> object:
    x, h, c, w, u, b = args
    for t in range(3):
        i, f, g, o = (x[t] @ w + h @ u + b).chunk(4, dim=-1)
        c = vt.sigmoid(f) * c + vt.sigmoid(i) * vt.tanh(g)
        h = vt.sigmoid(o) * vt.tanh(c)
    return vt.autograd.grad(h.sum(), [w, u, b])


def with_hooks(x: vt.Tensor) -> object:
    y = x * 2
    y.register_hook(lambda g: g * g)
    (y * x).sum().backward()
    assert x.grad is not None
    return y.detach() + x.grad


def draws(x: vt.Tensor) -> object:
    return x * vt.rand(3, dtype=vt.float64) + vt.randn(3)


PROGRAMS: dict[str, tuple[Callable[..., object], tuple[object, ...]]] = {
    "recurrence": (recurrence, (normal(4, grad=True), normal(4, seed=1, grad=True))),
    "heat": (heat, (normal(6, 6, grad=True),)),
    "kalman": (
        kalman,
        (
            vt.tensor(0.3, dtype=vt.float64, requires_grad=True),
            vt.tensor(0.5, dtype=vt.float64, requires_grad=True),
            normal(6),
        ),
    ),
    "lstm": (
        lstm,
        (
            normal(3, 5, 4),
            normal(5, 6),
            normal(5, 6, seed=1),
            normal(4, 24, grad=True),
            normal(6, 24, grad=True),
            normal(24, grad=True),
        ),
    ),
    "in place": (lambda x: x.mul_(2).add_(1), (normal(3),)),
    "hooks": (with_hooks, (normal(3, grad=True),)),
    "draws": (draws, (normal(3),)),
    "arrays": (lambda x: np.sin(x) @ x, (np.arange(4.0),)),
    "users zeros": (lambda x: np.zeros(3) + np.asarray(x), (np.arange(3.0),)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_replay_on_new_values_has_the_bits_of_an_eager_run(name: str) -> None:
    assert outcome(*PROGRAMS[name]) == "exact"


def gradient_of(x: vt.Tensor) -> vt.Tensor:
    assert x.grad is not None
    return x.grad


def test_sgd_in_place_on_tensors_of_a_closure() -> None:
    w = normal(4, 2, grad=True)

    def step(x: vt.Tensor, t: vt.Tensor) -> vt.Tensor:
        w.grad = None
        loss = ((vt.tanh(x @ w) - t) ** 2).mean()
        loss.backward()
        grad = gradient_of(w)
        with vt.no_grad():
            w.sub_(0.1 * grad)
        return loss.detach()

    x, t = normal(5, 4), normal(5, 2)
    before = w.detach().clone()
    made = record(step, (x, t))
    assert w.equal(before)
    assert w.grad is None
    assert w._version == 0
    (memory,) = made.outside
    assert memory.written
    assert memory.sources == [Source(w._impl)]
    assert [change.by for change in made.versions] == [1]
    assert [change.holder for change in made.grads] == [w._impl]
    own = w.detach().numpy().copy()
    results = interpret(
        made.program,
        [x.numpy().reshape(-1).view(np.uint8), t.numpy().reshape(-1).view(np.uint8)],
        [own.reshape(-1).view(np.uint8)],
    )
    loss = step(x, t)
    assert results[0].tobytes() == loss.numpy().tobytes()
    assert own.tobytes() == w.detach().numpy().tobytes()
    assert results[1].tobytes() == gradient_of(w).numpy().tobytes()


# -- what a recording tells --------------------------------------------------------------------


def test_a_slice_of_data_has_a_buffer_of_its_own() -> None:
    data = normal(10, 3)
    made = record(lambda x: x * 2, (data[4:6],))
    (buffer,) = [x for x in made.program.buffers if x.kind is Kind.ARGUMENT]
    assert buffer.nbytes == 2 * 3 * 8
    assert made.arguments[0].places[0].offset == 0


def test_arguments_that_overlap_share_a_buffer() -> None:
    data = normal(4, 3)
    made = record(lambda a, b: a.add_(b.clone()), (data[:3], data[1:]))
    (memory,) = made.arguments
    assert [x.holder for x in memory.sources] == [0, 1]
    assert [x.offset for x in memory.places] == [0, 24]
    assert made.result == Same(Source(0))


def test_a_view_is_no_step() -> None:
    made = record(lambda x: x.t()[1:].unsqueeze(0) * 2, (normal(3, 4),))
    assert [step.function for step in made.program.steps] == [np.multiply]


def test_steps_have_the_operator_and_the_line_of_the_program() -> None:
    made = record(lambda x: vt.tanh(x), (normal(3),))
    (step,) = made.program.steps
    # Native functions have no frames that would tell their names.
    assert step.operator == ("" if vt.__compiled__ else "tanh")
    assert step.line is not None
    assert step.line[0] == __file__


def test_a_branch_on_a_value_is_a_guard() -> None:
    made = record(lambda x: x * 2 if bool(x.sum() > 0) else x, (vt.tensor([1.0, 2.0]),))
    (guard,) = made.program.guards
    assert guard.function is np.ndarray.item
    assert guard.value is True
    found = replayed(lambda x: x, made, (vt.tensor([-1.0, -2.0]),))
    assert found == "guard"


def test_a_shape_that_values_decide_is_a_guard() -> None:
    made = record(lambda x: x[x > 0] * 2, (vt.tensor([1.0, -2.0, 3.0]),))
    assert replayed(lambda x: x, made, (vt.tensor([1.0, 2.0, 3.0]),)) == "guard"
    assert replayed(lambda x: x[x > 0] * 2, made, (vt.tensor([-1.0, 2.0, 3.0]),)) == "exact"


def test_a_tensor_that_is_returned_twice_has_one_number() -> None:
    def program(x: vt.Tensor) -> object:
        y = x * 2
        return y, {"y": y}

    made = record(program, (normal(2),))
    assert made.result == (Result(0, vt.Tensor), {"y": Result(0, vt.Tensor)})


def test_scalars_of_numpy_keep_the_arithmetic_of_scalars() -> None:
    def program(x: Any) -> object:
        a = x.sum()
        b = a
        a += 1
        return a * b, a**2.5, b

    rng = np.random.default_rng(2)
    z = rng.normal(size=5) + 1j * rng.normal(size=5)
    assert outcome(program, (z,)) == "exact"


def test_an_index_is_an_operand_and_its_range_is_guarded() -> None:
    def program(x: vt.Tensor, i: vt.Tensor) -> vt.Tensor:
        return x[i] * 2

    x = normal(4)
    made = record(program, (x, vt.tensor([0, 2])))
    assert replayed(program, made, (x, vt.tensor([3, 1]))) == "exact"
    assert replayed(program, made, (x, vt.tensor([3, 4]))) == "raises"


def test_a_print_is_no_guard(capsys: pytest.CaptureFixture[str]) -> None:
    def program(x: vt.Tensor) -> vt.Tensor:
        print(x)
        return x * 2

    made = record(program, (normal(3),))
    assert made.program.guards == []
    assert capsys.readouterr().out.startswith("tensor(")


# -- refusals ----------------------------------------------------------------------------------

KEPT = np.arange(3.0)


def catches(x: vt.Tensor) -> object:
    try:
        return vt.tensor(KEPT) * x
    except RuntimeError:
        return x * 2


def inner(x: vt.Tensor) -> object:
    record(lambda y: y, (x,))
    return x


def caught_error(x: vt.Tensor) -> object:
    try:
        np.linalg.cholesky(x.numpy())
    except np.linalg.LinAlgError:
        return x * 2
    return x * 3


def inferred(x: vt.Tensor) -> vt.Tensor:
    with vt.inference_mode():
        return x * 2


REFUSED: dict[str, Callable[[vt.Tensor], object]] = {
    "unknown array": lambda x: vt.tensor(KEPT) * x,
    "view of an argument": lambda x: x[0],
    "geometry": lambda x: x.unsqueeze_(0),
    "requires grad": lambda x: x.requires_grad_(),
    "unknown result": lambda x: object(),
    "nested": inner,
    "inference": inferred,
    "lazy array": lambda x: (x * 1j).conj(),
    "unknown scalar": lambda x: x.numpy() * np.float64(2),
    "generator": lambda x: x * vt.default_generator.get_state()[0],
    "refused function": lambda x: x * float(next(iter(x.numpy().flat))),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_unknown_is_refused_by_name(reason: str) -> None:
    x = normal(3)
    before = x.numpy().tobytes()
    with pytest.raises(RecordingError) as caught:
        record(REFUSED[reason], (x,))
    assert caught.value.reason == reason
    assert x.numpy().tobytes() == before
    assert x._version == 0
    assert type(x.numpy()) is np.ndarray


def test_a_refusal_that_the_program_catches_stays_one() -> None:
    with pytest.raises(RecordingError, match="not known"):
        record(catches, (normal(3),))


def test_an_error_of_numpy_that_is_caught_is_refused() -> None:
    with pytest.raises(RecordingError) as caught:
        record(caught_error, (vt.tensor([[1.0, 2.0], [2.0, 1.0]]),))
    assert caught.value.reason == "caught error"


def test_clip_that_leaves_elements_unwritten_is_refused() -> None:
    def program(x: Array) -> object:
        return np.clip(x, 0.0, 1.0, where=x > 0)

    with pytest.raises(RecordingError, match="nothing has written"):
        record(program, (np.arange(4.0),))


def test_a_refusal_has_both_lines() -> None:
    with pytest.raises(RecordingError) as caught:
        record(REFUSED["unknown array"], (normal(3),))
    assert caught.value.line is not None
    assert caught.value.line[0] == __file__
    assert caught.value.library is not None


def test_what_the_program_raises_is_raised() -> None:
    with pytest.raises(vt.errors.ShapeError):
        record(lambda x: x @ x, (normal(3, 2),))


def test_a_number_that_leaves_as_text_is_found_by_the_second_recording() -> None:
    with pytest.raises(RecordingError) as caught:
        record(lambda x: x * float(str(x.numpy()[0])), (normal(3),))
    assert caught.value.reason == "differs"


def test_an_array_whose_shape_is_changed_is_where_it_was() -> None:
    def program(x: Array) -> object:
        y = x * 2
        y[0] = 1.0
        y.shape = (2, 2)
        return y[1] + y[0]

    assert outcome(program, (np.arange(4.0),)) == "exact"


def test_an_array_of_an_earlier_recording_is_not_known() -> None:
    kept: list[Array] = []

    def program(x: Array) -> object:
        kept.append(x * 2)
        return kept[0] + x

    with pytest.raises(RecordingError) as caught:
        record(program, (np.arange(4.0),))
    assert caught.value.reason in ("unknown array", "differs")


def by_memoryview(array: Any) -> None:
    view: Any = memoryview(array)
    view[0] = 7.0


def by_ctypes(array: Any) -> None:
    ctypes.cast(array.ctypes.data, ctypes.POINTER(ctypes.c_double))[0] = 7.0


def by_dlpack(array: Any) -> None:
    np.from_dlpack(array)[0] = 7.0


no_writes_by_dlpack = pytest.mark.skipif(
    not np.from_dlpack(np.ones(1)).flags.writeable, reason="this NumPy only reads by DLPack"
)


@pytest.mark.parametrize(
    "write", [by_memoryview, by_ctypes, pytest.param(by_dlpack, marks=no_writes_by_dlpack)]
)
def test_a_write_that_no_recording_sees_is_found(write: Callable[[Any], None]) -> None:
    def shown(x: vt.Tensor) -> object:
        y = x * 2
        write(y.numpy())
        return y + 1

    def hidden(x: vt.Tensor) -> object:
        # No value that a recording tries is greater than 100.
        y = x * 2
        write(y.numpy())
        return vt.where(x > 100, y, x)

    for program in (shown, hidden):
        with pytest.raises(RecordingError, match="reads memory that was written") as caught:
            record(program, (normal(3),))
        assert caught.value.reason == "unseen write"
        first = program.__code__.co_firstlineno
        assert caught.value.line == (__file__, first + (4 if program is hidden else 3))


def test_a_value_that_memory_gets_unseen_is_found_before_a_guard() -> None:
    def program(x: vt.Tensor) -> object:
        y = x * 2
        by_memoryview(y.numpy())
        # True in any case.
        return x * 3 if bool(y.numpy()[:1]) else x

    with pytest.raises(RecordingError) as caught:
        record(program, (vt.ones(3, dtype=vt.float64),))
    assert caught.value.reason == "unseen write"


def test_a_write_that_is_seen_with_other_values_only_is_found() -> None:
    def program(x: vt.Tensor) -> object:
        y = x.clamp(min=0.0) + 0.0
        array: Any = y.numpy()
        view: Any = memoryview(array)
        view[0] = 0.0
        return vt.where(x > 100, y, x)

    with pytest.raises(RecordingError) as caught:
        record(program, (vt.zeros(64, dtype=vt.float64),))
    assert caught.value.reason == "unseen write"


def test_an_unseen_write_of_a_program_that_begins_otherwise_is_found() -> None:
    count = [0]

    def program(x: Array) -> object:
        count[0] += 1
        y = x * 2
        if count[0] == 1:
            return np.where(x > 100, y + 0.0, x)
        by_memoryview(y)
        float(y[0])
        return np.where(x > 100, y, x)

    with pytest.raises(RecordingError) as caught:
        record(program, (np.array([1.0, 2.0]),))
    assert caught.value.reason == "unseen write"


def test_what_is_refused_is_told_if_the_program_raises_when_it_runs_again() -> None:
    left = [7.0, 7.0]

    def program(x: Array) -> object:
        y: Any = x * 2
        view: Any = memoryview(y)
        view[0] = left.pop()
        return y + 1

    with pytest.raises(RecordingError) as caught:
        record(program, (np.array([1.0, 2.0]),))
    assert caught.value.reason == "differs"


@pytest.mark.parametrize("make", [np.empty_like, np.ones_like, np.zeros_like])
def test_the_shape_of_an_array_like_another_one_is_guarded(make: Callable[..., Array]) -> None:
    def used(x: Array) -> Array:
        found = make(x, shape=(x.argmax() + 1,))
        found.fill(2.0)
        return found + 1.0

    def unused(x: Array) -> Array:
        return x * make(x, shape=x.argmax() + 1).size

    first, other = np.array([1.0, 5.0, 3.0]), np.array([1.0, 3.0, 5.0])
    for program in (used, unused):
        traced = vt.jit.trace(program, first)
        assert traced(first).tolist() == program(first).tolist()
        with pytest.raises(ReplayGuardError):
            traced(other)


def unused_rest(x: Array) -> object:
    rest = np.empty(6)
    rest[:3] = x
    return (rest * 2)[:3]


def unused_rest_of_like(x: Array) -> object:
    rest = np.empty_like(x)
    rest[1:] = x[1:]
    return (rest * 2)[1:]


def unused_elements(x: Array) -> object:
    chosen = np.arange(3) > 0
    part = np.divide(x, 3.0, where=chosen)
    return np.where(chosen, part + 1.0, x)


def unused_elements_of_one_result(x: Array) -> object:
    rest = np.zeros(3)
    chosen = np.arange(3) > 0
    out: Any = None, rest
    found = np.divmod(x, 2.0, out=out, where=chosen)
    return np.where(chosen, found[0] + 1.0, x), rest


def unused_elements_of_a_table(x: Array) -> object:
    chosen = np.arange(9).reshape(3, 3) % 4 == 0
    part = np.multiply.outer(x, x, where=chosen)
    return np.where(chosen, part + 1.0, 0.0)


def unused_number(x: Array) -> object:
    number = np.divide(x[0], 2.0, where=False)
    unused = number * 2.0
    return x * 2.0 + unused.ndim


def unused_padding(x: Array) -> object:
    return (x.astype(np.longdouble) * 3).astype(np.float64)


@pytest.mark.parametrize(
    "program",
    [
        unused_elements,
        unused_elements_of_a_table,
        unused_elements_of_one_result,
        unused_number,
        unused_padding,
        unused_rest,
        unused_rest_of_like,
    ],
)
@pytest.mark.filterwarnings("ignore:'where' used without 'out'")
def test_memory_that_nothing_has_written_may_be_read(program: Callable[[Array], object]) -> None:
    found = {outcome(program, (np.array([1.0, 2.0, 3.0]),), seed) for seed in range(5)}
    assert found == {"exact"}


@pytest.mark.filterwarnings("error")
def test_unwritten_elements_are_warned_of_where_the_program_is_warned() -> None:
    def program(x: Array) -> object:
        chosen = x > 1
        return np.where(chosen, np.divide(x, 3.0, out=None, where=chosen), x)

    record(program, (np.array([1.0, 2.0, 3.0]),))


def extended(x: Array) -> object:
    return x * 3


def extended_constant(x: Array) -> object:
    return x + np.array([1, 2, 3, 5], np.longdouble) / 7


def extended_complex(x: Array) -> object:
    return x.astype(np.clongdouble)[::-1] * 2j


def extended_in_place(x: Array) -> None:
    x[...] = x * 3
    x[::2] = (x * 2)[::-2]


@pytest.mark.parametrize(
    "program", [extended, extended_complex, extended_constant, extended_in_place]
)
@pytest.mark.filterwarnings("error")
def test_the_padding_of_extended_precision_is_not_compared(
    program: Callable[[Array], object],
) -> None:
    for step in (1, -2):
        fast = vt.jit.replay(program)
        for number in range(10):
            x = (np.arange(4 * abs(step)).astype(np.longdouble) / 3 + number)[::step]
            # Its padding and that of new memory are any bits.
            other = x.copy()
            [np.full(4, np.nan, np.complex128) for _ in range(20)]
            expected, found = program(x), fast(other)
            assert np.array_equal(x, other)
            assert (expected is None) is (found is None)
            if expected is not None:
                assert np.array_equal(np.asarray(expected), np.asarray(found))
        assert fast.recordings == 1


def test_a_program_that_changes_from_call_to_call_is_refused() -> None:
    count = [0]

    def program(x: vt.Tensor) -> object:
        count[0] += 1
        return x * count[0]

    with pytest.raises(RecordingError) as caught:
        record(program, (normal(3),))
    assert caught.value.reason == "differs"


@pytest.mark.parametrize("part", [slice(None), slice(1, 4)])
def test_an_argument_that_is_reached_otherwise_too_is_refused(part: slice) -> None:
    data = normal(5, 3)
    argument = data if part == slice(None) else data[part]
    with pytest.raises(RecordingError) as caught:
        record(lambda x: x.sum() * data[2], (argument,))
    assert caught.value.reason == "differs"
    # Where a guard pins all values, too.
    with pytest.raises(RecordingError) as caught:
        record(lambda x: x.sum().item() * data[2], (argument,))
    assert caught.value.reason == "differs"
    record(lambda x: x.sum() * len(data), (argument,))


# -- the world afterwards ----------------------------------------------------------------------


class Interrupt(BaseException):
    pass


def test_an_interrupt_leaves_everything_as_it_was() -> None:
    w = normal(3, grad=True)
    w.sum().backward()
    grad = w.grad
    assert grad is not None
    seen = grad.numpy().tobytes(), w.detach().numpy().tobytes(), w._version, grad._version
    state = vt.get_rng_state()

    def program(x: vt.Tensor) -> object:
        x.mul_(vt.rand(3))
        (w * x).sum().backward()
        with vt.no_grad():
            w.add_(1)
        w.grad = None
        raise Interrupt

    x = vt.ones(3)
    with pytest.raises(Interrupt):
        record(program, (x,))
    assert w.grad is grad
    assert seen == (grad.numpy().tobytes(), w.detach().numpy().tobytes(), w._version, grad._version)
    assert x.equal(vt.ones(3))
    assert x._version == 0
    assert vt.get_rng_state().equal(state)
    assert type(w._impl.array) is np.ndarray
    assert np.zeros.__module__ == "numpy"


@needs_global_lock
def test_other_threads_make_ordinary_arrays_meanwhile() -> None:
    found: list[type] = []
    outside = normal(3)

    def other() -> None:
        found.append(type((outside * 2).numpy()))
        found.append(type(np.zeros(3)))

    def program(x: vt.Tensor) -> object:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return x * outside

    record(program, (normal(3),))
    assert set(found) == {np.ndarray}


def test_an_array_of_a_recording_that_is_kept_is_an_ordinary_one_afterwards() -> None:
    kept: list[vt.Tensor] = []

    def program(x: vt.Tensor) -> object:
        y = x * 2
        kept.append(y)
        return y + 1

    record(program, (normal(3),))
    array = kept[0].numpy()
    assert type(array + 1) is np.ndarray
    assert type(array.sum()) is np.float64
    assert type(array[0]) is np.float64
    array[0] = 5
    array += 1
    assert array[0] == 6


def test_a_recording_run_uses_arrays_of_a_recording() -> None:
    seen: list[type] = []

    def program(x: vt.Tensor) -> object:
        seen.append(type(x._impl.array))
        return x * 2

    Call(program, (normal(3),), {}).record(lambda: None)
    assert seen == [RecordingArray]
