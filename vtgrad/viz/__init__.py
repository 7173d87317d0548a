"""Pictures of graphs and of memory: `make_dot` and `storage_map`."""

from vtgrad.viz.dot import Dot as Dot
from vtgrad.viz.make_dot import make_dot as make_dot
from vtgrad.viz.storage_map import StorageMap as StorageMap
from vtgrad.viz.storage_map import storage_map as storage_map

__all__ = ["Dot", "StorageMap", "make_dot", "storage_map"]
