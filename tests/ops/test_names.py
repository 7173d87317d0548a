"""The names and the ways to call: what programs written for PyTorch rely on."""

from collections.abc import Callable
from math import inf
from typing import Any

import pytest

import vtgrad as vt
from tests.sweeping import at_once, sweep

# Names of functions that are methods too; with * they have an in-place method, with ** an in-place
# function as well.
BOTH = """
    add* sub* mul* div* pow* neg** abs** sign* exp** expm1** exp2** log** log1p** log2** log10**
    sqrt** rsqrt** reciprocal** square** sin** cos** tan** asin** acos** atan** atan2* sinh** cosh**
    tanh** sigmoid** relu** clamp** maximum minimum where lerp* addcmul* addcdiv* remainder* fmod*
    floor_divide* floor** ceil** round** trunc** frac** isnan isinf isfinite eq* ne* lt* le* gt* ge*
    logical_and* logical_or* logical_xor* logical_not* bitwise_and* bitwise_or* bitwise_xor*
    bitwise_not* bitwise_left_shift* bitwise_right_shift*
    sum mean prod max min amax amin argmax argmin any all var std norm logsumexp softmax log_softmax
    cumsum* cumprod* matmul mm mv bmm dot outer addmm*
    reshape select narrow transpose* t* permute movedim swapaxes* unsqueeze* squeeze* flatten ravel
    unflatten diagonal as_strided** split chunk unbind tensor_split detach
    clone cat- stack- roll flip gather scatter* scatter_add* index_select take masked_select
    masked_fill* index_fill* index_add* index_put** index_copy* nonzero sort argsort topk tril*
    triu* bernoulli*
    acosh** asinh** atanh** arccosh** arcsinh** arctanh** deg2rad** rad2deg** sinc** logit** i0**
    erf** erfc** erfinv* lgamma* digamma* mvlgamma* igamma* igammac* nan_to_num** copysign*
    nextafter* ldexp** heaviside* gcd** lcm** hypot* xlogy** float_power* fmax fmin logaddexp
    logaddexp2 angle signbit isposinf isneginf isreal isclose frexp renorm* addmv* addr* baddbmm*
    addbmm* vdot trace inner
    kron ger cross dist diff aminmax cummax cummin logcumsumexp nansum nanmean count_nonzero
""".split()
# Other names, and what they name; marked as above.
ALIASES = {
    "absolute**": "abs",
    "arccos**": "acos",
    "arcsin**": "asin",
    "arctan**": "atan",
    "arctan2*": "atan2",
    "divide*": "div",
    "fix**": "trunc",
    "greater*": "gt",
    "greater_equal*": "ge",
    "less*": "lt",
    "less_equal*": "le",
    "multiply*": "mul",
    "negative**": "neg",
    "not_equal*": "ne",
    "subtract*": "sub",
}
METHODS = """
    polygamma polygamma_ apply_ map_ map2_ cauchy_ log_normal_ geometric_ allclose equal is_nonzero
    view expand expand_as view_as unfold T mT alias- repeat contiguous to copy_ fill_ zero_
    normal_ uniform_ new_zeros new_ones new_full new_empty float double half bool int long
    numpy tolist item __array__ __len__ __iter__ __bool__ __int__ __float__ __repr__ __deepcopy__
    shape stride storage_offset dtype _version _base _is_view is_leaf requires_grad grad_fn
    output_nr retains_grad data_ptr untyped_storage data detach_ requires_grad_ retain_grad
    register_hook
""".split()
FUNCTIONS = """
    polygamma tensordot var_mean std_mean allclose equal is_nonzero is_tensor is_complex
    is_floating_point numel
    tensor as_tensor from_numpy zeros ones full empty arange linspace eye zeros_like ones_like
    full_like empty_like rand_like randn_like rand randn randint randperm Generator manual_seed
    einsum cat stack no_grad enable_grad set_grad_enabled
""".split()


@sweep([*BOTH, *ALIASES], row=at_once)
def test_functions_methods_and_in_place_variants(entry: str) -> None:
    name = entry.rstrip("*-")
    assert callable(getattr(vt, name))
    if not entry.endswith("-"):
        assert callable(getattr(vt.Tensor, name))
    if "*" in entry:
        assert callable(getattr(vt.Tensor, f"{name}_"))
    assert hasattr(vt, f"{name}_") == entry.endswith("**")


