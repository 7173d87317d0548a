"""No public function passes ``__torch_function__`` by, that of a class or that of a mode."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from inspect import getattr_static
from typing import Any, ClassVar, Final

import pytest

import vtgrad as vt
from tests.ops.test_names_of_every_function import FUNCTIONS, Call, calls_of, family_of
from tests.overrides.logged import Logged
from tests.sweeping import sweep
from vtgrad.later import METHODS
from vtgrad.ops.generated import public
from vtgrad.ops.generated.methods import TensorMethods
from vtgrad.overrides import TorchFunctionMode, resolve_name
from vtgrad.overrides.members import SeenMember, overridden_members

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


class Mode(TorchFunctionMode):
    """Notes each function that it sees."""

    calls: ClassVar[list[object]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        Mode.calls.append(func)
        return func(*args, **(kwargs or {}))


def seen_by_a_mode(name: str, call: Call) -> list[object]:
    """What a mode sees of a call with plain tensors."""
    args, kwargs = call
    Mode.calls.clear()
    with warnings.catch_warnings(), Mode():
        warnings.simplefilter("ignore")
        with suppress(vt.errors.VtgradError):
            FUNCTIONS[name](*args, **kwargs)
    return [*Mode.calls]


@sweep(sorted(FUNCTIONS.keys() - NEVER - AS_PARTS), row=family_of)
def test_a_mode_sees_a_function_once_and_nothing_in_it(name: str) -> None:
    for call in calls_of(name, FUNCTIONS[name]):
        assert seen_by_a_mode(name, call) == [FUNCTIONS[name]]


# Functions that are about no tensor, or about the memory of others; PyTorch's modes see none of
# them either, but for reading and writing files, of which they see parts.
UNSEEN: Final = frozenset(
    """
    broadcast_shapes from_dlpack from_numpy frombuffer get_default_dtype get_rng_state initial_seed
    is_anomaly_check_nan_enabled is_anomaly_enabled is_grad_enabled is_inference
    is_inference_mode_enabled is_tensor load manual_seed save seed set_default_dtype
    set_printoptions set_rng_state vmap
    """.split()
)
OF_NO_TENSOR: Final[dict[str, Callable[[], object]]] = {
    "arange": lambda: vt.arange(3),
    "as_tensor": lambda: vt.as_tensor([1.0]),
    "bartlett_window": lambda: vt.bartlett_window(3),
    "blackman_window": lambda: vt.blackman_window(3),
    "can_cast": lambda: vt.can_cast(vt.int64, vt.float32),
    "empty": lambda: vt.empty(2),
    "empty_strided": lambda: vt.empty_strided((2,), (1,)),
    "eye": lambda: vt.eye(2),
    "full": lambda: vt.full((2,), 3.0),
    "hamming_window": lambda: vt.hamming_window(3),
    "hann_window": lambda: vt.hann_window(3),
    "kaiser_window": lambda: vt.kaiser_window(3),
    "linspace": lambda: vt.linspace(0, 1, 3),
    "logspace": lambda: vt.logspace(0, 1, 3),
    "normal": lambda: vt.normal(0.0, 1.0, size=(2,)),
    "ones": lambda: vt.ones(2),
    "promote_types": lambda: vt.promote_types(vt.int64, vt.float32),
    "rand": lambda: vt.rand(2),
    "randint": lambda: vt.randint(3, (2,)),
    "randn": lambda: vt.randn(2),
    "randperm": lambda: vt.randperm(3),
    "result_type": lambda: vt.result_type(vt.Tensor(2), 1),
    "tensor": lambda: vt.tensor([1.0]),
    "tril_indices": lambda: vt.tril_indices(2, 2),
    "triu_indices": lambda: vt.triu_indices(2, 2),
    "zeros": lambda: vt.zeros(2),
}


def test_every_function_of_no_tensor_is_listed() -> None:
    functions = {
        name
        for name in vt.__all__
        if callable(getattr(vt, name)) and not isinstance(getattr(vt, name), type)
    }
    taken = set(FUNCTIONS.values())
    rest = {name for name in functions - FUNCTIONS.keys() if getattr(vt, name) not in taken}
    # The twins in place of operators, and other names of operators, are operators.
    own = {name for name in rest if not name.endswith("_") and not is_operator(name)}
    assert own | NEVER == OF_NO_TENSOR.keys() | UNSEEN


def is_operator(name: str) -> bool:
    """Whether a function is in the generated table of operators."""
    return name in public.__all__


@pytest.mark.parametrize("name", OF_NO_TENSOR)
def test_a_mode_sees_a_function_of_no_tensor(name: str) -> None:
    Mode.calls.clear()
    with Mode():
        OF_NO_TENSOR[name]()
    assert Mode.calls == [getattr(vt, name)]
    assert resolve_name(Mode.calls[0]) == f"vtgrad.{name}"


@pytest.mark.parametrize("name", sorted(overridden_members()))
def test_a_member_is_seen_by_a_mode_or_is_an_operator(name: str) -> None:
    with Mode():
        pass
    found = getattr_static(vt.Tensor, name)
    seen = isinstance(found, SeenMember)
    assert seen or name in vars(TensorMethods) or name in METHODS
