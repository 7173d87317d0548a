"""Calling a function of one sample for all samples of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, ParamSpec, TypeAlias, TypeVar, cast

from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    NamesNotSupportedError,
    OptionValueError,
    OutOfRangeError,
)
from vtgrad.func.arguments import checked_function
from vtgrad.generator import default_generator
from vtgrad.graph.batch import BatchLevel, batched
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.copied_views import check_copies
from vtgrad.ops.rules.batches.run_in_batch import run_in_batch
from vtgrad.ops.rules.batches.values import is_batched_at, value_at
from vtgrad.storage.key_set import NAMED
from vtgrad.storage.record_write import OUTERMOST, caller
from vtgrad.tensor.subclass_methods import in_class_of
from vtgrad.tensor.tensor import Tensor
from vtgrad.utils.pytree import broadcast_prefix, tree_flatten, tree_structure, tree_unflatten

__all__ = ["Dims", "Randomness", "checked_randomness", "vmap"]

P = ParamSpec("P")
R = TypeVar("R")

Randomness: TypeAlias = Literal["error", "same", "different"]
# An int, None, or containers of these.
Dims: TypeAlias = object


class _Sample(NamedTuple):
    """A batched tensor that the function is called with.

    Attributes
    ----------
    given : Tensor
        What the caller passed, with its batch dimension at `dim`.
    dim : int
        Where that is.
    inner : Tensor
        What the function gets.
    """

    given: Tensor
    dim: int
    inner: Tensor


def vmap(
    func: Callable[P, R],
    in_dims: Dims = 0,
    out_dims: Dims = 0,
    randomness: Randomness = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[P, R]:
    """A function for a batch of samples, from a function for one sample.

    The function runs once, with tensors that stand for one sample each and have its shape;
    operators compute for all samples at once. It may take views and write in place: a write to a
    sample writes the caller's tensor. `vmap` may be nested, and combined with the transforms in
    this module: ``vmap(grad(loss), in_dims=(None, 0))(w, xs)`` are the gradients for each sample.

    Parameters
    ----------
    func : callable
        Returns tensors, in containers or not.
    in_dims : int, None, or tuple of these, default 0
        For each positional argument where its batch dimension is, as an int, or in the argument's
        own containers; None for an argument that is the same for all samples. A single int is for
        all arguments. Keyword arguments are never batched.
    out_dims : int, None, or containers of these, default 0
        Where the results have their batch dimension, as for `in_dims`; None for a result that is
        the same for all samples.
    randomness : {"error", "same", "different"}, default "error"
        Whether functions that draw random numbers are refused, draw once for all samples, or once
        for each.
    chunk_size : int, optional
        Call the function for so many samples at a time, which takes less memory.

    Returns
    -------
    callable
        Takes the arguments of `func` with a batch dimension, and returns its results with one. A
        result that does not depend on the batch is expanded.

    Raises
    ------
    ArgumentTypeError
        If `func` is no function; or when called, with `chunk_size`, if `out_dims` has None in it.
    ArgumentValueError
        If `chunk_size` is no positive number; when called, if `in_dims` or `out_dims` do not fit,
        or batch sizes differ, or a result is no tensor.
    OptionValueError
        If `randomness` is another word.
    OutOfRangeError
        When called: if a result has no dimension `out_dims`.
    BatchedTensorError
        When called: if the function reads values of one sample, as ``if x > 0`` does.
    BatchedWriteError
        When called: if it writes a value that differs by sample into a tensor without samples.

    Examples
    --------
    >>> def distance(a, b):
    ...     return (a - b).norm()
    >>> points = vt.tensor([[3.0, 4.0], [6.0, 8.0]])
    >>> vt.func.vmap(distance, in_dims=(0, None))(points, vt.zeros(2))
    tensor([ 5., 10.])
    """
    checked_function(func, "vmap")
    checked_randomness(randomness)
    size: object = chunk_size
    if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 1):
        raise ArgumentValueError(
            f"chunk_size must be None or a positive int, not {chunk_size!r}", argument="chunk_size"
        )

    call = cast("Callable[..., object]", func)

    @functools.wraps(func)
    def batched_function(*args: object, **kwargs: object) -> object:
        leaves, spec = tree_flatten(args)
        dims = _dims_of_arguments(in_dims, args, leaves)
        count = _batch_size(leaves, dims)
        site = caller(OUTERMOST)

        def run(part: Sequence[object], number: int) -> object:
            def body(level: BatchLevel) -> object:
                samples: list[_Sample] = []
                inner: list[object] = []
                for leaf, dim in zip(part, dims, strict=True):
                    if isinstance(leaf, Tensor) and dim is not None:
                        value = leaf if dim == 0 else F.movedim(leaf, dim, 0)
                        samples.append(_Sample(leaf, dim, batched(value, level)))
                        inner.append(samples[-1].inner)
                    else:
                        inner.append(leaf)
                arguments = tree_unflatten(inner, spec)
                assert isinstance(arguments, tuple)
                return _unwrapped(call(*arguments, **kwargs), out_dims, level, samples)

            return run_in_batch(body, number, randomness, site)

        if chunk_size is None or chunk_size >= count:
            return run(leaves, count)
        return _in_chunks(run, leaves, dims, count, chunk_size, out_dims, randomness)

    # Batches have the types of samples.
    return cast("Callable[P, R]", batched_function)


def checked_randomness(randomness: str) -> None:
    """Raise unless the word is known.

    Raises
    ------
    OptionValueError
        If it is not.
    """
    if randomness not in ("error", "same", "different"):
        raise OptionValueError(
            f"randomness must be 'error', 'same' or 'different', not {randomness!r}",
            option="randomness",
        )


def _dims_of_arguments(
    in_dims: Dims, args: tuple[object, ...], leaves: Sequence[object]
) -> list[int | None]:
    """Where each leaf of the arguments has its batch dimension, counted from the first one.

    Raises
    ------
    ArgumentValueError
        If `in_dims` does not fit.
    """
    if not args:
        raise ArgumentValueError(
            "vmap needs an argument with a batch dimension; keyword arguments have none",
            argument="args",
        )
    one = isinstance(in_dims, int) and not isinstance(in_dims, bool)
    if not one and not isinstance(in_dims, tuple):
        raise ArgumentValueError(
            f"in_dims must be an int, or a tuple with an entry for each argument, not {in_dims!r}",
            argument="in_dims",
        )
    if isinstance(in_dims, tuple) and len(in_dims) != len(args):
        raise ArgumentValueError(
            f"in_dims has {len(in_dims)} entries for {len(args)} arguments", argument="in_dims"
        )
    found: list[int | None] = []
    for leaf, dim in zip(leaves, broadcast_prefix(in_dims, args), strict=True):
        if dim is None:
            found.append(None)
            continue
        if not isinstance(dim, int) or isinstance(dim, bool):
            raise ArgumentValueError(
                f"in_dims has {dim!r} in it; its entries are ints and None", argument="in_dims"
            )
        if not isinstance(leaf, Tensor):
            raise ArgumentValueError(
                f"in_dims says {dim} for an argument of type {type(leaf).__name__}; only tensors "
                "have a batch dimension, say None",
                argument="in_dims",
            )
        if leaf._impl.key_set & NAMED:
            raise NamesNotSupportedError(
                "vmap takes no tensors with names of dimensions; drop them with rename(None)",
                names=leaf._impl.names,
            )
        if not -leaf.ndim <= dim < leaf.ndim:
            raise ArgumentValueError(
                f"in_dims says {dim} for a tensor of shape {list(leaf.shape)}, which has no such "
                "dimension",
                argument="in_dims",
            )
        found.append(dim % leaf.ndim)
    return found


def _batch_size(leaves: Sequence[object], dims: Sequence[int | None]) -> int:
    sizes = [
        leaf.shape[dim]
        for leaf, dim in zip(leaves, dims, strict=True)
        if isinstance(leaf, Tensor) and dim is not None
    ]
    if not sizes:
        raise ArgumentValueError(
            "in_dims says None for all arguments, so there is no batch", argument="in_dims"
        )
    if any(n != sizes[0] for n in sizes):
        raise ArgumentValueError(
            f"the arguments of vmap have batch dimensions of different sizes: {sizes}",
            argument="in_dims",
            sizes=tuple(sizes),
        )
    return sizes[0]


def _dims_of_results(out_dims: Dims, returned: object) -> list[int | None]:
    """Where each leaf of the results is to have its batch dimension.

    Raises
    ------
    ArgumentValueError
        If `out_dims` does not fit.
    """
    # A tuple with one entry is taken for the one tensor that is no tuple.
    prefix = out_dims
    if isinstance(out_dims, tuple) and len(out_dims) == 1 and tree_structure(returned).kind is None:
        (prefix,) = out_dims
    try:
        dims = broadcast_prefix(prefix, returned)
    except ArgumentValueError as error:
        raise ArgumentValueError(
            f"out_dims is {out_dims!r}, and does not have the containers that the function "
            f"returned, {tree_structure(returned)}",
            argument="out_dims",
        ) from error
    found: list[int | None] = []
    for dim in dims:
        if dim is not None and (not isinstance(dim, int) or isinstance(dim, bool)):
            raise ArgumentValueError(
                f"out_dims has {dim!r} in it; its entries are ints and None", argument="out_dims"
            )
        found.append(dim)
    return found


def _unwrapped(
    returned: object, out_dims: Dims, level: BatchLevel, samples: Sequence[_Sample]
) -> object:
    """What the function returned, with a batch dimension."""
    leaves, spec = tree_flatten(returned)
    dims = _dims_of_results(out_dims, returned)
    return tree_unflatten(
        [_whole(leaf, dim, level, samples) for leaf, dim in zip(leaves, dims, strict=True)], spec
    )


def _whole(leaf: object, dim: int | None, level: BatchLevel, samples: Sequence[_Sample]) -> object:
    """One result with its batch dimension."""
    if not isinstance(leaf, Tensor):
        if dim is None:
            return leaf
        raise ArgumentValueError(
            "vmap needs a function that returns tensors, in containers or not; it returned an "
            f"object of type {type(leaf).__name__}",
            argument="func",
        )
    if dim is None:
        if is_batched_at(leaf, level):
            raise ArgumentValueError(
                "out_dims says None for a result that differs by sample", argument="out_dims"
            )
        return leaf
    ndim = leaf.ndim + 1
    if not -ndim <= dim < ndim:
        raise OutOfRangeError(
            f"out_dims says {dim} for a result of {ndim} dimensions, the batch included",
            index=dim,
        )
    dim %= ndim
    check_copies([leaf], level)
    value = value_at(leaf, level)
    if value is None:
        value = F.expand_sizes(leaf, (level.size, *leaf.shape))
    elif leaf._impl.key_set & NAMED:
        names = leaf._impl.names
        value = F.alias(value)
        value._impl.set_names((None, *names))
    for sample in samples:
        same = sample.inner is leaf and sample.dim == dim
        if same and not leaf._impl.key_set & NAMED and _shows(value, sample):
            # The argument itself, which the function may have written.
            return sample.given
    value = in_class_of(value, leaf)
    return F.movedim(value, 0, dim) if dim else value


def _shows(value: Tensor, sample: _Sample) -> bool:
    """Whether a value still has the geometry that it was given, where it is a view."""
    if value is sample.given:
        return True
    given = sample.given._impl
    order = (sample.dim, *[d for d in range(sample.given.ndim) if d != sample.dim])
    return value._impl.geometry == (
        tuple([given.sizes[d] for d in order]),
        tuple([given.strides[d] for d in order]),
        given.storage_offset,
    )


def _in_chunks(
    run: Callable[[Sequence[object], int], object],
    leaves: Sequence[object],
    dims: Sequence[int | None],
    count: int,
    chunk_size: int,
    out_dims: Dims,
    randomness: Randomness,
) -> object:
    """Call the function for some samples at a time, and join the results."""
    found: list[list[object]] = []
    state = default_generator.get_state()
    returned: object = None
    for start in range(0, count, chunk_size):
        length = min(chunk_size, count - start)
        if randomness == "same":
            # One draw for all samples is one for all chunks.
            default_generator.set_state(state)
        part = [
            F.narrow(leaf, dim, start, length)
            if isinstance(leaf, Tensor) and dim is not None
            else leaf
            for leaf, dim in zip(leaves, dims, strict=True)
        ]
        returned = run(part, length)
        found.append(tree_flatten(returned)[0])
    places = _dims_of_results(out_dims, returned)
    if None in places:
        raise ArgumentTypeError(
            "out_dims has None in it, and results of several chunks cannot be joined without a "
            "dimension: leave chunk_size away",
            argument="out_dims",
        )
    joined = [
        F.cat([part for part in parts if isinstance(part, Tensor)], dim or 0)
        for parts, dim in zip(zip(*found, strict=True), places, strict=True)
    ]
    return tree_unflatten(joined, tree_structure(returned))
