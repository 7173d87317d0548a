"""Whether a recording is the program.

Note [Accepting a recording]

A recording run is a run of the program on arrays of another class, and whatever asks for the class,
for identity or for strides may make it another program. Numbers may leave by ways that no recording
sees, as text or by memory. So a program is run several times:

- It is recorded, and run eagerly on the same values: all results, gradients, written memory and
  versions have the same bits, and so has what `interpret` makes of the steps.
- It is run eagerly on copies of its arguments: see Note [The arguments are not the tensors of a
  closure].
- On other values it is run eagerly, and `interpret` has the same bits again.
- On these values it is recorded once more: the steps, their numbers and constants are the same,
  and each reads what it reads in `interpret`, see Note [Each step is rechecked].

The other values are close to the recorded ones where the program branches on values: its guards
must hold for them. Memory for which none are found is listed in `Recording.unchecked`; if there are
none at all, the program is recorded once more on the same values.
"""

from __future__ import annotations

from array import array as numbers
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import numpy as np

from vtgrad.errors import RecordingError
from vtgrad.jit.compare import first_difference
from vtgrad.jit.interpret import Checksums, GuardFailed, array_at, in_order, interpret
from vtgrad.jit.outcomes import Outcome, Value, value_of_array
from vtgrad.jit.program_call import Call
from vtgrad.jit.recording import Memory, Recording
from vtgrad.jit.steps import Line, Place
from vtgrad.jit.values import name_of
from vtgrad.storage.arrays import Array

__all__ = ["check"]


def check(call: Call) -> Recording:
    """Record a program, and accept or refuse the recording; see Note [Accepting a recording]."""
    made, outcome = call.record(_nothing)
    _compare(outcome, _run(call, _nothing, made), "its run without recording")
    now = [memory.bytes_now().copy() for memory in made.memories()]
    stepped = _check_steps(call, made, now, outcome)
    _check_arguments(call, made, now, stepped)
    for others in _other_values(call, made, now):
        reads = numbers("I")
        expected = _try(call, made, others, reads)
        if expected is None:
            continue
        prepare = partial(_store, made, others)
        _compare_steps(_run(call, prepare, made), expected, "its steps on other values")
        made = _recorded_again(call, made, prepare, reads, now)
        changed = [not np.array_equal(a, b) for a, b in zip(now, others, strict=True)]
        memories = made.memories()
        made.unchecked = [
            memory.sources[0] for memory, moved in zip(memories, changed, strict=True) if not moved
        ]
        break
    else:
        reads = numbers("I")
        _interpreted(call, made, now, reads)
        made = _recorded_again(call, made, _nothing, reads, now)
        made.unchecked = [memory.sources[0] for memory in made.memories()]
    for memory in made.arguments:
        # A recording outlives what it was made with.
        memory.known = None
    return made


def _check_steps(call: Call, made: Recording, now: Sequence[Array], outcome: Outcome) -> Outcome:
    """What the steps make of the recorded values, which is what the program has done."""
    try:
        stepped = _interpreted(call, made, now)
        _compare_steps(outcome, stepped, "its steps")
    except GuardFailed as failed:
        error = _other_value(made, failed)
    except RecordingError as refused:
        error = refused
    else:
        return stepped
    try:
        again, _ = call.record(_nothing, made.program)
    except Exception as later:
        # The caller gets the error that was found first.
        raise error from later
    if first_difference(made.program, again.program) is None:
        _check_reads(call, made, again, now)
    raise error


def _recorded_again(
    call: Call,
    made: Recording,
    prepare: Callable[[], None],
    reads: Checksums,
    now: Sequence[Array],
) -> Recording:
    """The recording, if the program is recorded in the same way once more.

    Parameters
    ----------
    call, made : Call, Recording
        The program, and its recording.
    prepare : callable
        Stores the values with which it is recorded again.
    reads : array of int
        What the steps read then.
    now : sequence of numpy.ndarray
        The values with which it was recorded.
    """
    again, _ = call.record(prepare, made.program)
    difference = first_difference(made.program, again.program)
    if difference is not None:
        # The first recording may have filled caches, and a program may change as it begins.
        made, _ = call.record(_nothing, again.program)
        difference = first_difference(made.program, again.program)
        if difference is not None:
            raise _refused(f"two recordings differ: {difference}", "differs")
        failed = _check_reads(call, made, made, now)
        if failed is not None:
            raise _other_value(made, failed)
        return made
    _compare_reads(made, again, reads)
    return made


