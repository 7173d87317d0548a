"""After an interrupt inside of `vmap` no level is left open, and what was written is whole.

What breaks it: a level that is opened before ``try``, or left by a call; a write of samples that
is made of several writes.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from vtgrad.errors import BatchedTensorError
from vtgrad.func import grad, jacfwd, jacrev, vmap
from vtgrad.graph.thread_levels import thread
from vtgrad.storage.key_set import keys
from vtgrad.storage.mode import switched

pytestmark = [pytest.mark.slow, NEEDS_TRACE]

Function = Callable[[vt.Tensor], object]


def values() -> vt.Tensor:
    return vt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=vt.float64)


# The number of places grows with each operator, and the time with its square.
def table(x: vt.Tensor) -> vt.Tensor:
    rows = x.new_zeros(3)
    rows[1:] = x[1:]
    return rows


def noisy(x: vt.Tensor) -> vt.Tensor:
    return x * vt.rand(3)


class Twice(vt.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: vt.autograd.function.FunctionCtx, gradient: vt.Tensor) -> vt.Tensor:
        return gradient * 2


def checkpointed(x: vt.Tensor) -> vt.Tensor:
    found: vt.Tensor = vt.utils.checkpoint.checkpoint(vt.exp, x, use_reentrant=False)
    return found.sum()


CALLS: dict[str, Callable[[vt.Tensor], object]] = {
    "operators": vmap(table),
    "nested": vmap(lambda x: vmap(lambda y: x * y)(x)),
    "grad": vmap(grad(lambda x: table(x).sum())),
    "jacrev": jacrev(lambda x: x[0] * x[0]),
    "jacfwd": jacfwd(lambda x: x[0] * x[0]),
    "chunks": vmap(lambda x: x * x, chunk_size=1),
    "random": vmap(noisy, randomness="different"),
    "same": vmap(noisy, randomness="same", chunk_size=1),
    "function": vmap(grad(lambda x: Twice.apply(x).sum())),
    "checkpoint": vmap(grad(checkpointed)),
    "refused": lambda x: _refused(x),
    "made inside": vmap(lambda a: _written_inside(a)),
}


def _written_inside(a: vt.Tensor) -> vt.Tensor:
    table = vt.zeros(3)
    row = table[0]
    table.add_(a)
    return row


def _refused(x: vt.Tensor) -> object:
    outside = vt.zeros(3)
    with pytest.raises(RuntimeError):
        vmap(outside.add_)(x)
    return None


def assert_nothing_is_open() -> None:
    assert thread.batch_levels == ()
    assert thread.reverse_level == 0
    assert thread.excluded_keys == 0
    assert keys.modes == {}
    assert vt.tensor([1.0]).grad_fn is None
    assert vt.is_grad_enabled()
    with vt.inference_mode():
        pass
    assert not switched.silent


@pytest.mark.parametrize("name", CALLS)
def test_no_level_is_left_open(name: str) -> None:
    call = CALLS[name]
    x = values()

    def check(over: bool) -> None:
        assert_nothing_is_open()
        # What is drawn, and what is computed, is as without levels.
        assert vt.rand(2).shape == (2,)

    # A prime, so that in a loop another place is met each time.
    step = 1 if name in ("operators", "refused") else 7
    assert interrupted_everywhere(lambda: lambda: call(x), check, step=step) > 20
    assert x.tolist() == values().tolist()


def test_samples_that_were_handed_out_are_of_no_use() -> None:
    out: list[vt.Tensor] = []

    def prepare() -> Callable[[], object]:
        out.clear()

        def keep(x: vt.Tensor) -> vt.Tensor:
            out.append(x)
            return x * 2

        return lambda: vmap(keep)(values())

    def check(over: bool) -> None:
        for x in out:
            with pytest.raises(BatchedTensorError):
                _ = x * 2

    assert interrupted_everywhere(prepare, check) > 10


@pytest.mark.parametrize(
    "write",
    [
        lambda a: a.mul_(2),
        lambda a: a[1:].fill_(a[0] * 2),
        lambda a: a.copy_(a.flip(0)),
        lambda a: a.__setitem__(a.argmin(), a.sum()),
        lambda a: a.masked_fill_(a > 2, 0.0),
        lambda a: a.addmv_(vt.eye(3, dtype=vt.float64), a.clone()),
        lambda a: a.lerp_(a.flip(0), a[0] / 10),
    ],
)
@pytest.mark.parametrize("dim", [0, 1])
def test_a_write_is_made_for_all_samples_or_none(write: Function, dim: int) -> None:
    """And it is one write: the version moves once, and the elements that are told are right."""

    def rows() -> vt.Tensor:
        return values() if dim == 0 else values().t().contiguous()

    after = rows()
    vmap(lambda a: (write(a), a)[1], in_dims=dim, out_dims=dim)(after)
    target = rows()

    def prepare() -> Callable[[], object]:
        nonlocal target
        target = rows()
        return lambda: vmap(lambda a: (write(a), a)[1], in_dims=dim, out_dims=dim)(target)

    def check(over: bool) -> None:
        assert_nothing_is_open()
        # The version moves before the elements are stored.
        assert target._version in ((1,) if over else (0, 1))
        if over:
            assert target.tolist() == after.tolist()
        elif target._version == 0:
            assert target.tolist() == rows().tolist()
        else:
            assert target.tolist() in (rows().tolist(), after.tolist())

    assert interrupted_everywhere(prepare, check) > 10


def test_gradients_after_an_interrupted_write_are_right_or_refused() -> None:
    start = values().requires_grad_()
    y = start * 1

    def prepare() -> Callable[[], object]:
        nonlocal y
        y = start * 1
        return lambda: vmap(lambda a: a[1:].mul_(3))(y)

    def check(over: bool) -> None:
        try:
            (found,) = vt.autograd.grad(y.sum(), start)
        except RuntimeError:
            assert not over
            return
        assert found is not None
        written = y.tolist() != values().tolist()
        factor = 3 if written else 1
        assert found.tolist() == [[1, factor, factor]] * 2

    assert interrupted_everywhere(prepare, check) > 10
