"""NumPy's namespace on tensors: a NumPy program runs by changing its import line."""

# The names of the namespace hide what Python calls so, here only.

from vtgrad.numpy.calculus import diff as diff
from vtgrad.numpy.calculus import ediff1d as ediff1d
from vtgrad.numpy.calculus import gradient as gradient
from vtgrad.numpy.calculus import trapezoid as trapezoid
from vtgrad.numpy.convolution import convolve as convolve
from vtgrad.numpy.convolution import correlate as correlate
from vtgrad.numpy.creation import array as array
from vtgrad.numpy.creation import asanyarray as asanyarray
from vtgrad.numpy.creation import asarray as asarray
from vtgrad.numpy.creation import ascontiguousarray as ascontiguousarray
from vtgrad.numpy.creation import asfortranarray as asfortranarray
from vtgrad.numpy.creation import copy as copy
from vtgrad.numpy.creation import empty as empty
from vtgrad.numpy.creation import empty_like as empty_like
from vtgrad.numpy.creation import full as full
from vtgrad.numpy.creation import full_like as full_like
from vtgrad.numpy.creation import ones as ones
from vtgrad.numpy.creation import ones_like as ones_like
from vtgrad.numpy.creation import zeros as zeros
from vtgrad.numpy.creation import zeros_like as zeros_like
from vtgrad.numpy.cumulative import cumulative_prod as cumulative_prod
from vtgrad.numpy.cumulative import cumulative_sum as cumulative_sum
from vtgrad.numpy.interpolation import interp as interp
from vtgrad.numpy.nan_extremes import nanargmax as nanargmax
from vtgrad.numpy.nan_extremes import nanargmin as nanargmin
from vtgrad.numpy.nan_extremes import nanmax as nanmax
from vtgrad.numpy.nan_extremes import nanmin as nanmin
from vtgrad.numpy.nan_reductions import nancumprod as nancumprod
from vtgrad.numpy.nan_reductions import nancumsum as nancumsum
from vtgrad.numpy.nan_reductions import nanmean as nanmean
from vtgrad.numpy.nan_reductions import nanprod as nanprod
from vtgrad.numpy.nan_reductions import nanstd as nanstd
from vtgrad.numpy.nan_reductions import nansum as nansum
from vtgrad.numpy.nan_reductions import nanvar as nanvar
from vtgrad.numpy.ndarray import ndarray as ndarray
from vtgrad.numpy.picking import choose as choose
from vtgrad.numpy.picking import clip as clip
from vtgrad.numpy.picking import compress as compress
from vtgrad.numpy.picking import dot as dot
from vtgrad.numpy.picking import nonzero as nonzero
from vtgrad.numpy.picking import put as put
from vtgrad.numpy.picking import round as round
from vtgrad.numpy.picking import take as take
from vtgrad.numpy.quantiles import median as median
from vtgrad.numpy.quantiles import nanmedian as nanmedian
from vtgrad.numpy.quantiles import nanpercentile as nanpercentile
from vtgrad.numpy.quantiles import nanquantile as nanquantile
from vtgrad.numpy.quantiles import percentile as percentile
from vtgrad.numpy.quantiles import quantile as quantile
from vtgrad.numpy.reductions import all as all
from vtgrad.numpy.reductions import amax as amax
from vtgrad.numpy.reductions import amin as amin
from vtgrad.numpy.reductions import any as any
from vtgrad.numpy.reductions import argmax as argmax
from vtgrad.numpy.reductions import argmin as argmin
from vtgrad.numpy.reductions import cumprod as cumprod
from vtgrad.numpy.reductions import cumsum as cumsum
from vtgrad.numpy.reductions import max as max
from vtgrad.numpy.reductions import mean as mean
from vtgrad.numpy.reductions import min as min
from vtgrad.numpy.reductions import prod as prod
from vtgrad.numpy.reductions import ptp as ptp
from vtgrad.numpy.reductions import std as std
from vtgrad.numpy.reductions import sum as sum
from vtgrad.numpy.reductions import var as var
from vtgrad.numpy.scalar import scalar as scalar
from vtgrad.numpy.scalar_types import cdouble as cdouble
from vtgrad.numpy.scalar_types import complex64 as complex64
from vtgrad.numpy.scalar_types import complex128 as complex128
from vtgrad.numpy.scalar_types import complexfloating as complexfloating
from vtgrad.numpy.scalar_types import csingle as csingle
from vtgrad.numpy.scalar_types import double as double
from vtgrad.numpy.scalar_types import float16 as float16
from vtgrad.numpy.scalar_types import float32 as float32
from vtgrad.numpy.scalar_types import float64 as float64
from vtgrad.numpy.scalar_types import floating as floating
from vtgrad.numpy.scalar_types import generic as generic
from vtgrad.numpy.scalar_types import half as half
from vtgrad.numpy.scalar_types import inexact as inexact
from vtgrad.numpy.scalar_types import int8 as int8
from vtgrad.numpy.scalar_types import int16 as int16
from vtgrad.numpy.scalar_types import int32 as int32
from vtgrad.numpy.scalar_types import int64 as int64
from vtgrad.numpy.scalar_types import int_ as int_
from vtgrad.numpy.scalar_types import integer as integer
from vtgrad.numpy.scalar_types import intp as intp
from vtgrad.numpy.scalar_types import number as number
from vtgrad.numpy.scalar_types import signedinteger as signedinteger
from vtgrad.numpy.scalar_types import single as single
from vtgrad.numpy.scalar_types import uint8 as uint8
from vtgrad.numpy.scalar_types import unsignedinteger as unsignedinteger
from vtgrad.numpy.shapes import diagonal as diagonal
from vtgrad.numpy.shapes import ravel as ravel
from vtgrad.numpy.shapes import repeat as repeat
from vtgrad.numpy.shapes import reshape as reshape
from vtgrad.numpy.shapes import squeeze as squeeze
from vtgrad.numpy.shapes import swapaxes as swapaxes
from vtgrad.numpy.shapes import trace as trace
from vtgrad.numpy.shapes import transpose as transpose
from vtgrad.numpy.sorting import argpartition as argpartition
from vtgrad.numpy.sorting import argsort as argsort
from vtgrad.numpy.sorting import partition as partition
from vtgrad.numpy.sorting import searchsorted as searchsorted
from vtgrad.numpy.sorting import sort as sort
from vtgrad.numpy.statistics import average as average
from vtgrad.numpy.statistics import corrcoef as corrcoef
from vtgrad.numpy.statistics import cov as cov
from vtgrad.numpy.ufuncs import abs as abs
from vtgrad.numpy.ufuncs import absolute as absolute
from vtgrad.numpy.ufuncs import acos as acos
from vtgrad.numpy.ufuncs import acosh as acosh
from vtgrad.numpy.ufuncs import add as add
from vtgrad.numpy.ufuncs import arccos as arccos
from vtgrad.numpy.ufuncs import arccosh as arccosh
from vtgrad.numpy.ufuncs import arcsin as arcsin
from vtgrad.numpy.ufuncs import arcsinh as arcsinh
from vtgrad.numpy.ufuncs import arctan as arctan
from vtgrad.numpy.ufuncs import arctan2 as arctan2
from vtgrad.numpy.ufuncs import arctanh as arctanh
from vtgrad.numpy.ufuncs import asin as asin
from vtgrad.numpy.ufuncs import asinh as asinh
from vtgrad.numpy.ufuncs import atan as atan
from vtgrad.numpy.ufuncs import atan2 as atan2
from vtgrad.numpy.ufuncs import atanh as atanh
from vtgrad.numpy.ufuncs import bitwise_and as bitwise_and
from vtgrad.numpy.ufuncs import bitwise_count as bitwise_count
from vtgrad.numpy.ufuncs import bitwise_invert as bitwise_invert
from vtgrad.numpy.ufuncs import bitwise_left_shift as bitwise_left_shift
from vtgrad.numpy.ufuncs import bitwise_not as bitwise_not
from vtgrad.numpy.ufuncs import bitwise_or as bitwise_or
from vtgrad.numpy.ufuncs import bitwise_right_shift as bitwise_right_shift
from vtgrad.numpy.ufuncs import bitwise_xor as bitwise_xor
from vtgrad.numpy.ufuncs import cbrt as cbrt
from vtgrad.numpy.ufuncs import ceil as ceil
from vtgrad.numpy.ufuncs import conj as conj
from vtgrad.numpy.ufuncs import conjugate as conjugate
from vtgrad.numpy.ufuncs import copysign as copysign
from vtgrad.numpy.ufuncs import cos as cos
from vtgrad.numpy.ufuncs import cosh as cosh
from vtgrad.numpy.ufuncs import deg2rad as deg2rad
from vtgrad.numpy.ufuncs import degrees as degrees
from vtgrad.numpy.ufuncs import divide as divide
from vtgrad.numpy.ufuncs import divmod as divmod
from vtgrad.numpy.ufuncs import equal as equal
from vtgrad.numpy.ufuncs import exp as exp
from vtgrad.numpy.ufuncs import exp2 as exp2
from vtgrad.numpy.ufuncs import expm1 as expm1
from vtgrad.numpy.ufuncs import fabs as fabs
from vtgrad.numpy.ufuncs import float_power as float_power
from vtgrad.numpy.ufuncs import floor as floor
from vtgrad.numpy.ufuncs import floor_divide as floor_divide
from vtgrad.numpy.ufuncs import fmax as fmax
from vtgrad.numpy.ufuncs import fmin as fmin
from vtgrad.numpy.ufuncs import fmod as fmod
from vtgrad.numpy.ufuncs import frexp as frexp
from vtgrad.numpy.ufuncs import gcd as gcd
from vtgrad.numpy.ufuncs import greater as greater
from vtgrad.numpy.ufuncs import greater_equal as greater_equal
from vtgrad.numpy.ufuncs import heaviside as heaviside
from vtgrad.numpy.ufuncs import hypot as hypot
from vtgrad.numpy.ufuncs import invert as invert
from vtgrad.numpy.ufuncs import isfinite as isfinite
from vtgrad.numpy.ufuncs import isinf as isinf
from vtgrad.numpy.ufuncs import isnan as isnan
from vtgrad.numpy.ufuncs import lcm as lcm
from vtgrad.numpy.ufuncs import ldexp as ldexp
from vtgrad.numpy.ufuncs import left_shift as left_shift
from vtgrad.numpy.ufuncs import less as less
from vtgrad.numpy.ufuncs import less_equal as less_equal
from vtgrad.numpy.ufuncs import log as log
from vtgrad.numpy.ufuncs import log1p as log1p
from vtgrad.numpy.ufuncs import log2 as log2
from vtgrad.numpy.ufuncs import log10 as log10
from vtgrad.numpy.ufuncs import logaddexp as logaddexp
from vtgrad.numpy.ufuncs import logaddexp2 as logaddexp2
from vtgrad.numpy.ufuncs import logical_and as logical_and
from vtgrad.numpy.ufuncs import logical_not as logical_not
from vtgrad.numpy.ufuncs import logical_or as logical_or
from vtgrad.numpy.ufuncs import logical_xor as logical_xor
from vtgrad.numpy.ufuncs import matmul as matmul
from vtgrad.numpy.ufuncs import matvec as matvec
from vtgrad.numpy.ufuncs import maximum as maximum
from vtgrad.numpy.ufuncs import minimum as minimum
from vtgrad.numpy.ufuncs import mod as mod
from vtgrad.numpy.ufuncs import modf as modf
from vtgrad.numpy.ufuncs import multiply as multiply
from vtgrad.numpy.ufuncs import negative as negative
from vtgrad.numpy.ufuncs import nextafter as nextafter
from vtgrad.numpy.ufuncs import not_equal as not_equal
from vtgrad.numpy.ufuncs import positive as positive
from vtgrad.numpy.ufuncs import pow as pow
from vtgrad.numpy.ufuncs import power as power
from vtgrad.numpy.ufuncs import rad2deg as rad2deg
from vtgrad.numpy.ufuncs import radians as radians
from vtgrad.numpy.ufuncs import reciprocal as reciprocal
from vtgrad.numpy.ufuncs import remainder as remainder
from vtgrad.numpy.ufuncs import right_shift as right_shift
from vtgrad.numpy.ufuncs import rint as rint
from vtgrad.numpy.ufuncs import sign as sign
from vtgrad.numpy.ufuncs import signbit as signbit
from vtgrad.numpy.ufuncs import sin as sin
from vtgrad.numpy.ufuncs import sinh as sinh
from vtgrad.numpy.ufuncs import spacing as spacing
from vtgrad.numpy.ufuncs import sqrt as sqrt
from vtgrad.numpy.ufuncs import square as square
from vtgrad.numpy.ufuncs import subtract as subtract
from vtgrad.numpy.ufuncs import tan as tan
from vtgrad.numpy.ufuncs import tanh as tanh
from vtgrad.numpy.ufuncs import true_divide as true_divide
from vtgrad.numpy.ufuncs import trunc as trunc
from vtgrad.numpy.ufuncs import vecdot as vecdot
from vtgrad.numpy.ufuncs import vecmat as vecmat

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "all",
    "amax",
    "amin",
    "any",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "array",
    "asanyarray",
    "asarray",
    "ascontiguousarray",
    "asfortranarray",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "average",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "cdouble",
    "ceil",
    "choose",
    "clip",
    "complex128",
    "complex64",
    "complexfloating",
    "compress",
    "conj",
    "conjugate",
    "convolve",
    "copy",
    "copysign",
    "corrcoef",
    "correlate",
    "cos",
    "cosh",
    "cov",
    "csingle",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "deg2rad",
    "degrees",
    "diagonal",
    "diff",
    "divide",
    "divmod",
    "dot",
    "double",
    "ediff1d",
    "empty",
    "empty_like",
    "equal",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "float16",
    "float32",
    "float64",
    "float_power",
    "floating",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "full",
    "full_like",
    "gcd",
    "generic",
    "gradient",
    "greater",
    "greater_equal",
    "half",
    "heaviside",
    "hypot",
    "inexact",
    "int16",
    "int32",
    "int64",
    "int8",
    "int_",
    "integer",
    "interp",
    "intp",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "lcm",
    "ldexp",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "matvec",
    "max",
    "maximum",
    "mean",
    "median",
    "min",
    "minimum",
    "mod",
    "modf",
    "multiply",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanpercentile",
    "nanprod",
    "nanquantile",
    "nanstd",
    "nansum",
    "nanvar",
    "ndarray",
    "negative",
    "nextafter",
    "nonzero",
    "not_equal",
    "number",
    "ones",
    "ones_like",
    "partition",
    "percentile",
    "positive",
    "pow",
    "power",
    "prod",
    "ptp",
    "put",
    "quantile",
    "rad2deg",
    "radians",
    "ravel",
    "reciprocal",
    "remainder",
    "repeat",
    "reshape",
    "right_shift",
    "rint",
    "round",
    "scalar",
    "searchsorted",
    "sign",
    "signbit",
    "signedinteger",
    "sin",
    "single",
    "sinh",
    "sort",
    "spacing",
    "sqrt",
    "square",
    "squeeze",
    "std",
    "subtract",
    "sum",
    "swapaxes",
    "take",
    "tan",
    "tanh",
    "trace",
    "transpose",
    "trapezoid",
    "true_divide",
    "trunc",
    "uint8",
    "unsignedinteger",
    "var",
    "vecdot",
    "vecmat",
    "zeros",
    "zeros_like",
]
