"""Random programs for a PyTorch that clones what it saves: many writes beside what was saved."""

from tests.oracle.clones_judge import ClonesJudge, uses_data
from tests.oracle.fuzz import Fuzzer
from tests.oracle.gen_autograd import backward, grad
from tests.oracle.gen_beside import beside
from tests.oracle.generator import Rule
from tests.oracle.torch_judge import TorchJudge, replay
from vtgrad.testing.session import Run

__all__ = ["ClonesFuzzer"]

# One program of so many runs with audit on as well.
_AUDITED = 3


class ClonesFuzzer(Fuzzer):
    """Random programs that are judged by PyTorch with clones.

    Parameters
    ----------
    against : type of ClonesJudge
        The judge.
    peer, seed
        As for `Fuzzer`.

    Attributes
    ----------
    passes, gained, refused : int
        Passes of all programs so far, as `ClonesJudge` counts them.
    """

    passes: int
    gained: int
    refused: int

    def __init__(self, against: type[ClonesJudge], peer: str = "vtgrad", seed: int = 0) -> None:
        super().__init__(peer, seed)
        self.against = against
        self.rules = [*self.rules, Rule(beside, sum(self.weights) / 4, ())]
        # Passes, too, are what these programs are about.
        self.weights = [
            rule.weight * (4 if rule.maker in (backward, grad) else 1) for rule in self.rules
        ]
        self.passes = self.gained = self.refused = 0
        self._last: ClonesJudge | None = None
        self._audits = False

    def run(self, index: int) -> tuple[str, Run]:
        """See `Fuzzer`."""
        self._audits = index % _AUDITED == 0
        deep, run = super().run(index)
        if self._last is not None:
            self.passes += self._last.passes
            self.gained += self._last.gained
            self.refused += self._last.refused
        if run.failure is not None and uses_data(step.line() for step in run.steps):
            # Elements that are exchanged or written unseen are others for backward too: a clone
            # keeps the old ones, PyTorch without hooks does not.
            again = replay(run.steps, self.peer, deep)
            if again.failure is None and len(again.steps) == len(run.steps):
                run.failure = None
                run.excused = "what was saved was changed by way of .data, where a clone is saved"
        return deep, run

    def judge(self, deep: str) -> TorchJudge:
        """See `Fuzzer`."""
        self._last = self.against(deep, self._audits)
        return self._last
