"""Right lines: each runs, and no type checker has anything to say about it."""
# pyright: strict

import functools
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

import vtgrad as vt
from vtgrad.autograd import gradcheck, gradgradcheck
from vtgrad.autograd.function import FunctionCtx
from vtgrad.autograd.functional import hvp, jacobian, vhp
from vtgrad.func import (
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    sparsity_pattern,
    vjp,
)
from vtgrad.return_types import SortResult
from vtgrad.testing.checking import Rule
from vtgrad.types import Data, Dim, Index, Int, Number

T = TypeVar("T", bound=vt.Tensor)


def tensor(*values: vt.Tensor) -> None:
    """Takes tensors."""


def number(*values: float) -> None:
    """Takes real numbers."""


def anything(*values: object) -> None:
    """Takes anything."""


def flag(*values: bool) -> None:
    """Takes bools."""


class Own(vt.Tensor):
    unit: str = "m"


class Scale(vt.autograd.Function):
    @staticmethod
    def forward(
        ctx: FunctionCtx, x: vt.Tensor, /, factor: float = 2.0, *, shift: float = 0.0
    ) -> vt.Tensor:
        ctx.save_for_backward(x)
        ctx.saved_data["factor"] = factor
        return x * factor + shift

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: vt.Tensor) -> tuple[vt.Tensor, None]:
        return gradient * 2.0, None


def twice(x: T) -> T:
    return x + x


def along(x: vt.Tensor, dim: Dim) -> vt.Tensor:
    return x.sum(dim)


def times(x: vt.Tensor, n: Int, factor: Number) -> vt.Tensor:
    return x.repeat(n, n) * factor


def part(x: vt.Tensor, index: Index) -> vt.Tensor:
    return x[index]


def made(data: Data) -> vt.Tensor:
    return vt.tensor(data)


def loss(w: vt.Tensor, scale: float = 1.0) -> vt.Tensor:
    return (w * w).sum() * scale


def pair(w: vt.Tensor) -> tuple[vt.Tensor, int]:
    return w.sum(), 3


def rows(x: vt.Tensor) -> Iterator[vt.Tensor]:
    yield from x


def double(gradient: vt.Tensor) -> vt.Tensor:
    return gradient * 2


def cube(w: vt.Tensor) -> vt.Tensor:
    return (w**3).sum()


def loss_of_two(a: vt.Tensor, b: vt.Tensor) -> vt.Tensor:
    return (a * b).sum()


def both(a: vt.Tensor, b: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    return a * b, a + b


def product_of_all(*tensors: vt.Tensor) -> vt.Tensor:
    return vt.stack(tensors).prod()


def of_parameters(parameters: dict[str, vt.Tensor], inputs: list[vt.Tensor]) -> vt.Tensor:
    return (parameters["w"] * inputs[0]).sum()


def scaled(w: vt.Tensor, *, factor: float) -> vt.Tensor:
    return w * factor


def scaled_array(w: NDArray[np.float64], *, factor: float) -> NDArray[np.float64]:
    return w * factor


def of_four_arrays(
    a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64], d: NDArray[np.float64]
) -> NDArray[np.float64]:
    return a * b * c * d


class Layer:
    def forward(self, w: vt.Tensor, scale: float = 2.0) -> vt.Tensor:
        return (w * w).sum() * scale

    def __call__(self, w: vt.Tensor) -> vt.Tensor:
        return self.forward(w)


def as_float(value: object) -> float:
    return value.sum().item() if vt.is_tensor(value) else 0.0


def listed(w: vt.Tensor) -> list[float]:
    return w.tolist()


@vt.no_grad()
def evaluated(w: vt.Tensor, scale: float = 1.0) -> vt.Tensor:
    return w * scale


@vt.inference_mode
def inferred(w: vt.Tensor) -> vt.Tensor:
    return w * 2


@vt.enable_grad()
def doubled_rows(w: vt.Tensor) -> Iterator[vt.Tensor]:
    for row in w:
        yield row * 2


@vt.no_grad()
async def awaited(w: vt.Tensor) -> vt.Tensor:
    return w * 2


x = vt.ones(2, 3, requires_grad=True)
y = vt.arange(6, dtype=vt.float32).reshape(2, 3)
v = vt.tensor([3.0, 1.0, 2.0])
m = vt.eye(3)
i = vt.tensor([0, 1])
own = vt.ones(2).as_subclass(Own)
a = np.arange(6.0).reshape(2, 3)
n64, n8, f64, f32, b1 = np.int64(1), np.int8(1), np.float64(2.0), np.float32(2.0), np.bool(True)
losses: list[float] = []

