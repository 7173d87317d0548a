"""Calls of every operator, on small operands in several layouts, in PyTorch and in vtgrad.

The calls are the samples with which PyTorch tests its own operators: arguments of every form, with
broadcast, empty and 0-d tensors. Each is made of operands that lie in memory in one of `LAYOUTS`,
the same in both libraries.
"""

import gc
import importlib
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from benchmarks.libraries import Array, Library

__all__ = ["LAYOUTS", "Call", "calls"]

LAYOUTS = ("dense", "strided", "transposed", "expanded")

# The largest operand, in elements.
_SMALL = 400
# Of how many samples of an operator a few are taken, evenly.
_LOOKED_AT = 200
# Operators whose results depend on chance or on what is in fresh memory.
_BY_CHANCE = (
    *("rand", "dropout", "normal", "bernoulli", "uniform", "empty", "geometric", "cauchy"),
    *("multinomial", "poisson"),
)
# Keyword arguments that say where a tensor lives: there is one place.
_PLACES = ("device", "layout", "pin_memory")


@dataclass(frozen=True)
class Call:
    """One call of an operator.

    Attributes
    ----------
    operator : str
        The name, with an underscore at the end of what writes in place.
    layout : str
        How the operands lie in memory.
    arguments : str
        Shapes of tensors, and other arguments.
    programs : dict of callable
        The call, by the name of the library.
    """

    operator: str
    layout: str
    arguments: str
    programs: dict[str, Callable[[], object]]

    @property
    def row(self) -> str:
        """The name in the table."""
        return f"{self.operator} {self.layout} {self.arguments}"[:80]


def calls(
    libraries: Mapping[str, Library], most: int, only: Collection[str] = ()
) -> Iterator[Call]:
    """Yield the calls that both libraries accept.

    Parameters
    ----------
    libraries : mapping
        PyTorch and vtgrad.
    most : int
        The number of samples of one operator.
    only : collection of str
        The operators, in PyTorch's names; all by default.
    """
    torch, vtgrad = libraries["torch"].ops, libraries["vtgrad"].ops
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of operators that PyTorch is about to drop
        database = importlib.import_module("torch.testing._internal.common_methods_invocations")
        # Collections during a measurement need not visit it.
        gc.collect()
        gc.freeze()
        for entry in database.op_db:
            if only and entry.name not in only:
                continue
            names = list(_names(torch, vtgrad, entry))
            # To make samples takes time, and vtgrad does not have all operators.
            for sample in _samples(torch, entry, most) if names else ():
                for name, written in names:
                    for layout in LAYOUTS:
                        call = _call(torch, vtgrad, name, written, layout, sample)
                        if call is not None:
                            yield call


def _samples(torch: Any, entry: Any, most: int) -> list[Any]:
    """Samples with small operands: of float32, or else of what the operator takes."""
    accepted = entry.supported_dtypes("cpu")
    wanted = (torch.float32, torch.int64, torch.complex64)
    dtype = next((one for one in wanted if one in accepted), None)
    if dtype is None:
        return []
    try:
        found = list(islice(entry.sample_inputs("cpu", dtype, requires_grad=False), _LOOKED_AT))
    except Exception:  # noqa: BLE001  # some generators want another package
        return []
    small = [one for one in found if _largest(torch, (one.input, one.args)) <= _SMALL]
    step = max(len(small) / most, 1.0)
    return [small[int(nr * step)] for nr in range(min(most, len(small)))]


def _largest(torch: Any, value: object) -> int:
    if isinstance(value, torch.Tensor):
        count: int = value.numel()
        return count
    if isinstance(value, (tuple, list)):
        return max((_largest(torch, one) for one in value), default=0)
    return 0


