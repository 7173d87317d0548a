"""Calling the operators of the tables on samples, and watching what that does to memory."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

import vtgrad as vt
from tests.ops.sample import Sample
from tests.ops.samples import SAMPLES
from vtgrad.codegen.language import Operator
from vtgrad.codegen.source_files import OPS
from vtgrad.codegen.tables import read_table
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Array

__all__ = [
    "OPERATORS",
    "Case",
    "Memory",
    "arguments_of",
    "as_array",
    "cases",
    "function_named",
    "function_of_inputs",
    "positions_of_inputs",
    "results_of",
    "tensors_in",
]

TABLES: Final = OPS / "table"
OPERATORS: Final[Mapping[str, Operator]] = {
    operator.name: operator
    for path in sorted(TABLES.glob("*.yaml"))
    for operator in read_table(path)
}


@dataclass(frozen=True)
class Case:
    """One sample of one operator, or a variant of the sample."""

    operator: Operator
    sample: Sample
    nr: int
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.operator.name}-{self.nr}{self.variant}"


def cases(wanted: Callable[[Operator], bool] = lambda _: True) -> list[Case]:
    """All samples of the operators that are wanted."""
    return [
        Case(operator, sample, nr)
        for operator in OPERATORS.values()
        if wanted(operator)
        for nr, sample in enumerate(SAMPLES.get(operator.name, []))
    ]


def function_named(name: str) -> Callable[..., object]:
    """An operator as a function."""
    function: Callable[..., object] = getattr(F, name)
    return function


def arguments_of(
    case: Case, replaced: Mapping[str, object] | None = None
) -> tuple[list[object], dict[str, object]]:
    """The sample's arguments with new tensors for arrays; some of them replaced by others."""
    values: list[object] = []
    options = dict(case.sample.options)
    given = replaced or {}
    for argument, value in zip(case.operator.arguments, case.sample.arguments, strict=False):
        values.append(given.get(argument.name, _tensors(value)))
    for name, value in options.items():
        options[name] = given.get(name, _tensors(value))
    return values, options


def _tensors(value: object) -> object:
    if isinstance(value, np.ndarray):
        return vt.tensor(value)
    if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
        return [vt.tensor(x) for x in value]
    return value


def tensors_in(values: Sequence[object], options: Mapping[str, object]) -> list[vt.Tensor]:
    """All tensors among the arguments."""
    found: list[vt.Tensor] = []
    for value in [*values, *options.values()]:
        if isinstance(value, vt.Tensor):
            found.append(value)
        elif isinstance(value, list):
            found += [x for x in value if isinstance(x, vt.Tensor)]
    return found


def results_of(returned: object) -> tuple[vt.Tensor, ...]:
    """What an operator returned, as a tuple."""
    if isinstance(returned, vt.Tensor):
        return (returned,)
    assert isinstance(returned, tuple)
    assert all(isinstance(x, vt.Tensor) for x in returned)
    return returned


class Memory:
    """The bytes, versions and geometries of tensors at one moment."""

    def __init__(self, tensors: Sequence[vt.Tensor]) -> None:
        self.tensors = tuple(tensors)
        self.bytes = tuple(x.numpy(force=True).tobytes() for x in tensors)
        self.versions = tuple(x._version for x in tensors)
        self.geometries = tuple((x.shape, x.stride(), x.storage_offset()) for x in tensors)

    def assert_untouched(self) -> None:
        """Neither the memory nor a version has changed since."""
        now = Memory(self.tensors)
        assert now.bytes == self.bytes
        assert now.versions == self.versions
        assert now.geometries == self.geometries

    def assert_first_written(self) -> None:
        """The first tensor has been written, once, and no other."""
        now = Memory(self.tensors)
        assert now.bytes[0] != self.bytes[0], "the sample leaves the memory as it was"
        assert now.versions[0] == self.versions[0] + 1
        assert now.bytes[1:] == self.bytes[1:]
        assert now.versions[1:] == self.versions[1:]


def as_array(value: object) -> Array:
    """What NumPy computed, as an array."""
    result: Array = np.asarray(value)
    return result


def positions_of_inputs(case: Case) -> list[tuple[int | str, int | None]]:
    """Where the sample has arrays that a formula is about: positions, and positions in lists."""
    edged = {a.name for a in case.operator.edged}
    names = [a.name for a in case.operator.arguments]
    found: list[tuple[int | str, int | None]] = []
    given: list[tuple[int | str, str, object]] = [
        (nr, names[nr], value) for nr, value in enumerate(case.sample.arguments)
    ]
    given += [(name, name, value) for name, value in case.sample.options.items()]
    for position, name, value in given:
        if name not in edged:
            continue
        if isinstance(value, list):
            found += [(position, nr) for nr in range(len(value))]
        elif isinstance(value, np.ndarray) and value.dtype.kind in "fc":
            found.append((position, None))
    return found


def function_of_inputs(
    case: Case, name: str, *, inplace: bool
) -> tuple[Callable[..., Sequence[vt.Tensor]], list[Array]]:
    """The operator as a function of what its formulas are about, and the sample's values of that.

    Parameters
    ----------
    name : str
        The operator's, or that of one that writes.
    inplace : bool
        Whether it writes to its first argument: then it gets a copy.
    """
    positions = positions_of_inputs(case)
    function = function_named(name)

    def apply(*inputs: vt.Tensor) -> Sequence[vt.Tensor]:
        values, options = arguments_of(case)
        for (position, nr), x in zip(positions, inputs, strict=True):
            if isinstance(position, str):
                options[position] = x
            elif nr is None:
                values[position] = x
            else:
                listed = values[position]
                assert isinstance(listed, list)
                listed[nr] = x
        if inplace:
            assert isinstance(values[0], vt.Tensor)
            values[0] = values[0].clone()
        return results_of(function(*values, **options))

    arrays = []
    for position, nr in positions:
        value = (
            case.sample.options[position]
            if isinstance(position, str)
            else case.sample.arguments[position]
        )
        arrays.append(as_array(value if nr is None else value[nr]))  # type: ignore[index]  # a list
    return apply, arrays
