# Compiled by mypyc.
"""The check of saved values before any node runs.

Note [Backward is all or nothing]

A saved value that was overwritten makes a backward fail. If the error came in the middle, some
leaves would have new gradients, some hooks would have run and some values would be freed. So when
the nodes that will run are known, every value that they saved is checked, and the error is raised
before any of them runs. Values are checked again when they are unpacked, because a hook may write
too.
"""

from __future__ import annotations

from collections.abc import Iterable

from vtgrad.engine.graph_task import GraphTask
from vtgrad.engine.watch import explain_node
from vtgrad.errors import VtgradError
from vtgrad.graph.accumulate_grad import AccumulateGrad
from vtgrad.graph.anomaly import anomaly
from vtgrad.graph.node import Node
from vtgrad.graph.observer import FUNCTION, NO_SEQUENCE_NR, observer_of_thread, observers

__all__ = ["check_before_run"]


def check_before_run(task: GraphTask) -> None:
    """Raise if a value that is needed was overwritten or freed, or a leaf cannot be filled.

    Raises
    ------
    VtgradError
        As `Node.check_saved` does.
    """
    nodes = task.dependencies if task.runs is None else task.runs
    if not _can_run(nodes):
        # Of several errors, the one that the run would have met first is raised.
        for node in sorted(nodes, key=lambda n: -n.sequence_nr):
            try:
                node.check_saved()
            except VtgradError as error:
                if anomaly.enabled:
                    explain_node(node, error)
                _show(error)
                raise
    # A recorded run adds out of place.
    if not task.create_graph:
        for node in nodes:
            if isinstance(node, AccumulateGrad) and node.cell.grad is not None:
                try:
                    node.check_grad()
                except VtgradError as error:
                    _show(error)
                    raise


def _show(error: VtgradError) -> None:
    """Show an observer of the thread that the pass is refused, and why."""
    observer = observer_of_thread() if observers else None
    if observer is not None:
        inputs = (error,) if observer.needs_inputs else ()
        event = observer.begin("vtgrad::refused_backward", FUNCTION, NO_SEQUENCE_NR, 0, inputs)
        observer.end(event)


def _can_run(nodes: Iterable[Node]) -> bool:
    """Whether no node refuses to run."""
    try:
        for node in nodes:
            node.check_saved()
    except VtgradError:
        return False
    return True
