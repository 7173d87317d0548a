"""Random wide graphs, in which many nodes of both lanes are ready at once."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

import vtgrad as vt
from vtgrad.autograd.function import FunctionCtx
from vtgrad.utils.checkpoint import checkpoint

__all__ = ["run_graph"]

_DEVICES: Final = ("cpu", "lane:0", "lane:0", "lane:1", "lane:1")


class _Cube(vt.autograd.Function):
    """Draws random numbers in backward, so that the order of such nodes shows."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: FunctionCtx, grad: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        noise = vt.rand(1).to(grad.device)
        answer: vt.Tensor = grad * 3 * x**2 * (1 + noise)
        return answer


def _written(x: vt.Tensor, rng: random.Random) -> vt.Tensor:
    copy = x.clone()
    copy[rng.randrange(3)].mul_(rng.random())
    copy[:, 1] = x[:, 0]
    return copy


_UNARY: Final[Sequence[Callable[[vt.Tensor, random.Random], vt.Tensor]]] = (
    lambda x, _: x.sin(),
    lambda x, _: x.tanh(),
    lambda x, rng: x * rng.random(),
    lambda x, _: x.t(),
    lambda x, rng: x[rng.randrange(3)].expand(3, 3),
    lambda x, rng: vt.cat([x[:1], x[1:] * rng.random()]),
    lambda x, _: x.sum(0, keepdim=True) * x,
    _written,
    lambda x, _: _Cube.apply(x),
    lambda x, _: checkpoint(lambda y: (y * y).cos(), x, use_reentrant=False),
)


def run_graph(seed: int, *, threads: bool, nodes: int = 40) -> list[object]:
    """Make a graph, run it backward, and return all that can be seen of it."""
    rng = random.Random(seed)
    vt.manual_seed(seed)
    seen: list[object] = []
    leaves = [
        (vt.rand(3, 3, dtype=vt.float32, device=rng.choice(_DEVICES)) - 0.5).requires_grad_()
        for _ in range(3)
    ]
    made = list(leaves)
    for nr in range(nodes):
        x = rng.choice(made[-8:] + leaves)
        if rng.random() < 0.4:
            device = rng.choice(_DEVICES)
            x, y = x.to(device), rng.choice(made).to(device)
            x = x @ y if rng.random() < 0.3 else x + y * rng.random()
        else:
            x = rng.choice(_UNARY)(x, rng)
        _watch(x, nr, rng, seen)
        made.append(x)
    loss = sum([(x * rng.random()).sum().cpu() for x in made], vt.zeros(()))
    with vt.autograd.set_multithreading_enabled(threads):
        loss.backward(retain_graph=True)
        some = [*leaves, made[rng.randrange(len(made))], made[5]]
        found = vt.autograd.grad(loss, some, allow_unused=True)
    kept = [x.grad if x.is_leaf or x.retains_grad else None for x in made]
    seen += [_bits(x) for x in (*kept, *found)]
    seen.append(_bits(vt.rand(2)))
    return seen


def _watch(x: vt.Tensor, nr: int, rng: random.Random, seen: list[object]) -> None:
    """Sometimes retain a gradient, or look at it in a hook."""
    chance = rng.random()
    if chance < 0.1:
        x.retain_grad()
    elif chance < 0.15:
        x.register_hook(lambda grad: seen.append((nr, _bits(grad))))
    elif chance < 0.2:
        x.register_hook(lambda grad: grad * float(vt.rand(())))


def _bits(x: vt.Tensor | None) -> object:
    if x is None:
        return None
    return str(x.device), x.detach().cpu().numpy().astype(np.float64).tobytes()