@pytest.mark.parametrize(("entry", "name"), ALIASES.items())
def test_an_alias_is_the_same_operator(entry: str, name: str) -> None:
    alias = entry.rstrip("*")
    assert getattr(vt, alias) is getattr(vt, name)
    assert getattr(vt.Tensor, alias) is getattr(vt.Tensor, name)
    assert getattr(vt.Tensor, f"{alias}_") is getattr(vt.Tensor, f"{name}_")
    if entry.endswith("**"):
        assert getattr(vt, f"{alias}_") is getattr(vt, f"{name}_")


@sweep(METHODS, row=at_once)
def test_methods_and_attributes(entry: str) -> None:
    if not entry.endswith("-"):
        assert hasattr(vt.ones(1, 1), entry)


@sweep(FUNCTIONS, row=at_once)
def test_functions(name: str) -> None:
    assert callable(getattr(vt, name))


@sweep(
    [e.rstrip("*") for e in BOTH if e[-1] != "-" and e.rstrip("*") not in {"where", "split"}],
    row=at_once,
)
def test_first_argument_of_functions_is_called_input(name: str) -> None:
    """A wrong value for it must be the only complaint."""
    function: Callable[..., Any] = getattr(vt, name)
    with pytest.raises(TypeError) as caught:
        function(input="no tensor")
    assert "unexpected keyword" not in str(caught.value)


