"""Who is asked, in which order, and how the protocol is switched off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

import vtgrad as vt
from tests.overrides.logged import Logged, logged, names
from vtgrad.overrides import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    get_overridable_functions,
    handle_torch_function,
    has_torch_function,
    is_tensor_like,
    is_tensor_method_or_property,
    resolve_name,
    wrap_torch_function,
)

plain = vt.ones(2)


class Duck:
    """No tensor; tells what it was asked for."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func, types, args, kwargs


class Silent(vt.Tensor):
    """Leaves everything to others."""

    asked: ClassVar[list[type]] = []

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        Silent.asked.append(cls)
        return NotImplemented


class MoreSilent(Silent):
    """A subclass, which is asked first."""


@pytest.mark.parametrize(
    "call",
    [
        lambda d: vt.add(d, 1),
        lambda d: vt.add(plain, d, alpha=2),
        lambda d: plain.add(d),
        lambda d: vt.stack([plain, d]),
        lambda d: vt.sum(d),
        lambda d: vt.reshape(d, (2,)),
        lambda d: vt.where(plain > 0, d, plain),
        lambda d: vt.linalg.inv(d),
        lambda d: vt.quantile(d, 0.5),
        lambda d: plain * d,
    ],
)
def test_an_object_that_is_no_tensor_takes_functions_over(call: Any) -> None:
    duck = Duck()
    func, types, args, _ = call(duck)
    assert types == (Duck,)
    assert any(one is duck or (isinstance(one, list) and duck in one) for one in args)
    assert resolve_name(func) is not None


def test_subclasses_are_asked_first_and_one_object_of_each_class() -> None:
    one, other = plain.as_subclass(Silent), plain.as_subclass(MoreSilent)
    Silent.asked.clear()
    with pytest.raises(TypeError, match=r"vtgrad\.cat .* MoreSilent, Silent gave NotImplemented"):
        vt.cat([one, other, one])
    assert Silent.asked == [MoreSilent, Silent]


def test_the_next_is_asked_after_not_implemented() -> None:
    silent: Any = plain.as_subclass(Silent)
    duck: Any = Duck()
    assert vt.stack([silent, duck])[1] == (Silent, Duck)


def test_classes_of_which_none_is_above_the_other_do_not_meet() -> None:
    class Other(vt.Tensor):
        @classmethod
        def __torch_function__(cls, *args: Any, **kwargs: Any) -> Any:
            return super().__torch_function__(*args, **kwargs)

    class Below(Logged):
        pass

    with pytest.raises(TypeError):
        logged(plain) + plain.as_subclass(Other)
    assert type(logged(plain) + plain.as_subclass(Below)) is Below


def test_errors_of_the_class_arrive_as_they_are() -> None:
    class Refuses(vt.Tensor):
        calls = 0

        @classmethod
        def __torch_function__(cls, func: Any, *_: Any) -> Any:
            Refuses.calls += 1
            raise LookupError(func.__name__)

    refusing: Any = plain.as_subclass(Refuses)
    array: Any = plain.numpy()
    # An array would be converted, and the call made again, if the operator itself failed.
    calls: list[Callable[[], object]] = [
        lambda: vt.add(refusing, array),
        lambda: vt.quantile(refusing, 0.5),
        lambda: refusing + 1,
        lambda: refusing.shape,
    ]
    for call in calls:
        Refuses.calls = 0
        with pytest.raises(LookupError):
            call()
        assert Refuses.calls == 1


def test_errors_of_the_function_are_those_for_plain_tensors() -> None:
    wrong: Any = "text"
    with pytest.raises(vt.errors.ShapeError, match="broadcast"):
        logged(plain) + vt.ones(3)
    with pytest.raises(vt.errors.ArgumentTypeError, match="'other'"):
        vt.add(logged(plain), wrong)


