"""Arithmetic: sums, products, quotients, powers, and divisors of integers."""

from .basic import *
from .division import *
from .integers import *
from .power import *
