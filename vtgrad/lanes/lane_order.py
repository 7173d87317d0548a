# Compiled by mypyc.
"""The order in which one thread runs the nodes of a pass.

Note [The order of one thread]

A pass on several threads gives the bits of one thread, whatever the timing. Which node runs next on
one thread depends on sequence numbers and edges, never on a value, so the order is found before
anything runs: each node gets its *position*. From it follow

- the order of every sum: a node's gradients are added in the order of the positions of the nodes
  that they come from, and of their edges. One that comes early is kept aside until its turn;
- what user code sees: a node whose turn calls user code begins when all nodes before it are done,
  and no node after it begins before it is done. So hooks run in the order of one thread, one at a
  time, and find every ``.grad``, every saved value and every generator as they would there;
- which error is raised: after a failure the nodes before the failed one still run, and of several
  errors that of the lowest position is raised.
"""

from __future__ import annotations

from vtgrad.engine.graph_task import GraphTask
from vtgrad.engine.input_buffer import InputBuffer
from vtgrad.engine.ready_queue import ReadyQueue
from vtgrad.graph.node import Node

__all__ = ["LaneOrder"]


class LaneOrder:
    """The order of the nodes of one task; see Note [The order of one thread].

    Attributes
    ----------
    nodes : list of Node
        The nodes, in their order.
    position : dict of Node to int
        The index of each in that list.
    turns : dict of Node to list of int
        For each edge of a node, the number of its gradient among all that the target gets; -1 if
        none is sent along it.
    """

    __slots__ = ("nodes", "position", "turns")

    nodes: list[Node]
    position: dict[Node, int]
    turns: dict[Node, list[int]]

    def __init__(self, task: GraphTask, ready: list[InputBuffer]) -> None:
        """Find the order.

        Parameters
        ----------
        task : GraphTask
            The task; its dependencies are those before anything runs.
        ready : list of InputBuffer
            The nodes that are ready at the beginning, in the order in which they run.
        """
        self.nodes = []
        self.position = {}
        self.turns = {}
        queue = ReadyQueue()
        for buffer in ready:
            queue.push(buffer)
        left = dict(task.dependencies)
        while (first := queue.pop()) is not None:
            node = first.function
            self.position[node] = len(self.nodes)
            self.nodes.append(node)
            if task.will_run(node) and not node.is_leaf_node:
                self.turns[node] = _turns(task, node, left, queue)


def _turns(task: GraphTask, node: Node, left: dict[Node, int], queue: ReadyQueue) -> list[int]:
    """The turns of a node's gradients, as if it ran now."""
    turns: list[int] = []
    for edge in node.next_edges:
        if edge is None or not task.is_wanted(edge.function):
            turns.append(-1)
            continue
        function = edge.function
        turns.append(task.dependencies[function] - left[function])
        left[function] -= 1
        if left[function] == 0:
            queue.push(InputBuffer(function))
    return turns
