"""Functions and methods that are imported when a program first names them have types like others."""

from typing import reveal_type

import vtgrad as vt

x = vt.zeros(2, 3)

reveal_type(vt.quantile(x, 0.5))  # R: vtgrad.Tensor
reveal_type(x.quantile(0.5, dim=1))  # R: vtgrad.Tensor
reveal_type(vt.searchsorted(x, 0.5))  # R: vtgrad.Tensor
reveal_type(x.kthvalue(1).indices)  # R: vtgrad.Tensor
reveal_type(vt.unique(x))  # R: vtgrad.Tensor
reveal_type(vt.unique(x, return_counts=True))  # R: tuple[vtgrad.Tensor, ...]
reveal_type(x.unique_consecutive(return_inverse=True))  # R: tuple[vtgrad.Tensor, ...]
reveal_type(vt.histogram(x, 3).bin_edges)  # R: vtgrad.Tensor
reveal_type(vt.histogramdd(x, 3).bin_edges)  # R: tuple[vtgrad.Tensor, ...]
reveal_type(vt.gradient(x))  # R: tuple[vtgrad.Tensor, ...]
reveal_type(vt.isin(2, x))  # R: vtgrad.Tensor
