"""`checkpoint` inside of `vmap`, and `vmap` inside of a checkpoint."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import BatchedTensorError
from vtgrad.func import grad, vmap
from vtgrad.utils.checkpoint import checkpoint, checkpoint_loop, checkpoint_sequential

X = np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.9]])
Block = Callable[[vt.Tensor], Any]
# A program of a batch and of what stands for a checkpoint.
Program = Callable[[vt.Tensor, Callable[[Block, vt.Tensor], Any]], Any]


class Run:
    """The result of a program, and its gradients by the batch and by what its blocks share."""

    def __init__(self, program: Program, through: Callable[[Block, vt.Tensor], Any]) -> None:
        global W
        W = vt.tensor(np.array([0.5, -0.3, 1.7]), requires_grad=True)
        x = vt.tensor(X, requires_grad=True)
        result = program(x, through)
        result.sum().backward()
        assert x.grad is not None
        assert W.grad is not None
        self.result = result.detach().numpy()
        self.gradients = x.grad.numpy(), W.grad.numpy()


W = vt.zeros(3)


def block(b: vt.Tensor) -> vt.Tensor:
    return (b.sin() * b * W).sum()


def captured(x: vt.Tensor, through: Any) -> Any:
    """The block uses another tensor of the sample, which is no argument."""

    def function(a: vt.Tensor) -> Any:
        double = a * 2
        return through(lambda b: (b * double * W).sum(), a)

    return vmap(function)(x)


def in_steps(x: vt.Tensor, through: Any) -> Any:
    steps = [lambda b: b.sin(), lambda b: b * W, lambda b: b.exp()]

    def function(a: vt.Tensor) -> Any:
        if through is plainly:
            return steps[2](steps[1](steps[0](a)))
        return checkpoint_sequential(steps, 2, a, use_reentrant=False)

    return vmap(function)(x)


def writing(x: vt.Tensor, through: Any) -> Any:
    def cascade(b: vt.Tensor) -> vt.Tensor:
        table = b.new_zeros(3)
        for t in range(1, 3):
            table[t] = table[t - 1] * b[t] + W[t]
        return table

    return vmap(lambda a: through(cascade, a))(x)


PROGRAMS: list[Program] = [
    lambda x, through: vmap(lambda a: through(block, a))(x),
    lambda x, through: through(lambda z: vmap(block)(z), x),
    lambda x, through: vmap(lambda a: through(block, a) * a)(x),
    lambda x, through: vmap(lambda a: vmap(lambda s: through(block, a * s))(W))(x),
    lambda x, through: vmap(lambda a: vmap(lambda b: through(block, b))(vt.stack([a, a * 2])))(x),
    lambda x, through: vmap(lambda a: through(lambda b: (b * 2, b.sum()), a * W)[1])(x),
    captured,
    in_steps,
    writing,
]
TRANSFORMED: list[Program] = [
    lambda x, through: vmap(grad(lambda a: through(block, a)))(x),
    lambda x, through: vmap(lambda a: grad(lambda w: through(lambda b: (b * w).sin().sum(), a))(W))(
        x
    ),
]


def plainly(function: Block, a: vt.Tensor) -> Any:
    return function(a)


@pytest.mark.parametrize("program", [*PROGRAMS, *TRANSFORMED])
@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_changes_no_number(program: Program, reentrant: bool) -> None:
    if reentrant and program in TRANSFORMED:
        pytest.skip("a reentrant checkpoint is no part of grad()")
    expected = Run(program, plainly)
    found = Run(program, lambda f, a: checkpoint(f, a, use_reentrant=reentrant))
    np.testing.assert_allclose(found.result, expected.result)
    for one, other in zip(found.gradients, expected.gradients, strict=True):
        np.testing.assert_allclose(one, other)


def test_the_function_runs_again_in_backward_with_tensors_of_one_sample() -> None:
    shapes: list[tuple[int, ...]] = []

    def watched(b: vt.Tensor) -> vt.Tensor:
        shapes.append(tuple(b.shape))
        return b.sin() * b

    x = vt.tensor(X, requires_grad=True)
    found: Any = vmap(lambda a: checkpoint(watched, a, use_reentrant=False))(x)
    assert shapes == [(3,)]
    found.sum().backward()
    assert shapes == [(3,), (3,)]


def test_random_numbers_are_drawn_again() -> None:
    def noisy(b: vt.Tensor) -> vt.Tensor:
        return b * vt.rand(3, dtype=vt.float64) * b.sin()

    vt.manual_seed(3)
    x = vt.tensor(X, requires_grad=True)
    call = lambda a: checkpoint(noisy, a, use_reentrant=False)  # noqa: E731
    found: Any = vmap(call, randomness="different")(x)
    (gradient,) = vt.autograd.grad(found.sum(), x)
    assert gradient is not None
    noise = found.detach().numpy() / (X * np.sin(X))
    np.testing.assert_allclose(gradient.numpy(), noise * (np.sin(X) + X * np.cos(X)))


def test_a_loop_of_checkpoints_is_refused() -> None:
    x = vt.tensor(X, requires_grad=True)
    with pytest.raises(BatchedTensorError):
        vmap(lambda a: checkpoint_loop(lambda s: s.sin(), a, 5, snapshots=2))(x)
