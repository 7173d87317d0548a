"""Run one program on both libraries, comparing after every step."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tests.oracle.allowlist import excuse
from tests.oracle.compare import Divergence, changes, close_logs, differences, synchronise
from tests.oracle.kinds import builtin_of, is_ours, kind_of
from tests.oracle.observe import Snapshot, observe
from tests.oracle.program import Program, Step
from tests.oracle.situation import Situation
from tests.oracle.world import World

# The mode in which what is refused for this reason is not.
LIFTED_BY = dict.fromkeys(
    (
        *("leaf-write", "view-of-leaf-write", "multi-output-view", "no-grad-view", "out-grad"),
        *("inference-view", "inference-saved", "custom-function-view"),
    ),
    "no_grad()",
) | {"inference-write": "inference_mode()"}


@dataclass
class Run:
    """What became of a program.

    Attributes
    ----------
    steps : list of Step
        The steps that ran, up to and with the one that diverged.
    divergences : list of Divergence
        What differed after the last step; empty when nothing did.
    excused : str or None
        Why the program was ended early without a failure.
    errors : int
        How many steps both libraries refused.
    """

    steps: list[Step] = field(default_factory=list)
    divergences: list[Divergence] = field(default_factory=list)
    excused: str | None = None
    errors: int = 0

    @property
    def program(self) -> Program:
        """The steps as a program."""
        return tuple(self.steps)

    @property
    def signature(self) -> str:
        """Operator and observable: the same cause usually has the same signature."""
        if not self.divergences:
            return ""
        first = self.divergences[0]
        detail = ""
        if first.what in ("raises", "observing", "class of error", "kind of error"):
            detail = f" {str(first.torch)[:80]} / {str(first.ours)[:80]}"
        if first.what == "observing":
            return f"observing:{detail}"
        if first.what == "grad_fn":
            # One wrong node shows wherever it is read: the step that read it says nothing.
            return "grad_fn {} / {}".format(*first_mismatch(first.torch, first.ours))
        return f"{self.steps[-1].op}: {first.what}{detail}"


def first_mismatch(a: object, b: object) -> tuple[object, object]:
    """The first place where two nested descriptions differ."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        for x, y in zip(a, b, strict=False):
            if x != y:
                return first_mismatch(x, y)
        return f"{len(a)} entries", f"{len(b)} entries"
    return (_head(a), _head(b))


def _head(node: object) -> object:
    return node[0] if isinstance(node, tuple) and node else node


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


