"""Views that are made again: from bases that lie anywhere in their storage, by steps."""

import pytest

import vtgrad as vt
from vtgrad.errors import NotSupportedError
from vtgrad.storage.dtypes import DType
from vtgrad.views.differentiable_view_meta import view_meta_of
from vtgrad.views.view_fn import Replay, Restride


def base_at(offset: int, dtype: DType = vt.complex128) -> vt.Tensor:
    """A tensor of 4 elements that is no view and does not begin with its storage."""
    return vt.ones(offset + 4, dtype=dtype).detach()[offset:].detach()


def replay_of(view: vt.Tensor) -> Replay:
    """How a view is made again."""
    meta = view_meta_of(view)
    assert meta is not None
    assert meta.view_fn is not None
    return meta.view_fn


@pytest.mark.parametrize("offset", [0, 1, 3])
def test_a_write_to_a_part_of_a_base_with_an_offset(offset: int) -> None:
    base = base_at(offset)
    weight = vt.tensor([3.0, 4.0], dtype=vt.float64, requires_grad=True)
    base.imag[1:3].mul_(weight)
    assert base.imag.tolist() == [0, 0, 0, 0]
    base.real[1:3].mul_(weight)
    assert base.real.tolist() == [1, 3, 4, 1]
    (base * base).real.sum().backward()
    assert weight.grad is not None
    assert weight.grad.tolist() == [6, 8]


@pytest.mark.parametrize("offset", [0, 2])
def test_complex_numbers_in_a_real_base_with_an_offset(offset: int) -> None:
    base = base_at(offset, vt.float64)
    weight = vt.tensor([2 + 1j], dtype=vt.complex128, requires_grad=True)
    vt.view_as_complex(base[2:].view(1, 2)).mul_(weight)
    assert base.tolist() == [1, 1, 1, 3]
    (first,) = vt.autograd.grad((base * base).sum(), weight, create_graph=True)
    # (1 + 1j) * (a + bj) is (a - b, a + b): the sum of squares is 2 (a * a + b * b).
    assert first.tolist() == [8 + 4j]
    (second,) = vt.autograd.grad(first.real.sum(), weight)
    assert second.tolist() == [4]


def test_a_real_base_that_begins_in_the_middle_of_a_number_is_refused() -> None:
    base = base_at(1, vt.float64)
    view = vt.view_as_complex(base[1:3].view(1, 2))
    weight = vt.tensor([2 + 1j], dtype=vt.complex128, requires_grad=True)
    with pytest.raises(NotSupportedError):
        view.mul_(weight)
    assert base.tolist() == [1, 1, 1, 1]
    assert base._version == 0
    assert not base.requires_grad
    view.mul_(weight.detach())
    assert base.tolist() == [1, 1, 3, 1] or base.tolist() == [1, 1, 1, 3]


def test_the_steps_are_what_strides_cannot_express_and_geometries() -> None:
    z = vt.zeros(2, 3, dtype=vt.complex64)
    steps = replay_of(z[1].conj()[1:]).steps
    assert [isinstance(step, Restride) for step in steps] == [True, False, True]
    assert [isinstance(step, Restride) for step in replay_of(z.conj()).steps] == [False]
    meta = view_meta_of(z[1])
    assert meta is not None
    assert meta.view_fn is None


def test_a_metadata_operator_is_a_step_if_it_changes_something() -> None:
    z = vt.zeros(2, 3, dtype=vt.complex64)
    c = z.conj()
    c.squeeze_()
    assert len(replay_of(c).steps) == 1
    c.t_()
    assert len(replay_of(c).steps) == 2
    replayed = replay_of(c)(z)
    assert isinstance(replayed, vt.Tensor)
    assert replayed.shape == (3, 2)
    assert replayed.is_conj()


def test_a_retained_gradient_survives_writes_to_other_parts() -> None:
    x = vt.tensor([1 + 2j, 3 - 1j], dtype=vt.complex128, requires_grad=True)
    z = x.clone()
    part = z.real[:1]
    part.retain_grad()
    early = part * 5
    z.imag.mul_(2)
    z[1].mul_(3)
    (early + part).sum().backward()
    assert part.grad is not None
    assert part.grad.tolist() == [6]


def test_a_retained_gradient_begins_anew_when_its_part_is_written() -> None:
    x = vt.tensor([1 + 2j, 3 - 1j], dtype=vt.complex128, requires_grad=True)
    z = x.clone()
    part = z.imag[:1]
    part.retain_grad()
    early = part * 5
    z[0].mul_(1j)
    (early + part).sum().backward()
    assert part.grad is not None
    assert part.grad.tolist() == [1]
