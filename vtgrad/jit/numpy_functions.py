"""Functions of NumPy about which a recording must know more than what they return."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from vtgrad.jit.steps import Operand, places_in

__all__ = ["METADATA", "OUT_POSITIONS", "REFUSED", "WRITING", "is_refused", "values_give_shape"]

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

# They hand memory or values to what no recording sees, or values decide which view they return.
REFUSED: Final[frozenset[Callable[..., object]]] = frozenset(
    {
        np.apply_along_axis,
        np.apply_over_axes,
        np.frombuffer,
        np.fromiter,
        np.load,
        np.piecewise,
        np.real_if_close,
        np.save,
        np.savetxt,
        np.savez,
        np.savez_compressed,
        np.trim_zeros,
    }
)


def is_refused(
    function: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> bool:
    """Whether a call cannot be recorded, as one that also writes to what it reads."""
    if function in REFUSED or kwargs.get("overwrite_input"):
        return True
    copy = args[1] if len(args) > 1 else kwargs.get("copy", True)
    return function is np.nan_to_num and not copy


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

# They return as many elements as the values of their arguments say.
_COUNTING: Final = frozenset(
    """
    arange argwhere bincount compress delete diag_indices empty extract eye flatnonzero full
    identity indices insert intersect1d ix_ linspace logspace geomspace mask_indices nonzero ones
    pad poly polyadd polydiv polyint polymul polysub repeat resize roots setdiff1d setxor1d tile
    tri tril_indices triu_indices union1d unique unique_all unique_counts
    unique_inverse unique_values vander zeros
    """.split()
)


def values_give_shape(function: Callable[..., object], inputs: tuple[Operand, ...]) -> bool:
    """Whether the values of arguments decide the shape of a result."""
    name = getattr(function, "__name__", "")
    if name == "getitem":
        return any(place.dtype.kind == "b" for x in inputs[1:] for place in places_in(x))
    return name in _COUNTING or (name == "where" and len(inputs) == 1)
