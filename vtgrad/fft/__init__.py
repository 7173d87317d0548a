"""Fourier transforms, with the names and the meanings that PyTorch has in ``torch.fft``.

Each is recorded, and is made of three operators: of complex elements, from real elements, and to
real elements. NumPy computes them, in the precision of what it gets. `vtgrad.numpy.fft` has them
with NumPy's names and meanings.
"""

from vtgrad.fft.complex_transforms import fft as fft
from vtgrad.fft.complex_transforms import fft2 as fft2
from vtgrad.fft.complex_transforms import fftn as fftn
from vtgrad.fft.complex_transforms import ifft as ifft
from vtgrad.fft.complex_transforms import ifft2 as ifft2
from vtgrad.fft.complex_transforms import ifftn as ifftn
from vtgrad.fft.frequencies import fftfreq as fftfreq
from vtgrad.fft.frequencies import rfftfreq as rfftfreq
from vtgrad.fft.hermitian_transforms import hfft as hfft
from vtgrad.fft.hermitian_transforms import hfft2 as hfft2
from vtgrad.fft.hermitian_transforms import hfftn as hfftn
from vtgrad.fft.hermitian_transforms import ihfft as ihfft
from vtgrad.fft.hermitian_transforms import ihfft2 as ihfft2
from vtgrad.fft.hermitian_transforms import ihfftn as ihfftn
from vtgrad.fft.real_transforms import irfft as irfft
from vtgrad.fft.real_transforms import irfft2 as irfft2
from vtgrad.fft.real_transforms import irfftn as irfftn
from vtgrad.fft.real_transforms import rfft as rfft
from vtgrad.fft.real_transforms import rfft2 as rfft2
from vtgrad.fft.real_transforms import rfftn as rfftn
from vtgrad.fft.shifts import fftshift as fftshift
from vtgrad.fft.shifts import ifftshift as ifftshift

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]
