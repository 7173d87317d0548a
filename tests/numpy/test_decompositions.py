"""Decompositions of matrices, compared with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import array, compare
from vtgrad.errors import BatchedTensorError, NotSupportedError

HERMITIAN: Final = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.8]])
STACK: Final = np.stack([HERMITIAN, HERMITIAN @ HERMITIAN])[:, None]
TALL: Final = np.random.default_rng(0).normal(size=(4, 3))

#: What is compared does not depend on signs that are arbitrary.
CALLS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "eigvalsh": lambda np, x: np.linalg.eigvalsh(x),
    "eigvalsh, upper": lambda np, x: np.linalg.eigvalsh(x, "U"),
    "eigh": lambda np, x: abs(np.linalg.eigh(x)[1]),
    "svdvals": lambda np, x: np.linalg.svdvals(x),
    "svd without vectors": lambda np, x: np.linalg.svd(x, compute_uv=False),
    "svd": lambda np, x: abs(np.linalg.svd(x, full_matrices=False)[0]),
    "svd, right": lambda np, x: abs(np.linalg.svd(x, full_matrices=False)[2]),
    "qr": lambda np, x: abs(np.linalg.qr(x)[0]),
    "qr, right": lambda np, x: abs(np.linalg.qr(x, "r")),
    "cond": lambda np, x: np.linalg.cond(x),
    "cond by the least": lambda np, x: np.linalg.cond(x, -2),
    "wrong triangle": lambda np, x: np.linalg.eigh(x, "x"),
    "wrong mode": lambda np, x: np.linalg.qr(x, "x"),
}


@pytest.mark.parametrize("name", CALLS)
def test_values_and_derivatives(name: str) -> None:
    call, hermitian = CALLS[name], "eig" in name
    for x in (HERMITIAN, STACK) if hermitian else (HERMITIAN, STACK, TALL, TALL.T):
        for dtype in ("d", "f", "D", "l"):
            numbers = (x * 3).astype(dtype)
            if dtype == "l":
                numbers += np.diag([0, 1, 3]) if hermitian else np.arange(x.shape[-1])
            for grad in (False, True):
                mine = partial(call, vnp, array(numbers, grad))
                compare(mine, partial(call, np, numbers), f"{name} of {dtype}{x.shape}")
        if "wrong" not in name:
            leaf = array(x, grad=True)
            assert vt.autograd.gradcheck(partial(call, vnp), (leaf,))
            assert vt.autograd.gradgradcheck(partial(call, vnp), (leaf,), fast_mode=True)
    for bad in (np.ones(3), np.ones((2, 3)) if hermitian else np.ones(2)):
        compare(partial(call, vnp, array(bad, True)), partial(call, np, bad), name)


#: With real eigenvalues, with some that are not, and complex.
SQUARE: Final = (
    np.diag([1.0, 3.0, -2.0]) + 0.3 * TALL[:3],
    TALL[1:],
    TALL[1:] + 1j * TALL[:3],
    np.stack([TALL[1:], TALL[:3]])[:, None],
)

OF_SQUARE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "eigvals": lambda np, x: np.linalg.eigvals(x),
    "eig": lambda np, x: abs(np.linalg.eig(x)[1]),
    "eig, both": lambda np, x: np.linalg.eig(x)[1] ** 2 * np.linalg.eig(x).eigenvalues[..., None],
    "cond, 1": lambda np, x: np.linalg.cond(x, 1),
    "cond, fro": lambda np, x: np.linalg.cond(x, "fro"),
    "poly": lambda np, x: np.poly(x[(0,) * (x.ndim - 2)] if x.ndim > 2 else x),
}


@pytest.mark.parametrize("name", OF_SQUARE)
def test_square_matrices(name: str) -> None:
    call = OF_SQUARE[name]
    for x in SQUARE:
        leaf = array(x, grad=True)
        for grad in (False, True):
            compare(partial(call, vnp, array(x, grad)), partial(call, np, x), f"{name} of {x}")
        assert vt.autograd.gradcheck(
            partial(call, vnp),
            (leaf,),
            check_forward_ad=True,
            check_batched_grad=True,
            check_batched_forward_grad=True,
        )
        assert vt.autograd.gradgradcheck(
            partial(call, vnp), (leaf,), check_fwd_over_rev=True, fast_mode=True
        )
    rows = np.stack([SQUARE[1], SQUARE[1] * 2])
    if "cond" in name:
        found = vt.vmap(partial(call, vnp))(array(rows))
        np.testing.assert_allclose(found.tolist(), [call(np, row).tolist() for row in rows])
    else:
        # Whether eigenvalues are complex depends on values.
        with pytest.raises(BatchedTensorError):
            vt.vmap(partial(call, vnp))(array(rows))
    for bad in (np.ones(3), np.ones((2, 3)), np.zeros((0, 0))):
        compare(partial(call, vnp, array(bad, True)), partial(call, np, bad), name)


def test_conditions_that_are_infinite_and_of_no_matrices() -> None:
    zeros, nan = np.zeros((2, 2)), np.full((2, 2), np.nan)
    infinite = [zeros, np.diag([1.0, 0.0]), np.stack([zeros, np.eye(2)])]
    for x in (*infinite, nan, np.stack([zeros, nan]), np.zeros((0, 2, 2)), np.zeros((2, 0, 0))):
        for p in (None, -2):
            for dtype in ("d", "F"):
                for grad in (False, True):
                    given = array(x.astype(dtype), grad)
                    compare(
                        partial(vnp.linalg.cond, given, p),
                        partial(np.linalg.cond, x.astype(dtype), p),
                        f"cond of {x}, {p}",
                    )
    empty = np.zeros((0, 2, 2))
    compare(
        partial(vnp.linalg.cond, array(empty, True), 1), partial(np.linalg.cond, empty, 1), "cond"
    )


def test_matrices_whose_eigenvectors_are_no_basis() -> None:
    for x in (np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[0.0, 1.0], [0.0, 0.0]])):
        with pytest.raises(np.linalg.LinAlgError, match="no basis"):
            vnp.linalg.eigvals(array(x, grad=True))
        compare(partial(vnp.linalg.eigvals, array(x)), partial(np.linalg.eigvals, x), "")


def test_equal_eigenvalues() -> None:
    """Sums over equal eigenvalues have derivatives; vectors have none."""
    leaf = array(np.eye(3), grad=True)
    # NumPy 2.5 gives complex ones.
    (vnp.linalg.eigvals(leaf) ** 2).sum().real.backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == (2 * np.eye(3)).tolist()
    with pytest.raises(np.linalg.LinAlgError, match="are equal"):
        abs(vnp.linalg.eig(leaf)[1]).sum().backward()


TENSORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "tensorinv": lambda np, x: np.linalg.tensorinv(x.reshape(2, 3, 6)),
    "tensorinv, 1": lambda np, x: np.linalg.tensorinv(x.reshape(6, 3, 2), ind=1),
    "tensorsolve": lambda np, x: np.linalg.tensorsolve(x.reshape(2, 3, 6), x[0].reshape(2, 3)),
    "tensorsolve, turned": lambda np, x: np.linalg.tensorsolve(
        x.reshape(2, 6, 3), x[0].reshape(2, 3), axes=(1,)
    ),
    "tensorsolve without unknown axes": lambda np, x: np.linalg.tensorsolve(
        x[:1, :1] + 3, x[1:2, :1]
    ),
    "tensorsolve of numbers": lambda np, x: np.linalg.tensorsolve(x[0, 0] + 3, x[0, 1]),
    "tensorsolve of more right sides": lambda np, x: np.linalg.tensorsolve(x[0, :1], x[:1, :1]),
    "tensorsolve, wrong axis": lambda np, x: np.linalg.tensorsolve(x, x[0], axes=(-1,)),
    "wrong tensorinv": lambda np, x: np.linalg.tensorinv(x, ind=0),
    "tensorinv of no square map": lambda np, x: np.linalg.tensorinv(x[:3], ind=1),
    "tensorsolve of too few": lambda np, x: np.linalg.tensorsolve(x[:3], x[0, :3]),
}


@pytest.mark.parametrize("name", TENSORS)
def test_equations_of_tensors(name: str) -> None:
    call = TENSORS[name]
    x = np.random.default_rng(1).normal(size=(6, 6))
    for dtype in ("d", "f", "D"):
        numbers = x.astype(dtype)
        for grad in (False, True):
            compare(partial(call, vnp, array(numbers, grad)), partial(call, np, numbers), name)
    if "too" not in name and "wrong" not in name and "no square" not in name:
        leaf = array(x, grad=True)
        assert call(vnp, leaf).requires_grad
        assert vt.autograd.gradcheck(partial(call, vnp), (leaf,), check_forward_ad=True)
        assert vt.autograd.gradgradcheck(partial(call, vnp), (leaf,), fast_mode=True)


def test_results_have_names() -> None:
    x = array(HERMITIAN, grad=True)
    assert vnp.linalg.eigh(x).eigenvalues.shape == (3,)
    assert vnp.linalg.svd(x).S.requires_grad
    assert vnp.linalg.qr(x).R.shape == (3, 3)


def test_what_completes_a_basis_has_no_derivative() -> None:
    x = array(TALL, grad=True)
    calls: list[Callable[[], Any]] = [
        lambda: vnp.linalg.svd(x[:3], hermitian=True),
        lambda: vnp.linalg.qr(x, "complete"),
        lambda: vnp.linalg.qr(x, "raw"),
    ]
    for refused in calls:
        with pytest.raises(NotSupportedError, match="derivative"):
            refused()
    assert vnp.linalg.svd(x.detach()).U.shape == (4, 4)


@pytest.mark.parametrize("wide", [False, True])
def test_bases_are_completed_as_numpys_are(wide: bool) -> None:
    numbers = np.stack([TALL.T, 2 * TALL.T + 1]) if wide else TALL
    x = array(numbers, grad=True)
    wanted, found = np.linalg.svd(numbers), vnp.linalg.svd(x)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), theirs, atol=1e-12)

    def known(x: Any) -> Any:
        u, s, vh = vnp.linalg.svd(x)
        return abs(u[..., :3]) if not wide else abs(vh[..., :3, :]), s

    assert vt.autograd.gradcheck(known, (x,))
    assert vt.autograd.gradgradcheck(known, (x,))
    rest = found.U[..., 3:] if not wide else found.Vh[..., 3:, :]
    with pytest.raises(NotSupportedError, match="only complete a basis"):
        (rest**2).sum().backward()
    assert x.grad is None
    with pytest.raises(NotSupportedError, match="only complete a basis"):
        vt.func.jvp(vnp.linalg.svd, (x.detach(),), (x.detach(),))


@pytest.mark.parametrize("triangle", ["L", "U", "u"])
@pytest.mark.parametrize("parts", [1, 1j])
def test_eigenvectors_have_the_phases_of_numpy(triangle: Any, parts: complex) -> None:
    for size in range(1, 7):
        rng = np.random.default_rng(size)
        # Both triangles are there, and only one of them is read.
        x = rng.normal(size=(2, size, size)) + parts * rng.normal(size=(2, size, size))
        wanted = np.linalg.eigh(x, triangle)
        found = vnp.linalg.eigh(array(x, grad=True), triangle)
        np.testing.assert_allclose(found.eigenvectors.detach().numpy(), wanted.eigenvectors)
        assert np.array_equal(found.eigenvalues.detach().numpy(), wanted.eigenvalues)
        rows = vt.vmap(lambda row: vnp.linalg.eigh(row, triangle))(array(x, grad=True))
        np.testing.assert_allclose(rows[1].detach().numpy(), wanted.eigenvectors)


def test_derivatives_of_the_upper_triangle() -> None:
    x = array(np.random.default_rng(0).normal(size=(4, 4)), grad=True)
    call = partial(vnp.linalg.eigh, UPLO="U")
    assert vt.autograd.gradcheck(call, (x,), check_forward_ad=True)
    assert vt.autograd.gradgradcheck(call, (x,), fast_mode=True)
    vnp.linalg.eigh(x, "U")[0].sum().backward()
    assert x.grad is not None
    assert not vnp.tril(x.grad, -1).any()
