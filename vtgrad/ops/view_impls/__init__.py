"""The views, of impls: each returns an alias with the geometry of the view."""

from .complex_numbers import *
from .views import *
