"""What each operator computes, what it saves, and its derivatives, in the model's own words.

Only operators whose gradients are exact for small integers in float64 are here: the oracle
compares numbers with ``==``. A rule is chosen for what its node *saves*: both inputs (``mul``),
one input (``square``, ``abs``), the result (``relu``), input and result (``prod``), both inputs
whatever is needed (``maximum``), a constant (``masked_fill``), nothing (the rest).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from vtgrad.testing.geometry import Geometry, IntArray, contiguous, follow
from vtgrad.testing.jets import Bilinear, FloatArray, Jet, Linear

__all__ = ["OPERATORS", "Computed", "MisfitError", "Operator", "Saving"]

#: Numbers and masks that go with the tensors.
Extra = int | tuple[int, ...] | tuple[bool, ...]


class MisfitError(Exception):
    """Shapes that do not fit each other."""


@dataclass(frozen=True)
class Saving:
    """One value that an operator's node keeps.

    Attributes
    ----------
    what : int or str
        Number of an operand, ``"result"``, or ``"constant"`` for what no user can write, or
        ``"number"`` for a Python number.
    when : tuple of int
        Kept if any of these operands has an edge.
    uncertain : bool
        Whether it is unknown if the value is kept: a pass that would then be refused may succeed as
        well.
    """

    what: int | str
    when: tuple[int, ...]
    uncertain: bool = False


@dataclass(frozen=True)
class Computed:
    """A result with its local derivatives."""

    geometry: Geometry
    values: FloatArray
    first: tuple[Linear, ...]
    second: tuple[Bilinear, ...] = ()


Formula = Callable[[Sequence[Jet], Sequence[Geometry], tuple[Extra, ...]], Computed]


@dataclass(frozen=True)
class Operator:
    """One row of the model's table.

    Attributes
    ----------
    name : str
        Method name (in-place variants add an underscore) or, for ``function``, a name in the
        namespace that takes a list of tensors.
    node : str
        Name of the node it records.
    arity : int
        Number of tensor operands; 0 stands for a list.
    """

    name: str
    node: str
    arity: int
    rule: Formula
    saves: tuple[Saving, ...] = ()
    has_inplace: bool = False
    is_function: bool = False


def _all_rows(count: int) -> IntArray:
    return np.arange(count, dtype=np.intp)


def _spread(operands: Sequence[Jet]) -> tuple[tuple[int, ...], list[IntArray]]:
    """Broadcast the operands: the result's shape, and which element each position reads."""
    try:
        shape = np.broadcast_shapes(*(operand.shape for operand in operands))
    except ValueError:
        raise MisfitError from None
    return shape, [
        np.broadcast_to(_all_rows(o.values.size).reshape(o.shape), shape).ravel() for o in operands
    ]


def _pointwise(
    value: Callable[..., FloatArray],
    first: Sequence[Callable[..., FloatArray]],
    second: Callable[..., FloatArray] | None = None,
) -> Formula:
    """Make a rule of a function of one or two numbers, its partial derivatives, and the second.

    `second` is the second derivative of a function of one number, or the mixed one of a function
    of two that is linear in each.
    """

    def rule(
        operands: Sequence[Jet], geometries: Sequence[Geometry], extra: tuple[Extra, ...]
    ) -> Computed:
        shape, reads = _spread(operands)
        inputs = [o.values[read] for o, read in zip(operands, reads, strict=True)]
        rows = _all_rows(len(reads[0]))
        terms = tuple(
            Linear(i, rows, reads[i], np.asarray(d(*inputs, *extra), dtype=np.float64))
            for i, d in enumerate(first)
        )
        pairs: tuple[Bilinear, ...] = ()
        if second is not None:
            curve = np.asarray(second(*inputs, *extra), dtype=np.float64)
            if len(operands) == 1:
                pairs = (Bilinear(0, 0, rows, reads[0], reads[0], curve),)
            else:
                pairs = (
                    Bilinear(0, 1, rows, reads[0], reads[1], curve),
                    Bilinear(1, 0, rows, reads[1], reads[0], curve),
                )
        values = np.asarray(value(*inputs, *extra), dtype=np.float64)
        # A number takes part as an operand without dimensions.
        orders = [*geometries, *(Geometry((), ()) for _ in extra)]
        return Computed(follow(shape, orders), values, terms, pairs)

    return rule


def _one(x: FloatArray, *_: object) -> FloatArray:
    return np.ones_like(x)


def _minus(x: FloatArray, *_: object) -> FloatArray:
    return -np.ones_like(x)


def _share(x: FloatArray, y: FloatArray) -> FloatArray:
    return np.where(x == y, 0.5, (x > y).astype(np.float64))


def _clone(
    operands: Sequence[Jet], geometries: Sequence[Geometry], extra: tuple[Extra, ...]
) -> Computed:
    made = _pointwise(lambda x: x, [_one])(operands, geometries, extra)
    return Computed(_like(geometries[0]), made.values, made.first)


def _like(source: Geometry) -> Geometry:
    """Geometry of a copy: the very strides of the source where it has no gaps."""
    if source.is_dense:
        return Geometry(source.shape, source.strides)
    return follow(source.shape, [source])


