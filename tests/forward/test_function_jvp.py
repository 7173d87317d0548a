"""The jvp of custom Functions."""

from typing import Any, ClassVar

import pytest

import vtgrad as vt
from vtgrad.autograd import forward_ad as fw
from vtgrad.errors import ForwardModeError, FunctionError, UndeclaredWriteError


def tangent_of(x: vt.Tensor) -> vt.Tensor:
    tangent = fw.unpack_dual(x).tangent
    assert tangent is not None
    return tangent


class Cube(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        assert fw.unpack_dual(x).tangent is None
        ctx.save_for_forward(x)
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        tangent: vt.Tensor = 3 * x**2 * t
        return tangent

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        grad: vt.Tensor = 3 * x**2 * g
        return grad


def test_jvp_gives_the_tangent() -> None:
    x = vt.tensor([1.0, 2.0])
    with fw.dual_level():
        y = Cube.apply(fw.make_dual(x, vt.tensor([1.0, 10.0])))
        assert tangent_of(y).tolist() == [3.0, 120.0]


def test_forward_over_reverse_through_a_function() -> None:
    x = vt.tensor([1.0, 2.0], requires_grad=True)
    with fw.dual_level():
        y = Cube.apply(fw.make_dual(x, vt.tensor([1.0, 10.0])))
        (g,) = vt.autograd.grad(y.sum(), x)
        assert g.tolist() == [3.0, 12.0]
        assert tangent_of(g).tolist() == [6.0, 120.0]


def test_reverse_over_forward_through_a_function() -> None:
    x = vt.tensor([1.0, 2.0], requires_grad=True)
    with fw.dual_level():
        tangent = tangent_of(Cube.apply(fw.make_dual(x, vt.tensor([1.0, 10.0]))))
    assert vt.autograd.grad(tangent.sum(), x)[0].tolist() == [6.0, 120.0]


class NoJvp(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        return x * 2


def test_without_jvp_a_dual_is_refused_before_forward() -> None:
    x = vt.ones(2)
    with fw.dual_level():
        d = fw.make_dual(x, vt.ones(2))
        with pytest.raises(NotImplementedError, match="no jvp"):
            NoJvp.apply(d)
        assert fw.unpack_dual(NoJvp.apply(d.detach())).tangent is None


class Doubled(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: vt.Tensor, right: bool) -> vt.Tensor:
        ctx.mark_dirty(x)
        ctx.right = right
        return x.mul_(2)

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor, _: None) -> vt.Tensor:
        return t.mul_(2) if ctx.right else t * 2


def test_a_written_argument_has_its_tangent_written() -> None:
    b, t = vt.ones(3), vt.tensor([1.0, 2.0, 3.0])
    with fw.dual_level():
        d = fw.make_dual(b, t).clone()
        v = d[1:]
        assert Doubled.apply(v, True) is v
        assert tangent_of(d).tolist() == [1.0, 4.0, 6.0]
        with pytest.raises(FunctionError, match="in place"):
            Doubled.apply(v, False)


def test_an_argument_that_is_written_under_no_grad_has_its_tangent_written() -> None:
    # The result is another tensor then, because the argument requires grad.
    x = vt.ones(2, requires_grad=True)
    with fw.dual_level(), vt.no_grad():
        y = Sum.apply(x, fw.make_dual(vt.ones(2), vt.tensor([1.0, 2.0])))
        assert y is not x
        assert x.tolist() == [2.0, 2.0]
        assert tangent_of(x).tolist() == [1.0, 2.0]
        assert tangent_of(y) is tangent_of(x)


class Sum(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(x)
        return x.add_(y)

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor, u: vt.Tensor) -> vt.Tensor:
        return t.add_(u)


class Inner(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        return (x * 2).unsqueeze(0)

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
        return (t * 2).unsqueeze(0)


def test_views_of_a_result_that_is_a_view_of_an_inner_tensor_follow_the_result() -> None:
    with fw.dual_level():
        y = Inner.apply(fw.make_dual(vt.ones(2), vt.tensor([1.0, 2.0])))
        assert tangent_of(y).tolist() == [[2.0, 4.0]]
        assert tangent_of(y[:, 0]).tolist() == [2.0]
        y[0, 0] = 7.0
        assert tangent_of(y).tolist() == [[0.0, 4.0]]


class Rows(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: vt.Tensor, how: str) -> vt.Tensor:
        ctx.how = how
        return x.view(-1)

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor, _: None) -> vt.Tensor:
        return t.view(-1) if ctx.how == "view" else (t * 1).view(-1)


def test_the_tangent_of_a_view_is_a_view() -> None:
    with fw.dual_level():
        d = fw.make_dual(vt.ones(1, 3), vt.tensor([[1.0, 2.0, 3.0]]))
        y = Rows.apply(d, "view")
        assert tangent_of(y).tolist() == [1.0, 2.0, 3.0]
        with pytest.raises(FunctionError, match="view"):
            Rows.apply(d, "copy")


class Wrong(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: vt.Tensor, returned: object) -> tuple[vt.Tensor, vt.Tensor]:
        ctx.returned = returned
        index = x.argmax()
        return x * 2, index

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor, _: object) -> Any:
        return ctx.returned


