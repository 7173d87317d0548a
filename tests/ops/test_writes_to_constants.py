"""Writes of NumPy to an array that was an operand: no gradient sees them; Note [Borrowed memory].

A constant that a node saves is copied, and no other.
"""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.lists_of_calls import OF_A_MATRIX
from tests.ops.calls import Case, arguments_of, cases, function_named, results_of
from tests.sweeping import at_once, sweep
from vtgrad.errors import VtgradError
from vtgrad.storage.arrays import Array

#: Arrays are no part of the types of operators.
F: Any = vt

WITH_SECOND_TENSOR = cases(
    lambda op: sum("Tensor" in argument.type for argument in op.arguments) > 1
)
#: The sample's tensors that stay tensors: the first one, or all but the first one.
ROLES = ["the first", "the others"]


def parts_of(values: Sequence[object]) -> list[vt.Tensor]:
    """The tensors among values and in lists of them."""
    found: list[vt.Tensor] = []
    for value in values:
        given = value if isinstance(value, list) else [value]
        found += [x for x in given if isinstance(x, vt.Tensor)]
    return found


class Mixed:
    """The arguments of a sample, of which some tensors are leaves and others arrays of NumPy."""

    def __init__(self, case: Case, role: str, *, arrays: bool) -> None:
        self.arrays: list[Array] = []
        self.leaves: list[vt.Tensor] = []
        self.values, self.options = arguments_of(case)
        tensors = parts_of([*self.values, *self.options.values()])
        kept = tensors[:1] if role == "the first" else tensors[1:]
        places: dict[int, object] = {}
        for x in tensors:
            if any(x is one for one in kept):
                if x.is_floating_point() or x.is_complex():
                    self.leaves.append(x.requires_grad_())
            elif arrays:
                array: Array = x.numpy().copy()
                self.arrays.append(array)
                places[id(x)] = array
        self.values = [_replaced(value, places) for value in self.values]
        self.options = {name: _replaced(value, places) for name, value in self.options.items()}


def _replaced(value: object, places: dict[int, object]) -> Any:
    if isinstance(value, list):
        return [places.get(id(x), x) for x in value]
    return places.get(id(value), value)


def gradients_of(case: Case, role: str, *, arrays: bool) -> object:
    """The first and second gradients of a sample whose arrays are written after the call."""
    mixed = Mixed(case, role, arrays=arrays)
    vt.manual_seed(3)
    try:
        results = results_of(function_named(case.operator.name)(*mixed.values, **mixed.options))
    except VtgradError as error:
        return type(error)
    for array in mixed.arrays:
        array[...] = np.asarray(77).astype(array.dtype)
    return differentiated(results, mixed.leaves)


def differentiated(results: Sequence[vt.Tensor], leaves: Sequence[vt.Tensor]) -> object:
    """The bytes of first gradients, and of those of their squares."""
    found: list[vt.Tensor | None] = []
    for result in results:
        if not result.requires_grad:
            continue
        weights = vt.arange(1.0, result.numel() + 1).reshape(result.shape).to(result.dtype)
        try:
            first = vt.autograd.grad(
                result, leaves, weights, create_graph=True, allow_unused=True, retain_graph=True
            )
        except VtgradError as error:
            return type(error)
        found += first
        squares = [(x * x).sum() for x in first if x is not None and x.requires_grad]
        if squares:
            ones = [vt.ones_like(x) for x in squares]
            found += vt.autograd.grad(squares, leaves, ones, allow_unused=True)
    return [None if x is None else x.numpy(force=True).tobytes() for x in found]


@sweep([case for case in WITH_SECOND_TENSOR if not case.operator.name.endswith("_")], ROLES)
def test_no_gradient_of_an_operator_sees_a_later_write(case: Case, role: str) -> None:
    assert gradients_of(case, role, arrays=True) == gradients_of(case, role, arrays=False)


#: Calls with an array, and with the array and the tensor in each other's place.
WITH_ARRAY = [
    (call, swapped)
    for call in OF_A_MATRIX
    if "base" in call and "cross" not in call
    for swapped in ([False] if re.search("y:|out=|where", call) else [False, True])
]


