"""Complex numbers: their parts, conjugates and pairs of real numbers."""

from vtgrad.ops.kernels.complex_numbers.conjugates import *
from vtgrad.ops.kernels.complex_numbers.parts import *
