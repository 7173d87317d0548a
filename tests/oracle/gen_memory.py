"""Steps that give a tensor more memory, less, or that of another tensor."""

from collections.abc import Sequence

from vtgrad.testing.menu.chooser import Chooser
from vtgrad.testing.menu.kinds import kind
from vtgrad.testing.steps import Step


@kind(3, "set_")
def set_memory(c: Chooser) -> Sequence[Step] | None:
    """set_ in all its forms, and ``.data =`` of another tensor of the program."""
    t = c.pick(lambda t: not t.is_view)
    if t is None:
        return None
    other = c.pick(lambda o: o.dtype == t.dtype and not o.requires_grad and 0 not in o.shape)
    if other is None or other.index == t.index or (t.requires_grad and c.chance(0.7)):
        return None
    if other.dtype != t.dtype and not c.blundered:
        return None
    size = tuple(c.rng.randint(1, 3) for _ in range(c.rng.randint(0, 2)))
    stride = tuple(c.rng.randint(1, 4) for _ in size)
    offset = c.rng.randint(0, 2)
    reach = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) + 1
    if reach > other.room or other.room > c.abilities.most_elements:
        size, stride, offset = (), (), 0
    # Other leaves than those of the step would be found out of shape by graphs of before.
    forms = [
        ("set_", f"{t}.set_({other})"),
        ("set_", f"{t}.set_({other}.untyped_storage())"),
        ("set_", f"{t}.set_({other}.untyped_storage(), {offset}, {size}, {stride})"),
        ("set_", f"{t}.set_({other}, 0, {other.shape})"),
        ("set_", f"{t}.set_({other})"),
    ]
    if not t.requires_grad:
        forms += [("set_", f"{t}.set_()"), (".data=", f"{t}.data = {other}")]
    op, text = c.one(forms)
    return c.make(op, text, 0)


@kind(1, "utils")
def swap(c: Chooser) -> Sequence[Step] | None:
    """Two tensors exchanged, where nothing in the library holds them."""
    names = [n for n in c.tensors() if not n.requires_grad and not n.is_view]
    if len(names) < 2:
        return None
    one, other = c.rng.sample(names, 2)
    return c.make("swap_tensors", f"vt.utils.swap_tensors({one}, {other})", 0)
