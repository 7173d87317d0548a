"""Derivative helpers, over arrays.

These functions are written once, with `Array` for a tensor and ``k.`` before every operator. The
code generator makes from them the same functions over tensors, with `TensorBase` for `Array` and
``F.`` for ``k.``; so they may use nothing else that differs between the two.
"""

from .indexing import *
from .merging import *
from .pointwise import *
from .products import *
from .reductions import *
from .special import *
from .support import *
