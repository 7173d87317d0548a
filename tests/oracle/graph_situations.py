"""Differences of the graph: what is recorded, what is refused; see `tests.oracle.allowlist`."""

import re

import numpy as np

from tests.oracle.kinds import kind_of
from tests.oracle.side import TensorLike
from tests.oracle.situation import METADATA, Situation, locations
from vtgrad.testing.steps import Line


def shown_beyond_a_view(s: Situation) -> bool:
    if s.divergence is None:
        return False
    strided = any(re.search(r"as_strided_?\(", step.text) for step in s.earlier)
    if s.step.backward and s.divergence.what == "grad":
        # A gradient that misses all elements is a constant in PyTorch.
        return strided and _differ_in_requires_grad_only(s.divergence.expected, s.divergence.found)
    if s.step.backward and s.divergence.what == "requires_grad":
        return strided and s.divergence.found is True
    if s.step.backward and s.divergence.what == "values":
        # A gradient that misses elements in PyTorch.
        theirs, ours = np.asarray(s.divergence.expected), np.asarray(s.divergence.found)
        return (
            strided and theirs.shape == ours.shape and bool(np.all((theirs == ours) | (ours != 0)))
        )
    return "AsStridedBeyondBackward0" in repr(s.divergence.found)


def _differ_in_requires_grad_only(expected: object, found: object) -> bool:
    """Whether two observed gradients are the same, but only ours requires grad."""
    if not isinstance(expected, tuple) or not isinstance(found, tuple):
        return False
    return (
        expected[2] is False
        and found[2] is True
        and (*expected[:2], *expected[3:]) == (*found[:2], *found[3:])
    )


def view_without_a_producer(s: Situation) -> bool:
    """Whether PyTorch has a node that leads nowhere where vtgrad has no edge."""
    if s.divergence is None or s.divergence.what != "grad_fn":
        return False
    leads_nowhere = re.compile(r"\(\('View(?:Backward\d?)', '\w+', \(\(None, 0\),\)\), 0\)")
    return leads_nowhere.sub("(None, 0)", repr(s.divergence.expected)) == repr(s.divergence.found)


