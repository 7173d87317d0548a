"""Differentiation: backward passes, custom Functions, hooks and modes."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from vtgrad.autograd.anomaly_mode import detect_anomaly as detect_anomaly
from vtgrad.autograd.anomaly_mode import set_detect_anomaly as set_detect_anomaly
from vtgrad.autograd.differentiate import backward as backward
from vtgrad.autograd.differentiate import grad as grad
from vtgrad.autograd.multithreading import is_multithreading_enabled as is_multithreading_enabled
from vtgrad.autograd.multithreading import set_multithreading_enabled as set_multithreading_enabled
from vtgrad.graph.grad_mode import enable_grad as enable_grad
from vtgrad.graph.grad_mode import inference_mode as inference_mode
from vtgrad.graph.grad_mode import is_grad_enabled as is_grad_enabled
from vtgrad.graph.grad_mode import no_grad as no_grad
from vtgrad.graph.grad_mode import set_grad_enabled as set_grad_enabled
from vtgrad.tensor.saved_tensor import SavedTensor as SavedTensor

__all__ = [
    "Function",
    "NestedIOFunction",
    "SavedTensor",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "is_multithreading_enabled",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

if TYPE_CHECKING:
    from vtgrad.autograd import forward_ad as forward_ad
    from vtgrad.autograd import function as function
    from vtgrad.autograd import functional as functional
    from vtgrad.autograd import grad_mode as grad_mode
    from vtgrad.autograd import graph as graph
    from vtgrad.autograd import profiler as profiler
    from vtgrad.autograd.function import Function as Function
    from vtgrad.autograd.function import NestedIOFunction as NestedIOFunction
    from vtgrad.autograd.gradcheck import gradcheck as gradcheck
    from vtgrad.autograd.gradcheck import gradgradcheck as gradgradcheck
    from vtgrad.autograd.variable import Variable as Variable
else:
    # Hidden from type checkers, which would accept every name because of it. See Note [Tools come
    # at first use].

    # A function here has the name of its package. Python binds a package to its name where it is
    # imported first: here, so that no later import of it hides the function.
    _import_module("vtgrad.autograd.gradcheck")
    globals().pop("gradcheck", None)

    _MODULES = {
        "forward_ad",
        "function",
        "functional",
        "grad_mode",
        "graph",
        "profiler",
        "variable",
    }
    _HOMES = {
        "Function": "vtgrad.autograd.function",
        "NestedIOFunction": "vtgrad.autograd.function",
        "Variable": "vtgrad.autograd.variable",
        "gradcheck": "vtgrad.autograd.gradcheck",
        "gradgradcheck": "vtgrad.autograd.gradcheck",
    }

    def __getattr__(name):
        """What most programs never load: forward mode, hooks, Functions of users, gradcheck."""
        if name in _MODULES:
            return _import_module(f"vtgrad.autograd.{name}")
        if name in _HOMES:
            return getattr(_import_module(_HOMES[name]), name)
        raise AttributeError(f"module 'vtgrad.autograd' has no attribute {name!r}")

    def __dir__():
        """What is here, and what would be found."""
        return sorted({*globals(), *__all__})
