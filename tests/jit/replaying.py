"""Recording samples of operators, and replaying them on new values.

The outcome of a sample is one of:

- ``exact``: the steps have the same bits as an eager run, on values that the recording has not met;
- ``guard``: a value that left the program differs on each of the new values;
- ``refused: REASON``: there is no recording;
- ``raises``: the program itself raises;
- ``wrong: ...``: anything else.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, cast

import numpy as np

import vtgrad as vt
from tests.jit.ways import prepared
from tests.ops.calls import Case, arguments_of, cases, function_named, results_of
from tests.ops.samples import DRAWN
from vtgrad.errors import RecordingError, VtgradError
from vtgrad.jit.containers import flatten, mapped
from vtgrad.jit.interpret import GuardFailed, interpret
from vtgrad.jit.outcomes import Value, value_of_array
from vtgrad.jit.provenance import address_of, extent_of, memory_at
from vtgrad.jit.record import record
from vtgrad.jit.recording import Recording, Same
from vtgrad.jit.runner import Runner
from vtgrad.storage.arrays import Array

__all__ = ["MODES", "cases_of", "outcome", "replayed"]

Program = Callable[..., object]
Arguments = tuple[object, ...]

_SCALES: Final = (0.2, 1e-3, 1e-7)


def _array(leaf: object) -> Array | None:
    if isinstance(leaf, vt.Tensor):
        return leaf._impl.array
    return leaf if isinstance(leaf, np.ndarray) else None


def _moved(array: Array, rng: np.random.Generator, scale: float, whole: bool) -> Array:
    """Other values of the same kind."""
    with np.errstate(all="ignore"):
        if array.dtype.kind in "fc":
            return (array * (1 + scale * rng.uniform(-1, 1, array.shape))).astype(array.dtype)
    if whole and array.size:
        return np.roll(array.reshape(-1), 1).reshape(array.shape)
    return array.copy()


def renewed(arguments: Arguments, change: Callable[[Array], Array]) -> Arguments:
    """The arguments with other values, each tensor with memory of its own."""

    def leaf(x: object) -> object:
        if not isinstance(x, vt.Tensor):
            return x
        with vt.no_grad():
            y = x.detach().clone()
            y._impl.array[...] = change(y._impl.array)
        return y.requires_grad_() if x.requires_grad else y

    found = mapped(leaf, arguments)
    assert isinstance(found, tuple)
    return found


def _bytes(made: Recording, leaves: Sequence[object]) -> list[Array]:
    """The memory of the arguments of a recording, in new arguments."""
    found = []
    for memory in made.arguments:
        (source,) = memory.sources
        assert isinstance(source.holder, int)
        array = _array(leaves[source.holder])
        assert array is not None
        low, high = extent_of(array)
        address = address_of(array)
        found.append(memory_at(array, address + low, address + high).copy())
    return found


def _results(value: object, leaves: Sequence[object]) -> list[Value]:
    known = {id(x) for x in leaves}
    found = []
    for leaf in flatten(value):
        if id(leaf) in known:
            continue
        array = _array(leaf)
        if array is not None:
            found.append(value_of_array(array))
    return found


def replayed(
    program: Program, made: Recording, arguments: Arguments, runners: Sequence[Runner] = ()
) -> str:
    """The outcome of one replay on arguments.

    Parameters
    ----------
    runners : sequence of Runner
        The program prepared in other ways, which must do the same.
    """
    leaves = flatten(arguments)
    state = vt.get_rng_state()
    memory = _bytes(made, leaves)
    outside = [x.bytes_now().copy() for x in made.outside]
    others = [_run_of(runner, memory, outside, state) for runner in runners]
    try:
        with np.errstate(all="ignore"):
            results = interpret(made.program, memory, outside)
        failed = ""
    except GuardFailed:
        return "guard" if not any(others) else "wrong: a runner misses a guard"
    except Exception as error:
        failed = type(error).__name__
    vt.set_rng_state(state)
    if not failed and any(other != _run_bytes(results, memory) for other in others):
        return "wrong: a runner"
    try:
        eager = program(*arguments)
    except Exception:
        return "raises" if failed else "wrong: it raises eagerly"
    if failed:
        return f"guard: {failed}"
    given = flatten(made.result)
    if len(given) != len(flatten(eager)):
        return "wrong: number of results"
    for kind, leaf in zip(given, flatten(eager), strict=True):
        if isinstance(kind, Same) != any(leaf is x for x in leaves):
            return "wrong: identity"
        if isinstance(kind, (bool, int, float, complex, str)) and repr(kind) != repr(leaf):
            return "wrong: Python value"
    expected = _results(eager, leaves)
    # Copies of results may have other strides.
    pairs = zip([value_of_array(x) for x in results], expected, strict=False)
    if any((a[:2], a[3]) != (b[:2], b[3]) for a, b in pairs):
        return "wrong: values"
    after = _bytes(made, leaves)
    if [x.tobytes() for x in after] != [x.tobytes() for x in memory]:
        return "wrong: memory"
    return "exact"


def _run_bytes(results: Sequence[Array], memory: Sequence[Array]) -> list[bytes]:
    return [x.tobytes() for x in (*results, *memory)]


def _run_of(
    runner: Runner, memory: Sequence[Array], outside: Sequence[Array], state: vt.Tensor
) -> list[bytes]:
    """The bytes of what a prepared program returns and writes; none if it does not run."""
    given = [x.copy() for x in memory]
    try:
        found = runner.run(given, [x.copy() for x in outside])
    except (GuardFailed, ArithmeticError, LookupError, ValueError):
        return []
    finally:
        vt.set_rng_state(state)
    return _run_bytes(found, given)


def outcome(program: Program, arguments: Arguments, seed: int = 1, ways: Sequence[str] = ()) -> str:
    """Record a program, and replay it on new values.

    Parameters
    ----------
    ways : sequence of str
        Of `tests.jit.ways.WAYS`: how it is replayed beside `interpret`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            program(*renewed(arguments, np.copy))
        except Exception as error:
            return f"raises: {type(error).__name__}"
        before = _all_bytes(arguments)
        try:
            made = record(program, arguments)
        except RecordingError as error:
            found = f"refused: {error.reason}: {_first_line(error)}"
            return found if _all_bytes(arguments) == before else "wrong: memory is not restored"
        if _all_bytes(arguments) != before:
            return "wrong: memory is not restored"
        runners = [prepared(made.program, way) for way in ways]
        rng = np.random.default_rng(seed)
        found = "guard"
        for whole in (True, False):
            for scale in _SCALES:
                change = partial(_moved, rng=rng, scale=scale, whole=whole)
                changed = renewed(arguments, change)
                found = replayed(program, made, changed, runners)
                if found == "exact" or found.startswith("wrong"):
                    return found
        return found


