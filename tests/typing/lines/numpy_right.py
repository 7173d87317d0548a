"""Right lines of programs in NumPy's words: each runs, and no checker has anything to say."""
# pyright: strict

from collections.abc import Callable
from typing import assert_type

import numpy

import vtgrad as vt
import vtgrad.numpy as np
from vtgrad.func import grad

Array = np.ndarray


def loss(w: Array) -> Array:
    return np.sum(np.tanh(w) ** 2)


def tensors(*values: vt.Tensor) -> None:
    """Takes tensors."""


x = np.array([1.0, 2.0, 3.0])
m = np.array([[2.0, 1.0], [1.0, 3.0]])
a = numpy.ones(3)
t = vt.ones(3)
rng = np.random.default_rng(0)

# -- making arrays
assert_type(np.array([[1.0, 2.0]]), Array)
assert_type(np.zeros((2, 3)), Array)
assert_type(np.ones(3, dtype=np.float32), Array)
assert_type(np.arange(5), Array)
assert_type(np.linspace(0, 1, 5), Array)
assert_type(np.linspace(0, 1, 5, retstep=True), tuple[Array, Array])
assert_type(np.eye(3), Array)
assert_type(np.indices((2, 2)), Array)
assert_type(np.indices((2, 2), sparse=True), tuple[Array, ...])
assert_type(np.unravel_index([1, 0], (2, 2)), tuple[Array, ...])
assert_type(np.sin(x, where=x > 0, casting="same_kind"), Array)
assert_type(np.frombuffer(b"1234", np.uint8), Array)
assert_type(x.flags.writeable, bool)
assert_type(np.zeros_like(x), Array)
assert_type(np.asarray(a), Array)
assert_type(np.asarray(t), Array)
assert_type(np.full((2, 2), 1.5), Array)

# -- operators
assert_type(x + x, Array)
assert_type(1 + x, Array)
assert_type(2.0 * x, Array)
assert_type(x**2, Array)
assert_type(m @ m, Array)
assert_type(-x, Array)
assert_type(x > 1, Array)
assert_type(x == x, Array)
assert_type(x + a, Array)
assert_type(x * t, Array)
assert_type(abs(x), Array)

# -- NumPy's arrays behind a tensor
assert_type(t + a, vt.Tensor)
assert_type(t - a, vt.Tensor)
assert_type(t * a, vt.Tensor)
assert_type(t / a, vt.Tensor)
assert_type(t**a, vt.Tensor)
assert_type(t @ a, vt.Tensor)
assert_type(t > a, vt.Tensor)
assert_type(t // a, vt.Tensor)
t += a.astype(numpy.float32)
tensors(t, x)

# -- elements and views
assert_type(x[0], Array)
assert_type(x[1:], Array)
assert_type(x[x > 1], Array)
assert_type(x[:, None], Array)
assert_type(m.T, Array)
assert_type(m.reshape(4), Array)
assert_type(m.view(), Array)
assert_type(m.view(np.float32), Array)
assert_type(x.shape, tuple[int, ...])
assert_type(x.ndim, int)
assert_type(x.flags.c_contiguous, bool)
assert_type(x[0].item(), int | float)
x[0] = 5
x[1:] = [6.0, 7.0]
x[x > 6] = a[0]

# -- functions
assert_type(np.exp(x), Array)
assert_type(np.maximum(0, x), Array)
assert_type(np.where(x > 1, x, 0), Array)
assert_type(np.sum(x, axis=0, keepdims=True), Array)
assert_type(np.mean(m, axis=(0, 1)), Array)
assert_type(x.sum(), Array)
assert_type(np.concatenate([x, a]), Array)
assert_type(np.stack([x, x], axis=1), Array)
assert_type(np.split(m, 2), list[Array])
assert_type(np.einsum("ij,jk->ik", m, m), Array)
assert_type(np.dot(x, [1.0, 2.0, 3.0]), Array)
assert_type(np.allclose(x, x), bool)
assert_type(np.average(x), Array)
assert_type(np.average(x, returned=True), tuple[Array, Array])
assert_type(np.polyfit(x, x, 1), Array)
assert_type(np.add(x, 1, out=np.zeros(3)), Array)
assert_type(np.argsort(x), Array)
assert_type(np.nonzero(x), tuple[Array, ...])
assert_type(np.pi, float)

# -- linear algebra and transforms
assert_type(np.linalg.norm(x), Array)
assert_type(np.linalg.solve(m, [1.0, 2.0]), Array)
assert_type(np.linalg.svd(m).S, Array)
assert_type(np.linalg.svd(m, compute_uv=False), Array)
assert_type(np.linalg.eigh(m).eigenvalues, Array)
assert_type(np.linalg.qr(m).R, Array)
assert_type(np.linalg.qr(m, "r"), Array)
assert_type(np.linalg.inv(m), Array)
assert_type(np.linalg.slogdet(m)[1], Array)
assert_type(np.fft.fft(x, n=4), Array)
assert_type(np.fft.ifft2(m, norm="ortho"), Array)
values, vectors = np.linalg.eigh(m)
assert_type(values, Array)
assert_type(vectors, Array)

# -- random numbers
assert_type(np.random.randn(2, 3), Array)
assert_type(np.random.normal(0.0, x), Array)
assert_type(np.random.randint(0, 5, size=(2, 2)), Array)
assert_type(np.random.choice(5, 2, replace=False), Array)
assert_type(np.random.permutation(x), Array)
assert_type(rng.normal(size=3), Array)
assert_type(rng.uniform(-1, 1, (2, 3)), Array)
assert_type(rng.integers(5, size=3), Array)
assert_type(rng.choice(x, 2, axis=0), Array)
rng.shuffle(np.arange(3))

# -- gradients
w = np.array([1.0, 2.0]).requires_grad_()
loss(w).backward()
assert_type(w.grad, Array | None)
assert_type(w.requires_grad, bool)
gradient: Callable[[Array], Array] = grad(loss)
assert_type(gradient(np.ones(2)), Array)
assert_type(w.detach(), Array)
for row in m:
    assert_type(row, Array)
