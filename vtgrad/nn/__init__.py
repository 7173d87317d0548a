"""What programs with layers call, under PyTorch's names: functions, without modules."""

from vtgrad.nn import functional as functional

__all__ = ["functional"]
