"""Matrix products of every rank and `einsum`: values, gradients, and the graph they make."""

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    OutGradError,
    ShapeError,
    StaleSavedError,
)
from vtgrad.graph.node import Node
from vtgrad.storage.arrays import Array, Shape

_RNG = np.random.default_rng(5)


def ints(*shape: int) -> Array:
    """Small whole numbers: products and sums of them are exact in float64."""
    return _RNG.integers(-3, 4, shape).astype(np.float64)


def leaf(array: Array) -> vt.Tensor:
    return vt.from_numpy(array.copy()).requires_grad_()


RANKS: list[tuple[Shape, Shape]] = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3, 4)),
    ((5, 2, 3), (3,)),
    ((2, 3), (5, 3, 4)),
    ((3,), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (1, 3, 4)),
    ((1, 2, 3), (5, 3, 4)),
    ((6, 1, 2, 3), (5, 3, 4)),
    ((2, 0), (0, 3)),
    ((0, 2, 3), (3, 4)),
]


def _columns(array: Array) -> Array:
    return array[:, None] if array.ndim == 1 else array


@pytest.mark.parametrize(("left", "right"), RANKS)
def test_matmul_of_every_rank_with_its_gradients(left: Shape, right: Shape) -> None:
    a, b = ints(*left), ints(*right)
    x, y = leaf(a), leaf(b)
    product = x @ y
    expected = a @ b
    np.testing.assert_array_equal(product.detach().numpy(), expected)
    assert product.is_contiguous()
    assert not product._is_view()
    weights = ints(*expected.shape)
    gx, gy = vt.autograd.grad(product, (x, y), vt.from_numpy(weights))
    # The gradient of a is w @ b.T, of b it is a.T @ w, summed over what was broadcast.
    full = weights
    if len(right) == 1:
        full = full[..., None]
    if len(left) == 1:
        full = full[..., None, :]
    rows = a[None, :] if a.ndim == 1 else a
    want_a = full @ np.swapaxes(_columns(b), -1, -2)
    want_b = np.swapaxes(rows, -1, -2) @ full
    np.testing.assert_array_equal(gx.numpy(), _summed_to(want_a, left))
    np.testing.assert_array_equal(gy.numpy(), _summed_to(want_b, right))


def _summed_to(array: Array, shape: Shape) -> Array:
    if len(shape) == 1:
        array = array.reshape(-1, shape[0])
    lead = array.ndim - len(shape)
    array = array.sum(tuple(range(lead)))
    for d, size in enumerate(shape):
        if size == 1:
            array = array.sum(d, keepdims=True)
    return array


def test_second_derivatives_of_a_product() -> None:
    a, b = ints(2, 3), ints(3, 2)
    x, y = leaf(a), leaf(b)
    (g,) = vt.autograd.grad((x @ y).square().sum(), x, create_graph=True)
    direction = ints(2, 3)
    (h,) = vt.autograd.grad(g, x, vt.from_numpy(direction))
    np.testing.assert_array_equal(h.numpy(), 2 * direction @ b @ b.T)


def names(node: Node | None) -> list[str]:
    """The first path through the graph, from the result to a leaf."""
    found: list[str] = []
    while node is not None:
        found.append(type(node).__name__)
        node = next((f for f, _ in node.next_functions if f is not None), None)
    return found


GRAPHS: list[tuple[Shape, Shape, list[str]]] = [
    ((3,), (3,), ["DotBackward0"]),
    ((3, 3), (3,), ["MvBackward0"]),
    ((3, 3), (3, 3), ["MmBackward0"]),
    ((3,), (3, 3), ["SqueezeBackward4", "MmBackward0", "UnsqueezeBackward0"]),
    ((2, 3, 3), (3, 3), ["UnsafeViewBackward0", "MmBackward0", "ViewBackward0"]),
    (
        (2, 3, 3),
        (2, 3, 3),
        ["UnsafeViewBackward0", "BmmBackward0", "ViewBackward0", "ExpandBackward0"],
    ),
]


@pytest.mark.parametrize(("left", "right", "path"), GRAPHS)
def test_matmul_is_made_of_named_pieces(left: Shape, right: Shape, path: list[str]) -> None:
    product = leaf(ints(*left)) @ leaf(ints(*right))
    assert names(product.grad_fn) == [*path, "AccumulateGrad"]


def test_a_gradient_has_the_memory_order_of_its_factor() -> None:
    x, y = leaf(ints(2, 3)), leaf(ints(4, 3))
    (g,) = vt.autograd.grad((x @ y.t()).sum(), [y])
    assert g.stride() == (3, 1)
    columns = leaf(ints(3, 2)).t()
    (g,) = vt.autograd.grad((columns @ y.t()).sum(), [columns])
    assert g.stride() == (1, 2)


def test_a_factor_is_saved_only_for_the_other_ones_gradient() -> None:
    x, constant = leaf(ints(2, 2)).clone(), vt.from_numpy(ints(2, 2))
    product = x @ constant
    x.mul_(2)
    product.sum().backward()
    product = x.detach().requires_grad_() @ constant
    constant.mul_(2)
    with pytest.raises(StaleSavedError):
        product.sum().backward()


def test_outer_is_a_product_of_a_column_and_a_row() -> None:
    x, y = leaf(np.array([1.0, 2])), leaf(np.array([3.0, 4, 5]))
    z = x.outer(y)
    assert z.tolist() == [[3, 4, 5], [6, 8, 10]]
    z.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [12, 12]
    assert names(z.grad_fn)[:2] == ["MulBackward0", "ViewBackward0"]
    with pytest.raises(ShapeError):
        vt.outer(z, x)


