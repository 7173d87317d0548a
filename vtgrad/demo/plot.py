"""The fitted model as a PNG, when matplotlib is installed."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Final

import numpy as np

import vtgrad as vt
from vtgrad.demo.data import NileSeries
from vtgrad.demo.local_level import FloatArray, kalman_filter

__all__ = ["matplotlib_is_there", "write_plot"]

_QUANTILE_90: Final = 1.6449
"""A standard normal variable is within +- this with probability 0.9."""


def matplotlib_is_there() -> bool:
    """Whether a plot can be written."""
    try:
        importlib.import_module("matplotlib")
    except ImportError:
        return False
    return True


def write_plot(path: Path, series: NileSeries, log_variances: FloatArray) -> None:
    """Draw flows, filtered level with its 90 % interval, and standardised innovations.

    Parameters
    ----------
    path : Path
        The PNG to write; a missing folder is made.
    series : NileSeries
        The data.
    log_variances : ndarray
        Logarithms of the fitted observation and level variance.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    OSError
        If the file cannot be written.
    """
    # A separate figure without pyplot: no display is searched, no global state is changed.
    figure = importlib.import_module("matplotlib.figure").Figure(
        figsize=(9.0, 6.5), layout="constrained"
    )
    with vt.no_grad():
        buffers = kalman_filter(vt.tensor(log_variances, dtype=vt.float64), series.flows)
        states = buffers.states.numpy()
        margin = _QUANTILE_90 * np.sqrt(buffers.variances.numpy())
        standardised = (buffers.innovations / buffers.innovation_variances.sqrt()).numpy()

    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2.0, 1.0))
    upper.plot(series.years, series.flows, ".", color="0.35", label="annual flow")
    upper.plot(series.years, states, color="tab:blue", label="filtered level")
    upper.fill_between(
        series.years,
        states - margin,
        states + margin,
        color="tab:blue",
        alpha=0.2,
        linewidth=0.0,
        label="90 % interval of the level",
    )
    upper.set_ylabel("10$^8$ m$^3$ per year")
    upper.set_title("The Nile at Aswan: local level model fitted with vtgrad")
    upper.legend(frameon=False, ncols=3)

    lower.axhspan(-_QUANTILE_90, _QUANTILE_90, color="0.9")
    lower.axhline(0.0, color="0.5", linewidth=0.8)
    # The first year has no innovation: its cell is NaN and nothing is drawn.
    lower.vlines(series.years, 0.0, standardised, color="tab:blue")
    lower.set_ylabel("innovation /\nstandard deviation")
    lower.set_xlabel("year")

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="png", dpi=120)
