"""Products of vectors and matrices."""

from vtgrad.ops.kernels.linalg.products import *
