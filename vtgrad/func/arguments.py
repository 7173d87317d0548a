"""Which arguments of a function a transform differentiates by, and what a function returns.

Note [Signatures that know the arguments]

Where a function and its arguments are passed in one call, the signature says that they fit:
``Callable[[*Ts], R]`` with ``*primals: *Ts`` or ``inputs: tuple[*Ts]``. So a type checker knows the
types of the parameters of a lambda, and refuses a wrong number of arguments. `Ts` also fits a
function with options: they are left out. It has two limits. It cannot be bound to tensors, so that
a tuple with a number in it is refused when the program runs. And a tuple or a list of unknown
length, as in ``vjp(f, *inputs)``, fits a function that takes any number of arguments only.

Where the function comes alone, as in ``grad(f)``, a `ParamSpec` keeps its signature, names and
defaults included, and nothing says the types of the parameters of a lambda: the call that has the
arguments is the next one. A ``Callable[[*Ts], R]`` would know as little, and lose the names. What
follows from `argnums` is in the stub only, see Note [Results by position].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from vtgrad.autograd.reverse_call import Arguments
from vtgrad.errors import ArgumentTypeError, ArgumentValueError, TransformError
from vtgrad.storage.dtypes import dtype_of
from vtgrad.tensor.subclass_methods import in_classes_of
from vtgrad.tensor.tensor import Tensor
from vtgrad.utils.pytree import TreeSpec, tree_flatten, tree_map, tree_unflatten

__all__ = [
    "ArgNums",
    "Chosen",
    "checked_function",
    "choose",
    "gradient_tree",
    "output_leaves",
    "shown_tree",
    "split_aux",
    "tensor_leaves",
]

ArgNums: TypeAlias = int | tuple[int, ...]


def checked_function(func: object, name: str) -> None:
    """Raise unless a transform was given a function.

    Raises
    ------
    ArgumentTypeError
        If it was not.
    """
    if not callable(func):
        raise ArgumentTypeError(
            f"{name} takes a function, not {type(func).__name__}; call {name}(func)(x)",
            argument="func",
        )


def tensor_leaves(tree: object, what: str, *, real: bool = False) -> tuple[list[Tensor], TreeSpec]:
    """The tensors of a tree, which has nothing else in it.

    Parameters
    ----------
    tree : object
        An argument that is differentiated by.
    what : str
        What it is, for the message.
    real : bool, default False
        Whether complex tensors are refused.

    Raises
    ------
    ArgumentValueError
        If a leaf is no tensor.
    TransformError
        If a tensor has a dtype without derivatives, or of the wrong kind.
    """
    found: list[Tensor] = []
    leaves, spec = tree_flatten(tree)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise ArgumentValueError(
                f"{what} has an object of type {type(leaf).__name__} in it, but only tensors can "
                "be differentiated by; pass it as another argument, or make it a tensor",
                argument=what,
            )
        dtype = leaf._impl.array.dtype
        if dtype.kind not in ("f" if real else "fc"):
            wanted = "real floating" if real else "floating or complex"
            raise TransformError(
                f"{what} has a tensor of dtype {dtype_of(dtype).name} in it; only {wanted} tensors "
                "can be differentiated by",
                argument=what,
                dtype=dtype_of(dtype),
            )
        found.append(leaf)
    return found, spec


class Chosen(NamedTuple):
    """The arguments that a transform differentiates by.

    Attributes
    ----------
    args : tuple of object
        All positional arguments of the call.
    numbers : tuple of int
        The positions of the chosen ones, not negative.
    one : bool
        Whether a single number was given, so that the answer is in no tuple.
    tensors : list of Tensor
        Their tensors.
    specs : list of TreeSpec
        The structure of each of them.
    """

    args: tuple[object, ...]
    numbers: tuple[int, ...]
    one: bool
    tensors: list[Tensor]
    specs: list[TreeSpec]

    def call_with(self, tensors: Sequence[Tensor]) -> list[object]:
        """All positional arguments, with other tensors in the chosen ones."""
        args = list(self.args)
        for number, tree in zip(self.numbers, self.trees(tensors), strict=True):
            args[number] = tree
        return args

    def trees(self, leaves: Sequence[object]) -> list[object]:
        """What stands for the tensors, in the structure of each chosen argument."""
        found, start = [], 0
        for spec in self.specs:
            found.append(tree_unflatten(leaves[start : start + spec.num_leaves], spec))
            start += spec.num_leaves
        return found


def choose(args: tuple[object, ...], argnums: object, name: str, *, real: bool = False) -> Chosen:
    """The arguments that a transform differentiates by.

    Raises
    ------
    TransformError
        If `argnums` does not name arguments of the call, or names one twice.
    ArgumentValueError
        If a chosen argument has leaves that are no tensors.
    """
    one = isinstance(argnums, int) and not isinstance(argnums, bool)
    numbers = (argnums,) if one else argnums
    if not isinstance(numbers, tuple) or not numbers:
        raise TransformError(
            f"argnums of {name} must be an int or a tuple of ints with one or more, not "
            f"{argnums!r}",
            argument="argnums",
        )
    places: list[int] = []
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool):
            raise TransformError(
                f"argnums of {name} must be an int or a tuple of ints, not {argnums!r}",
                argument="argnums",
            )
        place = number + len(args) if number < 0 else number
        if not 0 <= place < len(args):
            raise TransformError(
                f"argnums of {name} has {number}, but the function was called with {len(args)} "
                "positional arguments",
                argument="argnums",
            )
        if place in places:
            raise TransformError(
                f"argnums of {name} has argument {place} twice: {argnums!r}", argument="argnums"
            )
        places.append(place)
    tensors: list[Tensor] = []
    specs = []
    for place in places:
        found, spec = tensor_leaves(args[place], f"argument {place}", real=real)
        tensors += found
        specs.append(spec)
    return Chosen(args, tuple(places), one, tensors, specs)


def gradient_tree(chosen: Chosen, gradients: Sequence[object]) -> object:
    """The answer of a transform: what belongs to each tensor, in the containers of the caller."""
    trees = chosen.trees(in_classes_of(gradients, chosen.tensors))
    return trees[0] if chosen.one else tuple(trees)


def split_aux(returned: object, has_aux: bool, name: str) -> tuple[object, object]:
    """What a function returned, and what it returned beside that.

    Raises
    ------
    TransformError
        If there should be a pair and is none.
    """
    if not has_aux:
        return returned, None
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise TransformError(
            f"{name} with has_aux=True needs a function that returns a pair (output, aux); it "
            f"returned an object of type {type(returned).__name__}"
            + (f" with {len(returned)} items" if isinstance(returned, (tuple, list)) else "")
        )
    return returned


def output_leaves(
    output: object, name: str, *, real: bool = False, integers: bool = False
) -> tuple[list[Tensor], TreeSpec]:
    """The tensors that a function returned.

    Raises
    ------
    TransformError
        If it returned anything else, or a tensor of a dtype that the transform does not take.
    """
    leaves, spec = tree_flatten(output)
    found: list[Tensor] = []
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise TransformError(
                f"{name} needs a function that returns tensors, in containers or not; it returned "
                f"an object of type {type(leaf).__name__}. has_aux=True lets it return others "
                "beside them"
            )
        kind = leaf._impl.array.dtype.kind
        if not (kind == "f" or (kind == "c" and not real) or (kind not in "fc" and integers)):
            wanted = "real floating" if real else "floating or complex"
            raise TransformError(
                f"{name} needs a function that returns {wanted} tensors; it returned one of dtype "
                f"{dtype_of(leaf._impl.array.dtype).name}. has_aux=True lets it return others "
                "beside them"
            )
        found.append(leaf)
    return found, spec


def shown_tree(arguments: Arguments, tree: object) -> object:
    """A tree of results as the caller sees it; see `Arguments.shown_output`."""
    show: Callable[[object], object] = lambda leaf: (  # noqa: E731  # it is used in this line only
        arguments.shown_output(leaf) if isinstance(leaf, Tensor) else leaf
    )
    return tree_map(show, tree)
