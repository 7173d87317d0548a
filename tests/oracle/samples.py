"""The samples of PyTorch's own operator database, as programs.

PyTorch tests its operators with samples that it generates: arguments of every form, with broadcast,
empty and 0-d tensors. Each sample of an operator that vtgrad has becomes a few programs: the
function, the method, on operands with gaps in memory, in place, in place on a part of a tensor, and
into ``out=``, with the first two derivatives.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

import vtgrad
from tests.oracle.cases import Case
from tests.oracle.linear_algebra import OLDER
from vtgrad.testing.steps import Line

DTYPES = (torch.float64, torch.complex128, torch.float32, torch.int64, torch.uint8, torch.bool)
#: Of one operator and dtype, from both ends of its list: they grow odder.
SAMPLES = 4
#: Elements of a tensor that is still written out as text.
LARGEST = 150

#: Operators whose results depend on chance or on what is in fresh memory.
_BY_CHANCE = (
    *("rand", "dropout", "normal", "bernoulli", "uniform", "empty", "geometric", "cauchy"),
    *("multinomial", "poisson"),
)
#: The entry's function is a test's own wrapper: arguments in another order, or a property.
_WRAPPED = frozenset(
    "T H mT mH where einsum zero_ resize_ resize_as_ polygamma byte char double float half int long"
    " short cdouble cfloat bool __radd__ __rsub__ __rmul__ __rmod__ __rpow__ item".split()
)

_BY_NUMBER = "PyTorch's division by a number has another node"

#: What differs, by operator and observable: text that such a program has, and why that is meant.
KNOWN = {
    ("as_strided_scatter", "values"): (
        "autograd.grad",
        "PyTorch's gradient is the wrong way round",
    ),
    ("as_strided_scatter", "storage"): ("stack", "PyTorch copies the memory around it too"),
    ("diagonal_scatter", "storage"): ("stack", "PyTorch copies the memory around it too"),
    ("select_scatter", "storage"): ("stack", "PyTorch copies the memory around it too"),
    ("cdist", "grad_fn"): ("vt.tensor", "made of operators here, with a second derivative"),
    ("corrcoef", "grad_fn"): ("complex128", "PyTorch multiplies complex matrices by their parts"),
    ("cov", "grad_fn"): ("complex128", "PyTorch multiplies complex matrices by their parts"),
    ("cumulative_trapezoid", "grad_fn"): ("vt.tensor", _BY_NUMBER),
    ("diff", "_version"): ("out=", "PyTorch's steps towards out= are counted"),
    ("gradient", "grad_fn"): ("vt.tensor", _BY_NUMBER),
    ("kthvalue", "values"): ("int", "PyTorch's index of one of several equal elements is any"),
    ("nanmean", "_version"): ("out=", "PyTorch's steps towards out= are counted"),
    ("nonzero", "class of error"): ("out=", "two faults: as_tuple, and a tuple for out="),
    ("nonzero", "storage_offset"): ("as_tuple=True", "views of a matrix without elements"),
    ("polar", "bound"): ("autograd.grad", "ours has no second gradient by the angle"),
    ("round", "grad_fn"): ("decimals=0", "the same here as no decimals"),
    ("stft", "grad_fn"): ("stft", "the parts of a signal are made by unfold, not by strides"),
    ("trapezoid", "grad_fn"): ("vt.tensor", _BY_NUMBER),
    ("trapz", "grad_fn"): ("vt.tensor", _BY_NUMBER),
    ("unique", "storage"): ("dim=", "PyTorch's counts keep memory for all elements"),
    ("take_along_dim", "grad_fn"): ("stack", "flattens as reshape does, where PyTorch refuses"),
}


class Unwritable(Exception):
    """A sample that cannot be written as text that both libraries understand."""


def _entries() -> list[Any]:
    """The entries of the database whose operators vtgrad has."""
    return [
        entry
        for entry in op_db
        if entry.name not in _WRAPPED | OLDER
        and not entry.name.startswith(("linalg.", "nn.functional.", "special."))
        and not any(word in entry.name for word in _BY_CHANCE)
        and (_function(entry) or hasattr(vtgrad.Tensor, entry.name))
    ]


def _function(entry: Any) -> str:
    """The operator's name as a function, as `fft.rfft`; empty if there is none."""
    return entry.name if _has(vtgrad, entry.name) and _has(torch, entry.name) else ""


