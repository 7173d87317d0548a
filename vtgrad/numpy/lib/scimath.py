"""Functions that give complex numbers where real ones do not exist, as ``numpy.lib.scimath``."""

from __future__ import annotations

from vtgrad.numpy.complex_results import arccos as arccos
from vtgrad.numpy.complex_results import arcsin as arcsin
from vtgrad.numpy.complex_results import arctanh as arctanh
from vtgrad.numpy.complex_results import log as log
from vtgrad.numpy.complex_results import log2 as log2
from vtgrad.numpy.complex_results import log10 as log10
from vtgrad.numpy.complex_results import logn as logn
from vtgrad.numpy.complex_results import power as power
from vtgrad.numpy.complex_results import sqrt as sqrt

__all__ = ["arccos", "arcsin", "arctanh", "log", "log10", "log2", "logn", "power", "sqrt"]
