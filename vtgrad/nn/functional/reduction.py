"""What losses of elements become: all of them, their mean, or their sum."""

from __future__ import annotations

from vtgrad.errors import ArgumentValueError
from vtgrad.ops.generated import functional as F
from vtgrad.storage.warn import warn
from vtgrad.tensor.tensor import Tensor

__all__ = ["reduced", "reduction_of"]


def reduction_of(
    reduction: str, size_average: bool | None = None, reduce: bool | None = None
) -> str:
    """The reduction by its name, or by the two flags that PyTorch had before.

    Raises
    ------
    ArgumentValueError
        If there is no such reduction.
    """
    if size_average is not None or reduce is not None:
        if reduce is False:
            reduction = "none"
        else:
            reduction = "sum" if size_average is False else "mean"
        warn(f"size_average and reduce are PyTorch's older flags; pass reduction={reduction!r}")
    if reduction not in ("none", "mean", "sum"):
        raise ArgumentValueError(
            f'reduction must be "none", "mean" or "sum", not {reduction!r}', reduction=reduction
        )
    return reduction


def reduced(losses: Tensor, reduction: str) -> Tensor:
    """The losses, their mean or their sum."""
    if reduction == "none":
        return losses
    return F.mean_default(losses) if reduction == "mean" else F.sum_default(losses)