def _check_reads(
    call: Call, made: Recording, again: Recording, now: Sequence[Array]
) -> GuardFailed | None:
    """Compare what was read with what the steps read of the same values, until a guard fails."""
    reads = numbers("I")
    failed = None
    try:
        _interpreted(call, made, now, reads)
    except GuardFailed as error:
        failed = error
    _compare_reads(made, again, reads)
    return failed


def _other_value(made: Recording, failed: GuardFailed) -> RecordingError:
    line = failed.line if failed.number < 0 else made.program.guards[failed.number].line
    return _refused("a second run of its steps has another value", "differs", line)


def _nothing() -> None:
    """Prepare nothing."""


def _refused(sentence: str, reason: str, line: Line | None = None) -> RecordingError:
    where = "" if line is None else f"\n  program: {line[0]}:{line[1]}"
    return RecordingError(
        f"the recording is not accepted: {sentence}. A value comes from elsewhere than from the "
        "arguments and tensors, or leaves as text, by memory or by objects that the program keeps: "
        f"pass and return it as a tensor{where}",
        reason=reason,
        library=None,
        line=line,
    )


def _run(call: Call, prepare: Callable[[], None], made: Recording) -> Outcome:
    """Run the program eagerly, which does not raise where a recording did not."""
    try:
        return call.run(prepare, made)
    except Exception as error:
        raise _refused(f"its run without recording raises {error!r}", "differs") from error


def _check_arguments(call: Call, made: Recording, now: Sequence[Array], stepped: Outcome) -> None:
    """Refuse a program that reads the memory of its arguments by other ways too.

    See Note [The arguments are not the tensors of a closure].
    """
    try:
        found = call.run_on_copies(partial(_spoil_arguments, made), made, now)
    except RecordingError:
        raise
    except Exception as error:
        raise _refused(f"its run on other tensors raises {error!r}", "differs") from error
    if found is not None:
        _compare_steps(found, stepped, "its run on other tensors")
    elif call.world.is_shared():
        raise _refused(
            "an argument shares memory with a tensor outside, and has a producer, a .grad or "
            "hooks, so no run can show which of them the program reads; pass a clone",
            "shared argument",
        )


def _spoil_arguments(made: Recording) -> None:
    """Overwrite the memory of the arguments that were recorded."""
    for memory in made.arguments:
        if memory.is_writable():
            for place in memory.places:
                array = array_at(_first(place), [memory.bytes_now()])
                if array.dtype.kind in "fc":
                    array[...] = np.nan
                elif array.dtype.kind == "b":
                    array[...] = ~array.any()
                else:
                    array[...] = array.max(initial=0) // 2 + 1


def _store(made: Recording, contents: Sequence[Array]) -> None:
    for memory, content in zip(made.memories(), contents, strict=True):
        if memory.is_writable():
            memory.bytes_now()[...] = content


def _interpreted(
    call: Call, made: Recording, memory: Sequence[Array], reads: Checksums | None = None
) -> Outcome:
    """What the steps make of memory; `reads` gets the checksums of what they read."""
    own = [content.copy() for content in memory]
    count = len(made.arguments)
    world = call.world
    try:
        try:
            world.enter(as_recording=False)
            with np.errstate(all="ignore"):
                results = interpret(made.program, own[:count], own[count:], reads)
        finally:
            world.leave()
    finally:
        # Once more, in case an interrupt has ended the first.
        world.leave()
    values = [value_of_array(x) for x in results]
    pairs = zip(made.memories(), own, strict=True)
    return Outcome(values, [memory.bits(content) for memory, content in pairs])


