"""Differences of forward mode: what PyTorch gets wrong, and where vtgrad has a rule of its own."""

import re
from collections.abc import Callable

import numpy as np

from tests.ops.records import RECORDS
from tests.oracle.kinds import kind_of
from tests.oracle.side import TensorLike
from tests.oracle.situation import METADATA, Situation
from vtgrad.testing.steps import Line

__all__ = [
    "another_fault_is_named",
    "at_a_kink",
    "dual_made_in_inference_mode",
    "formula_that_pytorch_lacks",
    "geometry_without_forward",
    "inexact_derivative",
    "jvp_reads_a_lost_view",
    "missing_in_pytorch",
    "not_finite",
    "of_an_inference_tensor",
    "of_another_dtype",
    "reads_what_it_overwrites",
    "recorded_for_nothing",
    "recorded_without_forward",
    "resized",
    "result_of_a_function_under_no_grad",
    "shared_tangent",
    "tangent_made_in_inference_mode",
    "tangent_that_saved_a_copy",
    "version_of_a_tangent",
    "view_of_a_detached_base",
    "view_of_a_recorded_tangent",
]

_UNABLE = re.compile(
    "forward AD with|ZeroTensors are immutable|Expected a proper Tensor|Expected reduction dim"
    "|Trying to set a forward gradient that has a different size"
)
_VIEW_REFUSALS = (
    *("leaf-write", "view-of-leaf-write", "no-grad-view", "multi-output-view", "inference-view"),
)
#: Operators with a kink, a tie or a jump, at which each mode of PyTorch has a rule of its own.
_WITH_KINKS = re.compile(
    r"fmax|fmin|maximum|minimum|max|min|amax|amin|clamp\w*|clip\w*|median|atan2|arctan2|hypot|"
    r"copysign|xlogy|norm|prelu|std|var|logaddexp2?|logsumexp|pow|operator \*\*=?|float_power|prod|"
    r"cumprod|scatter_reduce|index_reduce|nan_to_num|sinc|lerp|aminmax"
)
#: Operators whose derivative is a function of which PyTorch computes few digits, or not the poles.
_INEXACT = re.compile(r"digamma|lgamma|i0|i0e|i1|i1e|erfinv|polygamma|mvlgamma|logit|tan|psi")


def _memory(tensor: TensorLike | None) -> int:
    return 0 if tensor is None else int(tensor.untyped_storage().data_ptr())


def reads_what_it_overwrites(s: Situation) -> bool:
    """Whether tangents differ after a write with an operand on the memory that was written."""
    return _is_of_a_tangent(s) and any(_reads_its_target(s, step) for step in (*s.earlier, s.step))


def tangent_that_saved_a_copy(s: Situation) -> bool:
    if s.torch_error is None or s.our_error is not None:
        return False
    return (
        kind_of(s.torch_error) == "stale-saved"
        and any("unpack_dual" in step.text for step in s.earlier)
        and any(_reads_its_result(step) or _reads_its_target(s, step) for step in s.earlier)
    )


def _reads_its_result(step: Line) -> bool:
    record = RECORDS.get(step.op)
    tangent = None if record is None else record.tangent
    return record is not None and record.writes and tangent is not None and tangent.reads_result


def view_of_a_detached_base(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.divergence.what == "tangent"
        and s.divergence.found is None
        and any(step.op == "detach_" for step in (*s.earlier, s.step))
    )


def _is_of_a_tangent(s: Situation) -> bool:
    """Whether what differs is the values of a tangent, or of what shares memory with one."""
    if s.divergence is None or s.divergence.what != "values":
        return False
    name = s.divergence.where
    if name.endswith((".tangent", ".grad")) or "unpack_dual" in s.step.text:
        return True
    memory = _memory(s.torch.names.get(name))
    tensors = s.torch.tensors().values()
    return memory in [_memory(s.torch.library.tangent(tensor)) for tensor in tensors]


_WRITTEN = re.compile(
    r"(?:without_forward\(lambda: )?(t\d+)(?:\.\w+_\(|\[.*\] = | \W+= )|F_\w+_\((t\d+)"
)


