"""Lazy conjugates and negatives, real and imaginary parts, and memory under another dtype."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from tests.support import (
    ON_TORCH,
    differs_from_torch,
    fn_name,
    grad_list,
    gradients,
    leaf,
    node_of,
    parent_name,
    ramp,
    refused,
    vt,
)

View = Callable[[vt.Tensor], vt.Tensor]


def numbers(*, grad: bool = True) -> tuple[vt.Tensor, vt.Tensor]:
    """A complex leaf and a copy of it that may be written."""
    values = [[0.5 + 1j, -1.25 + 0.5j, 2j], [1.5 - 1j, 0.75 - 0.5j, -0.5 + 0j]]
    x = vt.tensor(values, dtype=vt.complex128, requires_grad=grad)
    return x, x.clone()


def pairs_of(z: vt.Tensor) -> vt.Tensor:
    """The pairs of real numbers that a complex tensor consists of."""
    return vt.view_as_real(z)


VIEWS: dict[str, View] = {
    "conj": lambda z: z.conj(),
    "conj conj": lambda z: z.conj().conj(),
    "real": lambda z: z.real,
    "imag": lambda z: z.imag,
    "conj real": lambda z: z.conj().real,
    "conj imag": lambda z: z.conj().imag,
    "pairs": pairs_of,
    "part of the pairs": lambda z: pairs_of(z)[0, 1:, 1],
    "pairs and back": lambda z: vt.view_as_complex(pairs_of(z)),
    "H": lambda z: z.H,
    "row of a conjugate": lambda z: z.conj()[1],
    "conjugate of a row": lambda z: z[1].conj(),
    "negative": lambda z: z._neg_view(),
    "negative imaginary parts": lambda z: z.imag._neg_view(),
}
EACH = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())


# -- what they show and what they are --------------------------------------------------------


def test_a_conjugate_is_a_view_that_says_so() -> None:
    _, z = numbers()
    c = z.conj()
    assert c.is_conj()
    assert vt.is_conj(c)
    assert not c.is_neg()
    assert c._base is z
    assert c.data_ptr() == z.data_ptr()
    assert c.tolist() == np.conj(z.tolist()).tolist()
    assert fn_name(c) == "ConjBackward0"


def test_parts_and_pairs_are_views_and_parts_are_taken_from_the_pairs() -> None:
    _, z = numbers()
    pairs = vt.view_as_real(z)
    assert (fn_name(pairs), parent_name(pairs)) == ("ViewAsRealBackward0", "CloneBackward0")
    for part in (z.real, z.imag):
        assert (fn_name(part), parent_name(part)) == ("SelectBackward0", "ViewAsRealBackward0")
    z.imag.fill_(2)
    for view in (z.real, z.imag, pairs, z.conj()):
        assert view._is_view()
        assert view._base is z
        assert view._version == z._version == 1


def test_a_conjugate_of_a_conjugate_shows_the_memory_again() -> None:
    _, z = numbers()
    again = z.conj().conj()
    assert not again.is_conj()
    assert again is not z
    assert again._base is z
    assert again.tolist() == z.tolist()


@pytest.mark.parametrize(
    "make", [lambda x: x.conj(), lambda x: x.real, lambda x: x.conj_physical()]
)
@pytest.mark.parametrize("make_other", [lambda x: x.resolve_conj(), lambda x: x.resolve_neg()])
def test_a_real_tensor_is_its_own_conjugate(make: View, make_other: View) -> None:
    x = ramp(3)
    assert make(x) is x
    assert make_other(x) is x


def test_imaginary_parts_of_a_conjugate_are_lazy_negatives() -> None:
    _, z = numbers()
    part = z.conj().imag
    assert part.is_neg()
    assert not part.is_conj()
    assert part.dtype == vt.float64
    assert part.stride() == (6, 2)
    assert part.storage_offset() == 1
    assert part.tolist() == np.negative(np.imag(z.tolist())).tolist()
    assert not z.imag.is_neg()
    assert not z.conj().real.is_neg()


def test_real_tensors_have_no_imaginary_parts() -> None:
    with refused(RuntimeError, "dtype"):
        _ = ramp(2).imag


def test_parts_of_a_lazy_tensor_are_lazy() -> None:
    _, z = numbers()
    c = z.conj()
    for part in (c[0], c[:, 1:], c.t(), c.reshape(6), c.expand(2, 2, 3), c.detach(), c.data):
        assert part.is_conj()
    assert all(piece.is_conj() for piece in c.unbind())


def test_copies_of_a_lazy_tensor_are_not() -> None:
    _, z = numbers()
    c = z.conj()
    for made in (c.clone(), c * 1, c.t().contiguous(), c[[0]], vt.cat([c, c]), vt.zeros_like(c)):
        assert not made.is_conj()
    assert c.clone().tolist() == c.tolist()
    assert c.contiguous() is c


def test_resolving_copies_what_is_lazy_only() -> None:
    _, z = numbers()
    c = z.conj()
    assert z.resolve_conj() is z
    assert c.resolve_neg() is c
    made = c.resolve_conj()
    assert not made.is_conj()
    assert made.tolist() == c.tolist()
    assert fn_name(made) == "CloneBackward0"
    part = c.imag
    assert part.resolve_conj() is part
    assert not part.resolve_neg().is_neg()


def test_adjoints_of_matrices() -> None:
    _, z = numbers()
    for made in (z.H, z.mH, z.adjoint(), vt.adjoint(z)):
        assert made.tolist() == np.conj(z.t().tolist()).tolist()
        assert made.is_conj()
        assert fn_name(made) == "ConjBackward0"
        assert parent_name(made) == "TransposeBackward0"
    row = z[0]
    with refused(RuntimeError, "shape"):
        _ = row.H
    with refused(RuntimeError, "shape"):
        _ = row.mH
    with refused(RuntimeError, "shape"):
        row.adjoint()
    with refused(RuntimeError, "shape"):
        _ = z[None].H


def test_complex_numbers_as_pairs() -> None:
    _, z = numbers()
    pairs = vt.view_as_real(z)
    assert pairs.shape == (2, 3, 2)
    assert pairs.stride() == (6, 2, 1)
    assert pairs._base is z
    assert pairs[0, 0].tolist() == [0.5, 1]
    again = vt.view_as_complex(pairs)
    assert again._base is z
    assert again.tolist() == z.tolist()
    with refused(RuntimeError, "dtype"):
        vt.view_as_real(z.conj())
    with refused(RuntimeError, "dtype"):
        vt.view_as_real(ramp(2))


def test_pairs_must_lie_side_by_side() -> None:
    for wrong in (ramp(2, 3), ramp(2, 2).t(), ramp(3, 3)[:, :2], ramp(), ramp(5)[1:].view(2, 2)):
        with refused(RuntimeError, "shape"):
            vt.view_as_complex(wrong)
    with refused(RuntimeError, "dtype"):
        vt.view_as_complex(vt.ones(2, dtype=vt.int64))


# -- to and from NumPy and Python ------------------------------------------------------------


def test_numpy_gets_lazy_values_only_as_a_copy() -> None:
    _, z = numbers(grad=False)
    for lazy in (z.conj(), z.conj().imag):
        with pytest.raises(RuntimeError):
            lazy.numpy()
        with pytest.raises(RuntimeError):
            np.asarray(lazy)
        made = lazy.numpy(force=True)
        assert made.tolist() == lazy.tolist()
        assert type(made) is np.ndarray


def test_numbers_and_text_show_the_values() -> None:
    z = vt.tensor([1 + 2j, 3 - 4j], dtype=vt.complex64)
    c = z.conj()
    assert repr(c) == "tensor([1.-2.j, 3.+4.j])"
    assert repr(c.imag) == "tensor([-2.,  4.])"
    assert c[0].item() == 1 - 2j
    assert complex(c[1]) == 3 + 4j
    assert (3 + 4j) in c
    assert [x.item() for x in c] == [1 - 2j, 3 + 4j]


def test_pickles_stay_lazy() -> None:
    _, z = numbers(grad=False)
    for lazy in (z.conj(), z.conj().imag):
        again = pickle.loads(pickle.dumps(lazy))
        assert (again.is_conj(), again.is_neg()) == (lazy.is_conj(), lazy.is_neg())
        assert again.tolist() == lazy.tolist()
        assert again.stride() == lazy.stride()


@differs_from_torch("deepcopy resolves there, so that the copies share no memory")
def test_deep_copies_keep_aliasing() -> None:
    _, z = numbers(grad=False)
    a, b = copy.deepcopy((z, z.conj()))
    a.zero_()
    assert b.is_conj()
    assert not b.abs().any()


# -- writes ----------------------------------------------------------------------------------


def test_writes_store_what_memory_must_hold() -> None:
    _, z = numbers(grad=False)
    c = z.conj()
    c[0] = 1 + 2j
    assert z[0].tolist() == [1 - 2j] * 3
    c.imag.fill_(5)
    assert z.imag.tolist() == [[-5] * 3] * 2
    z.real.zero_()
    assert c.tolist() == [[5j] * 3] * 2
    vt.view_as_real(z)[..., 1] = 7
    assert c.tolist() == [[-7j] * 3] * 2
    assert z._version == c._version == 4


def test_aliasing_conjugates_are_read_before_they_are_written() -> None:
    for write in (vt.Tensor.copy_, vt.Tensor.mul_, vt.Tensor.add_):
        _, z = numbers(grad=False)
        expected = write(z.clone(), z.clone().conj().clone())
        assert write(z, z.conj()).tolist() == expected.tolist()
        _, z = numbers(grad=False)
        expected = write(z.conj().clone(), z.clone())
        assert write(z.conj(), z).tolist() == expected.tolist()


def test_out_is_stored_as_its_memory_must_hold_it() -> None:
    _, z = numbers(grad=False)
    memory = vt.zeros(2, 3, dtype=vt.complex128)
    vt.mul(z, z, out=memory.conj())
    assert memory.tolist() == (z * z).conj().tolist()


def test_parts_can_be_assigned() -> None:
    x, z = numbers()
    y = ramp(3).requires_grad_()
    z.real = y
    z.imag = 2
    assert z.tolist() == [[1 + 2j, 2 + 2j, 3 + 2j]] * 2
    assert z._version == 2
    assert fn_name(z) == "CopySlices"
    gx, gy = gradients((z * z.conj()).real.sum(), x, y)
    assert gx == [[0] * 3] * 2
    assert gy == [4, 8, 12]
    with pytest.raises(TypeError):
        z.real = [1.0, 2.0, 3.0]  # type: ignore[assignment]
    with refused(RuntimeError, "shape"):
        z.imag = ramp(2)


def test_a_real_tensor_is_its_own_real_part() -> None:
    x = ramp(2)
    x.real = ramp(2) + 5
    assert x.tolist() == [6, 7]
    with refused(RuntimeError, "dtype", [x]):
        x.imag = 1


def test_parts_of_leaves_are_protected() -> None:
    x, _ = numbers()
    for write in (
        lambda: setattr(x, "real", 1),
        lambda: x.conj().mul_(2),
        lambda: vt.view_as_real(x).zero_(),
    ):
        with refused(RuntimeError, "view-of-leaf-write", [x]):
            write()


# -- gradients -------------------------------------------------------------------------------


def inner(a: vt.Tensor, b: vt.Tensor) -> float:
    """The real inner product."""
    a, b = a.detach(), b.detach()
    return float((a.conj() * b).real.sum()) if a.is_complex() else float((a * b).sum())


def check_derivative(function: View) -> None:
    """Compare the gradient of a function of the numbers, and its gradient, with differences."""
    x, _ = numbers()
    direction = vt.tensor([[1 - 2j, 0.5 + 1j, -1j], [2 + 0j, 1 + 1j, -0.5 + 0.25j]])
    direction = direction.to(vt.complex128)
    weights = vt.tensor(np.linspace(0.5, 2, 6).reshape(2, 3) * (1 + 0.5j))

    def loss(at: vt.Tensor) -> vt.Tensor:
        y = function(at)
        y = y * y
        w = weights.reshape(-1)[: y.numel()]
        if y.numel() > w.numel():
            w = vt.cat([w, w])
        w = w.reshape(y.shape)
        return (y * w).real.sum() if y.is_complex() else (y * w.real).sum()

    def slope(at: vt.Tensor) -> vt.Tensor:
        (g,) = vt.autograd.grad(loss(at), at, create_graph=True)
        return (g.conj() * direction).real.sum()

    step = 1e-5
    for f in (loss, slope):
        (g,) = vt.autograd.grad(f(x), x)
        ends = []
        for sign in (1, -1):
            at = (x.detach() + sign * step * direction).requires_grad_()
            ends.append(float(f(at).detach()))
        expected = (ends[0] - ends[1]) / (2 * step)
        assert inner(g, direction) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@EACH
def test_gradients_of_reading(view: View) -> None:
    check_derivative(lambda x: view(x) * 1)
    check_derivative(lambda x: view(x.clone()) * view(x.clone()))


@EACH
def test_gradients_of_writing_through(view: View) -> None:
    def written(x: vt.Tensor) -> vt.Tensor:
        z = x.clone()
        view(z).mul_(view(x) + 2)
        return z

    check_derivative(written)


@EACH
def test_gradients_of_a_view_whose_base_was_written(view: View) -> None:
    def read_after(x: vt.Tensor) -> vt.Tensor:
        z = x.clone()
        v = view(z)
        z.mul_(1 - 2j)
        z[0] = x[1]
        return v

    check_derivative(read_after)


@EACH
def test_gradients_of_a_saved_result_that_was_written_through(view: View) -> None:
    def written(x: vt.Tensor) -> vt.Tensor:
        z = x.clone()
        view(z).exp_()
        return z

    check_derivative(written)


def test_names_after_a_write() -> None:
    _, z = numbers()
    c, r, q, h = z.conj(), z.real, vt.view_as_real(z), z[0].conj()
    z.mul_(2)
    assert fn_name(c) == "ConjBackward0"
    assert fn_name(r) == "AsStridedBackward0"
    assert parent_name(r) == "ViewAsRealBackward0"
    assert fn_name(q) == "ViewAsRealBackward0"
    assert (fn_name(h), parent_name(h)) == ("ConjBackward0", "AsStridedBackward0")
    c.mul_(1j)
    assert fn_name(z) == "CopySlices"
    assert (fn_name(c), parent_name(c)) == ("ConjBackward0", "CopySlices")


@differs_from_torch("gradients may be lazy conjugates there")
def test_gradients_hold_their_values() -> None:
    x, _ = numbers()
    x.conj().abs().sum().backward()
    assert x.grad is not None
    assert not x.grad.is_conj()


def test_a_lazy_gradient_may_be_passed() -> None:
    x, _ = numbers()
    y = x * (2 + 1j)
    weights = vt.tensor([[1 + 2j, 3j, 1 + 0j], [2 - 1j, 0j, 1 + 1j]]).to(vt.complex128)
    (expected,) = vt.autograd.grad(y, x, weights.conj().clone(), retain_graph=True)
    (found,) = vt.autograd.grad(y, x, weights.conj())
    assert found.tolist() == expected.tolist()


@differs_from_torch("it fails one of its own assertions")
def test_a_view_of_a_base_that_was_detached_has_no_producer() -> None:
    _, z = numbers()
    pairs = vt.view_as_real(z)
    z.detach_()
    z.mul_(2)
    assert pairs.grad_fn is None
    assert not pairs.requires_grad


# -- in-place metadata operators -------------------------------------------------------------


@differs_from_torch("it forgets the transposition")
@pytest.mark.parametrize("view", [pairs_of, lambda z: z.conj(), lambda z: z.real, lambda z: z.imag])
def test_a_view_that_transposed_itself_is_still_differentiated(view: View) -> None:
    def written(x: vt.Tensor) -> vt.Tensor:
        z = x.clone()
        v = view(z)
        v.transpose_(0, 1)
        v *= vt.arange(1.0, 7.0, dtype=vt.float64).reshape(3, 2, *[1] * (v.dim() - 2))
        return z * v.real.sum()

    check_derivative(written)


@differs_from_torch("it replays the view of a base that has another shape since")
@EACH
def test_a_view_of_a_base_that_transposed_itself_is_still_differentiated(view: View) -> None:
    def written(x: vt.Tensor) -> vt.Tensor:
        z = x.clone()
        v = view(z)
        z.t_()
        z.mul_(x.t())
        v.mul_(2)
        return z * v.real.sum()

    check_derivative(written)


# -- other dtypes ----------------------------------------------------------------------------


def test_a_view_in_another_dtype_shares_memory_and_version_but_no_gradient() -> None:
    x = ramp(2, 4).requires_grad_()
    y = x.clone()
    for dtype in (vt.int32, vt.complex128, vt.float64):
        v = y.view(dtype)
        assert v is not y
        assert not v._is_view()
        assert not v.requires_grad
        assert v.data_ptr() == y.data_ptr()
    y.view(vt.complex128)[0, 0] = 7 + 8j
    assert y[0, :2].tolist() == [7, 8]
    assert y._version == 1
    assert fn_name(y) == "CloneBackward0"


def test_geometry_of_a_view_in_another_dtype() -> None:
    x = vt.zeros(4, 6, dtype=vt.float32)
    for source, dtype, shape, stride, offset in (
        (x, vt.float64, (4, 3), (3, 1), 0),
        (x[:, 2:], vt.float64, (4, 2), (3, 1), 1),
        (x[::2], vt.complex64, (2, 3), (6, 1), 0),
        (x[:, 1:5], vt.int16, (4, 8), (12, 1), 2),
        (x[1], vt.uint8, (24,), (1,), 24),
        (x.t(), vt.int32, (6, 4), (1, 6), 0),
        (x[:0], vt.float64, (0, 3), (3, 1), 0),
        (x[:, :0], vt.int16, (4, 0), (12, 1), 0),
        (x[0, 0], vt.int32, (), (), 0),
        (x[:1].expand(3, 6), vt.float64, (3, 3), (0, 1), 0),
    ):
        v = source.view(dtype)
        assert (tuple(v.shape), v.stride(), v.storage_offset()) == (shape, stride, offset)
        assert source.view(dtype=dtype).dtype == dtype


def test_views_in_another_dtype_that_there_are_not() -> None:
    x = vt.zeros(4, 6, dtype=vt.float32)
    for source, dtype in (
        (x.t(), vt.float64),
        (x[:, 1:5], vt.float64),
        (x[:, :3], vt.float64),
        (vt.zeros(3, 7, dtype=vt.float32)[:, :6], vt.float64),
        (x[0, 0], vt.int16),
        (x[:, :1].expand(4, 2), vt.float64),
        (x.view(4, 2, 3)[..., 0], vt.uint8),
    ):
        with refused(RuntimeError, "shape", [source]):
            source.view(dtype)
    _, z = numbers(grad=False)
    for lazy in (z.conj(), z.conj().imag):
        with refused(RuntimeError, "dtype", [lazy]):
            lazy.view(lazy.dtype)


def test_what_was_saved_notices_writes_in_another_dtype() -> None:
    x = ramp(2).requires_grad_()
    y = x.clone()
    loss = (y * y).sum()
    y.view(vt.int64).zero_()
    with refused(RuntimeError, "stale-saved"):
        loss.backward()
    assert ON_TORCH or node_of(loss) is not None


def test_a_negative_view_of_a_tensor_that_begins_at_an_odd_place_is_written() -> None:
    x = leaf(4)
    y = x * 1
    y.as_strided_((2,), (2,), 1)
    y._neg_view().mul_(3)
    assert y.tolist() == [6, 12]
    y.sum().backward()
    assert grad_list(x) == [0, 3, 0, 3]


def test_mvlgamma_of_a_negative_view_is_that_of_its_values() -> None:
    x = ramp(3) * -1 - 0.5
    assert x._neg_view().mvlgamma(1).tolist() == x.neg().mvlgamma(1).tolist()
