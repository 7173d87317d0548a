"""Writes of values of one dtype to a tensor of another, in every way that there is to write."""

from collections.abc import Iterator

from tests.oracle.menu import DTYPES
from vtgrad.testing.steps import Line

# `t0` is written, of one dtype; `t1` and `t2` (0-d) are written to it, of another.
_WRITES = (
    "t0.copy_(t1)",
    "t0.copy_(t2)",
    "t0.fill_(t2)",
    "t0[0] = t2",
    "t0[:2] = t1[:2]",
    "t0[...] = t1",
    "t0[vt.tensor([0, 1])] = t1[:2]",
    "t0[vt.tensor([0, 1])] = t2",
    "t0[vt.tensor([True, False, True, False])] = t2",
    "t0[vt.tensor([True, False, True, False])] = t1[:2]",
    "t0.index_put_((vt.tensor([0, 1]),), t1[:2], accumulate=True)",
    "t0.masked_fill_(vt.tensor([True, False, True, False]), t2)",
    "t0.masked_scatter_(vt.tensor([True, False, True, False]), t1)",
    "t0.index_fill_(0, vt.tensor([0, 2]), t2)",
    "t0.index_copy_(0, vt.tensor([0, 1]), t1[:2])",
    "t0.index_add_(0, vt.tensor([0, 1]), t1[:2])",
    "t0.view(4, 1).index_reduce_(0, vt.tensor([0, 1]), t1[:2].view(2, 1), 'prod')",
    "t0.scatter_(0, vt.tensor([0, 1]), t1)",
    "t0.scatter_add_(0, vt.tensor([0, 1]), t1)",
    "t0.scatter_reduce_(0, vt.tensor([0, 1]), t1, 'prod')",
    "t0.put_(vt.tensor([0, 1]), t1[:2])",
    "t0.add_(t1)",
    "t0.add_(t2)",
    "t0.sub_(t1)",
    "t0.mul_(t1)",
    "t0.mul_(t2)",
    "t0.div_(t1)",
    "t0.div_(t1, rounding_mode='floor')",
    "t0.floor_divide_(t1)",
    "t0.remainder_(t1)",
    "t0.pow_(t1)",
    "t0.eq_(t1)",
    "t0.lt_(t1)",
    "t0.logical_and_(t1)",
    "t0.bitwise_or_(t1)",
    "t0.addcmul_(t1, t1)",
    "t0.lerp_(t1, 0.5)",
    "t0.clamp_(t1)",
    "t0.atan2_(t1)",
    "vt.add(t1, t1, out=t0)",
    "vt.mul(t1, t2, out=t0)",
    "vt.sum(t1, 0, keepdim=True, out=t0[:1])",
    "t1 += t0",
    "t1 *= t2",
)
# Python's numbers, which are converted where tensors are refused.
_NUMBERS = ("2", "-1", "300", "2.7", "True", "1j", "1 + 0j", "1e40", "2**40")
_NUMBER_WRITES = (
    "t0.fill_({n})",
    "t0[0] = {n}",
    "t0[vt.tensor([0, 1])] = {n}",
    "t0[vt.tensor([True, False, True, False])] = {n}",
    "t0.masked_fill_(vt.tensor([True, False, True, False]), {n})",
    "t0.index_fill_(0, vt.tensor([0, 2]), {n})",
    "t0.scatter_(0, vt.tensor([0, 1]), {n})",
    "t0.add_({n})",
    "t0.mul_({n})",
    "t0.div_({n})",
    "t0.sub_({n})",
    "t0.remainder_({n})",
)


def crossing() -> Iterator[tuple[Line, ...]]:
    """Every write, for all pairs of dtypes."""
    for left in DTYPES:
        for right in DTYPES:
            head = (
                Line(f"vt.tensor([1, 0, 3, 2], dtype=vt.{left})", ("t0",)),
                Line(f"vt.tensor([2, 1, 0, 3], dtype=vt.{right})", ("t1",)),
                Line(f"vt.tensor(2, dtype=vt.{right})", ("t2",)),
            )
            for text in _WRITES:
                yield (*head, Line(text, (), "", f"{left} {right} {text}"))


def numbers() -> Iterator[tuple[Line, ...]]:
    """Every write of a number, for all dtypes."""
    for dtype in DTYPES:
        head = Line(f"vt.tensor([1, 0, 3, 2], dtype=vt.{dtype})", ("t0",))
        for text in _NUMBER_WRITES:
            for number in _NUMBERS:
                if dtype == "float16" and number in ("1e40", "2**40"):
                    # PyTorch refuses to fill a half with what it cannot hold, but not through
                    # brackets; vtgrad refuses both.
                    continue
                call = text.format(n=number)
                yield (head, Line(call, (), "", f"{dtype} {call}"))


def recorded() -> Iterator[tuple[Line, ...]]:
    """Writes of one floating dtype to another that are recorded, and their gradients."""
    floating = ("float32", "float64", "complex64", "complex128", "float16")
    for left in floating:
        for right in floating:
            head = (
                Line(f"vt.tensor([1, 0.5, 3, 2], dtype=vt.{left}, requires_grad=True)", ("t0",)),
                Line(f"vt.tensor([2, 1, 0.25, 3], dtype=vt.{right}, requires_grad=True)", ("t1",)),
                Line("t0.clone()", ("t2",)),
            )
            for text in (
                "t2.copy_(t1)",
                "t2[1] = t1[0]",
                "t2[:2] = t1[2:]",
                "t2.fill_(t1[0])",
                "t2.add_(t1)",
                "t2.mul_(t1)",
                "t2[vt.tensor([0, 1])] = t1[:2]",
                "t2.masked_fill_(vt.tensor([True, False, True, False]), t1[0])",
                "t2.index_fill_(0, vt.tensor([0]), t1[0])",
            ):
                root = f"(t2 * t2.detach()).sum().{_REAL[left]}"
                total = f"[dense(g) for g in vt.autograd.grad({root}, [t0, t1])]"
                yield (
                    *head,
                    Line(text, (), "", f"{left} {right} {text}"),
                    Line(total, ("t3", "t4"), "", "grad", True),
                )


_REAL = {
    "float16": "double()",
    "float32": "double()",
    "float64": "double()",
    "complex64": "abs()",
    "complex128": "abs()",
}
