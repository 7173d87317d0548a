"""A program that runs every operator in every way, and prints which modules that has loaded.

See Note [Tools come at first use]. The last line has the number of calls for each way; a call that
is refused does not count.
"""

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

import vtgrad as vt

# The tools that make the tensors of a key load the handler of their calls.
TRACE = vt.func.sparsity_pattern
TRANSFORMS = (vt.func, vt.autograd.forward_ad)

LOADED = set(sys.modules)

from tests.ops.calls import Case, arguments_of, cases, function_named, results_of  # noqa: E402

# What the samples need to read the tables.
LOADED |= {name for name in sys.modules if name.startswith("vtgrad.codegen")}

Make = Callable[[vt.Tensor], vt.Tensor]


def called(case: Case, make: Make, inplace: bool = False) -> tuple[vt.Tensor, ...]:
    """The results of a sample whose tensors are made into others."""
    values, options = arguments_of(case)

    def made(value: object) -> object:
        if isinstance(value, list):
            return [made(one) for one in value]
        return make(value) if isinstance(value, vt.Tensor) else value

    name = case.operator.name
    if inplace:
        assert case.operator.inplace is not None
        name = case.operator.inplace
    function = function_named(name)
    return results_of(
        function(*[made(v) for v in values], **{n: made(v) for n, v in options.items()})
    )


def leaf(x: vt.Tensor) -> vt.Tensor:
    """One that requires grad, if it can."""
    return x.requires_grad_(x.is_floating_point() or x.is_complex())


def plain(case: Case) -> None:
    called(case, lambda x: x)


def written(case: Case) -> None:
    called(case, lambda x: leaf(x).clone(), inplace=True)


def on_lane(case: Case) -> None:
    called(case, lambda x: x.to("lane:0"))


def backward(case: Case) -> None:
    roots = [y for y in called(case, leaf) if y.requires_grad]
    sum([y.abs().sum() for y in roots], vt.zeros(())).backward(create_graph=True)


def dual(case: Case) -> None:
    with vt.autograd.forward_ad.dual_level():

        def make(x: vt.Tensor) -> vt.Tensor:
            return vt.autograd.forward_ad.make_dual(x, vt.ones_like(x))

        called(case, lambda x: make(x) if x.is_floating_point() or x.is_complex() else x)


def batched(case: Case) -> None:
    def one(number: vt.Tensor) -> Sequence[vt.Tensor]:
        return called(case, lambda x: (x + number).to(x.dtype) if x.is_floating_point() else x)

    vt.vmap(one, randomness="different")(vt.zeros(2))


def recorded_batch(case: Case) -> None:
    def one(number: vt.Tensor) -> vt.Tensor:
        results = called(case, lambda x: x + number if x.is_floating_point() else x)
        return sum([y.abs().sum() for y in results], number)

    vt.vmap(vt.func.grad(one), randomness="different")(vt.zeros(2, dtype=vt.float64))


def traced(case: Case) -> None:
    def one(number: vt.Tensor) -> Sequence[vt.Tensor]:
        return called(case, lambda x: x + number if x.is_floating_point() else x)

    TRACE(one, vt.zeros(()))


def named(case: Case) -> None:
    called(case, lambda x: x.rename(*"abcdefgh"[: x.dim()]))


def main() -> None:
    """Run all, and print what it has loaded, and how many calls of each way were not refused."""
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    ways = (plain, written, on_lane, backward, dual, batched, recorded_batch, traced, named)
    with np.errstate(all="ignore"):
        for case in cases():
            for way in ways:
                try:
                    way(case)
                except Exception:
                    continue
                counts[way.__name__] += 1
    for call in (lambda: vt.rand(2), lambda: vt.linspace(0, 1, 3), lambda: repr(vt.ones(2)[0])):
        call()
    vt.ones(2).numpy(), vt.ones(2)._repr_html_(), vt.ones(2).tolist()
    print(*sorted(n for n in sys.modules if n.startswith("vtgrad") and n not in LOADED))
    print(*[f"{way.__name__}={counts[way.__name__]}" for way in ways])


if __name__ == "__main__":
    main()
