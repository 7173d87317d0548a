"""Sums over shards of data, and their gradients, by several processes or several machines.

The shards stay with the workers that compute with them. The processes of this machine need nothing
beside Python; `dask.distributed` and `mpi4py.futures` reach other machines.
"""

from vtgrad.distributed.sum_over_shards import SumOverShards as SumOverShards
from vtgrad.distributed.value_and_grad import value_and_grad as value_and_grad

__all__ = ["SumOverShards", "value_and_grad"]
