"""Names on dimensions: what users do with them, and what does not see them."""

import copy
import pickle
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import pytest

import vtgrad as vt
from tests.support import needs_global_lock
from vtgrad.errors import (
    ArgumentTypeError,
    NameNotFoundError,
    NamesError,
    NamesMismatchError,
    NamesNotSupportedError,
)
from vtgrad.storage.tensor_impl import TensorImpl

if TYPE_CHECKING:
    from _typeshed import TraceFunction

# `.grad` that refers to the graph is a cycle, of which a warning tells.
CYCLE: Final = pytest.mark.filterwarnings("ignore:backward")


def named(*names: str | None) -> vt.Tensor:
    """A tensor of sizes 2, 3, 4 ..., with these names."""
    return vt.ones(*[2 + dim for dim in range(len(names))], names=names)


def test_the_text_shows_names_last() -> None:
    x = vt.ones(2, names=("N",), requires_grad=True)
    assert repr(x) == "tensor([1., 1.], requires_grad=True, names=('N',))"
    assert repr(vt.ones(2)) == "tensor([1., 1.])"


def test_names_go_through_pickles_and_copies() -> None:
    x = named("N", None)
    for twin in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
        assert twin.names == ("N", None)
    assert pickle.loads(pickle.dumps(vt.ones(2))).names == (None,)


def test_integers_slices_and_none_keep_names() -> None:
    x = named("A", "B", "C")
    assert x[0].names == ("B", "C")
    assert x[..., 1].names == ("A", "B")
    assert x[:, 1:, ::2].names == ("A", "B", "C")
    assert x[:, None, 0].names == ("A", None, "C")
    with pytest.raises(NamesNotSupportedError):
        x[vt.tensor([0])]


def test_a_named_value_is_stored_where_its_names_fit() -> None:
    x = named("N", "C")
    x[0] = vt.zeros(3, names=("C",))
    assert x.tolist() == [[0.0] * 3, [1.0] * 3]
    version = x._version
    with pytest.raises(NamesMismatchError):
        x[1] = vt.zeros(3, names=("N",))
    assert (x[1].tolist(), x._version) == ([1.0] * 3, version)
    plain: Any = vt.ones(2, 3)
    plain[0] = vt.zeros(3, names=("C",))
    assert plain.names == (None, None)
    plain[:] = vt.zeros(3, names=("C",))
    assert plain.names == (None, "C")  # written as a whole, it is the target
    assert plain.sum().item() == 0.0


def test_a_view_has_names_of_its_own() -> None:
    x = vt.zeros(2, 3)
    view = x.refine_names("N", "C")
    view.add_(1)
    assert (x.names, view.names, x.sum().item()) == ((None, None), ("N", "C"), 6.0)
    assert view._base is x
    view.rename_(None)
    assert not view.has_names()


def test_a_target_without_names_gets_those_of_the_result() -> None:
    x = vt.zeros(2, 3)
    assert x.add_(named("N", "C")).names == ("N", "C")
    out = vt.empty(3, 2)
    assert vt.transpose_copy(named("N", "C"), "N", "C", out=out) is out
    assert out.names == ("C", "N")


def test_a_write_that_names_refuse_changes_nothing() -> None:
    x = vt.ones(2, 3, names=("N", None))
    with pytest.raises(NamesMismatchError, match=r"\('N', 'C'\).*\('N', None\)"):
        x.add_(named("N", "C"))
    assert (x.names, x._version, x.sum().item()) == (("N", None), 0, 6.0)


def test_both_lists_are_in_the_message() -> None:
    with pytest.raises(
        NamesMismatchError, match=r"\('A', 'B'\) and \('A', 'C'\) do not agree"
    ) as e:
        named("A", "B") + named("A", "C")
    assert e.value.facts["first"] == ("A", "B")
    with pytest.raises(NamesMismatchError, match="not aligned"):
        vt.ones(3, 3, names=("N", None)) + vt.ones(3, 3, names=(None, "N"))


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(NameNotFoundError, match=r"'X' among \('A', 'B'\)"):
        named("A", "B").sum("X")
    calls: list[Callable[[Any], object]] = [
        lambda x: x.sum("X"),
        lambda x: x.select("X", 0),
        lambda x: x.size("X"),
        lambda x: x.transpose("X", "Y"),
        lambda x: vt.cat([x], "X"),
        lambda x: x.permute("X", "Y"),
    ]
    for call in calls:
        with pytest.raises((NameNotFoundError, ArgumentTypeError)):
            call(vt.ones(2, 3))