# -- numbers of Python and of NumPy
tensor(x + 1, 1 + x, x - 1.5, 2.5 * x, x / 2, 2 / (x + 1), x**2, 2**x, y // 2, y % 2, -x, +x)
tensor(x + n64)
tensor(x * n8)
tensor(x - f64)
tensor(x / f32)
tensor(x**n64)
tensor(y + b1)
tensor(x == n64, x != f32, x < f64, x <= n8, x > n64, x >= f32)
tensor(vt.add(x, n64))
tensor(vt.mul(f32, x))
tensor(vt.sub(x, y, alpha=n64))
tensor(x.add(f64), x.mul(n8), x.div(f32), x.pow(n64))
tensor(x.clamp(min=f32, max=f64))
tensor(vt.full((2,), f32))
tensor(vt.full((n64, 2), 1.5))
tensor(vt.zeros(n64), vt.zeros(n8, 2), vt.zeros((n64, 3)), vt.ones([n64]))
tensor(vt.arange(n64), vt.arange(0, n64), vt.linspace(f64, 5, n64))
tensor(vt.eye(n64, 2))
tensor(x.reshape(n64, -1), x.view(3, n8 + n8), x.expand(2, 3), x[0].expand(n64, 3))
tensor(x.sum(n64), x.mean(np.int32(0)), x.amax((n64,)), x.softmax(n64))
tensor(vt.where(x > 0, x, f32), vt.where(x > 0, n64, x))
tensor(vt.cat([x, y], n64), vt.stack([x, y], n8), x.unsqueeze(n64), x.transpose(0, n64))
tensor(x.norm(f32), v.topk(n64).values, x.roll(n64, n64), x.flip(n64))

# -- indices
tensor(x[0], x[-1], x[0, 1], x[0][1])
tensor(x[n64], x[n8, 0], x[np.intp(0), :])
tensor(x[:, 1:], x[..., 0], x[None], x[:, None, 1], x[::2], x[1:n64])
tensor(x[i], x[[0, 1]], x[i, 1], x[[0, 1], [1, 2]], x[:, [0, 2]])
tensor(x[x > 0], x[np.array([True, False])], x[np.array([0, 1])], x[range(2)])
tensor(x[vt.newaxis, 0], x[True], x[(0, slice(None))])
tensor(part(x, (0, slice(1, None))), part(x, ...), part(x, [0]), part(x, None))
y[0] = 1.0
y[0, 1] = n64
y[:, 0] = vt.zeros(2)
y[y > 2] = f32
y[i] = v
y[...] = vt.ones(2, 3)
y += 1
y -= n64
y *= f32
y /= 2.0
y[0] += 1
y[:, 1] *= f64

# -- results
number(x.sum().item())
losses.append(loss(v).item())
flag(loss(v).item() > 1)
flag(x.sum().item() == 6, bool(x.sum().item() <= n64))
number(max(losses), float(x.sum()), int(x.sum()), round(x.sum().item(), 2))
number(sum(losses) + x.sum().item() / 2)
anything(f"{x.sum().item():.3f}", f"{x.sum():.3f}")
flag(bool(x.sum() > 0), x.requires_grad, x.is_leaf, x.is_contiguous(), vt.allclose(x, x))
tensor(vt.sort(v).values, vt.sort(v).indices, v.sort(descending=True).values, *v.sort())
values, indices = v.sort()
tensor(values, indices)
tensor(x.max(), x.max(1).values, x.max(dim=0).indices, x.max(y), vt.max(x, 1)[0], x.min(axis=1)[1])
tensor(vt.var_mean(x).mean, vt.std_mean(x, 1).std, v.median(0).values, v.topk(2).indices)
tensor(v.cummax(0).values, vt.aminmax(v).min, vt.frexp(v).mantissa)
tensor(*x.unbind(), *x.split(1), *x.chunk(2, 1), *vt.split(x, [1, 2], 1), *x.tensor_split(2))
first, second = x.unbind(0)
tensor(first, second)
results: list[SortResult[vt.Tensor]] = [v.sort(), vt.sort(v, stable=True)]
shape: tuple[int, ...] = x.shape
number(
    x.shape[0],
    x.size(1),
    x.ndim,
    x.numel(),
    len(x),
    x.shape.numel(),
    *x.stride(),
    x.storage_offset(),
)
array = x.detach().numpy() + a
anything(array.mean(), a * x.detach().numpy(), x.tolist(), x.shape + (1,), x.dtype.itemsize)
anything(x.dtype == vt.float32, x.dtype is vt.float64, x.device.type, str(x), repr(x), hash(x))
anything([row.sum().item() for row in x], list(rows(x)), [float(p) for p in v], {"x": x}, {x: 1})
for row in x:
    tensor(row)
for nr, row in enumerate(x.unbind(1)):
    tensor(row * nr)

# -- making tensors
tensor(vt.tensor(1), vt.tensor(2.5), vt.tensor(True), vt.tensor([]), vt.tensor(1 + 2j))
tensor(vt.tensor([1, 2]), vt.tensor([[1.0], [2.0]]), vt.tensor((1, 2)), vt.tensor(range(3)))
tensor(vt.tensor(a), vt.tensor(n64), vt.tensor(f32), vt.tensor([n64, 2]), vt.tensor([[f32], [1.0]]))
tensor(
    vt.tensor([v[0], v[1]]),
    vt.tensor([a[0], a[1]]),
    vt.tensor(losses),
    vt.as_tensor(a),
    vt.from_numpy(a),
)
tensor(vt.tensor([1.0], dtype=vt.float64, requires_grad=True), vt.zeros(2, dtype=vt.int64))
tensor(vt.zeros(2, 3), vt.zeros((2, 3)), vt.zeros([2, 3]), vt.zeros(size=(2, 3)), vt.zeros(x.shape))
tensor(
    vt.rand(2), vt.randn(2, 3), vt.randint(0, 5, (2,)), vt.randperm(4), vt.normal(0.0, 1.0, (2,))
)
tensor(vt.zeros_like(x), vt.ones_like(x, dtype=vt.float64), vt.full_like(x, 2), vt.rand_like(x))
tensor(x.new_zeros(2), x.new_tensor([1.0]), x.clone(), x.detach(), x.to(vt.float64), x.double())
tensor(made([[1, 2], [3, 4]]), made(n64), made(a), made([f32, 1]), made(((1.0, 2.0), (3.0, 4.0))))
tensor(vt.rand(2, generator=vt.Generator().manual_seed(1)), vt.empty(2), vt.FloatTensor([1, 2]))
tensor(vt.arange(3), vt.arange(1, 3), vt.arange(3, step=2), vt.arange(end=3), vt.arange(0, end=3))
tensor(vt.zeros(2, dtype=float), vt.ones(2, dtype=int), vt.tensor([1], dtype=bool), x.to(float))
anything(vt.viz.make_dot(x).source, vt.viz.storage_map(x=x), vt.testing.checking.Rule)
anything(vt.viz.story().data()["steps"], vt.viz.story(x.sin).steps[0].text)
anything([part["runs"] for step in vt.viz.story(vt.sin, x).steps for part in step.writes])
tensor(vt.Tensor([1.0]), vt.Tensor(2, 3), vt.Tensor(), vt.Tensor(x), vt.Tensor(size=(2,)))
tensor(vt.zeros(2, dtype=np.float64), vt.ones(2, dtype="int64"), vt.eye(2, dtype=complex))
tensor(x.to(np.float32), x.to("float16"), x.to(np.dtype("int8")), x.sum(dtype=np.int64))
tensor(
    vt.arange(3, dtype=np.dtype(np.float64)), x.softmax(0, dtype="float64"), x.to("cpu", np.int8)
)
tensor(x.sum(dtype=float), x.new_zeros(2, dtype=int), v.cumsum(0, dtype=float), x.to(dtype=float))

# -- lists
number(*[value + 1 for value in v.tolist()], v.tolist()[0], x.tolist()[0][1], max(v.tolist()))
order: list[int] = v.argsort().tolist()
names = [["a", "b", "c"][place] for place in order]
flag(v.tolist() == [1.0], v[0].tolist() == 1.0, len(listed(v)) == 3)

# -- shapes, compared
flag(x.shape == (2, 3), x.shape != [2, 3])
assert x.shape == (2, 3)
number(x.shape.numel(), x.shape[1:].numel())
wanted: vt.Size = x.shape

# -- one tensor or several
tensor(vt.atleast_1d(x), vt.atleast_2d(v).sum(), *vt.atleast_3d(v, x), *vt.atleast_1d([v, x]))
mixed: list[vt.Tensor | float] = [x, 1.0]
number(
    *[as_float(part) for part in mixed], *[e.item() if vt.is_tensor(e) else e for e in (v[0], 1)]
)

# -- operators
tensor(x @ m, v @ v, vt.matmul(x, m), vt.einsum("ij,jk->ik", x, m), x.mm(m), vt.dot(v, v))
tensor(
    vt.cat([x, y]), vt.cat((x, y), dim=1), vt.stack([v, v]), vt.hstack([v, v]), vt.vstack((v, v))
)
tensor(x.sum(), x.sum(0), x.sum((0, 1)), x.sum(dim=[0]), x.sum(axis=1, keepdims=True))
tensor(x.mean(-1, keepdim=True), x.std(), x.var(0, unbiased=False), x.prod(1), x.argmax(), x.any())
tensor(x.exp().log().sin().cos().tanh().sigmoid().relu().abs().sqrt())
tensor(x.softmax(axis=0), vt.softmax(x, 0, vt.float64), x.log_softmax(axis=1, dtype=float))
tensor(v.cumprod(axis=0), vt.cummax(v, axis=0).values, vt.cumsum(v, dim=0), v.logcumsumexp(0))
tensor(
    x.t(), x.T, x.mT, x.permute(1, 0), x.transpose(0, 1), x.flatten(), x.squeeze(), x.movedim(0, 1)
)
tensor(
    vt.exp(x),
    vt.maximum(x, y),
    vt.clamp(x, 0, 1),
    vt.softmax(x, 1),
    vt.logsumexp(x, 0),
    vt.outer(v, v),
)
tensor(vt.add(x, y, out=vt.zeros(2, 3).detach()) if not x.requires_grad else x)
tensor(vt.mul(v, 2, out=vt.zeros(3)), vt.sum(v, 0, out=vt.tensor(0.0)))
tensor(*vt.sort(v, out=(vt.zeros(3), vt.zeros(3, dtype=vt.int64))))
tensor(
    *vt.max(v, 0, out=[vt.tensor(0.0), vt.tensor(0)]), *v.min(0, out=(v[0].clone(), i[0].clone()))
)
tensor(v.add_(1), v.mul_(f32).sub_(n64), v.zero_(), v.fill_(2), v.copy_(vt.ones(3)), v.clamp_(0, 5))
tensor(v.index_add_(0, i, vt.ones(2)), v.scatter(0, i, 1.0), v.gather(0, i), v.index_select(0, i))
tensor(
    v.masked_fill(v > 1, 0.0),
    v.lerp(v, 0.5),
    v.cumsum(0),
    v.diff(),
    vt.tril(m),
    m.diagonal(),
    m.trace(),
)
tensor(along(x, 0), along(x, -1), along(x, n64), times(m, 2, 1.5), times(m, n64, f32))

# -- gradients
loss(x).backward()
loss(x).backward(retain_graph=True, inputs=[x])
(x * 2).backward(vt.ones(2, 3))
tensor(*vt.autograd.grad(loss(x), x), *vt.autograd.grad(loss(x), [x], create_graph=True))
unused = vt.autograd.grad(loss(x), [x, vt.zeros(1, requires_grad=True)], allow_unused=True)
tensor(*[g for g in unused if g is not None])
if x.grad is not None:
    tensor(x.grad, x.grad * 2, x.grad.zero_())
x.grad = None
handle = x.register_hook(double)
handle.remove()
x.register_hook(lambda g: g * 2).remove()
x.register_hook(lambda g: None).remove()
x.register_post_accumulate_grad_hook(lambda p: None).remove()
node = (x * 2).grad_fn
if node is not None:
    anything(node.name(), node.next_functions, node.metadata, node.register_hook(lambda a, b: None))
with vt.no_grad():
    v.sub_(0.1)
with vt.enable_grad(), vt.autograd.set_detect_anomaly(True):
    tensor(x * 2)
tensor(Scale.apply(x), Scale.apply(x, 3.0), Scale.apply(x, factor=3.0), Scale.apply(x, shift=1.0))
with vt.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(force=True), vt.from_numpy):
    tensor(loss(x))
