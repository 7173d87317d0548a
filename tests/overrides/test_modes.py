"""What a `TorchFunctionMode` sees, and when it is on."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

import vtgrad as vt
from tests.overrides.logged import Logged, logged
from tests.support import needs_global_lock
from vtgrad.errors import BlockNotOpenError
from vtgrad.graph.function_modes import thread
from vtgrad.overrides import (
    BaseTorchFunctionMode,
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    TorchFunctionMode,
    handle_torch_function,
    has_torch_function,
    resolve_name,
    wrap_torch_function,
)
from vtgrad.storage.key_set import keys


class Noted(TorchFunctionMode):
    """Notes each function; like many classes of users it does not call `__init__` of the class."""

    calls: ClassVar[list[tuple[str, Any, Any, Any, Any]]] = []

    def __init__(self, name: str = "mode") -> None:
        self.name = name

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        Noted.calls.append((self.name, func, types, args, kwargs))
        return func(*args, **(kwargs or {}))


class Declining(TorchFunctionMode):
    """Leaves every call to the arguments."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


def seen() -> list[str]:
    """The functions that were noted, which are forgotten."""
    found = [resolve_name(func) or func.__name__ for _, func, *_ in Noted.calls]
    Noted.calls.clear()
    return [name.removeprefix("vtgrad.") for name in found]


def asked() -> list[str]:
    """The modes that were asked, which are forgotten."""
    found = [name for name, *_ in Noted.calls]
    Noted.calls.clear()
    return found


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    Noted.calls.clear()
    yield
    assert thread.function_modes == ()
    assert thread.excluded_keys == 0
    assert not keys.modes


def leaf() -> vt.Tensor:
    return vt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)


CALLS: list[tuple[Callable[[vt.Tensor], Any], list[str]]] = [
    (lambda x: x + 1, ["add"]),
    (lambda x: 1 - x, ["rsub"]),
    (lambda x: x.exp(), ["exp"]),
    (lambda x: vt.stack([x, x]), ["stack"]),
    (lambda x: vt.reshape(x, (4,)), ["reshape"]),
    (lambda x: x.max(0), ["max"]),
    (lambda x: vt.linalg.norm(x), ["linalg.norm"]),
    (lambda x: vt.nn.functional.softmax(x, 0), ["nn.functional.softmax"]),
    (lambda x: vt.quantile(x, 0.5), ["quantile"]),
    (lambda x: vt.nonzero(x, as_tuple=True), ["nonzero"]),
    (lambda x: np.sin(x), ["sin"]),
    (lambda x: x[0], ["Tensor.__getitem__"]),
    (lambda x: x[0, 1:], ["Tensor.__getitem__"]),
    (lambda x: x.detach().__setitem__(0, 5), ["Tensor.detach", "Tensor.__setitem__"]),
    (lambda x: x.detach().add_(1), ["Tensor.detach", "Tensor.add_"]),
    (lambda x: x.detach().__iadd__(1), ["Tensor.detach", "Tensor.add_"]),
    (lambda x: x.shape, ["Tensor.shape.__get__"]),
    (lambda x: x.grad, ["Tensor.grad.__get__"]),
    (lambda x: x.T, ["Tensor.T.__get__"]),
    (lambda x: x._version, ["Tensor._version.__get__"]),
    (lambda x: setattr(x, "requires_grad", True), ["Tensor.requires_grad.__set__"]),
    (lambda x: x.__delattr__("grad"), ["__delete__"]),
    (lambda x: x.size(), ["Tensor.size"]),
    (lambda x: x.tolist(), ["Tensor.tolist"]),
    (lambda x: x.to(vt.float64), ["Tensor.to"]),
    (lambda x: len(x), ["Tensor.__len__"]),
    (lambda x: repr(x), ["Tensor.__repr__"]),
    (lambda x: bool(x.sum()), ["sum", "Tensor.__bool__"]),
    (lambda x: x.sum().backward(), ["sum", "Tensor.backward"]),
    (lambda x: vt.autograd.backward(x.sum()), ["sum", "autograd.backward"]),
    (lambda x: vt.autograd.grad(x.sum(), x), ["sum", "autograd.grad"]),
    (lambda x: x.register_hook(print), ["Tensor.register_hook"]),
    (lambda x: copy.deepcopy(x), ["Tensor.__deepcopy__"]),
    (lambda x: x.as_subclass(vt.Tensor), []),
    (lambda x: hash(x), []),
    (lambda x: vt.is_tensor(x), []),
]


