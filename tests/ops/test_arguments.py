"""Wrong arguments: a clear error of this package, and nothing has changed.

Every operator of the tables is called on its samples with each of its arguments replaced by
everything that may be passed by mistake. What must never come out is an error of NumPy or of the
code inside.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt
from tests.ops.calls import Case, Memory, arguments_of, cases, function_named, tensors_in
from tests.ops.samples import SAMPLES
from tests.sweeping import by_table, sweep
from vtgrad.errors import ArgumentTypeError, VtgradError

MISTAKES: Final[dict[str, Callable[[], object]]] = {
    "None": lambda: None,
    "a text": lambda: "abc",
    "an array": lambda: np.ones((2, 3)),
    "a dict": dict,
    "an object": object,
    "a class": lambda: int,
    "nan": lambda: float("nan"),
    "a fraction": lambda: 1.5,
    "a complex number": lambda: 1j,
    "a negative number": lambda: -100,
    "a large number": lambda: 100,
    "a huge number": lambda: 2**70,
    "integers": lambda: [1, 2],
    "nothing": lambda: (),
    "rows of different length": lambda: [[1, 2], [3]],
    "texts": lambda: ["a", "b"],
    "a dtype": lambda: vt.float32,
    "a 0-d tensor": lambda: vt.tensor(2.5),
    "an integer tensor": lambda: vt.tensor([5, -7, 1]),
    "a bool tensor": lambda: vt.tensor([True, False]),
    "an empty tensor": lambda: vt.empty(0, 3),
    "a tensor of another shape": lambda: vt.ones(4, 5),
    "a tensor of five dimensions": lambda: vt.ones(2, 1, 2, 1, 2),
    "a complex tensor": lambda: vt.tensor([[1j, 2, 3]]),
}

# Operators that only formulas and composites call, with arguments that are right.
INTERNAL: Final = {
    "as_strided_backward",
    "as_strided_forward",
    "as_strided_scatter_at",
    "checked_counts",
    "diagonal_backward",
    "expand_to",
    "exponential_shares",
    "fft_c2c",
    "fft_c2r",
    "fft_r2c",
    "has_power_of_zero",
    "index_at",
    "index_copy_overwritten",
    "index_mask",
    "constant_pad",
    "draw_choices",
    "index_put_at",
    "index_put_overwritten",
    "index_spread",
    "linear_recurrence",
    "masked_spread",
    "one_minus_square",
    "products_of_others",
    "put_selected",
    "repeated_index",
    "running_average",
    "running_average_backward",
    "scatter_overwritten",
    "search_rows",
    "select_backward",
    "share_of_two",
    "slice_backward",
    "sum_to_size",
    "take_selected",
    "take_spread",
    "threshold_backward",
    "to_dtype",
    "unfold_backward",
    "zeros_shaped",
    "_reshape_alias",
    "_unsafe_view",
}

FIRST_SAMPLES: Final = [
    case
    for case in cases(lambda op: op.name not in INTERNAL)
    if case.sample is SAMPLES[case.operator.name][0]
]


def names_of(case: Case) -> list[str]:
    """The operator's functions: as it stands, and in place."""
    own = case.operator
    return [own.name] if own.inplace is None else [own.name, own.inplace]


@pytest.mark.filterwarnings("ignore:.*drops the imaginary part")
@sweep(FIRST_SAMPLES, row=by_table)
def test_mistakes_are_told_and_change_nothing(case: Case) -> None:
    for name in names_of(case):
        function = function_named(name)
        for argument in case.operator.arguments:
            for what, mistake in MISTAKES.items():
                values, options = arguments_of(case, {argument.name: (wrong := mistake())})
                others = [wrong] if isinstance(wrong, vt.Tensor) else []
                before = Memory([*tensors_in(values, options), *others])
                try:
                    function(*values, **options)
                except (VtgradError, UserWarning):
                    # Warnings are errors here, and come before anything is written.
                    before.assert_untouched()
                except Exception as error:
                    pytest.fail(f"{name}, {argument.name}={what}: {error!r}")