with vt.autograd.forward_ad.dual_level():
    dual = vt.autograd.forward_ad.make_dual(v, vt.ones(3))
    tangent = vt.autograd.forward_ad.unpack_dual(dual * 2).tangent
flag(vt.autograd.gradcheck(loss, (vt.ones(2, dtype=vt.float64, requires_grad=True),)))
tensor(vt.utils.checkpoint.checkpoint(loss, x, use_reentrant=False))
with vt.inference_mode(), vt.inference_mode(False), vt.inference_mode(mode=True):
    tensor(evaluated(x), evaluated(x, scale=2.0), inferred(x), *doubled_rows(x))
coroutine = awaited(x)
coroutine.close()
state = vt.Generator().get_state()
tensor(
    state.clone(), vt.get_rng_state(), vt.random.get_rng_state(), vt.default_generator.get_state()
)

# -- functions of autograd.functional
tensor(jacobian(twice, v), jacobian(twice, v) @ v, jacobian(lambda w: w * 2, v, create_graph=True))
tensor(*jacobian(lambda w: (w, w * 2), v), *jacobian(loss_of_two, (v, v)))
tensor(*[part for row in jacobian(both, (v, v)) for part in row])
tensor(
    vt.autograd.functional.hessian(cube, v), vt.autograd.functional.hessian(lambda w: w.sum(), v)
)
tensor(
    *hvp(cube, v, v), *vhp(lambda w: (w * w).sum(), v, v), *vt.autograd.functional.jvp(twice, v, v)
)
pulled, (left, right) = vt.autograd.functional.vjp(loss_of_two, (v, v))
tensor(pulled, left, right)

