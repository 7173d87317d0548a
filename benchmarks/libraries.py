"""The libraries that are compared, each behind the same few methods.

A program is written once, in NumPy's style (`x[1:3]`, `x += y`, `x @ y`, `x.sum()`), and takes a
`Toolkit` for the few differences. No code of an adapter runs inside a small timed loop.
"""

import importlib
import importlib.metadata
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "PEERS",
    "Array",
    "Body",
    "Library",
    "NumpyToolkit",
    "Real",
    "TapeLibrary",
    "Toolkit",
    "load",
]

Array: TypeAlias = Any
"""An array or tensor of the library that runs the program: the libraries have no common type, and
`make test` checks this folder with only vtgrad and NumPy installed.
"""

Real: TypeAlias = NDArray[np.floating[Any]]

Body: TypeAlias = Callable[..., Array]
"""A program: takes a `Toolkit`, then its inputs, and returns a scalar."""

PEERS = ("torch", "autograd", "mygrad")


class Toolkit(Protocol):
    """Functions that a program needs besides the methods of arrays."""

    @property
    def ops(self) -> Any:
        """The module with `tanh`, `exp`, `log` and `sqrt`."""

    def zeros(self, *sizes: int) -> Array:
        """A new array that a program may write into."""

    def clone(self, x: Array) -> Array:
        """A copy of an array, through which gradients pass."""

    def sigmoid(self, x: Array) -> Array:
        """The logistic function, in the library's usual form."""

    def logsumexp(self, x: Array) -> Array:
        """The logsumexp over the last dimension of two, in the library's usual form."""


class Library(Toolkit, Protocol):
    """A library with the functions that a measurement needs."""

    @property
    def name(self) -> str:
        """The name under which its figures are stored."""

    @property
    def version(self) -> str:
        """The version of the installed distribution."""

    @property
    def writes(self) -> bool:
        """Whether in-place writes to arrays are differentiated."""

    @property
    def wraps_constants(self) -> bool:
        """Whether an array without gradient is the library's own, and not NumPy's."""

    def leaf(self, array: Real) -> Array:
        """An input with a gradient."""

    def constant(self, array: Real) -> Array:
        """An input without gradient."""

    def forward(self, body: Body, arrays: Sequence[Real]) -> Callable[[], object]:
        """A call that runs the program and records it."""

    def differentiate(self, body: Body, arrays: Sequence[Real]) -> Callable[[], object]:
        """A call that runs the program and its backward pass, and drops the gradients."""

    def backward(self, body: Body, arrays: Sequence[Real]) -> Callable[[], Callable[[], object]]:
        """A call that records the program and returns its backward pass, for one run."""


class NumpyToolkit:
    """NumPy itself: runs programs, and cannot differentiate them."""

    ops: Any = np

    def __init__(self, dtype: str = "float32") -> None:
        self._dtype = dtype

    def zeros(self, *sizes: int) -> Array:
        return np.zeros(sizes, self._dtype)

    def clone(self, x: Array) -> Array:
        return x.copy()

    def sigmoid(self, x: Array) -> Array:
        return 1 / (1 + np.exp(-x))

    def logsumexp(self, x: Array) -> Array:
        return np.log(np.exp(x).sum(1))


class TapeLibrary:
    """vtgrad, PyTorch or MyGrad: operations on leaves record, and `backward` fills their `.grad`.

    Parameters
    ----------
    name : str
        The name of the module and of its distribution.
    dtype : str
        The dtype of the arrays that it makes.
    """

    writes = True
    wraps_constants = True

    def __init__(self, name: str, dtype: str = "float32") -> None:
        self.name = name
        self.version = importlib.metadata.version(name)
        self.ops: Any = importlib.import_module(name)
        self._dtype = dtype

    def zeros(self, *sizes: int) -> Array:
        return self.ops.zeros(sizes, dtype=getattr(self.ops, self._dtype))

    def clone(self, x: Array) -> Array:
        return x.clone()

    def sigmoid(self, x: Array) -> Array:
        return self.ops.sigmoid(x)

    def logsumexp(self, x: Array) -> Array:
        return self.ops.logsumexp(x, 1)

    def leaf(self, array: Real) -> Array:
        return self.ops.from_numpy(array.astype(self._dtype)).requires_grad_()

    def constant(self, array: Real) -> Array:
        return self.ops.from_numpy(array.astype(self._dtype))

    def forward(self, body: Body, arrays: Sequence[Real]) -> Callable[[], object]:
        return partial(body, self, *map(self.leaf, arrays))

    def differentiate(self, body: Body, arrays: Sequence[Real]) -> Callable[[], object]:
        leaves = [self.leaf(array) for array in arrays]

        def run() -> None:
            body(self, *leaves).backward()
            for leaf in leaves:
                leaf.grad = None

        return run

    def backward(self, body: Body, arrays: Sequence[Real]) -> Callable[[], Callable[[], object]]:
        leaves = [self.leaf(array) for array in arrays]

        def record() -> Callable[[], object]:
            for leaf in leaves:
                leaf.grad = None
            run: Callable[[], object] = body(self, *leaves).backward
            return run

        return record


