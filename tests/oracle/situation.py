"""What a differing step looked like, and the questions that the allowlist asks about it."""

import re
from dataclasses import dataclass

import numpy as np

from tests.oracle.compare import Divergence, same_bits
from tests.oracle.kinds import kind_of
from tests.oracle.program import Step
from tests.oracle.world import TensorLike, World


@dataclass(frozen=True)
class Situation:
    """A step in which the libraries differed.

    Attributes
    ----------
    step : Step
        The step.
    earlier : tuple of Step
        The steps before it.
    world : World
        PyTorch's side after it.
    torch_error, our_error : Exception or None
        What each side raised.
    divergence : Divergence or None
        The observable that differs, when both accepted the step or both refused it.
    """

    step: Step
    earlier: tuple[Step, ...]
    world: World
    torch_error: Exception | None
    our_error: Exception | None
    divergence: Divergence | None

    def tensors_used(self) -> list[TensorLike]:
        """PyTorch's tensors that the step names."""
        env = self.world.env
        return [env[name] for name in sorted(self.step.uses) if env.get(name) is not None]


def locations(tensor: TensorLike) -> list[int]:
    """The address of every element."""
    found = [int(tensor.data_ptr())] if tensor.numel() else []
    item = int(tensor.element_size())
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        found = [place + k * stride * item for place in found for k in range(size)]
    return found


def overlaps_itself(tensor: TensorLike) -> bool:
    """Whether two elements of the tensor are one memory location."""
    found = locations(tensor)
    return len(set(found)) < len(found)


def self_overlap(s: Situation) -> bool:
    if s.our_error is None or kind_of(s.our_error) != "self-overlap":
        return False
    used = s.tensors_used()
    bases = [t._base for t in used if t._base is not None]
    return any(overlaps_itself(t) for t in used + bases)


def outside_of_base(s: Situation) -> bool:
    return (
        s.our_error is not None
        and kind_of(s.our_error) == "self-overlap"
        and any(
            t._base is not None and not set(locations(t)) <= set(locations(t._base))
            for t in s.tensors_used()
        )
    )


def reads_what_it_wrote(s: Situation) -> bool:
    if s.torch_error is not None or s.our_error is not None or s.divergence is None:
        return False
    names = re.findall(r"\bt\d+\b", s.step.text)
    if s.step.op == "addr_" and len(set(names)) < len(names):
        # It computes twice then, from what it has written, and counts both.
        return s.divergence.what in ("values", "_version", "grad_fn")
    if s.divergence.what != "values":
        return False
    if s.step.op in ("setitem", "index_put_") and len(set(names)) < len(names):
        return True
    places = [locations(t) for t in s.tensors_used()]
    shared = [(a, b) for k, a in enumerate(places) for b in places[:k] if not set(a).isdisjoint(b)]
    # `scatter_add_` stores one element after the other, and its source may be what is written.
    return (s.step.op == "scatter_add_" and bool(shared)) or any(a != b for a, b in shared)


def different_memory(s: Situation) -> bool:
    strangers = [
        t
        for t in s.world.tensors().values()
        if t._base is not None
        and t.untyped_storage().data_ptr() != t._base.untyped_storage().data_ptr()
    ]
    refused = s.our_error is not None and kind_of(s.our_error) == "view-invalid"
    unreadable = s.divergence is not None and s.divergence.ours == "raises view-invalid"
    return bool(strangers) and (refused or unreadable)


def shown_beyond_a_view(s: Situation) -> bool:
    return s.divergence is not None and "AsStridedBeyondBackward0" in repr(s.divergence.ours)


def swap_of_a_saved_result(s: Situation) -> bool:
    return s.step.op == "swap_tensors" and s.our_error is None and s.torch_error is not None


def nothing_to_compute(s: Situation) -> bool:
    return (
        s.torch_error is None
        and s.our_error is not None
        and kind_of(s.our_error) in ("not-supported", "dtype")
        and any(t.numel() == 0 for t in s.tensors_used())
    )