def _reads_its_target(s: Situation, step: Line) -> bool:
    found = _WRITTEN.match(step.text)
    if found is None:
        return False
    name = found[1] or found[2]
    if len(re.findall(rf"\b{name}\b", step.text)) > 1:
        return True
    target = s.torch.names.get(name)
    if target is None:
        return len(step.uses) > 1
    written = {_memory(target), _memory(s.torch.library.tangent(target))}
    if len(written) == 1:
        return True  # one memory is both
    others = [s.torch.names.get(other) for other in step.uses if other != name]
    read = {_memory(other) for other in others}
    read |= {_memory(s.torch.library.tangent(other)) for other in others if other is not None}
    return bool((written & read) - {0}) or any(other is None for other in others)


def shared_tangent(s: Situation) -> bool:
    """Whether a tangent has the memory of another tensor in PyTorch only."""
    d = s.divergence
    if d is None:
        # A write is refused because PyTorch's tangents overlap.
        overlaps = s.torch_error is not None and kind_of(s.torch_error) == "input-overlap"
        return overlaps and s.our_error is None and any(map(_has_tangent(s), s.tensors_used()))
    if d.what == "values" and d.where.endswith(".tangent"):
        # Or it was computed from one that was overwritten.
        return any(_is_another_tangent(s, name) for name in s.torch.tensors())
    if d.what != "tangent" or not (isinstance(d.expected, tuple) and isinstance(d.found, tuple)):
        return False
    return d.expected[:2] == d.found[:2] and (
        d.found[2] == f"{d.where}.tangent" or _is_another_tangent(s, d.where)
    )


def _is_another_tangent(s: Situation, name: str) -> bool:
    """Whether PyTorch's tangent of a tensor is on the memory of that of another one."""
    tangent, own = s.torch.library.tangent, s.torch.names[name]
    memory = _memory(tangent(own))
    return memory == _memory(own) or any(
        memory in (_memory(tangent(other)), _memory(other)) and _memory(other) != _memory(own)
        for other in s.torch.tensors().values()
    )


def of_another_dtype(s: Situation) -> bool:
    """Whether PyTorch's tangent has not the dtype of its tensor, as vtgrad's always has."""
    d = s.divergence
    if d is None or not (d.what == "tangent" or d.where.endswith(".tangent")):
        return False
    own = s.torch.names[d.where.removesuffix(".tangent")]
    tangent = s.torch.library.tangent(own)
    return tangent is not None and tangent.dtype != own.dtype


def missing_in_pytorch(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.divergence.what == "tangent"
        and s.divergence.expected is None
        and re.match(r"copysign|scatter_reduce", s.step.op) is not None
    )


def recorded_for_nothing(s: Situation) -> bool:
    """Whether PyTorch has recorded a tangent that depends on nothing that requires grad."""
    return (
        s.divergence is not None
        and "unpack_dual" in s.step.text
        and (s.divergence.what, s.divergence.found)
        in (("requires_grad", False), ("is_leaf", True), ("grad_fn", None))
    )


def tangent_made_in_inference_mode(s: Situation) -> bool:
    return (
        s.torch_error is None
        and s.our_error is not None
        and kind_of(s.our_error) in ("inference-write", "inference-saved")
        and any(
            tangent is not None and tangent.is_inference()
            for tangent in map(s.torch.library.tangent, s.torch.tensors().values())
        )
    )


def geometry_without_forward(s: Situation) -> bool:
    """Whether a geometry was changed in place, and PyTorch's tangent has another one now."""
    ops = (*METADATA, "set_", ".data=", "resize_")
    if not any(step.op in ops for step in (*s.earlier, s.step)):
        return False
    if "other memory" in str(s.divergence) or re.search(
        "different size|doesn't match the broadcast shape", str(s.torch_error)
    ):
        return True
    tangent = s.torch.library.tangent
    found = [(tensor, tangent(tensor)) for tensor in s.torch.tensors().values()]
    return any(t is not None and t.shape != tensor.shape for tensor, t in found)


def recorded_without_forward(s: Situation) -> bool:
    """Whether a gradient has no tangent in PyTorch, of what was written with forward mode off."""
    return (
        s.divergence is not None
        and s.divergence.what == "tangent"
        and s.divergence.expected is None
        and "autograd.grad(" in s.step.text
        and any("without_forward" in step.text for step in s.earlier)
    )


