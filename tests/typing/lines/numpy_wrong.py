"""Wrong lines of programs in NumPy's words; see `wrong.py`."""
# pyright: strict

import vtgrad as vt
import vtgrad.numpy as np

x = np.array([1.0, 2.0, 3.0])
m = np.array([[2.0, 1.0], [1.0, 3.0]])
rng = np.random.default_rng(0)


def tensor(*values: vt.Tensor) -> None:
    """Takes tensors."""


def anything(*values: object) -> None:
    """Takes anything."""


# -- names that are not there
anything(np.ons(3))  # E
anything(x.summ())  # E
anything(np.linalg.solv(m, x))  # E
anything(np.random.normall())  # E
anything(np.fft.fftt(x))  # E
anything(rng.integer(3))  # E
anything(np.linalg.svd(m).V)  # E
anything(np.linalg.eigh(m).values)  # E
# -- arguments of other types
anything(np.exp("1"))  # E
anything(np.zeros("3"))  # E
anything(np.ones(2.5))  # E
anything(np.sum(x, axis="0"))  # E
anything(np.sum(x, keepdims="yes"))  # E
anything(np.mean(x, axis=1.5))  # E
anything(x.sum(axis="rows"))  # E
anything(np.concatenate(3))  # E
anything(np.stack([x, "y"]))  # E
anything(np.reshape(x, "3"))  # E
anything(x.reshape("3"))  # E
anything(np.maximum(x, "1"))  # E
anything(np.maximum(x, None))  # E
anything(np.where(x > 1, x, "y"))  # E, runs
anything(np.dot(x, None))  # E
anything(np.clip(x, "0", 1))  # E
anything(np.linspace("0", 1))  # E
anything(np.linspace(0, 1, 2.5))  # E
anything(np.arange("a"))  # E
anything(np.eye(2.5))  # E
anything(np.sin(x, wher=x > 0))  # E
anything(np.add.outer(x, x, axis=0))  # E
anything(x.clip(0, 1, dtyp=float))  # E
anything(np.fromfunction(3, (2, 2)))  # E
anything(np.frombuffer(3))  # E
anything(np.random.default_rng("seed"))  # E
anything(np.transpose(m, axes="10"))  # E
anything(np.argsort(x, axis=0.5))  # E
anything(np.add(x, 1, out=1.0))  # E
anything(np.linalg.norm(x, ord=[1]))  # E, runs
anything(np.linalg.svd("m"))  # E
anything(np.linalg.svd(m, 1, 2, 3, 4))  # E
anything(np.linalg.qr(m, mode="wrong"))  # E
anything(np.linalg.eigh(m, UPLO=3))  # E
anything(np.fft.fft(x, n="4"))  # E
anything(np.fft.fft(x, norm="other"))  # E
anything(np.random.normal(size="3"))  # E
anything(np.random.rand("2"))  # E
anything(np.random.randint(0, 5, shape=2))  # E
anything(rng.uniform(0, 1, size=2.5))  # E
anything(rng.choice(x, replacement=False))  # E
anything(np.polyfit(x, x, "1"))  # E
# -- too few, too many
anything(np.zeros())  # E
anything(np.concatenate())  # E
anything(np.linalg.solve(m))  # E
anything(np.maximum(x))  # E
anything(np.exp())  # E
# -- operators
anything(x + "1")  # E
anything(x @ None)  # E
anything(x["a"])  # E
anything(x < "1")  # E
anything(x * None)  # E
# -- results of other types
tensor(np.allclose(x, x))  # E, runs
tensor(np.split(m, 2))  # E, runs
tensor(x.shape)  # E, runs
tensor(x.item(0))  # E, runs
tensor(np.linspace(0, 1, 3, retstep=True))  # E, runs
tensor(np.linalg.svd(m))  # E, runs
tensor(x.grad)  # E, runs
# -- attributes
x.shape = "3"  # E
x.ndim = 2  # E
x.requires_grad = "yes"  # E
x[0] = "1"  # E, runs
