"""`TorchFunctionMode` beside PyTorch's: what modes see, in which order, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

import pytest
import torch

import vtgrad as vt

# The modules of the two libraries, and where modes and switches are.
LIBRARIES: Final[tuple[tuple[Any, Any], ...]] = (
    (vt, vt.overrides),
    (
        torch,
        SimpleNamespace(
            TorchFunctionMode=torch.overrides.TorchFunctionMode,
            BaseTorchFunctionMode=torch.overrides.BaseTorchFunctionMode,
            DisableTorchFunction=torch._C.DisableTorchFunction,
            DisableTorchFunctionSubclass=torch._C.DisableTorchFunctionSubclass,
            has_torch_function=torch.overrides.has_torch_function,
            handle_torch_function=torch.overrides.handle_torch_function,
        ),
    ),
)

# One call each; `x` requires grad, `y` does not, and `lib` is the library.
CALLS: Final = (
    *("y + 1|1 - y|y * y|y @ y|y == y|abs(y)|-y|y ** 2|y.exp()|y.sum(0)|y.max()".split("|")),
    *("y[0]|y[0, 1:]|y[y > 1]|y.__setitem__(0, 1)|y.add_(1)|y.T|y.mT|y.real".split("|")),
    *("x.shape|x.grad|x.requires_grad|x.is_leaf|x.grad_fn|x.data|x._version|x._base".split("|")),
    *("x.numel()|x.size()|x.stride()|x.dim()|x.is_contiguous()|x.storage_offset()".split("|")),
    *("x.dtype|x.device|x.ndim|x.tolist()|y.numpy()|y.sum().item()|len(x)|repr(y)".split("|")),
    *("bool(y.sum())|float(y.sum())|y.detach()|y.to(lib.float64)|y.double()|y.clone()".split("|")),
    *("y.sum().detach()|y.as_subclass(lib.Tensor)|hash(y)|y.new_zeros(2)|x.backward".split("|")),
    *("setattr(y, 'requires_grad', True)|x.requires_grad_()|x.retain_grad()".split("|")),
    *("x.register_hook(print)|x.sum().backward()|lib.autograd.backward(x.sum())".split("|")),
    *("lib.autograd.grad(x.sum(), x)|lib.is_tensor(y)|lib.zeros_like(y)".split("|")),
    *("lib.stack([y, y])|lib.cat((y, y), 1)|lib.where(y > 1, y, y)|lib.split(y, 1)".split("|")),
    *("lib.einsum('ij->i', y)|lib.norm(y)|lib.linalg.norm(y)|lib.fft.fft(y)".split("|")),
    *("lib.nn.functional.softmax(y, 0)|lib.nn.functional.linear(y, y)".split("|")),
    *("lib.nn.functional.mse_loss(y, y)|lib.block_diag(y, y)|lib.cdist(y, y)".split("|")),
    *("lib.zeros(2)|lib.ones(2, 2)|lib.empty(2)|lib.full((2,), 1.0)|lib.eye(2)".split("|")),
    *("lib.empty_strided((2,), (1,))|lib.tensor([1.0])|lib.as_tensor([1.0])".split("|")),
    *("lib.as_tensor(y)|lib.arange(3)|lib.linspace(0, 1, 3)|lib.logspace(0, 1, 3)".split("|")),
    *("lib.rand(2)|lib.randn(2)|lib.randint(3, (2,))|lib.randperm(3)".split("|")),
    *("lib.normal(0.0, 1.0, (2,))|lib.hann_window(3)|lib.tril_indices(2, 2)".split("|")),
    *("lib.result_type(y, y)|lib.promote_types(lib.float32, lib.int64)".split("|")),
    *("lib.can_cast(lib.float32, lib.int64)|lib.manual_seed(0)|lib.Tensor(2, 3)".split("|")),
    *("lib.get_default_dtype()|lib.is_grad_enabled()|lib.broadcast_shapes((1,), (2,))".split("|")),
)
# Names that differ: the method behind an operator, and functions that are one object here.
SAME: Final = {
    "__eq__": "eq",
    "__rsub__": "rsub",
    "rsub": "rsub",
    "__pow__": "pow",
    "linalg_norm": "norm",
    "fft_fft": "fft",
}


def _name(func: Any) -> str:
    name = func.__name__
    if name in ("__get__", "__set__"):
        owner = func.__self__
        name = f"{getattr(owner, '__name__', None) or owner.fget.__name__}.{name}"
    return SAME.get(name, name)


def noting(modes: Any, calls: list[tuple[str, str]]) -> Callable[[str], Any]:
    """The class of modes that note their name and that of the function."""

    def noted(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        calls.append((self.name, _name(func)))
        return func(*args, **(kwargs or {}))

    def named(self: Any, name: str) -> None:
        self.name = name

    return type(
        "Noted", (modes.TorchFunctionMode,), {"__init__": named, "__torch_function__": noted}
    )


def declining(modes: Any, calls: list[tuple[str, str]]) -> Any:
    """The class of modes that note a function, and leave it to others."""

    def noted(self: Any, func: Any, *_: Any) -> Any:
        calls.append(("declines", _name(func)))
        return NotImplemented

    return type("Declining", (modes.TorchFunctionMode,), {"__torch_function__": noted})


def _class(lib: Any, calls: list[tuple[str, str]]) -> Any:
    """A class of tensors that notes too."""

    def noted(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        calls.append(("class", _name(func)))
        return super(made, cls).__torch_function__(func, types, args, kwargs)

    made: Any = type("Logged", (lib.Tensor,), {"__torch_function__": classmethod(noted)})
    return made


@pytest.mark.parametrize("expression", CALLS)
def test_a_call_is_seen_as_in_pytorch(expression: str) -> None:
    seen, results = [], []
    for lib, modes in LIBRARIES:
        calls: list[tuple[str, str]] = []
        x = lib.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        y = lib.tensor([[1.0, 2.0], [3.0, 4.0]])
        with noting(modes, calls)("mode"):
            result = eval(expression, {"x": x, "y": y, "lib": lib})  # of this file
        seen.append([name for _, name in calls])
        results.append(isinstance(result, lib.Tensor))
    assert seen[0] == seen[1]
    assert results[0] == results[1]


# Programs, with `A` and `B` that make modes, `N` one that declines, `y` a plain tensor, `p` one of
# a class with `__torch_function__`, and `f` a function of a user; `modes` has the switches.
PROGRAMS: Final = {
    "two modes": "with A(), B(): y + 1; y.shape; lib.zeros(2); lib.stack([y])",
    "a composite": "with A(), B(): lib.nn.functional.softmax(y, 0)",
    "one mode twice": "m = A()\nwith m:\n  with m: y.exp(); y.dim()\n  y.sin()",
    "a mode and a class": "with A(): p + 1; p.shape; p.tolist(); lib.stack([y, p])",
    "two modes and a class": "with A(), B(): p + 1; p.shape; p[0]",
    "one that declines": "with N(): y + 1",
    "one that declines, before a class": "with N(): p + 1",
    "one that declines, in another": "with A(), N(): y + 1",
    "one that declines, around another": "with N(), A(): y + 1",
    "one that declines a factory": "with A(), N(): lib.zeros(2)",
    "the base class": "with A(), modes.BaseTorchFunctionMode(): lib.ones(2); y.shape; p.dim()",
    "all disabled": "with A(), modes.DisableTorchFunction(): p + 1; y.shape; lib.zeros(2)",
    "all disabled, outside": "with modes.DisableTorchFunction(), A(): p + 1; y.shape; lib.zeros(2)",
    "classes disabled": "with A(), modes.DisableTorchFunctionSubclass(): p.shape; lib.ones(2)",
    "classes disabled, outside": "with modes.DisableTorchFunctionSubclass(), A(): p + 1; p.shape",
    "has it": "has = modes.has_torch_function\nassert not has((y,))\nwith A():\n"
    "  assert has((y,)) and has((3,)) and not has(())",
    "a function of a user": "with A(), B(): f(y); f(3)",
    "blocks in the wrong order": "a, b = A(), B()\na.__enter__()\nb.__enter__()\n"
    "a.__exit__(None, None, None)\nb.__exit__(None, None, None)\ny.exp()",
    "an error of a function": "with A(), B(): lib.zeros(2) @ lib.zeros(3)",
    "after an error": "try:\n  with A(): raise KeyError\nexcept KeyError: y.exp()",
    "no function": "with modes.TorchFunctionMode(): y + 1",
    "not entered": "A().__exit__(None, None, None)",
    "backward": "x = lib.ones(2, requires_grad=True)\nz = (x * x).sum()\nwith A(): z.backward()",
    "a hook": "x = lib.ones(2, requires_grad=True)\nz = (x * x).sum()\n"
    "x.register_hook(lambda g: g * 2)\nwith A(): z.backward()",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_seen_as_in_pytorch(name: str) -> None:
    outcomes = []
    for lib, modes in LIBRARIES:
        calls: list[tuple[str, str]] = []
        noted = noting(modes, calls)

        def f(x: Any, modes: Any = modes) -> Any:
            if modes.has_torch_function((x,)):
                return modes.handle_torch_function(f, (x,), x)
            return x + 1

        y = lib.ones(2)
        scope = {"lib": lib, "modes": modes, "f": f, "y": y}
        scope |= {"p": y.as_subclass(_class(lib, calls)), "N": declining(modes, calls)}
        scope |= {"A": lambda make=noted: make("A"), "B": lambda make=noted: make("B")}
        error: object = None
        try:
            exec(PROGRAMS[name], scope)  # of this file
        except Exception as raised:
            kinds = (NotImplementedError, TypeError, RuntimeError)
            error = [kind for kind in kinds if isinstance(raised, kind)]
            assert error != []
        outcomes.append((calls, error))
    assert outcomes[0] == outcomes[1]
