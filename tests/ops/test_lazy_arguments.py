"""Every operator with lazy conjugates and negatives in place of plain tensors.

A kernel that strips the bits from an array, as ``np.asarray(x)``, ``plain[...] = x`` or
``plain[x]`` do, computes with other values than the tensor shows. Nothing tells it apart at sight,
so each operator of the tables is called once with plain tensors and once with lazy ones.
"""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import pytest

import vtgrad as vt
from tests.ops.calls import OPERATORS, Case, as_array, cases, function_named, results_of
from tests.ops.sample import Sample
from tests.ops.samples import DRAWN
from tests.sweeping import sweep
from vtgrad.errors import VtgradError
from vtgrad.storage.arrays import Array

# Each is short, but there are thousands.
pytestmark = pytest.mark.slow

KINDS: Final = ("conj", "neg", "both")


def memory_of(values: Array, kind: str) -> Array:
    """What memory holds for these values."""
    if kind in ("conj", "both"):
        values = values.conj()
    return -values if kind in ("neg", "both") else values


def lazy_view(memory: vt.Tensor, kind: str) -> vt.Tensor:
    """The view of memory that shows the values."""
    if kind in ("conj", "both"):
        memory = memory.conj()
    return memory._neg_view() if kind in ("neg", "both") else memory


def takes(values: object, kind: str) -> bool:
    """Whether an argument can be of a kind: only complex numbers have other conjugates."""
    if not isinstance(values, np.ndarray) or values.dtype.kind == "b":
        return False
    return kind == "neg" or values.dtype.kind == "c"


class Call:
    """One call of an operator, with plain or with lazy tensors.

    Parameters
    ----------
    case : Case
        The sample.
    kind : str or None
        How tensors are lazy; None for plain ones.
    which : str
        Which of several tensors are lazy: ``"all"``, the ``"first"`` or the ``"rest"``.
    function : str
        The operator's name, or its in-place variant's.
    """

    def __init__(self, case: Case, kind: str | None, function: str, which: str = "all") -> None:
        self.kind = kind
        self.which = which
        self.inputs: list[vt.Tensor] = []
        self.leaves: list[vt.Tensor] = []
        self.lazy_leaves: list[bool] = []
        self.values = [self._passed(x) for x in case.sample.arguments]
        self.options = {name: self._passed(x) for name, x in case.sample.options.items()}
        self.function = function_named(function)
        # Backward through the others raises, whatever they are given.
        self.is_differentiable = not case.operator.undifferentiable

    def _passed(self, value: object) -> object:
        if isinstance(value, list):
            return [self._passed(x) for x in value]
        if not isinstance(value, np.ndarray):
            return value
        kind = self.kind
        left_out = self.which == ("rest" if not self.inputs else "first")
        if kind is None or left_out or not takes(value, kind):
            tensor = vt.tensor(value)
            if value.dtype.kind in "fc":
                self.leaves.append(tensor.requires_grad_())
                self.lazy_leaves.append(False)
                tensor = tensor.clone()
        else:
            memory = vt.tensor(memory_of(value, kind))
            if value.dtype.kind in "fc":
                self.leaves.append(memory.requires_grad_())
                self.lazy_leaves.append(True)
                memory = memory.clone()
            tensor = lazy_view(memory, kind)
            assert tensor.is_conj() or tensor.is_neg()
        self.inputs.append(tensor)
        return tensor

    def run(self) -> tuple[vt.Tensor, ...]:
        """The results; the same random numbers each time."""
        vt.manual_seed(5)
        return results_of(self.function(*self.values, **self.options))


def outcome(call: Callable[[], Sequence[vt.Tensor]]) -> Sequence[vt.Tensor] | type[Exception]:
    """The results, or the class of the library's error."""
    try:
        return call()
    except VtgradError as error:
        return type(error)


def complexified(value: object) -> object:
    """The same with floats made complex."""
    if isinstance(value, list):
        return [complexified(x) for x in value]
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return value + 0.3j * np.flip(value)
    return value


def complex_case(case: Case) -> Case:
    """The case with complex numbers for floats."""
    given = case.sample
    arguments = tuple([complexified(x) for x in given.arguments])
    options = {name: complexified(x) for name, x in given.options.items()}
    return Case(case.operator, Sample(None, arguments, options), case.nr, "-complex")


