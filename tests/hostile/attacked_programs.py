"""Small programs that change memory or state in every form that there is.

A program is made of steps. All of them work on one `Tensors`, which is made in the same way each
time, so that what they lead to is known from a run without interrupts.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final

import vtgrad as vt
from tests.functions import Doubles, Square
from vtgrad.autograd.function import FunctionCtx
from vtgrad.autograd.graph import (
    allow_mutation_on_saved_tensors,
    increment_version,
    saved_tensors_hooks,
    set_audit,
    set_overwrite_check,
)
from vtgrad.storage.mark_written import PartIndex

__all__ = ["KINDS", "STEPS", "Step", "Tensors"]

#: What the written tensor is.
KINDS: Final = ("plain", "plain view", "result", "result view", "saved result")


class Tensors:
    """What the steps of one program work on.

    Attributes
    ----------
    base, target : Tensor
        A buffer, and what is written: the same, or a view of it.
    leaf, factor : Tensor
        Leaves: `base` is computed from the first, some steps write something of the second.
    other : Tensor
        An operand without history.
    a, b, c, root : Tensor
        Leaves, the last of which have a ``.grad`` already, and a result.
    out, indices : Tensor
        For the results of ``out=``.
    """

    def __init__(self, kind: str) -> None:
        shape = (5, 4) if "view" in kind else (3, 4)
        values = vt.arange(1.0, 1.0 + shape[0] * 4, dtype=vt.float64).reshape(shape) / 8
        self.leaf = values.clone().requires_grad_()
        if "plain" in kind:
            self.base = values.clone()
        elif kind == "saved result":
            self.base = self.leaf.exp()
        else:
            self.base = self.leaf * 2
        self.target = self.base[1:4] if "view" in kind else self.base
        self.factor = (values[:3] + 0.5).clone().requires_grad_()
        self.other = values[:3].flip(0) + 0.25
        self.a, self.b, self.c = (
            vt.full((3,), value, dtype=vt.float64, requires_grad=True) for value in (1.0, 2.0, 3.0)
        )
        table = vt.ones(2, 3, dtype=vt.float64)
        self.b.grad, self.c.grad = vt.ones(3, dtype=vt.float64), table[0]
        self.root = (self.a * 2 + self.b * 3 + self.c * self.b).sum()
        self.out = vt.full((3, 4), 0.5, dtype=vt.float64)
        self.indices = vt.zeros(3, 4, dtype=vt.int64)

    def leaves(self) -> tuple[vt.Tensor, ...]:
        """All leaves."""
        return self.leaf, self.factor, self.a, self.b, self.c

    def buffers(self) -> list[vt.Tensor]:
        """What may be written: values are saved of these before, in the midst, and after."""
        grads = [x.grad for x in self.leaves()]
        return [self.base, self.out, *(x for x in grads if x is not None)]


Step = Callable[[Tensors], object]

_ROWS: Final = vt.tensor([0, 2])
_TWO: Final = vt.full((2, 4), 1.5, dtype=vt.float64)
_MASK: Final = vt.tensor([[True, False, True, False]] * 3)
_COLUMNS: Final = vt.tensor([[0, 1, 0, 2]])


class Multiply(vt.autograd.Function):
    """Writes to its first argument."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(x)
        ctx.save_for_backward(y)
        x.mul_(y.detach())
        return x

    @staticmethod
    def backward(ctx: FunctionCtx, grad: vt.Tensor) -> tuple[vt.Tensor, None]:
        (y,) = ctx.saved_tensors
        return grad * y, None


def _add_to_rows(p: Tensors) -> None:
    p.target[0:2] += p.other[0:2]


def _assign(
    p: Tensors, index: PartIndex | int | slice | vt.Tensor, value: float | vt.Tensor
) -> None:
    p.target[index] = value


