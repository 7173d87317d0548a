"""Reductions: one value for many."""

from .counts import *
from .exponential_sums import *
from .extremes import *
from .gradients import *
from .norms import *
from .products import *
from .reduce import *
from .statistics import *
