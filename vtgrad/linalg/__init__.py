"""Linear algebra: PyTorch's `torch.linalg`, and what SciPy has beside it.

The work is that of NumPy's and SciPy's LAPACK. The functions of the factors `lu` and `ldl`, those
of matrices such as `matrix_exp`, and equations with banded, Toeplitz and Sylvester's matrices need
SciPy, which is imported when one of them is called: the extra ``scipy``.
"""

from vtgrad.errors import LinAlgError as LinAlgError
from vtgrad.linalg.cholesky_factors import cholesky as cholesky
from vtgrad.linalg.cholesky_factors import cholesky_ex as cholesky_ex
from vtgrad.linalg.cholesky_factors import cholesky_inverse as cholesky_inverse
from vtgrad.linalg.cholesky_factors import cholesky_solve as cholesky_solve
from vtgrad.linalg.determinants import det as det
from vtgrad.linalg.determinants import logdet as logdet
from vtgrad.linalg.determinants import slogdet as slogdet
from vtgrad.linalg.eigenvalues import eig as eig
from vtgrad.linalg.eigenvalues import eigh as eigh
from vtgrad.linalg.eigenvalues import eigvals as eigvals
from vtgrad.linalg.eigenvalues import eigvalsh as eigvalsh
from vtgrad.linalg.equations import solve_continuous_lyapunov as solve_continuous_lyapunov
from vtgrad.linalg.equations import solve_sylvester as solve_sylvester
from vtgrad.linalg.inverses import inv as inv
from vtgrad.linalg.inverses import inv_ex as inv_ex
from vtgrad.linalg.inverses import solve as solve
from vtgrad.linalg.inverses import solve_ex as solve_ex
from vtgrad.linalg.inverses import tensorinv as tensorinv
from vtgrad.linalg.inverses import tensorsolve as tensorsolve
from vtgrad.linalg.ldl_factors import ldl_factor as ldl_factor
from vtgrad.linalg.ldl_factors import ldl_factor_ex as ldl_factor_ex
from vtgrad.linalg.ldl_factors import ldl_solve as ldl_solve
from vtgrad.linalg.lu_factors import lu as lu
from vtgrad.linalg.lu_factors import lu_factor as lu_factor
from vtgrad.linalg.lu_factors import lu_factor_ex as lu_factor_ex
from vtgrad.linalg.lu_factors import lu_solve as lu_solve
from vtgrad.linalg.lu_factors import lu_unpack as lu_unpack
from vtgrad.linalg.matrix_functions import expm as expm
from vtgrad.linalg.matrix_functions import logm as logm
from vtgrad.linalg.matrix_functions import matrix_exp as matrix_exp
from vtgrad.linalg.matrix_functions import sqrtm as sqrtm
from vtgrad.linalg.norms import cond as cond
from vtgrad.linalg.norms import matrix_norm as matrix_norm
from vtgrad.linalg.norms import norm as norm
from vtgrad.linalg.norms import vector_norm as vector_norm
from vtgrad.linalg.orthogonal import qr as qr
from vtgrad.linalg.products import cross as cross
from vtgrad.linalg.products import diagonal as diagonal
from vtgrad.linalg.products import matrix_power as matrix_power
from vtgrad.linalg.products import multi_dot as multi_dot
from vtgrad.linalg.products import vander as vander
from vtgrad.linalg.products import vecdot as vecdot
from vtgrad.linalg.pseudoinverses import lstsq as lstsq
from vtgrad.linalg.pseudoinverses import matrix_rank as matrix_rank
from vtgrad.linalg.pseudoinverses import pinv as pinv
from vtgrad.linalg.reflections import householder_product as householder_product
from vtgrad.linalg.singular_values import svd as svd
from vtgrad.linalg.singular_values import svdvals as svdvals
from vtgrad.linalg.structured import block_diag as block_diag
from vtgrad.linalg.structured import solve_banded as solve_banded
from vtgrad.linalg.structured import solve_toeplitz as solve_toeplitz
from vtgrad.linalg.structured import toeplitz as toeplitz
from vtgrad.linalg.triangular import solve_triangular as solve_triangular
from vtgrad.ops.generated.functional import matmul as matmul

__all__ = [
    "LinAlgError",
    "block_diag",
    "cholesky",
    "cholesky_ex",
    "cholesky_inverse",
    "cholesky_solve",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "logdet",
    "logm",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "lu_unpack",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_banded",
    "solve_continuous_lyapunov",
    "solve_ex",
    "solve_sylvester",
    "solve_toeplitz",
    "solve_triangular",
    "sqrtm",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "toeplitz",
    "vander",
    "vecdot",
    "vector_norm",
]