def single(value: object) -> object:
    """The same with one number for an array, without dimensions."""
    if isinstance(value, list):
        return [single(x) for x in value]
    return value[(0,) * value.ndim] if isinstance(value, np.ndarray) and value.size else value


def single_case(case: Case) -> Case:
    """The case with 0-d tensors: kernels treat them apart, and NumPy makes scalars of them."""
    given = case.sample
    names = [a.name for a in case.operator.arguments]
    arguments = tuple(
        [
            0 if name == "dim" else as_array(x) if isinstance(x, np.generic) else x
            for name, x in zip(names, map(single, given.arguments), strict=False)
        ]
    )
    options = {
        name: as_array(x) if isinstance(x, np.generic) else x
        for name, x in ((name, single(x)) for name, x in given.options.items())
    }
    return Case(case.operator, Sample(None, arguments, options), case.nr, "-single")


def is_complex(case: Case) -> bool:
    """Whether an argument is complex."""
    given = [*case.sample.arguments, *case.sample.options.values()]
    flat = [y for x in given for y in (x if isinstance(x, list) else [x])]
    return any(isinstance(x, np.ndarray) and x.dtype.kind == "c" for x in flat)


def count_of_tensors(case: Case) -> int:
    """How many tensors the call takes."""
    given = [*case.sample.arguments, *case.sample.options.values()]
    flat = [y for x in given for y in (x if isinstance(x, list) else [x])]
    return sum(isinstance(x, np.ndarray) for x in flat)


# Theirs is to make or to read what is lazy.
_ABOUT_LAZINESS: Final = {
    # Of a temporary that has no other holder: never of a lazy one.
    "_unsafe_view",
    "view_as_real",
    "view_as_complex",
    "conj_view",
    "_neg_view",
}
CASES: Final = [
    (case, kind, which)
    for plain in cases(lambda op: op.name not in _ABOUT_LAZINESS)
    for made, case in ((False, plain), (True, complex_case(plain)))
    for kind in KINDS
    if (made or kind == "neg" or is_complex(case)) and (not made or is_complex(case))
    for which in (
        ("all", "first", "rest") if count_of_tensors(case) > 1 and kind != "both" else ("all",)
    )
]


def assert_same(found: Sequence[vt.Tensor], expected: Sequence[vt.Tensor]) -> None:
    """The same values."""
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        assert x.dtype == y.dtype
        a, b = x.detach().numpy(force=True), y.detach().numpy(force=True)
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


def gradients(call: Call, results: Sequence[vt.Tensor]) -> list[vt.Tensor]:
    """Gradients of the inputs, and those of a function of them."""
    inputs = [x for x in call.inputs if x.requires_grad]
    outputs = [y for y in results if y.requires_grad]
    if not inputs or not outputs or not call.is_differentiable:
        return []
    weights = [_ramp(y) for y in outputs]
    first = vt.autograd.grad(outputs, inputs, weights, create_graph=True, materialize_grads=True)
    over_arrays = vt.autograd.grad(
        outputs, inputs, weights, retain_graph=True, materialize_grads=True
    )
    assert all(not g.is_conj() and not g.is_neg() for g in over_arrays)
    assert_same(first, over_arrays)
    recorded = [g for g in first if g.requires_grad]
    if not recorded:
        return list(first)
    second = vt.autograd.grad(
        recorded, inputs, [_ramp(g) for g in recorded], materialize_grads=True
    )
    return [*first, *second]


def gradients_of_leaves(call: Call, result: vt.Tensor) -> list[vt.Tensor]:
    """The same for what the inputs were made from, as if that held the values."""

    def of(outputs: Sequence[vt.Tensor]) -> list[vt.Tensor]:
        weights = [_ramp(y) for y in outputs]
        found = vt.autograd.grad(
            outputs, call.leaves, weights, create_graph=True, materialize_grads=True
        )
        return [
            lazy_view(g, call.kind) if lazily and call.kind is not None else g
            for g, lazily in zip(found, call.lazy_leaves, strict=True)
        ]

    if not result.requires_grad:
        return []
    first = of([result])
    recorded = [g for g in first if g.requires_grad]
    return [*first, *of(recorded)] if recorded else first