def not_finite(s: Situation) -> bool:
    """Whether tangents differ only where one of them is not finite."""
    d = s.divergence
    if d is None or not _is_of_a_tangent(s):
        return False
    theirs, ours = np.asarray(d.expected).ravel(), np.asarray(d.found).ravel()
    if theirs.shape != ours.shape:
        return False
    finite = np.isfinite(theirs) & np.isfinite(ours)
    return not finite.all() and np.allclose(theirs[finite], ours[finite], 1e-4)


def of_an_inference_tensor(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.divergence.what == "tangent"
        and any(t.is_inference() for t in s.tensors_used())
    )


def jvp_reads_a_lost_view(s: Situation) -> bool:
    return (
        s.torch_error is None
        and s.our_error is not None
        and kind_of(s.our_error) in _VIEW_REFUSALS
        and s.step.text.startswith("F_")
    )


def dual_made_in_inference_mode(s: Situation) -> bool:
    return any(
        "inference_mode" in step.mode and "make_dual" in step.text for step in (*s.earlier, s.step)
    )


def formula_that_pytorch_lacks(s: Situation) -> bool:
    return (
        s.torch_error is not None
        and s.our_error is None
        and s.step.op != "make_dual"
        and _UNABLE.search(str(s.torch_error)) is not None
    )


def resized(s: Situation) -> bool:
    refused = s.our_error is not None and kind_of(s.our_error) == "not-supported"
    return refused and re.search(r"(resize|set|as_strided)_\(", s.step.text) is not None


def _is_unsupported(s: Situation) -> bool:
    return (
        s.torch_error is not None
        and s.our_error is not None
        and kind_of(s.our_error) == "not-supported"
        and "tangent" in str(s.our_error)
    )


def another_fault_is_named(s: Situation) -> bool:
    """Whether both refuse a call with a dual, for different reasons."""
    if s.torch_error is None or s.our_error is None:
        return False
    if s.step.op == "make_dual" or "forward AD with" in str(s.torch_error):
        return True
    if _is_unsupported(s) and "out=" in s.step.text:
        return True
    named = ("input-overlap", "self-overlap", "custom-function-view", *_VIEW_REFUSALS)
    overlaps = kind_of(s.torch_error) in named or "leaf Variable" in str(s.torch_error)
    faults = "shape index dtype result-type missing-method not-supported inference-saved".split()
    wrong = kind_of(s.our_error) in faults
    return overlaps and wrong and any(map(_has_tangent(s), s.tensors_used()))


def _has_tangent(s: Situation) -> Callable[[TensorLike], bool]:
    return lambda tensor: s.torch.library.tangent(tensor) is not None


def view_of_a_recorded_tangent(s: Situation) -> bool:
    return (
        s.torch_error is not None
        and s.our_error is None
        and kind_of(s.torch_error) in _VIEW_REFUSALS
        and any(map(_has_tangent(s), s.torch.tensors().values()))
    )


def version_of_a_tangent(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.divergence.what in ("_version", "storage", "storage_offset", "stride")
        and any(
            "unpack_dual" in step.text or re.search(r"make_dual\(.*detach\(\)\)", step.text)
            for step in (*s.earlier, s.step)
        )
    )


def at_a_kink(s: Situation) -> bool:
    return _differs_after(s, _WITH_KINKS)


def inexact_derivative(s: Situation) -> bool:
    return _differs_after(s, _INEXACT)


def _differs_after(s: Situation, ops: re.Pattern[str]) -> bool:
    """Whether some elements of a tangent differ after an operator of some."""
    d = s.divergence
    if d is None or not _is_of_a_tangent(s):
        return False
    if ops.fullmatch(s.step.op.removesuffix("_")) is None:
        return False
    # At a bound that is a tensor all elements may be at the kink.
    return s.step.op.startswith(("clamp", "clip")) or not _all_differ(d.expected, d.found)


def _all_differ(expected: object, found: object) -> bool:
    theirs, ours = np.asarray(expected).ravel(), np.asarray(found).ravel()
    with np.errstate(all="ignore"):
        same = np.isclose(theirs, ours, equal_nan=True)
    return theirs.size > 4 and not same.any()


def result_of_a_function_under_no_grad(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.divergence.what == "tangent"
        and s.step.text.startswith("F_")
        and "_(" in s.step.text
        and "grad" in s.step.mode
    )
