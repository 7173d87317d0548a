"""`check_inplace`: functions that may write to their arguments."""

from __future__ import annotations

from typing import Any

import pytest

from tests.behaviour.gradcheck.checked import Apply, complex_leaf, gradcheck, refused_as_wrong
from tests.functions import function, triple_
from tests.support import Unchanged, leaf, leaf_of, ramp, vt

in_both_modes = pytest.mark.parametrize("fast_mode", [False, True])


def small(*shape: int) -> vt.Tensor:
    """A leaf of numbers between 0 and 1."""
    return (ramp(*shape) / 20).detach().requires_grad_()


def recurrence(level: vt.Tensor, a: vt.Tensor) -> None:
    """Fill a tensor from its first row on; nothing is returned."""
    for t in range(1, len(level)):
        level[t] = a * level[t - 1]


def dirty(write: Apply) -> Apply:
    """The forward of a custom Function that writes to its argument and says so."""

    def forward(ctx: Any, x: vt.Tensor) -> Any:
        ctx.mark_dirty(x)
        return write(x)

    return forward


@in_both_modes
@pytest.mark.parametrize(
    ("f", "shapes"),
    [
        (vt.Tensor.mul_, [(2, 3), (2, 3)]),
        (vt.Tensor.exp_, [(3,)]),
        (vt.Tensor.sin_, [()]),
        (vt.Tensor.zero_, [(2, 2)]),
        (vt.Tensor.addmm_, [(2, 3), (2, 2), (2, 3)]),
        (lambda x, y: x[1:].copy_(y), [(3, 2), (2,)]),
        (lambda x: x.t().tril_(), [(2, 3)]),
        (lambda x: x.t_(), [(2, 3)]),
        (lambda x, y: (x.add_(y), y.mul_(2)), [(2,), (2,)]),
        (recurrence, [(3, 2), ()]),
        (triple_, [(2, 3)]),
        (lambda x: x * 2, [(2,)]),
        (lambda x: x.mul_(2), [(0,)]),
    ],
)
def test_functions_that_write_as_they_should(
    f: Apply, shapes: list[tuple[int, ...]], fast_mode: bool
) -> None:
    inputs = [small(*shape) for shape in shapes]
    before = Unchanged(*inputs)
    assert gradcheck(f, inputs, check_inplace=True, fast_mode=fast_mode)
    before.check()


@in_both_modes
def test_complex_numbers_and_constants(fast_mode: bool) -> None:
    mask = vt.tensor([True, False])
    assert gradcheck(
        lambda z, m, x: z.masked_fill_(m, 2j).add_(x),
        (complex_leaf(), mask, leaf(2)),
        check_inplace=True,
        fast_mode=fast_mode,
    )
    # A constant that is written becomes a result.
    target = ramp(2)
    assert gradcheck(lambda x, y: y.copy_(x), (leaf(2), target), check_inplace=True)
    assert target.tolist() == [1, 2]


def test_one_object_as_two_arguments() -> None:
    x = leaf(2)
    assert gradcheck(lambda a, b: a.mul_(2).add_(b is a), (x, x), check_inplace=True)


def test_a_wrong_gradient_of_what_was_written_is_found() -> None:
    wrong = function(dirty(lambda x: x.mul_(2)), lambda ctx, g: g * 3)
    error = refused_as_wrong(gradcheck, wrong, leaf(2), check_inplace=True)
    assert (error.check, error.analytic) == ("jacobian", 3)


def test_a_wrong_gradient_for_views_alone_is_found() -> None:
    wrong = function(dirty(lambda x: x.mul_(2)), lambda ctx, g: g * 3)

    def f(x: vt.Tensor) -> Any:
        return x.mul_(2) if x._base is None else wrong(x)

    error = refused_as_wrong(gradcheck, f, leaf(2), check_inplace=True)
    assert (error.check, error.analytic) == ("jacobian", 3)
    assert error.input == "input 0 (a view with gaps)"


def through_numpy(x: vt.Tensor) -> vt.Tensor:
    """A write that no version counts."""
    y = x * 2
    x.detach().numpy()[...] = 0
    return y


def test_memory_that_changes_without_its_version_is_found() -> None:
    error = refused_as_wrong(gradcheck, through_numpy, leaf(2), check_inplace=True)
    assert (error.check, error.argument) == ("unseen-write", 0)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_version_that_moves_without_a_write_is_found(value: float) -> None:
    def bump(x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
        vt.autograd.graph.increment_version(y)
        return x * 2

    error = refused_as_wrong(gradcheck, bump, (leaf(2), vt.full((2,), value)), check_inplace=True)
    assert (error.check, error.argument) == ("version-without-write", 1)


@in_both_modes
@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.mul_(1),
        lambda x: x.clamp_(min=-10),
        lambda x: x.copy_(x.clone()),
        lambda x: x[0].copy_(x[0].clone()),
        lambda x: x.add_(vt.zeros(2)),
        lambda x: x.masked_fill_(vt.zeros(2, dtype=vt.bool), 5.0),
    ],
)
def test_stores_of_the_same_bytes_are_writes(f: Apply, fast_mode: bool) -> None:
    assert gradcheck(f, leaf_of(2.0, 3.0), check_inplace=True, fast_mode=fast_mode)


def test_a_write_beside_the_argument_is_found() -> None:
    def beyond(x: vt.Tensor) -> vt.Tensor:
        whole = x if x._base is None else x._base
        whole.mul_(2)
        return x

    error = refused_as_wrong(gradcheck, beyond, leaf(2), check_inplace=True)
    assert (error.check, error.argument) == ("write-beside", 0)


def test_expanded_arguments_must_be_refused_or_right() -> None:
    wrong = function(lambda ctx, x: x * 2, lambda ctx, g: g * 3)

    def f(x: vt.Tensor) -> Any:
        return x.mul_(2) if x.stride(0) else wrong(x)

    error = refused_as_wrong(gradcheck, f, leaf(2), check_inplace=True)
    assert (error.check, error.input, error.analytic) == ("jacobian", "input 0 (expanded)", 3)
    # No row overlaps itself, so that each may be written, and is written twice.
    assert gradcheck(lambda x: [row.mul_(2) for row in x], leaf(2, 2), check_inplace=True)
