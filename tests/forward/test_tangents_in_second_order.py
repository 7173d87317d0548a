"""Forward over reverse: what backward reads has the tangents of what was saved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from tests.support import ramp
from vtgrad.autograd import forward_ad as fw
from vtgrad.autograd.graph import (
    allow_mutation_on_saved_tensors,
    save_on_cpu,
    saved_tensors_hooks,
)
from vtgrad.errors import LeafWriteError, NotSupportedError
from vtgrad.ops.rules.tangents.dual_handler import _change_geometry
from vtgrad.utils.checkpoint import checkpoint

FUNC: Any = vt.func
grad, jvp = FUNC.grad, FUNC.jvp

X = ramp(3)
V = vt.tensor([1.0, 10.0, 100.0], dtype=vt.float64)
Function = Callable[[vt.Tensor], vt.Tensor]


def product(f: Function) -> Any:
    """The Hessian times V, by forward mode over reverse mode."""
    return jvp(grad(f), (X,), (V,))[1]


def cubes(a: vt.Tensor) -> vt.Tensor:
    return (a**3).sum()


def through_results(a: vt.Tensor) -> vt.Tensor:
    """The sum of a**3, whose nodes save results that are dead when backward runs."""
    return (a.log() * 3).exp().sum()


@pytest.mark.parametrize("f", [cubes, through_results])
@pytest.mark.parametrize(
    "block",
    [
        lambda: saved_tensors_hooks(lambda t: t, lambda t: t),
        lambda: saved_tensors_hooks(lambda t: t.numpy(force=True).copy(), vt.tensor),
        lambda: saved_tensors_hooks(lambda t: t.detach(), lambda t: t.clone()),
        save_on_cpu,
    ],
)
def test_hooks_of_saved_values_keep_tangents(f: Function, block: Callable[[], Any]) -> None:
    with block():
        np.testing.assert_allclose(product(f).numpy(), [6, 120, 1800])
        # At two levels.
        third = jvp(lambda a: jvp(grad(f), (a,), (V,))[1], (X,), (V,))[1]
    np.testing.assert_allclose(third.numpy(), [6, 600, 60000])


@pytest.mark.parametrize("f", [cubes, through_results])
def test_what_a_checkpoint_computes_again_has_tangents(f: Function) -> None:
    found = product(lambda a: checkpoint(f, a, use_reentrant=False))
    np.testing.assert_allclose(found.numpy(), [6, 120, 1800])


def test_a_copy_that_a_write_saves_has_the_tangents_of_all_levels() -> None:
    def f(a: vt.Tensor) -> vt.Tensor:
        b = a.clone()
        b.mul_(b.clone())
        b.mul_(a)
        return b.sum()

    third = jvp(lambda a: jvp(grad(f), (a,), (V,))[1], (X,), (V,))[1]
    assert third.tolist() == [6.0, 600.0, 60000.0]


def test_a_restored_input_has_its_tangents_and_a_restored_result_is_refused() -> None:
    def f(a: vt.Tensor) -> vt.Tensor:
        b = a.clone()
        c = b * b
        b.mul_(3)
        return (b * c).sum()

    def of_result(a: vt.Tensor) -> vt.Tensor:
        b = a.exp()
        b.mul_(3)
        return (b * b).sum()

    with allow_mutation_on_saved_tensors():
        # 3 a**3
        assert grad(f)(X).tolist() == [9.0, 36.0, 81.0]
        assert grad(lambda a: jvp(f, (a,), (V,))[1])(X).tolist() == [18.0, 360.0, 5400.0]
        # 18 a v
        assert product(f).tolist() == [18.0, 360.0, 5400.0]
        with pytest.raises(NotSupportedError, match="the tangent of its result"):
            product(of_result)


def test_a_value_from_the_written_tensor_itself_keeps_its_tangent() -> None:
    for write in (
        lambda b: b.__setitem__(slice(None), b[1]),
        lambda b: b.__setitem__(vt.tensor([True, False, True]), b[1]),
        lambda b: b.fill_(b[1]),
        lambda b: b.masked_fill_(vt.tensor([True, True, True]), b[1]),
        lambda b: b.index_fill_(0, vt.tensor([0, 2]), b[1]),
    ):

        def f(a: vt.Tensor, write: Callable[[vt.Tensor], object] = write) -> vt.Tensor:
            b = a * a
            write(b)
            return b

        # 2 a1 at all places, at two levels.
        assert jvp(f, (X,), (V,))[1].tolist() == [40.0] * 3
        assert jvp(lambda a: jvp(f, (a,), (V,))[1], (X,), (V,))[1].tolist() == [200.0] * 3


def test_geometry_changes_of_value_and_tangent_together_or_not_at_all() -> None:
    t = vt.ones(2, 3).requires_grad_()
    with fw.dual_level():
        dual = fw.make_dual(vt.zeros(2, 3), t)
        with pytest.raises(LeafWriteError):
            dual.t_()
        assert dual.shape == (2, 3)
        assert fw.unpack_dual(dual).tangent is t

        def interrupted(x: vt.Tensor) -> vt.Tensor:
            """Fails for the tangent, as an interrupt between the two calls does."""
            if x is not target:
                raise KeyboardInterrupt
            return vt.Tensor.t_(x)

        target = fw.make_dual(vt.zeros(2, 3), vt.arange(6.0).reshape(2, 3)).clone()
        with pytest.raises(KeyboardInterrupt):
            _change_geometry(interrupted, (target,), {})
        # The tangent is placed as the tensor when it is read.
        found = fw.unpack_dual(target * 2).tangent
        assert found is not None
        assert found.tolist() == [[0.0, 6.0], [2.0, 8.0], [4.0, 10.0]]