class _TorchLibrary(TapeLibrary):
    def __init__(self, dtype: str = "float32") -> None:
        super().__init__("torch", dtype)
        self.ops.set_num_threads(1)


class _MyGradLibrary(TapeLibrary):
    def __init__(self, dtype: str = "float32") -> None:
        super().__init__("mygrad", dtype)
        self._activations: Any = importlib.import_module("mygrad.nnet.activations")

    def zeros(self, *sizes: int) -> Array:
        return self.ops.zeros(sizes, dtype=self._dtype)

    def clone(self, x: Array) -> Array:
        return +x

    def sigmoid(self, x: Array) -> Array:
        return self._activations.sigmoid(x)

    def logsumexp(self, x: Array) -> Array:
        return self.ops.log(self.ops.exp(x).sum(1))

    def leaf(self, array: Real) -> Array:
        return self.ops.tensor(array.astype(self._dtype))

    def constant(self, array: Real) -> Array:
        return self.ops.tensor(array.astype(self._dtype), constant=True)

    def differentiate(self, body: Body, arrays: Sequence[Real]) -> Callable[[], object]:
        # MyGrad itself drops a gradient when its tensor is used again.
        leaves = [self.leaf(array) for array in arrays]
        return lambda: body(self, *leaves).backward()

    def backward(self, body: Body, arrays: Sequence[Real]) -> Callable[[], Callable[[], object]]:
        def record() -> Callable[[], object]:
            # A backward pass clears every graph that a leaf takes part in, so none is shared.
            run: Callable[[], object] = body(self, *map(self.leaf, arrays)).backward
            return run

        return record


class _AutogradLibrary:
    """HIPS autograd: a program is a function, and is traced anew for every gradient."""

    name = "autograd"
    writes = False
    wraps_constants = False

    def __init__(self, dtype: str = "float32") -> None:
        self.version = importlib.metadata.version("autograd")
        self.ops: Any = importlib.import_module("autograd.numpy")
        self._core: Any = importlib.import_module("autograd.core")
        self._tracer: Any = importlib.import_module("autograd.tracer")
        self._dtype = dtype

    def zeros(self, *sizes: int) -> Array:
        return self.ops.zeros(sizes, self._dtype)

    def clone(self, x: Array) -> Array:
        return +x

    def sigmoid(self, x: Array) -> Array:
        return 1 / (1 + self.ops.exp(-x))

    def logsumexp(self, x: Array) -> Array:
        return self.ops.log(self.ops.exp(x).sum(1))

    def leaf(self, array: Real) -> Array:
        # The argument of a function during tracing.
        root = self._core.VJPNode.new_root()
        return self._tracer.new_box(array.astype(self._dtype), 0, root)

    def constant(self, array: Real) -> Array:
        return array.astype(self._dtype)

    def _record(self, body: Body, arrays: Sequence[Real]) -> Callable[[], Callable[[], object]]:
        inputs = tuple(array.astype(self._dtype) for array in arrays)
        one = np.ones((), self._dtype)

        def traced(boxes: Array) -> Array:
            return body(self, *boxes)

        def record() -> Callable[[], object]:
            pull, _ = self._core.make_vjp(traced, inputs)
            return partial(pull, one)

        return record

    def forward(self, body: Body, arrays: Sequence[Real]) -> Callable[[], object]:
        return self._record(body, arrays)

    def differentiate(self, body: Body, arrays: Sequence[Real]) -> Callable[[], object]:
        record = self._record(body, arrays)
        return lambda: record()()

    def backward(self, body: Body, arrays: Sequence[Real]) -> Callable[[], Callable[[], object]]:
        return self._record(body, arrays)


_ADAPTERS: dict[str, Callable[[str], Library]] = {
    "vtgrad": partial(TapeLibrary, "vtgrad"),
    "torch": _TorchLibrary,
    "autograd": _AutogradLibrary,
    "mygrad": _MyGradLibrary,
}


def load(name: str, dtype: str = "float32") -> Library:
    """Import a library by name.

    Raises
    ------
    ImportError
        If it is not installed.
    """
    return _ADAPTERS[name](dtype)
