"""Automatic differentiation on NumPy for programs written with views and in-place writes."""

# NOTE [ Annotations are not evaluated ]
#
# Modules that are loaded here begin with ``from __future__ import annotations``; Ruff asks for it.
# Evaluated, the annotations of all operators are nine thousand unions, generic types and tuples:
# half of the objects that ``import vtgrad`` would leave to the garbage collector, which walks
# over them at import, at exit, and whenever the user's program has a full collection. Who needs
# annotations as objects (`explain` does, when a call has failed) evaluates them then.

from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from typing import Final

# First, so that type checkers take `vtgrad.tensor` for the function imported below, as Python
# does, and not for the module.
from .tensor import Tensor as Tensor

# isort: split
from . import autograd as autograd
from . import errors as errors
from . import random as random
from . import utils as utils
from .autograd import enable_grad as enable_grad
from .autograd import inference_mode as inference_mode
from .autograd import is_grad_enabled as is_grad_enabled
from .autograd import no_grad as no_grad
from .autograd import set_grad_enabled as set_grad_enabled
from .conversion import Size as Size
from .conversion import broadcast_shapes as broadcast_shapes
from .creation import arange as arange
from .creation import as_tensor as as_tensor
from .creation import empty as empty
from .creation import empty_strided as empty_strided
from .creation import eye as eye
from .creation import from_numpy as from_numpy
from .creation import full as full
from .creation import linspace as linspace
from .creation import ones as ones
from .creation import tensor as tensor
from .creation import zeros as zeros
from .dtype_info import can_cast as can_cast
from .dtype_info import finfo as finfo
from .dtype_info import iinfo as iinfo
from .dtype_info import promote_types as promote_types
from .dtype_info import result_type as result_type
from .graph.grad_mode import is_inference as is_inference
from .graph.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from .ops.generated.public import *  # generated, with an `__all__`
from .random import Generator as Generator
from .random import default_generator as default_generator
from .random import get_rng_state as get_rng_state
from .random import initial_seed as initial_seed
from .random import manual_seed as manual_seed
from .random import seed as seed
from .random import set_rng_state as set_rng_state
from .sampling import normal as normal
from .sampling import rand as rand
from .sampling import randint as randint
from .sampling import randn as randn
from .sampling import randperm as randperm
from .storage import device as _device
from .storage import dtypes as _dtypes
from .storage import memory_format as _memory_format
from .storage import memory_layout as _memory_layout
from .storage import tensor_impl as _tensor_impl
from .storage.dtypes import complex64 as complex64
from .storage.dtypes import complex128 as complex128
from .storage.dtypes import float16 as float16
from .storage.dtypes import float32 as float32
from .storage.dtypes import float64 as float64
from .storage.dtypes import get_default_dtype as get_default_dtype
from .storage.dtypes import int8 as int8
from .storage.dtypes import int16 as int16
from .storage.dtypes import int32 as int32
from .storage.dtypes import int64 as int64
from .storage.dtypes import set_default_dtype as set_default_dtype
from .storage.dtypes import uint8 as uint8
from .storage.recent_writes import CallSite as CallSite
from .storage.recent_writes import Write as Write
from .storage.recent_writes import WrittenView as WrittenView
from .storage.written_elements import WrittenElements as WrittenElements

device = _device.Device
dtype = _dtypes.DType
memory_format = _memory_format.MemoryFormat
layout = _memory_layout.MemoryLayout

contiguous_format: Final = _memory_format.MemoryFormat.CONTIGUOUS
preserve_format: Final = _memory_format.MemoryFormat.PRESERVE
channels_last: Final = _memory_format.MemoryFormat.CHANNELS_LAST
channels_last_3d: Final = _memory_format.MemoryFormat.CHANNELS_LAST_3D
strided: Final = _memory_layout.MemoryLayout.STRIDED

newaxis: Final = None

# Whether the hot layers are native modules; see Note [One source, two builds].
__compiled__: Final = not _tensor_impl.__file__.endswith(".py")

# PyTorch's other names for dtypes. Three of them hide what Python calls so, here only.
bool: Final = _dtypes.bool_
half: Final = _dtypes.float16
float: Final = _dtypes.float32
double: Final = _dtypes.float64
cfloat: Final = _dtypes.complex64
cdouble: Final = _dtypes.complex128
short: Final = _dtypes.int16
int: Final = _dtypes.int32
long: Final = _dtypes.int64
