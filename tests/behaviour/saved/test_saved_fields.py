"""What a node tells of itself: what it saved, its results, whether it passes gradients on."""

from __future__ import annotations

import pytest

from tests.support import leaf, node_of, ramp, vt


def saved(x: vt.Tensor, name: str) -> object:
    """Give what the producer of `x` saved under a name."""
    return getattr(x.grad_fn, f"_saved_{name}")


def test_a_saved_input_is_the_very_tensor() -> None:
    a, b = leaf(3), leaf(3) * 2
    product = a * b
    assert saved(product, "self") is a
    assert saved(product, "other") is b
    assert saved(a * ramp(3), "self") is None


def test_a_saved_result_has_its_producer_and_its_version() -> None:
    y = leaf(3).exp()
    result = saved(y, "result")
    assert isinstance(result, vt.Tensor)
    assert result.tolist() == y.tolist()
    assert result.grad_fn is y.grad_fn
    assert result._version == 0


def test_what_is_saved_beside_tensors_has_its_name_too() -> None:
    x = leaf(2, 3)
    assert saved(x.select(1, 2), "dim") == 1
    assert saved(x.select(1, 2), "index") == 2
    assert saved(x.sum(), "self_sym_sizes") == (2, 3)
    assert saved(vt.add(x, x, alpha=3), "alpha") == 3
    assert saved(x.pow(2), "exponent") == 2
    with pytest.raises(AttributeError):
        saved(x.sin(), "nothing")


def test_index_tensors_are_at_their_dimensions() -> None:
    x, columns = leaf(2, 3), vt.tensor([0, 2])
    indices = saved(x[:, columns], "indices")
    assert isinstance(indices, tuple)
    assert indices[0] is None
    assert indices[1].tolist() == [0, 2]


def test_saved_values_are_checked_as_in_backward() -> None:
    b = leaf(3) * 2
    y = b * b
    b.add_(1)
    with pytest.raises(RuntimeError):
        saved(y, "self")
    z = leaf(3).exp()
    z.sum().backward()
    with pytest.raises(RuntimeError):
        saved(z, "result")


def test_a_node_knows_its_results() -> None:
    values, indices = leaf(2, 3).max(0)
    metadata = node_of(values)._input_metadata
    assert tuple(metadata[0].shape) == (3,)
    assert metadata[0].dtype is vt.float64
    assert metadata[0].device == values.device
    assert not indices.requires_grad


def test_nodes_are_numbered_as_they_are_recorded() -> None:
    x = leaf(3)
    first, second = x * 2, x * 3
    assert node_of(second)._sequence_nr() == node_of(first)._sequence_nr() + 1


def test_a_node_tells_whether_it_passes_gradients_on() -> None:
    x = leaf(3)
    node = node_of(x * 2)
    assert node.requires_grad
    below = node.next_functions[0][0]
    assert below is not None
    assert below.requires_grad