def _all_bytes(arguments: Arguments) -> list[bytes]:
    """The bytes of all arrays among arguments, and the versions of tensors."""
    arrays = [x for x in map(_array, flatten(arguments)) if x is not None]
    # Beside other threads, native code cannot put back those of tensors that are written often.
    tensors = () if vt.__compiled__ else flatten(arguments)
    versions = [x._version for x in tensors if isinstance(x, vt.Tensor)]
    return [x.tobytes() for x in arrays] + [bytes(versions)]


def _first_line(error: RecordingError) -> str:
    place = error.library
    where = "" if place is None else f" ({place[0].rpartition('vtgrad/')[2]}:{place[1]})"
    return str(error).partition("\n")[0][:160] + where


# -- the modes ---------------------------------------------------------------------------------


def _inputs(values: Sequence[object], options: dict[str, object]) -> list[vt.Tensor]:
    return [
        x
        for x in flatten((list(values), options))
        if isinstance(x, vt.Tensor) and (x.is_floating_point() or x.is_complex())
    ]


def _forward(case: Case) -> tuple[Program, Arguments]:
    function = function_named(case.operator.name)
    values, options = arguments_of(case)
    # A result that is a view of an argument is copied: a recording has no views of arguments.
    view = case.operator.is_view

    def program(values: list[object], options: dict[str, object]) -> object:
        found = function(*values, **options)
        if view:
            return tuple([x.clone() for x in results_of(found)])
        return found

    return program, (values, options)


def _inplace(case: Case) -> tuple[Program, Arguments] | None:
    name = case.operator.inplace
    if name is None:
        return None
    function = function_named(name)
    values, options = arguments_of(case)
    return (lambda values, options: function(*values, **options)), (values, options)


