"""Short-time Fourier transforms, by sums that are written out here, and back again."""

from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from tests.later.calls import values

SIGNAL = np.random.default_rng(1).normal(size=(2, 21))


def by_hand(x: Any, size: int, hop: int, window: Any) -> Any:
    """The transforms of the parts of a padded signal."""
    starts = range(0, x.shape[-1] - size + 1, hop)
    return np.stack([np.fft.fft(x[..., s : s + size] * window) for s in starts], -1)


@pytest.mark.parametrize(
    ("mode", "theirs"),
    [("reflect", "reflect"), ("constant", "constant"), ("replicate", "edge"), ("circular", "wrap")],
)
def test_parts_of_a_padded_signal(mode: str, theirs: Any) -> None:
    window = np.hanning(6)
    padded = np.pad(SIGNAL, ((0, 0), (4, 4)), theirs)
    wanted = by_hand(padded, 8, 2, np.pad(window, 1))
    options: dict[str, Any] = {
        "win_length": 6,
        "window": vt.tensor(window),
        "pad_mode": mode,
        "return_complex": True,
    }
    found = vt.stft(vt.tensor(SIGNAL), 8, **options)
    np.testing.assert_allclose(found.numpy(), wanted[:, :5], atol=1e-12)
    one = vt.stft(vt.tensor(SIGNAL[0]), 8, onesided=False, **options)
    np.testing.assert_allclose(one.numpy(), wanted[0], atol=1e-12)


def test_options_of_the_transform() -> None:
    x = vt.tensor(SIGNAL)
    wanted = by_hand(SIGNAL, 8, 3, np.ones(8))
    found = vt.stft(x, 8, 3, center=False, return_complex=True)
    np.testing.assert_allclose(found.numpy(), wanted[:, :5], atol=1e-12)
    scaled = vt.stft(x, 8, 3, center=False, normalized=True, return_complex=False)
    assert scaled.shape == (2, 5, 5, 2)
    np.testing.assert_allclose(
        vt.view_as_complex(scaled).numpy(), wanted[:, :5] / np.sqrt(8), atol=1e-12
    )
    complexes = vt.stft(x + 0j, 8, 3, center=False)
    np.testing.assert_allclose(complexes.numpy(), wanted, atol=1e-12)
    # With windows of four values, aligned, part t begins with the zeros of the window.
    aligned = vt.stft(
        x, 8, 2, 4, center=False, align_to_window=True, return_complex=True, window=vt.ones(4)
    )
    wanted = by_hand(np.pad(SIGNAL, ((0, 0), (2, 2))), 8, 2, np.pad(np.ones(4), 2))
    np.testing.assert_allclose(aligned.numpy(), wanted[:, :5], atol=1e-6)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
def test_signals_come_back(center: bool, normalized: bool) -> None:
    x = vt.tensor(SIGNAL[:, :20])
    window = vt.hamming_window(8, dtype=vt.float64)
    options: dict[str, Any] = {"window": window, "center": center, "normalized": normalized}
    spectra = vt.stft(x, 8, 2, return_complex=True, **options)
    assert vt.allclose(vt.istft(spectra, 8, 2, **options), x)
    longer = vt.istft(spectra[0], 8, 2, length=22, **options)
    assert vt.allclose(longer[:20], x[0])
    assert longer[20:].tolist() == pytest.approx([0, 0], abs=1e-9) or center
    whole = vt.stft(x, 8, 2, return_complex=True, onesided=False, **options)
    assert vt.allclose(vt.istft(whole, 8, 2, onesided=False, **options), x)
    z = x * (1 + 2j)
    assert vt.allclose(vt.istft(z.stft(8, 2, **options), 8, 2, return_complex=True, **options), z)


