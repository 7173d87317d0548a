"""Automatic differentiation on NumPy for programs written with views and in-place writes."""

# Note [Annotations are not evaluated]
#
# Modules that are loaded here begin with ``from __future__ import annotations``; Ruff asks for it.
# Evaluated, the annotations of all operators are nine thousand unions, generic types and tuples:
# half of the objects that ``import vtgrad`` would leave to the garbage collector, which walks
# over them at import, at exit, and whenever the user's program has a full collection. Who needs
# annotations as objects (`explain` does, when a call has failed) evaluates them then.
#
# Note [Tools come at first use]
#
# ``import vtgrad`` loads all that an operator, a write or a backward runs. Signal handlers,
# finalizers and hooks run operators at any moment, also in the middle of an import, where what is
# not loaded yet cannot be had; so no operator imports.
#
# Tools are what runs only where a program names it: transforms of functions, forward mode, hooks on
# several tensors and on saved ones, Functions of users, gradcheck, checkpoints, sparse Jacobians,
# PyTorch's older functions for Jacobians, the profiler, pictures, files, memory of other libraries,
# and what tests programs. Their packages find them in a ``__getattr__`` by `import_module`, under
# the locks of Python's imports only, which notice deadlocks. A tool that is imported for the first
# time is like any module that a program imports late: a signal handler that interrupts this import
# cannot use the tool, nor can a child that another thread forks meanwhile. A program for which that
# matters imports the tool at its start.
#
# So are functions that are made of operators and that few programs call, as `vtgrad.quantile`, and
# the methods of the same names. The tables in ``vtgrad/later/__init__.py`` list them with their
# modules: the package asks the first in its ``__getattr__`` and keeps what it has found, and
# `Tensor` has a descriptor for each name in the second. What such a function records is operators,
# or Functions whose modules its call has imported, so that a backward through it imports nothing.
# ``from vtgrad import *`` imports all of them.
#
# The handler of a key is loaded before any tensor has the key: the module that makes the first
# such tensors, as `vtgrad/ops/rules/batches/run_in_batch.py`, imports the handler and registers
# it. So an operator imports nothing on tensors that a tool has made, either.

from importlib import import_module as _import_module
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from typing import TYPE_CHECKING
from typing import Final as _Final

# First, so that type checkers take `vtgrad.tensor` for the function imported below, as Python
# does, and not for the module.
from vtgrad.tensor.tensor import Tensor as Tensor

