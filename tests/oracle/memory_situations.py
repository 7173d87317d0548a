"""Differences of memory: offsets, overlaps, strides and counters; see `tests.oracle.allowlist`."""

import re

import numpy as np

from tests.oracle.kinds import kind_of
from tests.oracle.situation import Situation, locations, overlaps_itself


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
    offsets = [locations(t) for t in s.tensors_used()]
    shared = [
        (a, b) for k, a in enumerate(offsets) for b in offsets[:k] if not set(a).isdisjoint(b)
    ]
    # These store one element after the other, and may read one that they have written.
    by_element = s.step.op in ("scatter_add_", "index_add_", "setitem", "index_put_")
    return (by_element and bool(shared)) or any(a != b for a, b in shared)


def different_memory(s: Situation) -> bool:
    strangers = [
        t
        for t in s.torch.tensors().values()
        if t._base is not None
        and t.untyped_storage().data_ptr() != t._base.untyped_storage().data_ptr()
    ]
    refused = s.our_error is not None and kind_of(s.our_error) == "view-invalid"
    if refused and s.step.op == "set_" and s.torch_error is None:
        # It may be other elements of the same memory.
        return True
    unreadable = s.divergence is not None and s.divergence.found == "raises view-invalid"
    return bool(strangers) and (refused or unreadable)


def swap_of_a_saved_result(s: Situation) -> bool:
    return s.step.op == "swap_tensors" and s.our_error is None and s.torch_error is not None


def nothing_is_read(s: Situation) -> bool:
    if s.torch_error is not None or s.our_error is None or kind_of(s.our_error) != "index":
        return False
    made = [s.torch.names[name] for name in s.step.defs]
    if s.step.op == "setitem":
        return any(t.numel() == 0 for t in s.tensors_used())
    return s.step.op == "getitem" and all(t.numel() == 0 for t in made)


def aliased_gradients(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "grad":
        return False
    theirs, ours = s.divergence.expected, s.divergence.found
    if not isinstance(theirs, tuple) or not isinstance(ours, tuple):
        return False
    label = f"{s.divergence.where}.grad"
    return ours[4] == label != theirs[4] and ours[:4] + ours[5:] == theirs[:4] + theirs[5:]


def version_of_fresh(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.divergence.what == "_version"
        and s.divergence.found == 0
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
    *factors, out = [s.torch.names[name].untyped_storage().data_ptr() for name in names]
    return out in factors


def out_of_copies_is_returned(s: Situation) -> bool:
    copies = ("split_copy", "split_with_sizes_copy", "unbind_copy")
    return (
        s.step.op in copies
        and "out=" in s.step.text
        and s.our_error is None
        and isinstance(s.torch_error, TypeError)
        and "NoneType" in str(s.torch_error)
    )


def ldexp_over_itself(s: Situation) -> bool:
    # PyTorch may refuse it for another reason.
    ours = s.our_error is not None and kind_of(s.our_error) == "input-overlap"
    return ours and s.step.op == "ldexp_"


def empty_matrix_times_vector(s: Situation) -> bool:
    return (
        s.divergence is not None
        and s.divergence.what in ("shape", "stride", "values", "storage")
        and s.step.op == "addmv"
    )


def addmv_of_a_number(s: Situation) -> bool:
    return (
        s.step.op == "addmv"
        and s.our_error is not None
        and kind_of(s.our_error) == "shape"
        and "tensor has no dimensions" in str(s.torch_error)
    )


def walked_backwards(s: Situation) -> bool:
    return "step must be greater than zero" in str(s.torch_error)


def copied_from_another_dtype(s: Situation) -> bool:
    return (
        s.torch_error is None
        and s.our_error is not None
        and kind_of(s.our_error) == "input-overlap"
        and s.step.op.startswith(("copy_", "real=", "imag=", "setitem"))
        and len({t.dtype for t in s.tensors_used()}) > 1
    )


def memory_that_grew(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "values" or s.step.op != "set_":
        return False
    theirs, ours = np.asarray(s.divergence.expected), np.asarray(s.divergence.found)
    # What lay there before agrees.
    return bool(np.all((theirs == ours) | (ours == 0)))


def strides_beyond_the_memory(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "stride" or s.step.op != "set_":
        return False
    tensor = s.torch.names[s.divergence.where]
    return s.our_error is None and s.divergence.found == (1,) and tensor.stride(0) != 1


def stride_of_nothing(s: Situation) -> bool:
    if s.divergence is None or s.divergence.what != "stride":
        return False
    tensor = s.torch.names[s.divergence.where]
    # A custom Function may return a view of a tensor that it has made and that only it holds.
    known = any(tensor._base is other for other in s.torch.tensors().values())
    return tensor.numel() == 0 and not known
