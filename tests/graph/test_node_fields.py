"""The fields of the nodes of operators, which saved values and replays are found by.

What breaks it: a generated class of nodes without `__slots__`, whose objects have a dictionary each
and show it as if an operator had saved it.
"""

import vtgrad as vt
from vtgrad.graph.node_fields import classes_below, own_fields
from vtgrad.graph.operator_node import OperatorNode


def test_nodes_have_the_fields_that_are_declared_and_no_dictionary() -> None:
    found = {name for cls in classes_below(OperatorNode) for name in own_fields(cls)}
    assert {"saved_self", "dim", "self_shape"} <= found
    assert not {"__dict__", "__weakref__"} & found


def test_a_copy_of_a_view_shows_what_the_view_has_saved() -> None:
    x = vt.ones(3, requires_grad=True)
    for node in (x.select(0, 1).grad_fn, vt.select_copy(x, 0, 1).grad_fn):
        shown = [name for name in dir(node) if name.startswith("_saved_")]
        assert shown == ["_saved_dim", "_saved_index", "_saved_self_sym_sizes"]
