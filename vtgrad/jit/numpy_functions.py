"""Functions of NumPy about which a recording must know more than what they return."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

__all__ = ["METADATA", "OUT_POSITIONS", "REFUSED", "WRITING"]

# They read shapes, dtypes and addresses, never values.
METADATA: Final[frozenset[Callable[..., object]]] = frozenset(
    {
        np.array_repr,
        np.array_str,
        np.array2string,
        np.can_cast,
        np.common_type,
        np.iscomplexobj,
        np.isrealobj,
        np.may_share_memory,
        np.min_scalar_type,
        np.ndim,
        np.result_type,
        np.shape,
        np.shares_memory,
        np.size,
    }
)

# They write to their first argument.
WRITING: Final[frozenset[Callable[..., object]]] = frozenset(
    {np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask}
)

# They hand memory or values to what no recording sees.
REFUSED: Final[frozenset[Callable[..., object]]] = frozenset(
    {
        np.apply_along_axis,
        np.apply_over_axes,
        np.frombuffer,
        np.fromiter,
        np.load,
        np.piecewise,
        np.save,
        np.savetxt,
        np.savez,
        np.savez_compressed,
    }
)

_OUT_POSITIONS: Final = """
    1: fix isneginf isposinf
    2: all amax amin any argmax argmin around choose concat concatenate dot max median min
    2: nanargmax nanargmin nanmax nanmedian nanmin outer ptp round stack
    3: clip compress cumprod cumsum mean nancumprod nancumsum nanmean nanpercentile nanprod
    3: nanquantile nanstd nansum nanvar percentile prod quantile std sum take var
    5: trace
"""
_IN_FFT: Final = """
    fft fft2 fftn hfft ifft ifft2 ifftn ihfft irfft irfft2 irfftn rfft rfft2 rfftn
""".split()


def _out_positions() -> dict[Callable[..., object], int]:
    found: dict[Callable[..., object], int] = {getattr(np.fft, name): 4 for name in _IN_FFT}
    for line in _OUT_POSITIONS.strip().splitlines():
        position, _, names = line.partition(":")
        for name in names.split():
            for owner in (np, np.ndarray):
                function = getattr(owner, name, None)
                if function is not None:
                    found[function] = int(position)
    return found


# Where `out` stands among the positional arguments, of functions and of methods.
OUT_POSITIONS: Final[Mapping[Callable[..., object], int]] = _out_positions()
