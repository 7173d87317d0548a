"""Differences of lazy conjugates and negatives; see `tests.oracle.allowlist`."""

import re

import numpy as np

from tests.oracle.compare import same_bits
from tests.oracle.kinds import kind_of
from tests.oracle.situation import METADATA, Situation, overlaps_itself


def metadata_of_replayed(s: Situation) -> bool:
    earlier = (*s.earlier, s.step)
    wrong = ("grad_fn", "values", "grad", "is_leaf", "output_nr")
    text = str(s.torch_error)
    raised = (s.step.backward and "invalid gradient" in text) or (
        s.our_error is None and "must have a last dimension of size 2" in text
    )
    if not raised and (s.divergence is None or s.divergence.what not in wrong):
        return False
    changed = {step.text.partition(".")[0] for step in earlier if step.op in METADATA}
    if raised and s.our_error is None and changed:
        return True
    crossing = (
        "view_as_real",
        "view_as_complex",
        "conj",
        "adjoint",
        "real",
        "imag",
        "_neg_view",
        ".H",
        "mH",
    )
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


def gradient_is_resolved(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.step.backward
        and s.divergence.what in ("is_conj", "is_neg")
        and s.divergence.found is False
    )


def product_is_resolved(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.divergence.what in ("is_conj", "is_neg")
        and s.divergence.found is False
        and s.step.op in ("dot", "vdot", "inner", "matmul", "tensordot", "linalg.vecdot")
    )


def lazy_and_repeated(s: Situation) -> bool:
    return (
        s.torch_error is not None
        and s.our_error is None
        and kind_of(s.torch_error) == "self-overlap"
        and s.step.op in ("fill_", "zero_", "setitem", *METADATA)
        and any((t.is_neg() or t.is_conj()) and overlaps_itself(t) for t in s.tensors_used())
    )


def resolved_by_inference_mode(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.divergence.what != "values"
        and s.step.mode == "inference_mode()"
        and s.step.op.startswith("atleast_")
        and any(t.is_neg() or t.is_conj() for t in s.tensors_used())
    )


def copied_deeply(s: Situation) -> bool:
    return (
        s.divergence is not None
        and "deepcopy" in s.step.text
        and s.divergence.what in ("is_conj", "is_neg", "storage", "stride", "storage_offset")
    )


def sign_lost_by_half(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "values":
        return False
    if not s.step.op.startswith(("copy_", "setitem", "[]=")):
        return False
    theirs, ours = np.asarray(s.divergence.expected), np.asarray(s.divergence.found)
    if not (
        any(t.is_neg() for t in s.tensors_used())
        or re.search(r"_neg_view\(|\.imag\b", s.step.text) is not None
    ):
        return False
    used = {str(t.dtype).rpartition(".")[2] for t in s.tensors_used()}
    return used >= {"float16", "float32"} and same_bits(np.abs(theirs), np.abs(ours))


def stored_over_others(s: Situation) -> bool:
    return (
        (s.step.op == "squeeze_" or (s.step.op == "set_" and "untyped_storage" in s.step.text))
        and s.divergence is not None
        and s.divergence.what in ("stride", "values", "storage")
        and any(t.is_neg() or t.is_conj() for t in s.tensors_used())
    )


def negative_of_bools(s: Situation) -> bool:
    if s.our_error is None and "\"neg_cpu\" not implemented for 'Bool'" in str(s.torch_error):
        # It takes the negative after the cast.
        return True
    return (
        s.step.op == "_neg_view"
        and s.torch_error is None
        and s.our_error is not None
        and kind_of(s.our_error) == "dtype"
    )
