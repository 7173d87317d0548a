"""A backward that would meet an overwritten value raises before anything has run."""

from __future__ import annotations

import pytest

from tests.support import (
    differs_from_torch,
    grad_list,
    gradients,
    leaf,
    ramp,
    recorded,
    refused,
    vt,
)

on_purpose = differs_from_torch("there nodes before the stale one have already run")


@on_purpose
def test_no_gradient_is_accumulated_when_a_later_node_is_stale() -> None:
    a, b = leaf(2), leaf(2)
    m = b.clone()
    y = (m * m).sum()
    m.add_(1)
    total = y + (a * 3).sum()
    with refused(RuntimeError, "stale-saved", [a, b, m, y, total]):
        total.backward()
    assert a.grad is None
    assert b.grad is None


@on_purpose
def test_a_gradient_that_was_there_before_keeps_its_object_value_and_version() -> None:
    a, b = leaf(2), leaf(2)
    (a * 5).sum().backward()
    before = a.grad
    assert before is not None
    m = b.clone()
    y = (m * m).sum() + (a * 3).sum()
    m.add_(1)
    with refused(RuntimeError, "stale-saved", [before]):
        y.backward()
    assert a.grad is before
    assert before.tolist() == [5, 5]


@on_purpose
def test_no_hook_of_any_kind_runs() -> None:
    log: list[object] = []
    a, b = leaf(2), leaf(2)
    m = b.clone()
    s = (a * 3).sum()
    a.register_hook(recorded(log, "leaf"))
    s.register_hook(recorded(log, "non-leaf"))
    y = (m * m).sum() + s
    y.register_hook(recorded(log, "root"))
    m.add_(1)
    with refused(RuntimeError, "stale-saved"):
        y.backward()
    assert log == []


@on_purpose
def test_retained_gradients_stay_empty() -> None:
    a, b = leaf(2), leaf(2)
    m = b.clone()
    s = a * 3
    s.retain_grad()
    y = (m * m).sum() + s.sum()
    m.add_(1)
    with refused(RuntimeError, "stale-saved"):
        y.backward()
    assert s.grad is None


@on_purpose
def test_the_good_part_of_the_graph_was_not_freed_and_can_still_run() -> None:
    a, b = leaf(2), leaf(2)
    m = b.clone()
    good = (a * a).sum()
    bad = (m * m).sum()
    m.add_(1)
    with refused(RuntimeError, "stale-saved"):
        (good + bad).backward()
    good.backward()
    assert grad_list(a) == [2, 4]


@on_purpose
def test_the_error_tells_both_versions_and_the_node() -> None:
    x = leaf(3)
    y = x.exp()
    s = y.sum()
    y.mul_(2)
    with pytest.raises(RuntimeError) as caught:
        s.backward()
    facts = vars(caught.value)
    assert facts["expected_version"] == 0
    assert facts["found_version"] == 1
    assert "Exp" in str(facts["node"])


@on_purpose
def test_grad_raises_before_anything_runs_as_well() -> None:
    log: list[object] = []
    a, b = leaf(2), leaf(2)
    m = b.clone()
    s = a * 3
    s.register_hook(recorded(log, "s"))
    y = (m * m).sum() + s.sum()
    m.add_(1)
    with refused(RuntimeError, "stale-saved"):
        vt.autograd.grad(y, (a, b))
    assert log == []


def test_a_stale_value_on_a_path_that_is_not_asked_for_does_not_matter() -> None:
    a, b = leaf(2), leaf(2)
    m = b.clone()
    y = (m * m).sum() + (a * a).sum()
    m.add_(1)
    assert gradients(y, a) == [[2, 4]]


def test_a_stale_factor_is_refused_though_the_other_factors_gradient_was_asked_for_before() -> None:
    a, b = leaf(2), leaf(2)
    y = (a * b).sum()
    assert gradients(y, a, retain_graph=True) == [[1, 2]]
    with vt.no_grad():
        a.add_(1)
    with refused(RuntimeError, "stale-saved", [a, b, y]):
        vt.autograd.grad(y, b)


@on_purpose
def test_a_freed_graph_is_noticed_before_anything_runs() -> None:
    a, b = leaf(2), leaf(2)
    part = (b * b).sum()
    part.backward()
    with refused(RuntimeError, "graph-freed"):
        (part + (a * 3).sum()).backward()
    assert a.grad is None
    assert grad_list(b) == [2, 4]


@on_purpose
def test_a_saved_value_that_was_detached_is_noticed_before_anything_runs() -> None:
    a, b = leaf(2), leaf(2).clone()
    part = (b * b).sum()
    b.detach_()
    with refused(RuntimeError, "saved-detached"):
        (part + (a * 3).sum()).backward()
    assert a.grad is None


@on_purpose
def test_a_saved_piece_whose_base_was_written_is_noticed_before_anything_runs() -> None:
    a, b = leaf(2), leaf(2, 3).clone()
    part = b.unbind(0)[0].sin().sum()
    b.mul_(2)
    with refused(RuntimeError, "multi-output-view"):
        (part + (a * 3).sum()).backward()
    assert a.grad is None


@on_purpose
def test_a_gradient_of_the_wrong_shape_is_noticed_before_anything_runs() -> None:
    a, b = leaf(2), leaf(3)
    with refused(RuntimeError, "gradient"):
        vt.autograd.backward([a * 2, b * 2], [ramp(2), ramp(2)])
    assert a.grad is None
    assert b.grad is None


def test_a_write_by_a_hook_during_backward_is_still_caught() -> None:
    # The value is good when backward starts; the hook overwrites it before its node runs.
    a = leaf(2)
    m = a.clone()
    y = (m * m) * 2

    def overwrite(_: vt.Tensor) -> None:
        m.detach().zero_()

    y.register_hook(overwrite)
    with refused(RuntimeError, "stale-saved"):
        y.sum().backward()
    assert a.grad is None


@pytest.mark.storage_rule
def test_an_illegal_write_to_one_region_is_caught_though_another_was_saved() -> None:
    a = leaf(4)
    b = a.clone()
    y = (b[:2] * b[:2]).sum()
    b[3] = 0.0
    with refused(RuntimeError, "stale-saved", [a, b]):
        y.backward()
    assert a.grad is None
