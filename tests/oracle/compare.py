"""Whether two snapshots say the same, and the small repair that keeps floats in step."""

from typing import Any

import numpy as np

from tests.oracle.observe import Array, Snapshot
from vtgrad.testing.judging import Divergence

# Relative distance at which a result counts as the same computation in another order.
_RTOL = {"e": 1e-2, "f": 2e-4, "d": 1e-8}


def same_bits(a: Array, b: Array) -> bool:
    """Equal in every element, signs of zeros included, a NaN being equal to a NaN."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind == "c":
        return same_bits(a.real, b.real) and same_bits(a.imag, b.imag)
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    if not np.array_equal(a, b, equal_nan=True):
        return False
    zeros = a == 0
    return bool(np.array_equal(np.signbit(a[zeros]), np.signbit(b[zeros])))


def close(a: Array, b: Array, coarse: bool = False, least: float = 0.05) -> bool:
    """Equal up to the rounding of a different order of operations.

    ``coarse`` is for doubles that were computed in single precision. Differences are compared with
    values of at least the size ``least``, because a difference of near values may cancel.
    """
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind == "c":
        # One part of a product cancels beside the other part.
        largest = max(least, _largest(a.real), _largest(a.imag))
        return close(a.real, b.real, coarse, largest) and close(a.imag, b.imag, coarse, largest)
    rtol = _RTOL.get(a.dtype.char)
    if rtol is not None and coarse:
        rtol = max(rtol, _RTOL["f"])
    if rtol is None:
        return bool(np.array_equal(a, b))
    with np.errstate(all="ignore"):
        scale = max(_largest(a), least)
        return bool(np.allclose(a, b, rtol=rtol, atol=rtol * min(scale, 1e30), equal_nan=True))


def _largest(a: Array) -> float:
    """The largest finite number, in absolute value."""
    finite = np.abs(a[np.isfinite(a)])
    return float(finite.max()) if finite.size else 0.0


def close_logs(a: Any, b: Any) -> bool:
    """Whether hooks saw the same, in the same order."""
    if len(a) != len(b):
        return False
    for (tag, seen), (other_tag, other) in zip(a, b, strict=True):
        if tag != other_tag or (seen is None) != (other is None):
            return False
        if seen is None:
            continue
        mine, theirs = np.asarray(seen), np.asarray(other)
        if mine.dtype.kind in "fc":
            mine = mine.astype("F" if mine.dtype.kind == "c" else "f")
            theirs = theirs.astype(mine.dtype)
        if not close(mine, theirs):
            return False
    return True


def differences(torch: Snapshot, ours: Snapshot, coarse: bool) -> list[Divergence]:
    """All observables that differ, in the order of the program's names."""
    found = []
    for name, expected in torch.fields.items():
        got = ours.fields.get(name)
        if got is None:
            found.append(Divergence(name, "bound", "a tensor", "None"))
            continue
        found.extend(
            Divergence(name, what, expected.get(what), got.get(what))
            for what in expected.keys() | got.keys()
            if expected.get(what) != got.get(what)
        )
    found.extend(
        Divergence(name, "bound", "None", "a tensor")
        for name in ours.fields.keys() - torch.fields.keys()
    )
    for name, wanted in torch.values.items():
        actual = ours.values.get(name)
        if actual is not None and not close(wanted, actual, coarse):
            found.append(Divergence(name, "values", wanted.tolist(), actual.tolist()))
    found.sort(key=lambda divergence: (_order(divergence.where), divergence.what))
    return found


def _order(name: str) -> tuple[int, str]:
    head = name.partition(".")[0]
    return (int(head[1:] or 0), name)


def changes(before: Snapshot, after: Snapshot) -> list[Divergence]:
    """What a failed step changed in one library, which should be nothing."""
    found = []
    for name, old in before.fields.items():
        new = after.fields.get(name)
        if new is None:
            found.append(Divergence(name, "unchanged by the error", "bound", "unbound"))
            continue
        found.extend(
            Divergence(name, f"unchanged by the error: {what}", old[what], new[what])
            for what in old.keys() & new.keys()
            if _as_far_as_known(what, old[what]) != _as_far_as_known(what, new[what])
            and what not in ("grad", "grad_fn")
        )
    # But for the signs of zeros: `synchronise` may have changed them in what shares memory with a
    # lazily negative tensor, as PyTorch's own sign depends on who resolves that.
    found.extend(
        Divergence(name, "unchanged by the error: values", old_values.tolist(), "other values")
        for name, old_values in before.values.items()
        if name in after.values and not _same_but_for_zeros(old_values, after.values[name])
    )
    found.extend(
        Divergence(name, "unchanged by the error: existence", name in before.values, "the opposite")
        for name in after.values.keys() ^ before.values.keys()
        if _was_read(before, name) and _was_read(after, name)
    )
    return found


def _as_far_as_known(what: str, seen: object) -> object:
    """An observable without the label of a tangent's memory: which tangents are read may differ."""
    return seen[:2] if what == "tangent" and isinstance(seen, tuple) else seen


def _same_but_for_zeros(a: Array, b: Array) -> bool:
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


def _was_read(snap: Snapshot, name: str) -> bool:
    """Whether gradient or tangent were looked at: they are not, in a shallow snapshot of a view."""
    head, _, what = name.partition(".")
    return (what or "grad") in snap.fields.get(head, {})


def synchronise(torch: Snapshot, ours: Snapshot, coarse: bool) -> None:
    """Give our side PyTorch's rounding, so that a later comparison cannot tip over on one ulp.

    Only values that are already close are copied, straight into memory and behind the back of
    the library: no version moves.
    """
    for name, wanted in torch.values.items():
        actual = ours.values[name]
        if not same_bits(wanted, actual) and close(wanted, actual, coarse):
            tensor, stored = ours.tensors[name].detach(), wanted
            if tensor.is_conj():
                tensor, stored = tensor.conj(), stored.conj()
            if tensor.is_neg():
                tensor, stored = tensor._neg_view(), -stored
            storage = tensor._impl.storage
            exported = storage.exported
            target = tensor.numpy()
            if target.flags.writeable:
                target[...] = stored
                ours.values[name] = wanted
            # The array is gone after this: the memory may go on growing.
            storage.exported = exported
