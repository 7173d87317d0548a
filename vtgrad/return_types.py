"""The classes of several results, one for each operator, such as that of `vtgrad.sort`."""

from __future__ import annotations

from vtgrad.later.histograms import HistogramddResult as HistogramddResult
from vtgrad.later.histograms import HistogramResult as HistogramResult
from vtgrad.ops.generated.result_classes import *  # generated, with an `__all__`