@pytest.mark.parametrize(
    ("returned", "match"),
    [
        ((vt.ones(2),), "1 tangents for 2"),
        ((vt.ones(2), vt.ones(())), "which has none"),
        ((vt.ones(3), None), "shape"),
        (("no", None), "str"),
        ((vt.ones(2) * 1j, None), "complex"),
    ],
)
def test_wrong_tangents_are_refused(returned: object, match: str) -> None:
    with fw.dual_level():
        d = fw.make_dual(vt.ones(2), vt.ones(2))
        with pytest.raises(FunctionError, match=match):
            Wrong.apply(d, returned)


def test_none_for_a_floating_result_is_zero_and_fresh_results_own_their_tangent() -> None:
    with fw.dual_level():
        t = vt.ones(2)
        d = fw.make_dual(vt.ones(2), t)
        y, _ = Wrong.apply(d, (None, None))
        assert tangent_of(y).tolist() == [0.0, 0.0]
        y, _ = Wrong.apply(d, (t, None))
        y.mul_(5)
        assert t.tolist() == [1.0, 1.0]
        assert tangent_of(y).tolist() == [5.0, 5.0]


class Copied(vt.autograd.Function):
    """Of a dual that jvp captures, only the value is seen there."""

    captured: ClassVar[vt.Tensor]
    seen: ClassVar[list[Any]]

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        return x.double()[1:]

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
        captured = Copied.captured
        product = t.double()[1:] * captured
        Copied.seen = [fw.unpack_dual(x).tangent for x in (captured, product)]
        inner = fw.unpack_dual(captured).primal
        Copied.seen.append(fw.unpack_dual(inner).tangent)
        return product.float()


def test_jvp_sees_no_tangents_of_its_level_and_gives_one_of_the_dtype_of_the_result() -> None:
    with fw.dual_level():
        Copied.captured = fw.make_dual(vt.ones(1), vt.ones(1))
        y = Copied.apply(fw.make_dual(vt.ones(2), vt.tensor([1.0, 2.0])))
        assert Copied.seen == [None, None, None]
        assert tangent_of(y).tolist() == [2.0]
        assert tangent_of(y).dtype == vt.float64


def test_a_part_of_the_tangent_that_jvp_returns_is_copied() -> None:
    class Second(Inner):
        @staticmethod
        def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
            return (x * 1)[1:]

        @staticmethod
        def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
            return t[1:]

    with fw.dual_level():
        d = fw.make_dual(vt.ones(2), vt.tensor([1.0, 2.0]))
        y = Second.apply(d)
        y.mul_(10)
        assert tangent_of(y).tolist() == [20.0]
        assert tangent_of(d).tolist() == [1.0, 2.0]


