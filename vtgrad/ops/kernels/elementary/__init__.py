"""Elementary functions: exponentials, logarithms, trigonometry, rounding."""

from vtgrad.ops.kernels.elementary.degrees import *
from vtgrad.ops.kernels.elementary.log_sums import *
from vtgrad.ops.kernels.elementary.rounding import *
from vtgrad.ops.kernels.elementary.transcendental import *