def _try(call: Call, made: Recording, memory: Sequence[Array], reads: Checksums) -> Outcome | None:
    """What the steps make of memory; None if a guard does not hold or a call fails."""
    try:
        return _interpreted(call, made, memory, reads)
    except (GuardFailed, ValueError, TypeError, ArithmeticError, IndexError):
        return None


def _compare(a: Outcome, b: Outcome, what: str) -> None:
    _compare_values(a, b, what)
    if a.versions != b.versions:
        raise _refused(f"{what} moves other versions", "differs")
    if repr(a.result) != repr(b.result) or repr(a.grads) != repr(b.grads):
        raise _refused(f"{what} returns other kinds of results", "differs")


def _compare_steps(a: Outcome, b: Outcome, what: str) -> None:
    """Compare with what steps make; they return copies, which may have other strides."""
    _compare_values(_without_strides(a), _without_strides(b), what)


def _compare_reads(made: Recording, again: Recording, reads: Checksums) -> None:
    """Refuse a recording in which a step reads what no step has written.

    See Note [Each step is rechecked].
    """
    if again.reads == reads:
        return
    pairs = zip(again.reads or (), reads, in_order(made.program), strict=False)
    event = next((event for a, b, (_, event) in pairs if a != b), None)
    if event is None:
        return
    where = "" if event.line is None else f"\n  program: {event.line[0]}:{event.line[1]}"
    raise RecordingError(
        f"the recording is not accepted: {name_of(event.function)} reads memory that was written "
        "by a way which no recording sees, such as memoryview, DLPack, ctypes or C code: write by "
        f"operators or by calls of NumPy{where}",
        reason="unseen write",
        library=None,
        line=event.line,
    )


def _without_strides(outcome: Outcome) -> Outcome:
    values: list[Value] = [(x[0], x[1], (), x[3]) for x in outcome.values]
    return Outcome(values, outcome.memory)


def _compare_values(a: Outcome, b: Outcome, what: str) -> None:
    if len(a.values) != len(b.values):
        raise _refused(f"{what} has another number of results", "differs")
    for number, (x, y) in enumerate(zip(a.values, b.values, strict=True)):
        if x != y:
            part = next(i for i in range(4) if x[i] != y[i])
            raise _refused(
                f"{what} has another {('dtype', 'shape', 'order in memory', 'value')[part]} of "
                f"result {number}",
                "differs",
            )
    if a.memory != b.memory:
        raise _refused(f"{what} leaves other memory", "differs")


# -- other values ------------------------------------------------------------------------------

_SCALES: Final = (0.25, 1e-3, 1e-6)


def _other_values(call: Call, made: Recording, now: Sequence[Array]) -> list[list[Array]]:
    """Contents of memory to try, from the most to the least different."""
    rng = np.random.default_rng(len(made.program.steps))
    tried = []
    memories = made.memories()
    for whole in (True, False):
        for scale in _SCALES:
            tried.append(
                [
                    _moved(memory, content, rng, scale, whole) if memory.is_writable() else content
                    for memory, content in zip(memories, now, strict=True)
                ]
            )
    for position in range(len(memories) if len(memories) > 1 else 0):
        for scale in _SCALES[:2]:
            others = list(now)
            others[position] = _moved(memories[position], now[position], rng, scale, False)
            tried.append(others)
    return tried


def _moved(
    memory: Memory, content: Array, rng: np.random.Generator, scale: float, whole: bool
) -> Array:
    """Other bytes for memory: floats are scaled; zeros, integers and bools change if `whole`."""
    other = content.copy()
    place = memory.places[0]
    array = array_at(_first(place), [other])
    if not array.size:
        return other
    with np.errstate(all="ignore"):
        if array.dtype.kind in "fc":
            moves = scale * rng.uniform(-1, 1, array.shape)
            moved = array * (1 + moves)
            if whole:
                moved = np.where(array == 0, moves, moved)
            array[...] = moved.astype(array.dtype)
        elif whole:
            array[...] = np.roll(array.reshape(-1), 1).reshape(array.shape)
    return other


def _first(place: Place) -> Place:
    return Place(0, place.dtype, place.shape, place.strides, place.offset)
