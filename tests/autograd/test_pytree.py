"""Trees: which objects are containers, and how trees are taken apart and put together."""

from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest

import vtgrad as vt
from vtgrad.utils.pytree import (
    broadcast_prefix,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_structure,
    tree_unflatten,
)

Old = namedtuple("Old", "x y")  # this kind must work as well


class Point(NamedTuple):
    x: object
    y: object


@dataclass(frozen=True)
class Frozen:
    a: object
    b: object = None
    made: int = field(default=3, init=False)


class OwnList(list[object]):
    pass


@pytest.mark.parametrize(
    ("tree", "leaves"),
    [
        ((1, (2,), ()), [1, 2]),
        ([1, [2, 3]], [1, 2, 3]),
        ({"b": 1, "a": {"c": 2}}, [1, 2]),
        (OrderedDict(z=1, y=2), [1, 2]),
        (deque([1, 2], maxlen=5), [1, 2]),
        (Point(1, Old(2, 3)), [1, 2, 3]),
        (Frozen(1, [2]), [1, 2, 3]),
        (None, [None]),
        ("ab", ["ab"]),
        (range(2), [range(2)]),
    ],
)
def test_a_tree_is_taken_apart_and_put_together(tree: object, leaves: list[object]) -> None:
    found, spec = tree_flatten(tree)
    assert found == leaves
    again = tree_unflatten(found, spec)
    assert (type(again), again) == (type(tree), tree)
    assert tree_structure(again) == spec


def test_a_default_dict_keeps_its_factory_and_a_deque_its_length() -> None:
    tree = [defaultdict(int, a=1), deque([2], maxlen=3)]
    again = tree_map(lambda leaf: leaf, tree)
    assert isinstance(again, list)
    assert (again[0].default_factory, again[1].maxlen) == (int, 3)


def test_results_with_names_are_containers_and_sizes_come_back_as_tuples() -> None:
    found = vt.tensor([[1.0, 2.0]]).max(1)
    again = tree_map(lambda leaf: leaf, found)
    assert type(again) is type(found)
    assert again is not found
    assert type(tree_map(lambda leaf: leaf, vt.ones(2, 3).shape)) is tuple


def test_objects_of_other_classes_are_leaves() -> None:
    for leaf in (OwnList([1]), {1}, Frozen, vt.ones(2)):
        assert tree_leaves(leaf)[0] is leaf


def test_keys_in_another_order_make_another_structure_but_fit() -> None:
    first, second = {"a": 1, "b": 2}, {"b": 20, "a": 10}
    assert tree_structure(first) != tree_structure(second)
    assert tree_map(lambda a, b: a + b, first, second) == {"a": 11, "b": 22}


def test_specs_compare() -> None:
    same = tree_structure([1, {"a": (2, 3)}]), tree_structure([4, {"a": (5, 6)}])
    assert same[0] == same[1]
    assert hash(same[0]) == hash(same[1])
    assert same[0] != tree_structure([1, {"b": (2, 3)}])
    assert tree_structure((1, 2)) != tree_structure((1, (2,)))
    assert tree_structure(deque([1], 2)) != tree_structure(deque([1], 3))


def test_a_deeper_second_tree_is_passed_as_a_whole() -> None:
    assert tree_map(lambda a, b: (a, b), [1, 2], [(3, 4), {"a": 5}]) == [
        (1, (3, 4)),
        (2, {"a": 5}),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [((1, 2), [1, 2]), ((1, 2), (1, 2, 3)), ({"a": 1}, {"b": 1}), ((1,), 1), ([], {})],
)
def test_trees_that_do_not_fit_are_refused(first: object, second: object) -> None:
    with pytest.raises(ValueError, match="the trees do not fit"):
        tree_map(lambda a, b: a, first, second)


def test_a_wrong_number_of_leaves_is_refused() -> None:
    spec = tree_structure((1, 2))
    for leaves in ([1], [1, 2, 3]):
        with pytest.raises(ValueError, match="has 2 leaves"):
            tree_unflatten(leaves, spec)


def test_a_prefix_is_repeated_for_each_leaf() -> None:
    tree = ({"a": 1, "b": [2, 3]}, 4)
    assert broadcast_prefix(0, tree) == [0, 0, 0, 0]
    assert broadcast_prefix((1, None), tree) == [1, 1, 1, None]
    assert broadcast_prefix(({"b": 2, "a": 1}, 0), tree) == [1, 2, 2, 0]
    with pytest.raises(ValueError, match="the trees do not fit"):
        broadcast_prefix((0, (1,)), tree)
