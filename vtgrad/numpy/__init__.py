"""NumPy's namespace on tensors: a NumPy program runs by changing its import line."""

# The names of the namespace hide what Python calls so, here only.

from typing import TYPE_CHECKING

from numpy import False_ as False_
from numpy import ScalarType as ScalarType
from numpy import True_ as True_
from numpy import __array_api_version__ as __array_api_version__
from numpy import __array_namespace_info__ as __array_namespace_info__
from numpy import __version__ as __version__
from numpy import base_repr as base_repr
from numpy import binary_repr as binary_repr
from numpy import bool as bool
from numpy import bool_ as bool_
from numpy import broadcast_shapes as broadcast_shapes
from numpy import busday_count as busday_count
from numpy import busday_offset as busday_offset
from numpy import busdaycalendar as busdaycalendar
from numpy import bytes_ as bytes_
from numpy import character as character
from numpy import clongdouble as clongdouble
from numpy import datetime64 as datetime64
from numpy import datetime_as_string as datetime_as_string
from numpy import datetime_data as datetime_data
from numpy import dtype as dtype
from numpy import dtypes as dtypes
from numpy import e as e
from numpy import errstate as errstate
from numpy import euler_gamma as euler_gamma
from numpy import finfo as finfo
from numpy import flexible as flexible
from numpy import get_include as get_include
from numpy import get_printoptions as get_printoptions
from numpy import getbufsize as getbufsize
from numpy import geterr as geterr
from numpy import geterrcall as geterrcall
from numpy import iinfo as iinfo
from numpy import index_exp as index_exp
from numpy import inf as inf
from numpy import info as info
from numpy import is_busday as is_busday
from numpy import isdtype as isdtype
from numpy import isnat as isnat
from numpy import issubdtype as issubdtype
from numpy import iterable as iterable
from numpy import little_endian as little_endian
from numpy import long as long
from numpy import longdouble as longdouble
from numpy import longlong as longlong
from numpy import mintypecode as mintypecode
from numpy import nan as nan
from numpy import ndindex as ndindex
from numpy import newaxis as newaxis
from numpy import object_ as object_
from numpy import pi as pi
from numpy import printoptions as printoptions
from numpy import promote_types as promote_types
from numpy import s_ as s_
from numpy import sctypeDict as sctypeDict
from numpy import set_printoptions as set_printoptions
from numpy import setbufsize as setbufsize
from numpy import seterr as seterr
from numpy import seterrcall as seterrcall
from numpy import show_config as show_config
from numpy import show_runtime as show_runtime
from numpy import str_ as str_
from numpy import timedelta64 as timedelta64
from numpy import typecodes as typecodes
from numpy import typename as typename
from numpy import uint as uint
from numpy import uint16 as uint16
from numpy import uint32 as uint32
from numpy import uint64 as uint64
from numpy import uintc as uintc
from numpy import uintp as uintp
from numpy import ulong as ulong
from numpy import ulonglong as ulonglong
from numpy import ushort as ushort
from numpy import void as void

