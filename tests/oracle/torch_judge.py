"""PyTorch as a judge: it runs the same steps, and everything is compared after each."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import ClassVar

from tests.oracle.allowlist import excuse
from tests.oracle.compare import changes, close_logs, differences, synchronise
from tests.oracle.kinds import builtin_of, is_ours, kind_of
from tests.oracle.observe import Observer, Snapshot
from tests.oracle.side import log_of, side
from tests.oracle.situation import Situation
from vtgrad.testing.interpreter import Interpreter
from vtgrad.testing.judging import PASSED, Divergence, Verdict
from vtgrad.testing.session import DivergenceError, Run, Session
from vtgrad.testing.shrink import attempt_in, shrink
from vtgrad.testing.steps import Line, Step

__all__ = [
    "TorchJudge",
    "describe",
    "error_difference",
    "play",
    "play_on",
    "replay",
    "session_of",
    "smallest",
]

# The mode in which what is refused for this reason is not.
LIFTED_BY = dict.fromkeys(
    (
        *("leaf-write", "view-of-leaf-write", "multi-output-view", "no-grad-view", "out-grad"),
        *("inference-view", "inference-saved", "custom-function-view"),
    ),
    "no_grad()",
) | {"inference-write": "inference_mode()"}


def describe(error: Exception | None) -> str:
    """An error in one line."""
    if error is None:
        return "no error"
    text = " ".join(str(error).split())
    return f"{builtin_of(error)} [{kind_of(error) or '-'}] {type(error).__name__}: {text[:160]}"


def error_difference(torch: Exception | None, ours: Exception | None) -> Divergence | None:
    """How the outcomes of a step differ: raised or not, built-in class, kind."""
    if torch is None and ours is None:
        return None
    if torch is None or ours is None:
        return Divergence("", "raises", describe(torch), describe(ours))
    if builtin_of(torch) != builtin_of(ours):
        return Divergence("", "class of error", describe(torch), describe(ours))
    wanted = kind_of(torch)
    if wanted is not None and wanted != kind_of(ours):
        return Divergence("", "kind of error", describe(torch), describe(ours))
    if type(ours) is not type(torch) and not is_ours(ours):
        return Divergence("", "kind of error", describe(torch), describe(ours))
    return None


class TorchJudge:
    """PyTorch as it is; differences that are intended are excused by `allowlist`.

    Parameters
    ----------
    deep : str
        When the graph is read, which makes views rebuild their ``grad_fn``: ``always`` after
        every step, ``last`` only at the end, ``sometimes`` after every third step, ``own`` after
        every step that names something, or ``never``.

    Attributes
    ----------
    saving, torch_saving : str
        What the library under test and PyTorch do about overwritten values; see `side`.
    torch, ours : Interpreter
        The two sides.
    """

    saving: ClassVar[str] = "storage"
    torch_saving: ClassVar[str] = "storage"

    replay: str
    torch: Interpreter
    ours: Interpreter

    def __init__(self, deep: str) -> None:
        self.deep = deep
        self.replay = f"tests.oracle.torch_judge.replay(steps, 'vtgrad', {deep!r})"
        self.torch = Interpreter(side("torch", self.torch_saving))
        self.steps: list[Step] = []
        self.lines: list[Line] = []
        self.torch_error: Exception | None = None
        self.before: tuple[Snapshot, Snapshot] | None = None
        self._heard = 0
        self._observe_torch = Observer(self.torch).observe

    def begin(self, subject: Interpreter) -> None:
        """See `Judge`."""
        self.ours = subject
        self._observe_ours = Observer(subject).observe

    def prepare(self, step: Step) -> bool:
        """See `Judge`: PyTorch does the step."""
        self.steps.append(step)
        self.lines.append(step.line())
        self.torch_error = self.torch.run(step)
        return True

    def judge(self, step: Step, error: Exception | None, *, last: bool) -> Verdict:
        """See `Judge`."""
        verdict = self.ends(step, error)
        return self._compare(step, error, last) if verdict is None else verdict

    def finish(self) -> Verdict:
        """See `Judge`: there is nothing to say that was not said after the last step."""
        self.before = None
        self._observe_ours = Observer(self.ours).observe
        return PASSED

    def close(self) -> None:
        """See `Judge`."""
        self.torch.close()

    def ends(self, step: Step, error: Exception | None) -> Verdict | None:
        """What to say of a step before anything is compared; None to compare."""
        return None

    def _compare(self, step: Step, error: Exception | None, last: bool) -> Verdict:
        line = self.lines[-1]
        if self._unknown_dtype(line):
            return _excused("a half precision complex result, a dtype that vtgrad does not have")
        outcome = error_difference(self.torch_error, error)
        if outcome is not None:
            return self._fail(error, [outcome])
        deep = last or self._is_read_after(line)
        try:
            ours = self._observe_ours(deep)
        except Exception as broken:
            return self._fail(error, [Divergence("", "observing", "possible", describe(broken))])
        if error is not None:
            damage = changes(self.before[1], ours) if self.before is not None else []
            if damage:
                return self._fail(error, damage)
            if step.is_pass:
                return Verdict(ends=True)
        torch = self._observe_torch(deep)
        coarse = self._reads_single(line)
        found = differences(torch, ours, coarse)
        if found and error is not None and self.before is not None:
            if changes(self.before[0], torch):
                # Ours is unchanged, as it must be; PyTorch did part of what it then refused.
                return _excused("PyTorch's failed call left changes behind")
        torch_log, our_log = log_of(self.torch, self._heard), log_of(self.ours, self._heard)
        if not close_logs(torch_log, our_log):
            found.append(Divergence("", "hooks", torch_log, our_log))
        if found:
            return self._fail(error, found)
        self._heard += len(our_log)
        synchronise(torch, ours, coarse)
        self.before = (torch, ours)
        return PASSED

    def _is_read_after(self, line: Line) -> bool:
        """Whether the graph is read after the newest step."""
        return (
            self.deep == "always"
            or (self.deep == "sometimes" and len(self.steps) % 3 == 0)
            or (self.deep == "own" and bool(line.defs))
        )

    def _unknown_dtype(self, line: Line) -> bool:
        half = self.torch.library.module.complex32
        found = [self.torch.names.get(name) for name in line.defs]
        return any(getattr(value, "dtype", None) is half for value in found)

    def _has_two_faults(self, error: Exception | None) -> bool:
        """Whether a call refused by both would still be refused if writing were allowed.

        A wrong argument to an in-place call on, say, a leaf: one library names the leaf, the
        other the argument. To tell, the call is repeated in a mode that lifts the refusal, by the
        library that named it: it must then find the other's fault.
        """
        if self.torch_error is None or error is None:
            return False
        for named, other, one in (
            (self.torch_error, error, self.torch),
            (error, self.torch_error, self.ours),
        ):
            mode = LIFTED_BY.get(kind_of(named) or "")
            if mode is None:
                continue
            again = Interpreter(one.library)
            for earlier in self.steps[:-1]:
                again.run(earlier)
            second = again.run(replace(self.lines[-1], mode=mode))
            if second is None or builtin_of(second) != builtin_of(other):
                continue
            if kind_of(second) in (None, kind_of(other)) or kind_of(other) is None:
                return True
        return False

    def _reads_single(self, line: Line) -> bool:
        """Whether the step reads anything that is not in double precision, such as integers."""
        module = self.torch.library.module
        doubles = (module.float64, module.complex128)
        found = [self.torch.names.get(name) for name in (*line.uses, *line.defs)]
        if line.is_pass:
            found = list(self.torch.tensors().values())
        return any(getattr(value, "dtype", doubles[0]) not in doubles for value in found)

    def _fail(self, error: Exception | None, found: Sequence[Divergence]) -> Verdict:
        """The verdict on differences: those that are not intended, or the reason for all."""
        *earlier, line = self.lines
        entries = [
            excuse(Situation(line, tuple(earlier), self.torch, self.torch_error, error, divergence))
            for divergence in found
        ]
        cascade = any(entry is not None and entry.cascades for entry in entries)
        left = [
            divergence
            for divergence, entry in zip(found, entries, strict=True)
            if entry is None and not (cascade and divergence.what == "grad_fn")
        ]
        # Last: this runs the program again, which closes its level of forward mode.
        if left and self._has_two_faults(error):
            return _excused("a call with two faults, of which each library names another")
        if left:
            return Verdict(left, cause=error)
        return _excused(next(entry.reason for entry in entries if entry is not None))


def _excused(reason: str) -> Verdict:
    return Verdict(ends=True, excused=reason)


def session_of(judge: TorchJudge, peer: str) -> Session:
    """A program on the library under test, before its first step."""
    return Session(side(peer, judge.saving), judges=[judge])


def play(session: Session, steps: Iterable[Step]) -> Run:
    """Run a program that is already written, to its end."""
    with closing(session):
        return play_on(session, steps)


def play_on(session: Session, steps: Iterable[Step]) -> Run:
    """Run the next steps of a program that is already written."""
    program = tuple(steps)
    with warnings.catch_warnings(), suppress(DivergenceError):
        warnings.simplefilter("ignore")
        for number, step in enumerate(program, 1):
            session.run(step, last=number == len(program))
    return session.run_so_far


def replay(steps: Iterable[Step], peer: str, deep: str) -> Run:
    """Run a program that is already written on a library and on PyTorch as it is."""
    return play(session_of(TorchJudge(deep), peer), steps)


def smallest(
    run: Run, makers: Sequence[Callable[[], Session]], budget: int = 300
) -> DivergenceError:
    """The smallest failure with the signature of a failed run.

    Parameters
    ----------
    run : Run
        A failed run.
    makers : sequence of callable
        Make sessions for smaller programs; of the kind that is preferred first.
    budget : int
        How many replays at most.
    """
    assert run.failure is not None, "nothing failed"
    attempts = [attempt_in(make, run.signature) for make in makers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return shrink(run.failure, attempts, budget=budget)
