"""Copies, casts and reusing."""

from .casts import *
from .copies import *
from .fill import *