@pytest.mark.parametrize(("call", "names"), CALLS)
def test_a_function_of_a_plain_tensor_is_seen_once(
    call: Callable[[vt.Tensor], Any], names: list[str]
) -> None:
    x = leaf()
    with Noted():
        result = call(x)
    assert seen() == names
    assert type(result) is type(call(leaf()))


def test_arguments_arrive_as_they_were_passed() -> None:
    x = leaf()
    with Noted():
        vt.add(x, 1, alpha=2)
        vt.zeros(2, 3, dtype=vt.float64)
        vt.randint(3, (2,))
    (_, first, types, args, kwargs), (*_, sizes, options), (*_, drawn, nothing) = Noted.calls
    assert first is vt.add
    assert types == ()
    assert args[0] is x
    assert kwargs == {"alpha": 2}
    assert sizes == (2, 3)
    assert options == {"dtype": vt.float64}
    assert drawn == (3, (2,))
    assert nothing == {}


def test_what_was_not_given_does_not_arrive() -> None:
    x = leaf()
    with Noted():
        vt.max(x, dim=1, keepdim=True)
        vt.min(x, keepdim=True, dim=0)
    (*_, args, largest), (*_, smallest) = Noted.calls
    assert args == (x,)
    assert largest == {"dim": 1, "keepdim": True}
    assert smallest == {"dim": 0, "keepdim": True}


def test_a_function_is_the_object_that_the_class_gives() -> None:
    x = leaf()
    with Noted():
        _ = x.tolist(), x[0], x.shape
    assert Noted.calls[0][1] is vt.Tensor.tolist
    assert Noted.calls[1][1] is vt.Tensor.__getitem__
    getter: Any = vt.Tensor.shape
    assert Noted.calls[2][1] == getter.__get__


