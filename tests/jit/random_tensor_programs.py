"""Random programs of views, writes and gradients, as functions of tensors.

A seed is a program: the same steps on whatever values. It writes to its own tensors, to views of
them and, in some programs, to its argument, and returns values and gradients. Some of the programs
raise, as NumPy programs do that write where they must not.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

import numpy as np

import vtgrad as vt

__all__ = ["DERIVATIVES", "arguments", "program"]

_ROWS, _COLUMNS = 4, 3
_INDICES: Final[list[Any]] = [
    0,
    -1,
    slice(None),
    slice(1, 3),
    slice(None, None, 2),
    (slice(None), 1),
    (slice(None), slice(0, 2)),
    (2, 1),
    (Ellipsis, 0),
    [0, 2],
    ([1, 3], [0, 2]),
]


def arguments(seed: int) -> tuple[object, ...]:
    """What the program of a seed is called with."""
    rng = np.random.default_rng(seed)
    r = random.Random(seed)
    w = vt.tensor(rng.uniform(0.5, 1.5, _COLUMNS), requires_grad=True)
    x = vt.tensor(rng.uniform(-1, 1, (_ROWS, _COLUMNS)), requires_grad=r.random() < 0.5)
    return w, x, vt.tensor(rng.uniform(-1, 1, (_ROWS, _COLUMNS)))


def _unary(r: random.Random) -> Callable[[vt.Tensor], vt.Tensor]:
    return r.choice(
        [vt.tanh, vt.exp, vt.sin, lambda t: t * t, lambda t: t * 0.5, vt.neg, vt.sigmoid]
    )


def _view(r: random.Random, t: vt.Tensor) -> vt.Tensor:
    kind = r.randrange(6)
    if kind == 0 and t.ndim == 2:
        return t.t()
    if kind == 1:
        return t.detach()
    if kind == 2 and t.ndim:
        return t.unsqueeze(0)
    if kind == 3 and t.ndim:
        return t.flip(0)
    if kind == 4:
        return t.reshape(-1)
    return t[r.choice(_INDICES)] if t.ndim == 2 else t


def _value(r: random.Random, part: vt.Tensor, tensors: list[vt.Tensor], w: vt.Tensor) -> Any:
    kind = r.randrange(4)
    if kind == 0:
        return r.choice([2.0, -1, 0.25])
    if kind == 1:
        return _unary(r)(part)
    if kind == 2:
        return w.sum() * 0.5
    return r.choice(tensors)


def _write(r: random.Random, t: vt.Tensor, tensors: list[vt.Tensor], w: vt.Tensor) -> None:
    kind = r.randrange(7)
    if kind == 0:
        index = r.choice(_INDICES) if t.ndim == 2 else ...
        t[index] = _value(r, t[index], tensors, w)
    elif kind == 1:
        factors: list[Any] = [2.0, w.sum(), 0.5]
        t.mul_(r.choice(factors))
    elif kind == 2:
        t.add_(_value(r, t, [x for x in tensors if x.shape == t.shape], w))
    elif kind == 3:
        part = t[r.choice(_INDICES)] if t.ndim == 2 else t
        part += _value(r, part, [x for x in tensors if x.shape == part.shape], w)
    elif kind == 4:
        t.zero_()
    elif kind == 5:
        t.tanh_()
    else:
        t.masked_fill_(t > 0.2, r.choice([0.0, 1.5]))


def program(
    seed: int, *, rewinds: bool = False, derivative: str = "reverse"
) -> Callable[..., object]:
    """The program of a seed.

    Parameters
    ----------
    rewinds : bool
        Whether saved values may be overwritten.
    derivative : str
        A name in `DERIVATIVES`: how the program is differentiated.
    """
    differentiate = DERIVATIVES[derivative]

    def run(w: vt.Tensor, x: vt.Tensor, data: vt.Tensor) -> object:
        if not rewinds:
            return differentiate(seed, w, x, data)
        with vt.autograd.graph.allow_mutation_on_saved_tensors():
            return differentiate(seed, w, x, data)

    return run


def _steps(
    r: random.Random, w: vt.Tensor, x: vt.Tensor, data: vt.Tensor
) -> tuple[vt.Tensor, list[vt.Tensor]]:
    """Run the steps: a sum over all that was made, and all that was made."""
    own = x.clone() if r.random() < 0.7 else vt.zeros(_ROWS, _COLUMNS, dtype=vt.float64)
    tensors = [own, own * w, x * 2]
    if r.random() < 0.3:
        tensors.append(data)
    total = (w * 2).sum()
    for _ in range(r.randint(3, 10)):
        t = r.choice(tensors)
        kind = r.choice(["view", "view", "write", "write", "write", "use", "new", "nograd"])
        if kind == "view":
            tensors.append(_view(r, t))
        elif kind == "write":
            _write(r, t, tensors, w)
        elif kind == "use":
            total = total + (_unary(r)(t) * 3).sum()
        elif kind == "new":
            tensors.append(_unary(r)(t))
        else:
            with vt.no_grad():
                _write(r, t, tensors, w)
    for number, t in enumerate(tensors):
        total = total + (t * (number + 1)).sum()
    return total, tensors


def _reverse(seed: int, w: vt.Tensor, x: vt.Tensor, data: vt.Tensor) -> object:
    """Gradients, and in some programs gradients of these."""
    r = random.Random(seed)
    total, tensors = _steps(r, w, x, data)
    wanted = [w, x] if x.requires_grad else [w]
    if r.random() < 0.3:
        grads = vt.autograd.grad(total, wanted, create_graph=True, allow_unused=True)
        second = sum([(g * g).sum() for g in grads if g is not None])
        if isinstance(second, vt.Tensor) and second.requires_grad:
            grads = (*grads, *vt.autograd.grad(second, wanted, allow_unused=True))
        grads = tuple([None if g is None else g.detach().clone() for g in grads])
    else:
        grads = vt.autograd.grad(total, wanted, allow_unused=True)
    return total.detach().clone(), grads, [t.detach().clone() for t in tensors]


def _dual(seed: int, w: vt.Tensor, x: vt.Tensor, data: vt.Tensor) -> object:
    """Tangents of all tensors, whose directions are computed from the arguments."""
    with vt.autograd.forward_ad.dual_level():
        w = vt.autograd.forward_ad.make_dual(w.detach(), (w * w).detach())
        x = vt.autograd.forward_ad.make_dual(x.detach(), vt.cos(x).detach())
        total, tensors = _steps(random.Random(seed), w, x, data)
        parts = [vt.autograd.forward_ad.unpack_dual(t) for t in (total, *tensors)]
        return [[None if t is None else t.detach().clone() for t in part] for part in parts]


def _transformed(
    transform: Callable[..., Any],
) -> Callable[[int, vt.Tensor, vt.Tensor, vt.Tensor], object]:
    """A transform of the function of the first two arguments."""

    def run(seed: int, w: vt.Tensor, x: vt.Tensor, data: vt.Tensor) -> object:
        def total(w: vt.Tensor, x: vt.Tensor) -> vt.Tensor:
            return _steps(random.Random(seed), w, x, data)[0]

        return transform(total, w.detach(), x.detach())

    return run


def _batch(t: vt.Tensor) -> vt.Tensor:
    return vt.stack([t, t * 1.1, t * 0.9])


#: Ways to differentiate the steps of a seed.
DERIVATIVES: Final[dict[str, Callable[[int, vt.Tensor, vt.Tensor, vt.Tensor], object]]] = {
    "reverse": _reverse,
    "dual": _dual,
    "jvp": _transformed(lambda f, w, x: vt.func.jvp(f, (w, x), (vt.cos(w), vt.sin(x)))),
    "grads of a batch": _transformed(
        lambda f, w, x: vt.func.vmap(vt.func.grad(f, (0, 1)))(_batch(w), _batch(x))
    ),
    "rows of a hessian": _transformed(
        lambda f, w, x: vt.func.jacfwd(vt.func.grad(f, (0, 1)))(w, x)
    ),
    "jvp of a gradient": _transformed(
        lambda f, w, x: vt.func.jvp(vt.func.grad(f, (0, 1)), (w, x), (vt.cos(w), vt.sin(x)))
    ),
}
