"""Wrong lines: every type checker says something about each that ends with `E`, and of no other.

Each of them raises when it runs, but those that end with `E, runs`: they do something else than
they seem to, or are limits of the types, which `docs/howto/types.md` names.
"""
# pyright: strict

import numpy as np

import vtgrad as vt
from vtgrad.autograd.function import FunctionCtx
from vtgrad.autograd.functional import hessian, hvp, jacobian
from vtgrad.func import grad, jacrev, jvp, linearize, sparsity_pattern, vjp
from vtgrad.testing.checking import Rule


def tensor(*values: vt.Tensor) -> None:
    """Takes tensors."""


def anything(*values: object) -> None:
    """Takes anything."""


def loss(w: vt.Tensor, scale: float = 1.0) -> vt.Tensor:
    return (w * w).sum() * scale


def cube(w: vt.Tensor) -> vt.Tensor:
    return (w**3).sum()


def product(a: vt.Tensor, b: vt.Tensor) -> vt.Tensor:
    return (a * b).sum()


class Scale(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor, /, factor: float = 2.0) -> vt.Tensor:
        return x * factor

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: vt.Tensor) -> tuple[vt.Tensor, None]:
        return gradient * 2.0, None


x = vt.ones(2, 3, requires_grad=True)
y = vt.arange(6, dtype=vt.float32).reshape(2, 3)
u, v, w, z = vt.eye(3), vt.tensor([3.0, 1.0, 2.0]), vt.ones(3), vt.ones(3)
ctx = FunctionCtx()
array = np.ones(3)
tensors = tuple(vt.ones(3) for _ in range(2))
d = vt.tensor([0.5, 2.0], dtype=vt.float64, requires_grad=True)

