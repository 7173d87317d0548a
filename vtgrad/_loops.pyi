# The module that is made of `_loops.c` and `_steps.c`, where it was built; `storage/loops.py` and
# `jit/runner.py` import it.

from collections.abc import Callable

import numpy as np

from vtgrad.storage.arrays import Array, Shape

UFUNCS: tuple[np.ufunc, ...]

def unary(ufunc: np.ufunc, a: object, out: Array | None = None, /) -> Array | None: ...
def binary(
    ufunc: np.ufunc, a: object, b: object, out: Array | None = None, /
) -> Array | None: ...
def piecewise(x: Array, shift: Array, start: Array, table: Array, /) -> Array | None: ...

class Executor:
    def __new__(cls, arena: Array, /) -> Executor: ...
    def loop_form(
        self,
        ufunc: np.ufunc,
        types: Shape,
        sizes: Shape,
        steps: tuple[Shape, ...],
        dimensions: Shape,
        inner: Shape,
        /,
    ) -> int: ...
    def copy_form(
        self, item: int, sizes: Shape, steps: tuple[Shape, ...], count: int, inner: Shape, /
    ) -> int: ...
    def add(self, form: int, offsets: Shape, /) -> None: ...
    def call(self, function: Callable[..., object], arguments: tuple[object, ...], /) -> None: ...
    def run(self) -> None: ...
