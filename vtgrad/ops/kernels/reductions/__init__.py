"""Reductions: one value for many."""

from vtgrad.ops.kernels.reductions.counts import *
from vtgrad.ops.kernels.reductions.exponential_sums import *
from vtgrad.ops.kernels.reductions.extremes import *
from vtgrad.ops.kernels.reductions.gradients import *
from vtgrad.ops.kernels.reductions.norms import *
from vtgrad.ops.kernels.reductions.order_statistics import *
from vtgrad.ops.kernels.reductions.products import *
from vtgrad.ops.kernels.reductions.recurrence import *
from vtgrad.ops.kernels.reductions.reduce import *
from vtgrad.ops.kernels.reductions.statistics import *
