"""Products of vectors and matrices."""

from .products import *
