"""Custom Functions inside of vmap: generated rules, own rules, and what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.func import grad, hessian, jacfwd, jacrev, jvp, vmap

XS = vt.tensor(np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.9], [0.2, 0.8, 1.5]]))
W = vt.tensor(np.array([0.5, -0.3, 1.7]))


class Cube(vt.autograd.Function):
    """``x**3 * w`` and ``2 * w``, for one sample."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor, w: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        assert x.ndim == 1
        y = x**3 * w
        ctx.save_for_backward(x, w)
        ctx.save_for_forward(x, w)
        return y, w * 2

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor, h: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        x, w = ctx.saved_tensors
        assert g.ndim == h.ndim == 1
        return g * 3 * x**2 * w, g * x**3 + 2 * h

    @staticmethod
    def jvp(ctx: Any, s: vt.Tensor, t: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        x, w = ctx.saved_tensors
        return 3 * x**2 * w * s + x**3 * t, 2 * t


def both(x: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
    y, z = Cube.apply(x, w)
    return (y.sin() * z).sum()


def check(
    function: Callable[..., object], *args: vt.Tensor, in_dims: tuple[int | None, ...]
) -> None:
    found = vmap(function, in_dims=in_dims)(*args)
    for k in range(3):
        row = function(*[x if d is None else x[k] for x, d in zip(args, in_dims, strict=True)])
        pairs = (
            zip(found, row, strict=True)
            if isinstance(found, tuple) and isinstance(row, tuple)
            else [(found, row)]
        )
        for whole, one in pairs:
            assert isinstance(whole, vt.Tensor)
            assert isinstance(one, vt.Tensor)
            np.testing.assert_allclose(whole[k].numpy(force=True), one.numpy(force=True))


DERIVATIVES: list[Callable[..., object]] = [
    both,
    lambda x, w: Cube.apply(x, w),
    grad(both),
    grad(both, argnums=1),
    grad(both, argnums=(0, 1)),
    hessian(both),
    hessian(both, argnums=1),
    jacfwd(both, argnums=1),
    lambda x, w: jvp(both, (x, w), (w, x))[1],
    lambda x, w: jvp(lambda v: both(v, w), (x,), (w,))[1],
]


@pytest.mark.parametrize("in_dims", [(0, 0), (0, None), (None, 0)])
@pytest.mark.parametrize("function", DERIVATIVES)
def test_a_generated_rule_is_the_function_of_each_sample(
    function: Callable[..., object], in_dims: tuple[int | None, ...]
) -> None:
    args = [x for x, dim in zip((XS, XS.flip(0)), in_dims, strict=True)]
    given = [x if dim == 0 else W for x, dim in zip(args, in_dims, strict=True)]
    if in_dims[0] is None:
        # Forward of one sample sees one dimension in any case.
        given[0] = W
    check(function, *given, in_dims=in_dims)


def test_gradients_that_are_asked_for_outside_are_summed_where_there_are_no_samples() -> None:
    xs, w = XS.clone().requires_grad_(), W.clone().requires_grad_()
    result = vmap(both, in_dims=(0, None))(xs, w)
    assert isinstance(result, vt.Tensor)
    result.sum().backward()
    others, v = XS.clone().requires_grad_(), W.clone().requires_grad_()
    for x in others:
        both(x, v).backward(retain_graph=True)
    for found, expected in ((xs.grad, others.grad), (w.grad, v.grad)):
        assert found is not None
        assert expected is not None
        np.testing.assert_allclose(found.numpy(), expected.numpy())


def test_the_generated_rule_of_a_saved_result_without_samples_has_a_second_derivative() -> None:
    class WithExp(vt.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(ctx: Any, x: vt.Tensor, w: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
            y = w.exp()
            ctx.save_for_backward(x, w, y)
            return x * w, y

        @staticmethod
        def backward(ctx: Any, g: vt.Tensor, h: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
            x, w, y = ctx.saved_tensors
            return g * w, g * x + h * y

    def f(x: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
        y, z = WithExp.apply(x, w)
        return (y.sin() * z).sum()

    check(hessian(f, argnums=1), XS, W, in_dims=(0, None))

    def of_weights(total: Callable[[vt.Tensor], vt.Tensor]) -> vt.Tensor:
        return hessian(total)(W)

    def in_batch(w: vt.Tensor) -> vt.Tensor:
        found = vmap(f, in_dims=(0, None))(XS, w)
        assert isinstance(found, vt.Tensor)
        return found.sum()

    one_by_one = of_weights(lambda w: vt.stack([f(x, w) for x in XS]).sum())
    np.testing.assert_allclose(of_weights(in_batch).numpy(), one_by_one.numpy())


class Double(vt.autograd.Function):
    """Doubles its argument in place."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        return g * 2

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
        return t.mul_(2)


def test_a_generated_rule_writes_samples_in_place() -> None:
    xs = XS.clone()
    assert vmap(Double.apply)(xs) is xs
    assert vt.equal(xs, XS * 2)
    doubled = lambda x: (Double.apply(x.clone()) ** 2).sum()  # noqa: E731
    check(grad(doubled), XS, in_dims=(0,))
    check(lambda x: jvp(doubled, (x,), (W,))[1], XS, in_dims=(0,))

    def into_a_row(x: vt.Tensor) -> vt.Tensor:
        table = x.new_zeros(2, 3)
        table[1] = x
        Double.apply(table[1])
        return (table * W).sum()

    check(grad(into_a_row), XS, in_dims=(0,))


class Sine(vt.autograd.Function):
    """Computes with NumPy, and has a rule of its own."""

    @staticmethod
    def forward(x: vt.Tensor) -> vt.Tensor:
        return vt.from_numpy(np.sin(x.detach().numpy()))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[vt.Tensor, ...], output: vt.Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        cosine: vt.Tensor = x.cos()
        return g * cosine

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None], x: vt.Tensor) -> tuple[vt.Tensor, int]:
        assert (info.batch_size, info.randomness, in_dims) == (3, "error", (0,))
        result: vt.Tensor = Sine.apply(x)
        return result.t(), 1


def test_an_own_rule_gets_whole_batches() -> None:
    check(Sine.apply, XS, in_dims=(0,))
    gradient = grad(lambda x: Sine.apply(x).sum())
    check(gradient, XS, in_dims=(0,))
    jacobian = jacrev(Sine.apply)(W)
    assert isinstance(jacobian, vt.Tensor)
    np.testing.assert_allclose(jacobian.numpy(), np.diag(np.cos(W.numpy())))


def test_an_own_rule_gets_samples_along_the_first_dimension_and_none_for_the_rest() -> None:
    seen = []

    class Scaled(vt.autograd.Function):
        @staticmethod
        def forward(x: vt.Tensor, w: vt.Tensor, n: int) -> vt.Tensor:
            return x * w * n

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: vt.Tensor) -> None:
            pass

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: vt.Tensor, w: vt.Tensor, n: int) -> Any:
            seen.append((info.randomness, in_dims, tuple(x.shape), tuple(w.shape), n))
            return x * w * n, 0

    table = XS[:2]
    found = vmap(lambda x, w: Scaled.apply(x, w, 2), in_dims=(1, None), randomness="same")(
        table, W[:2]
    )
    assert isinstance(found, vt.Tensor)
    assert vt.equal(found, table.t() * W[:2] * 2)
    # PyTorch says 1, and does not move the dimension.
    assert seen == [("same", (0, None, None), (3, 2), (2,), 2)]


def test_what_a_function_must_say() -> None:
    class Plain(vt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
            return x * 2

    with pytest.raises(NotImplementedError, match="generate_vmap_rule"):
        vmap(Plain.apply)(XS)
    # With tensors that have no samples it is an ordinary call.
    found = vmap(lambda x: x + Plain.apply(W))(XS)
    assert isinstance(found, vt.Tensor)
    assert vt.equal(found, XS + W * 2)

    class Both(Plain):
        generate_vmap_rule = True

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: vt.Tensor) -> Any:
            return x, 0

    with pytest.raises(RuntimeError, match="one of the two"):
        vmap(Both.apply)(XS)

    class NoPair(Plain):
        @staticmethod
        def vmap(info: Any, in_dims: Any, x: vt.Tensor) -> Any:
            return x

    with pytest.raises(RuntimeError, match="pair"):
        vmap(NoPair.apply)(XS)

    class WrongSize(Plain):
        @staticmethod
        def vmap(info: Any, in_dims: Any, x: vt.Tensor) -> Any:
            return x[:2], 0

    with pytest.raises(RuntimeError, match="3 samples"):
        vmap(WrongSize.apply)(XS)


def test_a_rule_may_say_that_a_result_is_the_same_for_all() -> None:
    class Count(vt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
            return x * 2, vt.tensor(1.0)

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: vt.Tensor) -> Any:
            return (x * 2, vt.tensor(7.0)), (0, None)

    found = vmap(lambda x: Count.apply(x)[1], out_dims=None)(XS)
    assert isinstance(found, vt.Tensor)
    assert found.item() == 7


def test_backward_with_batched_gradients_runs_once_and_sees_one_of_them() -> None:
    shapes = []

    class Watched(vt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
            shapes.append(tuple(g.shape))
            return g * 2

    x = W.clone().requires_grad_()
    y = Watched.apply(x)
    y.register_hook(lambda g: shapes.append(tuple(g.shape)))
    (found,) = vt.autograd.grad(y, x, vt.tensor(np.eye(3)), is_grads_batched=True)
    assert found is not None
    assert shapes == [(3,), (3,)]
    np.testing.assert_array_equal(found.numpy(), 2 * np.eye(3))


def test_deep_nesting_of_backward_inside_of_vmap_keeps_its_levels() -> None:
    # Every twenty backwards inside each other the work moves to a new thread.
    def nested(depth: int, x: vt.Tensor) -> vt.Tensor:
        if depth == 0:
            return (x * W).sum()

        class Nest(vt.autograd.Function):
            generate_vmap_rule = True

            @staticmethod
            def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
                ctx.save_for_backward(x)
                return x.sum()

            @staticmethod
            def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
                (x,) = ctx.saved_tensors
                inner = grad(lambda a: nested(depth - 1, a))(x)
                assert isinstance(inner, vt.Tensor)
                return g * inner

        result: vt.Tensor = Nest.apply(x)
        return result

    found = vmap(grad(lambda x: nested(50, x)))(XS)
    assert isinstance(found, vt.Tensor)
    assert vt.equal(found, W.expand(3, 3))
