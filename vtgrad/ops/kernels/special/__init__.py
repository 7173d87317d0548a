"""Special functions: gamma, Bessel, error function and others."""

from .bessel import *
from .closed_forms import *
from .error_function import *
from .gamma import *
from .incomplete_gamma import *
