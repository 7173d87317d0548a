"""NumPy kernels: the computations of the operators, on plain arrays."""

from .arithmetic import *
from .comparison import *
from .complex_numbers import *
from .copying import *
from .creation import *
from .cumulative import *
from .elementary import *
from .float_parts import *
from .indexing import *
from .joining import *
from .linalg import *
from .logic import *
from .random import *
from .reductions import *
from .sorting import *
from .special import *
from .structure import *
from .views import *