def _has(library: Any, name: str) -> bool:
    """Whether a library has a name, which may stand in one of its modules."""
    for part in name.split("."):
        library = getattr(library, part, None)
    return library is not None


def names() -> list[str]:
    """The operators that have samples."""
    return sorted({entry.name for entry in _entries()})


class _Writer:
    """Writes one sample's arguments as text, and the steps that make its tensors."""

    steps: list[Line]
    leaves: list[str]
    known: dict[int, str]
    gaps: bool

    def __init__(self, gaps: bool) -> None:
        self.steps = []
        self.leaves = []
        self.known = {}
        self.gaps = gaps

    def bind(self, text: str, op: str = "operand") -> str:
        """Name the value of an expression."""
        name = f"t{len(self.steps)}"
        self.steps.append(Line(text, (name,), "", op))
        return name

    def text(self, value: Any) -> str:
        """An argument as source text."""
        if isinstance(value, torch.Tensor):
            return self.known.get(id(value)) or self.tensor(value)
        if isinstance(value, torch.dtype):
            return "vt." + str(value).rpartition(".")[2]
        if isinstance(value, torch.memory_format):
            return "vt." + str(value).rpartition(".")[2]
        if isinstance(value, list):
            return "[" + ", ".join(map(self.text, value)) + "]"
        if isinstance(value, tuple):
            return "(" + "".join(self.text(item) + ", " for item in value) + ")"
        if isinstance(value, slice):
            return f"slice({value.start}, {value.stop}, {value.step})"
        if value is Ellipsis or isinstance(value, bool | int | float | complex | str | None):
            return _number(repr(value)) if not isinstance(value, str) else repr(value)
        raise Unwritable(type(value).__name__)

    def tensor(self, value: torch.Tensor) -> str:
        """The name of a tensor, which is made first."""
        if value.dtype not in DTYPES or value.numel() > LARGEST or value.layout != torch.strided:
            raise Unwritable(f"{value.dtype} {tuple(value.shape)}")
        dtype = str(value.dtype).rpartition(".")[2]
        numbers = _number(repr(value.detach().reshape(-1).tolist()))
        made = f"vt.tensor({numbers}, dtype=vt.{dtype}).reshape({tuple(value.shape)})"
        if value.requires_grad:
            name = self.bind(f"{made}.requires_grad_()")
            self.leaves.append(name)
        else:
            name = self.bind(made)
        if self.gaps:
            name = self.bind(f"vt.stack([{name}, {name}], -1)[..., 1]")
        self.known[id(value)] = name
        return name


def _number(text: str) -> str:
    """Numbers that Python prints but does not read."""
    return text.replace("nan", "float('nan')").replace("inf", "float('inf')")


