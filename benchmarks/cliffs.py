"""Small operands in layouts and calls that are not the commonest, and long series with a zero.

A way that is quick for dense arrays alone leaves a cliff beside it. The bars are those of any
operator in any layout; a row over its bar is the next one to look at.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.bench import Bench
from benchmarks.libraries import Array, Library
from benchmarks.measure import steady
from benchmarks.results import Bar, Result

SECTION = "cliffs, small operands"
BAR = Bar(3.0, 2.0)


def _layouts(vt: Any, grid: Array, wide: Array) -> dict[str, Callable[[], Array]]:
    left, right, column = wide[:, ::2], wide[:, 1::2], wide[:, :1]
    return {
        "strided + strided": lambda: left + right,
        "strided + dense": lambda: left + grid,
        "strided * 2": lambda: left * 2.0,
        "strided > strided": lambda: left > right,
        "exp(strided)": lambda: vt.exp(left),
        "x.t() + x": lambda: wide.t() + wide,
        "x + column": lambda: wide + column,
    }


def _geometry(vt: Any, wide: Array, row: Array) -> dict[str, Callable[[], Array]]:
    return {
        "x[:, None]": lambda: wide[:, None],
        "x.view(4, 16)": lambda: wide.view(4, 16),
        "x.reshape(4, 16)": lambda: wide.reshape(4, 16),
        "stack of two rows": lambda: vt.stack([row, row]),
        "cat of two rows": lambda: vt.cat([row, row]),
    }


def _writes(row: Array, three: Array, index: Array, mask: Array) -> dict[str, Callable[[], Array]]:
    return {
        "x[index] = three": lambda: row.__setitem__(index, three),
        "x[mask] = 1": lambda: row.__setitem__(mask, 1.0),
        "scatter_": lambda: row.scatter_(0, index, three),
        "index_add_": lambda: row.index_add_(0, index, three),
        "masked_fill_": lambda: row.masked_fill_(mask, 1.0),
    }


def _special(vt: Any, row: Array) -> dict[str, Callable[[], Array]]:
    half = row * 0.5
    found = {
        name: (lambda function: lambda: function(half))(getattr(vt, name))
        for name in ("erf", "erfc", "erfinv", "digamma", "lgamma", "i0")
    }
    found["polygamma(1, x)"] = lambda: vt.polygamma(1, half)
    found["igamma"] = lambda: vt.igamma(row, half)
    return found


def _series(vt: Any, library: Library) -> dict[str, Callable[[], Array]]:
    """Thousands of elements, where what is not linear, or loops over rows, shows."""
    many = np.linspace(0.99, 1.01, 4000)
    many[7] = 0.0
    factors, targets = library.leaf(many), library.constant(np.ones(100))
    rows = library.constant(np.sin(np.arange(50_000.0)).reshape(500, 100))
    index, source = vt.arange(4000) % 100, library.constant(many)

    def twice(product: Callable[[Array], Array]) -> Array:
        (first,) = vt.autograd.grad(product(factors).sum(), factors, create_graph=True)
        second: Array = vt.autograd.grad(first.sum(), factors)[0]
        return second

    return {
        "second derivative of prod, a zero": lambda: twice(lambda x: x.prod()),
        "second derivative of cumprod, a zero": lambda: twice(lambda x: x.cumprod(0)),
        "scatter_reduce amax": lambda: targets.scatter_reduce(0, index, source, "amax"),
        "scatter_reduce prod": lambda: targets.scatter_reduce(0, index, source, "prod"),
        "topk of 500 rows": lambda: vt.topk(rows, 3)[0],
    }


def programs(library: Library) -> dict[str, Callable[[], Array]]:
    """The calls, by name, of a library with PyTorch's names."""
    vt = library.ops
    wide = library.constant(np.linspace(0.5, 1.5, 64).reshape(8, 8))
    grid = library.constant(np.linspace(0.5, 1.5, 32).reshape(8, 4))
    row = library.constant(np.linspace(0.1, 0.9, 8))
    three = library.constant(np.linspace(-1.0, 1.0, 3))
    index, mask = vt.tensor([1, 2, 3]), vt.tensor([True, False] * 4)
    written = library.constant(np.linspace(0.1, 0.9, 8))
    return {
        **_layouts(vt, grid, wide),
        **_geometry(vt, wide, row),
        **_writes(written, three, index, mask),
        **_special(vt, row),
        **_series(vt, library),
    }


def rows(bench: Bench) -> Iterator[Result]:
    """Every call, beside PyTorch's; MyGrad and HIPS autograd do not have most of them."""
    found: dict[str, dict[str, Callable[[], Array]]] = {}
    for library in bench.libraries.values():
        if library.name in ("vtgrad", "torch"):
            found[library.name] = programs(library)
    for name in found["vtgrad"]:
        yield bench.compare(
            SECTION, name, {library: steady(of[name]) for library, of in found.items()}, BAR
        )
