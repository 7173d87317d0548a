"""What a node answers is brought to the shape and dtype of the input that it belongs to."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import GradientError
from vtgrad.graph.node import Node
from vtgrad.graph.set_history import collect_next_edges, set_history
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_base import TensorBase


class _Answers(Node):
    """Answers with what it was given for its one input, whatever arrives."""

    __slots__ = ("answer",)

    answer: vt.Tensor | None

    def apply_arrays(self, grads: Sequence[Array | None], needs: int) -> Sequence[Array | None]:
        """As an array."""
        return (None if self.answer is None else self.answer.detach().numpy(),)

    def apply_tensors(
        self, grads: Sequence[TensorBase | None], needs: int
    ) -> Sequence[TensorBase | None]:
        """As a tensor."""
        return (self.answer,)


def result(x: vt.Tensor, answer: vt.Tensor | None) -> vt.Tensor:
    """A number whose gradient with respect to `x` is what the node answers."""
    node = _Answers(collect_next_edges(x))
    node.answer = answer
    y = vt.zeros((), dtype=vt.float64)
    set_history(y, node)
    return y


def double(*shape: int) -> vt.Tensor:
    return vt.ones(shape, dtype=vt.float64)


COMPLEX = vt.tensor([1 + 5j, 2 + 6j, 3 + 7j], dtype=vt.complex128)
FITTING: dict[str, tuple[vt.Tensor, list[float]]] = {
    "as it is": (vt.tensor([1.0, 2.0, 3.0], dtype=vt.float64), [1, 2, 3]),
    "rows": (double(2, 3), [2, 2, 2]),
    "several dimensions more": (double(4, 2, 3), [8, 8, 8]),
    "another float": (vt.ones(3), [1, 1, 1]),
    "whole numbers": (vt.arange(3), [0, 1, 2]),
    "rows of another float": (vt.ones(2, 3), [2, 2, 2]),
    "complex numbers": (COMPLEX, [1, 2, 3]),
    "rows of complex numbers": (COMPLEX.expand(2, 3), [2, 4, 6]),
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(("answer", "expected"), FITTING.values(), ids=FITTING)
def test_an_answer_is_summed_and_cast(
    answer: vt.Tensor, expected: list[float], create_graph: bool
) -> None:
    x = double(3).requires_grad_()
    (found,) = vt.autograd.grad(result(x, answer), x, create_graph=create_graph)
    assert found.dtype == vt.float64
    assert found.tolist() == expected
    # The answer itself, to which the program may refer, was not written.
    assert answer._version == 0


def test_stretched_dimensions_are_summed_and_kept() -> None:
    x = double(3, 1).requires_grad_()
    (found,) = vt.autograd.grad(result(x, double(2, 3, 4)), x)
    assert found.tolist() == [[8], [8], [8]]


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("shape", [(), (1,), (2,), (3, 1), (2, 2)])
def test_an_answer_that_cannot_be_summed_is_refused(
    shape: tuple[int, ...], create_graph: bool
) -> None:
    x = double(3).requires_grad_()
    with pytest.raises(GradientError) as caught:
        vt.autograd.grad(result(x, double(*shape)), x, create_graph=create_graph)
    assert caught.value.facts["expected"] == (3,)
    assert caught.value.facts["found"] == shape
    assert x.grad is None


@pytest.mark.parametrize("create_graph", [False, True])
def test_no_answer_is_no_gradient(create_graph: bool) -> None:
    x = double(3).requires_grad_()
    y = result(x * 2, None)
    (found,) = vt.autograd.grad(
        y, x, allow_unused=True, retain_graph=True, create_graph=create_graph
    )
    assert found is None
    y.backward()
    assert x.grad is None


def test_what_a_node_keeps_does_not_become_grad() -> None:
    x = double(3).requires_grad_()
    kept = vt.tensor([1.0, 2.0, 3.0], dtype=vt.float64)
    result(x, kept).backward()
    assert x.grad is not None
    assert not np.shares_memory(x.grad.numpy(), kept.numpy())
    x.grad.zero_()
    assert kept.tolist() == [1, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(
    ("dtype", "shape", "rows"),
    [(vt.float16, (4,), 20_000), (vt.float16, (4, 1), 20_000), (vt.float32, (2,), 2**24 + 2**12)],
    ids=["half", "half, stretched", "single"],
)
def test_the_gradient_of_what_was_broadcast_loses_no_digits(
    dtype: vt.dtype, shape: tuple[int, ...], rows: int, create_graph: bool
) -> None:
    bias = vt.zeros(shape, dtype=dtype, requires_grad=True)
    size = (rows, *shape) if len(shape) == 1 else (shape[0], rows)
    (grad,) = vt.autograd.grad(
        (bias + vt.zeros(size, dtype=dtype)).sum(), bias, create_graph=create_graph
    )
    assert grad.reshape(-1).tolist() == [rows] * bias.numel()


Look = Callable[[vt.Tensor], vt.Tensor]


@pytest.mark.parametrize(
    "look",
    [lambda x: x[0], lambda x: x[:1], lambda x: x.t()[0], lambda x: x.as_strided((1,), (1,))],
    ids=["select", "slice", "transposed", "as_strided"],
)
@pytest.mark.parametrize("observed", [False, True])
def test_a_part_of_what_was_transposed_unrecorded_is_refused(look: Look, observed: bool) -> None:
    x = vt.ones(1, 2, requires_grad=True)
    y = x * 2
    with vt.no_grad():
        y.t_()
    part = look(y)
    if observed:
        part.grad_fn.register_hook(lambda answers, grads: None)  # type: ignore[union-attr]  # recorded
    with pytest.raises(GradientError, match=r"gradient of shape \[2, 1\] for its input 0, which"):
        part.sum().backward()
    assert x.grad is None


def test_a_part_of_what_has_a_dimension_more_is_summed_as_the_whole_is() -> None:
    x = vt.ones(2, 3, requires_grad=True)
    y = x * 2
    with vt.no_grad():
        y.unsqueeze_(0)
    y[..., 1:2].sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[0, 2, 0], [0, 2, 0]]
