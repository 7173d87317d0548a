"""Differences on purpose in what inference tensors may do; see `tests.oracle.allowlist`."""

import re

from tests.oracle.kinds import kind_of
from tests.oracle.side import TensorLike
from tests.oracle.situation import Situation

__all__ = [
    "built_in_steps",
    "computed_again_in_inference_mode",
    "data_of_another_kind",
    "dtype_view_in_inference_mode",
    "edge_of_a_view_made_inside",
    "refused_first",
    "requires_grad",
    "result_resized_in_inference_mode",
    "undetached",
    "written_by_another_name",
]


def written_by_another_name(s: Situation) -> bool:
    return (
        s.torch_error is None
        and s.our_error is not None
        and kind_of(s.our_error) == "inference-write"
        and any(
            t.is_inference() and (_has_version(t) or s.step.op == "resize_")
            for t in s.tensors_used()
        )
    )


def requires_grad(s: Situation) -> bool:
    return any(t.is_inference() and t.requires_grad for t in s.tensors_used())


def built_in_steps(s: Situation) -> bool:
    used = s.tensors_used()
    return (
        s.divergence is not None
        and (s.divergence.what, s.divergence.found) in _OF_FRESH
        and s.divergence.where in s.step.defs
        and bool(used)
        and all(t.is_inference() for t in used)
    )


_OF_FRESH = (("_version", 0), ("_is_view", False), ("_base", None))


def refused_first(s: Situation) -> bool:
    return (
        s.torch_error is not None
        and s.our_error is not None
        and kind_of(s.our_error) == "inference-write"
    )


# Nothing is recorded in the mode, so that the function may also save fewer tensors.
_FAILED_AGAIN = ("Inference tensors cannot be saved", "A different number of tensors was saved")


def computed_again_in_inference_mode(s: Situation) -> bool:
    return (
        s.our_error is None
        and s.torch_error is not None
        and "inference_mode" in s.step.mode
        and any(text in str(s.torch_error) for text in _FAILED_AGAIN)
        and any(line.op.startswith("checkpoint") for line in s.earlier)
    )


def undetached(s: Situation) -> bool:
    return s.step.op == "detach_" and "inference_mode" in s.step.mode and s.torch_error is None


def data_of_another_kind(s: Situation) -> bool:
    return (
        s.step.op == ".data="
        and s.divergence is not None
        and s.divergence.what in ("is_inference", "_version")
    )


def _has_version(tensor: TensorLike) -> bool:
    """Whether a tensor of PyTorch has a version that can be read."""
    try:
        tensor._version  # noqa: B018  # reading it is the question
    except RuntimeError:
        return False
    return True


def edge_of_a_view_made_inside(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what not in ("grad_fn", "requires_grad", "is_leaf"):
        return False
    if not any(step.mode == "inference_mode()" for step in s.earlier):
        return False
    if s.step.backward:
        # A gradient that depends on such a view, and on nothing else that could be differentiated.
        made = {name for step in s.earlier if step.mode == "inference_mode()" for name in step.defs}
        found = [t for name, t in s.torch.tensors().items() if name in made]
        inside = any(t._base is not None and not t.is_inference() for t in found)
        unrecorded = {"grad_fn": None, "requires_grad": False, "is_leaf": True}
        return inside and s.divergence.found == unrecorded[s.divergence.what]
    if s.divergence.what == "requires_grad":
        # Stored in its own memory, it is read first, and what was read has no producer.
        inside = any(t._base is not None and t.grad_fn is None for t in s.tensors_used())
        return inside and s.step.op == "setitem" and s.divergence.expected is True
    nowhere = "(('ViewBackward0', 'ViewBackward0', ((None, 0),)), 0)"
    theirs = repr(s.divergence.expected).replace(nowhere, "(None, 0)")
    return theirs == repr(s.divergence.found)


def dtype_view_in_inference_mode(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.divergence.what in ("_version", "is_inference")
        and re.search(r"\.view\(vt\.", s.step.text) is not None
    )


def result_resized_in_inference_mode(s: Situation) -> bool:
    return (
        s.torch_error is None
        and s.our_error is not None
        and kind_of(s.our_error) == "resize"
        and s.step.mode == "inference_mode()"
    )