def test_derivatives() -> None:
    window = values((6,), 1).abs().add(0.5).requires_grad_()
    x = values((2, 9)).requires_grad_()

    def forward(x: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
        return vt.stft(x, 6, 2, window=w, return_complex=True)

    assert vt.autograd.gradcheck(
        forward, (x, window), check_forward_ad=True, check_batched_grad=True
    )
    assert vt.autograd.gradgradcheck(forward, (x, window), check_fwd_over_rev=True, fast_mode=True)
    spectra = values((4, 5), complex=True).requires_grad_()

    def back(z: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
        return vt.istft(z, 6, 2, window=w, length=9)

    assert vt.autograd.gradcheck(
        back, (spectra, window), check_forward_ad=True, check_batched_grad=True
    )
    assert vt.autograd.gradgradcheck(
        back, (spectra, window), check_fwd_over_rev=True, fast_mode=True
    )


def test_samples_of_a_batch() -> None:
    x = vt.tensor(SIGNAL).reshape(2, 3, 7)
    window = vt.hann_window(6, dtype=vt.float64)

    def both(x: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        spectra = vt.stft(x, 6, window=window, return_complex=True)
        return spectra, vt.istft(spectra, 6, window=window)

    spectra, signals = vt.vmap(both)(x)
    assert vt.allclose(spectra, vt.stack([both(one)[0] for one in x]))
    assert vt.allclose(signals, vt.stack([both(one)[1] for one in x]))


def test_samples_of_a_window() -> None:
    spectra = vt.stft(vt.tensor(SIGNAL)[:24], 6, return_complex=True)
    windows = vt.stack([vt.hann_window(6, dtype=vt.float64), vt.ones(6, dtype=vt.float64)])
    found = vt.vmap(lambda w: vt.istft(spectra, 6, window=w))(windows)
    assert vt.allclose(found, vt.stack([vt.istft(spectra, 6, window=w) for w in windows]))
    windows[1] = 0
    with pytest.raises(vt.errors.OptionValueError, match="leave out a value"):
        vt.vmap(lambda w: vt.istft(spectra, 6, window=w))(windows)


def test_errors() -> None:
    x = vt.tensor(SIGNAL)
    spectra = vt.stft(x, 8, return_complex=True)
    errors = vt.errors
    for kind, text, call in (
        (errors.OptionValueError, "return_complex", lambda: vt.stft(x, 8)),
        (
            errors.OptionValueError,
            "between 1 and 21",
            lambda: x.stft(22, 4, center=False, return_complex=True),
        ),
        (errors.OptionValueError, "hop_length", lambda: x.stft(8, 0, return_complex=True)),
        (errors.OptionValueError, "win_length", lambda: x.stft(8, 2, 9, return_complex=True)),
        (
            errors.OptionValueError,
            "align",
            lambda: x.stft(8, align_to_window=True, return_complex=True),
        ),
        (errors.OptionValueError, "onesided", lambda: (x + 0j).stft(8, onesided=True)),
        (errors.ShapeError, "window", lambda: x.stft(8, window=vt.ones(5), return_complex=True)),
        (errors.ShapeError, "dimensions", lambda: x[None].stft(8, return_complex=True)),
        (errors.ShapeError, "cannot add 40", lambda: x.stft(80, return_complex=True)),
        (errors.DTypeError, "int64", lambda: x.long().stft(8, return_complex=True)),
        (
            errors.NotSupportedError,
            "mode",
            lambda: x.stft(8, pad_mode="mirror", return_complex=True),
        ),
        (errors.DTypeError, "complex", lambda: vt.istft(x, 8)),
        (errors.ShapeError, "6 rows here, not 5", lambda: vt.istft(spectra, 10)),
        (errors.ShapeError, "empty", lambda: vt.istft(spectra[..., :0], 8)),
        (errors.ShapeError, "dimensions", lambda: vt.istft(spectra[None], 8)),
        (errors.OptionValueError, "real signal", lambda: vt.istft(spectra, 8, return_complex=True)),
        (errors.OptionValueError, "hop_length", lambda: vt.istft(spectra, 8, 9)),
        (errors.OptionValueError, "at least one value", lambda: vt.istft(spectra, 8, length=0)),
        (
            errors.OptionValueError,
            "leave out",
            lambda: vt.istft(spectra, 8, window=vt.hann_window(8), center=False),
        ),
    ):
        with pytest.raises(kind, match=text):
            call()  # type: ignore[no-untyped-call]
