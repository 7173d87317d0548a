"""The grad modes, under the name of the module that PyTorch has for them."""

from __future__ import annotations

from vtgrad.graph.grad_mode import enable_grad as enable_grad
from vtgrad.graph.grad_mode import inference_mode as inference_mode
from vtgrad.graph.grad_mode import no_grad as no_grad
from vtgrad.graph.grad_mode import set_grad_enabled as set_grad_enabled
