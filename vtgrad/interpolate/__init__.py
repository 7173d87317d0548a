"""Interpolation by cubic splines, with the names and the meanings of ``scipy.interpolate``.

A spline is differentiable by the values, by the points that it goes through, and by the points at
which it is evaluated. SciPy solves its equations, and is imported by the first call that needs it:
``pip install ".[scipy]"``.
"""

from vtgrad.interpolate.cubic_spline import CubicSpline as CubicSpline

__all__ = ["CubicSpline"]
