"""Copies, casts, fills and broadcasting."""

from .broadcasting import *
from .casts import *
from .copies import *
from .fill import *
