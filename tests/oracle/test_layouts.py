"""The memory order of results, for operands in every memory order, is PyTorch's.

What breaks it: an operator that allocates its result as NumPy would, or that asks the strides of a
lazy operand instead of those that its values will have. Strides of size-1 dimensions count too:
they decide about the memory order of what is computed next.
"""

import pytest

from tests.oracle.menu import BINARY, TESTS, UNARY
from tests.oracle.run import report
from tests.oracle.torch_judge import replay
from vtgrad.testing.session import Run
from vtgrad.testing.steps import Line

PEER = "vtgrad"

# Shape of the memory, and what is looked at.
LAYOUTS = {
    "row-major": ((2, 3, 4), ""),
    "one image, transposed": ((1, 3, 4), ".transpose(1, 2)"),
    "column": ((1, 3), ".t()"),
    "column with steps": ((1, 3, 2), "[:, :, ::2].transpose(0, 1)"),
    "transposed": ((2, 3, 4), ".permute(2, 0, 1)"),
    "gaps": ((2, 3, 4), "[:, :, ::2]"),
    "gaps and a size of 1": ((2, 1, 4), "[:, :, ::2].permute(2, 0, 1)"),
    "a slice of size 1": ((3, 4, 2), "[:, 1:2].transpose(0, 2)"),
    "unfolded": ((3, 4, 1), ".unfold(1, 4, 4)"),
    "channels last": ((2, 3, 4, 5), ".permute(0, 3, 1, 2)"),
    "channels last with gaps": ((2, 3, 4, 5), ".permute(0, 3, 1, 2)[:, ::2]"),
    "channels last, one row": ((2, 1, 4, 5), ".permute(0, 3, 1, 2)"),
    "channels last, one row of one image": ((1, 1, 4, 5), ".permute(0, 3, 1, 2)"),
    "channels last, one pixel": ((2, 1, 1, 3), ".permute(0, 3, 1, 2)"),
    "channels last, stacked": ((3, 1, 2), ".transpose(1, 2)"),
    "channels last, one after another": ((3, 2, 1), ".as_strided((3, 1, 2), (2, 1, 1))"),
    "channels last without a batch": ((2, 3, 4), ".permute(2, 0, 1)"),
    "channels last, volumes": ((2, 2, 3, 2, 3), ".permute(0, 4, 1, 2, 3)"),
    "channels last, flat volumes": ((2, 1, 3, 1, 3), ".permute(0, 4, 1, 2, 3)"),
    "rows expanded": ((1, 3), ".expand(4, 3)"),
    "middle expanded, reversed": ((3, 1, 2), ".expand(3, 4, 2).transpose(0, 2)"),
    "a number expanded": ((1, 1), ".expand(3, 2)"),
    "dense with a stride of size 1 that is not": ((8,), ".as_strided((2, 1, 3), (1, 7, 2))"),
    "a row of two": ((8,), ".as_strided((1, 2, 1), (5, 3, 9))"),
    "one element": ((4,), ".as_strided((1, 1), (5, 3))"),
    "vector with gaps": ((8,), "[::3]"),
    "one element of a vector": ((8,), "[::8]"),
    "number": ((8,), "[3]"),
}
KINDS = {
    "real": ("float64", ""),
    "negated": ("float64", "._neg_view()"),
    "complex": ("complex128", ""),
    "conjugated": ("complex128", ".conj()"),
    "conjugated imaginary part": ("complex128", ".conj().imag"),
    "conjugated and transposed": ("complex128", ".conj().mT"),
    "integers": ("int64", ""),
}
OPPOSITE = "vt.ones(tuple(t1.shape)[::-1], dtype=vt.float64).permute(*range(t1.dim())[::-1])"
# Refused in both libraries where a dtype or a number of dimensions is missing.
CALLS = (
    *(f"vt.{name}(t1)" for name in (*UNARY, *TESTS, "i0", "sgn", "conj_physical")),
    *(f"vt.{name}(t1, t1)" for name in BINARY),
    *(f"vt.{name}(t1, 2)" for name in ("add", "mul", "pow", "fmod", "eq", "lt", "rsub")),
    *(f"vt.{name}(t1, vt.ones(t1.shape, dtype=t1.dtype))" for name in ("sub", "mul", "maximum")),
    *(f"vt.{name}(vt.ones(t1.shape, dtype=t1.dtype), t1)" for name in ("add", "div")),
    # With an operand in the opposite order, which may have another dtype.
    *(f"vt.{name}(t1, {OPPOSITE})" for name in ("sub", "lt", "atan2", "logical_or", "maximum")),
    *(f"vt.{name}({OPPOSITE}, t1)" for name in ("mul", "ge", "xlogy", "logical_and", "fmod")),
    *(f"t1.roll({how})" for how in ("1", "1, 0", "1, -1", "(1, 1), (0, 1)", "0, 0")),
    *(f"vt.{name}([t1, t1], {dim})" for name in ("cat", "stack") for dim in (0, 1, -1)),
    *("vt.cat([t1, t1.contiguous()], 1)", "vt.stack([t1.contiguous(), t1])"),
    *("t1[[0]]", "t1[:, [0]]", "t1[None, [0]]", "t1.index_select(0, vt.tensor([0, 0]))"),
    *("t1.sum(0)", "t1.sum(-1)", "t1.sum(0, keepdim=True)", "t1.cumsum(0)", "t1.softmax(0)"),
    *("t1.clone()", "t1.contiguous()", "t1.resolve_conj()", "t1.resolve_neg()", "t1.flip(0)"),
    *("t1.to(vt.complex64)", "vt.zeros_like(t1)", "t1.sort(0)[0]", "t1.tril()", "t1.reshape(-1)"),
    *("vt.where(t1 == 0, t1, t1)", "vt.lerp(t1, t1, 0.5)", "vt.addcmul(t1, t1, t1)"),
    *(
        "t1.clamp(0, 1)",
        "t1.clamp(t1, t1)",
        "t1.masked_fill(t1 == 0, 1)",
        "t1.repeat_interleave(2)",
    ),
)


def differing(setup: tuple[Line, ...]) -> list[Run]:
    """The calls that differ. A program ends at the first one, so there is one for what is left."""
    found = []
    left = list(CALLS)
    while left:
        calls = [Line(text, ("t2",), op=text) for text in left]
        run = replay((*setup, *calls), PEER, "never")
        if run.divergences and run.excused is None:
            found.append(run)
        done = len(run.steps) - len(setup)
        assert done > 0, run.signature
        left = left[done:]
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_results_are_laid_out_as_by_pytorch(layout: str, kind: str) -> None:
    shape, look = LAYOUTS[layout]
    dtype, lazy = KINDS[kind]
    if lazy.endswith(".mT") and len(shape) == 1:
        lazy = lazy.removesuffix(".mT")
    setup = (
        Line(f"(vt.ones({shape}).cumsum(-1) / 8).to(vt.{dtype})", ("t0",)),
        Line(f"t0{look}{lazy}", ("t1",)),
    )
    found = differing(setup)
    # Each call on its own, without those before it.
    alone = [replay((*setup, run.steps[-1]), PEER, "never") for run in found[:5]]
    assert not found, "\n".join(report(run.failure) for run in alone)