# isort: split
from vtgrad import autograd as autograd
from vtgrad import errors as errors
from vtgrad import pickles as pickles
from vtgrad import random as random
from vtgrad import utils as utils
from vtgrad.autograd import enable_grad as enable_grad
from vtgrad.autograd import inference_mode as inference_mode
from vtgrad.autograd import is_grad_enabled as is_grad_enabled
from vtgrad.autograd import no_grad as no_grad
from vtgrad.autograd import set_grad_enabled as set_grad_enabled
from vtgrad.autograd.anomaly_mode import (
    is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled,
)
from vtgrad.autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from vtgrad.generator import Generator as Generator
from vtgrad.generator import default_generator as default_generator
from vtgrad.generator import get_rng_state as get_rng_state
from vtgrad.generator import initial_seed as initial_seed
from vtgrad.generator import manual_seed as manual_seed
from vtgrad.generator import seed as seed
from vtgrad.generator import set_rng_state as set_rng_state
from vtgrad.graph.grad_mode import is_inference as is_inference
from vtgrad.graph.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from vtgrad.graph.written_elements import WrittenElements as WrittenElements
from vtgrad.later import FUNCTIONS as _FUNCTIONS
from vtgrad.ops.generated import public as _operators
from vtgrad.ops.generated.public import *  # generated, with an `__all__`
from vtgrad.storage import device as _device
from vtgrad.storage import dtypes as _dtypes
from vtgrad.storage import loops as _loops_of_numpy
from vtgrad.storage import memory_format as _memory_format
from vtgrad.storage import tensor_impl as _tensor_impl
from vtgrad.storage.dtypes import complex64 as complex64
from vtgrad.storage.dtypes import complex128 as complex128
from vtgrad.storage.dtypes import float16 as float16
from vtgrad.storage.dtypes import float32 as float32
from vtgrad.storage.dtypes import float64 as float64
from vtgrad.storage.dtypes import get_default_dtype as get_default_dtype
from vtgrad.storage.dtypes import int8 as int8
from vtgrad.storage.dtypes import int16 as int16
from vtgrad.storage.dtypes import int32 as int32
from vtgrad.storage.dtypes import int64 as int64
from vtgrad.storage.dtypes import set_default_dtype as set_default_dtype
from vtgrad.storage.dtypes import uint8 as uint8
from vtgrad.storage.recent_writes import CallSite as CallSite
from vtgrad.storage.recent_writes import Write as Write
from vtgrad.storage.recent_writes import WrittenView as WrittenView
from vtgrad.tensor.creation import empty as empty
from vtgrad.tensor.creation import empty_strided as empty_strided
from vtgrad.tensor.creation import full as full
from vtgrad.tensor.creation import ones as ones
from vtgrad.tensor.creation import zeros as zeros
from vtgrad.tensor.dtype_info import can_cast as can_cast
from vtgrad.tensor.dtype_info import finfo as finfo
from vtgrad.tensor.dtype_info import iinfo as iinfo
from vtgrad.tensor.dtype_info import promote_types as promote_types
from vtgrad.tensor.dtype_info import result_type as result_type
from vtgrad.tensor.from_data import as_tensor as as_tensor
from vtgrad.tensor.from_data import from_numpy as from_numpy
from vtgrad.tensor.from_data import tensor as tensor
from vtgrad.tensor.print_options import set_printoptions as set_printoptions
from vtgrad.tensor.ranges import arange as arange
from vtgrad.tensor.ranges import eye as eye
from vtgrad.tensor.ranges import linspace as linspace
from vtgrad.tensor.sampling import normal as normal
from vtgrad.tensor.sampling import rand as rand
from vtgrad.tensor.sampling import randint as randint
from vtgrad.tensor.sampling import randn as randn
from vtgrad.tensor.sampling import randperm as randperm
from vtgrad.tensor.size import Size as Size
from vtgrad.tensor.size import broadcast_shapes as broadcast_shapes
from vtgrad.tensor.tensor_types import BoolTensor as BoolTensor
from vtgrad.tensor.tensor_types import ByteTensor as ByteTensor
from vtgrad.tensor.tensor_types import CharTensor as CharTensor
from vtgrad.tensor.tensor_types import DoubleTensor as DoubleTensor
from vtgrad.tensor.tensor_types import FloatTensor as FloatTensor
from vtgrad.tensor.tensor_types import HalfTensor as HalfTensor
from vtgrad.tensor.tensor_types import IntTensor as IntTensor
from vtgrad.tensor.tensor_types import LongTensor as LongTensor
from vtgrad.tensor.tensor_types import ShortTensor as ShortTensor
from vtgrad.tensor.typed_storage import TypedStorage as TypedStorage
from vtgrad.tensor.untyped_storage import UntypedStorage as UntypedStorage

__version__: _Final = "0.1.0"

device = _device.Device
dtype = _dtypes.DType
memory_format = _memory_format.MemoryFormat
layout = _memory_format.MemoryLayout

contiguous_format: _Final = _memory_format.MemoryFormat.CONTIGUOUS
preserve_format: _Final = _memory_format.MemoryFormat.PRESERVE
channels_last: _Final = _memory_format.MemoryFormat.CHANNELS_LAST
channels_last_3d: _Final = _memory_format.MemoryFormat.CHANNELS_LAST_3D
strided: _Final = _memory_format.MemoryLayout.STRIDED

newaxis: _Final = None

# Whether the hot layers are native modules; see Note [One source, two builds].
__compiled__: _Final = not _tensor_impl.__file__.endswith(".py")
# Whether small operators call NumPy's loops from C; see Note [Loops in C].
__loops__: _Final = _loops_of_numpy.NATIVE