_IN_PLACE: Final[dict[str, Step]] = {
    "add_": lambda p: p.target.add_(p.other),
    "mul_ recorded": lambda p: p.target.mul_(p.factor),
    "mul_ a number": lambda p: p.target.mul_(2.0),
    "sub_ broadcast": lambda p: p.target.sub_(p.other[0]),
    "neg_": lambda p: p.target.neg_(),
    "exp_": lambda p: p.target.exp_(),
    "sigmoid_": lambda p: p.target.sigmoid_(),
    "square_": lambda p: p.target.square_(),
    "clamp_": lambda p: p.target.clamp_(0.5, 1.0),
    "cumsum_": lambda p: p.target.cumsum_(0),
    "cumprod_": lambda p: p.target.cumprod_(1),
    "tril_": lambda p: p.target.tril_(),
    "addcmul_": lambda p: p.target.addcmul_(p.factor, p.other),
    "lerp_": lambda p: p.target.lerp_(p.factor, 0.25),
    "renorm_": lambda p: p.target.renorm_(2, 0, 1.0),
    "index_put_": lambda p: p.target.index_put_((_ROWS,), p.factor[:2]),
    "index_put_ sum": lambda p: p.target.index_put_((_ROWS,), _TWO, accumulate=True),
    "index_add_": lambda p: p.target.index_add_(0, _ROWS, p.factor[:2]),
    "index_copy_": lambda p: p.target.index_copy_(0, _ROWS, _TWO),
    "index_fill_": lambda p: p.target.index_fill_(1, _ROWS, 0.5),
    "index_reduce_": lambda p: p.target.index_reduce_(0, _ROWS, _TWO, "prod"),
    "put_": lambda p: p.target.put_(_ROWS, p.factor[0, :2]),
    "scatter_": lambda p: p.target.scatter_(0, _COLUMNS, p.factor[:1]),
    "scatter_ a number": lambda p: p.target.scatter_(0, _COLUMNS, 2.5),
    "scatter_add_": lambda p: p.target.scatter_add_(0, _COLUMNS, _TWO),
    "scatter_reduce_": lambda p: p.target.scatter_reduce_(0, _COLUMNS, _TWO, "sum"),
    "masked_fill_": lambda p: p.target.masked_fill_(_MASK, 0.75),
    "masked_scatter_": lambda p: p.target.masked_scatter_(_MASK, p.factor),
    "fill_": lambda p: p.target.fill_(0.125),
    "zero_": lambda p: p.target.zero_(),
    "copy_": lambda p: p.target.copy_(p.other),
    "copy_ recorded": lambda p: p.target.copy_(p.factor),
    "x[i] = number": lambda p: _assign(p, 1, 5.0),
    "x[i] = tensor": lambda p: _assign(p, 1, p.other[0]),
    "x[i, j] = number": lambda p: _assign(p, (1, 2), 5.0),
    "x[i] = recorded": lambda p: _assign(p, 2, p.factor[0]),
    "x[i, a:b] = recorded": lambda p: _assign(p, (1, slice(0, 2)), p.factor[0, :2]),
    "x[a:b] = recorded": lambda p: _assign(p, slice(0, 2), p.factor[:2]),
    "x[a:b] = tensor": lambda p: _assign(p, slice(1, 3), p.other[1:]),
    "x[mask] = number": lambda p: _assign(p, _MASK, 0.5),
    "x[indices] = tensor": lambda p: _assign(p, _ROWS, _TWO),
    "x[a:b] += tensor": _add_to_rows,
    "x[i].mul_": lambda p: p.target[1].mul_(3.0),
    "x[:, i].mul_ recorded": lambda p: p.target[:, 1].mul_(p.factor[:, 0]),
    "x.t().add_": lambda p: p.target.t().add_(p.other.t()),
    "x[1:][0].sigmoid_": lambda p: p.target[1:][0].sigmoid_(),
    "x.diagonal().mul_": lambda p: p.target.diagonal().mul_(2.0),
    "increment_version": lambda p: increment_version(p.target),
}


def _unrecorded(step: Step) -> Step:
    def within(p: Tensors) -> None:
        with vt.no_grad():
            step(p)

    return within


def _two_outs(p: Tensors) -> None:
    vt.sort(p.other, 0, out=(p.out, p.indices))


def _sums_of_target(p: Tensors) -> None:
    # Nothing that requires grad is allowed with `out=` while recording.
    vt.cumsum(p.target.detach(), 0, out=p.out)


def _backward_of_target(p: Tensors) -> None:
    if p.target.requires_grad:
        (p.target * p.factor).sum().backward(retain_graph=True)


_OTHERS: Final[dict[str, Step]] = {
    "out=": lambda p: vt.add(p.other, 1.0, out=p.out),
    "out= a part": lambda p: vt.mul(p.other[0], 2.0, out=p.out[1]),
    "out= cumsum": _sums_of_target,
    "out= two": _two_outs,
    "backward": lambda p: p.root.backward(),
    "backward, kept": lambda p: p.root.backward(retain_graph=True),
    "backward, recorded": lambda p: p.root.backward(create_graph=True),
    "backward of inputs": lambda p: p.root.backward(retain_graph=True, inputs=[p.a, p.c]),
    "backward of target": _backward_of_target,
    "grad": lambda p: vt.autograd.grad(p.root, [p.a, p.b, p.c], retain_graph=True),
    "grad, recorded": lambda p: vt.autograd.grad(p.root, [p.b, p.c], create_graph=True),
    "Function": lambda p: Square.apply(p.target).sum(),
}