@sweep(WITH_ARRAY, row=at_once)
def test_no_gradient_of_a_function_of_numpys_sees_a_later_write(call: str, swapped: bool) -> None:
    if swapped:
        call = re.sub(r"\b(x|base)\b", lambda m: "base" if m[0] == "x" else "x", call)
    found: list[Array] = []
    for write in (False, True):
        base = np.array([[0.3, 0.7], [0.2, 0.9]])
        x = vnp.array([[0.52, 0.2], [0.31, 0.8]]).requires_grad_()
        given = {"np": vnp, "x": x, "base": base, "mk": vnp.array}
        y = eval(call, given)
        if write:
            base[...] = 77
        (gradient,) = vt.autograd.grad((y * y).sum(), x)
        found.append(gradient.numpy())
    assert found[0].tobytes() == found[1].tobytes()


def leaf(*values: float) -> Any:
    """A leaf of float64."""
    return vt.tensor(values, dtype=vt.float64, requires_grad=True)


def peak_of(call: Callable[[], object]) -> int:
    """The most bytes that a call held at once."""
    call()
    tracemalloc.start()
    try:
        kept = call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        del kept


def test_a_constant_is_copied_only_where_a_node_saves_it() -> None:
    a = np.ones((1000, 100))
    x = leaf(2.0)
    size = a.nbytes
    for call, copies in [
        (lambda: x + a, 1),  # the result
        (lambda: x - a, 1),
        (lambda: x * a, 2),  # and what the node saves
        (lambda: F.mul(a, x.detach()), 1),
        (lambda: F.sum(a, 1), 0),
        (lambda: vnp.sum(a, 1), 0),
        (lambda: vnp.cumsum(x * vnp.mean(a)), 0),
    ]:
        # NumPy 2.1 sums through a buffer of 64 kB.
        assert peak_of(call) == pytest.approx(copies * size, abs=0.2 * size), copies


def test_what_is_saved_of_an_expanded_constant_is_small() -> None:
    a = np.array([2.0, 3.0])
    x = vt.ones(1000, 2, dtype=vt.float64, requires_grad=True)
    y = x * F.expand(a, (1000, 2))
    a[:] = 77
    saved: Any = y.grad_fn
    assert saved._saved_other.stride() == (0, 1)
    assert saved._saved_other.untyped_storage().nbytes() == 16
    y.sum().backward()
    assert x.grad is not None
    assert x.grad[5].tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    "view",
    [
        lambda a: F.flip(F.reshape(a, (4, 1)), (0,)).squeeze(1),
        lambda a: F.reshape(a, (4,))[1:3],
        lambda a: F.reshape(a, (2, 2)).T,
        lambda a: F.reshape(a, (4,)).unfold(0, 2, 1),
        lambda a: F.reshape(a, (4,)).detach(),
        lambda a: F.reshape(a[::-1], (4,)),
        lambda a: F.reshape(a, (4,)).expand(3, 4),
        lambda a: F.reshape(a + 1j * a, (4,)).conj().imag,
    ],
)
def test_a_view_of_a_constant_is_copied_when_it_is_saved(view: Callable[[Any], Any]) -> None:
    a = np.array([1.0, 2.0, 3.0, 4.0])
    c = view(a)
    expected = c.tolist()
    x = vt.ones(c.shape, dtype=vt.float64, requires_grad=True)
    y = (x * c).sum()
    a[:] = 77
    y.backward()
    assert x.grad is not None
    assert x.grad.tolist() == expected


def with_data_of(c: Any) -> Any:
    """Another tensor, whose counter was made before it has the memory."""
    other: Any = vt.zeros(1, dtype=vt.float64)
    assert other._impl.counter.value == 0
    other.data = c
    return other


