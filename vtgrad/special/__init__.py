"""Special functions: PyTorch's `torch.special`, and what SciPy has beside it.

The functions of `torch.special` need no SciPy, and those that PyTorch does not differentiate have
derivatives here. The others are SciPy's, which is imported when one of them is called: the extra
``scipy``. Their values are SciPy's, and their derivatives operators of vtgrad.
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
from vtgrad.special.scipy_bessel import iv as iv
from vtgrad.special.scipy_bessel import ive as ive
from vtgrad.special.scipy_bessel import jn as jn
from vtgrad.special.scipy_bessel import jv as jv
from vtgrad.special.scipy_bessel import kn as kn
from vtgrad.special.scipy_bessel import kv as kv
from vtgrad.special.scipy_bessel import kve as kve
from vtgrad.special.scipy_bessel import yn as yn
from vtgrad.special.scipy_bessel import yv as yv
from vtgrad.special.scipy_distributions import bdtr as bdtr
from vtgrad.special.scipy_distributions import bdtrc as bdtrc
from vtgrad.special.scipy_distributions import bdtri as bdtri
from vtgrad.special.scipy_distributions import chdtr as chdtr
from vtgrad.special.scipy_distributions import chdtrc as chdtrc
from vtgrad.special.scipy_distributions import chdtri as chdtri
from vtgrad.special.scipy_distributions import fdtr as fdtr
from vtgrad.special.scipy_distributions import fdtrc as fdtrc
from vtgrad.special.scipy_distributions import fdtri as fdtri
from vtgrad.special.scipy_distributions import gdtr as gdtr
from vtgrad.special.scipy_distributions import gdtrc as gdtrc
from vtgrad.special.scipy_distributions import nbdtr as nbdtr
from vtgrad.special.scipy_distributions import nbdtrc as nbdtrc
from vtgrad.special.scipy_distributions import pdtr as pdtr
from vtgrad.special.scipy_distributions import pdtrc as pdtrc
from vtgrad.special.scipy_distributions import pdtri as pdtri
from vtgrad.special.scipy_distributions import stdtr as stdtr
from vtgrad.special.scipy_distributions import stdtrit as stdtrit
from vtgrad.special.scipy_elliptic import ellipe as ellipe
from vtgrad.special.scipy_elliptic import ellipeinc as ellipeinc
from vtgrad.special.scipy_elliptic import ellipk as ellipk
from vtgrad.special.scipy_elliptic import ellipkinc as ellipkinc
from vtgrad.special.scipy_elliptic import ellipkm1 as ellipkm1
from vtgrad.special.scipy_gamma import beta as beta
from vtgrad.special.scipy_gamma import betainc as betainc
from vtgrad.special.scipy_gamma import betaincc as betaincc
from vtgrad.special.scipy_gamma import betainccinv as betainccinv
from vtgrad.special.scipy_gamma import betaincinv as betaincinv
from vtgrad.special.scipy_gamma import betaln as betaln
from vtgrad.special.scipy_gamma import binom as binom
from vtgrad.special.scipy_gamma import gamma as gamma
from vtgrad.special.scipy_gamma import gammainccinv as gammainccinv
from vtgrad.special.scipy_gamma import gammaincinv as gammaincinv
from vtgrad.special.scipy_gamma import loggamma as loggamma
from vtgrad.special.scipy_gamma import poch as poch
from vtgrad.special.scipy_gamma import rgamma as rgamma
from vtgrad.special.scipy_hypergeometric import hyp0f1 as hyp0f1
from vtgrad.special.scipy_hypergeometric import hyp1f1 as hyp1f1
from vtgrad.special.scipy_hypergeometric import hyp2f1 as hyp2f1
from vtgrad.special.scipy_hypergeometric import hyperu as hyperu
from vtgrad.special.scipy_integrals import dawsn as dawsn
from vtgrad.special.scipy_integrals import erfcinv as erfcinv
from vtgrad.special.scipy_integrals import erfi as erfi
from vtgrad.special.scipy_integrals import exp1 as exp1
from vtgrad.special.scipy_integrals import expi as expi
from vtgrad.special.scipy_integrals import expn as expn
from vtgrad.special.scipy_integrals import owens_t as owens_t
from vtgrad.special.scipy_integrals import voigt_profile as voigt_profile
from vtgrad.special.scipy_integrals import wofz as wofz
from vtgrad.special.scipy_lambertw import lambertw as lambertw
from vtgrad.special.scipy_several import airy as airy
from vtgrad.special.scipy_several import ellipj as ellipj
from vtgrad.special.scipy_several import fresnel as fresnel
from vtgrad.special.scipy_several import shichi as shichi
from vtgrad.special.scipy_several import sici as sici
from vtgrad.special.scipy_spherical import spherical_in as spherical_in
from vtgrad.special.scipy_spherical import spherical_jn as spherical_jn
from vtgrad.special.scipy_spherical import spherical_kn as spherical_kn
from vtgrad.special.scipy_spherical import spherical_yn as spherical_yn
from vtgrad.special.scipy_transforms import boxcox as boxcox
from vtgrad.special.scipy_transforms import boxcox1p as boxcox1p
from vtgrad.special.scipy_transforms import cbrt as cbrt
from vtgrad.special.scipy_transforms import cosm1 as cosm1
from vtgrad.special.scipy_transforms import exp10 as exp10
from vtgrad.special.scipy_transforms import exprel as exprel
from vtgrad.special.scipy_transforms import huber as huber
from vtgrad.special.scipy_transforms import inv_boxcox as inv_boxcox
from vtgrad.special.scipy_transforms import inv_boxcox1p as inv_boxcox1p
from vtgrad.special.scipy_transforms import kl_div as kl_div
from vtgrad.special.scipy_transforms import log_expit as log_expit
from vtgrad.special.scipy_transforms import pseudo_huber as pseudo_huber
from vtgrad.special.scipy_transforms import rel_entr as rel_entr
from vtgrad.special.scipy_transforms import softplus as softplus
from vtgrad.special.scipy_transforms import wrightomega as wrightomega
from vtgrad.special.zeta_function import zeta as zeta

__all__ = [
    "airy",
    "airy_ai",
    "bdtr",
    "bdtrc",
    "bdtri",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "beta",
    "betainc",
    "betaincc",
    "betainccinv",
    "betaincinv",
    "betaln",
    "binom",
    "boxcox",
    "boxcox1p",
    "cbrt",
    "chdtr",
    "chdtrc",
    "chdtri",
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "cosm1",
    "dawsn",
    "digamma",
    "ellipe",
    "ellipeinc",
    "ellipj",
    "ellipk",
    "ellipkinc",
    "ellipkm1",
    "entr",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfi",
    "erfinv",
    "exp1",
    "exp10",
    "exp2",
    "expi",
    "expit",
    "expm1",
    "expn",
    "exprel",
    "fdtr",
    "fdtrc",
    "fdtri",
    "fresnel",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "gammaln",
    "gdtr",
    "gdtrc",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "huber",
    "hyp0f1",
    "hyp1f1",
    "hyp2f1",
    "hyperu",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "inv_boxcox",
    "inv_boxcox1p",
    "iv",
    "ive",
    "jn",
    "jv",
    "kl_div",
    "kn",
    "kv",
    "kve",
    "laguerre_polynomial_l",
    "lambertw",
    "legendre_polynomial_p",
    "log1p",
    "log_erfc",
    "log_expit",
    "log_ndtr",
    "log_softmax",
    "loggamma",
    "logit",
    "logsumexp",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "multigammaln",
    "nbdtr",
    "nbdtrc",
    "ndtr",
    "ndtri",
    "owens_t",
    "pdtr",
    "pdtrc",
    "pdtri",
    "poch",
    "polygamma",
    "pseudo_huber",
    "psi",
    "rel_entr",
    "rgamma",
    "round",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "shichi",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
    "sici",
    "sinc",
    "softmax",
    "softplus",
    "spherical_bessel_j0",
    "spherical_in",
    "spherical_jn",
    "spherical_kn",
    "spherical_yn",
    "stdtr",
    "stdtrit",
    "voigt_profile",
    "wofz",
    "wrightomega",
    "xlog1py",
    "xlogy",
    "yn",
    "yv",
    "zeta",
]