# -- functions
tensor(vt.vmap(loss)(x), vt.vmap(twice)(x), vt.vmap(loss, in_dims=1)(x))
anything(grad(loss)(v), grad(loss)(v, 2.0), grad(loss)(v, scale=2.0), vt.vmap(grad(loss))(x))
tensor(grad(loss)(v), grad(loss)(v, scale=2.0), vt.vmap(grad(loss))(x), grad(grad(cube))(v[0]))
tensor(hessian(loss)(v), jacrev(twice)(v), jacfwd(twice)(v), grad(pair, has_aux=True)(v)[0])
tensor(grad(lambda w: (w**2).sum())(v), jacrev(lambda w: w.exp())(v), jacfwd(lambda w: w * 2)(v))
tensor(grad(lambda a, b: (a * b).sum(), 1)(v, v), *grad(lambda a, b: a @ b, (0, 1))(v, v))
tensor(hessian(lambda w: (w**3).sum())(v), *grad_and_value(lambda w: w.sum())(v))
tensor(grad(of_parameters)({"w": v}, [v])["w"], grad(of_parameters, 1)({"w": v}, [v])[0])
tensor(*(part for row in hessian(loss_of_two, (0, 1))(v, v) for part in row))
by_any = grad(loss, argnums=-1)(v)
anything(by_any.shape if isinstance(by_any, vt.Tensor) else by_any)
tensor(*jvp(loss, (v,), (v,)), *jvp(twice, (v,), (v,)))
output, pull = vjp(loss, v)
tensor(output, pull(vt.tensor(1.0))[0])
out, push = linearize(loss, v)
tensor(out, push(v))
gradient, value = grad_and_value(loss)(v)
tensor(value)

