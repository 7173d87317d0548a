"""Special functions: gamma, Bessel, error function and others."""

from vtgrad.ops.kernels.special.bessel import *
from vtgrad.ops.kernels.special.closed_forms import *
from vtgrad.ops.kernels.special.error_function import *
from vtgrad.ops.kernels.special.gamma import *
from vtgrad.ops.kernels.special.incomplete_gamma import *
