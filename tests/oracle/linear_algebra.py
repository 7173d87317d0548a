"""The samples of PyTorch's operator database for linear algebra, called on both libraries.

Nodes, strides and counts of writes are not compared, as they are of other operators: here they are
those of LAPACK's layouts and of the steps that a function takes. Values, shapes, dtypes, which
result requires grad, and the first two derivatives are, and which calls are refused. Where a result
is given up to a sign or a phase, what does not depend on that is differentiated.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import vtgrad as vt

__all__ = ["Sample", "difference", "differences", "names"]

OLDER: Final = frozenset(
    "cholesky cholesky_inverse cholesky_solve lu lu_solve lu_unpack matrix_exp qr svd pinverse"
    " logdet triangular_solve geqrf ormqr".split()
)
EXACT: Final = (torch.float64, torch.complex128)
DTYPES: Final = (*EXACT, torch.float32, torch.complex64, torch.int64)
# Of a dtype of double precision, and of each other.
SAMPLES: Final = {True: 12, False: 4}
UP_TO_PHASES: Final = ("linalg.svd", "linalg.eig", "linalg.eigh", "linalg.eigvals", "svd")

# What differs, by operator and kind of difference, and why that is meant.
# By function, with the name of the variant behind it where only that differs.
KNOWN: Final = {
    # The derivative of the factor's other triangle, which is not read, is not 0 in PyTorch.
    ("cholesky_inverse", "gradient"),
    ("cholesky_inverse", "second gradient"),
    ("cholesky_solve", "gradient"),
    ("cholesky_solve", "second gradient"),
    # PyTorch's gradient has an imaginary diagonal, along which the matrix is not Hermitian.
    ("cholesky", "gradient"),
    ("cholesky", "second gradient"),
    ("linalg.cholesky", "gradient"),
    ("linalg.cholesky", "second gradient"),
    ("linalg.cholesky_ex", "gradient"),
    ("linalg.cholesky_ex", "second gradient"),
    # The samples are not Hermitian: PyTorch's values read one triangle, and its gradient both.
    ("linalg.pinv hermitian", "gradient"),
    # PyTorch gives nan, of singular values that are equal.
    ("linalg.norm", "second gradient is refused"),
}


def _of(library: Any, name: str) -> Any:
    for part in name.split("."):
        library = getattr(library, part, None)
    return library


def _entries() -> list[Any]:
    return [
        entry
        for entry in op_db
        if (entry.name.startswith("linalg.") or entry.name in OLDER) and _of(vt, entry.name)
    ]


def names() -> list[str]:
    """The functions that have samples."""
    return sorted({entry.name for entry in _entries()})


class Sample:
    """A call on both libraries."""

    def __init__(self, entry: Any, sample: Any) -> None:
        self.entry = entry
        self.leaves: dict[int, tuple[torch.Tensor, vt.Tensor]] = {}
        options = {name: x for name, x in sample.kwargs.items() if name != "device"}
        self.torch_arguments = (sample.input, sample.args, options)
        self.arguments = (
            self.converted(sample.input),
            self.converted(tuple(sample.args)),
            {name: self.converted(x) for name, x in options.items()},
        )

    def converted(self, value: Any) -> Any:
        """An argument for vtgrad."""
        if isinstance(value, torch.Tensor):
            if id(value) not in self.leaves:
                found = vt.tensor(value.detach().resolve_conj().numpy().copy())
                found.requires_grad_(value.requires_grad)
                self.leaves[id(value)] = value, found
            return self.leaves[id(value)][1]
        if isinstance(value, torch.dtype):
            return getattr(vt, str(value).rpartition(".")[2])
        if isinstance(value, (list, tuple)):
            return type(value)(self.converted(x) for x in value)
        return value

    def on_torch(self) -> Any:
        first, rest, options = self.torch_arguments
        return self.entry.op(first, *rest, **options)

    def on_vtgrad(self) -> Any:
        first, rest, options = self.arguments
        function: Callable[..., Any] = _of(vt, self.entry.name)
        variant = self.entry.variant_test_name
        if variant == "singular":
            return function(first @ rest[0].mT)
        if variant == "grad_oriented":
            return function(first, rest[0], **options)[:2]
        return function(first, *rest, **options)


def _tensors(found: Any, cls: type) -> list[Any]:
    if isinstance(found, cls):
        return [found]
    return (
        [x for part in found for x in _tensors(part, cls)]
        if isinstance(found, (list, tuple))
        else []
    )


def _array(x: Any) -> np.ndarray[Any, Any]:
    if isinstance(x, torch.Tensor):
        found: np.ndarray[Any, Any] = x.detach().resolve_conj().numpy(force=True)
        return found
    return x.detach().resolve_conj().numpy()


def _close(wanted: Any, found: Any, tolerance: float) -> bool:
    one, two = _array(wanted), _array(found)
    if one.shape != two.shape or one.dtype != two.dtype:
        return False
    least = tolerance * max(1.0, float(np.abs(one[np.isfinite(one)]).max(initial=0)))
    return bool(np.allclose(one, two, rtol=tolerance, atol=least, equal_nan=True))


def _loss(library: Any, results: Sequence[Any], up_to_phases: bool) -> Any:
    total: Any = 0
    for result in results:
        x = result
        if up_to_phases:
            x = (x * x.conj()).real if x.is_complex() else x * x
        weights = library.linspace(0.5, 1.5, x.numel(), dtype=library.float64)
        x = x * weights.reshape(tuple(x.shape)).to(x.real.dtype if x.is_complex() else x.dtype)
        total = total + (x.real + 0.7 * x.imag if x.is_complex() else x).sum()
    return total


def _squares(gradients: Sequence[Any]) -> Any:
    return sum((x * x.conj()).real.sum() if x.is_complex() else (x * x).sum() for x in gradients)


def _attempt(call: Callable[[], Any]) -> tuple[Any, bool]:
    try:
        return call(), False
    except (RuntimeError, ValueError, TypeError, IndexError):
        return None, True


def difference(sample: Sample, dtype: torch.dtype) -> str:
    """What differs first; empty if nothing does."""
    entry = sample.entry
    wanted, refused = _attempt(sample.on_torch)
    given, refuses = _attempt(sample.on_vtgrad)
    if refused or refuses:
        return "" if refused and refuses else "is refused by one"
    results, found = _tensors(wanted, torch.Tensor), _tensors(given, vt.Tensor)
    if len(results) != len(found):
        return "number of results"
    up_to_phases = entry.name in UP_TO_PHASES
    tolerance = 1e-6 if dtype in EXACT else 5e-3
    for one, two in zip(results, found, strict=True):
        if tuple(one.shape) != tuple(two.shape) or _array(one).dtype != _array(two).dtype:
            return "shape or dtype"
        if one.requires_grad != two.requires_grad:
            return "requires_grad"
        if not up_to_phases and not _close(one, two, tolerance):
            return "value"
    pairs = [(x, y) for x, y in zip(results, found, strict=True) if x.requires_grad]
    leaves = [(x, y) for x, y in sample.leaves.values() if x.requires_grad]
    if not pairs or not leaves or dtype not in EXACT:
        return ""
    losses = [
        _loss(library, each, up_to_phases)
        for library, each in zip((torch, vt), zip(*pairs, strict=True), strict=True)
    ]
    for what in ("gradient", "second gradient"):
        one, refused = _attempt(partial(_gradients, torch, losses[0], [x for x, _ in leaves]))
        two, refuses = _attempt(partial(_gradients, vt, losses[1], [y for _, y in leaves]))
        if refused or refuses:
            return "" if refused and refuses else f"{what} is refused"
        both = [(x, y) for x, y in zip(one, two, strict=True) if x is not None and y is not None]
        if not all(_close(x, y, 100 * tolerance) for x, y in both):
            return what
        recorded = [(x, y) for x, y in both if x.requires_grad and y.requires_grad]
        if not recorded:
            return ""
        losses = [_squares([x for x, _ in recorded]), _squares([y for _, y in recorded])]
    return ""


def _gradients(library: Any, loss: Any, leaves: Sequence[Any]) -> Any:
    return library.autograd.grad(loss, leaves, create_graph=True, allow_unused=True)


def _samples(entry: Any, dtype: torch.dtype) -> Iterator[Sample]:
    torch.manual_seed(0)
    differentiable = entry.supports_autograd and dtype.is_floating_point | dtype.is_complex
    found = entry.sample_inputs("cpu", dtype, requires_grad=differentiable)
    for sample in islice(found, SAMPLES[dtype in EXACT]):
        yield Sample(entry, sample)


def differences(name: str) -> Iterator[tuple[str, str]]:
    """What differs in the samples of a function: the kind, and the sample."""
    for entry in _entries():
        for dtype in DTYPES:
            if entry.name != name or dtype not in entry.supported_dtypes("cpu"):
                continue
            for nr, sample in enumerate(_samples(entry, dtype)):
                what = difference(sample, dtype)
                if what:
                    shapes = [tuple(x.shape) for x, _ in sample.leaves.values()]
                    options = sample.torch_arguments[2]
                    yield what, f"{entry.variant_test_name} {dtype} {nr}: {shapes} {options}"
