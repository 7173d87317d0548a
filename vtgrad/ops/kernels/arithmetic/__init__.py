"""Arithmetic: sums, products, quotients, powers, and divisors of integers."""

from vtgrad.ops.kernels.arithmetic.basic import *
from vtgrad.ops.kernels.arithmetic.division import *
from vtgrad.ops.kernels.arithmetic.integers import *
from vtgrad.ops.kernels.arithmetic.power import *