def table() -> list[tuple[Callable[[], Any], object]]:
    """Calls in the forms that PyTorch documents, and what they give."""
    x = vt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    flat = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    row = vt.tensor([7.0, 8.0, 9.0])
    tall = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    return [
        (lambda: vt.add(input=x, other=1, alpha=2).sum(), 33.0),
        (lambda: x.sub(other=x, alpha=2).sum(), -21.0),
        (lambda: vt.div(x, 2, rounding_mode="floor").sum(), 9.0),
        (lambda: vt.pow(2, exponent=row[:1]), [128.0]),
        (lambda: vt.add(2, row, alpha=2), [16.0, 18.0, 20.0]),
        (lambda: vt.isclose(row > 7, row > 0, atol=1.0), [True, True, True]),
        (lambda: vt.complex(real=row[:1], imag=row[2:]), [7 + 9j]),
        (lambda: vt.polar(abs=row[:1], angle=vt.zeros(1)), [7 + 0j]),
        (lambda: vt.argwhere(x > 4), [[1, 1], [1, 2]]),
        (lambda: reversed(row), [9.0, 8.0, 7.0]),
        (lambda: row[vt.newaxis, :1], [[7.0]]),
        (lambda: vt.tensor([vt.inf, -vt.inf, 0 * vt.pi, 0 * vt.e]), [inf, -inf, 0.0, 0.0]),
        (lambda: vt.tensor(vt.broadcast_shapes((2, 1), (3,), 3)), [2, 3]),
        (lambda: vt.tensor([vt.is_signed(x), vt.is_signed(x > 0)]), [True, False]),
        (lambda: vt.tensor([x.is_same_size(x), x.is_same_size(row)]), [True, False]),
        (lambda: vt.sub(2, row), [-5.0, -6.0, -7.0]),
        (lambda: vt.multiply(2, row, out=vt.empty(0)), [14.0, 16.0, 18.0]),
        (lambda: vt.div(27, row[2:]), [3.0]),
        (lambda: vt.div(20, row, rounding_mode="floor"), [2.0, 2.0, 2.0]),
        (lambda: vt.bitwise_and(3, vt.tensor([1, 6])), [1, 2]),
        (lambda: vt.bitwise_left_shift(1, vt.tensor([0, 3])), [1, 8]),
        (lambda: x.clamp(min=2, max=5).sum(), 21.0),
        (lambda: x.clamp(2, 5).sum(), 21.0),
        (lambda: x.view(3, 2), tall),
        (lambda: x.view((3, 2)), tall),
        (lambda: x.view([3, -1]), tall),
        (lambda: x.reshape(3, 2), tall),
        (lambda: x.reshape(shape=(3, 2)), tall),
        (lambda: vt.reshape(input=x, shape=(6,)), flat),
        (lambda: x.permute(1, 0).sum(1), [5.0, 7.0, 9.0]),
        (lambda: x.permute(dims=(1, 0)).sum(1), [5.0, 7.0, 9.0]),
        (lambda: row.expand(2, 3).sum(), 48.0),
        (lambda: row.expand((2, -1)).sum(), 48.0),
        (lambda: x.sum(dim=1), [6.0, 15.0]),
        (lambda: x.sum(1, True), [[6.0], [15.0]]),
        (lambda: x.sum((0, 1), keepdim=True), [[21.0]]),
        (lambda: x.sum(dim=None), 21.0),
        (lambda: x.sum(dim=1, dtype=vt.int64), [6, 15]),
        (lambda: x.max(dim=1).values, [3.0, 6.0]),
        (lambda: x.max(1, keepdim=True).indices, [[2], [2]]),
        (lambda: vt.max(x, other=vt.tensor(3.0)).sum(), 24.0),
        (lambda: x.var(dim=1, correction=0).sum(), 2 * 2 / 3),
        (lambda: x.var(1, unbiased=False).sum(), 2 * 2 / 3),
        (lambda: vt.norm(row, p=1), 24.0),
        (lambda: vt.split(x, 2, dim=1)[1], [[3.0], [6.0]]),
        (lambda: x.split([1, 2], dim=1)[0], [[1.0], [4.0]]),
        (lambda: vt.split(tensor=x, split_size_or_sections=2, dim=1)[1], [[3.0], [6.0]]),
        (lambda: x.split(split_size=2, dim=1)[1], [[3.0], [6.0]]),
        (lambda: vt.hsplit(x, sections=3)[2], [[3.0], [6.0]]),
        (lambda: x.hsplit(indices=(2,))[1], [[3.0], [6.0]]),
        (lambda: x.vsplit(sections=2)[0], [[1.0, 2.0, 3.0]]),
        (lambda: vt.dsplit(x[None], indices=[2])[1], [[[3.0], [6.0]]]),
        (lambda: x.sum_to_size(1, 3), [[5.0, 7.0, 9.0]]),
        (lambda: x.sum_to_size((3,)), [5.0, 7.0, 9.0]),
        (lambda: x.sum_to_size(size=(2, 1)), [[6.0], [15.0]]),
        (lambda: x.sum_to_size(()), 21.0),
        (lambda: row.clone().copy_(other=x[0]), [1.0, 2.0, 3.0]),
        (lambda: x.tensor_split(2, dim=1)[1], [[3.0], [6.0]]),
        (lambda: vt.tensor_split(x, indices=(1,), dim=1)[0], [[1.0], [4.0]]),
        (lambda: vt.tensor_split(x, sections=2, dim=1)[1], [[3.0], [6.0]]),
        (lambda: row.repeat(2), [7.0, 8.0, 9.0] * 2),
        (lambda: row.repeat((1, 1)), [[7.0, 8.0, 9.0]]),
        (lambda: row.flip(0), [9.0, 8.0, 7.0]),
        (lambda: row.flip(dims=(0,)), [9.0, 8.0, 7.0]),
        (lambda: vt.scatter(row, 0, vt.tensor([1]), value=0.5), [7.0, 0.5, 9.0]),
        (lambda: vt.einsum("ij,j->i", [x, row]), [50.0, 122.0]),
        (lambda: vt.nonzero(row, as_tuple=True)[0], [0, 1, 2]),
        (lambda: vt.topk(row, k=1, largest=False).values, [7.0]),
        (lambda: row.sort(descending=True)[0], [9.0, 8.0, 7.0]),
        (lambda: vt.zeros(2, 1), [[0.0], [0.0]]),
        (lambda: vt.zeros((2,), dtype=vt.int64), [0, 0]),
        (lambda: vt.arange(1, 7, 3), [1, 4]),
        (lambda: row.new_full((2,), 3), [3.0, 3.0]),
        (lambda: 1 << vt.tensor([1, 2]), [2, 4]),
        (lambda: vt.tensor([16, 8]) >> 1, [8, 4]),
        (lambda: 16 >> vt.tensor([1, 2]), [8, 4]),
        (lambda: 2 - row[:1], [-5.0]),
        (lambda: 2 / row[:1] * 7, [2.0]),
        (lambda: vt.relu_(-row), [0.0, 0.0, 0.0]),
        (lambda: vt.fill_(vt.ones(2), 3), [3.0, 3.0]),
    ]


@pytest.mark.parametrize(("call", "expected"), table())
def test_forms_of_calls(call: Callable[[], Any], expected: object) -> None:
    found = call().tolist()
    assert found == (pytest.approx(expected) if isinstance(expected, float) else expected)
