"""Finding which elements of a function's outputs depend on which elements of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVarTuple

import numpy as np

from vtgrad.errors import (
    ArgumentValueError,
    BatchedTensorError,
    InferenceModeError,
    NotSupportedError,
    TransformError,
)
from vtgrad.func.arguments import (
    ArgNums,
    Chosen,
    checked_function,
    choose,
    output_leaves,
    split_aux,
)
from vtgrad.func.sparsity.jacobian_pattern import SparsityPattern
from vtgrad.graph.batch import is_batched
from vtgrad.graph.forward_grad import new_level_number
from vtgrad.graph.thread_levels import NO_LIMIT, thread
from vtgrad.graph.tracer import current_tracer, run_traced
from vtgrad.ops.calling.take_over import handle_key
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.patterns.index_sets import VALUE, IndexSets, IntArray, SetsTooLargeError
from vtgrad.ops.rules.patterns.sparsity_tracer import SparsityTracer
from vtgrad.ops.rules.patterns.traced_handler import handle_traced
from vtgrad.ops.rules.patterns.value_read import ValueRead
from vtgrad.storage import making
from vtgrad.storage.arrays import Shape
from vtgrad.storage.key_set import TRACED
from vtgrad.storage.thread_state import changed, run_with
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "MAX_BYTES",
    "check_place",
    "find_pattern",
    "follow_path",
    "fresh_inputs",
    "sparsity_pattern",
]

# No tensor has the key before `find_pattern` lets a tracer follow operators.
handle_key(TRACED, handle_traced)

# What index sets may take by default.
MAX_BYTES: Final = 2**28

# See Note [Signatures that know the arguments].
Ts = TypeVarTuple("Ts")


def sparsity_pattern(
    func: Callable[[*Ts], object],
    *args: *Ts,
    argnums: ArgNums = 0,
    has_aux: bool = False,
    max_bytes: int = MAX_BYTES,
) -> SparsityPattern:
    """Find which elements of the outputs of a function depend on which elements of its inputs.

    The function runs once. Each element of a tensor carries the set of the inputs that it depends
    on, through operators, views and writes. Derivatives that are zero by chance count, as that of
    ``x * 0``; those of operators that have none, as comparisons, do not. So the pattern holds for
    all inputs, unless the function reads values that depend on them: `SparsityPattern.reads`.

    Parameters
    ----------
    func : callable
        Returns real tensors, in containers or not. It gets copies of the tensors, so it may write
        to them. It may compute gradients with `grad` and the other transforms.
    *args : object
        Its arguments.
    argnums : int or tuple of int, default 0
        The arguments that count as inputs: real tensors, or containers of them.
    has_aux : bool, default False
        Whether `func` returns a pair, the outputs and something else, which is ignored.
    max_bytes : int
        The memory that the sets may take, 256 MiB by default. If they take more, the pattern is
        found by blocks of columns, and the function runs once for each.

    Returns
    -------
    SparsityPattern
        The pattern, with its colours.

    Raises
    ------
    ArgumentTypeError
        If `func` is no function.
    ArgumentValueError
        If an input has objects in it that are no tensors, or `max_bytes` is not positive.
    TransformError
        If `argnums` does not fit the arguments, or an input or output is complex, an integer, or no
        tensor.
    NotSupportedError
        If the function does what cannot be followed: it calls ``backward``, or `numpy` of a tensor
        with derivatives, or hands one to another thread.
    InferenceModeError
        In inference mode.
    BatchedTensorError
        Inside of `vmap`.

    Examples
    --------
    >>> def step(u):  # a step of the heat equation, in place
    ...     u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    ...     return u
    >>> pattern = vt.func.sparsity_pattern(step, vt.ones(5))
    >>> pattern.passes("forward")
    3
    """
    checked_function(func, "sparsity_pattern")
    chosen = choose(args, argnums, "sparsity_pattern", real=True)
    check_place(chosen, "sparsity_pattern")
    return find_pattern(func, chosen, has_aux, max_bytes, "sparsity_pattern")


def check_place(chosen: Chosen, name: str) -> None:
    """Raise where the result, which is no tensor, would have to be differentiated or followed.

    Raises
    ------
    NotSupportedError, TransformError, InferenceModeError, BatchedTensorError
        If so, or in inference mode, or inside of `vmap`.
    """
    if current_tracer() is not None:
        raise NotSupportedError(
            f"{name} was called by a function whose pattern is being found: its result is no "
            "tensor, and has no derivatives"
        )
    if thread.mode.inference:
        raise InferenceModeError(
            f"{name} finds no derivatives in inference mode; leave it for the call by `with "
            "inference_mode(False)`"
        )
    for tensor in chosen.tensors:
        meta = tensor._impl.autograd_meta
        inside = thread.reverse_level > 0 and tensor.requires_grad
        if inside or (meta is not None and meta.fw_level(NO_LIMIT)):
            raise TransformError(
                f"{name} was called with a tensor that another transform differentiates by, but "
                "its result is no tensor, and has no derivatives; pass x.detach()"
            )
        if is_batched(tensor):
            raise BatchedTensorError(
                f"{name} was called inside of vmap, but its result is no tensor, and cannot be "
                "one for each sample; call it in a loop over the samples"
            )


def fresh_inputs(chosen: Chosen) -> list[Tensor]:
    """Copies of the inputs, which a function may write to."""
    return [F.clone(F.detach(tensor)) for tensor in chosen.tensors]


def find_pattern(
    func: Callable[..., object], chosen: Chosen, has_aux: bool, max_bytes: int, name: str
) -> SparsityPattern:
    """`sparsity_pattern` of arguments that were looked at."""
    size: object = max_bytes
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise ArgumentValueError(
            f"max_bytes must be a positive int, not {max_bytes!r}", argument="max_bytes"
        )
    columns = sum(tensor.numel() for tensor in chosen.tensors)
    # A member of a set is a number of four bytes.
    bound = max(max_bytes // 4, 1)
    width, low, runs = columns, 0, 0
    blocks: list[_Block] = []
    while low < columns or not blocks:
        high = min(low + width, columns)
        runs += 1
        try:
            block = _find_block(func, chosen, has_aux, low, high, bound, name)
        except SetsTooLargeError:
            # One column needs no more than one set.
            assert width > 1
            width = (width + 1) // 2
            continue
        if blocks:
            _check_same_path(blocks[0], block, name)
        blocks.append(block)
        low = high
    lengths = np.sum([block.lengths for block in blocks], 0)
    rows = np.concatenate([np.repeat(making.arange(b.lengths.size), b.lengths) for b in blocks])
    indices = np.concatenate([block.indices for block in blocks])
    if len(blocks) > 1:
        indices = indices[np.argsort(rows, kind="stable")]
    indptr = making.zeros(lengths.size + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    return SparsityPattern(
        (lengths.size, columns),
        indptr,
        indices,
        tuple([tuple(tensor.shape) for tensor in chosen.tensors]),
        blocks[0].shapes,
        tuple(blocks[0].reads),
        runs,
        next((block.of_one_mode for block in blocks if block.of_one_mode is not None), None),
    )


class _Block:
    """Some columns of a pattern.

    Attributes
    ----------
    lengths, indices : ndarray
        The number of entries of each row, and their columns.
    shapes : tuple of tuple of int
        The shapes of the outputs.
    reads : list of ValueRead
        What the run has read.
    of_one_mode : str or None
        What the run has done that derivatives of one mode only follow, and where.
    """

    __slots__ = ("indices", "lengths", "of_one_mode", "reads", "shapes")

    lengths: IntArray
    indices: IntArray
    shapes: tuple[Shape, ...]
    reads: list[ValueRead]
    of_one_mode: str | None


def _find_block(
    func: Callable[..., object],
    chosen: Chosen,
    has_aux: bool,
    low: int,
    high: int,
    bound: int,
    name: str,
) -> _Block:
    """One run, in which only the columns from `low` to before `high` are members of sets.

    Raises
    ------
    SetsTooLargeError
        If the sets have more members than `bound`.
    """
    sets = IndexSets(high - low, bound)
    tracer = SparsityTracer(new_level_number(), sets)
    inputs = fresh_inputs(chosen)
    columns = making.full(sum(x.numel() for x in inputs), VALUE, np.int64)
    columns[low:high] = sets.singletons(0, high - low)
    outputs = run_function(func, chosen, has_aux, tracer, inputs, columns, name)
    found = [tracer.sets_of(x) for x in outputs]
    ids = np.concatenate(
        [making.zeros(0, np.int64)]
        + [
            making.zeros(x.numel(), np.int64) if own is None else own.reshape(-1)
            for x, own in zip(outputs, found, strict=True)
        ]
    )
    block = _Block()
    block.indices, block.lengths = sets.members(ids)
    block.indices = block.indices.astype(np.int64) + low
    block.shapes = tuple([tuple(x.shape) for x in outputs])
    block.reads = tracer.reads
    block.of_one_mode = None
    if tracer.of_one_mode is not None:
        what, site = tracer.of_one_mode
        block.of_one_mode = what if site is None else f"{what}, at {site.filename}:{site.lineno}"
    return block


def run_function(
    func: Callable[..., object],
    chosen: Chosen,
    has_aux: bool,
    tracer: SparsityTracer,
    inputs: Sequence[Tensor],
    columns: IntArray,
    name: str,
) -> list[Tensor]:
    """The outputs of a function, whose operators a tracer follows.

    Parameters
    ----------
    columns : ndarray
        The sets of all elements of the inputs.
    """
    start = 0
    for tensor in inputs:
        own = columns[start : start + tensor.numel()]
        tracer.begin(tensor, own.reshape(tensor.shape))
        start += tensor.numel()

    def body() -> list[Tensor]:
        output = split_aux(func(*chosen.call_with(inputs)), has_aux, name)[0]
        return output_leaves(output, name, real=True)[0]

    outputs = run_with(changed(mode=thread.mode.by_grad[True]), run_traced, tracer, body)
    tracer.finish()
    return outputs


def follow_path(
    func: Callable[..., object],
    chosen: Chosen,
    has_aux: bool,
    expected: Sequence[ValueRead],
    name: str,
) -> None:
    """Run a function to see whether it reads what another run read.

    Raises
    ------
    ChangedPathError
        If it does not.
    """
    inputs = fresh_inputs(chosen)
    tracer = SparsityTracer(new_level_number(), IndexSets(1, 1), expected)
    columns = making.full(sum(x.numel() for x in inputs), VALUE, np.int64)
    run_function(func, chosen, has_aux, tracer, inputs, columns, name)


def _check_same_path(first: _Block, other: _Block, name: str) -> None:
    """Raise if the function did not do the same for each block."""
    if (
        first.shapes != other.shapes
        or len(first.reads) != len(other.reads)
        or not all(a.same_as(b) for a, b in zip(first.reads, other.reads, strict=True))
    ):
        raise TransformError(
            f"{name} ran the function once for each block of columns, and it did not do the same "
            "each time; seed its random numbers inside of it, or allow more memory by max_bytes"
        )
