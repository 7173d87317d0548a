"""Elementary functions: exponentials, logarithms, trigonometry, rounding."""

from .degrees import *
from .log_sums import *
from .rounding import *
from .transcendental import *