def _gather(
    pick: Callable[[IntArray, tuple[Extra, ...]], IntArray], *, keeps_order: bool = False
) -> Formula:
    """Make a rule of a function that moves elements: it is applied to their numbers."""

    def rule(
        operands: Sequence[Jet], geometries: Sequence[Geometry], extra: tuple[Extra, ...]
    ) -> Computed:
        (x,) = operands
        picked = pick(_all_rows(x.values.size).reshape(x.shape), extra)
        flat = picked.ravel()
        geometry = _like(geometries[0]) if keeps_order else contiguous(picked.shape)
        term = Linear(0, _all_rows(flat.size), flat, np.ones(flat.size))
        return Computed(geometry, x.values[flat], (term,))

    return rule


def _reduced(x: Jet, extra: tuple[Extra, ...]) -> tuple[tuple[int, ...], IntArray]:
    """Shape of a reduction's result, and the row that each element goes to."""
    if not extra:
        return (), np.zeros(x.values.size, dtype=np.intp)
    dim = int(extra[0]) if isinstance(extra[0], int) else 0
    shape = x.shape[:dim] + x.shape[dim + 1 :]
    rows = _all_rows(int(np.prod(shape))).reshape(shape)
    return shape, np.broadcast_to(np.expand_dims(rows, dim), x.shape).ravel()


def _sum(
    operands: Sequence[Jet], geometries: Sequence[Geometry], extra: tuple[Extra, ...]
) -> Computed:
    (x,) = operands
    shape, rows = _reduced(x, extra)
    numel = int(np.prod(shape))
    values = np.bincount(rows, weights=x.values, minlength=numel).astype(np.float64)
    term = Linear(0, rows, _all_rows(rows.size), np.ones(rows.size))
    return Computed(contiguous(shape), values, (term,))


def _prod(
    operands: Sequence[Jet], geometries: Sequence[Geometry], extra: tuple[Extra, ...]
) -> Computed:
    (x,) = operands
    shape, rows = _reduced(x, extra)
    numel, count = int(np.prod(shape)), rows.size

    def without(*left_out: int) -> float:
        members = np.flatnonzero(rows == rows[left_out[0]])
        return float(np.prod(x.values[[m for m in members if m not in left_out]]))

    values = np.ones(numel)
    np.multiply.at(values, rows, x.values)
    pairs = [(i, j) for i in range(count) for j in range(count) if i != j and rows[i] == rows[j]]
    ones = np.array([i for i, _ in pairs], dtype=np.intp)
    others = np.array([j for _, j in pairs], dtype=np.intp)
    first = Linear(0, rows, _all_rows(count), np.array([without(i) for i in range(count)]))
    second = Bilinear(0, 0, rows[ones], ones, others, np.array([without(i, j) for i, j in pairs]))
    return Computed(contiguous(shape), values, (first,), (second,) if pairs else ())


def _cumsum(
    operands: Sequence[Jet], geometries: Sequence[Geometry], extra: tuple[Extra, ...]
) -> Computed:
    (x,) = operands
    numbers = _all_rows(x.values.size).reshape(x.shape)
    dim = int(extra[0]) if isinstance(extra[0], int) else 0
    rows: list[int] = []
    columns: list[int] = []
    for upto in range(x.shape[dim]):
        target = np.take(numbers, upto, axis=dim).ravel()
        for earlier in range(upto + 1):
            rows.extend(target)
            columns.extend(np.take(numbers, earlier, axis=dim).ravel())
    values = np.cumsum(x.values.reshape(x.shape), axis=dim).ravel()
    term = Linear(
        0, np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp), np.ones(len(rows))
    )
    return Computed(contiguous(x.shape), values, (term,))


def _joined(join: Callable[[Sequence[IntArray], int], IntArray]) -> Formula:
    def rule(
        operands: Sequence[Jet], geometries: Sequence[Geometry], extra: tuple[Extra, ...]
    ) -> Computed:
        numbers, start = [], 0
        for operand in operands:
            size = operand.values.size
            numbers.append(np.arange(start, start + size, dtype=np.intp).reshape(operand.shape))
            start += size
        if join is np.concatenate:
            # A vector without elements fits everything, as in PyTorch.
            numbers = [n for n in numbers if n.shape != (0,)] or numbers
        try:
            picked = join(numbers, int(extra[0]) if isinstance(extra[0], int) else 0)
        except ValueError:
            raise MisfitError from None
        flat, terms, start = picked.ravel(), [], 0
        for which, operand in enumerate(operands):
            stop = start + operand.values.size
            rows = np.flatnonzero((flat >= start) & (flat < stop))
            terms.append(Linear(which, rows, flat[rows] - start, np.ones(rows.size)))
            start = stop
        everything = np.concatenate([operand.values for operand in operands])
        return Computed(contiguous(picked.shape), everything[flat], tuple(terms))

    return rule


