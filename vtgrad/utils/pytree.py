"""Values inside containers: taking them out as a list, and putting others in their places.

Note [Containers and leaves]

Containers are tuples, lists, dicts, ordered and default dicts, deques, named tuples (among them the
results of operators with several results) and instances of dataclasses. Everything else is a leaf:
tensors, None, strings, sets, and objects of subclasses of tuple, list and dict, because
it is not known how such a class is constructed. A `Size` is put together again as a plain tuple.

The structure, without the leaves, is a `TreeSpec`: it makes a container of other leaves, and two
specs are equal if both say the same containers with the same keys in the same order.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from importlib import import_module
from typing import Final

from vtgrad.errors import ArgumentValueError
from vtgrad.tensor.size import Size

__all__ = [
    "LEAF",
    "TreeSpec",
    "broadcast_prefix",
    "tree_flatten",
    "tree_leaves",
    "tree_map",
    "tree_structure",
    "tree_unflatten",
]


class TreeSpec:
    """The structure of a tree: its containers, without the leaves.

    Specs are made by `tree_flatten`, are not changed, and may be compared and hashed.

    Parameters
    ----------
    kind : type, optional
        The class of the outermost container; None if the tree is one leaf.
    keys : sequence of hashable
        The keys or names of the entries of a dict or dataclass, in order.
    children : sequence of TreeSpec
        The structure of each entry.
    option : object
        What else the container is made of: the factory of a default dict, the largest length of a
        deque.

    Examples
    --------
    >>> leaves, spec = vt.utils.pytree.tree_flatten({"a": 1, "b": (2, 3)})
    >>> spec
    {'a': *, 'b': (*, *)}
    >>> spec.num_leaves
    3
    """

    __slots__ = ("children", "keys", "kind", "num_leaves", "option")

    kind: type | None
    keys: tuple[Hashable, ...]
    children: tuple[TreeSpec, ...]
    option: object
    num_leaves: int

    def __init__(
        self,
        kind: type | None = None,
        keys: Sequence[Hashable] = (),
        children: Sequence[TreeSpec] = (),
        option: object = None,
    ) -> None:
        self.kind = kind
        self.keys = tuple(keys)
        self.children = tuple(children)
        self.option = option
        self.num_leaves = 1 if kind is None else sum(child.num_leaves for child in self.children)

    def is_leaf(self) -> bool:
        """Whether the tree is one leaf."""
        return self.kind is None

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, TreeSpec)
            and self.kind is other.kind
            and self.num_leaves == other.num_leaves
            and self.keys == other.keys
            and self.option == other.option
            and self.children == other.children
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.keys, self.children))

    def __repr__(self) -> str:
        if self.kind is None:
            return "*"
        if not self.keys:
            inside = ", ".join(map(repr, self.children))
            if self.kind is tuple:
                return f"({inside},)" if len(self.children) == 1 else f"({inside})"
            return f"[{inside}]" if self.kind is list else f"{self.kind.__name__}([{inside}])"
        pairs = zip(self.keys, self.children, strict=True)
        inside = ", ".join(f"{key!r}: {child!r}" for key, child in pairs)
        return f"{{{inside}}}" if self.kind is dict else f"{self.kind.__name__}({{{inside}}})"

    def make(self, entries: Iterable[object]) -> object:
        """The outermost container, of other entries in the order of `children`."""
        kind = self.kind
        if kind is tuple:
            return tuple(entries)
        if kind is list:
            return list(entries)
        if kind is deque:
            return deque(entries, maxlen=self.option if isinstance(self.option, int) else None)
        if kind in _DICTS:
            pairs = zip(self.keys, entries, strict=True)
            if kind is defaultdict:
                return defaultdict(self.option if callable(self.option) else None, pairs)
            return dict(pairs) if kind is dict else OrderedDict(pairs)
        assert kind is not None
        make: Callable[[Iterable[object]], object] | None = getattr(kind, "_make", None)
        if make is not None and issubclass(kind, tuple):
            return make(entries)
        # A dataclass, which may be frozen; `__post_init__` has seen the values of the first one.
        made: object = object.__new__(kind)
        for name, entry in zip(self.keys, entries, strict=True):
            object.__setattr__(made, str(name), entry)
        return made


# The structure of a single leaf.
LEAF: Final = TreeSpec()
_DICTS: Final = frozenset({dict, OrderedDict, defaultdict})

# The entries of a container, and its spec without children: kind, keys, option.
_Opened = tuple[list[object], type, Sequence[Hashable], object]


def _open(tree: object) -> _Opened | None:
    """The entries of a container; None for a leaf."""
    kind = type(tree)
    if isinstance(tree, (tuple, list, deque)):
        if kind is tuple or kind is Size:
            return [*tree], tuple, (), None
        if kind is list:
            return [*tree], list, (), None
        if isinstance(tree, deque):
            return ([*tree], deque, (), tree.maxlen) if kind is deque else None
        is_named = hasattr(kind, "_fields") and hasattr(kind, "_make")
        return ([*tree], kind, (), None) if is_named else None
    if isinstance(tree, dict):
        if kind not in _DICTS:
            return None
        option: object = tree.default_factory if isinstance(tree, defaultdict) else None
        return [*tree.values()], kind, [*tree], option
    if hasattr(kind, "__dataclass_fields__") and not isinstance(tree, type):
        # Only programs with dataclasses need the module, which `import vtgrad` does not load.
        names: list[str] = [field.name for field in import_module("dataclasses").fields(tree)]
        return [getattr(tree, name) for name in names], kind, names, None
    return None


def tree_flatten(
    tree: object, is_leaf: Callable[[object], bool] | None = None
) -> tuple[list[object], TreeSpec]:
    """The leaves of a tree, from left to right, and its structure.

    Parameters
    ----------
    tree : object
        A tensor or any other leaf, or containers of them, nested at will.
    is_leaf : callable, optional
        Says of a container whether it is taken as a leaf.

    Returns
    -------
    list of object, TreeSpec
        The leaves, and the structure of which `tree_unflatten` makes a tree again.

    Raises
    ------
    RecursionError
        If a container contains itself.

    Examples
    --------
    >>> vt.utils.pytree.tree_flatten([1, {"b": 2, "a": (3, None)}])
    ([1, 2, 3, None], [*, {'b': *, 'a': (*, *)}])
    """
    leaves: list[object] = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(
    tree: object, leaves: list[object], is_leaf: Callable[[object], bool] | None
) -> TreeSpec:
    opened = None if is_leaf is not None and is_leaf(tree) else _open(tree)
    if opened is None:
        leaves.append(tree)
        return LEAF
    entries, kind, keys, option = opened
    children = [_flatten(entry, leaves, is_leaf) for entry in entries]
    return TreeSpec(kind, keys, children, option)


def tree_unflatten(leaves: Iterable[object], spec: TreeSpec) -> object:
    """The tree of a structure and other leaves.

    Parameters
    ----------
    leaves : iterable of object
        As many as the structure has.
    spec : TreeSpec
        From `tree_flatten` or `tree_structure`.

    Returns
    -------
    object
        New containers. A dataclass is made without a call of its ``__init__``.

    Raises
    ------
    ArgumentValueError
        If the number of leaves is another one.

    Examples
    --------
    >>> leaves, spec = vt.utils.pytree.tree_flatten({"a": 1, "b": [2, 3]})
    >>> vt.utils.pytree.tree_unflatten([10 * leaf for leaf in leaves], spec)
    {'a': 10, 'b': [20, 30]}
    """
    given = list(leaves)
    if len(given) != spec.num_leaves:
        raise ArgumentValueError(
            f"the structure {spec} has {spec.num_leaves} leaves, but {len(given)} were passed",
            expected=spec.num_leaves,
            found=len(given),
        )
    return _unflatten(iter(given), spec)


def _unflatten(leaves: Iterable[object], spec: TreeSpec) -> object:
    if spec.kind is None:
        return next(iter(leaves))
    # In a list, so that no constructor of a container sees an exception of another one.
    return spec.make([_unflatten(leaves, child) for child in spec.children])


def tree_leaves(tree: object, is_leaf: Callable[[object], bool] | None = None) -> list[object]:
    """The leaves of a tree, from left to right.

    Parameters
    ----------
    tree : object
        As for `tree_flatten`.
    is_leaf : callable, optional
        As for `tree_flatten`.

    Returns
    -------
    list of object

    Raises
    ------
    RecursionError
        If a container contains itself.

    Examples
    --------
    >>> vt.utils.pytree.tree_leaves({"a": 1, "b": [2, None]})
    [1, 2, None]
    """
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: object, is_leaf: Callable[[object], bool] | None = None) -> TreeSpec:
    """The structure of a tree.

    Parameters
    ----------
    tree : object
        As for `tree_flatten`.
    is_leaf : callable, optional
        As for `tree_flatten`.

    Returns
    -------
    TreeSpec

    Raises
    ------
    RecursionError
        If a container contains itself.

    Examples
    --------
    >>> vt.utils.pytree.tree_structure((1, 2)) == vt.utils.pytree.tree_structure((3, 4))
    True
    >>> vt.utils.pytree.tree_structure((1, 2)) == vt.utils.pytree.tree_structure([1, 2])
    False
    """
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    function: Callable[..., object],
    tree: object,
    *rests: object,
    is_leaf: Callable[[object], bool] | None = None,
) -> object:
    """Call a function with each leaf, and put its results in their places.

    Parameters
    ----------
    function : callable
        Called with one leaf, and the values at the same place in each of `rests`.
    tree : object
        The tree that decides which containers there are.
    *rests : object
        Trees with at least the containers of `tree`; where `tree` has a leaf, whatever they have is
        passed as a whole. The order of keys in dicts does not count.
    is_leaf : callable, optional
        As for `tree_flatten`.

    Returns
    -------
    object
        Containers as in `tree`.

    Raises
    ------
    ArgumentValueError
        If one of `rests` has another container than `tree`, other keys or another length.

    Examples
    --------
    >>> vt.utils.pytree.tree_map(lambda a, b: a + b, {"x": 1, "y": 2}, {"y": 20, "x": 10})
    {'x': 11, 'y': 22}
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *[_flatten_up_to(spec, rest) for rest in rests]]
    return tree_unflatten([function(*row) for row in zip(*columns, strict=True)], spec)