def nothing_is_read(s: Situation) -> bool:
    if s.torch_error is not None or s.our_error is None or kind_of(s.our_error) != "index":
        return False
    made = [s.world.env[name] for name in s.step.defs]
    if s.step.op == "setitem":
        return any(t.numel() == 0 for t in s.tensors_used())
    return s.step.op == "getitem" and all(t.numel() == 0 for t in made)


_METADATA = frozenset("t_ transpose_ swapaxes_ squeeze_ unsqueeze_ as_strided_".split())


def retained_before_metadata(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what not in ("grad", "values"):
        return False
    tensor = s.world.env.get(s.divergence.where.removesuffix(".grad"))
    return (
        tensor is not None
        and bool(tensor.retains_grad)
        and (s.divergence.what == "grad" or s.divergence.where.endswith(".grad"))
        and any(step.op in _METADATA for step in s.earlier)
    )


def leaf_after_metadata(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.divergence.what == "grad_fn"
        and "AccumulateGrad" in f"{s.divergence.torch}{s.divergence.ours}"
        and any(step.op in _METADATA and step.mode for step in s.earlier)
    )


def gradient_for_a_changed_leaf(s: Situation) -> bool:
    return s.our_error is not None and str(s.our_error).startswith(
        ("a leaf had shape", "the .grad of a leaf of shape")
    )


def hook_around_metadata(s: Situation) -> bool:
    ops = [step.op for step in s.earlier]
    return (
        s.divergence is not None
        and s.divergence.what == "hooks"
        and "register_hook" in ops
        and not _METADATA.isdisjoint(ops[ops.index("register_hook") :])
    )


_USELESS_VIEWS = ("multi-output-view", "no-grad-view", "custom-function-view", "inference-view")


def composed_test(s: Situation) -> bool:
    return (
        s.our_error is None
        and s.torch_error is not None
        and kind_of(s.torch_error) in _USELESS_VIEWS
        and s.step.op in ("isfinite", "isinf", "argsort")
    )


_BROKEN = re.compile("INTERNAL ASSERT FAILED|DispatchKey Conjugate")


def torch_broke(s: Situation) -> bool:
    if s.divergence is not None and s.divergence.torch == "internal assertion":
        return True
    return s.torch_error is not None and _BROKEN.search(str(s.torch_error)) is not None


def integers_with_gradient(s: Situation) -> bool:
    if s.torch_error is not None and kind_of(s.torch_error) in _WRITE_REFUSALS:
        target = s.world.env.get(s.step.text.partition(".")[0].partition("[")[0])
        return (
            s.our_error is None
            and target is not None
            and not (target.is_floating_point() or target.is_complex())
        )
    if s.divergence is None or s.divergence.where not in s.world.env:
        return False
    tensor = s.world.env[s.divergence.where]
    whole = not (tensor.is_floating_point() or tensor.is_complex())
    return whole and bool(tensor.requires_grad)


_VIEW_REFUSALS = ("multi-output-view", "no-grad-view", "inference-view", "custom-function-view")
_WRITE_REFUSALS = ("leaf-write", "view-of-leaf-write", *_VIEW_REFUSALS)
_LOST = frozenset(("stale-saved", "graph-freed", "saved-detached", *_VIEW_REFUSALS[:2]))


def several_saves_lost(s: Situation) -> bool:
    return (
        s.step.backward
        and s.torch_error is not None
        and s.our_error is not None
        and {kind_of(s.torch_error), kind_of(s.our_error)} <= _LOST
    )


def complex_infinities(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "values":
        return False
    theirs, ours = np.asarray(s.divergence.torch), np.asarray(s.divergence.ours)
    known = np.isfinite(theirs)
    # Or the parts of complex numbers.
    views = any(t.is_complex() for t in s.world.tensors().values())
    return (
        (theirs.dtype.kind == "c" or (theirs.dtype.kind == "f" and views))
        and bool(np.isnan(theirs[~known]).any())
        and bool(np.allclose(theirs[known], ours[known]))
    )


def aliased_gradients(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "grad":
        return False
    theirs, ours = s.divergence.torch, s.divergence.ours
    if not isinstance(theirs, tuple) or not isinstance(ours, tuple):
        return False
    label = f"{s.divergence.where}.grad"
    return ours[4] == label != theirs[4] and ours[:4] + ours[5:] == theirs[:4] + theirs[5:]


def out_is_recorded(s: Situation) -> bool:
    out = re.search(r"out=(t\d+)", s.step.text)
    return (
        out is not None
        and s.torch_error is None
        and s.our_error is not None
        and kind_of(s.our_error) == "out-grad"
        and bool(s.world.env[out[1]].requires_grad)
    )


def unfollowable(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "grad_fn":
        return False
    text = f"{s.divergence.torch}{s.divergence.ours}"
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


def view_taken_for_a_leaf(s: Situation) -> bool:
    return (
        s.our_error is None
        and s.torch_error is not None
        and kind_of(s.torch_error) == "leaf-write"
        and any(t._base is not None and t._base.grad_fn is not None for t in s.tensors_used())
    )


# Operators whose first derivative PyTorch masks where the second one then is NaN.
_MASKED_ONCE = r"\b(atan2|sinc_?|copysign_?|logit_?)\("


def second_derivative_at_the_origin(s: Situation) -> bool:
    if not s.step.backward or s.divergence is None or s.divergence.what != "values":
        return False
    if not any(re.search(_MASKED_ONCE, step.text) for step in s.earlier):
        return False
    theirs, ours = np.asarray(s.divergence.torch), np.asarray(s.divergence.ours)
    known = ~np.isnan(theirs)
    return not known.all() and bool(np.allclose(theirs[known], ours[known]))


def inverse_hyperbolic_in_place(s: Situation) -> bool:
    if "for 'inplace version of" in str(s.torch_error):
        return True
    if s.divergence is None or s.divergence.what != "grad_fn":
        return False
    return re.search(r"A(cosh|sinh|tanh)Backward1", str(s.divergence.torch)) is not None


def hidden_views_of_kron(s: Situation) -> bool:
    if "kron(" not in s.step.text or s.our_error is not None:
        return False
    if s.torch_error is not None:
        return "view size is not compatible" in str(s.torch_error)
    return s.divergence is not None and s.divergence.what in ("grad_fn", "_version")


def integer_power_of_two(s: Situation) -> bool:
    return (
        s.step.backward
        and s.divergence is not None
        and s.divergence.what == "values"
        and any(re.search(r"\bldexp_?\(", step.text) for step in s.earlier)
    )


def inexact_special_function(s: Situation) -> bool:
    if not s.step.backward or s.divergence is None or s.divergence.what != "values":
        return False
    if not any(re.search(r"\b(lgamma|digamma|polygamma|i0)_?\(", t.text) for t in s.earlier):
        return False
    theirs, ours = np.asarray(s.divergence.torch), np.asarray(s.divergence.ours)
    # PyTorch's poles are large numbers, and its values at infinity and nan what came out.
    proper = np.isfinite(theirs) & np.isfinite(ours) & (np.abs(theirs) < 1e30)
    return bool(np.allclose(theirs[proper], ours[proper], rtol=1e-6))


_NOT_RECORDED = re.compile(r"Autograd not support dtype|not support automatic differentiation")
_OWN_FAILURE = re.compile(
    r"Function (Scatter(Add)?Backward0|torch::autograd::CopySlices) returned an invalid gradient"
    r"|Expected index \[.*\] to be no larger than self"
    r"|Expected isFloatingType\(grad\.scalar_type\(\)\)"
    r"|Autograd not support dtype"
    r"|.i1_backward. not implemented"
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


def variance_of_nothing(s: Situation) -> bool:
    return s.step.backward and re.search(r"\.(var|std)\(dim=\(\)", s.step.op) is not None


def half_complex(s: Situation) -> bool:
    return s.torch_error is not None and "'ComplexHalf'" in str(s.torch_error)


def version_of_fresh(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.divergence.what == "_version"
        and s.divergence.ours == 0
        and s.divergence.where in s.step.defs
        and re.search(r"isfinite|isclose|copy'\)|pickle'\)", s.step.text) is not None
    )


def out_over_input(s: Situation) -> bool:
    if s.torch_error is not None or s.step.op not in ("mm out=", "sum out="):
        return False
    if s.our_error is not None and kind_of(s.our_error) not in ("input-overlap", "shape"):
        return False
    if s.our_error is None and (s.divergence is None or s.divergence.what != "values"):
        return False
    names = re.findall(r"\bt\d+\b", s.step.text)
    *factors, out = [s.world.env[name].untyped_storage().data_ptr() for name in names]
    return out in factors


def running_bool(s: Situation) -> bool:
    if s.step.op not in ("cumsum_", "cumprod_") or s.torch_error is not None:
        return False
    trivial = [t for t in s.tensors_used() if t.dim() == 0 or t.numel() == 0]
    return bool(trivial) and kind_of(s.our_error) == "not-supported" if s.our_error else False


def unrecorded_logical(s: Situation) -> bool:
    if re.search(r"logical_(and|or|xor|not)_\(", s.step.text) is None or s.torch_error is not None:
        return False
    refused = s.our_error is not None and isinstance(kind_of(s.our_error), str)
    graph = ("grad_fn", "is_leaf", "requires_grad", "output_nr")
    differs = s.divergence is not None and s.divergence.what in graph
    return (refused or differs) and any(t.requires_grad for t in s.tensors_used())


def metadata_of_replayed(s: Situation) -> bool:
    earlier = (*s.earlier, s.step)
    wrong = ("grad_fn", "values", "grad", "is_leaf", "output_nr")
    text = str(s.torch_error)
    raised = (s.step.backward and "invalid gradient" in text) or (
        s.our_error is None and "must have a last dimension of size 2" in text
    )
    if not raised and (s.divergence is None or s.divergence.what not in wrong):
        return False
    changed = {step.text.partition(".")[0] for step in earlier if step.op in _METADATA}
    if raised and s.our_error is None and changed:
        return True
    crossing = ("view_as_real", "view_as_complex", "conj", "real", "imag", "_neg_view", ".H", "mH")
    return bool(changed) and any(word in step.text for step in earlier for word in crossing)


def copied_from_lazy(s: Situation) -> bool:
    # What is written may be a lazy view that has no name, and another fault may be found then.
    return (
        s.step.op.startswith(("copy_", "real=", "imag=", "[]=", "setitem", "F_store_"))
        and s.torch_error is not None
        and kind_of(s.torch_error) == "input-overlap"
        and (s.our_error is None or kind_of(s.our_error) != "input-overlap")
        and (
            any(t.is_conj() or t.is_neg() for t in s.tensors_used())
            or re.search(r"\.(conj\(\)|imag|H|mH|adjoint\(\))", s.step.text) is not None
        )
    )


def dtype_view_in_inference_mode(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.divergence.what in ("_version", "is_inference")
        and re.search(r"\.view\(L\.", s.step.text) is not None
    )


def ldexp_over_itself(s: Situation) -> bool:
    ours = s.our_error is not None and kind_of(s.our_error) == "input-overlap"
    return s.torch_error is None and ours and s.step.op == "ldexp_"


def empty_matrix_times_vector(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.divergence.what in ("shape", "stride", "values", "storage")
        and s.step.op == "addmv"
    )


def sign_of_nan(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "values":
        return False
    if not s.step.op.startswith(("copysign", "signbit")):
        return False
    if not any(bool((t != t).any()) for t in s.tensors_used()):
        return False
    theirs, ours = np.asarray(s.divergence.torch), np.asarray(s.divergence.ours)
    return theirs.dtype.kind == "b" or same_bits(np.abs(theirs), np.abs(ours))


def walked_backwards(s: Situation) -> bool:
    return "step must be greater than zero" in str(s.torch_error)


def gradient_is_resolved(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.step.backward
        and s.divergence.what in ("is_conj", "is_neg")
        and s.divergence.ours is False
    )


def product_is_resolved(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.divergence.what in ("is_conj", "is_neg")
        and s.divergence.ours is False
        and s.step.op in ("dot", "vdot", "inner", "matmul", "tensordot", "linalg.vecdot")
    )


def written_by_forward(s: Situation) -> bool:
    return (
        s.our_error is not None
        and s.divergence is not None
        and s.divergence.what.startswith("unchanged by the error")
        and re.fullmatch(r"F_\w*_", s.step.op) is not None
    )


def lazy_and_repeated(s: Situation) -> bool:
    return (
        s.torch_error is not None
        and s.our_error is None
        and kind_of(s.torch_error) == "self-overlap"
        and s.step.op in ("fill_", "zero_", *_METADATA)
        and any((t.is_neg() or t.is_conj()) and overlaps_itself(t) for t in s.tensors_used())
    )


def detached_after_a_function_saved_it(s: Situation) -> bool:
    return (
        s.torch_error is None
        and s.our_error is not None
        and kind_of(s.our_error) == "saved-detached"
        and any(step.op.startswith("F_") for step in s.earlier)
    )


def copied_from_another_dtype(s: Situation) -> bool:
    return (
        s.torch_error is None
        and s.our_error is not None
        and kind_of(s.our_error) == "input-overlap"
        and s.step.op.startswith(("copy_", "real=", "imag=", "setitem"))
        and len({t.dtype for t in s.tensors_used()}) > 1
    )


def digamma_beside_a_pole(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "values" or "digamma" not in s.step.op:
        return False
    theirs, ours = np.asarray(s.divergence.torch), np.asarray(s.divergence.ours)
    near = np.isclose(theirs, ours, rtol=1e-9, equal_nan=True) | (np.abs(ours) > 1e6)
    return bool(np.all(near & (np.sign(theirs) == np.sign(ours)) | np.isnan(ours)))


def memory_that_grew(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "values" or s.step.op != "set_":
        return False
    theirs, ours = np.asarray(s.divergence.torch), np.asarray(s.divergence.ours)
    # What lay there before agrees.
    return bool(np.all((theirs == ours) | (ours == 0)))


def result_resized_in_inference_mode(s: Situation) -> bool:
    return (
        s.torch_error is None
        and s.our_error is not None
        and kind_of(s.our_error) == "resize"
        and s.step.mode == "inference_mode()"
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
        and s.step.op == "isreal"
    )


def gradient_of_nothing(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "bound" or not s.step.backward:
        return False
    given = s.world.env.get(s.divergence.where)
    return given is not None and given.numel() == 0


def resolved_by_inference_mode(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.step.mode == "inference_mode()"
        and s.step.op.startswith("atleast_")
        and any(t.is_neg() or t.is_conj() for t in s.tensors_used())
    )


def cannot_be_replayed(s: Situation) -> bool:
    if s.divergence is None or not str(s.divergence.torch).startswith("raises "):
        return False
    earlier = {step.op for step in s.earlier}
    return "resize_" in earlier and "detach_" in earlier


def copied_deeply(s: Situation) -> bool:
    return (
        s.divergence is not None
        and "deepcopy" in s.step.text
        and s.divergence.what in ("is_conj", "is_neg", "storage", "stride", "storage_offset")
    )


def stride_of_nothing(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "stride":
        return False
    tensor = s.world.env[s.divergence.where]
    # A custom Function may return a view of a tensor that it has made, and nobody else has.
    known = any(tensor._base is other for other in s.world.tensors().values())
    return tensor.numel() == 0 and not known
