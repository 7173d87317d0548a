"""Classes and modes that take functions over, under PyTorch's protocol `__torch_function__`."""

from vtgrad.overrides.arguments import has_torch_function as has_torch_function
from vtgrad.overrides.arguments import is_tensor_like as is_tensor_like
from vtgrad.overrides.disable import DisableTorchFunction as DisableTorchFunction
from vtgrad.overrides.disable import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from vtgrad.overrides.dispatch import handle_torch_function as handle_torch_function
from vtgrad.overrides.function_mode import BaseTorchFunctionMode as BaseTorchFunctionMode
from vtgrad.overrides.function_mode import TorchFunctionMode as TorchFunctionMode
from vtgrad.overrides.names import get_overridable_functions as get_overridable_functions
from vtgrad.overrides.names import is_tensor_method_or_property as is_tensor_method_or_property
from vtgrad.overrides.names import resolve_name as resolve_name
from vtgrad.overrides.wrap import wrap_torch_function as wrap_torch_function

__all__ = [
    "BaseTorchFunctionMode",
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "TorchFunctionMode",
    "get_overridable_functions",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]