_FUNCTIONS: Final[dict[str, Step]] = {
    "Function that writes": lambda p: Multiply.apply(p.target, p.other),
    "Function that wrote": lambda p: Doubles.apply(p.target),
}


def _within(scope: Callable[[], AbstractContextManager[object]]) -> Step:
    """A write in a block."""

    def step(p: Tensors) -> None:
        with scope():
            p.target.mul_(1.5)

    return step


def _nested(p: Tensors) -> None:
    with vt.no_grad(), vt.inference_mode(), vt.inference_mode(False), vt.enable_grad():
        p.target.mul_(p.factor)


@vt.no_grad()
def _no_grad_function(p: Tensors) -> None:
    p.target.mul_(1.5)


@vt.enable_grad()
def _enable_grad_function(p: Tensors) -> None:
    p.target.mul_(p.factor)


@vt.inference_mode()
def _inference_function(p: Tensors) -> None:
    p.target.add_(p.other)
    p.other.exp().mul_(2)


@vt.set_grad_enabled(False)
def _set_grad_enabled_function(p: Tensors) -> None:
    p.target.mul_(1.5)


@allow_mutation_on_saved_tensors()
def _rewound_function(p: Tensors) -> None:
    p.target.mul_(1.5)


_MODES: Final[dict[str, Step]] = {
    "no_grad": _within(vt.no_grad),
    "enable_grad": _within(vt.enable_grad),
    "inference_mode": _within(vt.inference_mode),
    "modes in each other": _nested,
    "allow_mutation_on_saved_tensors": _within(allow_mutation_on_saved_tensors),
    "@no_grad": _no_grad_function,
    "@enable_grad": _enable_grad_function,
    "@inference_mode": _inference_function,
    "@set_grad_enabled": _set_grad_enabled_function,
    "@allow_mutation_on_saved_tensors": _rewound_function,
}


def _under(pack: Callable[[vt.Tensor], vt.Tensor], step: Step) -> Step:
    """A step whose saved values are packed."""

    def within(p: Tensors) -> None:
        with saved_tensors_hooks(pack, _unchanged):
            step(p)

    return within


def _unchanged(x: vt.Tensor) -> vt.Tensor:
    return x


def _clone(x: vt.Tensor) -> vt.Tensor:
    return x.detach().clone()


_PACKED: Final[dict[str, Step]] = {
    f"{name}, {how}": _under(pack, step)
    for how, pack in (("packed as itself", _unchanged), ("cloned", _clone))
    for name, step in (
        ("mul_ recorded", lambda p: p.target.mul_(p.factor)),
        ("sigmoid_", lambda p: p.target.sigmoid_()),
        ("a part", lambda p: p.target[1:].exp_()),
        ("Function", lambda p: Square.apply(p.target).sum()),
        ("grad", lambda p: vt.autograd.grad((p.a.exp() * p.b).sum(), [p.a, p.b])),
    )
}

_SWITCHES: Final[dict[str, Step]] = {
    "set_grad_enabled": _within(lambda: vt.set_grad_enabled(False)),
    "set_audit": _within(lambda: set_audit(True)),
    "set_audit lock": _within(lambda: set_audit("lock")),
    "set_overwrite_check": _within(lambda: set_overwrite_check("storage")),
}


def _smaller_out(p: Tensors) -> None:
    vt.mul(p.other[:2], 2.0, out=p.out)


def _larger_out(p: Tensors) -> None:
    vt.add(p.other.reshape(1, 3, 4), p.other[:2].reshape(2, 1, 4), out=p.out)


def _two_smaller_outs(p: Tensors) -> None:
    vt.sort(p.other[:2], 0, out=(p.out, p.indices))


_GEOMETRY: Final[dict[str, Step]] = {
    "out= of another shape": _smaller_out,
    "out= that grows": _larger_out,
    "out= two of another shape": _two_smaller_outs,
    "t_": lambda p: p.base.detach().t_(),
}

#: All steps by what they do. Those that change a geometry are not to be followed by others; those
#: of "switches" switch when they are called, so that they stay switched if the block never begins.
STEPS: Final[dict[str, dict[str, Step]]] = {
    "in place": _IN_PLACE,
    "in place, unrecorded": {
        f"{name}, unrecorded": _unrecorded(step) for name, step in _IN_PLACE.items()
    },
    "others": _OTHERS,
    "Functions": _FUNCTIONS,
    "modes": _MODES,
    "hooks": _PACKED,
    "switches": _SWITCHES,
    "geometry": _GEOMETRY,
}
