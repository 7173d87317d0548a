"""The rows of the tables keep the names of dimensions, or refuse them: in place and `out=` too."""

import pytest

import vtgrad as vt
from tests.ops.calls import Case, arguments_of, cases, function_named, results_of, tensors_in
from tests.ops.records import RECORDS
from tests.sweeping import by_table, sweep
from vtgrad.errors import NamesError, NamesMismatchError

# Rules by which a result may have no name although an operand has.
LOSING = {"none", "elements", "dot", "diagonal", "matmul", "addmm", "drop dim"}


def _named(x: vt.Tensor, letter: str) -> vt.Tensor:
    """A copy with a name for each dimension."""
    copy = x.detach().clone()
    return copy.rename_(*[f"{letter}{copy.ndim - dim}" for dim in range(copy.ndim)])


def _each_named(case: Case) -> list[tuple[list[object], dict[str, object]]]:
    """The sample's arguments, one tensor of which has names."""
    found = []
    values, options = arguments_of(case)
    for nr, value in enumerate(values):
        if isinstance(value, vt.Tensor) and value.ndim:
            found.append(([*values[:nr], _named(value, "d"), *values[nr + 1 :]], options))
    return found


@sweep(cases(), row=by_table)
def test_names_reach_the_results_or_are_refused(case: Case) -> None:
    function = function_named(case.operator.name)
    writes = case.operator.returns in ("Self", "Geometry")
    values, options = arguments_of(case)
    expected = None if writes else results_of(function(*values, **options))
    for values, options in _each_named(case):
        try:
            results = results_of(function(*values, **options))
        except NamesError:
            continue
        rule = RECORDS[case.operator.name].names
        for result in results:
            assert result.has_names() or not result.ndim or rule in LOSING
        for plain, result in zip(expected or (), results, strict=bool(expected)):
            if "Generator" not in str(case.operator.arguments):
                assert vt.equal(result.rename(None), plain) or bool(plain.isnan().any())
            assert result.shape == plain.shape


@sweep(cases(lambda op: op.inplace is not None), row=by_table)
def test_in_place_the_target_has_the_names_of_the_result(case: Case) -> None:
    """Those that it has, or if it has none, those of the result."""
    assert case.operator.inplace is not None
    function = function_named(case.operator.inplace)
    for values, options in _each_named(case):
        target = values[0]
        assert isinstance(target, vt.Tensor)
        before, version = target.names, target._version
        try:
            result = function(*values, **options)
        except vt.errors.VtgradError:
            assert (target.names, target._version) == (before, version)
            continue
        assert result is target
        assert target.has_names()
        if before != (None,) * len(before):
            assert target.names == before


@sweep(cases(lambda op: op.out and op.returns == "Tensor" and op.names is not None), row=by_table)
def test_out_gets_the_names_of_the_result_or_must_have_them(case: Case) -> None:
    function = function_named(case.operator.name)
    for values, options in _each_named(case):
        try:
            plain = results_of(function(*values, **options))[0]
        except NamesError:
            continue
        out = vt.empty_like(plain.rename(None))
        given = options | {"out": out}
        assert function(*values, **given) is out
        assert out.names == plain.names
        if plain.ndim:
            other = _named(out.rename(None), "z")
            with pytest.raises(NamesMismatchError):
                function(*values, **options, out=other)
            assert tensors_in([other], {})[0]._version == 0
