"""Copies, casts and overwriting."""

from .casts import *
from .copies import *
from .fill import *