def _program(entry: Any, sample: Any, outputs: int, way: str) -> tuple[Line, ...]:
    """One sample of an operator in one of its `_ways`."""
    writer = _Writer(gaps=way == "gaps")
    subject = writer.text(sample.input)
    rest = [writer.text(value) for value in sample.args]
    rest += [f"{name}={writer.text(value)}" for name, value in _options(sample).items()]
    if way == "in place":
        subject = writer.bind(f"{subject}.clone()")
    elif way == "on a part":
        whole = writer.bind(f"vt.stack([{subject}, {subject}])")
        subject = writer.bind(f"{whole}[1]")
    elif way == "out":
        rest += ["out=" + _outs(outputs, sample)]
    if way in ("method", "in place", "on a part"):
        written = way != "method"
        method = (entry.inplace_variant if written else entry.method_variant).__name__
        call = f"{subject}.{method}({', '.join(rest)})"
    elif _function(entry):
        call = f"vt.{entry.name}({', '.join([subject, *rest])})"
    else:
        call = f"{subject}.{entry.name}({', '.join(rest)})"
    count = len(writer.steps)
    results = tuple(f"t{count + k}" for k in range(outputs))
    writer.steps.append(Line(call, results, "no_grad()" if way == "out" else "", entry.name))
    if not writer.leaves or way == "out":
        return tuple(writer.steps)
    wanted = "[" + ", ".join(writer.leaves) + "]"
    of = results if way != "on a part" else (whole,)
    count += outputs
    for times in (1, 2):
        found = tuple(f"t{count + k}" for k in range(len(writer.leaves)))
        sources = ", ".join(of)
        weights = ", ".join(f"ramp({name})" for name in of)
        gradient = (
            f"vt.autograd.grad([{sources}], {wanted}, grad_outputs=[{weights}], "
            f"allow_unused=True{', create_graph=True' if times == 1 else ''})"
        )
        pick = "[0]" if len(found) == 1 else ""
        text = f"[dense(g) for g in {gradient}]{pick}"
        writer.steps.append(Line(text, found, "", entry.name, backward=True))
        of = found[:1]
        count += len(found)
    return tuple(writer.steps)


def _options(sample: Any) -> dict[str, Any]:
    """Keyword arguments, without those that say where a tensor lives: there is one place."""
    return {
        name: value
        for name, value in sample.kwargs.items()
        if name not in ("device", "layout", "pin_memory")
    }


def _outs(outputs: int, sample: Any) -> str:
    dtype = str(sample.input.dtype).rpartition(".")[2]
    one = f"vt.zeros(0, dtype=vt.{dtype})"
    return one if outputs == 1 else "(" + ", ".join([one] * outputs) + ")"


def _count_of_results(entry: Any, sample: Any) -> int:
    """How many tensors the operator returns; 0 if other things too, or if it refuses the call."""
    try:
        found = entry.op(sample.input, *sample.args, **sample.kwargs)
    except Exception:  # whatever it raises, one name is enough for the error
        return 1
    if isinstance(found, torch.Tensor):
        return 1
    if isinstance(found, tuple | list) and found:
        return len(found) if all(isinstance(item, torch.Tensor) for item in found) else 0
    return 0


def _ways(entry: Any, sample: Any) -> Iterator[str]:
    yield "function"
    if not isinstance(sample.input, torch.Tensor):
        return
    if entry.method_variant is not None and hasattr(vtgrad.Tensor, entry.name):
        yield "method"
    yield "gaps"
    written = entry.inplace_variant
    if written is not None and hasattr(vtgrad.Tensor, written.__name__):
        yield "in place"
        yield "on a part"
    if entry.supports_out and _function(entry):
        yield "out"


def _samples(entry: Any, dtype: torch.dtype) -> list[Any]:
    # Second derivatives in single precision are noise where they ought to be zero.
    differentiable = dtype in (torch.float64, torch.complex128) and entry.supports_autograd
    try:
        found = list(islice(entry.sample_inputs("cpu", dtype, requires_grad=differentiable), 60))
    except Exception:  # some generators fail on the CPU, or want another package
        return []
    first = (SAMPLES + 1) // 2
    return found if len(found) <= SAMPLES else [*found[:first], *found[first - SAMPLES :]]


def cases(name: str) -> Iterator[Case]:
    """The programs of an operator."""
    torch.manual_seed(0)
    for entry in _entries():
        if entry.name != name:
            continue
        for dtype in DTYPES:
            if dtype not in entry.supported_dtypes("cpu"):
                continue
            for sample in _samples(entry, dtype):
                outputs = _count_of_results(entry, sample)
                for way in _ways(entry, sample) if outputs else ():
                    try:
                        program = _program(entry, sample, outputs, way)
                    except Unwritable:
                        break
                    yield Case(f"{name} {way}", program)
