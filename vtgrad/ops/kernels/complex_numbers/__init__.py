"""Complex numbers: their parts, conjugates and pairs of real numbers."""

from .conjugates import *
from .parts import *