def test_a_table_of_functions_from_before_finds_what_a_mode_gets() -> None:
    code = """
import vtgrad as vt
table = {vt.Tensor.tolist: 1, vt.Tensor.shape.__get__: 2, vt.Tensor.__len__: 3, vt.add: 4}
class Mode(vt.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return table[func]
x = vt.ones(2)
with Mode():
    print(x.tolist(), x.shape, len(x), x + x, vt.Tensor.tolist(x))
table |= {vt.Tensor.tolist: 5, vt.Tensor.shape.__get__: 6}
print(len(table), table[vt.Tensor.tolist])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["1", "2", "3", "4", "1", "4", "5"]


def test_modes_are_asked_from_the_inside_and_each_is_off_while_it_runs() -> None:
    class Busy(Noted):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            vt.ones(1)
            return super().__torch_function__(func, types, args, kwargs)

    x = leaf()
    with Noted("outer"), Busy("inner"):
        x.exp()
    assert asked() == ["outer", "inner", "outer"]
    x.exp()
    assert asked() == []


def test_what_a_composite_calls_is_not_seen_by_its_own_mode() -> None:
    x = leaf()
    with Noted("outer"), Noted("inner"):
        vt.nn.functional.softmax(x, 0)
    assert seen() == ["nn.functional.softmax"] * 2


def test_one_object_serves_nested_blocks() -> None:
    mode, x = Noted(), leaf()
    with mode:
        with mode:
            x.exp()
        assert asked() == ["mode"] * 2
        x.exp()
    assert asked() == ["mode"]


def test_a_mode_can_enter_itself_in_its_function() -> None:
    class Again(Noted):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if func is vt.exp:
                with self:
                    vt.sin(args[0])
            return super().__torch_function__(func, types, args, kwargs)

    x = leaf()
    with Again():
        vt.exp(x)
    assert seen() == ["sin", "exp"]


def test_a_mode_is_asked_before_classes_of_arguments() -> None:
    p = logged(leaf())
    with Noted():
        result = p + 1
    assert Noted.calls[0][2] == (Logged,)
    assert (seen(), len(Logged.calls), type(result)) == (["add"], 1, Logged)


def test_not_implemented_leaves_a_call_to_the_arguments() -> None:
    class Length:
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return func, types

    with Declining():
        result: Any = vt.exp(Length())  # type: ignore[type-var]  # no tensor
        assert result == (vt.exp, (Length,))
        with pytest.raises(TypeError, match=r"vtgrad\.zeros .* of Declining gave NotImplemented"):
            vt.zeros(2)


def test_a_mode_that_declines_sees_what_the_class_calls() -> None:
    # As in PyTorch, the default of the class runs the function with the mode on.
    p = logged(leaf())
    with Declining(), pytest.raises(TypeError, match="of Declining gave NotImplemented"):
        p + 1  # the error is what is tested
    assert len(Logged.calls) == 1


def test_the_base_class_of_modes_calls_the_function() -> None:
    with Noted("outer"), BaseTorchFunctionMode():
        assert vt.zeros(2).tolist() == [0, 0]
    assert seen() == ["zeros", "Tensor.tolist"]


def test_a_mode_without_its_own_function_is_an_error() -> None:
    class Nothing(TorchFunctionMode):
        pass

    with pytest.raises(NotImplementedError, match="Nothing must define __torch_function__"):
        with Nothing():
            vt.zeros(2)


def test_modes_are_disabled_with_all_and_not_with_subclasses() -> None:
    p = logged(leaf())

    def run() -> list[str]:
        Noted.calls.clear()
        _ = p + 1, vt.zeros(2), p.shape, vt.reshape(p, (4,))
        return seen()

    every = ["add", "zeros", "Tensor.shape.__get__", "reshape"]
    with Noted():
        with DisableTorchFunction():
            assert run() == []
            assert not has_torch_function((p,))
        with DisableTorchFunctionSubclass():
            assert run() == every
    with DisableTorchFunction(), Noted():
        assert run() == []
    with DisableTorchFunctionSubclass(), Noted():
        assert run() == every
    assert names_of_class() == []


def names_of_class() -> list[Any]:
    return [func for func, *_ in Logged.calls]


def test_functions_of_users_are_seen() -> None:
    def double(x: Any) -> Any:
        if has_torch_function((x,)):
            return handle_torch_function(double, (x,), x)
        return x * 2

    def candidates(x: Any) -> tuple[Any, ...]:
        return (x,)

    treble = wrap_torch_function(candidates)(lambda x: x * 3)
    assert not has_torch_function((2,))
    with Noted():
        assert has_torch_function((2,))
        assert not has_torch_function(())
        assert (double(2), treble(2)) == (4, 6)
    assert [func for _, func, *_ in Noted.calls] == [double, treble]


def test_results_are_what_the_mode_gives() -> None:
    class Wrong(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return "its own"

    x: Any = leaf()
    with Wrong():
        results = x + 1, vt.zeros(2), x.shape, x.tolist(), vt.stack([x]), x.sum(0)
    assert set(results) == {"its own"}


@pytest.mark.parametrize(
    "call", [lambda x: x + 1, lambda x: x.shape, lambda x: vt.zeros(2), lambda x: vt.stack([x])]
)
def test_an_error_of_the_mode_arrives_and_undoes_it(call: Callable[[vt.Tensor], Any]) -> None:
    class Refusing(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            raise KeyError("of the mode")

    x = leaf()
    with pytest.raises(KeyError, match="of the mode"), Noted("outer"), Refusing():
        call(x)
    assert asked() == []
    call(x)


WRONG: list[Callable[[vt.Tensor], object]] = [
    lambda x: x @ vt.ones(3),
    lambda x: vt.zeros(-1),
    lambda x: vt.reshape(x, (3,)),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_errors_of_functions_are_those_without_a_mode(
    wrong: Callable[[vt.Tensor], object],
) -> None:
    x = leaf()
    with pytest.raises(vt.errors.VtgradError) as expected:
        wrong(x)
    with pytest.raises(type(expected.value)) as found, Noted():
        wrong(x)
    assert str(found.value) == str(expected.value)


def test_blocks_that_are_left_in_another_order_leave_nothing() -> None:
    first, second, x = Noted("first"), Noted("second"), leaf()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    x.exp()
    assert asked() == ["second"]
    second.__exit__(None, None, None)
    x.exp()
    assert asked() == []
    with pytest.raises(BlockNotOpenError, match="no block of this Noted is open"):
        first.__exit__(None, None, None)


def test_a_block_can_be_left_while_its_mode_runs() -> None:
    class Leaving(Noted):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            self.__exit__(None, None, None)
            return super().__torch_function__(func, types, args, kwargs)

    mode, x = Leaving(), leaf()
    with Noted("outer"):
        mode.__enter__()
        x.exp()
        assert asked() == ["mode", "outer"]
        x.exp()
        assert asked() == ["outer"]


def test_a_block_around_it_can_be_left_while_a_mode_runs() -> None:
    outer = Noted("outer")

    class Leaving(Noted):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            outer.__exit__(None, None, None)
            return func(*args, **(kwargs or {}))

    x = leaf()
    outer.__enter__()
    with Leaving():
        x.exp()
    x.exp()
    assert asked() == []


def test_a_block_that_a_mode_enters_and_does_not_leave_stays_on() -> None:
    entered = Noted("entered")

    class Entering(Noted):
        is_first = True

        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if self.is_first:
                self.is_first = False
                entered.__enter__()
            return super().__torch_function__(func, types, args, kwargs)

    with Entering():
        vt.ones(1)
        vt.zeros(1)
        assert asked() == ["mode", "entered", "mode", "entered"]
    vt.eye(1)
    assert asked() == ["entered"]
    entered.__exit__(None, None, None)
    vt.eye(1)
    assert asked() == []
    assert thread.function_modes == ()
    assert not keys.modes


@needs_global_lock
def test_a_mode_is_of_its_thread() -> None:
    x, found = leaf(), list[list[str]]()

    def other() -> None:
        x.exp()
        vt.zeros(2)
        _ = x.shape
        found.append(asked())
        with Noted("other"):
            x.exp()
        found.append(asked())

    with Noted():
        worker = threading.Thread(target=other)
        worker.start()
        worker.join()
        x.exp()
    assert found == [[], ["other"]]
    assert asked() == ["mode"]


def test_formulas_of_backward_are_not_seen_and_hooks_are() -> None:
    x = leaf()
    y = (x * x).exp().sum()
    x.register_hook(lambda grad: grad * 2)
    with Noted():
        y.backward()
        assert seen() == ["Tensor.backward"]
    with Noted(), DisableTorchFunction():
        (gradient,) = vt.autograd.grad((x * x).sum(), x, create_graph=True)
    with Noted():
        vt.autograd.backward(gradient.sum())
    assert seen() == ["sum", "autograd.backward"]


def test_transforms_run_under_a_mode() -> None:
    x = vt.tensor([1.0, 2.0])
    with Noted():
        gradient = vt.func.grad(lambda x: (x * x).sum())(x)
        jacobian = vt.func.jacfwd(lambda x: x * x)(x)
        rows = vt.vmap(lambda x: x * 2)(x)
        _, tangent = vt.func.jvp(vt.sin, (x,), (x,))
        vt.func.grad(lambda x: (x * x.exp() * x).sum())(x)
    found = seen()
    assert {"mul", "sum", "sin"} <= set(found)
    # Nor are the sums of gradients, which backward of the last one adds up.
    assert "add" not in found
    assert gradient.tolist() == [2, 4]
    assert jacobian.tolist() == [[2, 0], [0, 4]]
    assert rows.tolist() == [2, 4]
    assert tangent.tolist() == (vt.cos(x) * x).tolist()


def test_optimizers_run_under_a_mode() -> None:
    with Noted():
        weight = vt.zeros(1, 2, requires_grad=True)
        optimizer = vt.optim.SGD([weight], lr=0.1)
        vt.nn.functional.linear(vt.ones(1, 2), weight).sum().backward()
        optimizer.step()
    assert vt.allclose(weight.detach(), vt.full((1, 2), -0.1))
    assert "nn.functional.linear" in seen()


def test_a_replay_runs_its_function_under_a_mode() -> None:
    fast = vt.jit.replay(lambda x: x * 2 + 1)
    x = vt.ones(2)
    for _ in range(4):
        fast(x)
    with Noted():
        assert fast(x).tolist() == [3, 3]
    assert seen() == ["mul", "add", "Tensor.tolist"]


def test_a_profile_and_a_mode_see_the_same_calls() -> None:
    x = leaf()
    with vt.profiler.profile(), Noted():
        _ = x.T, x[0], x.shape
    assert seen() == ["Tensor.T.__get__", "Tensor.__getitem__", "Tensor.shape.__get__"]
    with vt.profiler.profile() as profile:
        _ = x.T, x[0]
    assert {"aten::permute", "aten::select"} <= {one.name for one in profile.events()}


def test_a_mode_can_be_copied_and_pickled() -> None:
    mode = Noted("kept")
    with mode:
        pass
    for made in (copy.copy(mode), copy.deepcopy(mode), pickle.loads(pickle.dumps(mode))):
        assert made.name == "kept"
        with made:
            vt.zeros(1)
        assert asked() == ["kept"]


def test_members_are_documented_as_before() -> None:
    with Noted():
        pass
    shape: Any = vt.Tensor.shape
    assert isinstance(shape, property) or vt.__compiled__
    assert (vt.Tensor.tolist.__name__, vt.Tensor.tolist.__doc__ is None) == ("tolist", False)
    with pytest.raises(AttributeError):
        vt.ones(2).shape = (1,)  # type: ignore[misc, assignment]  # the error is what is tested
