"""The Jacobian of a function as a sparse matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVarTuple, overload

import numpy as np

from vtgrad.errors import ArgumentTypeError, ArgumentValueError, TransformError
from vtgrad.func.arguments import ArgNums, Chosen, checked_function, choose
from vtgrad.func.sparsity.coloring import color_count
from vtgrad.func.sparsity.compressed_passes import ForwardPasses, Passes, ReversePasses
from vtgrad.func.sparsity.find_pattern import (
    MAX_BYTES,
    check_place,
    find_pattern,
    follow_path,
    fresh_inputs,
)
from vtgrad.func.sparsity.jacobian_pattern import SparsityPattern, scipy_sparse
from vtgrad.ops.rules.patterns.index_sets import IntArray
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

if TYPE_CHECKING:
    from scipy.sparse import coo_array, csr_array

__all__ = ["sparse_jacobian"]

Mode: TypeAlias = Literal["auto", "forward", "reverse"]

Ts = TypeVarTuple("Ts")

# Seeds of so many elements are a batch.
_AT_ONCE = 2**20


# See Note [Signatures that know the arguments].
@overload
def sparse_jacobian(
    func: Callable[[*Ts], object],
    *args: *Ts,
    argnums: ArgNums = 0,
    has_aux: Literal[False] = False,
    mode: Mode = "auto",
    pattern: SparsityPattern | None = None,
    format: Literal["csr"] = "csr",
    check: bool = False,
    chunk_size: int | None = None,
    max_bytes: int = MAX_BYTES,
) -> csr_array: ...
@overload
def sparse_jacobian(
    func: Callable[[*Ts], object],
    *args: *Ts,
    argnums: ArgNums = 0,
    has_aux: Literal[False] = False,
    mode: Mode = "auto",
    pattern: SparsityPattern | None = None,
    format: Literal["coo"],
    check: bool = False,
    chunk_size: int | None = None,
    max_bytes: int = MAX_BYTES,
) -> coo_array: ...
@overload
def sparse_jacobian(
    func: Callable[[*Ts], object],
    *args: *Ts,
    argnums: ArgNums = 0,
    has_aux: Literal[True],
    mode: Mode = "auto",
    pattern: SparsityPattern | None = None,
    format: Literal["csr"] = "csr",
    check: bool = False,
    chunk_size: int | None = None,
    max_bytes: int = MAX_BYTES,
) -> tuple[csr_array, object]: ...
@overload
def sparse_jacobian(
    func: Callable[[*Ts], object],
    *args: *Ts,
    argnums: ArgNums = 0,
    has_aux: Literal[True],
    mode: Mode = "auto",
    pattern: SparsityPattern | None = None,
    format: Literal["coo"],
    check: bool = False,
    chunk_size: int | None = None,
    max_bytes: int = MAX_BYTES,
) -> tuple[coo_array, object]: ...
def sparse_jacobian(
    func: Callable[..., object],
    *args: object,
    argnums: ArgNums = 0,
    has_aux: bool = False,
    mode: Mode = "auto",
    pattern: SparsityPattern | None = None,
    format: Literal["csr", "coo"] = "csr",
    check: bool = False,
    chunk_size: int | None = None,
    max_bytes: int = MAX_BYTES,
) -> csr_array | coo_array | tuple[csr_array | coo_array, object]:
    """The Jacobian of a function as a sparse matrix of SciPy.

    One run finds the pattern (`sparsity_pattern`). Columns that have no row in common get one
    colour, and one pass of forward mode computes all columns of a colour; or one pass of reverse
    mode all rows of a colour. So the time is that of as many passes as there are colours, for a
    tridiagonal matrix three, of whatever size.

    Parameters
    ----------
    func : callable
        Returns real tensors, in containers or not. It gets copies of the tensors, so it may write
        to them. ``grad(f)`` gives the Hessian of `f`.
    *args : object
        Its arguments, at which the Jacobian is taken.
    argnums : int or tuple of int, default 0
        The arguments to differentiate by: real tensors, or containers of them.
    has_aux : bool, default False
        Whether `func` returns a pair, the outputs and something else, which is passed on.
    mode : {"auto", "forward", "reverse"}, default "auto"
        The mode of the passes; by default the one that needs fewer, forward mode if both need as
        many. A function that computes under `no_grad` with what depends on its inputs, or has hooks
        of gradients, has other derivatives in either mode, and needs one of the two words. Forward
        mode calls the function once for each batch of passes; reverse mode calls it once, and keeps
        what it saves.
    pattern : SparsityPattern, optional
        What `sparsity_pattern` found for the same function; its colours serve for any input of the
        same shapes for which the function takes the same path. If it reads values, it runs once
        more to see whether they are the same.
    format : {"csr", "coo"}, default "csr"
        The kind of matrix.
    check : bool, default False
        Take one more pass, along random numbers, and compare it with the matrix.
    chunk_size : int, optional
        How many passes are computed together, as a batch: by default as many as fit into some ten
        megabytes. 1 computes one after the other, without batches, which custom Functions and some
        operators have no rule for.
    max_bytes : int
        As in `sparsity_pattern`.

    Returns
    -------
    scipy.sparse.csr_array or coo_array
        A row for each element of the outputs, a column for each element of the inputs, both
        row-major and one tensor after another. Entries that are zero at this point are stored too.
        The dtype is that of the outputs in forward mode and that of the inputs in reverse mode;
        float32 for float16, which SciPy does not have.
    aux : object
        Only with `has_aux`.

    Raises
    ------
    ArgumentTypeError
        If `func` is no function, or `pattern` is no pattern.
    ArgumentValueError
        If an option has another value, an input has objects in it that are no tensors, or
        `max_bytes` is not positive.
    ChangedPathError
        If `pattern` was found on another path: it names the line that read another value.
    TransformError
        If `argnums` or `pattern` does not fit the arguments, an input or output is complex, an
        integer, or no tensor, or, with `check`, the pattern misses an entry; or if derivatives
        differ by mode, and `mode` does not say which are meant.
    NotSupportedError
        If the pattern cannot be found, as for `sparsity_pattern`, or an operator has no derivative
        in this mode.
    MissingPackageError
        If SciPy is not installed.
    InferenceModeError
        In inference mode.
    BatchedTensorError
        Inside of `vmap`.

    Examples
    --------
    >>> def residual(u):
    ...     r = u * u
    ...     r[1:] -= u[:-1]
    ...     r[:-1] -= u[1:]
    ...     return r
    >>> jacobian = vt.func.sparse_jacobian(residual, vt.tensor([1.0, 2.0, 3.0]))
    >>> jacobian.toarray()
    array([[ 2., -1.,  0.],
           [-1.,  4., -1.],
           [ 0., -1.,  6.]], dtype=float32)
    """
    checked_function(func, "sparse_jacobian")
    for name, value, known in (
        ("mode", mode, ("auto", "forward", "reverse")),
        ("format", format, ("csr", "coo")),
    ):
        if value not in known:
            raise ArgumentValueError(
                f"{name} must be one of {', '.join(map(repr, known))}, not {value!r}", argument=name
            )
    given: object = pattern
    if given is not None and not isinstance(given, SparsityPattern):
        raise ArgumentTypeError(
            "argument 'pattern' must be what sparsity_pattern returned, not "
            f"{type(given).__name__}",
            argument="pattern",
        )
    size: object = chunk_size
    if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 1):
        raise ArgumentValueError(
            f"chunk_size must be None or a positive int, not {chunk_size!r}", argument="chunk_size"
        )
    scipy = scipy_sparse()
    chosen = choose(args, argnums, "sparse_jacobian", real=True)
    check_place(chosen, "sparse_jacobian")
    if pattern is None:
        pattern = find_pattern(func, chosen, has_aux, max_bytes, "sparse_jacobian")
    else:
        _check_fits(pattern, chosen)
        if pattern.reads:
            follow_path(func, chosen, has_aux, pattern.reads, "sparse_jacobian")
    if mode == "auto" and pattern.of_one_mode is not None:
        raise _differ_by_mode(pattern.of_one_mode)
    taken = pattern.cheaper_mode() if mode == "auto" else mode
    kind = ForwardPasses if taken == "forward" else ReversePasses

    def of_tensors(*tensors: Tensor) -> object:
        return func(*chosen.call_with(tensors))

    passes: Passes = kind(
        of_tensors,
        lambda: fresh_inputs(chosen),
        pattern.output_shapes,
        has_aux,
        in_batches=chunk_size != 1,
    )
    # The run for the pattern sees no hook that is registered only where a tensor requires grad.
    if mode == "auto" and isinstance(passes, ReversePasses) and passes.has_hooks:
        raise _differ_by_mode("a hook of a gradient")
    data = _entries(pattern, passes, chunk_size, reverse=taken == "reverse")
    if check:
        _check(pattern, data, passes, reverse=taken == "reverse")
    if data.dtype == np.float16:
        data = data.astype(np.float32)
    matrix = scipy.csr_array(
        (data, pattern.indices.copy(), pattern.indptr.copy()), shape=pattern.shape
    )
    answer: csr_array | coo_array = matrix if format == "csr" else matrix.tocoo()
    return (answer, passes.aux) if has_aux else answer


def _differ_by_mode(what: str) -> TransformError:
    return TransformError(
        f"derivatives of the function differ by mode ({what}): tangents follow what is not "
        "recorded, and gradients meet hooks. Say mode='forward' or mode='reverse'; or use "
        "x.detach() where no derivative is meant"
    )


def _check_fits(pattern: SparsityPattern, chosen: Chosen) -> None:
    """Raise if a pattern was found for inputs of other shapes."""
    shapes = tuple([tuple(tensor.shape) for tensor in chosen.tensors])
    if shapes != pattern.input_shapes:
        raise TransformError(
            "the pattern was found for inputs of shapes "
            f"{[list(s) for s in pattern.input_shapes]}, not {[list(s) for s in shapes]}",
            expected=pattern.input_shapes,
            found=shapes,
        )


def _entries(
    pattern: SparsityPattern, passes: Passes, chunk_size: int | None, *, reverse: bool
) -> Array:
    """The entries of the matrix, in the order of the pattern; see Note [Colours]."""
    rows, columns = (
        np.repeat(making.arange(pattern.shape[0]), np.diff(pattern.indptr)),
        pattern.indices,
    )
    colors = pattern.row_colors if reverse else pattern.column_colors
    seeded, found = (rows, columns) if reverse else (columns, rows)
    color_of = colors[seeded]
    count = color_count(colors)
    together = max(1, _AT_ONCE // max(*pattern.shape, 1)) if chunk_size is None else chunk_size
    data: Array | None = None
    # Without any colour one pass along zeros, which shows the dtype, and what else is returned.
    for first in range(0, max(count, 1), together):
        seeds = making.zeros((max(min(together, count - first), 1), colors.size))
        members = np.flatnonzero((colors >= first) & (colors < first + together))
        seeds[colors[members] - first, members] = 1
        products = passes.products(seeds)
        if data is None:
            data = making.zeros(pattern.nnz, products.dtype)
        here = np.flatnonzero((color_of >= first) & (color_of < first + together))
        data[here] = products[color_of[here] - first, found[here]]
    assert data is not None
    return data


def _check(pattern: SparsityPattern, data: Array, passes: Passes, *, reverse: bool) -> None:
    """Compare the matrix with one product along random numbers.

    Raises
    ------
    TransformError
        If they differ.
    """
    rows, columns = (
        np.repeat(making.arange(pattern.shape[0]), np.diff(pattern.indptr)),
        pattern.indices,
    )
    along, onto = (rows, columns) if reverse else (columns, rows)
    length, count = pattern.shape if reverse else pattern.shape[::-1]
    seed = np.random.default_rng(0).uniform(1, 2, length)
    wanted = passes.products(seed[None])[0]
    terms = data.astype(np.float64) * seed[along]
    found, scale = making.zeros(count), making.zeros(count)
    np.add.at(found, onto, terms)
    np.add.at(scale, onto, abs(terms))
    wrong = _differ(found, wanted, scale + abs(wanted), passes.eps)
    if wrong.size:
        what = "column" if reverse else "row"
        raise TransformError(
            f"a product with the matrix differs from the derivative in {wrong.size} of {count} "
            f"{what}s, first in {what} {wrong[0]}: the pattern misses an entry, because the "
            "function hides a dependence, for instance in a NumPy array on a tensor's memory",
            first=int(wrong[0]),
        )


def _differ(found: Array, wanted: Array, scale: Array, eps: float) -> IntArray:
    """Where two products differ by more than rounding, also that of terms that cancelled."""
    finite = np.isfinite(found) & np.isfinite(wanted)
    tolerance = eps**0.5 * scale + eps**0.75 * scale[finite].max(initial=0)
    return np.flatnonzero(finite & (abs(found - wanted) > tolerance))
