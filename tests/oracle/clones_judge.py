"""A PyTorch that clones all that it saves, as a judge of vtgrad's rules for saved values.

With hooks that clone, PyTorch compares no versions and refuses no write, and its gradient is that
of the program with ``clone()`` before every save. So whatever the exact rule accepts must have that
gradient. A further side runs vtgrad under PyTorch's own rule: what that accepts, the exact rule
accepts too, and what the exact rule refuses, that refuses. In some programs one more side runs with
audit on, which may not refuse anything either, as they write through the library only.

`RewindJudge` judges programs that run inside of ``allow_mutation_on_saved_tensors``, so that every
pass that PyTorch with clones accepts has to be accepted, with that gradient. Only a value that was
cut off its graph may be refused, and one that was overwritten by a write that cannot be kept.

In `PackedJudge` and `DiskJudge` vtgrad clones all that it saves too, by its own hooks; in
`ItselfJudge` and `DetachedJudge` its hooks keep what shares the memory: the exact rule holds.
"""

import re
from collections.abc import Iterable
from typing import ClassVar

from tests.oracle.kinds import kind_of
from tests.oracle.side import side
from tests.oracle.torch_judge import TorchJudge, describe, error_difference
from vtgrad.testing.interpreter import Interpreter
from vtgrad.testing.judging import Divergence, Verdict
from vtgrad.testing.steps import Line, Step

__all__ = [
    "ClonesJudge",
    "DetachedJudge",
    "DiskJudge",
    "ItselfJudge",
    "PackedJudge",
    "RewindJudge",
    "uses_data",
]

# What a view that may not be used any more raises.
_VIEW_REFUSALS = (
    "multi-output-view",
    "no-grad-view",
    "inference-view",
    "custom-function-view",
)
#: Reasons to refuse a saved value that was overwritten or cut off its graph.
LOST = frozenset(("stale-saved", "saved-detached", *_VIEW_REFUSALS))
#: What a custom Function has overwritten is not known after ``mark_dirty``. A tensor that looks at
#: other memory goes on with its counter, which then counts the writes to two storages.
UNKEPT = re.compile(r"F_\w+_|set_|\.data=")


