"""Reading, storing and merging at indices and masks."""

from .advanced_index import *
from .flat import *
from .gather_scatter import *
from .index_vectors import *
from .masks import *
from .scatter_reduce import *
