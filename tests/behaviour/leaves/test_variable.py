"""`Variable`, the old name of tensors."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import differs_from_torch, leaf, ramp, refused, vt

Variable = vt.autograd.Variable


def test_tensors_are_its_instances() -> None:
    assert isinstance(leaf(2), Variable)
    assert not isinstance(3, Variable)
    assert not issubclass(vt.Tensor, Variable)


def test_calling_it_makes_a_detached_tensor_on_the_same_memory() -> None:
    x = leaf(2)
    v = Variable(x * 1)
    assert type(v) is vt.Tensor
    assert not v.requires_grad
    assert v.is_leaf
    assert v._base is None
    same = Variable(x)
    assert same is not x
    assert same.data_ptr() == x.data_ptr()
    same.add_(1)
    assert x.tolist() == [2, 3]
    assert x._version == same._version == 1


@pytest.mark.parametrize("how", [{"requires_grad": True}, {"requires_grad": 1}])
def test_it_requires_grad_if_it_is_to(how: Any) -> None:
    v = Variable(ramp(2), **how)
    (v * v).sum().backward()
    assert v.grad is not None
    assert v.grad.tolist() == [2, 4]
    assert Variable(ramp(2), True).requires_grad
    assert not Variable(data=leaf(2)).requires_grad


def test_without_data_it_is_empty() -> None:
    for empty in (Variable(), Variable(None)):
        assert tuple(empty.shape) == (0,)
        assert empty.dtype == vt.get_default_dtype()


def test_it_has_the_name_it_is_given() -> None:
    assert Variable(ramp(2), name="weight").name == "weight"
    assert Variable(name="nothing").name == "nothing"
    assert Variable(ramp(2)).name is None
    made: Any = Variable
    with refused(TypeError, "argument-type"):
        made(ramp(2), name=3)


def test_volatile_warns() -> None:
    with pytest.warns(UserWarning, match="volatile"):
        assert not Variable(leaf(2), volatile=True).requires_grad
    with pytest.warns(UserWarning, match="volatile"), pytest.raises(ValueError, match="volatile"):
        Variable(leaf(2), True, True)
    assert not Variable(leaf(2), volatile=False).requires_grad


@pytest.mark.parametrize("arguments", [([1.0],), (3,), (ramp(2), "yes"), (ramp(2), None)])
def test_what_it_cannot_be_made_of(arguments: Any) -> None:
    made: Any = Variable
    with refused(TypeError, "argument-type"):
        made(*arguments)


def test_it_is_a_leaf_and_integers_have_no_gradient() -> None:
    made: Any = Variable
    with refused(TypeError, "argument-type"):
        made(ramp(2), _grad_fn=(leaf(2) * 2).grad_fn)
    with refused(RuntimeError, "requires-grad"):
        Variable(vt.arange(3), requires_grad=True)


def test_what_is_made_in_inference_mode_stays_that() -> None:
    with vt.inference_mode():
        x = vt.ones(2)
    assert Variable(x).is_inference()


def test_callbacks_are_queued_through_its_engine() -> None:
    log: list[str] = []
    queue: Any = Variable._execution_engine.queue_callback
    x = leaf(2)
    y = x * 2
    y.register_hook(lambda g: queue(lambda: log.append("end")))
    x.register_hook(lambda g: log.append("leaf"))
    y.sum().backward()
    assert log == ["leaf", "end"]
    with refused(RuntimeError, "outside-backward"):
        queue(lambda: None)


def test_its_engine_runs_a_pass() -> None:
    run: Any = Variable._execution_engine.run_backward
    x, unused = leaf(2), leaf(2)
    y = (x * x).sum()
    one = vt.ones(())
    assert run((y,), (one,), True, False, (x,))[0].tolist() == (2 * x).tolist()
    assert run((y,), (one,), True, False, (x, unused), True)[1] is None
    assert run((y,), (one,), True, True, inputs=(x,))[0].requires_grad
    before = x.grad
    assert before is None
    assert run((y,), (one,), True, False, (), True, True) is None
    assert (
        run((y,), (one,), True, False, (x,), allow_unreachable=True, accumulate_grad=True) is None
    )
    assert x.grad is not None
    assert x.grad.tolist() == (4 * x).tolist()
    assert unused.grad is None


@differs_from_torch("it checks some arguments less")
def test_what_its_engine_refuses() -> None:
    run: Any = Variable._execution_engine.run_backward
    x = leaf(2)
    y, one = (x * x).sum(), vt.ones(())
    for wrong in [
        ((y,), (one,), True, False),
        ((y,), (None,), True, False, (x,)),
        ((y,), (one,), True, False, (leaf(2),)),
        ((y,), (vt.ones(3),), True, False, (x,)),
        ((y,), (one, one), True, False, (x,)),
        ((x.detach(),), (vt.ones(2),), True, False, (x,)),
    ]:
        with pytest.raises(RuntimeError):
            run(*wrong)
    for few in [((y,),), ((y,), (one,)), ((y,), (one,), True)]:
        with pytest.raises(TypeError):
            run(*few)
    assert x.grad is None
