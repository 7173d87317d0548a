"""Copies, casts, fills and broadcasting."""

from vtgrad.ops.kernels.copying.broadcasting import *
from vtgrad.ops.kernels.copying.casts import *
from vtgrad.ops.kernels.copying.copies import *
from vtgrad.ops.kernels.copying.fill import *
