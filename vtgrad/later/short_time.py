"""Short-time Fourier transforms: spectra of the parts of a signal, and the signal from them."""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.errors import DTypeError, OptionValueError, ShapeError
from vtgrad.later.padding import pad
from vtgrad.later.refuse_names import refuse_names
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.values import innermost
from vtgrad.storage import making
from vtgrad.storage.argument_types import T
from vtgrad.storage.arrays import Array
from vtgrad.storage.integers import index_of
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.tensor_base import TensorBase, wrap_like

__all__ = ["istft", "stft"]

# The sum of squared windows over a value below which it cannot be divided out.
_SMALLEST: Final = 1e-11


@explained
def stft(
    input: T,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: TensorBase | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> T:
    """Return the Fourier transforms of overlapping parts of signals, each times a window.

    Part t begins at ``t * hop_length``, of the signal that `center` has made longer. `istft` goes
    back.

    Parameters
    ----------
    input : Tensor
        A signal of one dimension, or several, one in each row; real or complex.
    n_fft : int
        How many values a transform has.
    hop_length : int, optional
        The distance of two parts; by default ``n_fft // 4``.
    win_length : int, optional
        How many values a window has, at most `n_fft`, which is the default. Zeros on both sides
        bring it to `n_fft`.
    window : Tensor, optional
        The weights, as `hann_window` makes them; ones by default. It gets a gradient too.
    center : bool, default True
        Whether ``n_fft // 2`` values are put in front of each signal and behind it, so that part t
        has its middle at ``t * hop_length``.
    pad_mode : {"reflect", "constant", "replicate", "circular"}, default "reflect"
        Which values these are: the signal backwards, zeros, the outer values, or the other end.
    normalized : bool, default False
        Whether the transforms are divided by the root of `n_fft`.
    onesided : bool, optional
        Whether a transform has only the elements of frequencies that are not negative. By default
        so if the signal and the window are real.
    return_complex : bool, optional
        Whether the result is complex. It must be given for a real signal and window; False gives
        pairs of real numbers.
    align_to_window : bool, optional
        Without `center`, whether the parts begin where windows do, instead of the zeros in front
        of them.

    Returns
    -------
    Tensor
        Frequencies in rows, parts in columns; a dimension of signals in front if `input` has
        it, and one of two behind for pairs.

    Raises
    ------
    ShapeError
        If the signals or the window have another number of dimensions or elements.
    OptionValueError
        If a length is not possible, `return_complex` is missing, or the arguments exclude each
        other.
    DTypeError
        If the signals are integers or float16.
    NotSupportedError
        If there is no such `pad_mode`.

    Examples
    --------
    >>> signal = vt.tensor([1.0, 0.0, -1.0, 0.0]).repeat(4)
    >>> vt.stft(signal, 8, window=vt.ones(8), return_complex=True)[:, 2].real
    tensor([0., 0., 4., 0., 0.])
    """
    array = array_of(input, "input")
    refuse_names("stft", input, window)
    weights = None if window is None else array_of(window, "window")
    _check_dtype("stft", array)
    is_complex = array.dtype.kind == "c" or (weights is not None and weights.dtype.kind == "c")
    if return_complex is None:
        if not is_complex:
            raise OptionValueError("stft() of real signals needs return_complex: True, or False")
        return_complex = True
    if center and align_to_window is not None:
        raise OptionValueError("align_to_window is for center=False: centred parts are aligned")
    if onesided is None:
        onesided = not is_complex
    elif onesided and is_complex:
        raise OptionValueError("complex signals and windows have no onesided transform")
    if array.ndim not in (1, 2):
        raise ShapeError(f"stft() takes one or two dimensions, not {array.ndim}", shape=array.shape)
    size = index_of(n_fft, "n_fft")
    hop = size // 4 if hop_length is None else index_of(hop_length, "hop_length")
    length = size if win_length is None else index_of(win_length, "win_length")
    signals = pad(input, (size // 2, size // 2), pad_mode) if center else input
    if array.ndim == 1:
        signals = F.unsqueeze(signals, 0)
    if not 0 < size <= signals.shape[-1]:
        raise OptionValueError(
            f"n_fft must be between 1 and {signals.shape[-1]}, not {size}", n_fft=size
        )
    _check_lengths(size, hop, length, weights)
    if hop < 1:
        raise OptionValueError(f"hop_length must be positive, not {hop}", hop_length=hop)
    if align_to_window and length < size:
        before = (size - length) // 2
        signals = _with_zeros(signals, before, size - length - before)
    parts = F.unfold(signals, -1, size, hop)
    if window is not None:
        parts = F.mul(parts, _in_the_middle(window, size))
    elif length < size:
        parts = F.mul(parts, _in_the_middle(_ones(input, length), size))
    scale = "ortho" if normalized else "backward"
    if is_complex:
        found = F.fft_c2c(parts, (2,), scale, False)
    else:
        found = F.fft_r2c(parts, (2,), scale, onesided)
    # In place, so that the result is no view, of a tensor that nothing else has.
    found = F.transpose_(found, 1, 2)
    if array.ndim == 1:
        found = F.squeeze_dim_(found, 0)
    return found if return_complex else F.view_as_real(found)


@explained
def istft(
    input: T,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: TensorBase | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> T:
    """Return the signals of which `stft` has made transforms.

    Of transforms that fit no signal the result is the nearest one, by the sum of squares: the
    parts are added, each times the window, and divided by the sum of squared windows (Griffin and
    Lim, "Signal estimation from modified short-time Fourier transform", 1984).

    Parameters
    ----------
    input : Tensor
        Complex transforms as `stft` returns them: frequencies in rows, parts in columns, and a
        dimension of signals in front if there are several.
    n_fft, hop_length, win_length, window, center, normalized
        As they were given to `stft`.
    onesided : bool, optional
        Whether the rows are only those of frequencies that are not negative; by default so unless
        there are `n_fft` of them.
    length : int, optional
        How many values the signals have; what is missing at the end is zeros. By default what
        the parts cover, without what `center` has added.
    return_complex : bool, default False
        Whether the signals are complex.

    Returns
    -------
    Tensor
        One signal in one dimension, or several in rows.

    Raises
    ------
    DTypeError
        If `input` is not complex.
    ShapeError
        If the numbers of dimensions or elements do not fit each other.
    OptionValueError
        If a length is not possible, the arguments exclude each other, or the windows leave a
        value out.

    Examples
    --------
    >>> signal, window = vt.arange(8.0), vt.hann_window(4)
    >>> spectra = vt.stft(signal, 4, window=window, return_complex=True)
    >>> vt.allclose(vt.istft(spectra, 4, window=window), signal, atol=1e-5)
    True
    """
    array = array_of(input, "input")
    refuse_names("istft", input, window)
    if array.dtype.kind != "c":
        raise DTypeError(
            f"istft() takes complex transforms, not {array.dtype}; see view_as_complex",
            dtype=array.dtype,
        )
    weights = None if window is None else array_of(window, "window")
    if array.ndim not in (2, 3):
        raise ShapeError(
            f"istft() takes two or three dimensions, not {array.ndim}", shape=array.shape
        )
    if not array.size:
        raise ShapeError("istft() takes transforms that are not empty", shape=array.shape)
    size = index_of(n_fft, "n_fft")
    hop = size // 4 if hop_length is None else index_of(hop_length, "hop_length")
    extent = size if win_length is None else index_of(win_length, "win_length")
    rows, count = array.shape[-2:]
    if onesided is None:
        onesided = rows != size
    if return_complex and onesided:
        raise OptionValueError("a onesided transform is that of a real signal")
    if not return_complex and weights is not None and weights.dtype.kind == "c":
        raise OptionValueError("a complex window needs return_complex=True")
    expected = size // 2 + 1 if onesided else size
    if rows != expected:
        raise ShapeError(
            f"transforms of {size} values have {expected} rows here, not {rows}", shape=array.shape
        )
    _check_lengths(size, hop, extent, weights)
    if not 0 < hop <= extent:
        raise OptionValueError(
            f"hop_length must be between 1 and {extent}, not {hop}", hop_length=hop
        )
    transforms = F.transpose(F.unsqueeze(input, 0) if array.ndim == 2 else input, 1, 2)
    scale = "ortho" if normalized else "forward"
    if return_complex:
        parts = F.fft_c2c(transforms, (2,), scale, True)
    else:
        half = transforms if onesided else F.narrow(transforms, 2, 0, size // 2 + 1)
        parts = F.fft_c2r(half, (2,), scale, size)
    shape = _in_the_middle(_ones(parts, extent) if window is None else window, size)
    parts = F.mul(parts, shape)
    total = size + hop * (count - 1)
    first = size // 2 if center else 0
    if length is None:
        last = total - first
    else:
        last = first + index_of(length, "length")
    covered = min(last, total) - first
    if covered < 1:
        raise OptionValueError(f"a signal needs at least one value, not {last - first}")
    signals = F.unfold_backward(parts, (parts.shape[0], total), 1, size, hop)
    squares = F.expand(F.square(shape), (count, size))
    envelope = F.unfold_backward(squares, (total,), 0, size, hop)
    signals = F.narrow(signals, 1, first, covered)
    envelope = F.narrow(envelope, 0, first, covered)
    if np.any(np.abs(resolved(innermost(envelope)._impl.array)) < _SMALLEST):
        raise OptionValueError(
            "the windows leave out a value of the signal: their squares add up to zero there"
        )
    signals = F.div(signals, envelope)
    if array.ndim == 2:
        signals = F.squeeze_dim(signals, 0)
    return signals if last - first <= covered else _with_zeros(signals, 0, last - first - covered)


def _check_dtype(name: str, array: Array) -> None:
    if array.dtype.kind not in "fc" or array.dtype == np.float16:
        raise DTypeError(
            f"{name}() takes signals of float32, float64 or complex, not {array.dtype}",
            dtype=array.dtype,
        )


def _check_lengths(size: int, hop: int, length: int, window: Array | None) -> None:
    if not 0 < length <= size:
        raise OptionValueError(
            f"win_length must be between 1 and {size}, not {length}", win_length=length
        )
    if window is not None and window.shape != (length,):
        raise ShapeError(
            f"the window must have one dimension of {length} elements, not the shape "
            f"{list(window.shape)}",
            shape=window.shape,
        )


def _ones(like: T, count: int) -> T:
    """A window of ones, in the real dtype of a tensor."""
    return wrap_like(like, making.ones(count, like._impl.array.real.dtype))


def _with_zeros(input: T, before: int, behind: int) -> T:
    """Zeros in front of the last dimension, and behind it."""
    return F.constant_pad(input, (before, behind), 0)


def _in_the_middle(window: T, size: int) -> T:
    """The window with zeros on both sides."""
    missing = size - window.shape[0]
    if not missing:
        return window
    return _with_zeros(window, missing // 2, missing - missing // 2)
