"""Whether a tensor may be written now."""

from ..errors import LeafWriteError, SelfOverlapError, ViewOfLeafWriteError
from ..graph.functions import meta_of
from ..storage.geometry import has_self_overlap
from ..storage.tensor_base import TensorBase
from .creation_meta import refuse_if_restricted
from .differentiable_view_meta import DifferentiableViewMeta

__all__ = ["check_inplace", "check_self_overlap"]


def check_inplace(tensor: TensorBase) -> None:
    """Raise if a write to `tensor` that is about to be recorded would make gradients wrong.

    Only called when recording is on and the written tensor or an operand requires grad: all
    other writes are free.

    Raises
    ------
    ViewInvalidError
        For a view whose creation forbids it; see Note [Creation of views].
    ViewOfLeafWriteError, LeafWriteError
        For a leaf that requires grad, or a view of one.
    """
    meta = meta_of(tensor)
    if meta is None:
        return
    if isinstance(meta, DifferentiableViewMeta):
        refuse_if_restricted(meta.creation_meta, modified=False, producer=meta.describe())
        base = meta.backward_info.base
        base_meta = meta_of(base)
        if meta.requires_grad() and (base_meta is None or base_meta.grad_fn(base) is None):
            raise ViewOfLeafWriteError(
                "cannot write to a view of a leaf that requires grad: the leaf's gradient would "
                "belong to a value that is gone. Write under no_grad, or to a clone of the leaf",
                shape=tensor.shape,
            )
    elif meta.requires_grad() and meta.grad_fn(tensor) is None:
        raise LeafWriteError(
            "cannot write to a leaf that requires grad: its gradient would belong to a value "
            "that is gone. Write under no_grad, or to a clone of the leaf",
            shape=tensor.shape,
        )


def check_self_overlap(tensor: TensorBase) -> None:
    """Raise if two elements of `tensor` are one memory location.

    Raises
    ------
    SelfOverlapError
        If so: which value would remain is undefined.
    """
    impl = tensor._impl
    if impl.array.flags.c_contiguous:
        return
    if has_self_overlap(impl.sizes, impl.strides):
        raise SelfOverlapError(
            f"cannot write to a tensor of shape {list(impl.sizes)} and strides "
            f"{list(impl.strides)}: several of its elements are one memory location. "
            "Write to a clone",
            shape=impl.sizes,
            strides=impl.strides,
        )