class Failing(vt.autograd.Function):
    """Writes to its argument, and has a jvp that fails."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
        raise KeyError


def test_the_tangent_of_a_written_argument_is_given_up_if_jvp_fails() -> None:
    with fw.dual_level():
        base = fw.make_dual(vt.ones(3), vt.ones(3)).clone()
        part = base[1:]
        with pytest.raises(KeyError):
            Failing.apply(part)
        for x in (base, part):
            with pytest.raises(ForwardModeError, match="interrupted"):
                fw.unpack_dual(x)
    # The value is there, without a tangent of a later level.
    assert base.tolist() == [1.0, 2.0, 2.0]
    with fw.dual_level():
        assert tangent_of(fw.make_dual(base, vt.ones(3)) * 2).tolist() == [2.0, 2.0, 2.0]


def test_an_undeclared_write_to_a_dual_is_refused() -> None:
    class Undeclared(vt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
            x.mul_(2)
            return y * 1

        @staticmethod
        def jvp(ctx: Any, t: vt.Tensor, u: vt.Tensor) -> vt.Tensor:
            return u * 1

    with fw.dual_level():
        x, y = (fw.make_dual(vt.ones(3), vt.ones(3)) for _ in range(2))
        with pytest.raises(UndeclaredWriteError, match="its tangent would be that of the old"):
            Undeclared.apply(x, y)
        with pytest.raises(ForwardModeError):
            fw.unpack_dual(x)
        # What has no tangent may be a statistic.
        with pytest.warns(UserWarning, match="wrote to argument 0"):
            assert tangent_of(Undeclared.apply(vt.ones(3), y)).tolist() == [1.0, 1.0, 1.0]


class Spy(vt.autograd.Function):
    seen: ClassVar[list[Any]]

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor, y: vt.Tensor, k: vt.Tensor, n: int) -> vt.Tensor:
        Spy.seen = [vt.is_grad_enabled(), fw.unpack_dual(x).tangent]
        ctx.save_for_backward(x)
        ctx.n = n
        ctx.set_materialize_grads(n > 0)
        return x * y * n

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        Spy.seen += [vt.is_grad_enabled(), ctx.saved_tensors, tangents[1:], ctx.n]
        assert fw.unpack_dual(tangents[0]).tangent is None
        return tangents[0] * 1


@pytest.mark.parametrize("n", [1, 0])
def test_jvp_gets_one_tangent_for_each_argument(n: int) -> None:
    with fw.dual_level(), vt.no_grad():
        d = fw.make_dual(vt.ones(2), vt.ones(2))
        Spy.apply(d, vt.ones(2), vt.tensor([1, 2]), n)
    grad_in_forward, tangent, grad_in_jvp, saved, (of_plain, *others), kept = Spy.seen
    assert (grad_in_forward, tangent, grad_in_jvp, kept) == (False, None, True, n)
    assert saved == ()  # only what is saved for forward
    assert others == [None, None]
    assert of_plain.tolist() == [0, 0] if n else of_plain is None


class Plain(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(x)
        ctx.save_for_forward(None, y)
        return x.mul_(2).add_(y)

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor, u: vt.Tensor) -> vt.Tensor:
        nothing, _ = ctx.saved_tensors
        assert nothing is None
        assert t.tolist() == [0, 0]
        return t * 2 + u


def test_a_written_argument_without_a_tangent_gets_any_that_is_returned() -> None:
    b = vt.zeros(3)
    with fw.dual_level():
        v = b[1:]
        assert Plain.apply(v, fw.make_dual(vt.ones(2), vt.tensor([5.0, 6.0]))) is v
        assert tangent_of(b).tolist() == [0, 5, 6]


class Same(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: vt.Tensor, how: str) -> vt.Tensor:
        ctx.how = how
        return x

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor, _: None) -> vt.Tensor:
        return {"view": t.view_as(t), "itself": t, "result": t * 2}[ctx.how]


def test_the_tangent_of_an_argument_that_is_returned_is_a_view_of_its_tangent() -> None:
    with fw.dual_level():
        d = fw.make_dual(vt.ones(2), vt.tensor([5.0, 6.0]))
        assert tangent_of(Same.apply(d, "view")).tolist() == [5, 6]
        for how in ("itself", "result"):
            with pytest.raises(FunctionError, match="view"):
                Same.apply(d, how)
