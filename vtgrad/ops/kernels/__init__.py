"""NumPy kernels: the computations of the operators, on plain arrays."""

from vtgrad.ops.kernels.arithmetic import *
from vtgrad.ops.kernels.comparison import *
from vtgrad.ops.kernels.complex_numbers import *
from vtgrad.ops.kernels.copying import *
from vtgrad.ops.kernels.creation import *
from vtgrad.ops.kernels.cumulative import *
from vtgrad.ops.kernels.elementary import *
from vtgrad.ops.kernels.fft import *
from vtgrad.ops.kernels.float_parts import *
from vtgrad.ops.kernels.indexing import *
from vtgrad.ops.kernels.joining import *
from vtgrad.ops.kernels.linalg import *
from vtgrad.ops.kernels.logic import *
from vtgrad.ops.kernels.random import *
from vtgrad.ops.kernels.reductions import *
from vtgrad.ops.kernels.sorting import *
from vtgrad.ops.kernels.special import *
from vtgrad.ops.kernels.structure import *
from vtgrad.ops.kernels.views import *