def test_an_integer_tensor_or_numpy_integer_is_still_a_dimension() -> None:
    x: Any = named("A", "B")
    assert x.sum(np.int64(0)).names == ("B",)
    assert x.sum(vt.tensor(-1)).names == ("A",)


@pytest.mark.parametrize("names", [("a b",), ("1",), ("",), ("...",), ("é",)])
def test_a_name_is_an_identifier(names: tuple[str, ...]) -> None:
    with pytest.raises(NamesError):
        vt.zeros(2, names=names)


@CYCLE
def test_gradients_have_no_names() -> None:
    seen: list[tuple[str | None, ...]] = []
    x = named("N", "C").requires_grad_()
    y = x * 3
    y.register_hook(lambda grad: seen.append(grad.names))
    y.retain_grad()
    y.sum("C").sum().backward(create_graph=True)
    assert x.grad is not None
    assert y.grad is not None
    assert (x.grad.names, y.grad.names, seen) == ((None, None), (None, None), [(None, None)])
    assert x.grad.tolist() == [[3.0] * 3] * 2
    (again,) = vt.autograd.grad((x * x * x).sum(), x, create_graph=True)
    assert again.names == (None, None)
    (second,) = vt.autograd.grad(again.sum(), x)
    assert second.tolist() == [[6.0] * 3] * 2


@CYCLE
def test_a_hook_may_use_names() -> None:
    x: Any = named("N", "C").requires_grad_()
    scale = vt.tensor([1.0, 2.0, 3.0], names=("C",))
    y = x * 1
    y.register_hook(lambda grad: grad.refine_names("N", "C") * scale)
    for create_graph in (False, True):
        x.grad = None
        y.sum().backward(retain_graph=True, create_graph=create_graph)
        assert x.grad is not None
        assert x.grad.tolist() == [[1.0, 2.0, 3.0]] * 2
        assert x.grad.names == (None, None)


class Twice(vt.autograd.Function):
    """Doubles its argument, and notes which names it sees."""

    seen: ClassVar[list[object]] = []

    @staticmethod
    def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        Twice.seen.append(x.names)
        return x * 2

    @staticmethod
    def backward(ctx: vt.autograd.function.FunctionCtx, grad: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        Twice.seen += [x.names, (x * 2).names, grad.names]
        return grad * 2


@CYCLE
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_custom_backward_sees_no_names(create_graph: bool) -> None:
    Twice.seen = []
    x = named("N", "C").requires_grad_()
    y = Twice.apply(x)
    assert y.names == ("N", "C")
    y.sum().backward(create_graph=create_graph)
    assert Twice.seen == [("N", "C"), (None, None), (None, None), (None, None)]
    assert x.names == ("N", "C")
    assert x.grad is not None
    assert x.grad.tolist() == [[2.0] * 3] * 2


def test_a_stale_view_of_a_named_base_is_made_again() -> None:
    x: Any = named("N", "C").requires_grad_()
    y = x * 1
    row = y.select("N", 0)
    y.mul_(2)
    row.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[2.0] * 3, [0.0] * 3]
    z = (x * 1).transpose("N", "C")
    z[0] = 5.0
    x.grad = None
    z.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[0.0, 1.0, 1.0]] * 2


def test_data_has_the_names_of_the_tensor() -> None:
    x: Any = named("N", "C")
    assert (x.data.names, x.detach().names) == (("N", "C"), ("N", "C"))
    x.data = vt.ones(5)
    assert x.names == (None,)
    x.data = named("P", "Q")
    assert x.names == ("P", "Q")


@needs_global_lock
def test_names_are_ignored_by_one_thread_alone() -> None:
    x = named("N", "C").requires_grad_()
    inside: list[object] = []

    class Slow(vt.autograd.Function):
        @staticmethod
        def forward(ctx: vt.autograd.function.FunctionCtx, a: vt.Tensor) -> vt.Tensor:
            return a * 1

        @staticmethod
        def backward(ctx: vt.autograd.function.FunctionCtx, grad: vt.Tensor) -> vt.Tensor:
            other = threading.Thread(target=lambda: inside.append((x * 2).names))
            other.start()
            other.join()
            inside.append((x * 2).names)
            return grad

    Slow.apply(x).sum().backward()
    assert inside == [("N", "C"), (None, None)]


