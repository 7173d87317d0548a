"""Reading, storing and merging at indices and masks."""

from vtgrad.ops.kernels.indexing.advanced_index import *
from vtgrad.ops.kernels.indexing.flat import *
from vtgrad.ops.kernels.indexing.gather_scatter import *
from vtgrad.ops.kernels.indexing.index_vectors import *
from vtgrad.ops.kernels.indexing.masks import *
from vtgrad.ops.kernels.indexing.scatter_reduce import *