@pytest.mark.parametrize(
    "on_the_memory",
    [
        lambda c: c.data,
        lambda c: F.unsafe_chunk(c, 1)[0],
        lambda c: vt.empty(0, dtype=vt.float64).set_(c),
        lambda c: vt.empty(0, dtype=vt.float64).set_(c.untyped_storage(), 0, (4,), (1,)),
        with_data_of,
        lambda c: with_data_of(c)[:],
    ],
)
def test_a_tensor_that_was_given_the_memory_of_a_constant_is_copied_when_it_is_saved(
    on_the_memory: Callable[[Any], Any],
) -> None:
    a = np.array([1.0, 2.0, 3.0, 4.0])
    c = on_the_memory(F.reshape(a, (4,)))
    assert np.shares_memory(c.numpy(), a)
    x = vt.ones(4, dtype=vt.float64, requires_grad=True)
    y = (x * c).sum()
    a[:] = 77
    y.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_a_write_through_a_view_of_a_constant_is_no_fault() -> None:
    a = np.array([1.0, 2.0])
    c = F.reshape(a, (2, 1))
    x = vt.ones(2, 1, dtype=vt.float64, requires_grad=True)
    y = (x * c).sum()
    c.zero_()
    assert a.tolist() == [0.0, 0.0]
    y.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[1.0], [2.0]]


def test_every_way_to_save_a_constant_copies_it() -> None:
    class Product(vt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: vt.Tensor, c: vt.Tensor) -> vt.Tensor:
            ctx.save_for_backward(c)
            return x * c

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return grads[0] * ctx.saved_tensors[0], None

    packed: list[vt.Tensor] = []

    def pack(tensor: vt.Tensor) -> vt.Tensor:
        packed.append(tensor)
        return tensor

    def with_hooks(x: Any, a: Array) -> Any:
        with vt.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            return x * a

    def under_rewind(x: Any, a: Array) -> Any:
        with vt.autograd.graph.allow_mutation_on_saved_tensors():
            return x * a

    calls: list[Callable[[Any, Array], Any]] = [
        with_hooks,
        under_rewind,
        lambda x, a: Product.apply(x, F.reshape(a, (2,))),
        lambda x, a: F.reshape(a, (2,)).requires_grad_() * x,
    ]
    for call in calls:
        a = np.array([2.0, 3.0])
        x = leaf(1.0, 1.0)
        y = call(x, a)
        a[:] = 77
        y.sum().backward()
        assert x.grad.tolist() == [2.0, 3.0]
    assert not np.shares_memory(packed[-1].numpy(), a)


def test_an_array_on_the_memory_that_is_written_is_read_first() -> None:
    memory = np.array([1.0, 2.0, 3.0])
    x: Any = vt.from_numpy(memory)
    with vt.no_grad():
        x.mul_(memory[::-1])
        assert memory.tolist() == [3.0, 4.0, 3.0]
    scale = leaf(1.0, 1.0, 1.0)
    y: Any = scale * 1
    y.mul_(memory)
    y.mul_(y.detach().numpy())  # an array on the memory of y itself
    y.sum().backward()
    assert scale.grad.tolist() == [9.0, 16.0, 9.0]


def test_a_constant_beside_a_tensor_of_a_lane() -> None:
    a = np.array([2.0, 3.0])
    x = leaf(1.0, 1.0).detach().to("lane:0").requires_grad_()
    y = x * a[::-1]
    with vt.no_grad():
        plain = x * a
    a[:] = 77
    assert y.device == plain.device == x.device
    assert plain.tolist() == [2.0, 3.0]
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3.0, 2.0]


def test_what_a_program_keeps_of_an_array_has_memory_of_its_own() -> None:
    a = np.arange(4.0)
    for made in [
        vnp.asarray(a),
        vnp.array(a, copy=None),
        vnp.asanyarray(a),
        vnp.ascontiguousarray(a),
        vnp.reshape(a, (2, 2)),
        vnp.atleast_2d(a),
        vnp.transpose(a),
        vnp.ravel(a),
        vnp.squeeze(a),
        vnp.broadcast_to(a, (3, 4)),
        vnp.split(a, 2)[0],
        vnp.flip(a),
    ]:
        assert not np.shares_memory(made.numpy(), a)
        assert not made._impl.storage.borrowed
    shared = vnp.array(a, copy=False)
    assert np.shares_memory(shared.numpy(), a)
    x = vnp.ones(4).requires_grad_()
    y = x * shared
    a[:] = 77
    assert vt.autograd.grad(y.sum(), x)[0].tolist() == [0.0, 1.0, 2.0, 3.0]