def test_the_protocol_can_be_switched_off() -> None:
    p = logged(plain)
    duck: Any = Duck()
    with DisableTorchFunctionSubclass():
        assert type(p + 1) is type(p.sum()) is vt.Tensor
        assert p.shape == (2,)
        assert not has_torch_function((p,))
        assert has_torch_function((duck,))
        with DisableTorchFunctionSubclass():
            pass
        assert not has_torch_function((p,))
    assert names() == []
    with DisableTorchFunction():
        assert not has_torch_function((p, duck))
        with pytest.raises(TypeError):
            vt.add(duck, 1)
    assert has_torch_function((p,))
    assert type(p + 1) is Logged


def test_the_switch_is_undone_by_an_error() -> None:
    with pytest.raises(LookupError), DisableTorchFunction():
        raise LookupError
    assert has_torch_function((Duck(),))


def test_a_function_that_calls_back_is_refused() -> None:
    """As those of another library, which does not know that the protocol is disabled."""

    def foreign(x: Any) -> Any:
        return type(x).__torch_function__(foreign, (type(x),), (x,))

    assert foreign(logged(plain)) is NotImplemented
    assert type(logged(plain) + 1) is Logged


def test_an_object_whose_function_is_none_takes_nothing_over() -> None:
    class Off:
        __torch_function__ = None

    off: Any = Off()
    assert not has_torch_function((off,))
    with pytest.raises(vt.errors.ArgumentTypeError, match="'other'"):
        vt.add(plain, off)


def test_a_class_without_its_own_function_is_no_such_class() -> None:
    class Own(vt.Tensor):
        pass

    own = plain.as_subclass(Own)
    assert not has_torch_function((own, plain, 3))
    assert "add" not in vars(Own)
    assert type(own + 1) is Own
    assert own._impl.extra_meta is None


def test_a_class_below_can_switch_the_protocol_off() -> None:
    class Off(Logged):
        __torch_function__ = None  # type: ignore[assignment]  # as in PyTorch

    off = plain.as_subclass(Off)
    Logged.calls.clear()
    assert (type(off + 1), type(off.sum()), off.shape) == (Off, Off, (2,))
    assert type(vt.add(off, plain)) is Off
    assert names() == []


def test_a_function_that_a_class_gets_later_is_called() -> None:
    class Later(vt.Tensor):
        pass

    Later.__torch_function__ = classmethod(lambda cls, func, *_: func)  # type: ignore[method-assign, assignment]  # late
    later: Any = plain.as_subclass(Later)
    assert later + 1 is vt.add
    assert later.reshape(2) is vt.reshape


def test_a_method_of_the_object_is_called_with_it() -> None:
    class Own(vt.Tensor):
        def __torch_function__(self, func: Any, *_: Any) -> Any:  # type: ignore[override]  # as older programs
            return self, func

    own: Any = plain.as_subclass(Own)
    tensor, func = own + 1
    assert tensor is own
    assert func is vt.add


def test_functions_of_users_can_be_taken_over() -> None:
    @wrap_torch_function(lambda a, b=0: (a, b))
    def double(a: Any, b: Any = 0) -> Any:
        return a * 2 + b

    assert double(3) == 6
    func, types, args, kwargs = double(1, b=Duck())
    assert (func, types, args, list(kwargs)) == (double, (Duck,), (1,), ["b"])
    with pytest.raises(TypeError, match="double"):
        handle_torch_function(double, (plain.as_subclass(Silent),), 1)


def test_names_of_functions() -> None:
    assert resolve_name(vt.subtract) == "vtgrad.sub"
    assert resolve_name(vt.Tensor.__getitem__) == "vtgrad.Tensor.__getitem__"
    tensor: Any = vt.Tensor
    assert resolve_name(tensor.requires_grad.__set__) == "vtgrad.Tensor.requires_grad.__set__"
    assert resolve_name(print) is None
    assert resolve_name([]) is None
    assert is_tensor_method_or_property(vt.Tensor.shape.__get__)
    assert not is_tensor_method_or_property(vt.linalg.inv)
    assert all(is_tensor_like(one) for one in (plain, logged(plain), Duck()))
    assert not is_tensor_like(3)


def test_every_function_that_is_listed_has_a_name() -> None:
    found = get_overridable_functions()
    assert vt.linalg.inv in found[vt.linalg]
    assert vt.quantile in found[vt]
    for functions in found.values():
        assert None not in [resolve_name(one) for one in functions]
