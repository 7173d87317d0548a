"""Derivative helpers, over arrays.

These functions are written once, with `Array` for a tensor and ``k.`` before every operator. The
code generator makes from them the same functions over tensors, with `TensorBase` for `Array` and
``F.`` for ``k.``; so they may use nothing else that differs between the two.
"""

from .arithmetic import *
from .comparison import *
from .complex_numbers import *
from .cumulative import *
from .elementary import *
from .float_parts import *
from .indexing import *
from .joining import *
from .linalg import *
from .reductions import *
from .special import *
from .structure import *
from .support import *
from .views import *