# -- functions with their arguments: lambdas know them, and options may be left out
output, pull = vjp(lambda w: w * 2, v)
tensor(output, *vjp(lambda a, b: (a * b).sum(), v, v)[1](vt.tensor(1.0)))
tensor(vjp(lambda p: p["w"].sum(), {"w": v})[0], vjp(of_parameters, {"w": v}, [v])[0])
first, pull, extra = vjp(lambda w: (w.sum(), "aux"), v, has_aux=True)
tensor(first)
anything(extra.upper(), pull(vt.tensor(1.0)))
tensor(
    vjp(Layer().forward, v)[0], vjp(Layer(), v)[0], vjp(functools.partial(loss, scale=3.0), v)[0]
)
tensor(vjp(product_of_all, v)[0], vjp(product_of_all, v, v)[0], vjp(product_of_all, *[v, v])[0])
tensor(vjp(vt.exp, v)[0], vjp(vt.Tensor.exp, v)[0], vjp(twice, own)[0], vjp(vt.matmul, m, v)[0])
anything(vjp(lambda w: (w * 2, w.unit.upper()), own, has_aux=True))
anything(vjp(grad(cube), v), vjp(grad(lambda w: w.sum()), v), vjp(vt.vmap(lambda w: w.sum()), m))
tensor(*jvp(lambda w: w * 2, (v,), (v,)), *jvp(lambda a, b: a * b, (v, v), (v, v)))
tensor(*jvp(lambda p: p["w"] * 2, ({"w": v},), ({"w": v},)), *jvp(loss, (own,), (v[:2],)))
tensor(*jvp(Layer().forward, (v,), (v,)), *jvp(functools.partial(loss, scale=2.0), (v,), (v,)))
inputs = tuple(vt.ones(3) for _ in range(2))
tensor(*jvp(product_of_all, inputs, inputs), *jvp(lambda *w: w[0] * w[1], inputs, inputs))
anything(jvp(lambda w: (w * 2, "aux"), (v,), (v,), has_aux=True)[2].upper())
out, push_two = linearize(lambda a, b: a * b, v, v)
tensor(out, push_two(v, v), linearize(lambda w: w.exp(), v)[0], linearize(Layer(), v)[0])
tensor(*jacobian(lambda a, b: (a * b).sum(), (v, v)), *jacobian(product_of_all, inputs))
tensor(*[part for row in jacobian(lambda a, b: (a, a * b), (v, v)) for part in row])
tensor(
    *[b for row in vt.autograd.functional.hessian(lambda a, b: (a * b).sum(), (v, v)) for b in row]
)
tensor(hvp(lambda a, b: (a * b).sum(), (v, v), (v, v))[0], vhp(loss_of_two, (v, v), (v, v))[0])
tensor(vt.autograd.functional.jvp(lambda a, b: a * b, (v, v), (v, v))[1])
tensor(*vt.autograd.functional.vjp(lambda a, b: a * b, (v, v), v)[1])
d = vt.tensor([0.5, 2.0], dtype=vt.float64, requires_grad=True)
flag(gradcheck(lambda w: w.exp(), d), gradcheck(lambda a, b: a * b, (d, d)), gradcheck(loss, d))
flag(gradcheck(lambda a, n: (a * n, a + n), (d, 2.0)), gradcheck(loss_of_two, [d, d]))
flag(gradcheck(vt.Tensor.mul_, (d, vt.ones(2)), check_inplace=True), gradcheck(vt.log, d))
flag(gradgradcheck(lambda a, b: a * b, (d, d)), gradgradcheck(loss, d), gradgradcheck(cube, [d]))
tensor(vt.utils.checkpoint.checkpoint(lambda a, b: a * b, v, v, use_reentrant=False))
tensor(vt.utils.checkpoint.checkpoint(loss, v, scale=2.0, use_reentrant=False))
derivative: Callable[[vt.Tensor], vt.Tensor] = grad(lambda w: w.sum())
each: Callable[[vt.Tensor], vt.Tensor] = vt.vmap(lambda w: w * 2)
tensor(derivative(v), each(m))
pattern = sparsity_pattern(lambda a, b: a * b, v, v)
anything(pattern.shape, sparsity_pattern(twice, v), sparsity_pattern(grad(cube), v))

