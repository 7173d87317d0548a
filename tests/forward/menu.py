"""Calls of the oracle's menu, with operands that require grad or have tangents.

The menu has every public function and method, on tensors of all kinds: views, overlapping and
empty ones, ties, zeros, NaN, complex and low precision; out of place, in place, through Python's
operators and with numbers and promotion.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from types import CodeType
from typing import Any, Final

import numpy as np

import vtgrad as vt
from tests.oracle.cases import OPERANDS
from tests.oracle.sweep import calls
from vtgrad.autograd import forward_ad as fw
from vtgrad.storage.arrays import Array, NumpyDType, Shape

__all__ = ["GROUPS", "Called", "drawn", "inner", "tangent_of_leaf", "weights_of"]

GROUPS: Final = {name: list(texts) for name, texts in calls().items()}

_LETTER: Final = re.compile(r"\{(\w+)\}")
_LOW: Final = re.compile("float(16|32)|float\\(|half|complex64|{OF}")


def drawn(seed: int, like: vt.Tensor) -> Array:
    """Values for a tensor. They are shared, and not written: all calls draw the same ones."""
    return _drawn(seed, tuple(like.shape), like.dtype.numpy)


@cache
def _drawn(seed: int, shape: Shape, dtype: NumpyDType) -> Array:
    rng = np.random.default_rng(seed)
    values: Array = rng.standard_normal(shape)
    if dtype.kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    found = np.asarray(values).astype(dtype)
    found.flags.writeable = False
    return found


# A test calls each text several times.
@lru_cache(maxsize=512)
def _compiled(text: str) -> CodeType:
    return compile(text, "<menu>", "eval")


def tangent_of_leaf(nr: int, leaf: vt.Tensor) -> Array:
    """The tangent of a leaf of the call."""
    return drawn(nr + 1, leaf)


def weights_of(nr: int, result: vt.Tensor) -> Array:
    """The weights of a result of the call."""
    return drawn(100 + nr, result)


class Called:
    """One call.

    Parameters
    ----------
    dual : bool
        Whether operands have tangents.
    recorded : bool
        Whether they require grad.
    """

    def __init__(self, call: str, *, dual: bool, recorded: bool) -> None:
        self.leaves: list[vt.Tensor] = []
        # All tensors whose values a write may have changed.
        self.operands: list[vt.Tensor] = []
        self.low = _LOW.search(call) is not None
        env: dict[str, Any] = {"L": vt, "vt": vt, "nan": np.nan, "inf": np.inf}
        for letter in dict.fromkeys(_LETTER.findall(call)):
            first, *rest = OPERANDS[letter]
            self.low |= "float32" in first or "float16" in first
            x = eval(_compiled(first), env)
            if x.requires_grad:
                self.leaves.append(x)
                x.requires_grad_(recorded)
                if dual:
                    t = vt.tensor(tangent_of_leaf(len(self.leaves) - 1, x))
                    x = fw.make_dual(x, t)
            self.operands.append(x)
            for text in rest:
                x = eval(_compiled(text), env, {"_": x})
                self.operands.append(x)
            env[letter] = x
        vt.manual_seed(3)
        self.error: Exception | None = None
        self.results: list[vt.Tensor] = []
        try:
            returned = eval(_compiled(_LETTER.sub(lambda found: found[1], call)), env)
        except Exception as error:
            self.error = error
        else:
            self.results = [*_tensors(returned), *self.operands]


def _tensors(value: object) -> list[vt.Tensor]:
    if isinstance(value, vt.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [x for part in value for x in _tensors(part)]
    return []


def inner(a: Array, b: vt.Tensor) -> float:
    """The real part of the inner product."""
    return float(np.real(np.sum(np.conj(a) * b.numpy(force=True))))
