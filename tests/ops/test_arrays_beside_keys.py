"""Arrays beside tensors that have a key: tangents, samples, names; see Note [Arrays as constants].

A handler looks at the operands of a call, and would take an array for no operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import VtgradError

F: Any = vt
A: Final = np.array([1.0, 2.0, 3.0], np.float32)
#: Each is called with arrays, and with tensors in their place: `of` makes the constant.
CALLS: Final[dict[str, Callable[[Any, Callable[[Any], Any]], Any]]] = {
    "atan2": lambda x, of: F.atan2(x, of(A)),
    "atan2, first": lambda x, of: F.atan2(of(A), x),
    "maximum": lambda x, of: F.maximum(x, of(A)),
    "mul": lambda x, of: of(A) * x,
    "pow": lambda x, of: x ** of(A),
    "pow, first": lambda x, of: of(A) ** x,
    "cat": lambda x, of: F.cat([x, of(A)]),
    "cat, first": lambda x, of: F.cat([of(A), x]),
    "stack": lambda x, of: F.stack([x, of(A)]),
    "where": lambda x, of: F.where(of(A > 1), x, of(A)),
    "where, other": lambda x, of: F.where(of(A > 1), of(A), x),
    "masked_fill": lambda x, of: x.masked_fill(of(A > 1), 2.0),
    "gather": lambda x, of: F.gather(x, 0, of(np.array([2, 0]))),
    "index_add": lambda x, of: x.index_add(0, of(np.array([0, 1])), of(A[:2])),
    "index_select": lambda x, of: F.index_select(x, 0, of(np.array([1]))),
    "put": lambda x, of: F.put(x, of(np.array([1])), of(A[:1])),
    "take": lambda x, of: F.take(x, of(np.array([1]))),
    "addcmul": lambda x, of: F.addcmul(of(A), x, x),
    "lerp": lambda x, of: F.lerp(of(A), x, of(A)),
    "mv": lambda x, of: F.mv(of(np.outer(A, A)), x),
    "einsum": lambda x, of: F.einsum("i,i", of(A), x),
    "clamp": lambda x, of: x.clamp(of(A), None),
    "hypot": lambda x, of: np.hypot(x, of(A)) if of is not vt.tensor else F.hypot(x, of(A)),
    "add_": lambda x, of: x.clone().add_(of(A)),
    "mul_": lambda x, of: x.clone().mul_(of(A)),
    "copy_": lambda x, of: x.clone().copy_(of(A)) * x,
    "setitem": lambda x, of: stored(x * 1, of),
    "max": lambda x, of: F.max(x, of(A)),
    "scatter": lambda x, of: x.scatter(0, of(np.array([1])), of(A[:1])),
}
X: Final = vt.tensor([2.0, 1.0, 3.5])
ROWS: Final = vt.stack([X, 2 * X])
MODES: Final[dict[str, Callable[[Callable[[Any], Any]], Any]]] = {
    "jvp": lambda f: vt.func.jvp(f, (X,), (vt.ones(3),)),
    "jacfwd": lambda f: vt.func.jacfwd(f)(X),
    "vmap": lambda f: vt.vmap(f)(ROWS),
    "vmap of grad": lambda f: vt.vmap(vt.func.grad(lambda x: f(x).sum()))(ROWS),
    "hessian": lambda f: vt.func.hessian(lambda x: (f(x) ** 2).sum())(X),
    "names": lambda f: f(X.refine_names("N")),
}


def stored(x: Any, of: Callable[[Any], Any]) -> Any:
    x[:2] = of(A[:2])
    x[of(A > 2)] = of(A[2:])
    return x


def outcome(mode: str, name: str, of: Callable[[Any], Any]) -> object:
    try:
        found = MODES[mode](lambda x: CALLS[name](x, of))
    except VtgradError as error:
        return type(error)
    return [x.tolist() for x in (found if isinstance(found, tuple) else [found])]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore::vtgrad.ops.rules.batches.by_family.loop.VmapLoopWarning")
def test_a_constant_beside_a_key_is_an_operand(mode: str, name: str) -> None:
    expected = outcome(mode, name, vt.tensor)
    # Operators that have no rule for names refuse them.
    assert mode == "names" or isinstance(expected, list)
    assert outcome(mode, name, lambda value: value) == expected