# PyTorch's other names for dtypes. Three of them hide what Python calls so, here only.
bool: _Final = _dtypes.bool_
half: _Final = _dtypes.float16
float: _Final = _dtypes.float32
double: _Final = _dtypes.float64
cfloat: _Final = _dtypes.complex64
cdouble: _Final = _dtypes.complex128
short: _Final = _dtypes.int16
int: _Final = _dtypes.int32
long: _Final = _dtypes.int64

__all__ = [
    # tensors, and what makes them
    "Size",
    "Tensor",
    "arange",
    "as_tensor",
    "broadcast_shapes",
    "empty",
    "empty_strided",
    "eye",
    "from_numpy",
    "full",
    "linspace",
    "ones",
    "tensor",
    "zeros",
    # text
    "set_printoptions",
    # type names
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    # dtypes
    "bool",
    "can_cast",
    "cdouble",
    "cfloat",
    "complex128",
    "complex64",
    "double",
    "dtype",
    "finfo",
    "float",
    "float16",
    "float32",
    "float64",
    "get_default_dtype",
    "half",
    "iinfo",
    "int",
    "int16",
    "int32",
    "int64",
    "int8",
    "long",
    "promote_types",
    "result_type",
    "set_default_dtype",
    "short",
    "uint8",
    # memory and devices
    "TypedStorage",
    "UntypedStorage",
    "channels_last",
    "channels_last_3d",
    "contiguous_format",
    "device",
    "layout",
    "memory_format",
    "preserve_format",
    "strided",
    # gradients
    "autograd",
    "enable_grad",
    "func",
    "inference_mode",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
    "vmap",
    # random numbers
    "Generator",
    "default_generator",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "normal",
    "rand",
    "randint",
    "randn",
    "random",
    "randperm",
    "seed",
    "set_rng_state",
    # who wrote, and errors
    "CallSite",
    "Write",
    "WrittenElements",
    "WrittenView",
    "errors",
    # constants and the rest
    "__compiled__",
    "__loops__",
    "__version__",
    "distributed",
    "e",
    "fft",
    "inf",
    "interpolate",
    "jit",
    "linalg",
    "nan",
    "newaxis",
    "nn",
    "optim",
    "overrides",
    "pi",
    "profiler",
    "return_types",
    "signal",
    "special",
    "testing",
    "types",
    "utils",
    "viz",
]
__all__ += _operators.__all__
__all__ += _FUNCTIONS


if TYPE_CHECKING:
    from vtgrad import distributed as distributed
    from vtgrad import fft as fft
    from vtgrad import func as func
    from vtgrad import interpolate as interpolate
    from vtgrad import jit as jit
    from vtgrad import linalg as linalg
    from vtgrad import nn as nn
    from vtgrad import optim as optim
    from vtgrad import overrides as overrides
    from vtgrad import profiler as profiler
    from vtgrad import return_types as return_types
    from vtgrad import signal as signal
    from vtgrad import special as special
    from vtgrad import testing as testing
    from vtgrad import types as types
    from vtgrad import viz as viz
    from vtgrad.func.vmap import vmap as vmap
else:
    # Hidden from type checkers, which would accept every name because of it. See Note [Tools come
    # at first use].

    _PACKAGES = {
        "distributed",
        "fft",
        "func",
        "interpolate",
        "jit",
        "linalg",
        "nn",
        "numpy",
        "optim",
        "overrides",
        "profiler",
        "return_types",
        "signal",
        "special",
        "testing",
        "types",
        "viz",
    }

    def __getattr__(name):
        """The packages and functions that most programs never load."""
        if name in _FUNCTIONS:
            found = globals()[name] = getattr(_import_module(_FUNCTIONS[name]), name)
            return found
        if name in _PACKAGES:
            return _import_module(f"vtgrad.{name}")
        if name == "vmap":
            found = globals()[name] = _import_module("vtgrad.func").vmap
            return found
        raise AttributeError(f"module 'vtgrad' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, without the modules that they come from."""
    return sorted(__all__)
