"""What is found out about a rule before the first program."""

from collections.abc import Callable, Sequence
from math import prod
from typing import cast

from vtgrad.testing.custom import Rule
from vtgrad.testing.invocation import Array, Outcome
from vtgrad.testing.libraries import Library, TensorLike
from vtgrad.testing.model import SkippedError
from vtgrad.testing.modes import modes_kept
from vtgrad.testing.samples import Sample, samples

__all__ = ["checked"]

#: The model has second derivatives of each element by each two; a complex one counts twice.
_MOST_TAKEN, _MOST_MADE = 64, 256

_NOTHING = ("", "")
_PUT_FIRST = (
    "must be of the first operand, and `call` writes to another one: put that one first, as in "
    "`call=lambda y, x: f(x, y)`"
)
_NAME_IT = "must name all operands that `call` returns views of"
_WRITES_AND_RETURNS = (
    "cannot be both, the operand that is written and another tensor: test the write with a `call` "
    "that returns the operand, and what is returned with one that is given a clone"
)


def checked(rule: Rule, library: Library) -> Rule:
    """Call the operator and the functions of a rule on many operands; return what is known then.

    Raises
    ------
    RuleError
        If one raises or returns something that it must not, if the results of `reference` have
        never the shape and dtype of those of `call`, which may be wrong in some places only, or if
        `call` always does what a rule cannot say.
    """
    agrees = False
    unsayable: set[tuple[str, str]] = set()
    complaints: list[str] = []
    views: set[bool] = set()
    homes: dict[int, set[int]] = {}
    for sample in samples(rule):
        call, arrays = sample.invocation, sample.arrays()
        outcome = call.outcome(arrays)
        _check_size(rule, sample, outcome)
        try:
            if rule.result in ("view", "pieces"):
                for nr, (subject, positions) in enumerate(call.picked(arrays)):
                    if positions.size:
                        homes.setdefault(nr, set()).add(call.variables[subject])
            else:
                call.jacobian(arrays)
        except SkippedError:
            continue  # a difference may lead out of where the operator is defined
        operands, found = _called(sample, library)
        if not any(0 in operand.shape for operand in operands):
            unsayable.add(_unsayable(rule, operands, found))
        found = operands[0] if rule.result == "written" and found is not None else found
        complaint = _difference(sample, outcome, found)
        views.update(_views(operands, found))
        agrees = agrees or complaint == ""
        complaints += [complaint] if complaint else []
    if len(unsayable) == 1 and unsayable != {_NOTHING}:
        raise rule.error(*unsayable.pop())
    if complaints and not agrees:
        raise rule.error("reference", f"must return what `call` does, {complaints[0]}")
    one = {nr: min(found) for nr, found in homes.items() if len(found) == 1}
    return rule.noted(
        hides_bases=rule.result == "new" and views == {True},
        homes=one if len(rule.views_of) > 1 else {},
    )


def _check_size(rule: Rule, sample: Sample, outcome: Outcome) -> None:
    """Refuse operands and results of which the model would fill the memory."""
    for what, shapes, most in (
        ("operands", sample.shapes, _MOST_TAKEN),
        ("results", [array.shape for array in outcome.arrays], _MOST_MADE),
    ):
        count = sum(map(prod, shapes))
        if count > most:
            told = f"{what} of shapes {list(shapes)} have {count} elements, of at most {most}"
            raise rule.error("shapes", f"must be smaller: {told}")


def _called(sample: Sample, library: Library) -> tuple[list[TensorLike], object]:
    """Call the operator; return its operands and what it returned, None if it fails."""
    arrays = sample.invocation.operands(sample.arrays())
    operands = [_tensor(library, a, d) for a, d in zip(arrays, sample.typing, strict=True)]
    options = {name: v for name, v in sample.options.items() if name in sample.rule.options}
    call: Callable[..., object] = sample.rule.call
    try:
        with modes_kept(library):
            found = call(*operands, **options)
    except Exception:  # noqa: BLE001 - any error of the operator is one for the programs
        return operands, None
    return operands, found


def _unsayable(rule: Rule, operands: Sequence[TensorLike], found: object) -> tuple[str, str]:
    """Return the argument that cannot say what the operator has done, and what it must be."""
    homes = [_home(operand) for operand in operands]
    subjects = {homes[operand] for operand in rule.views_of}
    others = [home for home in map(_home, _parts(found)) if home not in subjects]
    if rule.result == "written":
        first, *rest = (operand._version > 0 for operand in operands)
        if first and others:
            return "result", _WRITES_AND_RETURNS
        return ("result", _PUT_FIRST) if any(rest) and not first else _NOTHING
    if rule.result == "new" or not others:
        return _NOTHING
    return ("views_of", _NAME_IT) if set(others) <= set(homes) else _NOTHING


def _parts(found: object) -> list[TensorLike]:
    """The tensors among what an operator has returned."""
    returned = found if isinstance(found, tuple | list) else [found]
    return cast("list[TensorLike]", [one for one in returned if hasattr(one, "storage_offset")])


def _home(tensor: TensorLike) -> int:
    return tensor.untyped_storage().data_ptr()


def _views(operands: Sequence[TensorLike], found: object) -> set[bool]:
    """Say of results that are views whether they are on other memory than all operands."""
    taken = set(map(_home, operands))
    return {
        _home(part) not in taken
        for part in _parts(found)
        if part._is_view() and 0 not in part.shape  # nothing is nowhere
    }


def _difference(sample: Sample, outcome: Outcome, found: object) -> str | None:
    """Say how the results of the operator look otherwise; None if it fails: programs show it."""
    parts = list(found) if isinstance(found, tuple | list) else [found]
    if not all(hasattr(part, "storage_offset") for part in parts):
        return None
    tensors = cast("list[TensorLike]", parts)
    if isinstance(found, tuple | list) != outcome.is_several or len(parts) != len(outcome.arrays):
        told = f"a tuple of {len(parts)}" if isinstance(found, tuple | list) else "one tensor"
        return f"{told}, for operands of shapes {list(sample.shapes)}"
    for part, array, dtype in zip(tensors, outcome.arrays, outcome.dtypes, strict=True):
        kind = str(part.dtype).rpartition(".")[2]
        expected = "float32" if (sample.dtype, dtype) == ("float32", "float64") else dtype
        if tuple(part.shape) != array.shape or kind != expected:
            return (
                f"and not {expected} of shape {array.shape} where the operator returns {kind} of "
                f"shape {tuple(part.shape)}, for operands of shapes {list(sample.shapes)}"
            )
    return ""


def _tensor(library: Library, array: Array, dtype: str) -> TensorLike:
    kind = getattr(library.module, dtype)
    if not array.size:
        return cast("TensorLike", library.module.zeros(array.shape, dtype=kind))
    return cast("TensorLike", library.module.tensor(array.tolist(), dtype=kind))
