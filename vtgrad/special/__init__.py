"""Special functions."""

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

__all__ = [
    "airy",
    "bdtr",
    "bdtrc",
    "bdtri",
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
    "cosm1",
    "dawsn",
    "ellipe",
    "ellipeinc",
    "ellipj",
    "ellipk",
    "ellipkinc",
    "ellipkm1",
    "erfcinv",
    "erfi",
    "exp1",
    "exp10",
    "expi",
    "expn",
    "exprel",
    "fdtr",
    "fdtrc",
    "fdtri",
    "fresnel",
    "gamma",
    "gammainccinv",
    "gammaincinv",
    "gdtr",
    "gdtrc",
    "huber",
    "hyp0f1",
    "hyp1f1",
    "hyp2f1",
    "hyperu",
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
    "lambertw",
    "log_expit",
    "loggamma",
    "nbdtr",
    "nbdtrc",
    "owens_t",
    "pdtr",
    "pdtrc",
    "pdtri",
    "poch",
    "pseudo_huber",
    "rel_entr",
    "rgamma",
    "shichi",
    "sici",
    "softplus",
    "spherical_in",
    "spherical_jn",
    "spherical_kn",
    "spherical_yn",
    "stdtr",
    "stdtrit",
    "voigt_profile",
    "wofz",
    "wrightomega",
    "yn",
    "yv",
]
