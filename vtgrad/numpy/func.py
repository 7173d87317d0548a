"""The transforms of `vtgrad.func` for programs of NumPy: they take its numbers and arrays.

Note [Numbers that are differentiated by]

`vtgrad.func` takes tensors, because an array of NumPy does not say whether operators on it are to
mean what they mean for tensors, or in NumPy. Here they mean NumPy's: what is differentiated by
becomes an array of the namespace, on a copy, and a number a `scalar`. A number of NumPy that the
function returns, which is what the namespace gives where nothing carries a derivative, is a
constant. A number of Python that it returns is refused, because ``x.item()`` is one, and has lost
its derivative. 0-d derivatives are numbers, as 0-d results are in NumPy.

The function may overwrite what its derivatives need, as ``k = np.exp(x); k /= np.sum(k)`` does: it
runs inside of `allow_mutation_on_saved_tensors`, which takes 10 to 20 % more time where nothing is
overwritten.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, ParamSpec, TypeVar, cast

import numpy as np

import vtgrad.func as of_tensors
from vtgrad.func.arguments import ArgNums, checked_function
from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.operands import as_array, fresh, is_keyed, result
from vtgrad.ops.calling.constants import check_meaning
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.rewind import allow_mutation_on_saved_tensors
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.utils.pytree import tree_flatten, tree_map, tree_unflatten

__all__ = [
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "vjp",
    "vmap",
]

P = ParamSpec("P")
T = TypeVar("T", bound=Callable[..., object])


def _typed_as(transform: T) -> Callable[[Callable[..., object]], T]:
    """For type checkers, the signature of a transform of `vtgrad.func`."""
    return lambda function: cast("T", function)


def _is_number(leaf: object) -> bool:
    return type(leaf) in (float, complex, kinds.scalar) or isinstance(leaf, np.generic)


def _array(leaf: object) -> object:
    """A number or an array of NumPy as an array of the namespace; anything else itself."""
    if isinstance(leaf, TensorBase):
        return leaf
    if isinstance(leaf, np.ndarray):
        check_meaning(leaf)
    elif not _is_number(leaf):
        return leaf
    return fresh(making.array(leaf))


def _number(leaf: object) -> object:
    """A 0-d array as a number; anything else itself."""
    if not isinstance(leaf, TensorBase) or type(leaf) is not kinds.array or leaf._impl.array.ndim:
        return leaf
    return result(F.clone(leaf))


def _result(leaf: object) -> object:
    """What a caller gets: a number for a 0-d array, and an array that can be written.

    The gradient of a sum has one element in memory, which stands for all.
    """
    if isinstance(leaf, TensorBase) and type(leaf) is kinds.array and not is_keyed(leaf):
        array = leaf._impl.array
        if any(
            step == 0 and size > 1 for step, size in zip(array.strides, array.shape, strict=True)
        ):
            return as_array(F.contiguous(leaf))
    return _number(leaf)


def _constant(leaf: object) -> object:
    """A number of NumPy as an array, which depends on nothing; anything else itself."""
    return fresh(making.array(leaf)) if isinstance(leaf, np.generic) else leaf


def _flags(tree: object) -> list[bool]:
    """For each leaf, whether it is a number."""
    return [_is_number(leaf) for leaf in tree_flatten(tree)[0]]


def _entered(args: object) -> tuple[Any, dict[int, list[bool]]]:
    """Arguments as arrays, and by place the flags of each; what is no tuple is passed on."""
    if not isinstance(args, tuple):
        return args, {}
    given = tuple([tree_map(_array, x) for x in args])
    return given, {place: _flags(x) for place, x in enumerate(args)}


def _numbers(tree: object, flags: Sequence[bool]) -> object:
    """What a function is called with: numbers where the caller has passed numbers."""
    leaves, spec = tree_flatten(tree)
    pairs = zip(leaves, flags, strict=True)
    return tree_unflatten([_number(leaf) if flag else leaf for leaf, flag in pairs], spec)


def _called_with(
    func: Callable[..., object], has_aux: bool, flags: Mapping[int, Sequence[bool]]
) -> Callable[..., object]:
    """The function as the transform of tensors calls it, with arrays."""

    @functools.wraps(func)
    def of_arrays(*args: object, **kwargs: object) -> object:
        given = list(args)
        for place, known in flags.items():
            given[place] = _numbers(given[place], known)
        with allow_mutation_on_saved_tensors():
            returned = func(*given, **kwargs)
        if has_aux and isinstance(returned, tuple) and len(returned) == 2:
            return tree_map(_constant, returned[0]), returned[1]
        return tree_map(_constant, returned)

    return of_arrays


def _by_arguments(
    transform: Callable[..., Callable[..., object]],
    func: Callable[..., object],
    argnums: ArgNums,
    has_aux: bool,
    options: Mapping[str, object],
) -> Callable[..., Any]:
    """What a transform gives that differentiates by arguments of a later call."""
    checked_function(func, transform.__name__)

    @functools.wraps(func)
    def derivative(*args: object, **kwargs: object) -> object:
        given, flags = list(args), {}
        numbers: tuple[object, ...] = argnums if isinstance(argnums, tuple) else (argnums,)
        # The transform says what is wrong with others than these.
        for number in numbers:
            if isinstance(number, int) and -len(args) <= number < len(args):
                place = number % len(args)
                flags[place] = _flags(args[place])
                given[place] = tree_map(_array, args[place])
        inner = _called_with(func, has_aux, flags)
        found = transform(inner, argnums, **options)(*given, **kwargs)
        if has_aux and transform is not of_tensors.grad_and_value:
            derivatives, aux = cast("tuple[object, object]", found)
            return tree_map(_result, derivatives), aux
        return found if has_aux else tree_map(_result, found)

    return derivative


@_typed_as(of_tensors.grad)
def grad(
    func: Callable[P, object], argnums: ArgNums = 0, has_aux: bool = False
) -> Callable[P, object]:
    """`vtgrad.func.grad`, for arrays and numbers of NumPy.

    Parameters
    ----------
    func : callable
        Returns a real number.
    argnums : int or tuple of int, default 0
        The positional arguments to differentiate by: arrays or numbers, or containers of them.
    has_aux : bool, default False
        Whether `func` returns a pair, the number and something else, which is passed on.

    Returns
    -------
    callable
        Takes the arguments of `func`. Returns the gradient in the containers of the argument:
        arrays, and numbers for what is 0-d.

    Raises
    ------
    ArgumentTypeError, TransformError, ArgumentValueError
        As `vtgrad.func.grad`; also for integers, and for masked arrays and their like.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> from vtgrad.numpy.func import grad
    >>> grad(np.tanh)(0.0)
    np.float64(1.0)
    >>> grad(grad(lambda x: x**3))(2.0)
    np.float64(12.0)
    """
    return _by_arguments(of_tensors.grad, func, argnums, has_aux, {"has_aux": has_aux})


@_typed_as(of_tensors.grad_and_value)
def grad_and_value(
    func: Callable[P, object], argnums: ArgNums = 0, has_aux: bool = False
) -> Callable[P, tuple[object, object]]:
    """`vtgrad.func.grad_and_value`, for arrays and numbers of NumPy.

    Parameters
    ----------
    func, argnums, has_aux
        As for `grad`.

    Returns
    -------
    callable
        Takes the arguments of `func`. Returns ``(gradient, value)``; with `has_aux`
        ``(gradient, (value, aux))``.

    Raises
    ------
    ArgumentTypeError, TransformError, ArgumentValueError
        As for `grad`.

    Examples
    --------
    >>> from vtgrad.numpy.func import grad_and_value
    >>> grad_and_value(lambda x: x**3)(2.0)
    (np.float64(12.0), np.float64(8.0))
    """
    plain = _by_arguments(of_tensors.grad_and_value, func, argnums, has_aux, {"has_aux": has_aux})
    if not has_aux:
        return plain

    @functools.wraps(func)
    def with_aux(*args: P.args, **kwargs: P.kwargs) -> tuple[object, object]:
        gradient, (value, aux) = plain(*args, **kwargs)
        return tree_map(_result, gradient), (_number(value), aux)

    return with_aux


@_typed_as(of_tensors.jacrev)
def jacrev(
    func: Callable[P, object],
    argnums: ArgNums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[P, object]:
    """`vtgrad.func.jacrev`, for arrays and numbers of NumPy.

    Parameters
    ----------
    func : callable
        Returns real arrays or numbers, in containers or not.
    argnums, has_aux
        As for `grad`.
    chunk_size : int, optional
        The number of gradients that are computed together, all by default.

    Returns
    -------
    callable
        As `vtgrad.func.jacrev` gives it; 0-d derivatives are numbers.

    Raises
    ------
    ArgumentTypeError, TransformError, ArgumentValueError
        As for `grad`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> from vtgrad.numpy.func import jacrev
    >>> jacrev(lambda x: np.array([x, x**2]))(3.0)
    array([1., 6.])
    """
    options = {"has_aux": has_aux, "chunk_size": chunk_size}
    return _by_arguments(of_tensors.jacrev, func, argnums, has_aux, options)


@_typed_as(of_tensors.jacfwd)
def jacfwd(
    func: Callable[P, object],
    argnums: ArgNums = 0,
    has_aux: bool = False,
    *,
    randomness: Literal["error", "same", "different"] = "error",
) -> Callable[P, object]:
    """`vtgrad.func.jacfwd`, for arrays and numbers of NumPy.

    Parameters
    ----------
    func, argnums, has_aux
        As for `jacrev`.
    randomness : {"error", "same", "different"}, default "error"
        What becomes of random numbers that `func` draws.

    Returns
    -------
    callable
        As `jacrev`.

    Raises
    ------
    ArgumentTypeError, TransformError, ArgumentValueError
        As for `grad`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> from vtgrad.numpy.func import jacfwd
    >>> jacfwd(lambda x: np.array([x, x**2]))(3.0)
    array([1., 6.])
    """
    options = {"has_aux": has_aux, "randomness": randomness}
    return _by_arguments(of_tensors.jacfwd, func, argnums, has_aux, options)


@_typed_as(of_tensors.hessian)
def hessian(func: Callable[P, object], argnums: ArgNums = 0) -> Callable[P, object]:
    """`vtgrad.func.hessian`, for arrays and numbers of NumPy.

    Parameters
    ----------
    func, argnums
        As for `jacrev`.

    Returns
    -------
    callable
        As `vtgrad.func.hessian` gives it; 0-d derivatives are numbers.

    Raises
    ------
    ArgumentTypeError, TransformError, ArgumentValueError
        As for `grad`.

    Examples
    --------
    >>> from vtgrad.numpy.func import hessian
    >>> hessian(lambda x: x**3)(2.0)
    np.float64(12.0)
    """
    return _by_arguments(of_tensors.hessian, func, argnums, False, {})


@_typed_as(of_tensors.vjp)
def vjp(func: Callable[..., object], *primals: object, has_aux: bool = False) -> object:
    """`vtgrad.func.vjp`, for arrays and numbers of NumPy.

    Parameters
    ----------
    func : callable
        Returns floating or complex arrays or numbers, in containers or not.
    *primals : object
        Its arguments: arrays or numbers, or containers of them.
    has_aux : bool, default False
        Whether `func` returns a pair, the outputs and something else, which is passed on.

    Returns
    -------
    outputs : object
        What `func` returned.
    pull : callable
        Takes a vector like the outputs, and returns a tuple with one item for each argument.
    aux : object
        Only with `has_aux`.

    Raises
    ------
    ArgumentTypeError, TransformError, ArgumentValueError
        As `vtgrad.func.vjp`.

    Examples
    --------
    >>> from vtgrad.numpy.func import vjp
    >>> out, pull = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> pull(10.0)
    (np.float64(30.0), np.float64(20.0))
    """
    checked_function(func, "vjp")
    given, flags = _entered(primals)
    found: Any = of_tensors.vjp(_called_with(func, has_aux, flags), *given, has_aux=has_aux)
    pull: Callable[..., object] = found[1]

    def pull_numbers(*cotangents: object) -> object:
        return tree_map(_result, pull(*_entered(cotangents)[0]))

    return tree_map(_result, found[0]), pull_numbers, *found[2:]


@_typed_as(of_tensors.jvp)
def jvp(
    func: Callable[..., object],
    primals: tuple[object, ...],
    tangents: tuple[object, ...],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> object:
    """`vtgrad.func.jvp`, for arrays and numbers of NumPy.

    Parameters
    ----------
    func : callable
        Returns arrays or numbers, in containers or not.
    primals, tangents : tuple of object
        Its arguments, and the vector: arrays or numbers, or containers of them.
    strict, has_aux
        As for `vtgrad.func.jvp`.

    Returns
    -------
    outputs, product : object
        What `func` returned, and ``J @ v`` in its containers.
    aux : object
        Only with `has_aux`.

    Raises
    ------
    ArgumentTypeError, TransformError, IndependentError, ForwardModeError, NotSupportedError
        As `vtgrad.func.jvp`.

    Examples
    --------
    >>> from vtgrad.numpy.func import jvp
    >>> jvp(lambda x: x**2, (3.0,), (1.0,))
    (np.float64(9.0), np.float64(6.0))
    """
    checked_function(func, "jvp")
    given, flags = _entered(primals)
    vectors, _ = _entered(tangents)
    inner = _called_with(func, has_aux, flags)
    found: Any = of_tensors.jvp(inner, given, vectors, strict=strict, has_aux=has_aux)
    return tree_map(_result, found[0]), tree_map(_result, found[1]), *found[2:]


@_typed_as(of_tensors.linearize)
def linearize(func: Callable[..., object], *primals: object) -> object:
    """`vtgrad.func.linearize`, for arrays and numbers of NumPy.

    Parameters
    ----------
    func, *primals
        As for `vjp`.

    Returns
    -------
    outputs : object
        What `func` returned.
    push : callable
        Takes a vector like the arguments, and returns ``J @ v`` in the containers of the outputs.

    Raises
    ------
    ArgumentTypeError, TransformError, ArgumentValueError
        As `vtgrad.func.linearize`.

    Examples
    --------
    >>> from vtgrad.numpy.func import linearize
    >>> out, push = linearize(lambda x: x**2, 3.0)
    >>> push(10.0)
    np.float64(60.0)
    """
    checked_function(func, "linearize")
    given, flags = _entered(primals)
    outputs, push = of_tensors.linearize(_called_with(func, False, flags), *given)

    def push_numbers(*tangents: object) -> object:
        return tree_map(_result, push(*_entered(tangents)[0]))

    return tree_map(_result, outputs), push_numbers


@_typed_as(of_tensors.vmap)
def vmap(
    func: Callable[..., object],
    in_dims: object = 0,
    out_dims: object = 0,
    randomness: Literal["error", "same", "different"] = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., object]:
    """`vtgrad.func.vmap`, for arrays of NumPy.

    Parameters
    ----------
    func : callable
        Takes one sample, and returns arrays or numbers. A sample of no dimension is a number.
    in_dims, out_dims, randomness, chunk_size
        As for `vtgrad.func.vmap`.

    Returns
    -------
    callable
        Takes the arguments of `func` with a dimension more.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, OptionValueError
        As `vtgrad.func.vmap`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> from vtgrad.numpy.func import grad, vmap
    >>> vmap(grad(np.square))(np.arange(3.0))
    array([0., 2., 4.])
    """
    checked_function(func, "vmap")
    transform: Callable[..., Callable[..., object]] = of_tensors.vmap

    @functools.wraps(func)
    def of_samples(*args: object, **kwargs: object) -> object:
        samples = [tree_map(_number_of_sample, x) for x in args]
        return tree_map(_constant, func(*samples, **kwargs))

    mapped = transform(of_samples, in_dims, out_dims, randomness, chunk_size=chunk_size)

    @functools.wraps(func)
    def of_batches(*args: object, **kwargs: object) -> object:
        arrays = [tree_map(lambda x: x if _is_number(x) else _array(x), arg) for arg in args]
        return tree_map(_result, mapped(*arrays, **kwargs))

    return of_batches


def _number_of_sample(leaf: object) -> object:
    return _number(leaf) if isinstance(leaf, TensorBase) and is_keyed(leaf) else leaf
