"""Random programs for a PyTorch that clones what it saves: many writes beside what was saved."""

from tests.oracle.clones_judge import ClonesJudge, uses_data
from tests.oracle.fuzz import Fuzzer
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
        self.weights["saved_and_beside"] = sum(self.weights.values()) / 4
        # Passes, too, are what these programs are about.
        for name in ("backward", "backward_of_sum", "grad"):
            self.weights[name] *= 4
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
