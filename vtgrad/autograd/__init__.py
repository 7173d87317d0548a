"""Differentiation: backward passes, custom Functions, hooks and modes."""

from ..graph.grad_mode import enable_grad as enable_grad
from ..graph.grad_mode import inference_mode as inference_mode
from ..graph.grad_mode import is_grad_enabled as is_grad_enabled
from ..graph.grad_mode import no_grad as no_grad
from ..graph.grad_mode import set_grad_enabled as set_grad_enabled
from ..tensor.saved_tensor import SavedTensor as SavedTensor
from . import function as function
from . import graph as graph
from .anomaly_mode import detect_anomaly as detect_anomaly
from .anomaly_mode import set_detect_anomaly as set_detect_anomaly
from .differentiate import backward as backward
from .differentiate import grad as grad
from .function import Function as Function
