"""The wrong calls of PyTorch's operator database raise errors of PyTorch's classes.

PyTorch's tests have calls that each operator must refuse. Here each becomes a call of the function,
of the method and of the in-place method in both libraries, on operands of the same geometry.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db

import vtgrad
from tests.oracle.kinds import builtin_of
from tests.oracle.number_situations import refuses_a_number

#: Elements of the largest memory that is copied.
LARGEST = 1_000_000

#: By operator and number of the call: what PyTorch refuses and vtgrad carries out.
_COMPUTED_FIRST = "out= is an operand too: the result is computed before it is written"
_RESIZED_FIRST = "out= overlaps itself, but has another shape, and gets memory of its own"
KNOWN = {
    ("gather", 6): _COMPUTED_FIRST,
    ("gather", 7): _COMPUTED_FIRST,
    ("index_select", 0): _RESIZED_FIRST,
    ("kthvalue", 0): _COMPUTED_FIRST,
    ("masked_select", 1): _COMPUTED_FIRST,
    ("masked_select", 2): _COMPUTED_FIRST,
    ("take", 1): _COMPUTED_FIRST,
}


class _Unknown(Exception):
    """What vtgrad does not have: a dtype, a device, a layout, 65 dimensions."""


class _Converter:
    """Makes the arguments of one call, of which several may be on one memory."""

    def __init__(self) -> None:
        self.memories: dict[int, Any] = {}

    def __call__(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, torch.dtype | torch.memory_format):
            return self.constant(value)
        if isinstance(value, list):
            return [self(item) for item in value]
        if isinstance(value, tuple):
            return tuple(self(item) for item in value)
        if value is None or isinstance(value, bool | int | float | complex | str | slice):
            return value
        raise _Unknown(type(value).__name__)

    def constant(self, value: Any) -> Any:
        found = getattr(vtgrad, str(value).rpartition(".")[2], None)
        if found is None:
            raise _Unknown(str(value))
        return found

    def tensor(self, value: torch.Tensor) -> Any:
        if value.layout != torch.strided or value.device.type != "cpu" or value.is_conj():
            raise _Unknown(f"{value.layout} {value.device}")
        if value.numel() and not value.untyped_storage().nbytes():
            raise _Unknown("a tensor whose memory was taken away")
        dtype = self.constant(value.dtype)
        memory = value.untyped_storage()
        if memory.nbytes() > LARGEST or value.dim() > 64:
            raise _Unknown(f"{memory.nbytes()} bytes, {value.dim()} dimensions")
        whole = self.memories.get(memory._cdata)
        if whole is None:
            flat = torch.empty(0, dtype=torch.uint8).set_(memory, 0, (memory.nbytes(),), (1,))
            whole = self.memories[memory._cdata] = vtgrad.from_numpy(flat.numpy().copy())
        typed = whole[: memory.nbytes() // value.element_size() * value.element_size()].view(dtype)
        made = typed.as_strided(tuple(value.shape), value.stride(), value.storage_offset())
        return made.detach().requires_grad_(value.requires_grad)


def _entries() -> Iterator[Any]:
    for entry in op_db:
        known = hasattr(vtgrad, entry.name) or hasattr(vtgrad.Tensor, entry.name)
        if entry.error_inputs_func is not None and known:
            yield entry


Form = Callable[[Any, list[Any], dict[str, Any]], object]


def _forms(entry: Any, sample: Any) -> Iterator[Form]:
    """The ways to make a call, each of a library, arguments and options."""
    name = entry.name
    if hasattr(vtgrad, name) and hasattr(torch, name):
        yield lambda library, args, options: getattr(library, name)(*args, **options)
    # Methods take no out= in PyTorch.
    if not isinstance(sample.input, torch.Tensor) or "out" in sample.kwargs:
        return
    for method in (name, f"{name}_"):
        if hasattr(vtgrad.Tensor, method) and hasattr(torch.Tensor, method):
            yield partial(_call_method, method)


def _call_method(method: str, _library: Any, args: list[Any], options: dict[str, Any]) -> object:
    return getattr(args[0], method)(*args[1:], **options)


def _raised(form: Form, library: Any, args: list[Any], options: dict[str, Any]) -> Exception | None:
    try:
        form(library, args, options)
    except Exception as error:
        return error
    return None


NAMES = sorted({entry.name for entry in _entries()})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_call_raises_the_class_that_pytorch_raises(name: str) -> None:
    found, met = [], set()
    for entry in _entries():
        if entry.name != name:
            continue
        for number, wrong in enumerate(entry.error_inputs("cpu")):
            sample = wrong.sample_input
            arguments, options = [sample.input, *sample.args], dict(sample.kwargs)
            for form in _forms(entry, sample):
                convert = _Converter()
                try:
                    mine, chosen = convert(arguments), {k: convert(v) for k, v in options.items()}
                except _Unknown:
                    continue
                theirs = _raised(form, torch, arguments, options)
                if theirs is not None and refuses_a_number(theirs):
                    continue  # A number may stand for a tensor here.
                raised = _raised(form, vtgrad, mine, chosen)
                same = (
                    raised is None
                    if theirs is None
                    else any(cls.__name__ == builtin_of(theirs) for cls in type(raised).__mro__)
                )
                if (name, number) in KNOWN and not same:
                    met.add((name, number))
                elif not same:
                    found.append(f"call {number}: {theirs!r} there, {raised!r} here")
    assert not found, "\n".join(found)
    assert {key for key in KNOWN if key[0] == name} == met


def test_the_database_has_wrong_calls_of_many_operators() -> None:
    assert len(NAMES) > 80
