"""Custom Functions under transforms and inside of `vmap`."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from tests.functions import Function
from tests.support import ON_TORCH, differs_from_torch, ramp, vt

vmap: Any = vt.vmap
func: Any = vt.func


class Old(Function):
    """Without `setup_context`."""

    @staticmethod
    def forward(ctx: Any, a: vt.Tensor) -> vt.Tensor:
        return a * 2

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        return g * 2


class New(Function):
    """With `setup_context`, and nothing else."""

    @staticmethod
    def forward(a: vt.Tensor) -> vt.Tensor:
        return a * 2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Save nothing."""

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        return g * 2


class Generated(New):
    """With a generated rule."""

    generate_vmap_rule = True

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
        return t * 2


class Own(New):
    """With a rule of its own, which notes what it gets."""

    seen: ClassVar[list[object]] = []

    @staticmethod
    def vmap(info: Any, in_dims: Any, a: vt.Tensor) -> Any:
        Own.seen.append((info.batch_size, info.randomness, in_dims, tuple(a.shape)))
        return Own.apply(a), in_dims[0]


def squares(function: Any) -> Any:
    return lambda a: (function.apply(a) ** 2).sum()


def test_a_function_with_setup_context_can_be_differentiated_by_transforms() -> None:
    for function in (New, Generated, Own):
        assert func.grad(squares(function))(ramp(3)).tolist() == [8, 16, 24]
    assert func.jacfwd(Generated.apply)(ramp(2)).tolist() == [[2, 0], [0, 2]]
    for function in (New, Own):
        with pytest.raises((RuntimeError, NotImplementedError)):
            func.jvp(function.apply, (ramp(3),), (ramp(3),))


@differs_from_torch("it needs setup_context under every transform")
def test_a_function_without_setup_context_is_as_good() -> None:
    assert func.grad(squares(Old))(ramp(3)).tolist() == [8, 16, 24]
    assert func.jacrev(Old.apply)(ramp(2)).tolist() == [[2, 0], [0, 2]]
    assert func.hessian(squares(Old))(ramp(2)).tolist() == [[8, 0], [0, 8]]
    found = vmap(lambda a: a * Old.apply(ramp(3)))(ramp(2, 3))
    assert found.tolist() == [[2, 8, 18], [8, 20, 36]]


@pytest.mark.parametrize("function", [Generated, Own])
def test_a_rule_makes_it_a_function_of_samples(function: Any) -> None:
    x = ramp(2, 3)
    assert vmap(function.apply)(x).tolist() == (x * 2).tolist()
    assert vmap(function.apply, in_dims=1, out_dims=1)(x).tolist() == (x * 2).tolist()
    assert vmap(func.grad(squares(function)))(x).tolist() == (x * 8).tolist()
    assert func.jacrev(function.apply)(ramp(2)).tolist() == [[2, 0], [0, 2]]


@pytest.mark.parametrize("function", [Old, New])
def test_without_a_rule_samples_are_refused(function: Any) -> None:
    for call in (function.apply, func.grad(squares(function))):
        with pytest.raises((RuntimeError, NotImplementedError)):
            vmap(call)(ramp(2, 3))


def test_it_can_have_one_rule_and_not_both() -> None:
    class Both(Own):
        generate_vmap_rule = True

    with pytest.raises(RuntimeError):
        vmap(Both.apply)(ramp(2, 3))


def test_an_own_rule_gets_the_batch_as_it_is() -> None:
    Own.seen.clear()
    vmap(Own.apply, randomness="same")(ramp(2, 3))
    assert Own.seen == [(2, "same", (0,), (2, 3))]
    Own.seen.clear()
    vmap(Own.apply, in_dims=1)(ramp(2, 3))
    # Here the batch is in front by then, which `in_dims` says.
    dim, shape = (1, (2, 3)) if ON_TORCH else (0, (3, 2))
    assert Own.seen == [(3, "error", (dim,), shape)]


def test_an_own_rule_knows_what_has_no_batch() -> None:
    class Scaled(Function):
        @staticmethod
        def forward(a: vt.Tensor, text: str, b: vt.Tensor) -> vt.Tensor:
            return a * b

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            """Save nothing."""

        @staticmethod
        def vmap(info: Any, in_dims: Any, a: vt.Tensor, text: str, b: vt.Tensor) -> Any:
            assert in_dims == (0, None, None)
            assert (tuple(a.shape), text, tuple(b.shape)) == ((2, 3), "text", (3,))
            return a * b, 0

    found = vmap(lambda a: Scaled.apply(a, "text", ramp(3)))(ramp(2, 3))
    assert found.tolist() == [[1, 4, 9], [4, 10, 18]]


def test_an_own_rule_returns_results_and_where_their_batch_is() -> None:
    class NoPair(New):
        @staticmethod
        def vmap(info: Any, in_dims: Any, a: vt.Tensor) -> Any:
            return a * 2

    class NoBatch(New):
        @staticmethod
        def vmap(info: Any, in_dims: Any, a: vt.Tensor) -> Any:
            return a.sum(), None

    class Moved(New):
        @staticmethod
        def vmap(info: Any, in_dims: Any, a: vt.Tensor) -> Any:
            return (a * 2).t(), 1

    with pytest.raises(RuntimeError):
        vmap(NoPair.apply)(ramp(2, 3))
    assert vmap(NoBatch.apply, out_dims=None)(ramp(2, 3)).item() == 21
    assert vmap(Moved.apply)(ramp(2, 3)).tolist() == [[2, 4, 6], [8, 10, 12]]


class Dirty(New):
    """Doubles its argument in place."""

    generate_vmap_rule = True

    @staticmethod
    def forward(a: vt.Tensor) -> vt.Tensor:
        return a.mul_(2)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_dirty(inputs[0])


def test_a_dirty_argument_of_a_function_under_grad() -> None:
    assert func.grad(lambda a: Dirty.apply(a.clone()).sum())(ramp(3)).tolist() == [2, 2, 2]


@differs_from_torch("it is refused with a generated rule")
def test_a_dirty_sample_of_a_function_with_a_generated_rule() -> None:
    x = ramp(2, 3)
    assert vmap(Dirty.apply)(x) is x
    assert x.tolist() == [[2, 4, 6], [8, 10, 12]]
    found = vmap(func.grad(lambda a: (Dirty.apply(a.clone()) ** 2).sum()))(ramp(2, 3))
    assert found.tolist() == [[8, 16, 24], [32, 40, 48]]