from vtgrad.numpy import exceptions as exceptions
from vtgrad.numpy import fft as fft
from vtgrad.numpy import lib as lib
from vtgrad.numpy import linalg as linalg
from vtgrad.numpy import random as random
from vtgrad.numpy import typing as typing
from vtgrad.numpy.adopt import adopt as adopt
from vtgrad.numpy.along_axis import argwhere as argwhere
from vtgrad.numpy.along_axis import count_nonzero as count_nonzero
from vtgrad.numpy.along_axis import delete as delete
from vtgrad.numpy.along_axis import fill_diagonal as fill_diagonal
from vtgrad.numpy.along_axis import flatnonzero as flatnonzero
from vtgrad.numpy.along_axis import insert as insert
from vtgrad.numpy.along_axis import put_along_axis as put_along_axis
from vtgrad.numpy.along_axis import take_along_axis as take_along_axis
from vtgrad.numpy.applying import apply_along_axis as apply_along_axis
from vtgrad.numpy.applying import apply_over_axes as apply_over_axes
from vtgrad.numpy.array_text import array2string as array2string
from vtgrad.numpy.array_text import array_repr as array_repr
from vtgrad.numpy.array_text import array_str as array_str
from vtgrad.numpy.array_text import format_float_positional as format_float_positional
from vtgrad.numpy.array_text import format_float_scientific as format_float_scientific
from vtgrad.numpy.axes import atleast_1d as atleast_1d
from vtgrad.numpy.axes import atleast_2d as atleast_2d
from vtgrad.numpy.axes import atleast_3d as atleast_3d
from vtgrad.numpy.axes import expand_dims as expand_dims
from vtgrad.numpy.axes import matrix_transpose as matrix_transpose
from vtgrad.numpy.axes import moveaxis as moveaxis
from vtgrad.numpy.axes import permute_dims as permute_dims
from vtgrad.numpy.axes import rollaxis as rollaxis
from vtgrad.numpy.broadcasting import broadcast as broadcast
from vtgrad.numpy.broadcasting import broadcast_arrays as broadcast_arrays
from vtgrad.numpy.broadcasting import broadcast_to as broadcast_to
from vtgrad.numpy.buffers import asarray_chkfinite as asarray_chkfinite
from vtgrad.numpy.buffers import from_dlpack as from_dlpack
from vtgrad.numpy.buffers import frombuffer as frombuffer
from vtgrad.numpy.buffers import fromiter as fromiter
from vtgrad.numpy.buffers import fromstring as fromstring
from vtgrad.numpy.buffers import require as require
from vtgrad.numpy.calculus import diff as diff
from vtgrad.numpy.calculus import ediff1d as ediff1d
from vtgrad.numpy.calculus import gradient as gradient
from vtgrad.numpy.calculus import trapezoid as trapezoid
from vtgrad.numpy.choosing import copyto as copyto
from vtgrad.numpy.choosing import extract as extract
from vtgrad.numpy.choosing import piecewise as piecewise
from vtgrad.numpy.choosing import place as place
from vtgrad.numpy.choosing import putmask as putmask
from vtgrad.numpy.choosing import select as select
from vtgrad.numpy.choosing import where as where
from vtgrad.numpy.comparing import allclose as allclose
from vtgrad.numpy.comparing import array_equal as array_equal
from vtgrad.numpy.comparing import array_equiv as array_equiv
from vtgrad.numpy.comparing import isclose as isclose
from vtgrad.numpy.comparing import iscomplex as iscomplex
from vtgrad.numpy.comparing import iscomplexobj as iscomplexobj
from vtgrad.numpy.comparing import isneginf as isneginf
from vtgrad.numpy.comparing import isposinf as isposinf
from vtgrad.numpy.comparing import isreal as isreal
from vtgrad.numpy.comparing import isrealobj as isrealobj
from vtgrad.numpy.concatenators import c_ as c_
from vtgrad.numpy.concatenators import r_ as r_
from vtgrad.numpy.convolution import convolve as convolve
from vtgrad.numpy.convolution import correlate as correlate
from vtgrad.numpy.counting import bincount as bincount
from vtgrad.numpy.counting import digitize as digitize
from vtgrad.numpy.counting import lexsort as lexsort
from vtgrad.numpy.counting import packbits as packbits
from vtgrad.numpy.counting import sort_complex as sort_complex
from vtgrad.numpy.counting import unpackbits as unpackbits
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
from vtgrad.numpy.einsums import einsum as einsum
from vtgrad.numpy.einsums import einsum_path as einsum_path
from vtgrad.numpy.elements import angle as angle
from vtgrad.numpy.elements import around as around
from vtgrad.numpy.elements import fix as fix
from vtgrad.numpy.elements import i0 as i0
from vtgrad.numpy.elements import imag as imag
from vtgrad.numpy.elements import nan_to_num as nan_to_num
from vtgrad.numpy.elements import real as real
from vtgrad.numpy.elements import real_if_close as real_if_close
from vtgrad.numpy.elements import sinc as sinc
from vtgrad.numpy.elements import unwrap as unwrap
from vtgrad.numpy.explain import explain as explain
from vtgrad.numpy.files import fromfile as fromfile
from vtgrad.numpy.files import fromregex as fromregex
from vtgrad.numpy.files import genfromtxt as genfromtxt
from vtgrad.numpy.files import load as load
from vtgrad.numpy.files import loadtxt as loadtxt
from vtgrad.numpy.files import save as save
from vtgrad.numpy.files import savetxt as savetxt
from vtgrad.numpy.files import savez as savez
from vtgrad.numpy.files import savez_compressed as savez_compressed
from vtgrad.numpy.fitting import polyfit as polyfit
from vtgrad.numpy.flat_elements import FlatElements as flatiter
from vtgrad.numpy.grids import fromfunction as fromfunction
from vtgrad.numpy.grids import indices as indices
from vtgrad.numpy.grids import ix_ as ix_
from vtgrad.numpy.grids import meshgrid as meshgrid
from vtgrad.numpy.grids import mgrid as mgrid
from vtgrad.numpy.grids import ogrid as ogrid
from vtgrad.numpy.histograms import histogram as histogram
from vtgrad.numpy.histograms import histogram2d as histogram2d
from vtgrad.numpy.histograms import histogram_bin_edges as histogram_bin_edges
from vtgrad.numpy.histograms import histogramdd as histogramdd
from vtgrad.numpy.index_arrays import diag_indices as diag_indices
from vtgrad.numpy.index_arrays import diag_indices_from as diag_indices_from
from vtgrad.numpy.index_arrays import mask_indices as mask_indices
from vtgrad.numpy.index_arrays import ndenumerate as ndenumerate
from vtgrad.numpy.index_arrays import nditer as nditer
from vtgrad.numpy.index_arrays import ravel_multi_index as ravel_multi_index
from vtgrad.numpy.index_arrays import tril_indices as tril_indices
from vtgrad.numpy.index_arrays import tril_indices_from as tril_indices_from
from vtgrad.numpy.index_arrays import triu_indices as triu_indices
from vtgrad.numpy.index_arrays import triu_indices_from as triu_indices_from
from vtgrad.numpy.index_arrays import unravel_index as unravel_index
from vtgrad.numpy.inspection import astype as astype
from vtgrad.numpy.inspection import can_cast as can_cast
from vtgrad.numpy.inspection import common_type as common_type
from vtgrad.numpy.inspection import isfortran as isfortran
from vtgrad.numpy.inspection import isscalar as isscalar
from vtgrad.numpy.inspection import may_share_memory as may_share_memory
from vtgrad.numpy.inspection import min_scalar_type as min_scalar_type
from vtgrad.numpy.inspection import ndim as ndim
from vtgrad.numpy.inspection import result_type as result_type
from vtgrad.numpy.inspection import shape as shape
from vtgrad.numpy.inspection import shares_memory as shares_memory
from vtgrad.numpy.inspection import size as size
from vtgrad.numpy.interpolation import interp as interp
from vtgrad.numpy.joining import append as append
from vtgrad.numpy.joining import block as block
from vtgrad.numpy.joining import column_stack as column_stack
from vtgrad.numpy.joining import concat as concat
from vtgrad.numpy.joining import concatenate as concatenate
from vtgrad.numpy.joining import dstack as dstack
from vtgrad.numpy.joining import hstack as hstack
from vtgrad.numpy.joining import row_stack as row_stack
from vtgrad.numpy.joining import stack as stack
from vtgrad.numpy.joining import tile as tile
from vtgrad.numpy.joining import vstack as vstack
from vtgrad.numpy.left_out import absent as _absent
from vtgrad.numpy.lib import scimath as emath
from vtgrad.numpy.matrices import diag as diag
from vtgrad.numpy.matrices import diagflat as diagflat
from vtgrad.numpy.matrices import eye as eye
from vtgrad.numpy.matrices import identity as identity
from vtgrad.numpy.matrices import tri as tri
from vtgrad.numpy.matrices import tril as tril
from vtgrad.numpy.matrices import triu as triu
from vtgrad.numpy.matrices import vander as vander
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
from vtgrad.numpy.padding import pad as pad
from vtgrad.numpy.picking import choose as choose
from vtgrad.numpy.picking import clip as clip
from vtgrad.numpy.picking import compress as compress
from vtgrad.numpy.picking import dot as dot
from vtgrad.numpy.picking import nonzero as nonzero
from vtgrad.numpy.picking import put as put
from vtgrad.numpy.picking import round as round
from vtgrad.numpy.picking import take as take
from vtgrad.numpy.poly1d import poly1d as poly1d
from vtgrad.numpy.polynomials import poly as poly
from vtgrad.numpy.polynomials import polyadd as polyadd
from vtgrad.numpy.polynomials import polyder as polyder
from vtgrad.numpy.polynomials import polydiv as polydiv
from vtgrad.numpy.polynomials import polyint as polyint
from vtgrad.numpy.polynomials import polymul as polymul
from vtgrad.numpy.polynomials import polysub as polysub
from vtgrad.numpy.polynomials import polyval as polyval
from vtgrad.numpy.polynomials import roots as roots
from vtgrad.numpy.products import cross as cross
from vtgrad.numpy.products import inner as inner
from vtgrad.numpy.products import kron as kron
from vtgrad.numpy.products import outer as outer
from vtgrad.numpy.products import tensordot as tensordot
from vtgrad.numpy.products import vdot as vdot
from vtgrad.numpy.quantiles import median as median
from vtgrad.numpy.quantiles import nanmedian as nanmedian
from vtgrad.numpy.quantiles import nanpercentile as nanpercentile
from vtgrad.numpy.quantiles import nanquantile as nanquantile
from vtgrad.numpy.quantiles import percentile as percentile
from vtgrad.numpy.quantiles import quantile as quantile
from vtgrad.numpy.ranges import arange as arange
from vtgrad.numpy.ranges import geomspace as geomspace
from vtgrad.numpy.ranges import linspace as linspace
from vtgrad.numpy.ranges import logspace as logspace
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
from vtgrad.numpy.scalar_types import byte as byte
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
from vtgrad.numpy.scalar_types import intc as intc
from vtgrad.numpy.scalar_types import integer as integer
from vtgrad.numpy.scalar_types import intp as intp
from vtgrad.numpy.scalar_types import number as number
from vtgrad.numpy.scalar_types import short as short
from vtgrad.numpy.scalar_types import signedinteger as signedinteger
from vtgrad.numpy.scalar_types import single as single
from vtgrad.numpy.scalar_types import ubyte as ubyte
from vtgrad.numpy.scalar_types import uint8 as uint8
from vtgrad.numpy.scalar_types import unsignedinteger as unsignedinteger
from vtgrad.numpy.sets import intersect1d as intersect1d
from vtgrad.numpy.sets import isin as isin
from vtgrad.numpy.sets import setdiff1d as setdiff1d
from vtgrad.numpy.sets import setxor1d as setxor1d
from vtgrad.numpy.sets import union1d as union1d
from vtgrad.numpy.sets import unique as unique
from vtgrad.numpy.sets import unique_all as unique_all
from vtgrad.numpy.sets import unique_counts as unique_counts
from vtgrad.numpy.sets import unique_inverse as unique_inverse
from vtgrad.numpy.sets import unique_values as unique_values
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
from vtgrad.numpy.splitting import array_split as array_split
from vtgrad.numpy.splitting import dsplit as dsplit
from vtgrad.numpy.splitting import hsplit as hsplit
from vtgrad.numpy.splitting import split as split
from vtgrad.numpy.splitting import unstack as unstack
from vtgrad.numpy.splitting import vsplit as vsplit
from vtgrad.numpy.statistics import average as average
from vtgrad.numpy.statistics import corrcoef as corrcoef
from vtgrad.numpy.statistics import cov as cov
from vtgrad.numpy.turning import flip as flip
from vtgrad.numpy.turning import fliplr as fliplr
from vtgrad.numpy.turning import flipud as flipud
from vtgrad.numpy.turning import resize as resize
from vtgrad.numpy.turning import roll as roll
from vtgrad.numpy.turning import rot90 as rot90
from vtgrad.numpy.turning import trim_zeros as trim_zeros
from vtgrad.numpy.ufunc import Ufunc as ufunc
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
from vtgrad.numpy.vectorize import frompyfunc as frompyfunc
from vtgrad.numpy.vectorize import vectorize as vectorize
from vtgrad.numpy.windows import bartlett as bartlett
from vtgrad.numpy.windows import blackman as blackman
from vtgrad.numpy.windows import hamming as hamming
from vtgrad.numpy.windows import hanning as hanning
from vtgrad.numpy.windows import kaiser as kaiser

