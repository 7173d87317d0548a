"""How the cost of operators on many parts grows with the number of parts."""

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.bench import Bench
from benchmarks.libraries import Array, Library
from benchmarks.measure import Prepare, steady
from benchmarks.results import Result

SECTION = "growth of operators with their parts"
BAR = 1.1
SIZES = (100, 300, 1_000, 3_000, 10_000)


def _read_each(x: Array) -> Array:
    last = x
    for i in range(x.shape[0]):
        last = x[i]
    return last


def _programs(vt: Array, x: Array, size: int) -> dict[str, Callable[[], object]]:
    """The calls on a matrix of `size` rows, of a library with PyTorch's names."""
    parts = list(x.unbind())
    index = vt.tensor(np.arange(size)[::-1].copy())
    every = index.reshape(-1, 1).expand(size, 4)
    values, mask = x.clone(), index % 2 == 0
    return {
        "cat of n": lambda: vt.cat(parts),
        "stack of n": lambda: vt.stack(parts),
        "split into n": lambda: x.split(1),
        "unbind into n": lambda: x.unbind(),
        "unfold of n": lambda: x.unfold(0, 4, 1),
        "x[i], n times": lambda: _read_each(x),
        "x[index of n]": lambda: x[index],
        "x[mask of n]": lambda: x[mask],
        "x[index of n] = values": lambda: x.__setitem__(index, values),
        "x[mask of n] = 1": lambda: x.__setitem__(mask, 1.0),
        "index_add_ of n": lambda: x.index_add_(0, index, values),
        "scatter_ of n": lambda: x.scatter_(0, every, values),
        "gather of n": lambda: x.gather(0, every),
        "repeat_interleave of n": lambda: x.repeat_interleave(2, 0),
        "sort of n": lambda: x.sort(0),
        "cumsum of n": lambda: x.cumsum(0),
        "roll of n": lambda: x.roll(1, 0),
    }


def _prepare(name: str) -> Callable[[Library, int], Prepare]:
    def prepare(library: Library, size: int) -> Prepare:
        x = library.constant(np.arange(4.0 * size).reshape(size, 4) / (4 * size))
        return steady(_programs(library.ops, x, size)[name])

    return prepare


def rows(bench: Bench) -> Iterator[Result]:
    """The exponents, beside PyTorch's."""
    sizes = SIZES[:3] if bench.quick else SIZES
    example = bench.libraries["vtgrad"]
    names = _programs(example.ops, example.constant(np.zeros((2, 4))), 2)
    for name in names:
        yield bench.growth(
            SECTION, name, sizes, _prepare(name), BAR, without=("autograd", "mygrad")
        )
