"""No public function passes ``__torch_function__`` by."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any, Final

import pytest

import vtgrad as vt
from tests.ops.test_names_of_every_function import FUNCTIONS, Call, calls_of, family_of
from tests.overrides.logged import Logged
from tests.sweeping import sweep
from vtgrad.overrides.members import overridden_members

# Asks for the class of an object only, as in PyTorch.
NEVER: Final = frozenset({"is_tensor"})
# Seen as what they call, in some calls: with dtype=, and under the name that `/` has.
AS_PARTS: Final = frozenset({"log_softmax", "true_divide"})


def _has_tensor(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_tensor, value))
    return isinstance(value, vt.Tensor)


def _logged(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and _has_tensor(value):
        return type(value)(map(_logged, value))
    return value.detach().clone().as_subclass(Logged) if isinstance(value, vt.Tensor) else value


def first_taken_over(name: str, call: Call, nr: int) -> Any:
    """What is taken over first if one argument is of the class; None if nothing is."""
    args, kwargs = call
    values = [*args, *kwargs.values()]
    given = [_logged(value) if n == nr else value for n, value in enumerate(values)]
    count = len(args)
    Logged.calls.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(vt.errors.VtgradError):
            FUNCTIONS[name](*given[:count], **dict(zip(kwargs, given[count:], strict=True)))
    return Logged.calls[0][0] if Logged.calls else None


@sweep(sorted(FUNCTIONS.keys() - NEVER), row=family_of)
def test_a_function_is_taken_over_by_each_of_its_tensors(name: str) -> None:
    seen = [
        first_taken_over(name, call, nr)
        for call in calls_of(name, FUNCTIONS[name])
        for nr, value in enumerate([*call[0], *call[1].values()])
        if _has_tensor(value)
    ]
    assert seen
    assert None not in seen
    if name not in AS_PARTS:
        assert set(seen) == {FUNCTIONS[name]}


@pytest.mark.parametrize("name", sorted(overridden_members()))
def test_a_member_of_the_class_is_its_own(name: str) -> None:
    assert name in vars(Logged)
    assert vars(Logged)[name] is not vars(vt.Tensor).get(name)
