"""Random programs that the model can predict, judged by the model and by PyTorch at once."""

import random

from tests.oracle.fuzz import Fuzzer
from tests.oracle.torch_judge import TorchJudge
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.menu.mixtures import MIXTURES
from vtgrad.testing.model_judge import ModelJudge
from vtgrad.testing.session import Session
from vtgrad.testing.writer import ModelWriter, Writer

__all__ = ["ModelFuzzer", "compared"]


class ModelFuzzer(Fuzzer):
    """Random programs of the model's steps.

    Parameters
    ----------
    against : type of TorchJudge
        The judge beside the model.
    seed : int
        As for `Fuzzer`.
    """

    def __init__(self, against: type[TorchJudge], seed: int = 0) -> None:
        super().__init__("vtgrad", seed)
        self.against = against

    def judge(self, deep: str) -> TorchJudge:
        """See `Fuzzer`."""
        return self.against(deep)

    def session(self, judge: TorchJudge) -> Session:
        """See `Fuzzer`."""
        library = vtgrad_library(self.library(), exact=self.against.saving == "elements")
        model = ModelJudge(library, inspects_always=judge.deep == "always")
        return Session(library, judges=[model, judge])

    def writer(self, rng: random.Random, session: Session, judge: TorchJudge) -> Writer:
        """See `Fuzzer`."""
        return ModelWriter(rng, session, compared(MIXTURES[rng.choice(sorted(MIXTURES))]))


def compared(mixture: tuple[str, ...]) -> tuple[str, ...]:
    """The kinds of steps after which PyTorch's graph is that of the library, node by node.

    ``x[i] += v`` is one write in the library and two in PyTorch.
    """
    return tuple([name for name in mixture if name != "augment_item"])
