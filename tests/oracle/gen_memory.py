"""Steps that give a tensor more memory, less, or that of another tensor."""

from tests.oracle.generator import MAX_NUMEL, Context, rule
from tests.oracle.side import TensorLike
from vtgrad.testing.steps import Line


def room(t: TensorLike) -> int:
    """How many elements of its dtype a tensor's memory holds."""
    return int(t.untyped_storage().nbytes()) // max(int(t.element_size()), 1)


@rule(3, "resize_")
def resize(c: Context) -> list[Line] | None:
    """resize_; what was not there before is set to zero, because PyTorch leaves it as it is."""
    name = c.pick(lambda t: not t.requires_grad)
    if name is None:
        return None
    t = c.get(name)
    shape = c.shape()
    text = f"{name}.resize_({shape})"
    if int(t.storage_offset()) + c.numel(shape) > room(t):
        text += ".zero_()"
    return c.make("resize_", text, 0)


@rule(3, "set_")
def set_memory(c: Context) -> list[Line] | None:
    """set_ in all its forms, and ``.data =`` of another tensor of the program."""
    name = c.pick(lambda t: t._base is None)
    if name is None:
        return None
    t = c.get(name)
    other = c.pick(lambda o: o.dtype == t.dtype and not o.requires_grad and o.numel() > 0)
    if other is None or other == name or (t.requires_grad and c.chance(0.7)):
        return None
    source = c.get(other)
    if source.dtype != t.dtype and not c.blundered:
        return None
    size = tuple(c.rng.randint(1, 3) for _ in range(c.rng.randint(0, 2)))
    stride = tuple(c.rng.randint(1, 4) for _ in size)
    offset = c.rng.randint(0, 2)
    reach = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) + 1
    if reach > room(source) or room(source) > MAX_NUMEL:
        size, stride, offset = (), (), 0
    # Other leaves than those of the step would be found out of shape by graphs of before.
    forms = [
        ("set_", f"{name}.set_({other})"),
        ("set_", f"{name}.set_({other}.untyped_storage())"),
        ("set_", f"{name}.set_({other}.untyped_storage(), {offset}, {size}, {stride})"),
        ("set_", f"{name}.set_({other}, 0, {tuple(source.shape)})"),
        ("set_", f"{name}.set_({other})"),
    ]
    if not t.requires_grad:
        forms += [("set_", f"{name}.set_()"), (".data=", f"{name}.data = {other}")]
    op, text = c.rng.choice(forms)
    return c.make(op, text, 0)


@rule(1, "utils")
def swap(c: Context) -> list[Line] | None:
    """Two tensors exchanged, where nothing in the library holds them."""
    names = [n for n in c.names() if not c.get(n).requires_grad and c.get(n)._base is None]
    if len(names) < 2:
        return None
    one, other = c.rng.sample(names, 2)
    return c.make("swap_tensors", f"vt.utils.swap_tensors({one}, {other})", 0)