class ClonesJudge(TorchJudge):
    """PyTorch with clones; vtgrad runs under the exact rule.

    Parameters
    ----------
    deep : str
        As for `TorchJudge`.
    audited : bool
        Whether the program also runs with audit on.

    Attributes
    ----------
    coarse : Interpreter or None
        vtgrad under the storage rule, until it refuses something.
    audited : Interpreter or None
        vtgrad under the rule in question with audit on, until it refuses something.
    passes : int
        How many passes the rule has accepted.
    gained : int
        How many of these the storage rule has refused.
    refused : int
        How many passes both have refused for a saved value.
    """

    saving: ClassVar[str] = "elements"
    torch_saving: ClassVar[str] = "clones"

    coarse: Interpreter | None
    audited: Interpreter | None
    passes: int
    gained: int
    refused: int

    def __init__(self, deep: str, audited: bool = False) -> None:
        super().__init__(deep)
        kind = type(self).__name__
        self.replay = f"play(session_of({kind}({deep!r}), 'vtgrad'), steps) of tests.oracle"
        self._audits = audited
        self.coarse = self.audited = None
        self.passes = self.gained = self.refused = 0

    def begin(self, subject: Interpreter) -> None:
        """See `Judge`."""
        super().begin(subject)
        peer = subject.library.name
        self.coarse = Interpreter(side(peer, "storage"))
        if self._audits:
            # Not the side that is compared: rounding is repaired there behind the library's back.
            self.audited = Interpreter(side(peer, self.saving, audit=True))

    def ends(self, step: Step, error: Exception | None) -> Verdict | None:
        """See `TorchJudge`."""
        coarse_error = None if self.coarse is None else self.coarse.run(step)
        audit_error = None if self.audited is None else self.audited.run(step)
        lost = error is not None and step.is_pass and kind_of(error) in LOST
        if self.coarse is not None and coarse_error is None and lost:
            return _differ("refused by the rule in question only", None, error)
        if audit_error is not None:
            if error is None and not self._is_unseen(audit_error):
                return _differ("refused with audit on", error, audit_error)
            self.audited = None
        if coarse_error is not None and error is None:
            self.gained += step.is_pass
            self.coarse = None
        self.passes += step.is_pass and error is None
        reason = self._reason_to_end(step, error, lost=lost)
        return None if reason is None else Verdict(ends=True, excused=reason)

    def _reason_to_end(self, step: Step, error: Exception | None, *, lost: bool) -> str | None:
        """Why the program ends, if clones make a difference that is intended."""
        if self.torch_error is None and error is not None and lost:
            self.refused += 1
            return self.why_refused(error)
        if self.torch_error is None and error is not None and kind_of(error) == "checkpoint":
            return "what a checkpoint computes again differs, at which PyTorch does not look"
        loops = isinstance(step, Line) and step.op == "__iter__"
        if error is None and loops and self._refuses_a_view():
            return "a loop over a view without rows reads nothing of it"
        if error is not None and kind_of(error) == "swap":
            return "what was saved is exchanged, where a clone is saved"
        if self.torch_error is not None and error is not None:
            if error_difference(self.torch_error, error) is not None:
                return "refused by both: with which error is compared elsewhere"
        if error is None and self._is_of_the_hook(step):
            return "to clone a saved view asks for its producer, which saving does not"
        return None

    def _refuses_a_view(self) -> bool:
        """Whether PyTorch says that a view must not be used any more."""
        return self.torch_error is not None and kind_of(self.torch_error) in _VIEW_REFUSALS

    def why_refused(self, error: Exception) -> str | None:
        """Why a pass may be refused for a saved value; None if it may not."""
        return "a saved value is lost, which a clone is not"

    def _is_unseen(self, error: Exception) -> bool:
        """Whether audit reports what it is for: elements exchanged or written by way of ``.data``.

        A view of another memory since then may be used if its producer was read before, which
        happens on the side that is looked at only.
        """
        return kind_of(error) in ("unseen-write", "view-invalid") and uses_data(self.lines)

    def _is_of_the_hook(self, step: Step) -> bool:
        """Whether PyTorch refuses to save a view that may not be used, only because of the hook."""
        error = self.torch_error
        if error is None or step.is_pass or kind_of(error) not in _VIEW_REFUSALS:
            return False
        plain = Interpreter(side("torch"))
        return [plain.run(each) for each in self.steps][-1] is None


class ItselfJudge(ClonesJudge):
    """PyTorch with clones; in vtgrad hooks keep the saved tensor, and the exact rule holds."""

    saving: ClassVar[str] = "itself"


class DetachedJudge(ClonesJudge):
    """PyTorch with clones; in vtgrad hooks keep an alias, and the exact rule holds."""

    saving: ClassVar[str] = "detached"


class PackedJudge(ClonesJudge):
    """PyTorch with clones, and vtgrad too: neither may refuse a write."""

    saving: ClassVar[str] = "clones"

    def why_refused(self, error: Exception) -> str | None:
        """See `ClonesJudge`."""
        return None


class DiskJudge(PackedJudge):
    """PyTorch with clones, vtgrad with files."""

    saving: ClassVar[str] = "disk"


class RewindJudge(ClonesJudge):
    """PyTorch with clones; vtgrad goes back to what was overwritten."""

    saving: ClassVar[str] = "rewind"

    def why_refused(self, error: Exception) -> str | None:
        """See `ClonesJudge`."""
        if kind_of(error) == "saved-detached":
            return "a saved value was cut off its graph, which a clone is not"
        if any(UNKEPT.fullmatch(step.op) for step in self.lines):
            return "a saved value may have been overwritten by a write that is not kept"
        return None


def _differ(what: str, one: Exception | None, other: Exception | None) -> Verdict:
    return Verdict([Divergence("", what, describe(one), describe(other))], cause=other)


def uses_data(steps: Iterable[Line]) -> bool:
    """Whether a program changes elements by way of ``.data``, which no version shows."""
    return any(re.search(r"\.data\b", step.text) for step in steps)
