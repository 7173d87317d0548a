"""Linear filters and convolutions of signals, with the names and the meanings of ``scipy.signal``.

Each filter is one node of the graph, however long the signal is, and its gradient is a filter that
runs backwards. SciPy computes the filters, and is imported by the first call that needs it:
``pip install ".[scipy]"``. Convolutions by Fourier transforms do without it.
"""

from vtgrad.signal.convolutions import convolve as convolve
from vtgrad.signal.convolutions import correlate as correlate
from vtgrad.signal.convolutions import fftconvolve as fftconvolve
from vtgrad.signal.lfilter import lfilter as lfilter
from vtgrad.signal.lfilter import sosfilt as sosfilt

__all__ = ["convolve", "correlate", "fftconvolve", "lfilter", "sosfilt"]