class Lockstep:
    """Two worlds that execute the same steps.

    Parameters
    ----------
    peer : str
        The library under test, importable by this name.
    deep : str
        When the graph is read, which makes views rebuild their ``grad_fn``: ``always`` after
        every step, ``last`` only at the end, or ``sometimes`` after every third step.
    """

    def __init__(self, peer: str, deep: str) -> None:
        self.torch = World("torch")
        self.ours = World(peer)
        self.deep = deep
        self.run = Run()
        self._ended = False
        self.before: tuple[Snapshot, Snapshot] | None = None

    def over(self) -> bool:
        """Whether the program has ended: nothing more can be compared."""
        return self._ended

    def step(self, step: Step, last: bool = False) -> None:
        """Execute a step on both sides and compare everything."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._step(step, last)

    def _step(self, step: Step, last: bool) -> None:
        self.run.steps.append(step)
        torch_error = self.torch.run(step)
        our_error = self.ours.run(step)
        if self.ends(step, torch_error, our_error):
            self._ended = True
            return
        if self._unknown_dtype(step):
            self.run.excused = "a half precision complex result, a dtype that vtgrad does not have"
            self._ended = True
            return
        outcome = error_difference(torch_error, our_error)
        if outcome is not None:
            self._fail(step, torch_error, our_error, [outcome])
            return
        count = len(self.run.steps)
        deep = (
            last
            or self.deep == "always"
            or (self.deep == "sometimes" and count % 3 == 0)
            or (self.deep == "own" and bool(step.defs))
        )
        try:
            ours = observe(self.ours, deep)
        except Exception as error:
            broken = Divergence("", "observing", "possible", describe(error))
            self._fail(step, torch_error, our_error, [broken])
            return
        if our_error is not None:
            self.run.errors += 1
            damage = changes(self.before[1], ours) if self.before is not None else []
            if damage:
                self._fail(step, torch_error, our_error, damage)
                return
            if step.backward:
                self._ended = True
                return
        torch = observe(self.torch, deep)
        coarse = self._reads_single(step)
        found = differences(torch, ours, coarse)
        if found and our_error is not None and self.before is not None:
            if changes(self.before[0], torch):
                # Ours is unchanged, as it must be; PyTorch did part of what it then refused.
                self.run.excused = "PyTorch's failed call left changes behind"
                self._ended = True
                return
        if not close_logs(self.torch.log, self.ours.log):
            found.append(Divergence("", "hooks", self.torch.log[:], self.ours.log[:]))
        if found:
            self._fail(step, torch_error, our_error, found)
            return
        self.torch.log.clear()
        self.ours.log.clear()
        synchronise(torch, ours, coarse)
        self.before = (torch, ours)

    def ends(self, step: Step, torch_error: Exception | None, our_error: Exception | None) -> bool:
        """Whether the program ends here, before anything is compared."""
        return False

    def _unknown_dtype(self, step: Step) -> bool:
        half = self.torch.lib.complex32
        found = [self.torch.env.get(name) for name in step.defs]
        return any(getattr(value, "dtype", None) is half for value in found)

    def _has_two_faults(
        self, step: Step, torch_error: Exception | None, our_error: Exception | None
    ) -> bool:
        """Whether a call refused by both would still be refused if writing were allowed.

        A wrong argument to an in-place call on, say, a leaf: one library names the leaf, the
        other the argument. To tell, the call is repeated in a mode that lifts the refusal, by the
        library that named it: it must then find the other's fault.
        """
        if torch_error is None or our_error is None:
            return False
        for error, other, world in (
            (torch_error, our_error, self.torch),
            (our_error, torch_error, self.ours),
        ):
            mode = LIFTED_BY.get(kind_of(error) or "")
            if mode is None:
                continue
            again = World(world.lib.__name__, world.saving)
            for earlier in self.run.steps[:-1]:
                again.run(earlier)
            second = again.run(replace(step, mode=mode))
            if second is None or builtin_of(second) != builtin_of(other):
                continue
            if kind_of(second) in (None, kind_of(other)) or kind_of(other) is None:
                return True
        return False

    def _reads_single(self, step: Step) -> bool:
        """Whether the step reads anything that is not in double precision, such as integers."""
        doubles = (self.torch.lib.float64, self.torch.lib.complex128)
        found = [self.torch.env.get(name) for name in (*step.uses, *step.defs)]
        if step.backward:
            found = list(self.torch.tensors().values())
        return any(getattr(value, "dtype", doubles[0]) not in doubles for value in found)

    def _fail(
        self,
        step: Step,
        torch_error: Exception | None,
        our_error: Exception | None,
        found: list[Divergence],
    ) -> None:
        self._ended = True
        if self._has_two_faults(step, torch_error, our_error):
            self.run.excused = "a call with two faults, of which each library names another"
            return
        entries = [
            excuse(
                Situation(
                    step, self.run.program[:-1], self.torch, torch_error, our_error, divergence
                )
            )
            for divergence in found
        ]
        cascade = any(entry is not None and entry.cascades for entry in entries)
        left = [
            divergence
            for divergence, entry in zip(found, entries, strict=True)
            if entry is None and not (cascade and divergence.what == "grad_fn")
        ]
        if left:
            self.run.divergences = left
        else:
            self.run.excused = next(entry.reason for entry in entries if entry is not None)


def replay(program: Iterable[Step], peer: str, deep: str) -> Run:
    """Run a program that is already written."""
    steps = tuple(program)
    pair = Lockstep(peer, deep)
    for k, step in enumerate(steps):
        pair.step(step, last=k == len(steps) - 1)
        if pair.over():
            break
    return pair.run
