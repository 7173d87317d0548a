"""``__torch_function__`` beside PyTorch's: what is called, with what, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from inspect import getattr_static
from typing import Any, Final

import pytest
import torch

import vtgrad as vt
from tests.overrides.logged import Logged as OwnLogged
from vtgrad.overrides.members import overridden_members


def _noted(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    cls.calls.append((func, args, kwargs or {}))
    return super(TorchLogged, cls).__torch_function__(func, types, args, kwargs)


# The same class there; not by a statement, because types of PyTorch are not checked here.
TorchLogged: Any = type(
    "TorchLogged", (torch.Tensor,), {"calls": [], "__torch_function__": classmethod(_noted)}
)

LIBRARIES: Final[tuple[tuple[Any, Any], ...]] = ((vt, OwnLogged), (torch, TorchLogged))

# One call each; `p` is of the class, `q` a plain tensor, and `lib` the library.
CALLS: Final = (
    *("p + 1|1 + p|q + p|p - 1|q - p|p * p|2 * p|p / 2|p / q|p ** 2|p // 2|p % 2|-p".split("|")),
    *("abs(p)|p @ q|q @ p|p == q|p != q|p < 2|p >= q|~(q > 0)|p[0]|p[:, 1]|p.T|p.mT".split("|")),
    *("p.shape|p.dtype|p.ndim|p.is_leaf|p.requires_grad|p.grad|p.grad_fn|p.data".split("|")),
    *("p.sum()|p.sum(0)|p.mean(dim=1, keepdim=True)|p.max()|p.max(0)|p.reshape(4)".split("|")),
    *("p.view(4)|p.t()|p.clone()|p.detach()|p.float()|p.to(lib.float64)|p.tolist()".split("|")),
    *(
        "p.size()|p.dim()|p.numel()|p.add(q, alpha=2)|q.add(p)|p.mul_(2)|q.clone().mul_(p)".split(
            "|"
        )
    ),
    *("p.zero_()|p.unbind()|p.split(1)|p.chunk(2)|p.sum(dim=0)|q.clone().mul_(p)".split("|")),
    *("lib.add(p, q)|lib.add(q, p, alpha=2)|lib.sum(p, 0)|lib.stack([q, p])".split("|")),
    *("lib.cat((p, q), 1)|lib.where(q > 0, p, q)|lib.reshape(p, (4,))|lib.max(p, 0)".split("|")),
    *("lib.clamp(p, 0, 1)|lib.norm(p)|lib.split(p, 1)|lib.numel(p)|lib.equal(p, q)".split("|")),
    *("lib.einsum('ij->i', p)|lib.zeros_like(p)|lib.is_floating_point(p)|lib.pow(2, p)".split("|")),
    *("lib.linalg.norm(p)|lib.linalg.det(p)|lib.fft.fft(p)|lib.special.erf(p)".split("|")),
    *("lib.nn.functional.relu(p)|lib.add(q, q, out=p)|len(p)|float(p.sum())".split("|")),
    *("p.new_zeros(2)|p.where(q > 0, q)|p.requires_grad_()|p.is_contiguous()".split("|")),
    *("p.as_subclass(lib.Tensor)|lib.is_tensor(p)".split("|")),
)
# Names that differ: the method behind an operator, and functions that are one object here.
SAME: Final = {
    "__eq__": "eq",
    "__ne__": "ne",
    "__floordiv__": "floor_divide",
    "__pow__": "pow",
    "linalg_norm": "norm",
    "linalg_det": "det",
    "fft_fft": "fft",
    "special_erf": "erf",
}


def seen(lib: Any, cls: Any, expression: str) -> tuple[list[Any], Any]:
    """The names and arguments that were taken over, and the classes of what came back."""
    p, q = lib.tensor([[1.0, 2.0], [3.0, 4.0]]).as_subclass(cls), lib.ones(2, 2)
    cls.calls.clear()
    result = eval(expression, {"p": p, "q": q, "lib": lib})  # of this file
    calls = [(_name(func), [_kind(one, lib) for one in args]) for func, args, _ in cls.calls]
    results = result if isinstance(result, tuple) else (result,)
    return calls, [_kind(one, lib) for one in results]


def _name(func: Any) -> str:
    name = func.__name__
    if name in ("__get__", "__set__"):
        owner = func.__self__
        name = f"{getattr(owner, '__name__', None) or owner.fget.__name__}.{name}"
    return SAME.get(name, name)


def _kind(value: Any, lib: Any) -> str:
    if isinstance(value, lib.Tensor):
        return "plain" if type(value) is lib.Tensor else "own"
    return "number" if isinstance(value, (int, float)) else "other"


@pytest.mark.parametrize("expression", CALLS)
def test_a_call_is_seen_as_in_pytorch(expression: str) -> None:
    (calls, results), (expected_calls, expected) = (
        seen(lib, cls, expression) for lib, cls in LIBRARIES
    )
    assert results == expected
    assert [name for name, _ in calls] == [name for name, _ in expected_calls]
    if "lib.linalg" not in expression and "dim=" not in expression:
        assert calls == expected_calls


def _listed(module: Any) -> set[str]:
    overridable = torch.overrides.get_testing_overrides()
    return {name for name in dir(module) if _hashed(getattr(module, name)) in overridable}


def _hashed(value: Any) -> Any:
    return value if callable(value) else None


def test_methods_that_can_be_taken_over_there_can_be_here() -> None:
    shared = {name for name in _listed(torch.Tensor) if hasattr(vt.Tensor, name)}
    # The operators of Python hand over by their own way; `hash` and `iter` are not handed over.
    operators = {name for name in shared if name.startswith("__")}
    missing = shared - operators - set(overridden_members())
    assert len(shared) > 450
    assert missing == set()


def test_properties_that_can_be_taken_over_there_can_be_here() -> None:
    shared = {
        name
        for name in dir(torch.Tensor)
        if name[0] != "_"
        and not callable(getattr_static(torch.Tensor, name))
        and hasattr(vt.Tensor, name)
    }
    assert len(shared) > 25
    assert shared - set(overridden_members()) == set()


def test_functions_that_can_be_taken_over_there_can_be_here() -> None:
    """That each function in the list hands over, tests/overrides finds out."""
    found: dict[object, list[Callable[..., object]]] = vt.overrides.get_overridable_functions()
    own = {name for name in vt.__all__ if getattr(vt, name) in found[vt]}
    shared = {name for name in _listed(torch) if name in vt.__all__}
    assert len(shared) > 330
    # It asks for a flag, in a layer that knows no operators; the method of the name hands over.
    assert shared - own == {"is_inference"}


# `q` is a plain tensor here, and `t` one of PyTorch.
OF_BOTH: Final = (
    *(
        "torch.nn.functional.softmax(q, 0)|t.squeeze(vt.tensor(0))|t + q|q + t|vt.add(q, t)".split(
            "|"
        )
    ),
    *(
        "vt.sin(t)|vt.cat([q, t])|vt.matmul(q, t)|vt.quantile(t, 0.5)|vt.reshape(t, (4,))".split(
            "|"
        )
    ),
)


@pytest.mark.parametrize("expression", OF_BOTH)
def test_plain_tensors_and_those_of_pytorch_are_arrays_to_each_other(expression: str) -> None:
    """Neither library calls the other's, nor itself without end."""
    scope = {"vt": vt, "torch": torch, "q": vt.ones(2, 2), "t": torch.ones(2, 2)}
    assert not hasattr(vt.Tensor, "__torch_function__")
    assert vt.overrides.get_overridable_functions()  # which loads the protocol
    result = eval(expression, scope)  # of this file
    assert type(result) is (torch.Tensor if expression.startswith("t.") else vt.Tensor)


def test_functions_of_pytorch_refuse_tensors_of_the_class() -> None:
    t: Any = torch.ones(2, 2)
    p = vt.ones(2, 2).as_subclass(OwnLogged)
    with pytest.raises(TypeError):
        torch.add(t, p)
    assert type(p + t) is type(t + p) is OwnLogged