def retained_before_metadata(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what not in ("grad", "values"):
        return False
    tensor = s.torch.names.get(s.divergence.where.removesuffix(".grad"))
    return (
        tensor is not None
        and bool(tensor.retains_grad)
        and (s.divergence.what == "grad" or s.divergence.where.endswith(".grad"))
        and any(step.op in METADATA for step in s.earlier)
    )


def leaf_after_metadata(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.divergence.what == "grad_fn"
        and "AccumulateGrad" in f"{s.divergence.expected}{s.divergence.found}"
        and any(
            ((step.op in METADATA or "out=" in step.text) and step.mode)
            or step.op in ("resize_", "set_")
            for step in (*s.earlier, s.step)
        )
    )


def gradient_for_a_changed_leaf(s: Situation) -> bool:
    return s.our_error is not None and str(s.our_error).startswith(
        ("a leaf had shape", "the .grad of a leaf of shape")
    )


def gradient_for_a_changed_result(s: Situation) -> bool:
    return (
        s.step.backward
        and s.torch_error is None
        and s.our_error is not None
        and "returned a gradient of shape" in str(s.our_error)
        and any(
            (step.op in METADATA and step.mode) or step.op in ("set_", ".data=")
            for step in s.earlier
        )
    )


def hook_around_metadata(s: Situation) -> bool:
    if s.divergence is None or not s.step.backward:
        return False
    ops = [step.op for step in s.earlier]
    if s.divergence.what == "hooks":
        return "register_hook" in ops and not METADATA.isdisjoint(ops[ops.index("register_hook") :])
    # What such a hook returns is a gradient of the older value there.
    return s.divergence.what == "values" and any(
        _is_hooked_around(s, k) for k, op in enumerate(ops) if op in METADATA
    )


def _is_hooked_around(s: Situation, k: int) -> bool:
    """Whether the tensor of a metadata operator got a hook before it and another one after it."""
    target = _subject(s, s.earlier[k])

    def is_hook(step: Line) -> bool:
        return step.op == "register_hook" and _subject(s, step) is target

    before, after = s.earlier[:k], s.earlier[k + 1 :]
    return target is not None and any(map(is_hook, before)) and any(map(is_hook, after))


def _subject(s: Situation, step: Line) -> TensorLike | None:
    """The tensor whose method a step calls, if it still has that name."""
    return s.torch.names.get(step.text.partition(".")[0])


def retained_of_an_intact_view(s: Situation) -> bool:
    if s.divergence is None:
        return False
    if s.divergence.what != "grad" and not s.divergence.where.endswith(".grad"):
        return False
    view = s.torch.names[s.divergence.where.removesuffix(".grad")]
    if view._base is None or not view.retains_grad:
        return False
    memory, own = view.untyped_storage().data_ptr(), set(locations(view))
    # Whether it was unrecorded, or a part was written, of which the text does not say where it is.
    written = [
        (other, bool(step.mode) or re.match(rf"{name}\[", step.text) is not None)
        for name, other in s.torch.tensors().items()
        for step in s.earlier
        if re.search(rf"^(t\d+ = )?{name}(\.\w+_\(|\[|\s*\W+=)|out={name}\b", step.text)
    ]
    # Either at another place, or so that the graph does not know: by a name that is detached, or
    # while nothing was recorded.
    return any(
        unrecorded or own.isdisjoint(locations(other))
        if other._base is view._base
        else other is not view._base and other.untyped_storage().data_ptr() == memory
        for other, unrecorded in written
    )


_VIEW_REFUSALS = ("multi-output-view", "no-grad-view", "inference-view", "custom-function-view")


def composed_test(s: Situation) -> bool:
    return (
        s.our_error is None
        and s.torch_error is not None
        and kind_of(s.torch_error) in _VIEW_REFUSALS
        and s.step.op in ("isfinite", "isinf", "argsort")
    )


_BROKEN = re.compile(
    "INTERNAL ASSERT FAILED|DispatchKey (Conjugate|Negative)|tensor with unallocated storage"
)


def torch_broke(s: Situation) -> bool:
    if s.divergence is not None and s.divergence.expected == "internal assertion":
        return True
    return s.torch_error is not None and _BROKEN.search(str(s.torch_error)) is not None


def integers_with_gradient(s: Situation) -> bool:
    if s.torch_error is not None and kind_of(s.torch_error) in _WRITE_REFUSALS:
        target = s.torch.names.get(s.step.text.partition(".")[0].partition("[")[0])
        return (
            s.our_error is None
            and target is not None
            and not (target.is_floating_point() or target.is_complex())
        )
    tensor = None if s.divergence is None else s.torch.names.get(s.divergence.where)
    if tensor is None:
        return False
    whole = not (tensor.is_floating_point() or tensor.is_complex())
    return whole and bool(tensor.requires_grad)


_WRITE_REFUSALS = ("leaf-write", "view-of-leaf-write", *_VIEW_REFUSALS)


_LOST = frozenset(("stale-saved", "graph-freed", "saved-detached", "unused-input", *_VIEW_REFUSALS))


def several_saves_lost(s: Situation) -> bool:
    return (
        s.step.backward
        and s.torch_error is not None
        and s.our_error is not None
        and {kind_of(s.torch_error), kind_of(s.our_error)} <= _LOST
    )


def overwritten_running_sum(s: Situation) -> bool:
    """PyTorch saves the result of `logcumsumexp`."""
    return (
        s.step.backward
        and s.our_error is None
        and s.torch_error is not None
        and kind_of(s.torch_error) == "stale-saved"
        and s.follows(lambda step: "logcumsumexp(" in step.text)
    )


def out_is_recorded(s: Situation) -> bool:
    out = re.search(r"out=(t\d+)", s.step.text)
    return (
        out is not None
        and s.torch_error is None
        and s.our_error is not None
        and kind_of(s.our_error) == "out-grad"
        and bool(s.torch.names[out[1]].requires_grad)
    )


def unfollowable(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "grad_fn":
        return False
    text = f"{s.divergence.expected}{s.divergence.found}"
    divided = any(re.search(r"floor_divide_|//=", step.text) for step in (*s.earlier, s.step))
    return "NotImplemented" in text or (divided and "CopySlices" in text)


_SHAPE_FAULTS = frozenset(("shape", "dimension"))


_DTYPE_FAULTS = frozenset(("dtype", "not-supported", "result-type"))


def shape_and_dtype(s: Situation) -> bool:
    if s.torch_error is None or s.our_error is None or s.step.backward:
        return False
    pair = {kind_of(s.torch_error), kind_of(s.our_error)}
    if kind_of(s.our_error) == "input-overlap" and len(pair) == 2:
        return bool(pair & (_SHAPE_FAULTS | _DTYPE_FAULTS))
    return len(pair & _SHAPE_FAULTS) == 1 == len(pair & _DTYPE_FAULTS)


def leaf_and_lost_view(s: Situation) -> bool:
    if s.torch_error is None or s.our_error is None or s.step.backward:
        return False
    named = (kind_of(s.torch_error), kind_of(s.our_error))
    # PyTorch says itself that the other fault is there: it refuses to name the view's producer.
    return named == ("leaf-write", "custom-function-view") and any(
        map(_has_no_producer, s.tensors_used())
    )


def _has_no_producer(tensor: TensorLike) -> bool:
    try:
        _ = tensor.grad_fn
    except RuntimeError as error:
        return kind_of(error) == "custom-function-view"
    return False


def view_taken_for_a_leaf(s: Situation) -> bool:
    return (
        s.our_error is None
        and s.torch_error is not None
        and kind_of(s.torch_error) == "leaf-write"
        and any(t._base is not None and t._base.grad_fn is not None for t in s.tensors_used())
    )


def inverse_hyperbolic_in_place(s: Situation) -> bool:
    if "for 'inplace version of" in str(s.torch_error):
        return True
    if s.divergence is None or s.divergence.what != "grad_fn":
        return False
    return re.search(r"A(cosh|sinh|tanh)Backward1", str(s.divergence.expected)) is not None


def hidden_views_of_kron(s: Situation) -> bool:
    if "kron(" not in s.step.text or s.our_error is not None:
        return False
    if s.torch_error is not None:
        return "view size is not compatible" in str(s.torch_error)
    return s.divergence is not None and s.divergence.what in ("grad_fn", "_version")


_NOT_RECORDED = re.compile(r"Autograd not support dtype|not support automatic differentiation")


_OWN_FAILURE = re.compile(
    r"Function (Scatter(Add)?Backward0|torch::autograd::CopySlices) returned an invalid gradient"
    r"|Expected index \[.*\] to be no larger than self"
    r"|Expected isFloatingType\(grad\.scalar_type\(\)\)"
    r"|Autograd not support dtype"
    r"|.i1_backward. not implemented"
    r"|Tensor must have a last dimension with stride 1"
    r"|addmv input tensors must have the same dtype"
    r"|Expected a proper Tensor but got None"
    r"|Subtraction, the `-` operator, with"
    r"|result type .* can't be cast to the desired output type"
    r"|output with shape \[.*\] doesn't match the broadcast shape"
)


def torch_cannot_differentiate(s: Situation) -> bool:
    if s.torch_error is None:
        return False
    text = str(s.torch_error)
    if s.step.backward:
        return kind_of(s.torch_error) == "self-overlap" or _OWN_FAILURE.search(text) is not None
    return s.our_error is None and _NOT_RECORDED.search(text) is not None


def unrecorded_logical(s: Situation) -> bool:
    if re.search(r"logical_(and|or|xor|not)_\(", s.step.text) is None or s.torch_error is not None:
        return False
    refused = s.our_error is not None and isinstance(kind_of(s.our_error), str)
    graph = ("grad_fn", "is_leaf", "requires_grad", "output_nr")
    differs = s.divergence is not None and s.divergence.what in graph
    return (refused or differs) and any(t.requires_grad for t in s.tensors_used())


def written_by_forward(s: Situation) -> bool:
    d = s.divergence
    if s.our_error is None or d is None or re.fullmatch(r"F_\w*_", s.step.op) is None:
        return False
    lost = d.what == "observing" and "a write to this tensor was interrupted" in str(d.found)
    return lost or d.what.startswith("unchanged by the error")


def function_saved_a_lost_view(s: Situation) -> bool:
    return (
        s.step.backward
        and s.torch_error is not None
        and s.our_error is None
        and kind_of(s.torch_error) in ("no-grad-view", "inference-view")
        and any(re.fullmatch(r"F_\w*_", step.op) is not None for step in s.earlier)
    )


def detached_after_a_function_saved_it(s: Situation) -> bool:
    return (
        s.torch_error is None
        and s.our_error is not None
        and kind_of(s.our_error) == "saved-detached"
        and any(step.op.startswith("F_") for step in s.earlier)
    )


def two_views_are_refused(s: Situation) -> bool:
    """Whether what our error says of one operand is what PyTorch says of it too, when asked."""
    if s.torch_error is None or s.our_error is None:
        return False
    if not {kind_of(s.torch_error), kind_of(s.our_error)} <= set(_VIEW_REFUSALS):
        return False
    return any(_kind_of_reading(t) == kind_of(s.our_error) for t in s.tensors_used())


def _kind_of_reading(tensor: TensorLike) -> str | None:
    try:
        _ = tensor.grad_fn
    except RuntimeError as error:
        return kind_of(error)
    return None


def asks_a_stale_view_for_a_part(s: Situation) -> bool:
    return (
        s.our_error is None
        and s.torch_error is not None
        and kind_of(s.torch_error) in _VIEW_REFUSALS
        and (
            s.step.op == "isreal"
            or (s.step.op == "__iter__" and any(t.numel() == 0 for t in s.tensors_used()))
        )
    )


def operand_of_a_view_forgotten(s: Situation) -> bool:
    return (
        s.step.backward
        and s.torch_error is None
        and s.our_error is not None
        and kind_of(s.our_error) == "no-derivative"
        and any(step.op == "floor_divide_" for step in s.earlier)
    )


def complex_view_of_another_geometry(s: Situation) -> bool:
    return (
        s.our_error is None
        and s.torch_error is not None
        and "Tensor must have a last dimension with stride 1" in str(s.torch_error)
        and any(step.op == "view_as_complex" for step in s.earlier)
        and any(step.op in METADATA for step in s.earlier)
    )


def base_of_another_shape(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.divergence.what == "grad_fn"
        and "AsStridedBackward0" in repr(s.divergence.found)
        and any(step.op == "set_" for step in (*s.earlier, s.step))
    )


def filled_from_its_own_memory(s: Situation) -> bool:
    return (
        s.step.op == "fill_"
        and s.divergence is not None
        and s.divergence.what in ("requires_grad", "grad_fn", "is_leaf")
        and any(t._is_view() and t.requires_grad and t.is_leaf for t in s.tensors_used())
    )


def gradient_of_nothing(s: Situation) -> bool:
    graph = ("bound", "grad", "grad_fn", "is_leaf", "requires_grad")
    if s.divergence is None or s.divergence.what not in graph:
        return False
    if not s.step.backward and s.divergence.what != "grad":
        return False
    given = s.torch.names.get(s.divergence.where)
    if given is not None and given.numel() == 0:
        return True
    # A gradient to which nothing was added, in a pass that is recorded.
    root = s.tensors_used()
    if s.divergence.what == "bound" and any(t.numel() == 0 for t in root):
        return True
    recorded = "create_graph=True" in s.step.text
    return recorded and s.divergence.what == "grad" and all(t.numel() == 0 for t in root)


def cannot_be_replayed(s: Situation) -> bool:
    if s.divergence is None or not str(s.divergence.expected).startswith("raises "):
        return False
    earlier = {step.op for step in s.earlier}
    return "detach_" in earlier and bool({"resize_", "set_"} & earlier)