def test_addmm_in_place_and_its_gradients() -> None:
    a, b, c = leaf(ints(2, 3)), leaf(ints(3, 2)), leaf(ints(2, 2))
    z = c.clone().addmm_(a, b, beta=2, alpha=3)
    np.testing.assert_array_equal(
        z.detach().numpy(), 2 * c.detach().numpy() + 3 * a.detach().numpy() @ b.detach().numpy()
    )
    ones = np.ones((2, 2))
    ga, gb, gc = vt.autograd.grad(z.sum(), (a, b, c))
    np.testing.assert_array_equal(ga.numpy(), 3 * ones @ b.detach().numpy().T)
    np.testing.assert_array_equal(gb.numpy(), 3 * a.detach().numpy().T @ ones)
    np.testing.assert_array_equal(gc.numpy(), 2 * ones)


def test_addmm_sums_the_gradient_of_a_broadcast_term() -> None:
    bias = leaf(np.array([1.0, 2]))
    z = vt.addmm(bias, vt.from_numpy(ints(5, 3)), vt.from_numpy(ints(3, 2)))
    (g,) = vt.autograd.grad(z.sum(), bias)
    assert g.tolist() == [5, 5]


EQUATIONS: list[tuple[str, list[Shape]]] = [
    ("ij,jk->ik", [(2, 3), (3, 4)]),
    ("ij,kj->ki", [(2, 3), (4, 3)]),
    ("ii->i", [(3, 3)]),
    ("ii", [(3, 3)]),
    ("iij->j", [(2, 2, 3)]),
    ("iji->j", [(2, 3, 2)]),
    ("bij,bjk->bik", [(5, 2, 3), (5, 3, 4)]),
    ("bhi,bhj->bij", [(2, 3, 4), (2, 3, 5)]),
    ("i,j->ji", [(3,), (4,)]),
    ("...ij,jk", [(2, 3, 4), (4, 2)]),
    ("...i,...i->...", [(5, 4, 3), (4, 3)]),
    ("ij->", [(2, 3)]),
    ("ijk->ki", [(2, 3, 4)]),
    ("ij,ij->", [(2, 3), (2, 3)]),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]),
    ("ij,jk->i", [(2, 3), (3, 4)]),
    ("ij,ik,il->jkl", [(2, 3), (2, 4), (2, 5)]),
    ("ij,kl->jk", [(2, 3), (4, 5)]),
    (",i", [(), (3,)]),
    ("i,i,i", [(3,), (3,), (3,)]),
    ("ii,i->i", [(3, 3), (3,)]),
    ("...ii->...i", [(4, 2, 2)]),
    ("Ab,bC->CA", [(2, 3), (3, 4)]),
]


@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS)
def test_einsum_agrees_with_numpy_and_is_linear_in_each_operand(
    equation: str, shapes: list[Shape]
) -> None:
    arrays = [ints(*shape) for shape in shapes]
    tensors = [leaf(array) for array in arrays]
    result = vt.einsum(equation, *tensors)
    expected = np.asarray(np.einsum(equation, *arrays))
    np.testing.assert_array_equal(result.detach().numpy(), expected)
    weights = ints(*expected.shape)
    gradients = vt.autograd.grad(result, tensors, vt.from_numpy(np.asarray(weights)))
    # A function that is linear in an operand equals its gradient times that operand.
    total = float((expected * weights).sum())
    for array, g in zip(arrays, gradients, strict=True):
        assert g.shape == array.shape
        assert float((g.numpy() * array).sum()) == total
    direction = [ints(*shape) for shape in shapes]
    for operand, step in enumerate(direction):
        moved = [*arrays[:operand], step, *arrays[operand + 1 :]]
        along = float((np.einsum(equation, *moved) * weights).sum())
        assert float((gradients[operand].numpy() * step).sum()) == along


def test_einsum_may_return_a_view() -> None:
    x = leaf(ints(3, 3))
    assert vt.einsum("ij->ji", x)._base is x
    assert vt.einsum("ii->i", x).stride() == (4,)


def test_einsum_takes_one_sequence_of_tensors_too() -> None:
    x = leaf(ints(2, 2))
    assert vt.einsum("ij,jk", [x, x]).tolist() == (x @ x).tolist()
    with pytest.raises(ArgumentValueError):
        vt.einsum("ij")
    with pytest.raises(ArgumentTypeError):
        vt.einsum("i", [1.0, 2.0])  # type: ignore[type-var]  # on purpose
    with pytest.raises(ArgumentTypeError):
        vt.einsum(3, x)  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize(
    ("left", "right"),
    [((), (3,)), ((3,), ()), ((2, 3), (2, 3)), ((2, 3, 4), (3, 4, 5)), ((3,), (4,))],
)
def test_factors_that_do_not_fit_are_refused(left: Shape, right: Shape) -> None:
    with pytest.raises(ShapeError):
        vt.matmul(vt.ones(left), vt.ones(right))


def test_matmul_into_a_given_tensor() -> None:
    a, b = ints(5, 2, 3), ints(3, 4)
    out = vt.zeros((5, 2, 4), dtype=vt.float64)
    assert vt.matmul(vt.from_numpy(a), vt.from_numpy(b), out=out) is out
    np.testing.assert_array_equal(out.numpy(), a @ b)
    assert out._version == 1
    with pytest.raises(OutGradError):
        vt.matmul(leaf(a), vt.from_numpy(b), out=out)