def _names(torch: Any, vtgrad: Any, entry: Any) -> Iterator[tuple[str, bool]]:
    """The function or the method, and the method that writes; and whether it writes."""
    if any(word in entry.name for word in _BY_CHANCE):
        return
    if _named(torch, entry.name) and _named(vtgrad, entry.name):
        yield entry.name, False
    elif hasattr(torch.Tensor, entry.name) and hasattr(vtgrad.Tensor, entry.name):
        yield f"Tensor.{entry.name}", False
    # What is no method has no name, or none that a tensor has.
    writer = getattr(entry.inplace_variant, "__name__", "")
    if writer.endswith("_") and hasattr(vtgrad.Tensor, writer):
        yield f"Tensor.{writer}", True


def _named(library: Any, name: str) -> Any:
    """What a library has under a name, which may stand in one of its modules; or None."""
    for part in name.split("."):
        library = getattr(library, part, None)
    return library


def _call(
    torch: Any, vtgrad: Any, name: str, written: bool, layout: str, sample: Any
) -> Call | None:
    """The call in both libraries; None if one of them refuses it, or it changes a geometry."""
    options = {key: value for key, value in sample.kwargs.items() if key not in _PLACES}
    try:
        given = [
            _laid(torch, sample.input, "dense" if written and layout == "expanded" else layout)
        ]
        given += [_laid(torch, value, layout) for value in sample.args]
        named = {key: _laid(torch, value, layout) for key, value in options.items()}
        own = [_as_own(torch, vtgrad, value) for value in given]
        own_named = {key: _as_own(torch, vtgrad, value) for key, value in named.items()}
        programs: dict[str, Callable[[], object]] = {
            "vtgrad": partial(_named(vtgrad, name), *own, **own_named),
            "torch": partial(_named(torch, name), *given, **named),
        }
        for program in (*programs.values(), *programs.values()):
            program()
    except Exception:  # noqa: BLE001  # whatever an argument or a refusal raises
        return None
    if written and own[0].shape != tuple(sample.input.shape):
        return None
    shown = [_shown(torch, value) for value in given]
    shown += [f"{key}={_shown(torch, value)}" for key, value in named.items()]
    return Call(name.removeprefix("Tensor."), layout, ", ".join(shown), programs)


def _shown(torch: Any, value: object) -> str:
    if isinstance(value, torch.Tensor):
        return str(tuple(value.shape))
    if isinstance(value, (list, tuple)) and _largest(torch, value):
        return f"[{', '.join(_shown(torch, one) for one in value)}]"
    return repr(value)


def _laid(torch: Any, value: Any, layout: str) -> Any:
    """An argument of PyTorch, with every tensor in a layout that it can have."""
    if isinstance(value, (list, tuple)):
        return type(value)(_laid(torch, one, layout) for one in value)
    if not isinstance(value, torch.Tensor):
        return value
    tensor = value.detach()
    if layout == "strided" and tensor.ndim:
        return torch.stack([tensor, tensor], -1)[..., 1]
    if layout == "transposed" and tensor.ndim > 1:
        order = tuple(reversed(range(tensor.ndim)))
        return tensor.permute(order).contiguous().permute(order)
    if layout == "expanded" and tensor.ndim and tensor.shape[0] and tensor.is_floating_point():
        return tensor[:1].contiguous().expand(tensor.shape)
    return tensor.clone()


def _as_own(torch: Any, vtgrad: Any, value: Any) -> Array:
    """The same argument for vtgrad, with the same strides."""
    if isinstance(value, (list, tuple)):
        return type(value)(_as_own(torch, vtgrad, one) for one in value)
    if isinstance(value, (torch.dtype, torch.memory_format)):
        return getattr(vtgrad, str(value).rpartition(".")[2])
    if not isinstance(value, torch.Tensor):
        return value
    if not value.ndim or not value.numel():
        return vtgrad.tensor(value.numpy())
    strides: Sequence[int] = value.stride()
    span = 1 + sum((n - 1) * step for n, step in zip(value.shape, strides, strict=True))
    memory = torch.as_strided(value, (span,), (1,), value.storage_offset())
    return vtgrad.tensor(memory.numpy()).as_strided(tuple(value.shape), strides)
