"""What of an operator was tried is counted, promised, and refused when it is too little."""

import numpy as np
import pytest

import vtgrad as vt
from tests.stateful.operators import RIGHT
from vtgrad.testing.checking import Coverage, CoverageError, Rule, check
from vtgrad.testing.coverage import COLUMNS
from vtgrad.testing.layouts import LAYOUTS, base_of, can_have, layout_of, seen_in, view_for

#: The operators that are defined for all shapes, by name.
EVERYWHERE = ("sine", "cube", "swish")
RULES = {rule.name: rule for rule in RIGHT}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_view_has_the_layout_that_it_is_made_for(layout: str) -> None:
    some = [(), (3,), (2, 3), (2, 2, 2), (0, 2), *([(1, 3)] if layout == "size 1" else [])]
    shapes = [shape for shape in some if can_have(layout, shape)]
    assert shapes
    for shape in shapes:
        array = seen_in(layout, np.arange(float(np.prod(shape))).reshape(shape))
        below = base_of(layout, array)
        base = vt.tensor(below.tolist(), dtype=vt.float64).reshape(below.shape)
        call = view_for(layout, shape)
        view = base if call is None else eval(call.source("base"), {"base": base})
        np.testing.assert_array_equal(view.numpy(), array)
        assert layout_of(view.shape, view.stride()) == layout


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERYWHERE)
def test_each_layout_is_differentiated_once_and_twice(name: str) -> None:
    coverage = check(RULES[name], programs=5)
    assert coverage.missing(name) == ()
    assert coverage.share(name) == 1
    for layout in LAYOUTS:
        assert coverage.count(name, layout, "called") > 0
        assert coverage.count(name, layout, "g contiguous") > 0
        assert coverage.count(name, layout, "twice") > 0
        has_order = layout not in ("0-d", "empty")
        assert (coverage.count(name, layout, "g expanded") > 0) == has_order
        takes_tangents = name != "cube"
        assert (coverage.count(name, layout, "forward") > 0) == takes_tangents
    for layout in ("contiguous", "transposed", "stepped", "reversed", "expanded"):
        assert coverage.count(name, layout, "g strided") > 0
    assert coverage.calls[name] > 0


@pytest.mark.slow
def test_coverage_is_printed_as_a_table() -> None:
    coverage = check(RULES["swish"], programs=5)
    lines = str(coverage).splitlines()
    assert lines[0].startswith("swish: called ")
    assert all(column in lines[1] for column in COLUMNS)
    assert [line.rsplit(maxsplit=6)[0].strip() for line in lines[2:]] == list(LAYOUTS)


@pytest.mark.slow
def test_an_operator_that_is_tried_too_little_is_an_error() -> None:
    rule = Rule("vectors", lambda x: x * 2, lambda x: x * 2, accepts=lambda x: x.shape == (3,))
    with pytest.raises(CoverageError, match="vectors was tried in 50% of the layouts") as found:
        check(rule, programs=20, floor=0.6)
    assert found.value.coverage.missing("vectors") == ("transposed", "0-d", "empty", "size 1")
    assert "not tried: transposed, 0-d, empty, size 1" in str(found.value)
    assert isinstance(check(rule, programs=20, floor=0.5), Coverage)


@pytest.mark.slow
def test_the_floor_counts_what_the_stated_shapes_allow() -> None:
    square = Rule("square", lambda x: x * 2, lambda x: x * 2, shapes=[(4, 4)])
    coverage = check(square, programs=10, floor=1)
    assert coverage.missing("square") == ()
    assert coverage.count("square", "reversed", "g expanded") > 0
    assert coverage.calls["square"] > 20


def test_an_operator_that_nothing_fits_is_reported() -> None:
    rule = Rule("never", lambda x: x, lambda x: x, accepts=lambda x: False)
    with pytest.raises(CoverageError, match="never was tried in 0% of the layouts"):
        check(rule, programs=2)


def test_an_operator_that_no_random_program_could_call_is_reported() -> None:
    rule = Rule("rare", lambda x: x * 1, lambda x: x + 0)
    with pytest.raises(CoverageError, match="no program could call rare"):
        check(rule, programs=1)


def test_an_operator_without_gradients_has_only_to_be_called() -> None:
    rule = Rule("signs", lambda x: x > 0, lambda x: x > 0)
    coverage = check(rule, programs=10)
    assert coverage.missing("signs") == ()
    assert coverage.count("signs", "reversed", "called") > 0
    assert coverage.count("signs", "reversed", "g contiguous") == 0