@sweep([case for case in FIRST_SAMPLES if case.operator.out], row=by_table)
def test_mistaken_out_is_told(case: Case) -> None:
    function = function_named(case.operator.name)
    for what, mistake in MISTAKES.items():
        wrong = mistake()
        if wrong is None or isinstance(wrong, vt.Tensor):
            continue
        values, options = arguments_of(case)
        before = Memory(tensors_in(values, options))
        try:
            function(*values, **options, out=wrong)
        except ArgumentTypeError:
            before.assert_untouched()
        except Exception as error:
            pytest.fail(f"{case.operator.name}, out={what}: {error!r}")
        else:
            pytest.fail(f"{case.operator.name}, out={what}: accepted")


@sweep(FIRST_SAMPLES, row=by_table)
def test_wrong_number_of_arguments_is_a_type_error(case: Case) -> None:
    function = function_named(case.operator.name)
    values, options = arguments_of(case)
    before = Memory(tensors_in(values, options))
    with pytest.raises(TypeError):
        function(*values, *range(12), **options)
    with pytest.raises(TypeError):
        function()
    with pytest.raises(TypeError):
        function(*values, **options, no_such_argument=1)
    before.assert_untouched()


def test_integer_that_comes_as_a_tensor_is_only_read() -> None:
    """An offset is added to; the caller's tensor must not be."""
    offset = vt.tensor(1)
    x = vt.arange(6.0)
    assert x.as_strided((2,), (2,), offset).tolist()  # type: ignore[arg-type]  # as in PyTorch
    assert x.as_strided((2,), (2,), 1).tolist() == [1.0, 3.0]
    assert offset.item() == 1
    assert offset._version == 0


@pytest.mark.parametrize(
    ("tensor", "kind"),
    [
        (vt.tensor([1.0, 2.0]), "leaf"),
        (vt.tensor([1.0, 2.0], requires_grad=True), "leaf that requires grad"),
        (vt.tensor([1.0, 2.0], requires_grad=True).exp(), "result"),
        (vt.tensor([1.0, 2.0], requires_grad=True).exp()[1:], "view"),
        (vt.tensor(1), "integer scalar"),
        (vt.empty(0, 3), "empty"),
        (vt.tensor([1j]), "complex"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
@pytest.mark.filterwarnings("ignore:.*grad.*:UserWarning", "ignore:.*is deprecated:UserWarning")
def test_every_name_in_dir_is_accessible(tensor: vt.Tensor, kind: str) -> None:
    for name in dir(tensor):
        try:
            getattr(tensor, name)
        except VtgradError:
            # `mT` of a vector, say: documented, and an error of this package.
            pass
        except Exception as error:
            pytest.fail(f"{name} of a {kind}: {error!r}")


def test_an_array_is_an_operand_of_a_write() -> None:
    for name in ("add_", "mul_", "div_", "pow_", "lt_", "floor_divide_"):
        x, y = vt.full((3,), 3.0), vt.full((3,), 3.0)
        getattr(x, name)(np.full(3, 2.0, np.float32))
        getattr(y, name)(vt.full((3,), 2.0))
        assert x.tolist() == y.tolist()
        assert x._version == 1


@pytest.mark.parametrize("shape", [(3,), ()])
def test_an_array_tells_overloads_as_a_tensor_does(shape: tuple[int, ...]) -> None:
    array = np.full(shape, 2.0, np.float32)
    x: Any = vt.ones(3)
    for name in ("pow", "fmod", "remainder", "clamp_min", "clamp_max", "clamp", "rsub"):
        function: Any = getattr(vt, name)
        assert function(x, array).tolist() == function(x, vt.tensor(array)).tolist()
    assert x.lerp(x * 3, array).tolist() == x.lerp(x * 3, vt.tensor(array)).tolist()


def test_an_array_without_dimensions_is_a_value() -> None:
    x: Any = vt.ones(3)
    array = np.array(2.0, np.float32)
    assert x.masked_fill(x > 0, array).tolist() == [2.0, 2.0, 2.0]
    assert x.index_fill(0, vt.tensor([0]), array).tolist() == [2.0, 1.0, 1.0]
