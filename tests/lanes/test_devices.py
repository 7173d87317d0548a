"""Where tensors are, and that every operator makes its results where its operands are."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from tests.ops.calls import Case, arguments_of, as_array, cases, function_named, results_of
from tests.sweeping import by_table, sweep

LANE = vt.device("lane:0")


# -- devices -----------------------------------------------------------------------------------


def test_a_device_has_a_kind_and_a_number() -> None:
    assert vt.device("lane:1") == vt.device("lane", 1) != vt.device("lane", 0)
    assert hash(vt.device("lane:1")) == hash(vt.device("lane", 1))
    assert (vt.device("lane:1").type, vt.device("lane:1").index) == ("lane", 1)
    assert repr(vt.device("lane", 1)) == "device(type='lane', index=1)"
    assert (str(vt.device("lane", 1)), str(vt.device("cpu"))) == ("lane:1", "cpu")
    assert vt.zeros(1, device="lane").device == vt.device("lane", 0)


@pytest.mark.parametrize("name", ["lane:", "lane:x", "lane:-1", "lane:1.0"])
def test_a_wrong_number_is_refused(name: str) -> None:
    with pytest.raises(vt.errors.DeviceError):
        vt.device(name)


def test_wrong_devices_are_refused() -> None:
    with pytest.raises(vt.errors.DeviceError):
        vt.device("lane:1", 2)
    with pytest.raises(vt.errors.DeviceError):
        vt.device("lane", -1)
    with pytest.raises(vt.errors.DeviceError):
        vt.zeros(2, device="cpu:1")
    with pytest.raises(vt.errors.NotSupportedError):
        vt.zeros(2, device="cuda")
    with pytest.raises(vt.errors.ArgumentTypeError):
        vt.zeros(2, device=3)  # type: ignore[arg-type]


MAKERS: dict[str, Callable[..., vt.Tensor]] = {
    "tensor": lambda **o: vt.tensor([1.0, 2.0], **o),
    "as_tensor": lambda **o: vt.as_tensor(np.ones(2), **o),
    "as_tensor of a tensor": lambda **o: vt.as_tensor(vt.ones(2), **o),
    "zeros": lambda **o: vt.zeros(2, **o),
    "ones": lambda **o: vt.ones(2, **o),
    "empty": lambda **o: vt.empty(2, **o),
    "full": lambda **o: vt.full((2,), 3.0, **o),
    "empty_strided": lambda **o: vt.empty_strided((2,), (1,), **o),
    "arange": lambda **o: vt.arange(3, **o),
    "linspace": lambda **o: vt.linspace(0, 1, 3, **o),
    "eye": lambda **o: vt.eye(2, **o),
    "rand": lambda **o: vt.rand(2, **o),
    "randn": lambda **o: vt.randn(2, **o),
    "randint": lambda **o: vt.randint(3, (2,), **o),
    "randperm": lambda **o: vt.randperm(3, **o),
    "normal": lambda **o: vt.normal(0.0, 1.0, (2,), **o),
    "zeros_like": lambda **o: vt.zeros_like(vt.ones(2), **o),
    "ones_like": lambda **o: vt.ones_like(vt.ones(2), **o),
    "empty_like": lambda **o: vt.empty_like(vt.ones(2), **o),
    "full_like": lambda **o: vt.full_like(vt.ones(2), 3, **o),
    "rand_like": lambda **o: vt.rand_like(vt.ones(2), **o),
    "randn_like": lambda **o: vt.randn_like(vt.ones(2), **o),
    "randint_like": lambda **o: vt.randint_like(vt.ones(2), 3, **o),
    "new_tensor": lambda **o: vt.ones(2).new_tensor([1.0], **o),
    "new_zeros": lambda **o: vt.ones(2).new_zeros(2, **o),
    "new_ones": lambda **o: vt.ones(2).new_ones(2, **o),
    "new_empty": lambda **o: vt.ones(2).new_empty(2, **o),
    "new_full": lambda **o: vt.ones(2).new_full((2,), 3, **o),
    "new_empty_strided": lambda **o: vt.ones(2).new_empty_strided((2,), (1,), **o),
    "new": lambda **o: vt.ones(2).new(2, **o),
    "FloatTensor": lambda **o: vt.FloatTensor(2, **o),
}


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_made_is_where_it_was_asked_for(name: str) -> None:
    assert MAKERS[name](device="lane:0").device == LANE
    assert MAKERS[name](device="cpu").device == MAKERS[name]().device == vt.device("cpu")
    made = MAKERS[name](device=LANE)
    assert made.untyped_storage().device == made._impl.storage.device == LANE
    assert not made.is_cpu
    assert made.get_device() == 0


@pytest.mark.parametrize("name", [name for name in MAKERS if "_like" in name or "new" in name])
def test_what_is_made_like_a_tensor_is_where_the_tensor_is(name: str) -> None:
    x = vt.ones(2, device="lane:0")
    more = {"full": (3,), "randint": (3,)}
    if name.endswith("_like"):
        function: Callable[..., vt.Tensor] = getattr(vt, name)
        arguments = (x, *more.get(name.removesuffix("_like"), ()))
    else:
        function = getattr(x, name)
        arguments = {
            "new_tensor": ([1.0],),
            "new_full": ((2,), 3),
            "new_empty_strided": ((2,), (1,)),
        }.get(name, (2,))
    assert function(*arguments).device == LANE
    assert function(*arguments, device="cpu").device == vt.device("cpu")
    assert function(*arguments, device="lane:1").device == vt.device("lane:1")


# -- moves -------------------------------------------------------------------------------------


def test_a_move_copies_and_is_recorded() -> None:
    x = vt.tensor([1.0, 2.0], requires_grad=True)
    y = x.to("lane:1")
    assert y.grad_fn is not None
    assert y.grad_fn.name() == "ToCopyBackward0"
    assert y.grad_fn._input_metadata[0].device == y.device == vt.device("lane:1")
    y.data[0] = 5
    assert x.tolist() == [1, 2]
    (y * 3).cpu().sum().backward()
    assert x.grad is not None
    assert (x.grad.tolist(), str(x.grad.device)) == ([3, 3], "cpu")


def test_a_move_to_where_a_tensor_is_returns_the_tensor() -> None:
    x = vt.ones(2, device="lane:0")
    assert x.to("lane:0") is x.to(x) is x.to(LANE, vt.float32) is x.to(vt.float32) is x
    assert x.to("lane:0", copy=True) is not x
    assert x.to(vt.float64).device == LANE
    assert x.to(vt.ones(1, dtype=vt.float64)).device == vt.device("cpu")
    assert x.cpu().cpu().device == vt.device("cpu")
    assert x.to("lane:1", vt.float64).dtype is vt.float64


def test_copies_keep_the_device() -> None:
    x = vt.ones(2, device="lane:0")
    assert copy.deepcopy(x).device == LANE
    assert pickle.loads(pickle.dumps(x)).device == LANE
    assert pickle.loads(pickle.dumps(LANE)) == LANE


def test_copy_copies_between_devices() -> None:
    x = vt.zeros(2, device="lane:0")
    y = vt.ones(2, requires_grad=True)
    assert x.copy_(y) is x
    x.sum().backward()
    assert y.grad is not None
    assert (y.grad.tolist(), str(y.grad.device)) == ([1, 1], "cpu")


@pytest.mark.parametrize(
    "mix",
    [
        lambda lane, cpu: lane + cpu,
        lambda lane, cpu: cpu + lane,
        lambda lane, cpu: lane.add_(cpu),
        lambda lane, cpu: cpu.add_(lane),
        lambda lane, cpu: vt.cat([lane, cpu]),
        lambda lane, cpu: vt.mul(lane, lane, out=cpu),
        lambda lane, cpu: cpu.sum().add_(lane.sum()),
        lambda lane, cpu: lane.sum() + cpu,
        lambda lane, cpu: lane + lane.to("lane:1"),
        lambda lane, cpu: vt.where(lane > 0, lane, cpu),
        lambda lane, cpu: lane @ cpu,
    ],
)
def test_tensors_of_different_devices_are_refused(
    mix: Callable[[vt.Tensor, vt.Tensor], object],
) -> None:
    lane, cpu = vt.ones(2, 2, device="lane:0"), vt.ones(2, 2)
    with pytest.raises(vt.errors.DeviceError, match="lane:0"):
        mix(lane, cpu)
    assert lane.tolist() == cpu.tolist() == [[1, 1], [1, 1]]
    assert lane._version == cpu._version == 0


def test_a_number_of_the_cpu_may_stand_beside_a_lane() -> None:
    x = vt.ones(2, device="lane:0", requires_grad=True)
    scale = vt.tensor(3.0, requires_grad=True)
    assert (x * scale).device == (scale * x).device == LANE
    (x * scale).sum().backward()
    assert scale.grad is not None
    assert (scale.grad.item(), str(scale.grad.device)) == (2, "cpu")
    first, second = vt.autograd.grad((x * scale).sum(), (x, scale), create_graph=True)
    assert (str(first.device), str(second.device)) == ("lane:0", "cpu")
    second.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [4, 4]


def test_indices_may_be_on_the_cpu() -> None:
    x = vt.arange(3.0, device="lane:0", requires_grad=True)
    rows = vt.tensor([0, 2, 0])
    y = x[rows]
    assert (str(y.device), y.tolist()) == ("lane:0", [0, 2, 0])
    assert x[vt.tensor([True, False, True])].device == LANE
    z = x.clone()
    z[rows[:2]] = 5.0
    z[1] = vt.ones(())
    (y.sum() + z.sum()).backward()
    assert x.grad is not None
    assert (x.grad.tolist(), z.tolist()) == ([2, 0, 1], [5, 1, 5])
    with pytest.raises(vt.errors.DeviceError):
        vt.ones(3)[rows.to("lane:0")]


def test_memory_of_another_device_is_refused() -> None:
    x, y = vt.ones(2, device="lane:0"), vt.zeros(2)
    with pytest.raises(vt.errors.DeviceError):
        y.data = x
    with pytest.raises(vt.errors.GradAssignmentError, match="lane:0"):
        y.grad = x
    with pytest.raises(vt.errors.DeviceError):
        y.set_(x)
    with pytest.raises(vt.errors.DeviceError):
        y.set_(x.storage())
    with pytest.raises(vt.errors.DeviceError):
        vt.zeros(2, out=y, device="lane:0")
    assert y.set_(vt.ones(2).storage()).tolist() == [1, 1]
    assert x.set_(vt.zeros(3, device="lane:0").storage()).device == LANE


def test_gradients_on_a_lane_are_checked_by_finite_differences() -> None:
    x = vt.rand(2, 2, dtype=vt.float64, device="lane:0", requires_grad=True)
    assert vt.autograd.gradcheck(lambda z: (z * z).sin(), (x,))
    assert vt.autograd.gradgradcheck(lambda z: (z * z).sin(), (x,))


# -- operators ---------------------------------------------------------------------------------


def _on_lane(value: object) -> object:
    if isinstance(value, vt.Tensor):
        return value.to("lane:0")
    if isinstance(value, list):
        return [_on_lane(x) for x in value]
    return value


@sweep(cases(), row=by_table)
def test_results_are_where_the_operands_are(case: Case) -> None:
    function = function_named(case.operator.name)
    values, options = arguments_of(case)
    if not any(isinstance(x, (vt.Tensor, list)) for x in values):
        pytest.skip("an operator without operands")
    vt.manual_seed(5)
    expected = results_of(function(*values, **options))
    values, options = arguments_of(case)
    vt.manual_seed(5)
    found = results_of(
        function(*map(_on_lane, values), **{k: _on_lane(v) for k, v in options.items()})
    )
    assert [x.device for x in found] == [LANE] * len(expected)
    for one, other in zip(found, expected, strict=True):
        assert as_array(vt.clone(one)).tobytes() == as_array(vt.clone(other)).tobytes()


@sweep(cases(), row=by_table)
def test_gradients_are_where_the_operands_are(case: Case) -> None:
    function = function_named(case.operator.name)
    values, options = arguments_of(case)
    values = [_on_lane(x) for x in values]
    leaves = [x for v in values for x in (v if isinstance(v, list) else [v])]
    leaves = [x for x in leaves if isinstance(x, vt.Tensor) and x.is_floating_point()]
    for x in leaves:
        assert isinstance(x, vt.Tensor)
        x.requires_grad_()
    if case.operator.returns in {"Self", "Geometry"} or not leaves:
        pytest.skip("not of a leaf")
    options = {k: _on_lane(v) for k, v in options.items()}
    for result in results_of(function(*values, **options)):
        if not result.requires_grad or result.is_leaf:
            continue
        assert result.grad_fn is not None
        assert {meta.device for meta in result.grad_fn._input_metadata} == {LANE}
        for create_graph in (False, True):
            try:
                grads = vt.autograd.grad(
                    result,
                    leaves,  # type: ignore[arg-type]
                    vt.ones_like(result),
                    retain_graph=True,
                    create_graph=create_graph,
                    allow_unused=True,
                )
            except (vt.errors.NotSupportedError, vt.errors.NoDerivativeError):
                continue
            assert {g.device for g in grads if g is not None} <= {LANE}


def test_indices_of_the_cpu_select_from_any_device() -> None:
    x = vt.arange(4.0, device="lane:1").requires_grad_()
    where, mask = vt.tensor([0, 2]), vt.tensor([True, False, True, False])
    for index in (where, mask, [0, 2], where.to("lane:1")):
        part = x[index]
        assert (str(part.device), part.tolist()) == ("lane:1", [0, 2])
        copy = x.detach().clone()
        copy[index] = 7.0
        assert (str(copy.device), copy.tolist()) == ("lane:1", [7, 1, 7, 3])
        (grad,) = vt.autograd.grad((part**3).sum(), x, create_graph=True)
        (second,) = vt.autograd.grad(grad.sum(), x)
        assert (str(second.device), second.tolist()) == ("lane:1", [0, 0, 12, 0])
    with pytest.raises(vt.errors.DeviceError):
        vt.arange(4.0)[where.to("lane:1")]
    with pytest.raises(vt.errors.DeviceError):
        x.detach()[where] = vt.ones(2)


def test_a_device_is_never_changed() -> None:
    device = vt.zeros(1).device
    with pytest.raises(AttributeError):
        device.type = "lane"  # type: ignore[misc]  # it is read-only
    with pytest.raises(AttributeError):
        device.index = 1  # type: ignore[misc]  # it is read-only


def test_what_refers_to_a_tensor_is_on_its_device() -> None:
    x, y = vt.ones(2, requires_grad=True), vt.ones(2, device="lane", requires_grad=True)
    for a, b in ((x, y), (y, x)):
        with pytest.raises(vt.errors.GradAssignmentError, match="lane:0"):
            a.grad = b.detach()
        assert a.grad is None
        with pytest.raises(vt.errors.DeviceError, match="lane:0"):
            a.data = b.detach()
        with pytest.raises(vt.errors.DeviceError, match="lane:0"):
            a.detach().set_(b.untyped_storage())
        with pytest.raises(vt.errors.DeviceError, match="lane:0"):
            vt.equal(a, b)
    y.data = vt.zeros(3, device="lane")
    assert (str(y.device), y.tolist()) == ("lane:0", [0, 0, 0])


@pytest.mark.filterwarnings("ignore:tensor\\(x\\) of a tensor")
def test_copies_take_the_device_with_them() -> None:
    x, y = vt.ones(2, dtype=vt.float64), vt.ones(2, device="lane")
    assert str(vt.tensor(y).device) == "lane:0"
    assert str(vt.tensor(y, device="cpu").device) == "cpu"
    assert str(x.type_as(y).device) == "lane:0"
    assert y.type_as(x).is_cpu
    assert y.type_as(x).dtype == vt.float64
    assert y.type_as(y) is y


def test_a_pack_function_makes_tensors_where_it_says() -> None:
    seen: list[str] = []

    def pack(x: vt.Tensor) -> vt.Tensor:
        seen.extend(str(y.device) for y in (x, x * 2, x.cpu() * 2, vt.zeros(2), vt.ones(1) + 1))
        with vt.no_grad():
            return x.cpu()

    x = vt.ones(2, device="lane", requires_grad=True)
    with vt.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed.to("lane")):
        y = x.exp() * 1.0
    assert seen == ["lane:0", "lane:0", "cpu", "cpu", "cpu"]
    assert str(y.device) == "lane:0"
    y.sum().backward()
    assert x.grad is not None
    assert str(x.grad.device) == "lane:0"


@pytest.mark.parametrize("gaps", [False, True])
def test_gradients_on_lanes_are_checked(gaps: bool) -> None:
    x = vt.ones(2, device="lane", dtype=vt.float64, requires_grad=True)
    y = vt.ones(2, dtype=vt.float64, requires_grad=True)

    def function(a: vt.Tensor, b: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        return a**3, (a * b.to("lane")).cpu()

    assert vt.autograd.gradcheck(function, (x, y))
    assert vt.autograd.gradcheck(function, (x, y), fast_mode=True)
    assert vt.autograd.gradgradcheck(function, (x, y), gen_non_contig_grad_outputs=gaps)


@pytest.mark.parametrize("devices", [("lane:0", "cpu"), ("cpu", "lane:0"), ("lane:0", "lane:1")])
def test_a_tangent_on_another_device_is_refused_at_once(devices: tuple[str, str]) -> None:
    x, tangent = [vt.ones(2, device=device) for device in devices]
    with (
        vt.autograd.forward_ad.dual_level(),
        pytest.raises(vt.errors.DeviceError, match="the tangent is on"),
    ):
        vt.autograd.forward_ad.make_dual(x, tangent)
    with pytest.raises(vt.errors.DeviceError, match="is on"):
        vt.func.jvp(lambda y: y * 2, (x,), (tangent,))
