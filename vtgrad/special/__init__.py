"""Special functions, under the names of `torch.special`.

None of them needs SciPy. Those that PyTorch does not differentiate have derivatives here.
"""

from vtgrad.ops.choices.reductions import log_softmax as log_softmax
from vtgrad.ops.choices.reductions import logsumexp as logsumexp
from vtgrad.ops.choices.reductions import softmax as softmax
from vtgrad.ops.generated.functional import digamma as digamma
from vtgrad.ops.generated.functional import digamma as psi
from vtgrad.ops.generated.functional import erf as erf
from vtgrad.ops.generated.functional import erfc as erfc
from vtgrad.ops.generated.functional import erfinv as erfinv
from vtgrad.ops.generated.functional import exp2 as exp2
from vtgrad.ops.generated.functional import expm1 as expm1
from vtgrad.ops.generated.functional import i0 as i0
from vtgrad.ops.generated.functional import i0 as modified_bessel_i0
from vtgrad.ops.generated.functional import igamma as gammainc
from vtgrad.ops.generated.functional import igammac as gammaincc
from vtgrad.ops.generated.functional import lgamma as gammaln
from vtgrad.ops.generated.functional import log1p as log1p
from vtgrad.ops.generated.functional import logit as logit
from vtgrad.ops.generated.functional import mvlgamma as multigammaln
from vtgrad.ops.generated.functional import polygamma as polygamma
from vtgrad.ops.generated.functional import round as round
from vtgrad.ops.generated.functional import sigmoid as expit
from vtgrad.ops.generated.functional import sinc as sinc
from vtgrad.ops.generated.functional import xlogy as xlogy
from vtgrad.special.airy_function import airy_ai as airy_ai
from vtgrad.special.bessel_functions import bessel_j0 as bessel_j0
from vtgrad.special.bessel_functions import bessel_j1 as bessel_j1
from vtgrad.special.bessel_functions import bessel_y0 as bessel_y0
from vtgrad.special.bessel_functions import bessel_y1 as bessel_y1
from vtgrad.special.bessel_functions import spherical_bessel_j0 as spherical_bessel_j0
from vtgrad.special.entropy import entr as entr
from vtgrad.special.entropy import xlog1py as xlog1py
from vtgrad.special.error_functions import erfcx as erfcx
from vtgrad.special.error_functions import log_erfc as log_erfc
from vtgrad.special.modified_bessel_functions import i0e as i0e
from vtgrad.special.modified_bessel_functions import i1 as i1
from vtgrad.special.modified_bessel_functions import i1 as modified_bessel_i1
from vtgrad.special.modified_bessel_functions import i1e as i1e
from vtgrad.special.modified_bessel_functions import modified_bessel_k0 as modified_bessel_k0
from vtgrad.special.modified_bessel_functions import modified_bessel_k1 as modified_bessel_k1
from vtgrad.special.modified_bessel_functions import (
    scaled_modified_bessel_k0 as scaled_modified_bessel_k0,
)
from vtgrad.special.modified_bessel_functions import (
    scaled_modified_bessel_k1 as scaled_modified_bessel_k1,
)
from vtgrad.special.normal_distribution import log_ndtr as log_ndtr
from vtgrad.special.normal_distribution import ndtr as ndtr
from vtgrad.special.normal_distribution import ndtri as ndtri
from vtgrad.special.orthogonal_polynomials import chebyshev_polynomial_t as chebyshev_polynomial_t
from vtgrad.special.orthogonal_polynomials import chebyshev_polynomial_u as chebyshev_polynomial_u
from vtgrad.special.orthogonal_polynomials import chebyshev_polynomial_v as chebyshev_polynomial_v
from vtgrad.special.orthogonal_polynomials import chebyshev_polynomial_w as chebyshev_polynomial_w
from vtgrad.special.orthogonal_polynomials import hermite_polynomial_h as hermite_polynomial_h
from vtgrad.special.orthogonal_polynomials import hermite_polynomial_he as hermite_polynomial_he
from vtgrad.special.orthogonal_polynomials import laguerre_polynomial_l as laguerre_polynomial_l
from vtgrad.special.orthogonal_polynomials import legendre_polynomial_p as legendre_polynomial_p
from vtgrad.special.orthogonal_polynomials import (
    shifted_chebyshev_polynomial_t as shifted_chebyshev_polynomial_t,
)
from vtgrad.special.orthogonal_polynomials import (
    shifted_chebyshev_polynomial_u as shifted_chebyshev_polynomial_u,
)
from vtgrad.special.orthogonal_polynomials import (
    shifted_chebyshev_polynomial_v as shifted_chebyshev_polynomial_v,
)
from vtgrad.special.orthogonal_polynomials import (
    shifted_chebyshev_polynomial_w as shifted_chebyshev_polynomial_w,
)
from vtgrad.special.zeta_function import zeta as zeta

__all__ = [
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "log1p",
    "log_erfc",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
    "sinc",
    "softmax",
    "spherical_bessel_j0",
    "xlog1py",
    "xlogy",
    "zeta",
]
