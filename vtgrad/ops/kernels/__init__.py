"""NumPy kernels: what the operators compute, on plain arrays."""

from .advanced_index import *
from .arithmetic import *
from .bitwise import *
from .casts import *
from .comparison import *
from .copying import *
from .cumulative import *
from .division import *
from .drawing import *
from .extrema import *
from .fill import *
from .index_vectors import *
from .indexing import *
from .linalg import *
from .ordering import *
from .power import *
from .reduction import *
from .reduction_gradients import *
from .rounding import *
from .statistics import *
from .strided import *
from .transcendental import *
from .view_arrays import *