def broadcast_prefix(
    prefix: object, tree: object, is_leaf: Callable[[object], bool] | None = None
) -> list[object]:
    """One value for each leaf of a tree, from a tree that may end earlier.

    Parameters
    ----------
    prefix : object
        A tree whose leaf stands for all leaves of `tree` that are at or below its place.
    tree : object
        The tree that says how often each value is repeated.
    is_leaf : callable, optional
        Says of a container in `prefix` whether it is taken as a leaf.

    Returns
    -------
    list of object
        As many as `tree` has leaves.

    Raises
    ------
    ArgumentValueError
        If `prefix` has a container where `tree` has another one, or a leaf.

    Examples
    --------
    >>> vt.utils.pytree.broadcast_prefix((0, None), ({"a": 1, "b": 2}, 3))
    [0, 0, None]
    """
    found: list[object] = []
    _spread(prefix, tree, is_leaf, found)
    return found


def _spread(
    prefix: object,
    tree: object,
    is_leaf: Callable[[object], bool] | None,
    found: list[object],
) -> None:
    opened = None if is_leaf is not None and is_leaf(prefix) else _open(prefix)
    if opened is None:
        found.extend([prefix] * tree_structure(tree).num_leaves)
        return
    values, kind, keys, _ = opened
    entries, keys_of_tree = _entries(tree, kind, keys, len(values))
    if keys:
        # In the order of the leaves of `tree`.
        by_key = dict(zip(keys, values, strict=True))
        values = [by_key[key] for key in keys_of_tree]
    for value, entry in zip(values, entries, strict=True):
        _spread(value, entry, is_leaf, found)