def _ramp(like: vt.Tensor) -> vt.Tensor:
    numbers = np.linspace(0.5, 1.5, max(like.numel(), 1))[: like.numel()].reshape(like.shape)
    return vt.tensor(numbers if not like.is_complex() else numbers * (1 - 0.5j)).to(like.dtype)


# Steps of other operators, which see to it that there are dimensions.
_CHECKED_BEFORE: Final = {
    "_reshape_alias",
    "fft_c2c",
    "fft_c2r",
    "fft_r2c",
    "fft_scale_pairs",
    "linalg_cross",
    "put_selected",
    "scatter_overwritten",
    "search_rows",
    "unfold_backward",
}
SINGLE: Final = [
    single_case(case)
    for case in cases(lambda op: op.name not in _ABOUT_LAZINESS | _CHECKED_BEFORE | DRAWN)
]


@sweep(SINGLE)
def test_lazy_tensors_without_dimensions_give_what_plain_ones_give(case: Case) -> None:
    name = case.operator.name
    expected, found = outcome(Call(case, None, name).run), outcome(Call(case, "neg", name).run)
    if isinstance(expected, type):
        assert found is expected
        return
    assert not isinstance(found, type), found
    assert_same(found, expected)


@sweep(CASES)
def test_lazy_arguments_give_what_plain_ones_give(case: Case, kind: str, which: str) -> None:
    name = case.operator.name
    plain, lazy = Call(case, None, name), Call(case, kind, name, which)
    expected, found = outcome(plain.run), outcome(lazy.run)
    if isinstance(expected, type):
        assert found is expected
        return
    assert not isinstance(found, type), found
    assert_same(found, expected)
    if not case.operator.is_view and case.operator.returns in {"Tensor", "tuple"}:
        assert all(type(y._impl.array) is np.ndarray for y in found)
    if name not in DRAWN and lazy.is_differentiable:
        assert_same(gradients(lazy, found), gradients(plain, expected))


def writes(case: Case) -> bool:
    """Whether the operator has an in-place variant or is one."""
    return case.operator.inplace is not None or case.operator.returns == "Self"


@sweep([arguments for arguments in CASES if writes(arguments[0])])
def test_in_place_operators_write_through_lazy_tensors(case: Case, kind: str, which: str) -> None:
    name = case.operator.inplace or case.operator.name
    plain, lazy = Call(case, None, name), Call(case, kind, name, which)
    if which == "rest" or not takes(case.sample.arguments[0], kind):
        # That the other operands are lazy is the same for the out-of-place operator.
        return
    target = lazy.inputs[0]
    base = target._base
    assert base is not None
    before = target._version
    expected, found = outcome(plain.run), outcome(lazy.run)
    if isinstance(expected, type):
        assert found is expected
        assert target._version == before
        return
    assert not isinstance(found, type), found
    assert found[0] is target
    assert target._version == base._version == before + 1
    assert target.is_conj() is (kind in ("conj", "both"))
    assert target.is_neg() is (kind in ("neg", "both"))
    assert_same(found, expected)
    stored = memory_of(expected[0].detach().numpy(), kind)
    np.testing.assert_allclose(base.detach().numpy(), stored, rtol=1e-11, atol=1e-12)
    if name not in DRAWN and lazy.is_differentiable:
        assert_same(gradients_of_leaves(lazy, found[0]), gradients_of_leaves(plain, expected[0]))


@sweep(cases(lambda op: op.out), KINDS)
def test_out_is_written_through_lazy_tensors(case: Case, kind: str) -> None:
    name = case.operator.name
    plain = Call(case, None, name)
    with vt.no_grad():
        expected = outcome(plain.run)
        if isinstance(expected, type):
            return
        if not all(takes(y.numpy(), kind) for y in expected):
            return
        memories = [vt.full_like(y, 7) for y in expected]
        outs = tuple(lazy_view(m, kind) for m in memories)
        plain.options["out"] = outs if len(outs) > 1 else outs[0]
        found = plain.run()
    assert_same(found, expected)
    for memory, y in zip(memories, expected, strict=True):
        np.testing.assert_allclose(memory.numpy(), memory_of(y.numpy(), kind), rtol=1e-11)


def test_the_sweep_is_about_every_operator() -> None:
    swept = {case.operator.name for case, _, _ in CASES}
    assert set(OPERATORS) - swept == _ABOUT_LAZINESS
