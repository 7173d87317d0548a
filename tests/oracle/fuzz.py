"""Write and run random programs: the number of a program and the seed decide all of it."""

import importlib
import random
import warnings
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType

import tests.oracle.gen_autograd
import tests.oracle.gen_beside
import tests.oracle.gen_checkpoint
import tests.oracle.gen_complex
import tests.oracle.gen_functions
import tests.oracle.gen_index
import tests.oracle.gen_memory
import tests.oracle.gen_pointwise
import tests.oracle.gen_reduce
import tests.oracle.gen_structure  # noqa: F401  (importing registers the kinds)
from tests.oracle.generator import LineWriter
from tests.oracle.torch_judge import TorchJudge, session_of, smallest
from vtgrad.testing.menu.kinds import possible
from vtgrad.testing.menu.state import Abilities, functions_of
from vtgrad.testing.session import DivergenceError, Run, Session
from vtgrad.testing.writer import Writer, write_program

OPERATORS = (
    "tensor zeros ones full arange linspace eye zeros_like ones_like full_like new_zeros new_ones"
    " new_full new_tensor add sub mul div pow neg abs sign exp expm1 exp2 log log1p log2 log10 sqrt"
    " rsqrt reciprocal square sin cos tan asin acos atan atan2 sinh cosh tanh sigmoid relu clamp"
    " maximum minimum where lerp addcmul addcdiv remainder fmod floor_divide floor ceil round trunc"
    " frac eq ne lt le gt ge logical_and logical_or logical_xor logical_not bitwise_and bitwise_or"
    " bitwise_xor bitwise_not isnan isinf isfinite sum mean prod max min amax amin argmax argmin"
    " any all var std norm logsumexp softmax log_softmax cumsum cumprod matmul mm mv bmm dot outer"
    " addmm einsum view reshape select narrow transpose t T mT permute movedim swapaxes unsqueeze"
    " squeeze expand expand_as view_as flatten ravel unflatten diagonal unfold as_strided split"
    " chunk unbind tensor_split detach t_ transpose_ squeeze_ unsqueeze_ swapaxes_"
    " as_strided_ clone contiguous to double float long int bool cat stack repeat roll flip gather"
    " scatter scatter_ scatter_add scatter_add_ index_select take masked_select masked_fill"
    " masked_fill_ index_fill index_fill_ index_add index_add_ index_put index_put_ index_copy"
    " index_copy_ nonzero sort argsort topk tril triu tril_ triu_ copy_ fill_ zero_ add_ sub_ mul_"
    " div_ pow_ atan2_ remainder_ fmod_ floor_divide_ eq_ ne_ lt_ le_ gt_ ge_ logical_and_"
    " logical_or_ logical_xor_ bitwise_and_ bitwise_or_ bitwise_xor_ neg_ abs_ sign_ exp_ expm1_"
    " exp2_ log_ log1p_ log2_ log10_ sqrt_ rsqrt_ reciprocal_ square_ sin_ cos_ tan_ asin_ acos_"
    " atan_ sinh_ cosh_ tanh_ sigmoid_ relu_ floor_ ceil_ round_ trunc_ frac_ lerp_ addcmul_"
    " addcdiv_ clamp_ cumsum_ cumprod_ detach_ requires_grad_ retain_grad register_hook backward"
    " __getitem__ __setitem__ __iter__ conj resolve_conj resolve_neg conj_physical real imag"
    " adjoint view_as_real view_as_complex _neg_view"
    " resize_ set_ put put_ masked_scatter masked_scatter_"
    " scatter_reduce scatter_reduce_ index_reduce index_reduce_ diag diag_embed diagflat rot90"
    " repeat_interleave narrow_copy unsafe_split unsafe_chunk fill_diagonal_ hstack vstack dstack"
    " column_stack atleast_1d atleast_2d atleast_3d meshgrid hsplit vsplit dsplit broadcast_to"
    " swapdims moveaxis"
).split()


def missing_names(peer: str) -> frozenset[str]:
    """The operators that the library does not have yet."""
    lib = importlib.import_module(peer)
    tensor: type = lib.Tensor
    return frozenset(n for n in OPERATORS if not hasattr(lib, n) and not hasattr(tensor, n))


@dataclass
class Totals:
    """What many programs gave."""

    programs: int = 0
    steps: int = 0
    errors: int = 0
    excused: dict[str, int] = field(default_factory=dict)
    failures: dict[str, tuple[int, str, Run]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, index: int, deep: str, run: Run) -> None:
        """Count a run; of each signature the first is kept."""
        self.programs += 1
        self.steps += len(run.steps)
        self.errors += run.errors
        if run.excused:
            self.excused[run.excused] = self.excused.get(run.excused, 0) + 1
        if run.failure is not None:
            self.failures.setdefault(run.signature, (index, deep, run))
            self.counts[run.signature] = self.counts.get(run.signature, 0) + 1


class Fuzzer:
    """Random programs against one library.

    Parameters
    ----------
    peer : str
        The library under test, importable by this name.
    seed : int
        With a program's number it determines the program.
    """

    def __init__(self, peer: str = "vtgrad", seed: int = 0) -> None:
        self.peer = peer
        self.seed = seed
        self.missing = missing_names(peer)
        functions = functions_of(TorchJudge("never").torch.library.module)
        self.abilities = Abilities(missing=self.missing, functions=functions)
        self.weights = possible(self.abilities)

    def library(self) -> ModuleType:
        """The library under test."""
        return importlib.import_module(self.peer)

    def judge(self, deep: str) -> TorchJudge:
        """PyTorch, which compares a program."""
        return TorchJudge(deep)

    def session(self, judge: TorchJudge) -> Session:
        """A program before its first step."""
        return session_of(judge, self.peer)

    def run(self, index: int) -> tuple[str, Run]:
        """Write and run one program; also how deeply it was watched."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._run(index)

    def _run(self, index: int) -> tuple[str, Run]:
        rng = random.Random(f"{self.seed}:{index}")
        deep = rng.choices(("always", "last", "sometimes", "own"), (35, 25, 20, 20))[0]
        judge = self.judge(deep)
        session = self.session(judge)
        writer = self.writer(rng, session, judge)
        with closing(session), suppress(DivergenceError):  # which the run has
            write_program(session, writer, rng.randint(5, 40))
        return deep, session.run_so_far

    def writer(self, rng: random.Random, session: Session, judge: TorchJudge) -> Writer:
        """What writes a program."""
        return LineWriter(rng, judge.torch, self.abilities, self.weights)

    def smallest(self, deep: str, run: Run) -> DivergenceError:
        """The failure of a program, made small."""
        return smallest(run, [partial(self._again, "last"), partial(self._again, deep)])

    def _again(self, deep: str) -> Session:
        return self.session(self.judge(deep))
