"""Interpolation between points, with the names and the meanings of ``scipy.interpolate``.

A function is differentiable by the values, by the points that it goes through, and by the places
where it is evaluated. SciPy solves the equations of quadratic and cubic splines, and is imported by
the first call that needs it: ``pip install ".[scipy]"``.
"""

from vtgrad.interpolate.cubic_spline import CubicSpline as CubicSpline
from vtgrad.interpolate.interp1d import interp1d as interp1d

__all__ = ["CubicSpline", "interp1d"]
