"""The gradients have the type of the parameters, and a function of other shards is refused."""

from typing import reveal_type

import vtgrad as vt
from vtgrad.distributed import value_and_grad

p = {"w": vt.zeros(2)}
shards = [(vt.zeros(2), 1.0)]


def loss(p: dict[str, vt.Tensor], shard: tuple[vt.Tensor, float]) -> vt.Tensor:
    return (p["w"] * shard[0]).sum() * shard[1]


reveal_type(value_and_grad(loss, p, shards))  # R: tuple[vtgrad.Tensor, dict[str, vtgrad.Tensor]]
with value_and_grad(loss, shards=shards, workers=2) as total:
    value, gradients = total(p)
    reveal_type(gradients)  # R: dict[str, vtgrad.Tensor]
