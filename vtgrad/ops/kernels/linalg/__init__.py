"""Products, inverses and decompositions of matrices."""

from vtgrad.ops.kernels.linalg.decompositions import *
from vtgrad.ops.kernels.linalg.determinants import *
from vtgrad.ops.kernels.linalg.inverses import *
from vtgrad.ops.kernels.linalg.products import *
