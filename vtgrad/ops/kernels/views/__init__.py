"""Views of plain arrays, copies of them and gradients through them."""

from .copies import *
from .strided import *
from .view_arrays import *
