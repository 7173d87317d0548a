"""What a differing step looked like, and the questions that the allowlist asks about it."""

import re
from dataclasses import dataclass

import numpy as np

from tests.oracle.compare import Divergence
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
    if s.torch_error is not None or s.divergence is None or s.divergence.what != "values":
        return False
    names = re.findall(r"\bt\d+\b", s.step.text)
    if s.step.op in ("setitem", "index_put_") and len(set(names)) < len(names):
        return True
    places = [set(locations(t)) for t in s.tensors_used()]
    return any(a & b and a != b for k, a in enumerate(places) for b in places[:k])


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


def hook_around_metadata(s: Situation) -> bool:
    ops = [step.op for step in s.earlier]
    return (
        s.divergence is not None
        and s.divergence.what == "hooks"
        and "register_hook" in ops
        and not _METADATA.isdisjoint(ops[ops.index("register_hook") :])
    )


def composed_test(s: Situation) -> bool:
    return (
        s.our_error is None
        and s.torch_error is not None
        and kind_of(s.torch_error) in ("multi-output-view", "no-grad-view")
        and s.step.op in ("isfinite", "isinf", "argsort")
    )


def torch_broke(s: Situation) -> bool:
    if s.divergence is not None and s.divergence.torch == "internal assertion":
        return True
    return s.torch_error is not None and "INTERNAL ASSERT FAILED" in str(s.torch_error)


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


_WRITE_REFUSALS = ("leaf-write", "view-of-leaf-write", "multi-output-view", "no-grad-view")
_LOST = frozenset(("stale-saved", "graph-freed", "saved-detached", *_WRITE_REFUSALS[2:]))


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
    return (
        theirs.dtype.kind == "c"
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
    return len(pair & _SHAPE_FAULTS) == 1 == len(pair & _DTYPE_FAULTS)


def view_taken_for_a_leaf(s: Situation) -> bool:
    return (
        s.our_error is None
        and s.torch_error is not None
        and kind_of(s.torch_error) == "leaf-write"
        and any(t._base is not None and t._base.grad_fn is not None for t in s.tensors_used())
    )


def second_derivative_at_the_origin(s: Situation) -> bool:
    if not s.step.backward or s.divergence is None or s.divergence.what != "values":
        return False
    if not any("atan2" in step.text for step in s.earlier):
        return False
    theirs, ours = np.asarray(s.divergence.torch), np.asarray(s.divergence.ours)
    known = ~np.isnan(theirs)
    return not known.all() and bool(np.allclose(theirs[known], ours[known]))


_OWN_FAILURE = re.compile(
    r"Function Scatter(Add)?Backward0 returned an invalid gradient"
    r"|Expected isFloatingType\(grad\.scalar_type\(\)\)"
    r"|Autograd not support dtype"
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
    return s.our_error is None and "Autograd not support dtype" in text


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
        and re.search(r"isfinite|copy'\)|pickle'\)", s.step.text) is not None
    )


def out_over_input(s: Situation) -> bool:
    if s.torch_error is not None or s.step.op not in ("mm out=", "sum out="):
        return False
    if s.our_error is not None and kind_of(s.our_error) != "input-overlap":
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


def channels_last(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.divergence.what == "stride"
        and s.step.op in ("cat", "stack")
        and s.world.env[s.divergence.where].dim() in (4, 5)
    )


def stride_of_nothing(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "stride":
        return False
    tensor = s.world.env[s.divergence.where]
    return tensor.numel() == 0 and not tensor._is_view()
