"""The public parts of the graph: nodes, gradient edges, hooks, versions."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from vtgrad.autograd.multi_grad_hook import MultiGradHandle as MultiGradHandle
from vtgrad.autograd.multi_grad_hook import queue_callback as queue_callback
from vtgrad.autograd.multi_grad_hook import register_multi_grad_hook as register_multi_grad_hook
from vtgrad.autograd.saved_tensors_hooks import (
    disable_saved_tensors_hooks as disable_saved_tensors_hooks,
)
from vtgrad.autograd.saved_tensors_hooks import save_on_cpu as save_on_cpu
from vtgrad.autograd.saved_tensors_hooks import saved_tensors_hooks as saved_tensors_hooks
from vtgrad.graph.audit import auditing as auditing
from vtgrad.graph.audit import set_audit as set_audit
from vtgrad.graph.edge import Edge as Edge
from vtgrad.graph.gradient_edge import GradientEdge as GradientEdge
from vtgrad.graph.gradient_edge import get_gradient_edge as get_gradient_edge
from vtgrad.graph.node import Node as Node
from vtgrad.graph.overwrite_rule import set_overwrite_check as set_overwrite_check
from vtgrad.storage.rewind import allow_mutation_on_saved_tensors as allow_mutation_on_saved_tensors
from vtgrad.views.write import increment_version as increment_version

__all__ = [
    "Edge",
    "GradientEdge",
    "MultiGradHandle",
    "Node",
    "allow_mutation_on_saved_tensors",
    "auditing",
    "dependencies",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "queue_callback",
    "register_multi_grad_hook",
    "save_on_cpu",
    "save_to_disk",
    "saved_tensors_hooks",
    "set_audit",
    "set_overwrite_check",
]

if TYPE_CHECKING:
    from vtgrad.autograd.dependencies import dependencies as dependencies
    from vtgrad.autograd.save_to_disk import save_to_disk as save_to_disk
else:
    # Hidden from type checkers, which would accept every name because of it. See Note [Tools come
    # at first use].

    def __getattr__(name):
        """What most programs never load; each function is in a module of its name."""
        if name in ("dependencies", "save_to_disk"):
            return getattr(_import_module(f"vtgrad.autograd.{name}"), name)
        raise AttributeError(f"module 'vtgrad.autograd.graph' has no attribute {name!r}")

    def __dir__():
        """What is here, and what would be found."""
        return sorted({*globals(), *__all__})