if TYPE_CHECKING:
    # Loaded at first use: it is large, and of no use to most programs.
    from vtgrad.numpy import testing as testing

# Said in this way, type checkers do not take every name for one of the module.
globals()["__getattr__"] = _absent

__all__ = [
    "False_",
    "ScalarType",
    "True_",
    "__array_api_version__",
    "__array_namespace_info__",
    "__version__",
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "adopt",
    "all",
    "allclose",
    "amax",
    "amin",
    "angle",
    "any",
    "append",
    "apply_along_axis",
    "apply_over_axes",
    "arange",
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
    "argwhere",
    "around",
    "array",
    "array2string",
    "array_equal",
    "array_equiv",
    "array_repr",
    "array_split",
    "array_str",
    "asanyarray",
    "asarray",
    "asarray_chkfinite",
    "ascontiguousarray",
    "asfortranarray",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "average",
    "bartlett",
    "base_repr",
    "binary_repr",
    "bincount",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "blackman",
    "block",
    "bool",
    "bool_",
    "broadcast",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "busday_count",
    "busday_offset",
    "busdaycalendar",
    "byte",
    "bytes_",
    "c_",
    "can_cast",
    "cbrt",
    "cdouble",
    "ceil",
    "character",
    "choose",
    "clip",
    "clongdouble",
    "column_stack",
    "common_type",
    "complex128",
    "complex64",
    "complexfloating",
    "compress",
    "concat",
    "concatenate",
    "conj",
    "conjugate",
    "convolve",
    "copy",
    "copysign",
    "copyto",
    "corrcoef",
    "correlate",
    "cos",
    "cosh",
    "count_nonzero",
    "cov",
    "cross",
    "csingle",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "datetime64",
    "datetime_as_string",
    "datetime_data",
    "deg2rad",
    "degrees",
    "delete",
    "diag",
    "diag_indices",
    "diag_indices_from",
    "diagflat",
    "diagonal",
    "diff",
    "digitize",
    "divide",
    "divmod",
    "dot",
    "double",
    "dsplit",
    "dstack",
    "dtype",
    "dtypes",
    "e",
    "ediff1d",
    "einsum",
    "einsum_path",
    "emath",
    "empty",
    "empty_like",
    "equal",
    "errstate",
    "euler_gamma",
    "exceptions",
    "exp",
    "exp2",
    "expand_dims",
    "explain",
    "expm1",
    "extract",
    "eye",
    "fabs",
    "fft",
    "fill_diagonal",
    "finfo",
    "fix",
    "flatiter",
    "flatnonzero",
    "flexible",
    "flip",
    "fliplr",
    "flipud",
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
    "format_float_positional",
    "format_float_scientific",
    "frexp",
    "from_dlpack",
    "frombuffer",
    "fromfile",
    "fromfunction",
    "fromiter",
    "frompyfunc",
    "fromregex",
    "fromstring",
    "full",
    "full_like",
    "gcd",
    "generic",
    "genfromtxt",
    "geomspace",
    "get_include",
    "get_printoptions",
    "getbufsize",
    "geterr",
    "geterrcall",
    "gradient",
    "greater",
    "greater_equal",
    "half",
    "hamming",
    "hanning",
    "heaviside",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "hsplit",
    "hstack",
    "hypot",
    "i0",
    "identity",
    "iinfo",
    "imag",
    "index_exp",
    "indices",
    "inexact",
    "inf",
    "info",
    "inner",
    "insert",
    "int16",
    "int32",
    "int64",
    "int8",
    "int_",
    "intc",
    "integer",
    "interp",
    "intersect1d",
    "intp",
    "invert",
    "is_busday",
    "isclose",
    "iscomplex",
    "iscomplexobj",
    "isdtype",
    "isfinite",
    "isfortran",
    "isin",
    "isinf",
    "isnan",
    "isnat",
    "isneginf",
    "isposinf",
    "isreal",
    "isrealobj",
    "isscalar",
    "issubdtype",
    "iterable",
    "ix_",
    "kaiser",
    "kron",
    "lcm",
    "ldexp",
    "left_shift",
    "less",
    "less_equal",
    "lexsort",
    "lib",
    "linalg",
    "linspace",
    "little_endian",
    "load",
    "loadtxt",
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
    "logspace",
    "long",
    "longdouble",
    "longlong",
    "mask_indices",
    "matmul",
    "matrix_transpose",
    "matvec",
    "max",
    "maximum",
    "may_share_memory",
    "mean",
    "median",
    "meshgrid",
    "mgrid",
    "min",
    "min_scalar_type",
    "minimum",
    "mintypecode",
    "mod",
    "modf",
    "moveaxis",
    "multiply",
    "nan",
    "nan_to_num",
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
    "ndenumerate",
    "ndim",
    "ndindex",
    "nditer",
    "negative",
    "newaxis",
    "nextafter",
    "nonzero",
    "not_equal",
    "number",
    "object_",
    "ogrid",
    "ones",
    "ones_like",
    "outer",
    "packbits",
    "pad",
    "partition",
    "percentile",
    "permute_dims",
    "pi",
    "piecewise",
    "place",
    "poly",
    "poly1d",
    "polyadd",
    "polyder",
    "polydiv",
    "polyfit",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "positive",
    "pow",
    "power",
    "printoptions",
    "prod",
    "promote_types",
    "ptp",
    "put",
    "put_along_axis",
    "putmask",
    "quantile",
    "r_",
    "rad2deg",
    "radians",
    "random",
    "ravel",
    "ravel_multi_index",
    "real",
    "real_if_close",
    "reciprocal",
    "remainder",
    "repeat",
    "require",
    "reshape",
    "resize",
    "result_type",
    "right_shift",
    "rint",
    "roll",
    "rollaxis",
    "roots",
    "rot90",
    "round",
    "row_stack",
    "s_",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
    "scalar",
    "sctypeDict",
    "searchsorted",
    "select",
    "set_printoptions",
    "setbufsize",
    "setdiff1d",
    "seterr",
    "seterrcall",
    "setxor1d",
    "shape",
    "shares_memory",
    "short",
    "show_config",
    "show_runtime",
    "sign",
    "signbit",
    "signedinteger",
    "sin",
    "sinc",
    "single",
    "sinh",
    "size",
    "sort",
    "sort_complex",
    "spacing",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "str_",
    "subtract",
    "sum",
    "swapaxes",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensordot",
    "testing",
    "tile",
    "timedelta64",
    "trace",
    "transpose",
    "trapezoid",
    "tri",
    "tril",
    "tril_indices",
    "tril_indices_from",
    "trim_zeros",
    "triu",
    "triu_indices",
    "triu_indices_from",
    "true_divide",
    "trunc",
    "typecodes",
    "typename",
    "typing",
    "ubyte",
    "ufunc",
    "uint",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "uintc",
    "uintp",
    "ulong",
    "ulonglong",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unpackbits",
    "unravel_index",
    "unsignedinteger",
    "unstack",
    "unwrap",
    "ushort",
    "vander",
    "var",
    "vdot",
    "vecdot",
    "vecmat",
    "vectorize",
    "void",
    "vsplit",
    "vstack",
    "where",
    "zeros",
    "zeros_like",
]

if matvec.ufunc is matmul.ufunc:
    # NumPy 2.1, which does not have them.
    for _name in ("matvec", "vecmat"):
        del globals()[_name]
        __all__.remove(_name)