def _derivatives(case: Case, order: int) -> tuple[Program, Arguments] | None:
    function = function_named(case.operator.name)
    values, options = arguments_of(case)
    inputs = _inputs(values, options)
    if not inputs:
        return None
    for x in inputs:
        x.requires_grad_()
    try:
        results = [x for x in results_of(function(*values, **options)) if x.requires_grad]
    except (VtgradError, AssertionError):
        return None
    if not results:
        return None
    rng = np.random.default_rng(3)
    weights = [vt.tensor(rng.uniform(0.5, 1.5, x.shape)).to(x.dtype) for x in results]
    second = [vt.tensor(rng.uniform(0.5, 1.5, x.shape)).to(x.dtype) for x in inputs]

    def program(
        values: list[object],
        options: dict[str, object],
        weights: list[vt.Tensor],
        second: list[vt.Tensor],
    ) -> object:
        given = _inputs(values, options)
        found = [x for x in results_of(function(*values, **options)) if x.requires_grad]
        grads = vt.autograd.grad(found, given, weights, allow_unused=True, create_graph=order == 2)
        if order == 1:
            return grads
        used = [(g, w) for g, w in zip(grads, second, strict=True) if g is not None]
        used = [(g, w) for g, w in used if g.requires_grad]
        if not used:
            return [g if g is None else g.detach().clone() for g in grads]
        return vt.autograd.grad(
            [g for g, _ in used], given, [w for _, w in used], allow_unused=True
        )

    return program, (values, options, weights, second)


def _gradient(case: Case) -> tuple[Program, Arguments] | None:
    return _derivatives(case, 1)


def _second(case: Case) -> tuple[Program, Arguments] | None:
    return _derivatives(case, 2)


def _jvp(case: Case) -> tuple[Program, Arguments] | None:
    function = function_named(case.operator.name)
    values, options = arguments_of(case)
    inputs = _inputs(values, options)
    if not inputs:
        return None
    rng = np.random.default_rng(4)
    tangents = [vt.tensor(rng.uniform(0.5, 1.5, x.shape)).to(x.dtype) for x in inputs]

    def program(
        values: list[object], options: dict[str, object], tangents: list[vt.Tensor]
    ) -> object:
        given = iter(tangents)
        with vt.autograd.forward_ad.dual_level():

            def dual(x: object) -> object:
                if isinstance(x, vt.Tensor) and (x.is_floating_point() or x.is_complex()):
                    return vt.autograd.forward_ad.make_dual(x, next(given))
                return x

            args, named = cast("Any", mapped(dual, (values, options)))
            found = results_of(function(*args, **named))
            parts = [vt.autograd.forward_ad.unpack_dual(x) for x in found]
            return [
                (p.primal.clone(), None if p.tangent is None else p.tangent.clone()) for p in parts
            ]

    return program, (values, options, tangents)


def _vmap(case: Case) -> tuple[Program, Arguments] | None:
    function = function_named(case.operator.name)
    values, options = arguments_of(case)
    tensors = _inputs(values, options)
    if not tensors:
        return None
    stacked = [vt.stack([x, x * 1.1, x * 0.9]) for x in tensors]

    def program(
        values: list[object], options: dict[str, object], stacked: list[vt.Tensor]
    ) -> object:
        def of_sample(*given: vt.Tensor) -> object:
            samples = iter(given)

            def sample(x: object) -> object:
                if isinstance(x, vt.Tensor) and (x.is_floating_point() or x.is_complex()):
                    return next(samples)
                return x

            args, named = cast("Any", mapped(sample, (values, options)))
            found = results_of(function(*args, **named))
            return tuple([x.clone() for x in found])

        return vt.func.vmap(of_sample, randomness="same")(*stacked)

    return program, (values, options, stacked)


MODES: Final[dict[str, Callable[[Case], tuple[Program, Arguments] | None]]] = {
    "forward": _forward,
    "gradient": _gradient,
    "second": _second,
    "inplace": _inplace,
    "jvp": _jvp,
    "vmap": _vmap,
}


def cases_of(mode: str) -> list[Case]:
    """The samples that have such a program."""
    return [case for case in cases() if mode == "forward" or case.operator.name not in DRAWN]
