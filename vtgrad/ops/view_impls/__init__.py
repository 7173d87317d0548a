"""The views, of impls: each returns an alias with the geometry of the view."""

from vtgrad.ops.view_impls.complex_numbers import *
from vtgrad.ops.view_impls.views import *
