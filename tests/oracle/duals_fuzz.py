"""Random programs in which tensors have tangents, against PyTorch."""

import random
from dataclasses import replace

import tests.oracle.gen_duals  # noqa: F401  (importing registers the kinds)
from tests.oracle.fuzz import Fuzzer
from tests.oracle.model_fuzz import ModelFuzzer, compared
from tests.oracle.torch_judge import TorchJudge
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.menu.mixtures import DUALS
from vtgrad.testing.model_judge import ModelJudge
from vtgrad.testing.session import Session
from vtgrad.testing.writer import ModelWriter, Writer

__all__ = ["DualsFuzzer", "ModelDualsFuzzer"]

#: How often steps of forward mode are taken, beside all others.
_WEIGHTS = {
    "dual": 25.0, "grown": 40.0, "carry": 14.0, "unpacked": 3.0, "level": 1.5, "forward_off": 3.0,
    "read_tangent": 3.0,
}  # fmt: skip


class DualsFuzzer(Fuzzer):
    """Programs of all operators, in which tensors have tangents."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__("vtgrad", seed)
        self.weights = {**self.weights, **_WEIGHTS}


class ModelDualsFuzzer(ModelFuzzer):
    """Programs of the model's steps, which the model judges too.

    It passes over steps that PyTorch is known to do wrong.
    """

    def __init__(self, seed: int = 0) -> None:
        super().__init__(TorchJudge, seed)

    def session(self, judge: TorchJudge) -> Session:
        """See `Fuzzer`."""
        library = vtgrad_library(self.library(), exact=False)
        library = replace(library, manners=replace(library.manners, exact_tangents=False))
        model = ModelJudge(library, inspects_always=judge.deep == "always")
        return Session(library, judges=[model, judge])

    def writer(self, rng: random.Random, session: Session, judge: TorchJudge) -> Writer:
        """See `Fuzzer`."""
        return ModelWriter(rng, session, compared(DUALS[rng.choice(sorted(DUALS))]))
