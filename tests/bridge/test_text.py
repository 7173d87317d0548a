"""What `repr` shows."""

from typing import Any

import pytest

import vtgrad as vt


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (1.5, "tensor(1.5000)"),
        (3, "tensor(3)"),
        ([1.0, 2.0], "tensor([1., 2.])"),
        ([1.5, -20], "tensor([  1.5000, -20.0000])"),
        ([1, -20], "tensor([  1, -20])"),
        ([True, False], "tensor([ True, False])"),
        ([1.0, 1e-5], "tensor([1.0000e+00, 1.0000e-05])"),
        ([1.5, 2000.0], "tensor([1.5000e+00, 2.0000e+03])"),
        ([float("nan"), 1.5], "tensor([   nan, 1.5000])"),
        ([1 + 2j, 3.5 - 1j], "tensor([1.0000+2.j, 3.5000-1.j])"),
        ([-1.5 + 2j, 3.5 - 1j], "tensor([-1.5000+2.j,  3.5000-1.j])"),
        ([complex(-0.0, -0.0), 2 + 1j], "tensor([-0.-0.j, 2.+1.j])"),
        ([complex(1.5, float("nan")), -2j], "tensor([1.5000+nanj, -0.0000-2.j])"),
        # Infinities do not make the others wider.
        ([float("-inf"), 1.0], "tensor([-inf, 1.])"),
        ([1e-9, 2e-9], "tensor([1.0000e-09, 2.0000e-09])"),
        ([1e-5, 0.0], "tensor([1.0000e-05, 0.0000e+00])"),
        ([], "tensor([])"),
        ([[], []], "tensor([], size=(2, 0))"),
        ([[1, 2], [3, 4]], "tensor([[1, 2],\n        [3, 4]])"),
    ],
)
def test_values(data: Any, text: str) -> None:
    assert repr(vt.tensor(data)) == text
    assert str(vt.tensor(data)) == text


def test_a_dtype_is_shown_unless_the_values_tell_it() -> None:
    assert repr(vt.zeros(1, dtype=vt.float64)) == "tensor([0.], dtype=vtgrad.float64)"
    assert repr(vt.zeros(1, dtype=vt.int8)) == "tensor([0], dtype=vtgrad.int8)"
    assert repr(vt.zeros(0, dtype=vt.int64)) == "tensor([], dtype=vtgrad.int64)"
    assert repr(vt.zeros(0, 3, dtype=vt.bool)) == "tensor([], size=(0, 3), dtype=vtgrad.bool)"


def test_gradients_are_shown() -> None:
    x = vt.ones(2, requires_grad=True)
    assert repr(x) == "tensor([1., 1.], requires_grad=True)"
    assert repr(x.clone()) == "tensor([1., 1.], grad_fn=<CloneBackward0>)"
    assert repr(x.detach()) == "tensor([1., 1.])"


def test_a_view_that_lost_its_meaning_is_shown_as_invalid() -> None:
    base = vt.ones(3, requires_grad=True).clone()
    with vt.no_grad():
        view = base[1:]
    base.mul_(2)
    assert repr(view) == "tensor([2., 2.], grad_fn=<Invalid>)"


def test_large_tensors_are_shown_by_their_corners() -> None:
    text = repr(vt.arange(10_000).reshape(100, 100))
    assert len(text.splitlines()) == 7
    assert "..." in text
    assert text.startswith("tensor([[   0,    1,    2,  ...,   97,   98,   99],\n")
    assert "\n        ...,\n" in text
    assert text.endswith("9997, 9998, 9999]])")
    # The corners decide about the width, not what is not shown.
    hidden = vt.zeros(1001)
    hidden[500] = 1e-7
    assert repr(hidden) == "tensor([0., 0., 0.,  ..., 0., 0., 0.])"


def test_lines_are_as_long_as_the_widest_element_allows() -> None:
    # Seven columns of head leave 73, in which elements of two and a comma and space fit 18 times.
    text = repr(vt.full((20,), 1.0))
    assert text.splitlines() == [f"tensor([{'1., ' * 17}1.,", "        1., 1.])"]
    # One column less for each further bracket; rows and matrices are set apart by lines.
    text = repr(vt.full((2, 1, 9), 1.5))
    assert text.splitlines() == [
        f"tensor([[[{'1.5000, ' * 7}1.5000,",
        "          1.5000]],",
        "",
        f"        [[{'1.5000, ' * 7}1.5000,",
        "          1.5000]]])",
    ]


def test_facts_go_to_a_line_of_their_own_when_the_last_one_is_full() -> None:
    text = repr(vt.full((12,), 1.0, dtype=vt.float64, requires_grad=True))
    assert text.splitlines() == [
        "tensor([1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.], dtype=vtgrad.float64,",
        "       requires_grad=True)",
    ]


def test_showing_a_tensor_changes_nothing() -> None:
    base = vt.ones(3, requires_grad=True).clone()
    view = base[1:]
    base.mul_(2)
    version = view._version
    text = repr(view)
    assert "AsStrided" in text or "Slice" in text
    assert view._version == version
    assert repr(view) == text


@pytest.mark.parametrize("dtype", [vt.float16, vt.float32, vt.float64, vt.complex64, vt.complex128])
def test_extreme_values_are_shown_without_warnings(dtype: vt.dtype) -> None:
    info = vt.finfo(dtype)
    text = repr(vt.tensor([info.max, info.min, info.tiny, 0.0, float("-inf")], dtype=dtype))
    assert text.startswith("tensor([")
    assert "-inf" in text


def test_the_smallest_integer_is_shown() -> None:
    assert repr(vt.tensor([-(2**63), 1])) == (
        "tensor([-9223372036854775808,                    1])"
    )
