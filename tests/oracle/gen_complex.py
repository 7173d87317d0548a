"""Steps that look at memory in another way: complex parts, conjugates, negatives, other dtypes."""

from tests.oracle.generator import Context, rule
from tests.oracle.side import TensorLike
from vtgrad.testing.steps import Line


def lazy(t: TensorLike) -> bool:
    """Whether a tensor's values are not what lies in its memory."""
    return bool(t.is_conj() or t.is_neg())


@rule(3, "conj")
def make_complex(c: Context) -> list[Line] | None:
    """A complex tensor, where there are few: from real pairs, or by a product."""
    pairs = c.pick(lambda t: t.dim() > 0 and t.shape[-1] == 2 and t.dtype in _reals(c))
    if pairs is not None and c.chance(0.5):
        return c.make("view_as_complex", f"vt.view_as_complex({pairs})")
    if c.chance(0.3):
        shape = (*c.shape()[:2], 2)
        text = c.tensor(shape, "float64", c.chance(0.5))
        return c.make("view_as_complex", f"vt.view_as_complex({text}.clone())")
    name = c.pick_float()
    return None if name is None else c.make("mul", f"{name} * {c.number('complex128')}")


def _reals(c: Context) -> tuple[object, ...]:
    return c.torch.float32, c.torch.float64


@rule(9, "conj")
def complex_view(c: Context) -> list[Line] | None:
    """A view of a complex tensor, or what undoes it."""
    name = c.pick(lambda t: t.is_complex())
    if name is None:
        return None
    forms = [
        ("conj", c.call("conj", name)),
        ("conj", c.call("conj", name)),
        ("real", f"{name}.real"),
        ("real", f"vt.real({name})"),
        ("imag", f"{name}.imag"),
        ("imag", f"vt.imag({name})"),
        ("view_as_real", f"vt.view_as_real({name})"),
        ("view_as_real", f"vt.view_as_real({name})"),
        ("resolve_conj", c.call("resolve_conj", name)),
        ("conj_physical", c.call("conj_physical", name)),
        ("mH", f"{name}.mH"),
        ("adjoint", c.call("adjoint", name)),
        ("H", f"{name}.H"),
    ]
    op, text = c.rng.choice(forms)
    return c.make(op, text)


@rule(2, "_neg_view")
def negative_view(c: Context) -> list[Line] | None:
    """A lazy negative, or what undoes it."""
    name = c.pick(lambda t: t.dtype is not c.torch.bool)
    if name is None:
        return None
    forms = [
        ("_neg_view", f"{name}._neg_view()"),
        ("resolve_neg", c.call("resolve_neg", name)),
        ("conj", c.call("conj", name)),
        ("real", f"{name}.real"),
    ]
    op, text = c.rng.choice(forms)
    return c.make(op, text)


@rule(2, "view")
def other_dtype(c: Context) -> list[Line] | None:
    """The same bytes as elements of another dtype."""
    name = c.pick(lambda t: not lazy(t))
    if name is None:
        return None
    # Not integers as floating numbers, which may be anything, nor the other way round, which shows
    # the last bit of each rounding.
    t = c.get(name)
    dtypes = ["int32", "int64", "int16", "uint8", "int8"]
    if t.is_floating_point() or t.is_complex() or t.dtype is c.torch.bool:
        dtypes = [str(t.dtype).removeprefix("torch.")]
    if t.is_complex():
        dtypes += ["float64" if t.element_size() == 16 else "float32"] * 4
    if t.is_floating_point() and t.element_size() >= 4:
        dtypes += ["complex128" if t.element_size() == 8 else "complex64"] * 4
    return c.make("view", f"{name}.view(vt.{c.rng.choice(dtypes)})")


@rule(3, "conj")
def set_part(c: Context) -> list[Line] | None:
    """Assignments to ``.real`` and ``.imag``."""
    name = c.pick(lambda t: t.is_complex() or c.chance(0.1))
    if name is None or (c.protected(name) and c.chance(0.9)):
        return None
    value: str | None = c.number() if c.chance(0.4) else c.pick_like(name, into=True)
    if value is None:
        return None
    part = c.rng.choice(("real", "imag"))
    return c.make(f"{part}=", f"{name}.{part} = {value}", 0)


@rule(3, "conj")
def write_through(c: Context) -> list[Line] | None:
    """An in-place operator on a tensor that is lazy, or on a part of a complex one."""
    name = c.pick(lambda t: lazy(t) or t.is_complex())
    if name is None or (c.protected(name) and c.chance(0.9)):
        return None
    t = c.get(name)
    target = name
    if t.is_complex() and c.chance(0.5):
        target += c.rng.choice(
            (".real", ".imag", ".conj()", ".mH", ".conj().imag", "[..., 0].conj()")
        )
    other = c.pick_like(name, into=True) if c.chance(0.5) else None
    value = other or c.number(str(t.dtype).removeprefix("torch."))
    op = c.rng.choice(("mul_", "add_", "copy_", "sub_", "fill_"))
    if op in ("copy_", "fill_") and (other is None) is (op == "copy_"):
        op = "mul_"
    return c.make(op, f"{target}.{op}({value})", 0)
