"""Derivative helpers, over arrays.

These functions are written once, with `Array` for a tensor and ``k.`` before every operator. The
code generator makes from them the same functions over tensors, with `TensorBase` for `Array` and
``F.`` for ``k.``; so they may use nothing else that differs between the two.
"""

from vtgrad.ops.formulas.arithmetic import *
from vtgrad.ops.formulas.comparison import *
from vtgrad.ops.formulas.complex_numbers import *
from vtgrad.ops.formulas.cumulative import *
from vtgrad.ops.formulas.elementary import *
from vtgrad.ops.formulas.fft import *
from vtgrad.ops.formulas.float_parts import *
from vtgrad.ops.formulas.indexing import *
from vtgrad.ops.formulas.joining import *
from vtgrad.ops.formulas.linalg import *
from vtgrad.ops.formulas.reductions import *
from vtgrad.ops.formulas.special import *
from vtgrad.ops.formulas.structure import *
from vtgrad.ops.formulas.support import *
from vtgrad.ops.formulas.views import *
