"""The libraries that are compared, each behind the same few methods.

A program is written once, in the way of NumPy (`x[1:3]`, `x += y`, `x @ y`, `x.sum()`), and takes
a `Toolkit` for the little that differs. Nothing of an adapter runs inside a small timed loop.
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
"""An array or tensor of whichever library runs the program: they have no type in common, and
`make test` checks this folder where only vtgrad and NumPy are installed."""

Real: TypeAlias = NDArray[np.floating[Any]]

Body: TypeAlias = Callable[..., Array]
"""A program: takes a `Toolkit`, then its inputs, and returns a scalar."""

PEERS = ("torch", "autograd", "mygrad")


class Toolkit(Protocol):
    """What a program asks for, beside what arrays themselves can do."""

    @property
    def ops(self) -> Any:
        """The module with `tanh`, `exp`, `log` and `sqrt`."""

    def zeros(self, *sizes: int) -> Array:
        """A new array that a program may write into."""

    def clone(self, x: Array) -> Array:
        """A copy of an array, through which gradients pass."""

    def sigmoid(self, x: Array) -> Array:
        """The logistic function, as users of the library write it."""

    def logsumexp(self, x: Array) -> Array:
        """Over the last dimension of two, as users of the library write it."""


class Library(Toolkit, Protocol):
    """What a measurement asks for."""

    @property
    def name(self) -> str:
        """The name under which its figures are kept."""

    @property
    def version(self) -> str:
        """Of the installed distribution."""

    @property
    def writes(self) -> bool:
        """Whether arrays can be written in place and still be differentiated."""

    @property
    def wraps_constants(self) -> bool:
        """Whether an array without gradient is the library's own, and not NumPy's."""

    def leaf(self, array: Real) -> Array:
        """An input that gradients are wanted for."""

    def constant(self, array: Real) -> Array:
        """An input without gradient."""

    def forward(self, body: Body, arrays: Sequence[Real]) -> Callable[[], object]:
        """What runs the program, recording it."""

    def differentiate(self, body: Body, arrays: Sequence[Real]) -> Callable[[], object]:
        """What runs the program and its backward pass, and drops the gradients."""

    def backward(self, body: Body, arrays: Sequence[Real]) -> Callable[[], Callable[[], object]]:
        """What records the program and returns its backward pass, which can be run once."""


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
        Of the module and of its distribution.
    dtype : str
        Of the arrays that it makes.
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
        # A gradient is dropped by MyGrad itself when its tensor is used again.
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
        # What a function that is being traced gets to see.
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