def test_an_error_in_an_operator_leaves_names_in_force() -> None:
    x = named("N", "C")
    with pytest.raises(vt.errors.VtgradError):
        x.expand(7, 7)
    assert (x * 2).names == ("N", "C")


class Same(vt.autograd.Function):
    """Returns what it gets, and a saved tensor as the gradient."""

    @staticmethod
    def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx: vt.autograd.function.FunctionCtx, grad: vt.Tensor) -> vt.Tensor:
        return ctx.saved_tensors[0]


def test_a_function_that_returns_its_argument_keeps_names() -> None:
    x = named("N", "C")
    assert Same.apply(x).names == ("N", "C")
    assert Same.apply(x.requires_grad_()).names == ("N", "C")


def test_a_saved_tensor_that_is_a_gradient_loses_its_names() -> None:
    x = named("N", "C").requires_grad_()
    for create_graph in (False, True):
        (grad,) = vt.autograd.grad(Same.apply(x).sum(), x, create_graph=create_graph)
        assert grad.names == (None, None)
    assert x.names == ("N", "C")


def test_a_gradient_with_names_is_one_without() -> None:
    x = named("N", "C").requires_grad_()
    for create_graph in (False, True):
        (grad,) = vt.autograd.grad(x * 1, x, named("N", "C"), create_graph=create_graph)
        assert grad.names == (None, None)


def test_gradients_of_named_functions_are_checked() -> None:
    x = vt.rand(2, 3, dtype=vt.float64, names=("N", "C")).requires_grad_()
    assert vt.autograd.gradcheck(lambda a: (a * a).sum("N"), (x,))
    assert vt.autograd.gradgradcheck(lambda a: (a * a * a).sum("N"), (x,))


def test_a_view_of_the_same_shape_keeps_names() -> None:
    x = named("N", "C")
    assert x.view(2, 3).names == x.view_as(x).names == x.t().reshape(3, 2).names[::-1]
    for shape in ((6,), (3, 2)):
        with pytest.raises(NamesNotSupportedError, match="flatten and unflatten"):
            x.reshape(shape)


def test_a_mismatch_beside_a_dimension_by_name_is_told() -> None:
    x = named("N", "C")
    with pytest.raises(NamesMismatchError):
        x.diff(1, "C", prepend=vt.ones(2, 1, names=("Z", "C")))


def test_squeezing_no_dimension_keeps_all_names() -> None:
    x = vt.ones(1, 2, names=("A", "B"))
    assert x.squeeze(()).names == ("A", "B")
    assert x.squeeze().names == ("B",)


def test_empty_vectors_that_cat_leaves_out_have_no_say() -> None:
    x, nothing = named("N", "C"), vt.zeros(0, names=("K",))
    assert vt.cat([nothing, x]).names == ("N", "C")
    assert vt.cat([x, nothing], "C").names == ("N", "C")
    assert vt.cat([nothing, vt.zeros(2, 3)]).names == (None, None)


def test_the_message_says_what_is_wrong_with_names() -> None:
    x = named("N", "C")
    with pytest.raises(NamesNotSupportedError):
        x.repeat_interleave(2, "C")  # type: ignore[arg-type]
    with pytest.raises(NamesMismatchError):
        x.diff(1, "C", prepend=named("A", "B"))
    with pytest.raises(ArgumentTypeError):
        x.sum(("N", None))  # type: ignore[arg-type]


@CYCLE
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_hook_of_a_leafs_node_names_no_gradient(create_graph: bool) -> None:
    x = named("N", "C").requires_grad_()
    node = vt.autograd.graph.get_gradient_edge(x).node
    node.register_prehook(lambda grads: (grads[0].rename("A", "B"),))
    (x * 2).sum().backward(create_graph=create_graph)
    assert x.grad is not None
    assert x.grad.names == (None, None)


@pytest.mark.skipif(vt.__compiled__, reason="compiled code is not traced")
def test_a_layout_that_is_looked_up_while_names_are_given() -> None:
    x = vt.ones(2, 3)
    impl = x._impl
    before = sys.gettrace()

    def at_each_line(frame: FrameType, event: str, argument: object) -> "TraceFunction":
        # What another thread may do at this moment.
        if frame.f_code is TensorImpl.set_extra_meta.__code__ and event == "line":
            impl.find_layout()
        return at_each_line

    try:
        sys.settrace(at_each_line)
        x.rename_("N", "C")
    finally:
        sys.settrace(before)
    assert (x + x).names == ("N", "C")
    assert x[0].names == ("C",)