def _flatten_up_to(spec: TreeSpec, tree: object) -> list[object]:
    """What `tree` has at each place where a structure has a leaf."""
    if spec.kind is None:
        return [tree]
    entries, keys = _entries(tree, spec.kind, spec.keys, len(spec.children))
    if keys:
        by_key = dict(zip(keys, entries, strict=True))
        entries = [by_key[key] for key in spec.keys]
    found: list[object] = []
    for child, entry in zip(spec.children, entries, strict=True):
        found.extend(_flatten_up_to(child, entry))
    return found


def _entries(
    tree: object, kind: type, keys: Sequence[Hashable], count: int
) -> tuple[list[object], Sequence[Hashable]]:
    """The entries of a container that fits another one, and their keys.

    Raises
    ------
    ArgumentValueError
        If it does not fit.
    """
    opened = _open(tree)
    if opened is None or not _same_kind(opened[1], kind):
        raise ArgumentValueError(
            f"the trees do not fit: one has a {kind.__name__} where the other one has an object "
            f"of type {type(tree).__name__}",
            expected=kind,
            found=type(tree),
        )
    entries, _, found, _ = opened
    if len(entries) != count or set(found) != set(keys):
        wanted, present = ([*keys], [*found]) if keys or found else (count, len(entries))
        raise ArgumentValueError(
            f"the trees do not fit: one has a {kind.__name__} with the entries {wanted}, the other "
            f"one with {present}",
            expected=wanted,
            found=present,
        )
    return entries, found


def _same_kind(first: type, second: type) -> bool:
    """Whether two containers fit each other; any dict fits any other dict with its keys."""
    return first is second or (first in _DICTS and second in _DICTS)