# -- rules
anything(Rule("own", lambda a: a.exp(), lambda a: np.exp(a), lambda g, a: (g * np.exp(a),)))
anything(Rule("own", lambda a, b: a.mul(b), lambda a, b: a * b, operands=2))
anything(Rule("own", lambda a, b, c: a.mul(b) + c, lambda a, b, c: a * b + c, operands=3))
anything(Rule("own", lambda a: a.log(), np.log, accepts=lambda a: bool((a > 0).all())))
anything(Rule("own", scaled, scaled_array, options={"factor": [1.0, 2.0]}))
anything(Rule("own", product_of_all, of_four_arrays, operands=4))

# -- classes and generic functions
tensor(twice(x), twice(own), own + 1, own.sum())
anything(twice(own).unit, own.as_subclass(vt.Tensor), own.clone().unit, (own * 2).unit, own[0].unit)
anything(vt.cat([own, own]).unit, vt.sort(own).values.unit, own.add_(1).unit, vt.exp(own).unit)
steps: list[Callable[[vt.Tensor], vt.Tensor]] = [vt.exp, vt.Tensor.exp, twice, lambda t: t + 1]
tensor(vt.maximum(0, x), vt.minimum(x, 0.5), vt.atan2(x, 1), vt.addcmul(0, x, 2), vt.eq(1, x))
tensor(x.maximum(0), x.detach().hypot_(1), vt.logical_and(True, x > 0), vt.lerp(0, 1, x))
