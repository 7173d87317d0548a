"""Views of plain arrays, copies of them and gradients through them."""

from vtgrad.ops.kernels.views.copies import *
from vtgrad.ops.kernels.views.strided import *
from vtgrad.ops.kernels.views.view_arrays import *