def _matmul(
    operands: Sequence[Jet], geometries: Sequence[Geometry], extra: tuple[Extra, ...]
) -> Computed:
    one, other = operands
    if len(one.shape) != 2 or len(other.shape) != 2 or one.shape[1] != other.shape[0]:
        raise MisfitError
    (n, k), m = one.shape, other.shape[1]
    i, j, s = np.indices((n, m, k)).reshape(3, n * m * k)
    rows, left, right = i * m + j, i * k + s, s * m + j
    ones = np.ones(rows.size)
    values = (one.values.reshape(n, k) @ other.values.reshape(k, m)).ravel()
    return Computed(
        contiguous((n, m)),
        values,
        (
            Linear(0, rows, left, other.values[right]),
            Linear(1, rows, right, one.values[left]),
        ),
        (Bilinear(0, 1, rows, left, right, ones), Bilinear(1, 0, rows, right, left, ones)),
    )


def _masked_fill(
    operands: Sequence[Jet], geometries: Sequence[Geometry], extra: tuple[Extra, ...]
) -> Computed:
    (x,) = operands
    mask, number = extra
    kept = ~np.asarray(mask, dtype=np.bool_)
    rows = _all_rows(x.values.size)
    values = np.where(kept, x.values, float(number) if isinstance(number, int) else 0.0)
    term = Linear(0, rows, rows, kept.astype(np.float64))
    return Computed(contiguous(x.shape), values, (term,))


_MUL_SAVES = (Saving(0, (1,)), Saving(1, (0,)))
_BOTH_SAVES = (Saving(0, (0, 1)), Saving(1, (0, 1)))
_NUMBER_SAVE = (Saving("number", (0,)),)

OPERATORS: dict[str, Operator] = {
    op.name: op
    for op in (
        Operator("neg", "NegBackward0", 1, _pointwise(lambda x: -x, [_minus]), has_inplace=True),
        Operator(
            "add", "AddBackward0", 2, _pointwise(lambda x, y: x + y, [_one, _one]), has_inplace=True
        ),
        Operator(
            "sub",
            "SubBackward0",
            2,
            _pointwise(lambda x, y: x - y, [_one, _minus]),
            has_inplace=True,
        ),
        Operator(
            "mul",
            "MulBackward0",
            2,
            _pointwise(lambda x, y: x * y, [lambda x, y: y, lambda x, y: x], _one),
            _MUL_SAVES,
            has_inplace=True,
        ),
        Operator(
            "square",
            "PowBackward0",
            1,
            _pointwise(lambda x: x * x, [lambda x: 2 * x], lambda x: 2 * _one(x)),
            (Saving(0, (0,)),),
            has_inplace=True,
        ),
        Operator(
            "abs",
            "AbsBackward0",
            1,
            _pointwise(np.abs, [np.sign]),
            (Saving(0, (0,)),),
            has_inplace=True,
        ),
        Operator(
            "relu",
            "ReluBackward0",
            1,
            _pointwise(lambda x: np.maximum(x, 0.0), [lambda x: (x > 0).astype(np.float64)]),
            (Saving("result", (0,)),),
            has_inplace=True,
        ),
        Operator(
            "maximum",
            "MaximumBackward0",
            2,
            _pointwise(np.maximum, [_share, lambda x, y: 1.0 - _share(x, y)]),
            _BOTH_SAVES,
        ),
        Operator(
            "add_number",
            "AddBackward0",
            1,
            _pointwise(lambda x, k: x + k, [_one]),
            has_inplace=True,
        ),
        Operator(
            "mul_number",
            "MulBackward0",
            1,
            _pointwise(lambda x, k: x * k, [lambda x, k: k * _one(x)]),
            _NUMBER_SAVE,
            has_inplace=True,
        ),
        Operator(
            "masked_fill",
            "MaskedFillBackward0",
            1,
            _masked_fill,
            (Saving("constant", (0,)),),
            has_inplace=True,
        ),
        Operator("clone", "CloneBackward0", 1, _clone),
        Operator("sum", "SumBackward", 1, _sum),
        Operator(
            "prod",
            "ProdBackward",
            1,
            _prod,
            (Saving(0, (0,)), Saving("result", (0,))),
        ),
        Operator("cumsum", "CumsumBackward0", 1, _cumsum),
        Operator(
            "flip",
            "FlipBackward0",
            1,
            _gather(lambda numbers, extra: np.flip(numbers, _axis(extra)), keeps_order=True),
        ),
        Operator(
            "index_select",
            "IndexSelectBackward0",
            1,
            _gather(lambda numbers, extra: np.take(numbers, _picks(extra), axis=_axis(extra))),
            (Saving("constant", (0,)),),
        ),
        Operator("cat", "CatBackward0", 0, _joined(np.concatenate), is_function=True),
        Operator("stack", "StackBackward0", 0, _joined(np.stack), is_function=True),
        Operator("mm", "MmBackward0", 2, _matmul, _MUL_SAVES),
    )
}


def _axis(extra: tuple[Extra, ...]) -> int:
    return next(part for part in extra if isinstance(part, int))


def _picks(extra: tuple[Extra, ...]) -> tuple[int, ...]:
    return next(tuple(int(i) for i in part) for part in extra if isinstance(part, tuple))