# -- operands
anything(x + "a")  # E
anything("a" + x)  # E
anything(x - None)  # E
anything(x * (1, 2, 3).count)  # E
anything(x / {"a": 1})  # E
anything(x @ "a")  # E
anything(x @ 2)  # E
anything("a" @ x)  # E
anything(1.0 @ x)  # E
anything(x ** "2")  # E
anything(x < "a")  # E
anything(x >= None)  # E
anything(x & "a")  # E
anything(x // object())  # E
z += "a"  # E
w *= None  # E
u @= 3  # E
anything(vt.add(x, "a"))  # E
anything(vt.add(1, 2))  # E
anything(vt.mul("a", x))  # E
anything(vt.add(x, 1, alpha="a"))  # E
anything(vt.maximum(x, "1"))  # E
anything(vt.maximum(0, 1))  # E
anything(vt.cat([x, 1.0]))  # E
anything(vt.matmul(x, 2))  # E
anything(x.add([1]))  # E
anything(x.pow("2"))  # E
anything(vt.exp(1.0))  # E
anything(vt.exp([1.0]))  # E
anything(vt.where(x > 0, "a", x))  # E

# -- indices
anything(x["a"])  # E
anything(x[1.5])  # E
anything(x[np.float64(1.0)])  # E
anything(x[object()])  # E
anything(x[{"a": 1}])  # E
anything(x[0, "a"])  # E
anything(x[[0.5]])  # E
anything(x[[0, "a"]])  # E
anything(x[b"a"])  # E
y["a"] = 1.0  # E
y[0] = "a"  # E
y[0] = None  # E
y[1.5] = 2.0  # E
y[0] = {"a": 1}  # E
del y[0]  # E

# -- data
anything(vt.tensor("a"))  # E
anything(vt.tensor(["a"]))  # E
anything(vt.tensor({"a": 1}))  # E
anything(vt.tensor(None))  # E
anything(vt.tensor(object()))  # E
anything(vt.tensor({1, 2}))  # E
anything(vt.tensor([[1, "a"]]))  # E
anything(vt.tensor(b"a"))  # E
anything(vt.tensor([None]))  # E
anything(vt.tensor(n for n in (1, 2)))  # E
anything(vt.tensor([1], dtype=np.str_))  # E
anything(vt.tensor([1], dtype="float33"))  # E
anything(vt.tensor([1], vt.float32))  # E
anything(vt.zeros(2, dtype=np.str_))  # E
anything(vt.zeros(2, dtype=np.object_))  # E
anything(vt.zeros(2, dtype=str))  # E
anything(vt.zeros(2, dtype=list))  # E
anything(vt.zeros(2, dtype=np.array(1.0)))  # E
anything(x.sum(dtype="int65"))  # E
anything(x.view(dtype=float))  # E
vt.set_default_dtype(float)  # E
anything(vt.arange())  # E
anything(vt.arange(step=2))  # E
anything(vt.from_numpy([1.0]))  # E
anything(vt.zeros("a"))  # E
anything(vt.zeros(1.5))  # E
anything(vt.zeros(2, dtype=3))  # E
anything(vt.zeros((2, "a")))  # E
anything(vt.full((2,), "a"))  # E
anything(vt.full(2, 1.0))  # E
anything(vt.arange("a"))  # E
anything(vt.zeros_like(array))  # E
anything(vt.ones(2, requires_grad="yes"))  # E
anything(vt.randint(0, 5, 2))  # E
anything(vt.Tensor(1.5))  # E

# -- arguments
anything(vt.cat(x))  # E
anything(vt.cat([x], "a", "b"))  # E
anything(vt.stack(x))  # E
anything(vt.cat([x], dim=1.5))  # E
anything(x.sum(1.5))  # E
anything(x.sum(0, 3))  # E
anything(x.sum(dims=0))  # E
anything(x.sum(0, keepdim="yes"))  # E
anything(x.mean(dtype="float"))  # E
anything(x.softmax(None))  # E
anything(x.softmax())  # E
anything(x.softmax(0, axis=0))  # E
anything(vt.log_softmax(x))  # E
anything(vt.softmax(x, dtype=vt.float64))  # E
anything(v.cumsum())  # E
anything(vt.cummax(v))  # E
anything(x.view("a"))  # E
anything(x.reshape(1.5, 2))  # E
anything(x.transpose(0))  # E
anything(x.permute(0, None))  # E
anything(x.expand("a"))  # E
anything(x.split("a"))  # E
anything(x.sort(0, 1))  # E
anything(x.topk("a"))  # E
anything(x.index_select(0, [0, 1]))  # E
anything(x.gather(0, 1))  # E
anything(x.masked_fill([True], 0.0))  # E
anything(x.new_tensor("a"))  # E
anything(vt.einsum(x, "ij->ji"))  # E
anything(vt.sum(v, 0, out=array))  # E
anything(vt.sort(v, out=v))  # E
anything(x.contiguous(memory_format="channels_last"))  # E
anything(x.clamp(min="a"))  # E
anything(x.as_subclass(int))  # E
anything(vt.max(v, 0, out=v))  # E
anything(vt.atleast_1d(1.0))  # E
anything(vt.atleast_1d(v, [v]))  # E
vt.set_default_dtype("float32")  # E

# -- results
anything(x.no_such_method())  # E
anything(vt.no_such_function(x))  # E
anything(vt.sort(v).value)  # E
anything(x.max(1).places)  # E
x.shape = vt.Size((3, 2))  # E
x.grad = 1.0  # E
x.requires_grad = "yes"  # E
anything(v.grad.sum())  # E
anything(x.shape.sum())  # E
anything(x.item().sum())  # E
anything(x.tolist().sum())  # E
anything(vt.atleast_1d(v, v).sum())  # E
tensor(vt.get_rng_state().tolist())  # E, runs
tensor(x.sum().item())  # E, runs
tensor(x.shape)  # E, runs
tensor(v.sort())  # E, runs
tensor(v.numpy())  # E, runs
tensor(v.grad)  # E, runs
a, b, c = v.sort()  # E
text: str = v.ndim  # E, runs
size: list[int] = v.shape  # E, runs

# -- gradients
x.backward("a")  # E
x.sum().backward(retain="yes")  # E
anything(vt.autograd.grad("a", x))  # E
anything(vt.autograd.grad(loss(x), "a"))  # E
anything(vt.autograd.grad(loss(x), 1))  # E
x.requires_grad_("yes")  # E
x.register_hook(3)  # E, runs
x.register_hook(lambda g: 3)  # E, runs
x.register_hook(lambda a, b: a)  # E, runs
vt.set_grad_enabled("yes")  # E
anything(Scale.apply("a"))  # E
anything(Scale.apply(x, "a"))  # E
anything(Scale.apply())  # E
anything(Scale.apply(x, 2.0, 3.0))  # E
anything(Scale.apply(x, scale=2.0))  # E
ctx.save_for_backward(3.0)  # E
ctx.mark_dirty(None)  # E
anything(ctx.factor)  # E
vt.manual_seed("a")  # E
anything(vt.autograd.forward_ad.make_dual(v, 1.0))  # E
anything(vt.autograd.gradcheck(loss, 3))  # E
anything(vt.autograd.gradcheck(3, (v,)))  # E
vt.inference_mode("yes")  # E
vt.no_grad(True)  # E
anything(jacobian(loss, [v]))  # E
anything(jacobian(loss, v).jvp)  # E
anything(jacobian(loss, (v, v)).sum())  # E
anything(hessian(loss, 1.0))  # E
anything(hvp(loss, v, v).sum())  # E
anything(vt.Generator().set_state(3))  # E

# -- functions
anything(vt.vmap(3))  # E
anything(vt.vmap(loss)("a"))  # E
anything(vt.vmap(loss)(x, 1.0, 2.0))  # E
anything(grad(3))  # E
anything(grad(loss)("a"))  # E
anything(grad(loss, argnums="a"))  # E, runs
word: str = grad(loss)(x)  # E, runs
word = grad(loss, (0,))(x)  # E, runs
word = grad(loss, -1)(x)  # E, runs
word = jacrev(loss)(x)  # E, runs
anything(grad(loss)(x).upper())  # E
anything(grad(len))  # E, runs
anything(jvp(loss, v, v))  # E
anything(vjp(3, v))  # E

# -- functions with their arguments
anything(vjp(cube, v, v))  # E
anything(vjp(product, *tensors))  # E, runs
anything(jvp(product, tensors, tensors))  # E, runs
anything(jacobian(product, tensors))  # E, runs
anything(vjp(product, v))  # E
anything(vjp(cube, 3))  # E
anything(vjp(cube, [v]))  # E
anything(vjp(lambda a: a * 2, v, v))  # E
anything(vjp(lambda a, b: a * b, v))  # E
anything(vjp(lambda a: a.no_such_method(), v))  # E
anything(linearize(product, v))  # E
anything(linearize(lambda a: a * 2, v, v))  # E
anything(linearize(lambda a: a.no_such_method(), v))  # E
anything(jvp(product, (v,), (v,)))  # E
anything(jvp(lambda a: a * 2, (v, v), (v, v)))  # E
anything(jvp(cube, (v,), (v, v)))  # E
anything(jvp(lambda a: a.no_such_method(), (v,), (v,)))  # E
anything(jacobian(product, (v,)))  # E
anything(jacobian(lambda a: a * 2, (v, v)))  # E
anything(hessian(lambda a, b: (a * b).sum(), (v, v, v)))  # E
anything(hessian(lambda a, b: a.no_such_method(), (v, v)))  # E
anything(hvp(product, (v,), (v,)))  # E
anything(vt.autograd.gradcheck(product, (d,)))  # E
anything(vt.autograd.gradcheck(lambda a: a * 2, (d, d)))  # E
anything(vt.autograd.gradcheck(product, d))  # E
anything(vt.autograd.gradcheck(loss, {d: 1}))  # E
anything(vt.autograd.gradgradcheck(product, (d,)))  # E
anything(sparsity_pattern(product, v))  # E
anything(sparsity_pattern(lambda a: a.no_such_method(), v))  # E
anything(Rule("own", 3, np.exp))  # E
anything(Rule("own", vt.exp, None))  # E
